"""Times to a loss and the largest stable learning rate."""

import numpy as np
import pytest

from solvable.associative_memory.gradient_descent import descend
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import excess
from solvable.associative_memory.times import equal_rate_speedup, gradient_flow_time, max_learning_rate, muon_time
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent


@pytest.mark.parametrize(
    ("noise", "times"),
    [(0.0, (56544.7416, 171522.137, 1076357.89)), (0.2, (48600.9652, 117784.129, 188421.902))],
)
def test_published_times(noise, times):
    problem = Problem.power_law(1.5, 50, 20, noise)
    measured = [gradient_flow_time(problem, loss) for loss in (0.1, 0.01, 0.001)]
    np.testing.assert_allclose(measured, times, rtol=1e-8)


def test_muon_is_exponentially_faster_on_noiseless_labels():
    problem = Problem.power_law(1.5, 50, 20)
    assert equal_rate_speedup(problem, 1e-3) == pytest.approx(1076357.89 / np.log(999 / np.expm1(1e-3)), rel=1e-8)
    late = gradient_flow_time(problem, 1e-7)
    assert late == pytest.approx(999 / 1e-7, rel=0.01)
    assert muon_time(problem, 1e-7) == pytest.approx(np.log(999 / 1e-7), rel=1e-6)


def test_gradient_descent_settles_below_the_largest_rate_and_not_above():
    problem = Problem.power_law(1.5, 3, 4, 0.3)
    last = []
    for factor in (0.98, 1.02):
        margins, shortfalls = descend(problem, np.full(4000, factor * max_learning_rate(problem)))
        last.append(excess(12, problem.label_noise, margins[-1], shortfalls[-1])[0])
    assert last[0] < 1e-12
    assert last[1] > 1e-4
    assert max_learning_rate(Problem.power_law(1.5, 3, 4)) == np.inf


def test_bad_input_is_refused():
    with pytest.raises(ArgumentError, match="excess_risk must be in"):
        gradient_flow_time(Problem.power_law(1.5, 3, 4), 10.0)

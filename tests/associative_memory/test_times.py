"""Times to a loss, speed-ups and the largest stable learning rate."""

import numpy as np
import pytest

from solvable import associative_memory as am
from solvable.errors import ArgumentError, StabilityWarning

pytestmark = pytest.mark.x64_independent


@pytest.mark.parametrize(
    ("noise", "times"),
    [(0.0, (56544.7416, 171522.137, 1076357.89)), (0.2, (48600.9652, 117784.129, 188421.902))],
)
def test_published_times(noise, times):
    problem = am.Problem.power_law(1.5, 50, 20, noise)
    measured = [am.time_to_loss(problem, am.GradientDescent(1.0), risk) for risk in (0.1, 0.01, 0.001)]
    np.testing.assert_allclose(measured, times, rtol=1e-8)


def test_muon_is_exponentially_faster_on_noiseless_labels():
    problem = am.Problem.power_law(1.5, 50, 20)
    measured = am.speedup(problem, am.GradientDescent(3.0), am.Muon(0.1), 1e-3)
    assert measured == pytest.approx(1076357.89 / np.log(999 / np.expm1(1e-3)), rel=1e-8)
    assert am.time_to_loss(problem, am.GradientDescent(1.0), 1e-7) == pytest.approx(999 / 1e-7, rel=0.01)
    assert am.time_to_loss(problem, am.Muon(1.0), 1e-7) == pytest.approx(np.log(999 / 1e-7), rel=1e-6)
    assert am.speedup(problem, am.SignDescent(1.0), am.Muon(1.0), 1e-3) == pytest.approx(0.5)


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("algorithm", [am.GradientDescent(20.0), am.Muon(0.01), am.SignDescent(0.004)])
def test_the_loss_is_reached_then_and_stays(noise, algorithm):
    problem = am.Problem.power_law(1.5, 4, 64, noise)
    risk = 0.01
    steps = am.time_to_loss(problem, algorithm, risk)
    recorded = np.unique(np.round(steps * np.array([0.97, 1.03, 1.1, 1.3])).astype(int))
    theory = am.predict(problem, algorithm, steps=recorded).excess_risk
    assert theory[0] > risk
    assert (theory[1:] < risk).all()


def test_cycles_too_wide_never_get_there_and_each_may_have_its_largest_rate():
    problem = am.Problem.power_law(1.5, 50, 20, 0.2)
    assert am.time_to_loss(problem, am.Muon(1.0), 1e-4) == np.inf
    assert am.time_to_loss(problem, am.GradientDescent(1e9), 1e-4) == np.inf
    rates = am.Muon(0.5), am.Muon(0.001)
    assert [am.speedup(problem, am.GradientDescent(1.0), rate, 1e-4) == 0 for rate in rates] == [True, False]
    best = am.speedup(problem, am.GradientDescent(1.0), am.Muon(1.0), 1e-4, matching="max_stable")
    q, top = 0.8002, float(problem.optimal_margin)
    muon = top * np.sqrt(q * (1 - q) / 2e-4)  # small cycles: excess q (1 - q) rate^2/2
    slow = am.time_to_loss(problem, am.GradientDescent(am.max_learning_rate(problem)), 1e-4)
    assert best == pytest.approx(slow / muon, rel=0.02)


@pytest.mark.filterwarnings("ignore::solvable.errors.StabilityWarning")
def test_gradient_descent_settles_below_the_largest_rate_and_not_above():
    problem = am.Problem.power_law(1.5, 3, 4, 0.3)
    rates = am.max_learning_rate(problem) * np.array([0.98, 1.02])
    last = am.predict(problem, am.GradientDescent(rates), steps=[4000]).excess_risk[:, 0]
    assert last[0] < 1e-12
    assert last[1] > 1e-4
    assert am.max_learning_rate(am.Problem.power_law(1.5, 3, 4)) == np.inf
    assert am.max_learning_rate(problem, am.Muon) == 0


def test_rates_above_stability_warn_with_the_threshold():
    problem = am.Problem.power_law(1.5, 3, 4, 0.3)
    with pytest.warns(StabilityWarning, match=f"is above {am.max_learning_rate(problem):.6g}"):
        am.predict(problem, am.GradientDescent(1e3), steps=[3])
    with pytest.warns(StabilityWarning):
        am.simulate(problem, am.GradientDescent(1e3), steps=[3], seed=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: am.time_to_loss(p, am.Muon(0.1), 10.0), "excess_risk must be in"),
        (lambda p: am.time_to_loss(p, am.Muon(0.1, momentum=0.9), 0.1), "algorithm must be"),
        (lambda p: am.time_to_loss(p, am.Adam(0.1), 0.1), "algorithm must be"),
        (lambda p: am.time_to_loss(p, am.Muon([0.1, 0.2]), 0.1), "algorithm must be one with a constant scalar"),
        (lambda p: am.speedup(p, am.Muon(0.1), am.Muon(0.1), 0.1, matching="max_stable"), "needs noisy labels"),
        (lambda p: am.speedup(p, am.Muon(0.1), am.Muon(0.1), 0.1, matching="fair"), "matching must be one of"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(am.Problem.power_law(1.5, 3, 4))

"""Chains of trainings: published values, states per mode, growth and collapse."""

import jax
import numpy as np
import pytest

from solvable import weak_to_strong as w2s
from solvable.errors import ArgumentError
from solvable.weak_to_strong import Stage

pytestmark = pytest.mark.x64_independent


def test_published_chain_of_four():
    problem = w2s.Problem.power_law(1.5, 0.6, 0.25, n_modes=400)
    noisy = Stage(120, 200, ridge=0.2, label_noise_variance=0.01)
    steps = w2s.chain(
        problem, [Stage(120, 200, ridge=0.01), Stage(120, 200, ridge=0.2), noisy, Stage(120, 200, ridge=0.2)]
    )
    np.testing.assert_allclose(steps.excess_risk, [0.4012189257, 0.1985208356, 0.1350310145, 0.1035071794], rtol=1e-9)
    np.testing.assert_allclose(steps.diagnostics.nu2, [0.001811210548, *[0.005021273624] * 3], rtol=1e-9)


def test_published_collapse():
    problem = w2s.Problem.power_law(1.5, 0.6, 0.3, n_modes=300)
    steps = w2s.chain(problem, [Stage(80, 120, ridge=0.05), *[Stage(100, 100, ridge=0.02)] * 8])
    expected = [0.29036, 0.31703, 0.34408, 0.37058, 0.39670, 0.42260, 0.44842, 0.47423, 0.50010]
    np.testing.assert_allclose(steps.excess_risk, expected, atol=6e-6)


def test_published_states_per_mode():
    problem = w2s.Problem.power_law(1.5, 0.5, 0.25, n_modes=300)
    state = w2s.chain(problem, [Stage(100, 80, ridge=0.05), Stage(120, 150, ridge=0.3)]).diagnostics
    modes = np.array([1, 2, 4, 10])
    means = (1 - state.mean_error[:, modes - 1]) * np.sqrt(state.target_power[modes - 1])
    expected = [[0.99509, 0.41467, 0.17007, 0.04865], [0.98859, 0.40709, 0.16156, 0.04027]]
    np.testing.assert_allclose(means, expected, atol=6e-6)
    np.testing.assert_allclose(state.variance[:, :30].sum(axis=1), [0.10865, 0.09024], atol=6e-6)
    np.testing.assert_allclose(state.variance[:, 30:].sum(axis=1), [0.13881, 0.03189], atol=6e-6)


def test_published_growth_rates():
    problem = w2s.Problem.power_law(1.5, 0.6, n_modes=300)
    rates = w2s.growth_rate(problem, Stage(100, 100, ridge=[0.02, 0.1, 0.3, 1, 3]))
    np.testing.assert_allclose(rates, [1.0192, 0.9894, 0.9822, 0.9632, 0.9193], atol=6e-5)


@pytest.mark.parametrize("stage", [Stage(40, 60, ridge=0.05), Stage(60, 30, ridge=0.2), Stage(50, ridge=0.0)])
def test_the_growth_rate_is_the_largest_eigenvalue_of_one_generation(stage):
    """The map of second moments, column by column from chains of two on worlds with one unit of power."""
    size = 25
    x = np.arange(1.0, size + 1) ** -1.4
    columns = []
    for place in range(size):
        power = np.zeros(size)
        power[place] = 1.0
        problem = w2s.Problem.from_arrays(x, power)
        state = w2s.chain(problem, [stage]).diagnostics
        columns.append((1 - state.mean_error[0]) ** 2 * power + state.variance[0])
    largest = np.max(np.abs(np.linalg.eigvals(np.array(columns).T)))
    rate = w2s.growth_rate(w2s.Problem.from_arrays(x, np.ones(size)), stage)
    assert float(rate) == pytest.approx(largest, rel=1e-11)


def test_chains_collapse_below_the_threshold_and_forget_above():
    problem = w2s.Problem.power_law(1.5, 0.6, 0.3, n_modes=100)
    ridge = w2s.collapse_ridge(problem, n_samples=100, n_features=100)
    assert float(w2s.growth_rate(problem, Stage(100, 100, ridge=ridge))) == pytest.approx(1, rel=1e-12)
    first, power = Stage(80, 120, ridge=0.05), float(np.sum(problem.modes.explicit().target_power))
    grown, forgotten = (
        w2s.chain(problem, [first, *[Stage(100, 100, ridge=factor * ridge)] * 600]).excess_risk for factor in (0.5, 1e4)
    )
    rate = float(w2s.growth_rate(problem, Stage(100, 100, ridge=0.5 * ridge)))
    assert float(grown[-1] / grown[-2]) == pytest.approx(rate, rel=1e-8)
    assert float(forgotten[-1]) == pytest.approx(power, rel=1e-9)
    assert w2s.collapse_ridge(w2s.Problem.from_arrays([1.0], [1.0]), n_samples=100) == 0.0


def test_generations_broadcast_and_differentiate():
    problem = w2s.Problem.power_law(1.5, 0.6, 0.3)
    stages = [Stage(80, [50, 120], ridge=0.05), Stage(100, 100, ridge=[[0.02], [0.1], [1.0]])]
    steps = w2s.chain(problem, stages)
    assert steps.excess_risk.shape == (3, 2, 2)
    levels = steps.diagnostics.multiplicities.size
    assert steps.diagnostics.mean_error.shape == steps.diagnostics.variance.shape == (3, 2, 2, levels)

    def last(ridge):
        return w2s.chain(problem, [Stage(80.0, 50.0, ridge=0.05), Stage(100.0, 100.0, ridge=ridge)]).excess_risk[-1]

    with jax.enable_x64(True):
        slope = float(jax.grad(last)(0.1))
    assert slope == pytest.approx(float(last(0.1001) - last(0.0999)) / 2e-4, rel=1e-5)


def test_tables_have_a_row_per_generation():
    steps = w2s.chain(
        w2s.Problem.power_law(1.5, 0.6, 0.3), [Stage(80, [50, 120], ridge=0.05), *[Stage(60, ridge=1.0)] * 2]
    )
    table = steps.to_dict()
    assert {len(column) for column in table.values()} == {6}
    assert table["stage0_n_features"].tolist() == [50] * 3 + [120] * 3
    np.testing.assert_array_equal(table["excess_risk"], steps.excess_risk.ravel())


def test_bad_input_is_refused():
    problem = w2s.Problem.power_law(1.5, 0.6)
    with pytest.raises(ArgumentError, match="stages must be a sequence of at least one Stage"):
        w2s.chain(problem, [])
    with pytest.raises(ArgumentError, match=r"stages\[1\].ridge must be"):
        w2s.chain(problem, [Stage(10, ridge=1.0), Stage(10, ridge=-1.0)])
    with pytest.raises(ArgumentError, match="n_samples must be finite"):
        w2s.collapse_ridge(problem, n_samples=np.inf)

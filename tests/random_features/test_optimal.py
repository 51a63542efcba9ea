"""The best ridge: published values, brute force, edges, monotonicity, derivatives; risk curves against `predict`."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvable import random_features as rf
from solvable.errors import ArgumentError, ResolutionError

SMALL = rf.Problem.power_law(1.5, 0.4, 0.1, n_modes=100)
WORLD = rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=800)


@pytest.mark.x64_independent
@pytest.mark.parametrize(
    ("noise", "n", "p", "ridge", "risk"),
    [
        (0.01, 100, 200, 0.181642, 0.0311600725),
        (0.01, 100, 50, 0.520883, 0.07987592775),
        (0.25, 300, 300, 2.158909, 0.04087355411),
    ],
)
def test_published_values(noise, n, p, ridge, risk):
    best = rf.optimal_ridge(rf.Problem.power_law(1.5, 0.4, noise, n_modes=800), n_samples=n, n_features=p)
    assert float(best.ridge) == pytest.approx(ridge, rel=2e-6)
    assert float(best.excess_risk) == pytest.approx(risk, rel=1e-9)


@pytest.mark.x64_independent
@given(
    n=st.floats(3, 1e5), p=st.floats(3, 1e5) | st.just(math.inf), noise=st.floats(1e-8, 10),
    capacity=st.floats(1.1, 3), source=st.floats(0.1, 1.5), size=st.sampled_from([50.0, 800.0, math.inf]),
)  # fmt: skip
def test_no_ridge_does_better(n, p, noise, capacity, source, size):
    """Against a dense grid over 40 decades: never above it, and `predict` at the best ridge gives the stated risk."""
    problem = rf.Problem.power_law(capacity, source, noise, n_modes=size)
    best = rf.optimal_ridge(problem, n_samples=n, n_features=p)
    natural = float(best.nu2) * n
    ridges = natural * np.geomspace(1e-12, 1e8, 300)
    grid = rf.predict(problem, n_samples=n, n_features=p, ridge=ridges).excess_risk
    risk = float(best.excess_risk)
    assert risk <= grid.min() * (1 + 1e-11)
    there = float(rf.predict(problem, n_samples=n, n_features=p, ridge=best.ridge).excess_risk)
    assert risk == pytest.approx(there, rel=1e-11)


@pytest.mark.x64_independent
def test_ridge_zero_where_the_risk_rises_from_there():
    """Without noise, and well-aligned: any ridge hurts."""
    smooth = rf.Problem.power_law(1.5, 0.4, 0.0)
    best = rf.optimal_ridge(smooth, n_samples=[300, math.inf], n_features=[[math.inf], [50]])
    assert np.all(best.ridge[:, 1] == 0)
    at_zero = rf.predict(smooth, n_samples=math.inf, n_features=50, ridge_per_sample=0.0)
    assert float(best.excess_risk[1, 1]) == pytest.approx(float(at_zero.excess_risk), rel=1e-12)
    finite = rf.Problem.power_law(1.5, 0.4, 0.0, n_modes=20)
    assert float(rf.optimal_ridge(finite, n_samples=50, n_features=60).excess_risk) == 0


@pytest.mark.x64_independent
def test_least_squares_of_full_rank_wants_a_little_ridge():
    finite = rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=20)
    best = rf.optimal_ridge(finite, n_samples=[50, 20, 1e4], n_features=[60, 20, math.inf])
    assert np.all(best.ridge > 0)
    for index, (n, p) in enumerate(((50, 60), (20, 20), (1e4, math.inf))):
        grid = rf.predict(finite, n_samples=n, n_features=p, ridge=np.geomspace(1e-6, 1e3, 4000)).excess_risk
        assert best.excess_risk[index] <= grid.min()
        assert best.excess_risk[index] == pytest.approx(grid.min(), rel=1e-4)


@pytest.mark.x64_independent
def test_nothing_to_learn_asks_for_an_infinite_ridge():
    null = rf.Problem.from_arrays([1.0, 0.5, 0.0], [0.0, 0.0, 2.0], noise_variance=0.1)
    best = rf.optimal_ridge(null, n_samples=10, n_features=20)
    assert float(best.ridge) == math.inf
    assert float(best.excess_risk) == 2.0


@pytest.mark.x64_independent
@pytest.mark.parametrize("world", [(1.5, 0.4, 0.01), (2.0, 0.9, 0.5)])
def test_more_samples_or_features_never_hurt_at_the_best_ridge(world):
    """The theorem of arXiv:2311.14646."""
    sizes = np.geomspace(20, 500, 9)
    risk = rf.optimal_ridge(rf.Problem.power_law(*world), n_samples=sizes[:, None], n_features=sizes).excess_risk
    assert np.all(np.diff(risk, axis=0) < 0)
    assert np.all(np.diff(risk, axis=1) < 0)


@pytest.mark.parametrize("n", [pytest.param(60.0, marks=pytest.mark.slow), 100.0])
def test_gradient_in_the_callers_precision(n):
    """A full-rank world of 100 modes, also at n = rank where ridge 0 is singular; float32 if x64 is off."""
    risk = lambda n: rf.optimal_ridge(SMALL, n_samples=n, n_features=150.0).excess_risk  # noqa: E731  (used thrice)
    slope = jax.grad(risk)(n)
    assert float(slope) == pytest.approx(float(risk(n + 0.01) - risk(n - 0.01)) / 0.02, rel=1e-4)


@pytest.mark.slow
@pytest.mark.x64_independent
def test_traced_values_and_gradients():
    """Reverse mode through the minimum against central differences of the concrete route."""

    def best(numbers, name):
        capacity, source, noise, n, p = numbers
        return rf.optimal_ridge(rf.Problem.power_law(capacity, source, noise, n_modes=500), n_samples=n, n_features=p)[
            name
        ]

    numbers = (1.5, 0.4, 0.1, 100.0, 150.0)

    def both(numbers):
        return jnp.stack([best(numbers, "ridge"), best(numbers, "excess_risk")])

    with jax.enable_x64(True):
        values, slopes = both(numbers), jax.jacrev(both)(numbers)
    for row, name in enumerate(("ridge", "excess_risk")):
        assert float(values[row]) == pytest.approx(float(best(numbers, name)), rel=1e-9)
        for index, number in enumerate(numbers):
            step = 1e-4 * number
            ends = [best((*numbers[:index], number + sign * step, *numbers[index + 1 :]), name) for sign in (1, -1)]
            assert float(slopes[index][row]) == pytest.approx(float(ends[0] - ends[1]) / (2 * step), rel=2e-6)


@pytest.mark.x64_independent
@pytest.mark.parametrize("sizes", [(100, 200), (100, 50), (100, 100), (50, math.inf), (math.inf, 50), (2000, 3000)])
def test_curves_are_predictions(sizes):
    n, p = sizes
    curve = rf.risk_curve(WORLD, n_samples=n, n_features=p, points=60)
    ridge = curve.controls.ridge
    assert curve.excess_risk.shape == (60,)
    assert np.all(np.diff(curve.diagnostics.nu2) > 0)
    if math.isinf(n):
        per_sample = curve.diagnostics.nu2 * curve.diagnostics.nu1 / curve.diagnostics.nu2
        theory = rf.predict(WORLD, n_samples=n, n_features=p, ridge_per_sample=per_sample)
    else:
        theory = rf.predict(WORLD, n_samples=n, n_features=p, ridge=ridge)
        assert ridge[0] == 0
    for name in rf.OBSERVABLES.names:
        np.testing.assert_allclose(curve.observables[name], theory.observables[name], rtol=2e-10, err_msg=name)
    if math.isfinite(n):
        best = rf.optimal_ridge(WORLD, n_samples=n, n_features=p)
        assert float(best.excess_risk) <= curve.excess_risk.min()


@pytest.mark.x64_independent
def test_bad_input_is_refused():
    with pytest.raises(ArgumentError, match="n_samples must be > 0"):
        rf.optimal_ridge(WORLD, n_samples=0)
    with pytest.raises(ArgumentError, match="points must be an integer >= 3"):
        rf.risk_curve(WORLD, n_samples=10, points=2)


@pytest.mark.x64_independent
def test_unresolved_minima_are_refused():
    world = rf.Problem.power_law(1.5, 0.4, 0.0)
    for function in (rf.optimal_ridge, rf.risk_curve):
        with pytest.raises(ResolutionError, match="not resolved"):
            function(world, n_samples=1e17)

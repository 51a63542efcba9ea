"""Covariate shift: published values, the identity metric, and simulation."""

import math

import numpy as np
import pytest

from solvable import compare
from solvable import random_features as rf
from solvable.errors import ArgumentError, InfiniteWorldError

pytestmark = pytest.mark.x64_independent
WORLD = rf.Problem.power_law(1.5, 0.4, 0.05, n_modes=800)
K = np.arange(1.0, 801)
METRIC = np.where(K % 2 == 0, 3.0, 0.5) * (1 + K**0.3)


@pytest.mark.parametrize(("n", "p", "ridge", "risk"), [(150, 120, 0.01, 1.25443), (150, 300, 0.1, 0.32766)])
def test_published_values(n, p, ridge, risk):
    shifted = rf.covariate_shift(WORLD, METRIC, n_samples=n, n_features=p, ridge=ridge)
    assert float(shifted.excess_risk) == pytest.approx(risk, rel=2e-5)


@pytest.mark.parametrize(
    "controls", [(50, 80, 0.1), (80, 50, 0.0), (50, math.inf, 1.0), (1e4, 2e4, 0.0), (900, 40, 0.3)]
)
def test_no_shift_is_the_prediction(controls):
    n, p, ridge = controls
    for world in (WORLD, rf.Problem.from_arrays([1, 0.2, 0.1, 0], [1, 1, 2, 0.3], 0.2, [1, 30, 100, 5])):
        sizes = {"n_samples": n, "n_features": p, "ridge": ridge}
        levels = 800 if world is WORLD else 4
        shifted, plain = rf.covariate_shift(world, np.ones(levels), **sizes), rf.predict(world, **sizes)
        for name in rf.OBSERVABLES.names:
            np.testing.assert_allclose(shifted.observables[name], plain.observables[name], rtol=1e-11, err_msg=name)


def test_functions_of_the_mode_number():
    sizes = {"n_samples": 100, "n_features": [50, 200], "ridge": 0.1}
    array = rf.covariate_shift(WORLD, 2 + np.sin(np.log(K)), **sizes)
    function = rf.covariate_shift(WORLD, lambda k: 2 + np.sin(np.log(k)), **sizes)
    np.testing.assert_allclose(function.excess_risk, array.excess_risk, rtol=1e-10)
    infinite = rf.Problem.power_law(1.5, 0.4, 0.05)
    doubled = rf.covariate_shift(infinite, lambda k: 2 + 0 * k, **sizes).excess_risk
    np.testing.assert_allclose(doubled, 2 * rf.predict(infinite, **sizes).excess_risk, rtol=1e-12)


def test_simulation_agrees(test_seed):
    """Detects biases of 30%; the 1/min(n, p) correction of the risk is declared."""
    world = rf.Problem.power_law(1.5, 0.4, 0.05, n_modes=200)
    metric = METRIC[:200]
    controls = {"n_samples": 50, "n_features": [40, 100], "ridge": [[0.1], [1.0]]}
    measured = rf.simulate(world, **controls, metric=metric, seed=test_seed, replicates=400)
    theory = rf.covariate_shift(world, metric, **controls)
    verdict = compare(theory, measured, finite_size=dict.fromkeys(rf.OBSERVABLES.names, 1.5 / 40), detectable=0.45)
    assert verdict, verdict
    plain = rf.predict(world, **controls)
    assert compare({"bias": plain.bias}, measured, rtol=0.1).verdict == "disagree"


@pytest.mark.slow
@pytest.mark.parametrize(("p", "ridge", "mean", "sem"), [(120, 0.01, 1.269, 0.018), (300, 0.1, 0.3224, 0.0033)])
def test_published_monte_carlo_rows(p, ridge, mean, sem, test_seed):
    """Two simulations of the same mean, 150 replicates there and 160 here."""
    controls = {"n_samples": 150, "n_features": p, "ridge": ridge}
    ours = rf.simulate(WORLD, **controls, metric=METRIC, seed=test_seed, replicates=160)
    pooled = {"excess_risk": (ours.mean.excess_risk, np.hypot(ours.sem.excess_risk, sem))}
    assert compare({"excess_risk": mean}, pooled, detectable=0.3)


def test_bad_input_is_refused():
    sizes = {"n_samples": 10, "ridge": 0.1}
    with pytest.raises(ArgumentError, match="metric must be one entry for each of the 800 levels"):
        rf.covariate_shift(WORLD, np.ones(3), **sizes)
    with pytest.raises(ArgumentError, match="metric must be finite and >= 0"):
        rf.covariate_shift(WORLD, -METRIC, **sizes)
    with pytest.raises(ArgumentError, match="metric must be an array"):
        rf.covariate_shift(rf.Problem.from_arrays([1, 0.5], [1, 1]), lambda k: k, **sizes)
    with pytest.raises(InfiniteWorldError, match="truncate"):
        rf.covariate_shift(rf.Problem.power_law(1.5, 0.4), METRIC, **sizes)

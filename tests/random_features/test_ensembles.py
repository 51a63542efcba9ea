"""Ensembles: published values, positivity and sums of the parts, simulation of all four risks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvable import compare
from solvable import random_features as rf
from solvable.errors import ArgumentError, InfiniteWorldError

pytestmark = pytest.mark.x64_independent
PARTS = ("common_part", "feature_part", "data_part", "interaction_part")


def test_published_values():
    problem = rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=800)
    parts = rf.decompose(problem, n_samples=100, n_features=200, ridge=1e-2)
    assert float(parts.feature_averaged_risk) == pytest.approx(0.01684430733, rel=1e-9)
    assert float(parts.data_averaged_risk) == pytest.approx(0.01278035245, rel=1e-9)
    assert float(parts.fully_averaged_risk) == pytest.approx(0.006432563968, rel=1e-9)
    noisier = rf.Problem.power_law(1.5, 0.4, 0.05, n_modes=800)
    parts = rf.decompose(noisier, n_samples=100, n_features=80, ridge=1e-2)
    expected = {"excess_risk": 0.197658, "feature_averaged_risk": 0.033592, "data_averaged_risk": 0.030745}
    for name, value in {**expected, "fully_averaged_risk": 0.0090578}.items():
        assert float(parts.observables[name]) == pytest.approx(value, rel=1e-4)


@given(
    n=st.floats(1, 1e6), p=st.floats(1, 1e6) | st.just(math.inf), ridge=st.just(0.0) | st.floats(1e-12, 1e4),
    noise=st.sampled_from([0.0, 0.3]), capacity=st.floats(1.1, 3), source=st.floats(0.1, 1.5),
)  # fmt: skip
def test_parts_are_positive_and_add_up(n, p, ridge, noise, capacity, source):
    problem = rf.Problem.power_law(capacity, source, noise, n_modes=3000)
    controls = {"n_samples": n, "n_features": p, "ridge": ridge}
    parts = rf.decompose(problem, **controls)
    values = [float(parts.observables[name]) for name in PARTS]
    assert min(values) >= 0
    risk = float(rf.predict(problem, **controls).excess_risk)
    assert sum(values) == pytest.approx(risk, rel=1e-11)
    assert float(parts.excess_risk) == pytest.approx(risk, rel=1e-11)
    assert parts.fully_averaged_risk <= min(parts.feature_averaged_risk, parts.data_averaged_risk)
    assert max(parts.feature_averaged_risk, parts.data_averaged_risk) <= parts.excess_risk


def test_crossed_ensembles_interpolate():
    problem = rf.Problem.power_law(1.5, 0.4, 0.1)
    controls = {"n_samples": 60, "n_features": 80, "ridge": 0.1}

    def ensemble(draws, datasets):
        parts = rf.decompose(problem, **controls, n_feature_draws=draws, n_datasets=datasets)
        return float(parts.diagnostics.ensemble_risk)

    parts = rf.decompose(problem, **controls)
    assert ensemble(1, 1) == pytest.approx(float(parts.excess_risk), rel=1e-14)
    assert ensemble(math.inf, 1) == pytest.approx(float(parts.feature_averaged_risk), rel=1e-14)
    assert ensemble(1, math.inf) == pytest.approx(float(parts.data_averaged_risk), rel=1e-14)
    assert ensemble(math.inf, math.inf) == pytest.approx(float(parts.fully_averaged_risk), rel=1e-14)
    kernel = rf.decompose(problem, n_samples=60, ridge=0.1)
    assert float(kernel.feature_part) == float(kernel.interaction_part) == 0


def test_one_wide_model_beats_many_narrow_ones_at_the_best_ridge():
    """At a fixed total of 240 features (arXiv:2311.14646)."""
    problem = rf.Problem.power_law(1.5, 0.4, 0.1)
    draws = np.array([1, 2, 4, 8])
    ridges = np.geomspace(1e-3, 10, 60)[:, None]
    parts = rf.decompose(problem, n_samples=60, n_features=240 / draws, ridge=ridges, n_feature_draws=draws)
    assert np.all(np.diff(parts.diagnostics.ensemble_risk.min(axis=0)) > 0)


def test_simulation_agrees(test_seed):
    """Detects biases of a quarter in each risk and of a third in each part; the 1/n correction is declared."""
    problem = rf.Problem.power_law(1.5, 0.4, 0.05, n_modes=120)
    controls = {"n_samples": 30, "n_features": 45, "ridge": [0.1, 1.0]}
    measured = rf.simulate_decomposition(problem, **controls, seed=test_seed, replicates=640)
    theory = rf.decompose(problem, **controls)
    allowance = dict.fromkeys(rf.DECOMPOSITION.names, 1.5 / 30)
    verdict = compare(theory.observables, measured, finite_size=allowance, detectable=0.45)
    assert verdict, verdict
    alone = rf.simulate(problem, **controls, seed=test_seed + 1, replicates=640)
    pooled = (alone.mean.excess_risk, np.hypot(alone.sem.excess_risk, measured.sem.excess_risk))
    assert compare({"excess_risk": measured.mean.excess_risk}, {"excess_risk": pooled}, detectable=0.2)


@pytest.mark.slow
def test_published_monte_carlo_row(test_seed):
    """Two simulations of the same means: 300 replicates there, 256 here."""
    published = {
        "excess_risk": (0.19950, 0.0014),
        "feature_averaged_risk": (0.03333, 0.0007),
        "data_averaged_risk": (0.03245, 0.0008),
        "fully_averaged_risk": (0.0090, 0.0006),
    }
    problem = rf.Problem.power_law(1.5, 0.4, 0.05, n_modes=800)
    controls = {"n_samples": 100, "n_features": 80, "ridge": 0.01}
    ours = rf.simulate_decomposition(problem, **controls, seed=test_seed, replicates=256)
    pooled = {name: (ours.mean[name], np.hypot(ours.sem[name], sem)) for name, (_, sem) in published.items()}
    assert compare({name: mean for name, (mean, _) in published.items()}, pooled, detectable=1.0)


@pytest.mark.slow
def test_finite_size_bias_shrinks(test_seed):
    """The allowance of `test_simulation_agrees` and of the experiment: C/min(n, p) with C <= 1.5, over three sizes."""
    for n, replicates in ((24, 6000), (48, 2000), (96, 600)):
        world = rf.Problem.power_law(1.5, 0.4, 0.05, n_modes=8 * n)
        controls = {"n_samples": n, "n_features": [n // 2, 3 * n // 2], "ridge": 0.1}
        theory = rf.decompose(world, **controls)
        measured = rf.simulate_decomposition(world, **controls, seed=test_seed, replicates=replicates)
        size = np.minimum(n, controls["n_features"])
        for name in rf.DECOMPOSITION.base:
            scale = size / theory.observables[name]
            constant, error = scale * (measured.mean[name] - theory.observables[name]), scale * measured.sem[name]
            print(n, name, [f"{c:.2f}+-{e:.2f}" for c, e in zip(constant, error, strict=True)])
            assert np.all(np.abs(constant) < 1.5 + 5 * error), (n, name, constant, error)


def test_bad_input_is_refused():
    problem = rf.Problem.power_law(1.5, 0.4)
    with pytest.raises(ArgumentError, match="n_datasets must be >= 1"):
        rf.decompose(problem, n_samples=10, ridge=0.1, n_datasets=0.5)
    with pytest.raises(InfiniteWorldError, match="truncate"):
        rf.simulate_decomposition(problem, n_samples=10, n_features=5, ridge=0.1, seed=0, replicates=2)
    with pytest.raises(ArgumentError, match="n_features must be integers >= 1"):
        rf.simulate_decomposition(
            problem.truncate(9), n_samples=10, n_features=math.inf, ridge=0.1, seed=0, replicates=2
        )

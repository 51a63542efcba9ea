"""Nonlinear features on the sphere for a path of ridges, against scikit-learn's `Ridge` per ridge on the same draws."""

import math

import jax
import numpy as np
import pytest
from sklearn.linear_model import Ridge

from benchmarks.baselines import relu_kernel
from solvable import random_features as rf
from solvable.random_features.sphere import polynomials, sphere_spectrum
from solvable.random_features.sphere_simulation import _on_sphere

DIMENSION, N, P, REPLICATES = 30, 300, 300, 4
POWER = np.array([0.25, 1.0, 0.49])
PATHS = (1, 8, 32)


def ridges(count):
    return np.geomspace(1e-3, 10, count)


def draws():
    """The vectors that the simulator draws for seed 0."""
    for number in range(REPLICATES):
        keys = jax.random.split(jax.random.fold_in(jax.random.key(0), np.uint32(number)), 3)
        yield [np.asarray(_on_sphere(k, m, DIMENSION)) for k, m in zip(keys, (N, P, 1), strict=True)]


def ours(count):
    controls = {"n_samples": N, "n_features": P, "ridge": ridges(count)}
    return rf.simulate_sphere("relu", DIMENSION, POWER, **controls, seed=0, replicates=REPLICATES)


def scikit_learn(count, vectors):
    """Bias alone, from noiseless labels; the population risk by the same closed form."""
    spectrum = sphere_spectrum("relu", DIMENSION)
    amplitude = np.sqrt(POWER * spectrum.multiplicities[: POWER.size])

    def series(terms, u):
        return sum(t * q for t, q in zip(terms, polynomials(u, DIMENSION, POWER.size), strict=True))

    biases = []
    for x, w, theta in vectors:
        design = np.maximum(math.sqrt(DIMENSION) * x @ w.T, 0) / math.sqrt(P)
        labels, kernel = series(amplitude, x @ theta[0]), relu_kernel(w @ w.T) / P
        cross = series(amplitude * spectrum.coefficients[: POWER.size], w @ theta[0]) / math.sqrt(P)
        fits = [Ridge(alpha=ridge, fit_intercept=False).fit(design, labels).coef_ for ridge in ridges(count)]
        biases.append([POWER.sum() - 2 * a @ cross + a @ kernel @ a for a in fits])
    return np.mean(biases, axis=0)


@pytest.fixture(scope="module", autouse=True)
def _table(medians, add_table):
    yield
    rows = [("ridges", "ours, all observables", "scikit-learn, bias alone", "ratio")]
    for count in PATHS:
        times = [medians.get((name, count), np.nan) / REPLICATES for name in ("ours", "scikit-learn")]
        rows.append((str(count), *(f"{1e3 * t:.0f} ms" for t in times), f"{times[1] / times[0]:.2f}"))
    add_table(f"ReLU on the sphere, n = p = {N}, dimension {DIMENSION}, per replicate", rows)


@pytest.mark.parametrize("count", PATHS)
def test_ours(count, timed):
    timed(("ours", count), lambda: ours(count), rounds=5)


@pytest.mark.parametrize("count", PATHS)
def test_scikit_learn(count, timed):
    vectors = list(draws())
    expected = timed(("scikit-learn", count), lambda: scikit_learn(count, vectors), rounds=3)
    np.testing.assert_allclose(ours(count).mean.bias, expected, rtol=1e-6)

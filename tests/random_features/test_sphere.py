"""Nonlinear features on the sphere: published spectra, closed forms, Parseval, and predictions."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from solvable import compare
from solvable import random_features as rf
from solvable.errors import ArgumentError
from solvable.random_features import sphere, sphere_simulation
from solvable.random_features.sphere import sphere_spectrum

pytestmark = pytest.mark.x64_independent


@pytest.mark.parametrize(
    ("activation", "dimension", "squares", "counts"),
    [
        (
            "relu", 30, {0: 0.161829255, 1: 1 / 120, 2: 1.68396727e-4, 4: 1.54634277e-7},
            {0: 1, 1: 30, 2: 464, 3: 4930, 4: 40455},
        ),
        ("relu", 5, {0: 0.17578125, 1: 0.05, 2: 4.8828125e-3, 4: 7.62939453e-5}, {0: 1, 1: 5, 2: 14, 3: 30, 4: 55}),
        ("tanh", 30, {1: 0.0124899296, 3: 4.32157969e-6}, {}),
    ],
)  # fmt: skip
def test_published_spectra(activation, dimension, squares, counts):
    spectrum = sphere_spectrum(activation, dimension)
    for degree, value in squares.items():
        assert spectrum.coefficients[degree] ** 2 == pytest.approx(value, rel=4e-9)
    for degree, value in counts.items():
        assert spectrum.multiplicities[degree] == value


def test_forbidden_degrees_are_exactly_zero():
    relu = sphere_spectrum("relu", 12).coefficients
    assert np.all(relu[3::2] == 0)
    assert np.all(relu[[0, 1, 2, 4, 6]] != 0)
    assert np.all(sphere_spectrum("tanh", 12).coefficients[::2] == 0)


def test_rest_of_relu():
    """3.41e-5 of E activation^2 = 1/2 lies above degree 60 in 30 dimensions."""
    spectrum = sphere_spectrum("relu", 30, n_levels=61)
    assert 2 * spectrum.rest == pytest.approx(3.41e-5, rel=2e-3)


def test_polynomial_activations_end():
    """sqrt(d) u is degree 1 alone with xi_1 = 1/sqrt(d); its square has degrees 0 and 2."""
    linear = sphere_spectrum(lambda z: z, 7)
    assert linear.coefficients[1] == pytest.approx(1 / math.sqrt(7), rel=1e-13)
    assert np.count_nonzero(linear.coefficients) == 1
    assert linear.rest == 0
    square = sphere_spectrum(lambda z: z**2, 7)
    assert square.coefficients[0] == pytest.approx(1, rel=1e-13)
    assert np.flatnonzero(square.coefficients).tolist() == [0, 2]


@pytest.mark.parametrize("dimension", [3, 10, 300, 10_000])
def test_large_dimensions_approach_hermite_coefficients(dimension):
    """N_1 xi_1^2 -> E[relu(g) g]^2 = 1/4, with a correction of order 1/d."""
    spectrum = sphere_spectrum("relu", dimension)
    assert abs(spectrum.multiplicities[1] * spectrum.coefficients[1] ** 2 - 0.25) < 1e-12
    constant = spectrum.coefficients[0] ** 2
    assert abs(constant - 1 / (2 * math.pi)) < 0.1 / dimension


@pytest.mark.parametrize(
    ("activation", "dimension", "power", "p", "ridge", "bias", "variance"),
    [
        ("relu", 30, (0.5, 1, 0.7, 0.3), 100, 0.1, 0.79313, 0.023404),
        ("relu", 30, (0.5, 1, 0.7, 0.3), 300, 1e-3, 1.7609, 0.36588),
        ("relu", 30, (0.5, 1, 0.7, 0.3), 900, 0.1, 0.52276, 0.021521),
        ("relu", 30, (0.5, 1, 0.7, 0.3), 900, 0.0, 0.59429, 0.12794),
        ("tanh", 30, (0, 1, 0, 0.5), 900, 0.1, 0.27837, 0.011583),
    ],
)
def test_published_predictions(activation, dimension, power, p, ridge, bias, variance):
    """Target power is the square of the published coefficients."""
    problem = rf.Problem.sphere(activation, dimension, np.square(power), noise_variance=0.1)
    theory = rf.predict(problem, n_samples=300, n_features=p, ridge=ridge)
    assert float(theory.bias) == pytest.approx(bias, rel=2e-5)
    assert float(theory.variance) == pytest.approx(variance, rel=4e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("relu", 2, [1.0]), "dimension must be an integer >= 3"),
        (("step", 5, [1.0]), "activation must be a function or one of"),
        (("relu", 5, np.ones(65)), "level_power must be one-dimensional"),
        (("relu", 5, [-1.0]), "target_power must be finite and >= 0"),
        ((lambda z: z / 0 * math.inf if np.ndim(z) == 0 else z * math.nan, 5, [1.0]), "activation must be elementwise"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        rf.Problem.sphere(*arguments)


def test_a_gaussian_simulator_refuses_so_many_modes():
    problem = rf.Problem.sphere("relu", 30, [1.0])
    with pytest.raises(ArgumentError, match="multiplicities must be at most"):
        rf.simulate(problem, n_samples=10, n_features=10, ridge=0.1, seed=0, replicates=2)


def test_population_risk_is_exact(test_seed):
    """The closed-form risk of a trained model against a large test set: within five standard errors of the latter."""
    dimension, n, p, key = 6, 30, 40, jax.random.key(test_seed)
    spectrum, power = sphere_spectrum("tanh", dimension), np.zeros(64)
    power[:4] = (0.2, 1.0, 0.0, 0.5)
    with jax.enable_x64(True):
        arrays = [jnp.asarray(v) for v in (spectrum.coefficients, spectrum.multiplicities, spectrum.rest, power)]
        values = sphere_simulation._draw(
            key, **dict(zip(("coefficients", "counts", "rest", "power"), arrays, strict=True)),
            noise_variance=jnp.asarray(0.0), ridge=jnp.asarray([0.01]), activation="tanh", dimension=dimension,
            n_samples=n, n_features=p,
        )  # fmt: skip
        keys = jax.random.split(key, 3)
        x, w, theta = (
            np.asarray(sphere_simulation._on_sphere(k, m, dimension)) for k, m in zip(keys, (n, p, 1), strict=True)
        )
        fresh = np.asarray(sphere_simulation._on_sphere(jax.random.key(test_seed + 1), 50_000, dimension))

    def target(points):
        polynomials = sphere.polynomials(points @ theta[0], dimension, 64)
        return sum(np.sqrt(c * m) * q for c, m, q in zip(power, spectrum.multiplicities, polynomials, strict=True))

    design, test = (np.tanh(points @ w.T * math.sqrt(dimension)) / math.sqrt(p) for points in (x, fresh))
    trained = np.linalg.solve(design.T @ design + 0.01 * np.eye(p), design.T @ target(x))
    errors = (test @ trained - target(fresh)) ** 2
    assert abs(float(values["bias"][0]) - errors.mean()) < 5 * errors.std() / math.sqrt(len(errors))


def test_simulation_agrees(test_seed):
    """ReLU in 30 dimensions, biases of 30% found; and in 5 dimensions at small ridge the theory is visibly off."""
    world, controls = ("relu", 30, [0.25, 1.0, 0.25], 0.1), {"n_samples": 100, "n_features": 80, "ridge": [0.1, 1.0]}
    measured = rf.simulate_sphere(*world, **controls, seed=test_seed, replicates=256)
    theory = rf.predict(rf.Problem.sphere(*world), **controls)
    allowance = dict.fromkeys(rf.OBSERVABLES.names, 1.5 / 80)
    verdict = compare(theory, measured, finite_size=allowance, detectable=0.3)
    assert verdict, verdict
    narrow, sizes = ("relu", 5, [0.25, 1.0, 0.25], 0.1), {"n_samples": 60, "n_features": 240, "ridge": 1e-6}
    off = compare(
        rf.predict(rf.Problem.sphere(*narrow), **sizes),
        rf.simulate_sphere(*narrow, **sizes, seed=test_seed, replicates=128),
        finite_size={"variance": 1.3 / 60},
    )
    assert off.comparisons["variance"].disagrees


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "p", "ridge", "expected"),
    [
        (("relu", 30, (0.25, 1, 0.49, 0.09)), 100, 0.1, {"bias": (0.78189, 0.011), "variance": (0.023405, 3.1e-5)}),
        (("relu", 30, (0.25, 1, 0.49, 0.09)), 900, 0.0, {"bias": (0.61074, 0.012), "variance": (0.12852, 2.1e-4)}),
        (("relu", 5, (0.25, 1, 0.49, 0.09)), 900, 1e-6, {"bias": (0.23013, 0.0061), "variance": (0.15397, 8e-4)}),
        (("tanh", 30, (0, 1, 0, 0.25)), 900, 0.1, {"bias": (0.27773, 0.0018), "variance": (0.011556, 1.2e-5)}),
    ],
)
def test_published_monte_carlo_rows(world, p, ridge, expected, test_seed):
    """Two simulations of the same mean, n = 300, noise variance 0.1."""
    ours = rf.simulate_sphere(*world, 0.1, n_samples=300, n_features=p, ridge=ridge, seed=test_seed, replicates=32)
    pooled = {name: (ours.mean[name], np.hypot(ours.sem[name], sem)) for name, (_, sem) in expected.items()}
    assert compare({name: mean for name, (mean, _) in expected.items()}, pooled, detectable=0.5)

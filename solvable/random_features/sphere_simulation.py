"""Monte Carlo of nonlinear random features on the sphere, with the exact population risk of each trained model.

Products of features have the population mean K(w, w') = sum_k N_k xi_k^2 P_k(<w, w'>/d) (the arc-cosine kernel for
ReLU), and with the target f = sum_k c_k sqrt(N_k) P_k(<x, theta>/d) it is sum_k c_k sqrt(N_k) xi_k P_k(<w, theta>/d).
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from solvable.errors import require
from solvable.estimate import Estimate
from solvable.precision import Array, as_leaf
from solvable.random_features.features import arc_cosine_kernel
from solvable.random_features.path import factor_svd, quadratic, ridge_path
from solvable.random_features.problem import Problem
from solvable.random_features.simulation import integer_controls, over_sizes
from solvable.random_features.sphere import polynomials, sphere_spectrum
from solvable.random_features.theory import OBSERVABLES
from solvable.replicates import Sampling, run

JAX_ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh, "erf": jax.scipy.special.erf}


def simulate_sphere(
    activation: str | Callable[[Array], Array],
    dimension: int,
    level_power: Any,
    noise_variance: Any = 0.0,
    *,
    n_samples: Any,
    n_features: Any,
    ridge: Any = None,
    ridge_per_sample: Any = None,
    seed: int,
    **sampling: Any,
) -> Estimate:
    """Train on inputs, weights and a target direction drawn from the sphere; theory is `predict(Problem.sphere(...))`.

    The features are nonlinear and not Gaussian: they behave as if they were for large d, and visibly differ for d of a
    few. No test set is sampled.

    Args:
        activation: as in `Problem.sphere`; a function has to accept NumPy and JAX arrays alike.
        dimension: d, an integer >= 3.
        level_power: power of the target in each degree, shape (levels,); it has one direction, drawn anew each time.
        noise_variance: finite, >= 0.
        n_samples: integers >= 1.
        n_features: integers >= 1, finite.
        ridge: finite, >= 0. Give exactly one of `ridge` and `ridge_per_sample`.
        ridge_per_sample: ridge / n_samples.
        seed: integer >= 0.
        **sampling: as in `simulate`.

    Returns:
        An `Estimate` of the observables of `predict`.

    Raises:
        ArgumentError: outside these domains.
        MemoryLimitError: if one replicate needs more than `max_bytes`.

    Example:
        >>> from solvable import random_features as rf
        >>> world = ("relu", 20, [0.2, 1.0], 0.1)
        >>> controls = dict(n_samples=60, n_features=40, ridge=0.1)
        >>> measured = rf.simulate_sphere(*world, **controls, seed=0, replicates=16)
        >>> theory = rf.predict(rf.Problem.sphere(*world), **controls)
        >>> bool(abs(measured.mean.excess_risk / theory.excess_risk - 1) < 0.3)
        True
    """
    plan = Sampling(seed, **sampling)
    Problem.sphere(activation, dimension, level_power, noise_variance)  # checks the arguments
    controls, penalty = integer_controls(n_samples, n_features, ridge, ridge_per_sample, infinite_width=False)
    spectrum = sphere_spectrum(activation, dimension)
    noise = as_leaf(noise_variance)
    operands = {
        "coefficients": spectrum.coefficients,
        "counts": spectrum.multiplicities,
        "rest": as_leaf(spectrum.rest),
        "power": np.asarray(level_power, dtype=np.float64),
        "noise_variance": noise,
    }

    def one_size(n: int, p: float, ridges: Array) -> Estimate:
        numbers = 4 * n * p + 8 * p * p + (n + p) * dimension
        return run(
            _draw,
            {**operands, "ridge": ridges},
            {"activation": activation, "dimension": int(dimension), "n_samples": n, "n_features": int(p)},
            plan,
            declared=OBSERVABLES,
            constants={"noise_variance": noise},
            bytes_per_replicate=numbers * np.dtype(plan.dtype).itemsize,
        )

    return over_sizes(one_size, controls, penalty)


def _draw(
    key: Array,
    *,
    coefficients: Array,
    counts: Array,
    rest: Array,
    power: Array,
    noise_variance: Array,
    ridge: Array,
    activation: str | Callable[[Array], Array],
    dimension: int,
    n_samples: int,
    n_features: int,
) -> dict[str, Array]:
    keys = jax.random.split(key, 3)
    inputs, weights, direction = (
        _on_sphere(k, size, dimension) for k, size in zip(keys, (n_samples, n_features, 1), strict=True)
    )
    function = JAX_ACTIVATIONS[activation] if isinstance(activation, str) else activation
    overlaps = inputs @ weights.T * math.sqrt(dimension)  # <x, w>/sqrt(d) of vectors of length sqrt(d)
    design = function(overlaps) / math.sqrt(n_features)
    require(design.shape == overlaps.shape, "activation", "elementwise", design.shape)
    amplitude = jnp.sqrt(power * counts[: power.size])
    labels = _series(amplitude, inputs @ direction[0], dimension)
    cross = _series(amplitude * coefficients[: power.size], weights @ direction[0], dimension) / math.sqrt(n_features)
    kernel = _kernel(activation, weights, counts * coefficients**2, rest, dimension) / n_features
    factors = factor_svd(design, labels[:, None])
    moment = factors.vt @ kernel @ factors.vt.T
    return ridge_path(
        factors,
        quadratic(moment, factors.vt @ cross, jnp.sum(power)),
        n_samples=n_samples,
        noise_variance=noise_variance,
        ridge=ridge,
    )


def _on_sphere(key: Array, count: int, dimension: int) -> Array:
    """Points of the unit sphere, shape (count, dimension)."""
    points = jax.random.normal(key, (count, dimension), jnp.result_type(float))
    return points / jnp.linalg.norm(points, axis=1, keepdims=True)


def _series(terms: Array, u: Array, dimension: int) -> Array:
    """Sum over degrees of terms_k P_k(u)."""
    total = jnp.zeros_like(u)
    for term, polynomial in zip(terms, polynomials(u, dimension, len(terms)), strict=True):
        total = total + term * polynomial
    return total


def _kernel(
    activation: str | Callable[[Array], Array], weights: Array, terms: Array, rest: Array, dimension: int
) -> Array:
    """Population mean of products of features; degrees beyond the series are on the diagonal."""
    overlaps = weights @ weights.T
    if activation == "relu":
        one = jnp.ones((), overlaps.dtype)
        return arc_cosine_kernel(overlaps, one, one, jnp)
    return _series(terms, overlaps, dimension) + rest * jnp.eye(len(weights), dtype=overlaps.dtype)

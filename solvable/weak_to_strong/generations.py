"""One chain of trained models: draws of features and inputs, and the ridge regressions on them.

A generation with fewer features than modes needs its inputs only through a p x p Wishart matrix: given F, with
Phi = F Sigma^(1/2)/sqrt(p), Phi Phi^T = L L^T and w = L^-1 Phi theta, its design is R L^T and its labels are R w plus
noise of variance tau^2 + |theta|^2 - |w|^2, where R holds n x p normal numbers, or for n > p the triangle of Bartlett's
decomposition. That is exact in law (derived here); `direct` draws the n x modes inputs instead.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from solvable.precision import Array
from solvable.random_features.path import factor_eigh, factor_svd, shrinkage

_SUMMED_BELOW = 2**20  # normal numbers that are summed to chi-squares


class Shape(NamedTuple):
    """What decides the compiled shape of one generation.

    Attributes:
        n_samples: integer >= 1.
        n_features: integer >= 1, or inf.
        factorisation: "svd" or "eigh".
    """

    n_samples: int
    n_features: float
    factorisation: str


def trained_functions(
    key: Array,
    target: Array,
    *,
    scales: Sequence[Array],
    ridges: Array,
    noises: Array,
    shapes: tuple[Shape, ...],
    coupling: str,
    direct: bool,
) -> list[Array]:
    """Train one generation on the labels of the one before; return every function's coefficients, shape (modes,)."""
    function, functions = target, []
    keys = jax.random.split(key, (len(shapes), 2))
    shared = draw_features(keys[0, 0], shapes[0].n_features, scales[0]) if coupling == "features" else None
    for place, (shape, scale) in enumerate(zip(shapes, scales, strict=True)):
        features = draw_features(keys[place, 0], shape.n_features, scale) if shared is None else shared
        ridge, noise = ridges[place], noises[place]
        narrow = features is not None and shape.n_features < target.size
        if coupling == "inputs":
            return _refit(keys[0, 1], target, scale, ridges, noises, shape)
        if narrow and not direct:
            design, labels = _whitened(keys[place, 1], features, function, noise, shape.n_samples)
        else:
            design, labels = direct_labels(keys[place, 1], features, scale, function, noise, shape.n_samples)
        weights = fit(design, labels, ridge, shape.factorisation)
        function = scale * weights if features is None else features.T @ weights
        functions.append(function)
    return functions


def fit(design: Array, labels: Array, ridge: Array, factorisation: str) -> Array:
    """Return the weights of ridge regression, of least norm at ridge 0; shape (p,) or (p, outputs) as the labels."""
    factor = factor_svd if factorisation == "svd" else factor_eigh
    factors = factor(design, labels.reshape(len(labels), -1))
    inverse, _ = shrinkage(factors.s, ridge[None])
    return (factors.vt.T @ (inverse[0][:, None] * factors.scores)).reshape(design.shape[1], *labels.shape[1:])


def draw_features(key: Array, n_features: float, scale: Array) -> Array | None:
    """Draw scaled features Phi, shape (p, modes); infinitely many need no drawing."""
    if math.isinf(n_features):
        return None
    normal = jax.random.normal(key, (int(n_features), scale.size), scale.dtype)
    return normal * scale[None, :] / math.sqrt(n_features)


def direct_labels(
    key: Array, features: Array | None, scale: Array, function: Array, noise: Array, n: int
) -> tuple[Array, Array]:
    """Draw inputs, and return the design and the labels that a function gives them, plus noise."""
    input_key, noise_key = jax.random.split(key)
    inputs = jax.random.normal(input_key, (n, scale.size), scale.dtype)
    design = inputs * scale[None, :] if features is None else inputs @ features.T
    return design, inputs @ function + jnp.sqrt(noise) * jax.random.normal(noise_key, (n,), scale.dtype)


def _whitened(key: Array, features: Array, function: Array, noise: Array, n: int) -> tuple[Array, Array]:
    """Draw a design and labels with the same law of all that ridge regression sees of them."""
    p = len(features)
    input_key, noise_key, scale_key = jax.random.split(key, 3)
    root = jnp.linalg.cholesky(features @ features.T)
    visible = jax.scipy.linalg.solve_triangular(root, features @ function, lower=True)
    hidden = jnp.maximum(jnp.sum(function**2) - jnp.sum(visible**2), 0.0)
    rows = min(n, p)
    inputs = jax.random.normal(input_key, (rows, p), features.dtype)
    if n > p:
        inputs = jnp.triu(inputs, 1) + jnp.diag(jnp.sqrt(_chi_squares(scale_key, n, p, features.dtype)))
    spread = jnp.sqrt(hidden + noise) * jax.random.normal(noise_key, (rows,), features.dtype)
    return inputs @ root.T, inputs @ visible + spread


def _chi_squares(key: Array, n: int, p: int, dtype: Any) -> Array:
    """Draw chi-square numbers of n, n - 1, ..., n - p + 1 degrees of freedom."""
    freedom = n - jnp.arange(p)
    if n * p > _SUMMED_BELOW:
        return jax.random.chisquare(key, freedom.astype(dtype))
    squares = jax.random.normal(key, (p, n), dtype) ** 2  # a gamma sampler takes seconds to compile
    return jnp.sum(jnp.where(jnp.arange(n)[None, :] < freedom[:, None], squares, 0.0), axis=1)


def _refit(key: Array, target: Array, scale: Array, ridges: Array, noises: Array, shape: Shape) -> list[Array]:
    """Train the student on the teacher's predictions at the teacher's own inputs, with the kernel itself."""
    input_key, *noise_keys = jax.random.split(key, 3)
    inputs = jax.random.normal(input_key, (shape.n_samples, scale.size), scale.dtype)
    labels, functions = inputs @ target, []
    for place, noise_key in enumerate(noise_keys):
        labels = labels + jnp.sqrt(noises[place]) * jax.random.normal(noise_key, labels.shape, labels.dtype)
        functions.append(scale * fit(inputs * scale[None, :], labels, ridges[place], shape.factorisation))
        labels = inputs @ functions[-1]
    return functions

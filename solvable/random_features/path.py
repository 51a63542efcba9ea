"""Everything that one trained ridge model shows, exactly, for a whole path of ridges from one factorisation."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from solvable.precision import Array


class Factors(NamedTuple):
    """The design Z = U diag(s) V^T and the labels in its left basis.

    Attributes:
        s: singular values, shape (m,), m = min(n, p); those below rounding are exactly 0.
        vt: right singular vectors, shape (m, p): XLA multiplies rows by matrices three times faster than columns.
        scores: U^T y, shape (m, outputs).
        outside: squared norm of the part of y outside the span of U, summed over outputs.
    """

    s: Array
    vt: Array
    scores: Array
    outside: Array


def factor_svd(design: Array, labels: Array) -> Factors:
    """Factor by SVD: accurate for every ridge >= 0, in float32 too.

    Args:
        design: Z, shape (n, p).
        labels: y, shape (n, outputs).
    """
    u, s, vt = jnp.linalg.svd(design, full_matrices=False)
    cut = jnp.finfo(s.dtype).eps * max(design.shape) * s[0]
    return _with_scores(jnp.where(s > cut, s, 0.0), u, vt, labels)


def factor_eigh(design: Array, labels: Array) -> Factors:
    """Factor through the smaller Gram matrix: about twice as fast, and accurate to 1e-16 s_max^2 / ridge only."""
    n, p = design.shape
    gram = design @ design.T if n <= p else _rows(design.T) @ design
    squares, known = jnp.linalg.eigh(gram)
    s = jnp.sqrt(jnp.maximum(squares, 0.0))
    # Directions at rounding level carry no digits; the ridge makes them harmless if they are not blown up.
    scale = jnp.maximum(s, jnp.sqrt(jnp.finfo(s.dtype).eps) * s[-1])
    if n <= p:
        return _with_scores(s, known, (_rows(known.T) @ design) / scale[:, None], labels)
    return _with_scores(s, (design @ known) / scale[None, :], known.T, labels)


class Population(NamedTuple):
    """How functions with coefficients in the right singular basis fare on the population.

    Attributes:
        error: maps coefficients, shape (ridges, m, outputs), to mean squared errors, shape (ridges,).
        spread: mean squares of the functions of the m basis vectors, shape (m,).
    """

    error: Callable[[Array], Array]
    spread: Array


def expanded(functions: Array, target: Array) -> Population:
    """Population of functions given in a basis where the squared norm is the population mean square.

    Args:
        functions: those of the m basis vectors, shape (m, modes).
        target: shape (modes, outputs).
    """

    def error(coefficients: Array) -> Array:
        learned = jnp.einsum("rmo,mk->rko", coefficients, functions)
        return jnp.sum((target[None] - learned) ** 2, axis=(1, 2))

    return Population(error, jnp.sum(functions**2, axis=1))


def quadratic(moment: Array, cross: Array, power: Array) -> Population:
    """Population known by second moments alone, for one output.

    Args:
        moment: mean products of the functions of the m basis vectors, shape (m, m).
        cross: their mean products with the target, shape (m,).
        power: mean square of the target.
    """

    def error(coefficients: Array) -> Array:
        weights = coefficients[:, :, 0]
        return power - 2 * weights @ cross + jnp.sum((weights @ moment) * weights, axis=1)

    return Population(error, jnp.diag(moment))


def ridge_path(
    factors: Factors,
    population: Population,
    *,
    n_samples: int,
    noise_variance: Array,
    ridge: Array,
) -> dict[str, Array]:
    """Return the base observables of the trained models, means over label noise taken in closed form.

    Args:
        factors: factored design and noiseless labels.
        population: what the trained functions are judged on.
        n_samples: n.
        noise_variance: label-noise variance, summed over outputs.
        ridge: shape (ridges,), >= 0.

    Returns:
        `bias`, `variance`, `train_error`, `gcv`, `squared_norm`, `degrees_of_freedom`, each of shape (ridges,).
    """
    s, scores, penalty = factors.s[None, :], factors.scores, ridge[:, None]
    inverse, missed = shrinkage(factors.s, ridge)
    power = jnp.sum(scores**2, axis=1) + noise_variance  # of the noisy labels, per direction
    beyond = factors.outside + noise_variance * (n_samples - s.size)
    residual = missed**2 @ power + beyond
    degrees_of_freedom = jnp.sum(inverse * s, axis=1)
    return {
        "bias": population.error(inverse[:, :, None] * scores[None]),
        "variance": noise_variance * (inverse**2 @ population.spread),
        "train_error": residual / n_samples,
        "gcv": _gcv(s, penalty, missed, power, beyond, n_samples),
        "squared_norm": inverse**2 @ power,
        "degrees_of_freedom": degrees_of_freedom,
    }


def shrinkage(s: Array, ridge: Array) -> tuple[Array, Array]:
    """Return s/(s^2 + ridge) and ridge/(s^2 + ridge), each of shape (ridges, m); 0 and 1 where s is 0."""
    s, penalty = s[None, :], ridge[:, None]
    alive = s > 0
    total = jnp.where(alive, s * s + penalty, 1.0)
    return jnp.where(alive, s / total, 0.0), jnp.where(alive, penalty / total, 1.0)


def _rows(transposed: Array) -> Array:
    """Make a transposed matrix contiguous before it stands left in a product, which is then three times as fast."""
    return jax.lax.optimization_barrier(transposed)


def _with_scores(s: Array, u: Array, vt: Array, labels: Array) -> Factors:
    scores = u.T @ labels
    spanned = u.shape[0] == u.shape[1]  # n <= p: U is square and nothing lies outside
    outside = jnp.zeros((), s.dtype) if spanned else jnp.sum((labels - u @ scores) ** 2)
    return Factors(s, vt, scores, outside)


def _gcv(s: Array, penalty: Array, missed: Array, power: Array, beyond: Array, n_samples: int) -> Array:
    """Generalised cross-validation, train_error / (1 - degrees_of_freedom/n)^2, with its limit at ridge 0.

    For n <= p every direction is shrunk, all in proportion to the ridge: dividing by the largest leaves the ratio.
    """
    outside = n_samples - s.size
    if outside == 0:
        floor = jnp.min(s) ** 2 + penalty
        missed = jnp.where(floor > 0, floor / jnp.where(floor > 0, s * s + penalty, 1.0), missed)
    return n_samples * (missed**2 @ power + beyond) / (jnp.sum(missed, axis=1) + outside) ** 2

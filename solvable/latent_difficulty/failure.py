"""Failure rate after k attempts: the exact average over difficulties and biases, its slope, and its complement."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from solvable.errors import require
from solvable.latent_difficulty.profile import Profile, at_biases, profile
from solvable.precision import Array

BIAS_LAWS = ("gaussian", "fixed")


class Failure(NamedTuple):
    """What k attempts leave unsolved, and how fast it falls.

    Attributes:
        log_failure: log(1 - pass@k), to 1e-10.
        success: pass@k, to a relative 1e-10 at either end.
        local_exponent: -dlog(1 - pass@k)/dlog k.
    """

    log_failure: Array
    success: Array
    local_exponent: Array


def failure_rate(
    difficulty_exponent: Any, tolerance_ratio: Any, bias_variance_ratio: Any, k: Any, *, bias_law: str = "gaussian"
) -> Array:
    """Return 1 - pass@k: the share of instances that k attempts leave unsolved.

    F_k = E (1 - p(tau, b))^k over tau of Gamma(beta/2, 1) and b of N(0, v), with the exact p of `success_probability`
    (model: arXiv:2601.03764; the exact average is derived here, to a relative 1e-10, tested down to 2e-31).

    Args:
        difficulty_exponent: beta, finite, > 0; hard instances are as frequent as P(tau < epsilon) ~ epsilon^(beta/2).
        tolerance_ratio: t = tolerance over noise scale, finite, > 0.
        bias_variance_ratio: v = excess risk over noise variance, finite, >= 0.
        k: attempts, real, from 1 to 1e12.
        bias_law: "gaussian", or "fixed" for |b| = sqrt(v) on every instance.

    Returns:
        Values of the broadcast shape; for their logarithm, which does not underflow, see `failure`.

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> lid.failure_rate(2.5, 0.5, 0.3, [1, 10, 1e4])
        array([6.78238092e-01, 6.73421523e-02, 4.26264305e-06])
    """
    return np.exp(failure(difficulty_exponent, tolerance_ratio, bias_variance_ratio, k, bias_law=bias_law).log_failure)


def local_exponent(
    difficulty_exponent: Any, tolerance_ratio: Any, bias_variance_ratio: Any, k: Any, *, bias_law: str = "gaussian"
) -> Array:
    """Return -dlog(1 - pass@k)/dlog k, exactly, from the nodes of `failure_rate`.

    It is the difficulty exponent in the intrinsic tail, and falls again beyond `crossover_attempts`. Arguments and
    errors are those of `failure_rate`.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> lid.local_exponent(2.5, 0.5, 0.3, [10, 1e6]).round(4)
        array([1.8364, 0.5825])
    """
    return failure(difficulty_exponent, tolerance_ratio, bias_variance_ratio, k, bias_law=bias_law).local_exponent


def failure(
    difficulty_exponent: Any, tolerance_ratio: Any, bias_variance_ratio: Any, k: Any, *, bias_law: str = "gaussian"
) -> Failure:
    """Return logarithm of the failure rate, pass@k and the local exponent together; arguments as in `failure_rate`."""
    given = [np.asarray(x, dtype=np.float64) for x in (difficulty_exponent, tolerance_ratio, bias_variance_ratio, k)]
    check_world(*given)
    require(bias_law in BIAS_LAWS, "bias_law", f"one of {BIAS_LAWS}", bias_law)
    shape = np.broadcast_shapes(*(value.shape for value in given))
    columns = np.stack([np.broadcast_to(value, shape).ravel() for value in given])
    worlds, place = np.unique(columns[:2], axis=1, return_inverse=True)
    results = np.empty((3, columns.shape[1]))
    for number, (beta, t) in enumerate(worlds.T):
        chosen = place.ravel() == number
        results[:, chosen] = _of_world(beta, t, columns[2, chosen], columns[3, chosen], bias_law)
    return Failure(*(row.reshape(shape) for row in results))


def check_world(beta: Array, tolerance: Array, variance: Array, k: Array) -> None:
    """Require every argument of `failure_rate` to be in its domain."""
    rules: tuple[tuple[str, Array, Callable[[Array], Array], str], ...] = (
        ("difficulty_exponent", beta, lambda x: x > 0, "> 0"),
        ("tolerance_ratio", tolerance, lambda x: x > 0, "> 0"),
        ("bias_variance_ratio", variance, lambda x: x >= 0, ">= 0"),
        ("k", k, lambda x: (x >= 1) & (x <= 1e12), "from 1 to 1e12"),
    )
    for name, values, rule, text in rules:
        bad = values[~(np.isfinite(values) & rule(values))]
        require(bad.size == 0, name, f"finite and {text}", bad[:3].tolist())


def _of_world(beta: float, tolerance: float, variances: Array, attempts: Array, bias_law: str) -> Array:
    """Return rows of log failure, success and slope for pairs of variance and attempts."""
    (levels, row), (ks, column) = (np.unique(values, return_inverse=True) for values in (variances, attempts))
    table = np.empty((3, levels.size, ks.size))
    alone = (levels == 0) | (bias_law == "fixed")
    if alone.any():
        table[:, alone] = np.stack(at_biases(beta, tolerance, ks, np.sqrt(levels[alone])))
    if not alone.all():
        table[:, ~alone] = over_biases(profile(beta, tolerance, ks, levels[~alone]), levels[~alone])
    table[0] = np.where(table[1] < 0.5, np.log1p(-np.minimum(table[1], 0.5)), table[0])
    table[1] = np.where(table[1] < 0.5, table[1], -np.expm1(table[0]))
    return table[:, row, column]


def over_biases(known: Profile, variances: Array) -> Array:
    """Average a profile over Gaussian biases: log failure, success and slope, each of shape (variances, attempts)."""
    scaled = known.bias / np.sqrt(variances)[:, None]
    density = np.sqrt(2 / np.pi / variances)[:, None] * np.exp(-0.5 * scaled * scaled)
    success = (density * known.weights) @ known.success
    with np.errstate(divide="ignore"):
        exponents = (np.log(density * known.weights))[:, :, None] + known.log_failure
    top = exponents.max(axis=1)
    terms = np.exp(exponents - top[:, None])
    # Biases beyond the nodes fail always, as far as they count at all.
    beyond = 2 * ndtr(-known.bias[-1] / np.sqrt(variances))[:, None] * np.exp(-top)
    failure = terms.sum(axis=1) + beyond
    return np.stack([top + np.log(failure), success, (terms * known.slope).sum(axis=1) / failure])

"""The probability that one attempt at one instance succeeds, with all digits at either end.

An instance has a bias b and a precision tau, in units of the noise scale; an attempt errs by b minus a normal number of
variance 1/tau, and succeeds within the tolerance t (arXiv:2601.03764). With x = |b| sqrt(tau) and h = t sqrt(tau),

    p = Phi(x + h) - Phi(x - h) = 2 phi(x) integral from 0 to h of exp(-y^2/2) cosh(x y) dy.

The integral, of positive terms alone, serves where the difference would cancel (derived here).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from solvable.errors import require
from solvable.precision import Array

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_NODES, _WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2  # on [0, 1]; exact to rounding where h < 1 and x h < 1


class Success(NamedTuple):
    """Probability of success, and logarithm of the probability of failure."""

    probability: Array
    log_failure: Array


def success_probability(precision: Any, bias: Any, tolerance: Any, *, small_tolerance: bool = False) -> Success:
    """Return the probability that one attempt succeeds.

    Args:
        precision: tau >= 0, the inverse variance of an attempt's noise, in units of 1/noise_variance.
        bias: the model's error on this instance, in units of the noise scale; any sign.
        tolerance: t > 0, the error that still counts as a success, in units of the noise scale.
        small_tolerance: whether to use sqrt(2/pi) t sqrt(tau) exp(-b^2 tau/2), at most 1, in place of the exact law
            (the approximation of arXiv:2601.03764; relative error of order t^2 tau).

    Returns:
        A `Success` of the broadcast shape. Relative errors of the probability and of log(1 - probability) are below
        1e-14, and 2e-13 for chances from 1e-12 down to 1e-250 (measured).

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> float(lid.success_probability(1.0, bias=0.0, tolerance=1.0).probability.round(6))
        0.682689
    """
    tau, b, t = (np.asarray(value, dtype=np.float64) for value in (precision, bias, tolerance))
    require(bool(np.all((tau >= 0) & np.isfinite(tau))), "precision", "finite and >= 0", precision)
    require(bool(np.all(np.isfinite(b))), "bias", "finite", bias)
    require(bool(np.all((t > 0) & np.isfinite(t))), "tolerance", "finite and > 0", tolerance)
    root = np.sqrt(tau)
    x, h = np.broadcast_arrays(np.abs(b) * root, t * root)
    if not small_tolerance:
        flat = exact_success(x.ravel(), h.ravel())
        return Success(*(values.reshape(x.shape) for values in flat))
    probability = np.minimum(np.sqrt(2 / np.pi) * h * np.exp(-0.5 * x * x), 1.0)
    with np.errstate(divide="ignore"):
        return Success(probability, np.log1p(-probability))


def exact_success(x: Array, h: Array) -> Success:
    """Return the same from x = |b| sqrt(tau) >= 0 and h = t sqrt(tau) >= 0, of one shape."""
    close = (h < 1) & (x * h < 1)
    probability = np.where(close, 0.0, ndtr(h - x) - ndtr(-h - x))
    small_x, small_h = x[close], h[close]
    probability[close] = _by_integral(small_x, small_h)
    log_failure = np.log1p(-np.minimum(probability, 0.5))
    likely = probability > 0.5
    log_failure[likely] = np.logaddexp(log_ndtr(x[likely] - h[likely]), log_ndtr(-x[likely] - h[likely]))
    return Success(probability, log_failure)


def _by_integral(x: Array, h: Array) -> Array:
    total = np.zeros_like(x)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        y = node * h
        total += weight * np.exp(-0.5 * y * y) * np.cosh(x * y)
    return np.sqrt(2 / np.pi) * np.exp(-0.5 * x * x) * h * total

"""The two tails of the failure rate: instances that are hard, and instances that the model gets wrong.

Hard instances (small precision) leave a power law k^-beta whose prefactor training does not change. Easy instances on
which the bias exceeds the tolerance fail always, precision helping only where the mean is right; for Gaussian biases
their part falls more slowly than any power, and takes over in the end (derived here; arXiv:2601.03764 has a second
power law, which holds for a fixed |bias|).
"""

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, gammaln

from solvable.errors import require
from solvable.latent_difficulty.profile import saddle_bias
from solvable.precision import Array


def intrinsic_tail(difficulty_exponent: Any, tolerance_ratio: Any, k: Any, *, log: bool = False) -> Array:
    """Return the share of instances too hard for k attempts, at large k.

    T(k) = 2/Gamma(beta/2) c^-beta B(beta, k + 1) with c = t sqrt(2/pi), which falls as k^-beta (exponent:
    arXiv:2601.03764; constant derived here). Relative error ((v + t^2/3)/2 beta (beta + 1) (beta + 2)
    - beta (beta + 1))/(k c)^2 to leading order, with v the bias variance ratio.

    Args:
        difficulty_exponent: beta > 0.
        tolerance_ratio: t > 0.
        k: attempts >= 1.
        log: whether to return its logarithm, which does not underflow.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> float((lid.intrinsic_tail(2.5, 1.0, 1e4) / lid.failure_rate(2.5, 1.0, 0.0, 1e4)).round(6))
        1.0
    """
    beta, t, attempts = _checked(difficulty_exponent, tolerance_ratio, k)
    value = math.log(2) - gammaln(beta / 2) - beta * np.log(t * math.sqrt(2 / math.pi)) + betaln(beta, attempts + 1)
    return value if log else np.exp(value)


def bias_tail_exponent(tolerance_ratio: Any, bias_variance_ratio: Any, k: Any, *, bias_law: str = "gaussian") -> Array:
    """Return the exponent with which wrong easy instances fall with k.

    2/(b - t)^2: for a fixed |b| = sqrt(v) > t a true exponent; for Gaussian biases at the saddle b (b - t)^3 =
    4 v log k, where it falls with k, as 1/sqrt(v log k) for small t (derived here). inf where no instance is wrong.

    Args:
        tolerance_ratio: t > 0.
        bias_variance_ratio: v >= 0.
        k: attempts > 1.
        bias_law: "gaussian" or "fixed".

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> float(lid.bias_tail_exponent(0.2, 1.7**2, 1e12, bias_law="fixed").round(3))
        0.889
    """
    t, v, attempts = np.broadcast_arrays(
        *(np.asarray(x, np.float64) for x in (tolerance_ratio, bias_variance_ratio, k))
    )
    require(bool(np.all(t > 0)), "tolerance_ratio", "> 0", tolerance_ratio)
    require(bool(np.all(v >= 0)), "bias_variance_ratio", ">= 0", bias_variance_ratio)
    require(bool(np.all(attempts > 1)), "k", "> 1", k)
    if bias_law == "fixed":
        beyond = np.maximum(np.sqrt(v) - t, 0.0)
    else:
        pairs = zip(t.ravel(), v.ravel(), attempts.ravel(), strict=True)
        saddles = [saddle_bias(float(a), float(b), math.log(c)) - a for a, b, c in pairs]
        beyond = np.reshape(saddles, t.shape)
    with np.errstate(divide="ignore"):
        return 2 / np.square(beyond)


def crossover_attempts(difficulty_exponent: float, tolerance_ratio: float, bias_variance_ratio: float) -> float:
    """Return log k where wrong easy instances overtake hard ones, beyond which the failure rate flattens.

    It solves beta L = S(L), with S the least of b^2/2v + 2 L/(b - t)^2 (derived here); 4/(beta^2 v) for small t.

    Args:
        difficulty_exponent: beta > 0.
        tolerance_ratio: t > 0.
        bias_variance_ratio: v >= 0; inf is returned for 0.

    Returns:
        The natural logarithm of the number of attempts, which itself may overflow.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> round(lid.crossover_attempts(2.5, 0.1, 0.1), 2)
        7.44
    """
    beta, t, v = difficulty_exponent, tolerance_ratio, bias_variance_ratio
    _require_scalars(difficulty_exponent=beta, tolerance_ratio=t, bias_variance_ratio=v)
    _checked(beta, t, 1.0)
    require(bool(np.isfinite(v) and v >= 0), "bias_variance_ratio", "finite and >= 0", v)
    if v == 0:
        return math.inf

    def surplus(log_attempts: float) -> float:
        b = saddle_bias(t, v, log_attempts)
        return b * b / (2 * v) + 2 * log_attempts / (b - t) ** 2 - beta * log_attempts

    low = high = 4 / (beta * beta * v)
    while surplus(high) > 0:
        high *= 2
    while surplus(low) < 0:
        low /= 2
    root: Any = brentq(surplus, low, high, rtol=1e-13)
    return float(root)


def inference_regime(difficulty_exponent: float, tolerance_ratio: float, bias_variance_ratio: float, k: float) -> str:
    """Return which instances rule the failure rate after k attempts.

    Args:
        difficulty_exponent: beta > 0.
        tolerance_ratio: t > 0.
        bias_variance_ratio: v >= 0.
        k: attempts >= 1.

    Returns:
        "pre-asymptotic" for k c < max(beta, sqrt(beta^3 v)), c = t sqrt(2/pi); then "intrinsic", with local exponent
        near beta, up to `crossover_attempts`; and "bias-limited" beyond. Boundaries are crossovers.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> [lid.inference_regime(2.5, 0.1, 0.01, k) for k in (10, 1e4, 1e60)]
        ['pre-asymptotic', 'intrinsic', 'bias-limited']
    """
    beta, v = difficulty_exponent, bias_variance_ratio
    _require_scalars(difficulty_exponent=beta, tolerance_ratio=tolerance_ratio, bias_variance_ratio=v, k=k)
    _checked(beta, tolerance_ratio, k)
    onset = max(beta, math.sqrt(beta**3 * v)) / (tolerance_ratio * math.sqrt(2 / math.pi))
    if k < onset:
        return "pre-asymptotic"
    return "intrinsic" if math.log(k) < crossover_attempts(beta, tolerance_ratio, v) else "bias-limited"


def _require_scalars(**numbers: Any) -> None:
    for name, value in numbers.items():
        require(np.ndim(value) == 0, name, "a scalar", value)


def _checked(difficulty_exponent: Any, tolerance_ratio: Any, k: Any) -> tuple[Array, Array, Array]:
    beta, t, attempts = (np.asarray(x, dtype=np.float64) for x in (difficulty_exponent, tolerance_ratio, k))
    require(bool(np.all((beta > 0) & np.isfinite(beta))), "difficulty_exponent", "finite and > 0", difficulty_exponent)
    require(bool(np.all((t > 0) & np.isfinite(t))), "tolerance_ratio", "finite and > 0", tolerance_ratio)
    require(bool(np.all(attempts >= 1)), "k", ">= 1", k)
    return beta, t, attempts

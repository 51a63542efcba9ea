"""Scaling laws as values: what theory states, and what is fitted to numbers."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from solvable.errors import require
from solvable.precision import Array

ROUNDING = 1e-12  # exponents closer than this are equal


@dataclass(frozen=True)
class PowerLaw:
    """value ~ amplitude x^exponent log(x)^log_power.

    Attributes:
        exponent: an exact rational, a float or a sympy expression, as the parameters were given.
        log_power: power of the logarithm that multiplies the law.
        amplitude: the constant in front, where it is known.
    """

    exponent: Any
    log_power: int = 0
    amplitude: Any = None


@dataclass(frozen=True)
class ScalingLaw:
    """How observables scale with one variable, and which terms compete.

    Attributes:
        variable: what grows, e.g. "n_samples".
        laws: observable or resource -> its power law in the variable.
        terms: the competing terms of the excess risk -> their exponents in the variable; the largest wins.
        regime: what decides, in words, e.g. {"limited_by": ("features",), "dominated_by": ("variance",)}; several words
            where exact parameters lie on a boundary, none where symbols leave it open.
    """

    variable: str
    laws: Mapping[str, PowerLaw]
    terms: Mapping[str, Any] = field(default_factory=dict)
    regime: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def exponent(self, name: str) -> Any:
        """Return the exponent of one law.

        Raises:
            ArgumentError: for a name that has no law.
        """
        require(name in self.laws, "name", f"one of {sorted(self.laws)}", name)
        return self.laws[name].exponent


class PowerLawFit(NamedTuple):
    """A power law fitted to numbers.

    Attributes:
        exponent: slope of log y against log x.
        exponent_sem: its standard error.
        interval: confidence interval of the exponent.
        amplitude: y at x = 1 on the fitted line.
        window: the range of x that was used.
        points: number of points used.
    """

    exponent: float
    exponent_sem: float
    interval: tuple[float, float]
    amplitude: float
    window: tuple[float, float]
    points: int


def local_slopes(x: Any, y: Any) -> tuple[Array, Array]:
    """Return slopes of log y against log x between neighbouring points, and the geometric midpoints they belong to.

    Args:
        x: shape (points,), positive, strictly increasing.
        y: shape (..., points), positive.

    Returns:
        Midpoints of shape (points - 1,), and slopes of shape (..., points - 1).

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> from solvable.scaling import local_slopes
        >>> midpoints, slopes = local_slopes([1.0, 10.0, 100.0], [1.0, 0.1, 0.001])
        >>> slopes.round(12).tolist()
        [-1.0, -2.0]
    """
    x, y = _positive("x", x), _positive("y", y)
    require(x.ndim == 1 and len(x) > 1, "x", "one-dimensional with at least two points", x.shape)
    require(bool(np.all(np.diff(x) > 0)), "x", "strictly increasing", x[:5].tolist())
    require(y.ndim > 0 and y.shape[-1] == len(x), "y", f"of shape (..., {len(x)})", y.shape)
    return np.sqrt(x[1:] * x[:-1]), np.diff(np.log(y)) / np.diff(np.log(x))


def fit_power_law(
    x: Any, y: Any, *, sem: Any = None, window: tuple[float, float] | None = None, level: float = 0.95
) -> PowerLawFit:
    """Fit y = amplitude x^exponent by least squares in logarithms, with a confidence interval.

    Points with standard errors are weighted by them, and the interval is widened by sqrt(chi^2 / freedom) where they
    scatter more than their errors allow. Without errors the scatter itself gives the interval (Student's).

    Args:
        x: shape (points,), positive.
        y: shape (points,), positive.
        sem: standard errors of y, positive; None if unknown.
        window: range of x to use; None for all.
        level: coverage of the interval, in (0, 1).

    Raises:
        ArgumentError: outside these domains, or with fewer than three points in the window.

    Example:
        >>> import numpy as np
        >>> from solvable.scaling import fit_power_law
        >>> x = np.geomspace(10, 1000, 20)
        >>> round(fit_power_law(x, 3 * x**-0.7).exponent, 12)
        -0.7
    """
    x, y = _positive("x", x), _positive("y", y)
    require(x.ndim == 1 and x.shape == y.shape, "y", f"one-dimensional, of the shape of x {x.shape}", y.shape)
    require(0 < level < 1, "level", "in (0, 1)", level)
    errors = np.ones_like(y) if sem is None else _positive("sem", np.broadcast_to(sem, y.shape)) / y
    low, high = window or (float(x.min()), float(x.max()))
    inside = (x >= low) & (x <= high)
    require(len(np.unique(x[inside])) >= 3, "window", "one that holds three points", (low, high))
    return _fit(np.log(x[inside]), np.log(y[inside]), errors[inside], (low, high), level, known=sem is not None)


def is_symbolic(*values: Any) -> bool:
    """Tell whether any value is a sympy expression, without importing sympy."""
    sympy = sys.modules.get("sympy")
    return sympy is not None and any(isinstance(value, sympy.Basic) for value in values)


def _fit(
    log_x: Array, log_y: Array, errors: Array, window: tuple[float, float], level: float, *, known: bool
) -> PowerLawFit:
    from scipy.special import ndtri, stdtrit

    weights = errors**-2.0
    centre = np.average(log_x, weights=weights)
    spread = np.sum(weights * (log_x - centre) ** 2)
    slope = np.sum(weights * (log_x - centre) * log_y) / spread
    offset = np.average(log_y, weights=weights) - slope * centre
    freedom = len(log_x) - 2
    scatter = np.sum(weights * (log_y - offset - slope * log_x) ** 2) / freedom
    error = float(np.sqrt((max(scatter, 1.0) if known else scatter) / spread))
    quantile = ndtri(0.5 + level / 2) if known else stdtrit(freedom, 0.5 + level / 2)
    ends = (float(slope - quantile * error), float(slope + quantile * error))
    return PowerLawFit(float(slope), error, ends, float(np.exp(offset)), window, len(log_x))


def _positive(name: str, values: Any) -> Array:
    array = np.asarray(values, dtype=np.float64)
    bad = array[~(np.isfinite(array) & (array > 0))]
    require(array.size > 0 and bad.size == 0, name, "positive and finite", bad[:3].tolist() or array.shape)
    return array


def where_larger(left: Any, right: Any, chosen: Any, otherwise: Any) -> Any:
    """Return `chosen` where left > right."""
    if is_symbolic(left, right):
        import sympy

        return sympy.Piecewise((chosen, left > right), (otherwise, True))
    return chosen if left > right else otherwise


def smallest(*values: Any) -> Any:
    """Return the smallest value, as an expression if any is symbolic."""
    if is_symbolic(*values):
        import sympy

        return sympy.Min(*values)
    return min(values)


def largest(*values: Any) -> Any:
    """Return the largest value, as an expression if any is symbolic."""
    if is_symbolic(*values):
        import sympy

        return sympy.Max(*values)
    return max(values)


def ratio(numerator: Any, denominator: Any) -> Any:
    """Divide, exactly where both are integers."""
    if isinstance(numerator, int) and isinstance(denominator, int):
        return Fraction(numerator, denominator)
    return numerator / denominator


def attaining(values: Mapping[str, Any], chosen: Any) -> tuple[str, ...]:
    """Return the names whose value is the chosen one, floating-point numbers to rounding."""

    def equal(value: Any) -> bool:
        return bool(value == chosen or (not is_symbolic(value, chosen) and abs(value - chosen) < ROUNDING))

    return tuple(name for name, value in values.items() if equal(value))

"""Scaling exponents of random-features ridge regression on a power law, exact in whatever numbers come in.

With ridge = n^(1 - ridge_exponent), n_features = n^width_exponent (arXiv:2405.15699, re-derived here), and
s = min(source, 1), r = min(source, 1/2),

    kappa = min(ridge_exponent / capacity, width_exponent, 1),     nu2 ~ n^(-capacity kappa),    df1 ~ n^kappa,
    kernel_bias  ~ n^-(2 capacity kappa s),
    feature_bias ~ n^-(2 capacity kappa r + width_exponent - kappa),
    variance     ~ n^-(1 - kappa).

Integers, fractions and sympy symbols give exact answers; sympy is loaded only by those who pass its symbols.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from solvable.errors import require
from solvable.scaling import (
    PowerLaw,
    ScalingLaw,
    attaining,
    is_symbolic,
    largest,
    ratio,
    smallest,
    where_larger,
)

_HALF = Fraction(1, 2)


class OptimalExponents(NamedTuple):
    """The fastest decay of the excess risk, n^-rate, and the exponents that reach it.

    Attributes:
        rate: decay exponent of the excess risk, > 0.
        ridge_exponent: ridge_per_sample = n^-ridge_exponent; the smallest that reaches the rate.
        width_exponent: n_features = n^width_exponent; the smallest that reaches the rate, or the one that was given.
    """

    rate: Any
    ridge_exponent: Any
    width_exponent: Any


class Boundary(NamedTuple):
    """A straight piece of a boundary in the plane of (ridge_exponent, width_exponent).

    Attributes:
        between: the two terms or limits that exchange there.
        start: one end.
        end: the other end; coordinates may be inf.
    """

    between: tuple[str, str]
    start: tuple[Any, Any]
    end: tuple[Any, Any]


def exponents(
    capacity: Any, source: Any, *, ridge_exponent: Any, width_exponent: Any = math.inf, noisy: bool = True
) -> ScalingLaw:
    """Return how risk and effective ridge scale with n_samples.

    The ridge per sample is n^-ridge_exponent, and there are n^width_exponent features.

    Args:
        capacity: > 1.
        source: > 0.
        ridge_exponent: >= 0, or inf for ridge 0.
        width_exponent: > 0, or inf for kernel ridge regression. At exactly 1 the features are taken to be a multiple of
            n other than n itself, where the variance peaks.
        noisy: False for noiseless labels, where the variance is absent.

    Returns:
        A `ScalingLaw` in n_samples of `excess_risk`, `bias`, `variance`, `nu2` and `degrees_of_freedom`; `terms` holds
        `kernel_bias`, `feature_bias` and `variance`; `regime` says what the risk is `limited_by` (ridge, features or
        samples) and `dominated_by` (which terms). Numbers are exact if they were; `log_power` is 1 where a logarithm
        remains (source 1/2 or 1).

    Raises:
        ArgumentError: outside these domains. Symbols are not checked.

    Example:
        >>> from fractions import Fraction
        >>> from solvable import random_features as rf
        >>> law = rf.exponents(Fraction(3, 2), Fraction(2, 5), ridge_exponent=1, width_exponent=2)
        >>> law.exponent("excess_risk"), law.regime["dominated_by"]
        (Fraction(-1, 3), ('variance',))
    """
    _check(capacity=capacity, source=source, ridge_exponent=ridge_exponent, width_exponent=width_exponent)
    kappa = _kappa(capacity, ridge_exponent, width_exponent)
    terms = _terms(capacity, source, kappa, width_exponent, noisy=noisy)
    bias = largest(terms["kernel_bias"], terms["feature_bias"])
    risk = largest(*terms.values())
    laws = {
        "excess_risk": PowerLaw(risk, _log_power(terms, risk, source)),
        "bias": PowerLaw(bias, _log_power(terms, bias, source)),
        **({"variance": PowerLaw(terms["variance"])} if noisy else {}),
        "nu2": PowerLaw(-capacity * kappa),
        "degrees_of_freedom": PowerLaw(kappa),
    }
    limits = {"ridge": ratio(ridge_exponent, capacity), "features": width_exponent, "samples": 1}
    open_question = is_symbolic(risk, kappa)
    regime = {"limited_by": attaining(limits, kappa), "dominated_by": attaining(terms, risk)}
    return ScalingLaw("n_samples", laws, terms, {} if open_question else regime)


def optimal_exponents(
    capacity: Any, source: Any, *, width_exponent: Any = None, noisy: bool = True
) -> OptimalExponents:
    """Return the fastest rate in n_samples over ridges, and over widths unless one is given.

    With noise and s = min(source, 1) the rate is 2 capacity s / (2 capacity s + 1), minimax for source <= 1; the fewest
    features that reach it are n^(1 - ridge_exponent) for source >= 1/2, fewer than the bound of arXiv:1602.04474, and
    n^(1/(2 capacity source + 1)) below (arXiv:2405.15699). At a given width: derived here.

    Args:
        capacity: > 1.
        source: > 0.
        width_exponent: > 0 to hold the width at n^width_exponent; None to choose the smallest that is best.
        noisy: False for noiseless labels.

    Raises:
        ArgumentError: outside these domains. Symbols are not checked.

    Example:
        >>> from fractions import Fraction
        >>> from solvable import random_features as rf
        >>> rf.optimal_exponents(Fraction(3, 2), 1)
        OptimalExponents(rate=Fraction(3, 4), ridge_exponent=Fraction(3, 8), width_exponent=Fraction(5, 8))
    """
    _check(capacity=capacity, source=source, width_exponent=1 if width_exponent is None else width_exponent)
    q = _breakpoints(capacity, source, noisy=noisy)[-1] if width_exponent is None else width_exponent
    rate = _rate(capacity, source, q, noisy=noisy)
    return OptimalExponents(rate, _best_ridge(capacity, source, q, rate), q)


def compute_optimal(
    capacity: Any, source: Any, *, noisy: bool = True, sample_cost: Any = 1, feature_cost: Any = 1
) -> ScalingLaw:
    """Return the best allocation of compute = n_samples^sample_cost x n_features^feature_cost (derived here).

    Args:
        capacity: > 1.
        source: > 0.
        noisy: False for noiseless labels.
        sample_cost: > 0; forming the features costs n p, i.e. 1 and 1.
        feature_cost: > 0.

    Returns:
        A `ScalingLaw` in compute of `excess_risk`, `n_samples`, `n_features` and `ridge_per_sample`. Where a range of
        allocations is equally good, the one with fewest features.

    Raises:
        ArgumentError: outside these domains. Symbols are not checked.

    Example:
        >>> from solvable import random_features as rf
        >>> law = rf.compute_optimal(3, 1)
        >>> law.exponent("excess_risk"), law.exponent("n_features")
        (Fraction(-3, 5), Fraction(1, 5))
    """
    _check(capacity=capacity, source=source, sample_cost=sample_cost, feature_cost=feature_cost)

    def per_compute(q: Any) -> Any:
        return ratio(_rate(capacity, source, q, noisy=noisy), sample_cost + feature_cost * q)

    few, many = _breakpoints(capacity, source, noisy=noisy)
    width = where_larger(per_compute(many), per_compute(few), many, few)
    best = optimal_exponents(capacity, source, width_exponent=width, noisy=noisy)
    samples = ratio(1, sample_cost + feature_cost * width)
    exponents = {
        "excess_risk": -best.rate * samples,
        "n_samples": samples,
        "n_features": width * samples,
        "ridge_per_sample": -best.ridge_exponent * samples,
    }
    return ScalingLaw("compute", {name: PowerLaw(value) for name, value in exponents.items()})


def phase_boundaries(capacity: Any, source: Any, *, noisy: bool = True) -> tuple[Boundary, ...]:
    """Return where the excess risk's dominant term changes, in the plane of (ridge_exponent, width_exponent).

    Args:
        capacity: > 1.
        source: > 0.
        noisy: False for noiseless labels.

    Raises:
        ArgumentError: outside these domains. Symbols are not accepted.

    Example:
        >>> from solvable import random_features as rf
        >>> rf.phase_boundaries(2, 1)[0]
        Boundary(between=('kernel_bias', 'variance'), start=(Fraction(2, 5), Fraction(3, 5)), end=(Fraction(2, 5), inf))
    """
    require(not is_symbolic(capacity, source), "capacity, source", "numbers", (capacity, source))
    _check(capacity=capacity, source=source)
    smooth = source >= _HALF
    if not noisy:
        return _noiseless_boundaries(capacity, source)
    _, ridge, width = optimal_exponents(capacity, source)
    star = (ridge, width)
    kernel_variance = Boundary(("kernel_bias", "variance"), star, (ridge, math.inf))
    pair = ("feature_bias", "variance")
    if not smooth:
        exchange = Boundary(("kernel_bias", "feature_bias"), (0, 0), star)
        return kernel_variance, exchange, Boundary(pair, star, (math.inf, width))
    corner = (ratio(capacity, 1 + capacity), ratio(1, 1 + capacity))
    return (
        kernel_variance,
        Boundary(("kernel_bias", "feature_bias"), (0, 0), star),
        Boundary(pair, star, corner),
        Boundary(pair, corner, (math.inf, corner[1])),
    )


def _noiseless_boundaries(capacity: Any, source: Any) -> tuple[Boundary, ...]:
    """Kernel and feature bias exchange on a line up to ridge_exponent = capacity, then at a width beyond n."""
    turn = (capacity, _breakpoints(capacity, source, noisy=False)[-1])
    pair = ("kernel_bias", "feature_bias")
    return Boundary(pair, (0, 0), turn), Boundary(pair, turn, (math.inf, turn[1]))


def _kappa(capacity: Any, ridge_exponent: Any, width_exponent: Any) -> Any:
    return smallest(ratio(ridge_exponent, capacity), width_exponent, 1)


def _terms(capacity: Any, source: Any, kappa: Any, width_exponent: Any, *, noisy: bool) -> dict[str, Any]:
    smoothness, roughness = smallest(source, 1), smallest(source, _HALF)
    terms = {
        "kernel_bias": -2 * capacity * kappa * smoothness,
        "feature_bias": -(2 * capacity * kappa * roughness + width_exponent - kappa),
    }
    return {**terms, "variance": kappa - 1} if noisy else terms


def _rate(capacity: Any, source: Any, q: Any, *, noisy: bool) -> Any:
    """Best decay over ridges at width n^q."""
    smooth, rough = 2 * capacity * smallest(source, 1), 2 * capacity * smallest(source, _HALF)
    if noisy:
        return smallest(rough * q, 1 - ratio(1 - q, capacity), ratio(smooth, smooth + 1))
    return smallest(rough * smallest(q, 1) + largest(q - 1, 0), smooth)


def _breakpoints(capacity: Any, source: Any, *, noisy: bool) -> tuple[Any, Any]:
    """Widths at which the best rate bends; from the second on it is the best of all."""
    smooth, rough = 2 * capacity * smallest(source, 1), 2 * capacity * smallest(source, _HALF)
    if not noisy:
        return 1, 1 + smooth - rough
    share = ratio(1, smooth + 1)
    return ratio(1, 1 + capacity), largest(share, 1 - capacity * share)


def _best_ridge(capacity: Any, source: Any, q: Any, rate: Any) -> Any:
    """Smallest ridge exponent at which both terms of the bias decay as fast as the rate.

    For a source below 1/2 the kernel bias decides, and the second entry is the smaller one.
    """
    return largest(ratio(rate, 2 * smallest(source, 1)), ratio(rate - q, 1 - ratio(1, capacity)))


def _log_power(terms: Mapping[str, Any], dominant: Any, source: Any) -> int:
    """Sums over the target diverge logarithmically at source 1 (kernel bias) and 1/2 (feature bias)."""
    marginal = {"kernel_bias": 1, "feature_bias": _HALF}
    return int(any(source == place and terms[name] == dominant for name, place in marginal.items()))


def _check(**values: Any) -> None:
    bounds = {"capacity": (1, True), "ridge_exponent": (0, False)}
    for name, value in values.items():
        if is_symbolic(value):
            continue
        bound, strict = bounds.get(name, (0, True))
        infinite_allowed = name.endswith("exponent")
        inside = value > bound if strict else value >= bound
        wanted = f"{'>' if strict else '>='} {bound}" + ("" if infinite_allowed else " and finite")
        require(bool(inside and (infinite_allowed or math.isfinite(value))), name, wanted, value)

"""The effective ridge of ridge regression on random features, and the bias and variance built on it.

Model (arXiv:2405.15699): a ridge regressor sees n samples through p random features; its kernel has eigenvalues x_k of
multiplicity N_k. With df1(nu) = sum_k N_k x_k / (x_k + nu), the two effective ridges solve

    n - ridge / nu1 = df1(nu2),        p - p nu1 / nu2 = df1(nu2).

They collapse (derived here) to one scalar equation, symmetric in n and p: p ridge = nu2 (n - df1) (p - df1).
With m = min(n, p), w = max(n, p) and C(nu2) the positive root of C (C + w - m) = m w ridge / (n nu2), it reads

    m = df1(nu2) + C(nu2),

both terms positive and decreasing in nu2, so nothing cancels for any ridge >= 0, n = p, or infinite sizes. Near
full rank M it is written with the complement M - df1 = sum_k N_k nu2 / (x_k + nu2) instead. The excess C is n - df1
where n <= p and p - df1 otherwise, and gives a = (n - df1)/n and b = (p - df1)/p = nu1/nu2 without a subtraction.

Risk (derived here, equal to the forms of arXiv:2405.15699): with t = nu2/(x + nu2), s = x/(x + nu2),
delta = sum N s t, df2 = sum N s^2 and phi = b / (b + delta/p),

    gap      = a + phi delta / n                                        (their 1 - Upsilon)
    bias     = ((1 - phi) sum beta^2 t + phi sum beta^2 t^2) / gap
    variance = noise_variance (phi df2 + (1 - phi) df1) / (n gap)
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from solvable.precision import Array, by_rows, weighted_sum
from solvable.quadrature import Nodes
from solvable.roots import decreasing_root

_TINY = 1e-306  # added to what may vanish, in logarithms of brackets and in denominators


class EffectiveRidge(NamedTuple):
    """The solved fixed point; all fields have the lanes' shape.

    `sample_gap` is (n - df1)/n = ridge/(n nu1) and `feature_gap` is (p - df1)/p = nu1/nu2.
    """

    nu2: Array
    sample_gap: Array
    feature_gap: Array
    residual: Array


class SpectralSums(NamedTuple):
    """Sums over the modes at nu2, with s = x/(x + nu2), t = nu2/(x + nu2) and beta^2 the target power.

    `trace` is sum N x/(x + nu2)^2 and `delta` is nu2 times that; `missed` is sum beta^2 t, `missed_squared` is
    sum beta^2 t^2, `learned` is sum beta^2 x/(x + nu2)^2.
    """

    df1: Array
    df2: Array
    delta: Array
    trace: Array
    missed: Array
    missed_squared: Array
    learned: Array


class _Sizes(NamedTuple):
    """Smaller and larger of n and p, scaled so that infinite ones stay finite numbers; per lane."""

    smaller: Array  # m; 1 where both are infinite (the answer is then known in advance)
    inverse_larger: Array  # 1/w
    imbalance: Array  # (w - m)/w
    both_infinite: Array


def effective_ridge(
    nodes: Nodes, n_samples: Array, n_features: Array, ridge_per_sample: Array, xp: Any
) -> EffectiveRidge:
    """Solve the fixed point for each lane.

    Args:
        nodes: weighted nodes of the spectrum.
        n_samples: > 0, possibly inf.
        n_features: > 0, possibly inf.
        ridge_per_sample: ridge / n_samples, >= 0.
        xp: `numpy` with vector lanes, or `jax.numpy` with scalar ones.

    Returns:
        The fixed point; `nu2` is 0 where the ridge is 0 and the rank does not exceed min(n, p).
    """
    sizes = _sizes(n_samples, n_features, xp)
    m, known = sizes.smaller, sizes.both_infinite
    exhausted = (ridge_per_sample == 0) & (nodes.rank <= m) & ~known
    penalty = xp.where(exhausted | known, 1.0, ridge_per_sample)  # these lanes are answered without the equation
    lanes = (m * penalty, sizes.imbalance, 4 * sizes.inverse_larger, *_offsets(nodes.rank, m, xp))
    lower, upper, start = (xp.log(xp.maximum(point, _TINY)) for point in _bracket(nodes, m, penalty, xp))
    root = decreasing_root(partial(_balance, xp), nodes, lanes, lower=lower, upper=upper, start=start, xp=xp)
    nu2 = xp.exp(root.value)
    excess = xp.where(
        exhausted, m - xp.where(exhausted, nodes.rank, 0.0), _excess(m * penalty / nu2, *lanes[1:3], xp)[0]
    )
    sample_gap, feature_gap = gaps(excess, n_samples, n_features, xp)
    return EffectiveRidge(
        nu2=xp.where(known, ridge_per_sample, xp.where(exhausted, 0.0, nu2)),
        sample_gap=xp.where(known, 1.0, sample_gap),
        feature_gap=xp.where(known, 1.0, feature_gap),
        residual=xp.where(known | exhausted, 0.0, root.residual),
    )


def spectral_sums(nodes: Nodes, nu2: Array, xp: Any) -> SpectralSums:
    """Evaluate the sums at nu2 >= 0, lane by lane."""
    x, counts, power = nodes.eigenvalues, nodes.multiplicities, nodes.target_power

    def sums(nu2: Array) -> tuple[Array, ...]:
        nu = nu2[..., None]
        inverse = 1 / (x + nu)
        s, t = x * inverse, nu * inverse
        slope = s * inverse  # never 1/(x + nu)^2, which overflows
        counted, powered = partial(weighted_sum, weights=counts, xp=xp), partial(weighted_sum, weights=power, xp=xp)
        return counted(s), counted(s * s), counted(slope), powered(t), powered(t * t), powered(slope)

    df1, df2, trace, missed, missed_squared, learned = by_rows(sums, (nu2,), len(x), xp)
    null = nodes.null_power
    return SpectralSums(df1, df2, nu2 * trace, trace, missed + null, missed_squared + null, learned)


def gaps(excess: Array, n_samples: Array, n_features: Array, xp: Any) -> tuple[Array, Array]:
    """Return (n - df1)/n and (p - df1)/p from the excess m - df1 of the smaller size, without a subtraction."""
    sizes = _sizes(n_samples, n_features, xp)
    small, large = excess / sizes.smaller, excess * sizes.inverse_larger + sizes.imbalance
    few_samples = n_samples <= n_features
    return xp.where(few_samples, small, large), xp.where(few_samples, large, small)


class Floor(NamedTuple):
    """Where ridge 0 lies, per lane.

    Attributes:
        nu2: the effective ridge at ridge 0.
        missing: m - rank, where the rank is smaller than m = min(n, p).
    """

    nu2: Array
    missing: Array


def ridge_floor(nodes: Nodes, n_samples: Array, n_features: Array, xp: Any) -> Floor:
    """Solve the fixed point at ridge 0, from which every other is reached without solving: see `above_floor`."""
    floor = effective_ridge(nodes, n_samples, n_features, xp.zeros_like(n_samples), xp).nu2
    smaller = xp.minimum(n_samples, n_features)
    full = nodes.rank <= smaller  # at equality too, where derivatives are those from above
    missing = xp.where(full, smaller - xp.where(full, nodes.rank, 0.0), 0.0)
    return Floor(floor, xp.where(xp.isinf(missing), 0.0, missing))


def above_floor(nodes: Nodes, floor: Floor, gap: Array, n_samples: Array, n_features: Array, xp: Any) -> EffectiveRidge:
    """Return the fixed point at nu2 = floor + gap, where m - df1 = missing + gap sum N x/((x + floor)(x + nu2)).

    The ridge per sample is then nu2 `sample_gap` `feature_gap`; infinite n and p give 1 for both gaps.
    """
    x = nodes.eigenvalues
    nu2 = floor.nu2 + gap

    def rise(low: Array, high: Array) -> tuple[Array]:
        return (weighted_sum(x / ((x + low[..., None]) * (x + high[..., None])), nodes.multiplicities, xp),)

    (slope,) = by_rows(rise, (floor.nu2, nu2), len(x), xp)
    both_infinite = xp.isinf(n_samples) & xp.isinf(n_features)
    excess = xp.where(both_infinite, 1.0, gap * slope + floor.missing)
    sample_gap, feature_gap = gaps(excess, n_samples, n_features, xp)
    return EffectiveRidge(nu2, sample_gap, feature_gap, 0.0 * floor.nu2)


def feature_shares(feature_gap: Array, delta_per_feature: Array, xp: Any) -> tuple[Array, Array]:
    """Return phi = b / (b + delta/p) and 1 - phi, each with all its digits; phi = 1 where b = delta = 0 (full rank)."""
    total = feature_gap + delta_per_feature
    vanish = total == 0
    safe = xp.where(vanish, 1.0, total)
    return xp.where(vanish, 1.0, feature_gap / safe), delta_per_feature / safe


def ratio(numerator: Array, denominator: Array, xp: Any) -> Array:
    """Divide, with 0/0 = 0: nothing, however amplified, stays nothing."""
    nothing = (numerator == 0) & (denominator == 0)
    return xp.where(nothing, 0.0, numerator / xp.where(nothing, 1.0, denominator))


def _sizes(n_samples: Array, n_features: Array, xp: Any) -> _Sizes:
    smaller, larger = xp.minimum(n_samples, n_features), xp.maximum(n_samples, n_features)
    both, wide = xp.isinf(smaller), xp.isinf(larger)
    m, w = xp.where(both, 1.0, smaller), xp.where(wide, 1.0, larger)
    imbalance = xp.where(wide, 1.0, (w - xp.where(wide, 0.0, m)) / w)
    return _Sizes(m, xp.where(wide, 0.0, 1 / w), imbalance, both)


def _offsets(rank: Array, m: Array, xp: Any) -> tuple[Array, Array, Array]:
    """Choose per lane between df1 and its complement, whichever is far from saturation, and what to add on each side.

    The equation reads `left + df1 + C = right` (direct, 1.0) or `left + C = right + (rank - df1)` (direct, 0.0).
    """
    direct = m < 0.5 * rank
    missing = xp.where(direct, m, rank) - m  # 0 in direct lanes, where the rank may be infinite
    return xp.where(direct, 1.0, 0.0), xp.maximum(missing, 0.0), xp.where(direct, m, xp.maximum(-missing, 0.0))


def _balance(xp: Any, u: Array, nodes: Nodes, lanes: tuple[Array, ...]) -> tuple[Array, Array]:
    """Log ratio of the two sides of the fixed point at nu2 = e^u, and its derivative in u."""
    scaled_penalty, imbalance, four_over_larger, direct, left, right = lanes
    nu, complement = xp.exp(u), 1 - direct
    total, squares = by_rows(partial(_share_sums, nodes, xp), (nu, direct), len(nodes.eigenvalues), xp)
    excess, excess_slope = _excess(scaled_penalty / nu, imbalance, four_over_larger, xp)
    above = left + excess + direct * total
    below = right + complement * total
    delta = total - squares
    return xp.log(above / below), (excess_slope - direct * delta) / above - complement * delta / below


def _share_sums(nodes: Nodes, xp: Any, nu: Array, direct: Array) -> tuple[Array, Array]:
    """Sums of y and y^2, where y is s = x/(x + nu) in direct lanes and t = nu/(x + nu) in the others."""
    x = nodes.eigenvalues
    share = _numerator(direct, x, nu, xp) / (x + nu[..., None])
    counts = nodes.multiplicities
    return weighted_sum(share, counts, xp), weighted_sum(share * share, counts, xp)


def _numerator(direct: Array, x: Array, nu: Array, xp: Any) -> Array:
    """Return x in direct lanes and nu in the others, without the costly selection where all lanes agree."""
    if xp is np and direct.all():
        return x
    if xp is np and not direct.any():
        return nu[..., None]
    return xp.where(direct[..., None] > 0, x, nu[..., None])


def _excess(c: Array, imbalance: Array, four_over_larger: Array, xp: Any) -> tuple[Array, Array]:
    """Return C with C (C/w + (w - m)/w) = c, and its derivative in log nu2, where c is proportional to 1/nu2."""
    spread = xp.sqrt(imbalance * imbalance + four_over_larger * c)
    return 2 * c / (imbalance + spread + _TINY), -c / (spread + _TINY)


def _bracket(nodes: Nodes, m: Array, penalty: Array, xp: Any) -> tuple[Array, Array, Array]:
    """Bounds of nu2 and a first guess.

    Upper: there df1 <= m/2 and C <= m/2. Lower: C(nu2) <= m bounds nu2 by the ridge per sample, and the M_K modes with
    eigenvalue >= x_K alone give df1 > m below x_K (M_K - m)/m.
    """
    x = nodes.eigenvalues
    cumulative = xp.cumsum(nodes.multiplicities) * (1 - 1e-9)  # rounding must not promise rank that is not there
    last = xp.sum(nodes.multiplicities > 0) - 1

    def mode_of_rank(rank: Array) -> Array:
        return xp.minimum(xp.asarray(xp.searchsorted(cumulative, rank), last.dtype), last)

    twice = mode_of_rank(2 * m)
    lower = xp.maximum(penalty, x[twice] * (cumulative[twice] - m) / m)
    upper = xp.maximum(2 * xp.sum(x * nodes.multiplicities) / m, 4 * penalty)
    return lower, upper, _guess(x[mode_of_rank(m / 2)], x[mode_of_rank(m)], x[twice], xp) + penalty


def _guess(before: Array, at: Array, after: Array, xp: Any) -> Array:
    """Root of df1 = m at ridge 0 if the spectrum were the power law through its modes of rank m/2 and 2m.

    For eigenvalues k^-c, df1 ~ (pi/c)/sin(pi/c) nu^(-1/c).
    """
    decay = xp.clip(xp.log(before / after) / math.log(4), 1.1, 8.0)
    return at * (math.pi / decay / xp.sin(math.pi / decay)) ** decay

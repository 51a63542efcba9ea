"""The best ridge, and whole risk curves, without solving for the effective ridge (derived here).

The risk is an explicit function of nu2, and so is the ridge: ridge / n = nu2 a b. With nu0 the effective ridge at ridge
0, the gap m - df1 = (nu2 - nu0) sum N x / ((x + nu0)(x + nu2)) has no cancellation. The risk is minimised over
v = log(nu2 - nu0): its derivative is a closed form, and the root of that is found by Newton's method.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from solvable.errors import require
from solvable.observables import Prediction, Record
from solvable.precision import Array, by_rows, map_lanes, weighted_sum
from solvable.quadrature import Nodes
from solvable.random_features.problem import Problem
from solvable.random_features.theory import (
    OBSERVABLES,
    check_controls,
    check_resolution,
    closed_form_at,
    nodes_and_noise,
)
from solvable.ridge import Floor, above_floor, feature_shares, gaps, ratio, ridge_floor
from solvable.roots import decreasing_root

_EDGE = -28.0  # log(nu2/nu0 - 1) at the left end of the search: a ridge of 1e-12 of its natural size
_SPACING = 0.5  # of the scan, in log nu2
_MARGIN = 1.01  # scanned points closer to nu0 than this lose digits, and are left to the interval at the edge
_TRACED_SCAN = 300  # points of a scan whose range is not known in advance: enough for 60 decades
_STEP = 1e-30  # of the complex step that differentiates in NumPy


class _Lane(NamedTuple):
    """What the risk depends on besides nu2, per lane."""

    n: Array
    p: Array
    floor: Array  # nu0
    missing: Array  # m - rank, where the rank is the smaller
    noise: Array


class _Sums(NamedTuple):
    """Sums at nu2, with s = x/(x + nu2) and t = 1 - s: `rise` is (m - df1)/(nu2 - nu0) if the rank is not smaller."""

    rise: Array
    df2: Array
    delta: Array
    cubic: Array  # sum N s^2 t
    lost: Array  # sum beta^2 s t
    missed_squared: Array  # sum beta^2 t^2
    lost_again: Array  # sum beta^2 s t^2


def optimal_ridge(problem: Problem, *, n_samples: Any, n_features: Any = math.inf) -> Record:
    """Return the ridge of smallest excess risk, and that risk.

    Args:
        problem: the world.
        n_samples: > 0, may be inf.
        n_features: > 0, may be inf.

    Sizes broadcast.

    Returns:
        A record of `ridge`, `ridge_per_sample`, `excess_risk` and `nu2`, each of the sizes' broadcast shape. The ridge
        is exactly 0 where the risk rises from there, and inf where nothing can be learned.

    Raises:
        ArgumentError: outside these domains.
        ResolutionError: as in `predict`.

    The risk is scanned over all nu2 before it is minimised, because it may have several minima. Relative errors are
    about 1e-12 in the risk; in the ridge they are larger where the minimum is flat. Traced arguments give traced
    results, differentiable in the sizes and every number of the problem.

    Example:
        >>> from solvable import random_features as rf
        >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01, n_modes=800)
        >>> best = rf.optimal_ridge(problem, n_samples=100, n_features=[50, 200])
        >>> best.ridge.round(6), best.excess_risk.round(8)
        (array([0.520883, 0.181642]), array([0.07987593, 0.03116007]))
    """
    sizes = {"n_samples": n_samples, "n_features": n_features}
    check_controls(sizes)
    values = map_lanes(_minimum, _with_scan, problem, (n_samples, n_features))
    check_resolution(values.pop("unresolved"))
    return Record(values)


def risk_curve(problem: Problem, *, n_samples: Any, n_features: Any = math.inf, points: int = 200) -> Prediction:
    """Return the ridge and every observable along the whole path from ridge 0 to ridges that learn nothing.

    Args:
        problem: the world.
        n_samples: > 0, may be inf (not both).
        n_features: > 0, may be inf.
        points: number of points, >= 3; the first is ridge 0, the others are even in log(nu2 - nu0).

    Sizes broadcast.

    Returns:
        A `Prediction` of the observables of `predict`, of the sizes' broadcast shape + (points,). Its controls hold the
        ridge of each point, so that it can be plotted or compared as it is.

    Raises:
        ArgumentError: outside these domains.
        ResolutionError: as in `predict`.

    Example:
        >>> from solvable import random_features as rf
        >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01, n_modes=800)
        >>> curve = rf.risk_curve(problem, n_samples=100, n_features=50)
        >>> curve.excess_risk.shape, float(curve.controls.ridge[0]), float(curve.excess_risk.min().round(4))
        ((200,), 0.0, 0.0799)
    """
    require(points >= 3 and points == int(points), "points", "an integer >= 3", points)
    check_controls({"n_samples": n_samples, "n_features": n_features})
    n, p = (
        jnp.asarray(v) if isinstance(v, jax.Array) else np.asarray(v, dtype=np.float64) for v in (n_samples, n_features)
    )
    lanes = (n[..., None], p[..., None], np.arange(float(points)) / (points - 1))
    values = map_lanes(_on_curve, _with_scan, problem, lanes)
    check_resolution(values.pop("unresolved"))
    controls = Record({"n_samples": lanes[0], "n_features": lanes[1], "ridge": values.pop("ridge")})
    diagnostics = Record({name: values.pop(name) for name in ("nu1", "nu2", "residual")})
    observables = OBSERVABLES.complete(values, {"noise_variance": problem.noise_variance})
    return Prediction(observables, diagnostics, controls, OBSERVABLES)


def _with_scan(xp: Any, problem: Problem) -> tuple[Nodes, Array, Array, _Sums]:
    """Nodes and noise, and the sums at a ladder of nu2 that all lanes share."""
    nodes, noise = nodes_and_noise(xp, problem)
    x = nodes.eigenvalues
    smallest = xp.maximum(xp.min(x) * 1e-3, nodes.resolution)
    trace, power = xp.sum(x * nodes.multiplicities), xp.sum(nodes.target_power)
    largest = 1e6 * trace * (1 + noise / xp.maximum(power, 1e-300))
    low, high = xp.log(smallest), xp.log(xp.minimum(largest, 1e290))
    count = _TRACED_SCAN if xp is jnp else max(8, math.ceil(float(high - low) / _SPACING))
    ladder = xp.exp(low + (high - low) * xp.arange(float(count)) / (count - 1))
    at = partial(_sums, nodes, floor=xp.zeros_like(low), xp=xp)
    return nodes, noise, ladder, jax.vmap(at)(ladder) if xp is jnp else at(ladder, floor=np.zeros_like(ladder))


def _minimum(xp: Any, prepared: Any, n: Array, p: Array) -> dict[str, Array]:
    nodes, noise, ladder, scanned = prepared
    lane = _lane(xp, nodes, noise, n, p)
    edge = xp.log(xp.where(lane.floor > 0, lane.floor, xp.min(nodes.eigenvalues))) + _EDGE
    low, high, start, at_edge, at_end = _bracket(xp, nodes, lane, edge, ladder, scanned)
    root = decreasing_root(partial(_decline, xp), nodes, tuple(lane), lower=low, upper=high, start=start, xp=xp)
    gap = xp.exp(root.value)
    sums = _sums(nodes, lane.floor + gap, lane.floor, xp)
    risk, _, share = _risk(lane, sums, gap, nodes.null_power, xp)
    # Where it is not taken, this branch must stay finite, or its derivative would be 0 x inf.
    at_zero = _risk_at_zero(xp, nodes, lane._replace(missing=xp.where(at_edge, lane.missing, 1.0)))
    both_infinite = xp.isinf(n) & xp.isinf(p)
    nothing = xp.sum(nodes.target_power) + nodes.null_power
    per_sample = (lane.floor + gap) * share
    finite_n = xp.where(xp.isinf(n), 1.0, n)  # a ridge beside infinitely many samples is infinite, unless it is 0
    zero = at_edge | both_infinite
    per_sample = xp.where(zero, 0.0, xp.where(at_end, math.inf, per_sample))
    nu2 = xp.where(zero, xp.where(both_infinite, 0.0, lane.floor), lane.floor + gap)
    return {
        "ridge": xp.where(xp.isinf(n) & (per_sample > 0), math.inf, per_sample * finite_n),
        "ridge_per_sample": per_sample,
        "excess_risk": xp.where(
            both_infinite, nodes.null_power, xp.where(at_edge, at_zero, xp.where(at_end, nothing, risk))
        ),
        "nu2": nu2,
        "unresolved": (nu2 < nodes.resolution) & ~both_infinite,
    }


def _on_curve(xp: Any, prepared: Any, n: Array, p: Array, place: Array) -> dict[str, Array]:
    nodes, noise, ladder, _ = prepared
    lane = _lane(xp, nodes, noise, n, p)
    low = xp.log(xp.where(lane.floor > 0, lane.floor * 1e-6, xp.min(nodes.eigenvalues) * 1e-3))
    gap = xp.where(place == 0, 0.0, xp.exp(low + (xp.log(ladder[-1] * 1e-2) - low) * place))
    solved = above_floor(nodes, Floor(lane.floor, lane.missing), gap, n, p, xp)
    values = closed_form_at(xp, (nodes, noise), solved, n, p)
    return {**values, "ridge": n * solved.nu2 * solved.sample_gap * solved.feature_gap}


def _lane(xp: Any, nodes: Nodes, noise: Array, n: Array, p: Array) -> _Lane:
    return _Lane(n, p, *ridge_floor(nodes, n, p, xp), xp.zeros_like(n) + noise)


def _bracket(
    xp: Any, nodes: Nodes, lane: _Lane, edge: Array, ladder: Array, scanned: _Sums
) -> tuple[Array, Array, Array, Array, Array]:
    """Interval around the lowest point of the scan, that point, and whether the minimum is at either end."""
    wide = _Lane(*(value[..., None] for value in lane))
    gap = ladder - wide.floor
    inside = ladder > _MARGIN * wide.floor
    safe = xp.where(inside, gap, ladder)
    # df1 = sum N s from the sums at hand, and m - df1 by subtraction: a few digits are enough for a scan
    smaller = xp.minimum(wide.n, wide.p)
    rise = (smaller - wide.missing - (scanned.df2 + scanned.delta)) / safe
    risks = _risk(wide, scanned._replace(rise=rise), safe, nodes.null_power, xp)[0]
    first, slope, _ = _risk(
        lane, _sums(nodes, lane.floor + xp.exp(edge), lane.floor, xp), xp.exp(edge), nodes.null_power, xp
    )
    risks = xp.concatenate([first[..., None], xp.where(inside & (risks > 0), risks, math.inf)], axis=-1)
    places = xp.concatenate([edge[..., None], xp.where(inside, xp.log(safe), edge[..., None])], axis=-1)
    best = xp.min(risks, axis=-1)
    start = xp.min(xp.where(risks <= best[..., None], places, math.inf), axis=-1)
    here = start[..., None]
    low = xp.max(xp.where(places < here, places, edge[..., None]), axis=-1)
    high = xp.min(xp.where(places > here, places, xp.max(places, axis=-1)[..., None]), axis=-1)
    return low, high, start, (start == edge) & (slope >= 0), risks[..., -1] <= best


def _decline(xp: Any, v: Array, nodes: Nodes, values: tuple[Array, ...]) -> tuple[Array, Array]:
    """Minus the logarithmic derivative of the risk in nu2, and its own derivative in v."""
    lane = _Lane(*values)

    def decline(v: Array) -> Array:
        gap = xp.exp(v)
        risk, slope, _ = _risk(lane, _sums(nodes, lane.floor + gap, lane.floor, xp), gap, nodes.null_power, xp)
        return -slope / risk

    if xp is jnp:
        value, change = jax.jvp(decline, (v,), (jnp.ones_like(v),))
        return value, change
    shifted = decline(v + 1j * _STEP)
    return shifted.real, shifted.imag / _STEP


def _risk(lane: _Lane, sums: _Sums, gap: Array, null_power: Array, xp: Any) -> tuple[Array, Array, Array]:
    """Excess risk, its derivative in log nu2, and ridge_per_sample / nu2."""
    noise = lane.noise + null_power  # power that is never learned acts as noise, and stays as bias
    sample_gap, feature_gap = gaps(gap * sums.rise + lane.missing, lane.n, lane.p, xp)
    per_feature, growth = sums.delta / lane.p, 2 * sums.cubic - sums.delta  # delta and its derivative
    phi, share = feature_shares(feature_gap, per_feature, xp)
    share_slope = (growth / lane.p * feature_gap - per_feature**2) / (feature_gap + per_feature) ** 2
    spread = sums.df2 + share * sums.delta
    spread_slope = -2 * sums.cubic + share_slope * sums.delta + share * growth
    total = sample_gap + phi * sums.delta / lane.n
    total_slope = (sums.delta - share_slope * sums.delta + phi * growth) / lane.n
    learned = sums.lost - 2 * sums.lost_again
    level = sums.missed_squared + share * sums.lost + noise * spread / lane.n
    level_slope = 2 * sums.lost_again + share_slope * sums.lost + share * learned + noise * spread_slope / lane.n
    slope = (level_slope * total - level * total_slope) / total**2
    return level / total + null_power, slope, sample_gap * feature_gap


def _risk_at_zero(xp: Any, nodes: Nodes, lane: _Lane) -> Array:
    sums = _sums(nodes, lane.floor, lane.floor, xp)
    sample_gap, feature_gap = gaps(lane.missing, lane.n, lane.p, xp)
    phi, share = feature_shares(feature_gap, sums.delta / lane.p, xp)
    noise = lane.noise + nodes.null_power
    level = sums.missed_squared + share * sums.lost + noise * (sums.df2 + share * sums.delta) / lane.n
    return ratio(level, sample_gap + phi * sums.delta / lane.n, xp) + nodes.null_power


def _sums(nodes: Nodes, nu2: Array, floor: Array, xp: Any) -> _Sums:
    x, counts, power = nodes.eigenvalues, nodes.multiplicities, nodes.target_power

    def sums(nu2: Array, floor: Array) -> tuple[Array, ...]:
        nu = nu2[..., None]
        inverse = 1 / (x + nu)
        s, t = x * inverse, nu * inverse
        st = s * t
        counted, powered = partial(weighted_sum, weights=counts, xp=xp), partial(weighted_sum, weights=power, xp=xp)
        return (
            counted(s / (x + floor[..., None])), counted(s * s), counted(st), counted(s * st),
            powered(st), powered(t * t), powered(st * t),
        )  # fmt: skip

    return _Sums(*by_rows(sums, (nu2, floor), len(x), xp))

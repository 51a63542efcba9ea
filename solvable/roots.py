"""Roots of one decreasing scalar equation per lane: safeguarded Newton inside a bracket, differentiable."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from solvable.precision import Array

TOLERANCE = 1e-12
MAX_STEPS = 80
_ROUNDING = 1e-7  # below this a step that no longer shrinks is rounding noise, not slow convergence
_TINY = 1e-300
_SLACK = 1e-9  # a converged iterate may stand a rounding error outside its bracket


class Root(NamedTuple):
    """A root and an estimate of the absolute error left in it, from its last two corrections."""

    value: Array
    residual: Array


Function = Callable[[Array, Any, tuple[Array, ...]], tuple[Array, Array]]


def decreasing_root(
    function: Function,
    shared: Any,
    lanes: tuple[Array, ...],
    *,
    lower: Array,
    upper: Array,
    start: Array,
    xp: Any,
) -> Root:
    """Solve `function(u, shared, lanes)[0] = 0` for u, lane by lane.

    Args:
        function: returns the value, decreasing in u, and its derivative in u; elementwise in the lanes.
        shared: pytree that all lanes read.
        lanes: arrays with one entry per lane.
        lower: left end of a bracket of the root, per lane.
        upper: right end of it.
        start: first iterate.
        xp: `numpy` (lanes are vectors, and those that have converged are dropped) or `jax.numpy` (one scalar lane;
            first and second derivatives pass through the root in forward and reverse mode).

    Returns:
        The root and the error left. A lane stops when that is below 1e-12, or the correction is below 1e-7 and no
        longer shrinks (rounding noise), or after 80 steps; the residual says which.
    """
    solve = _solve_vector if xp is np else _solve_traced
    return solve(function, shared, lanes, lower, upper, start)


def _step(value: Array, slope: Array, u: Array, lower: Array, upper: Array, xp: Any) -> tuple[Array, Array, Array]:
    """Shrink the bracket by the sign of the value, then take the Newton step if it stays inside, else bisect."""
    lower = xp.where(value >= 0, u, lower)
    upper = xp.where(value <= 0, u, upper)
    newton = u - value / slope
    inside = (newton > lower - _SLACK) & (newton < upper + _SLACK)
    return xp.where(inside, newton, 0.5 * (lower + upper)), lower, upper


def _error_left(change: Array, previous: Array, xp: Any) -> Array:
    """Estimate the error after a correction: errors of Newton's method square, so e' = change (change/previous)^2.

    The first correction has none before it (inf) and is taken as the error itself.
    """
    ratio = xp.where(xp.isinf(previous), 1.0, change / xp.maximum(previous, _TINY))
    return change * xp.minimum(ratio, 1.0) ** 2


def _unfinished(left: Array, change: Array, previous: Array) -> Array:
    stalled = (change < _ROUNDING) & (change >= previous)
    return (left > TOLERANCE) & ~stalled


def _solve_vector(
    function: Function, shared: Any, lanes: tuple[Array, ...], lower: Array, upper: Array, start: Array
) -> Root:
    u = np.minimum(np.maximum(start, lower), upper)
    root, residual, active = u.copy(), np.full(u.shape, np.inf), np.arange(u.size)
    change = residual.copy()
    for _ in range(MAX_STEPS):
        value, slope = function(u, shared, lanes)
        new, lower, upper = _step(value, slope, u, lower, upper, np)
        previous, change = change, np.abs(new - u)
        u, left = new, _error_left(change, previous, np)
        root[active], residual[active] = u, left
        going = _unfinished(left, change, previous)
        if not going.any():
            break
        if not going.all():
            active, u, lower, upper, change = (values[going] for values in (active, u, lower, upper, change))
            lanes = tuple(lane[going] for lane in lanes)
    return Root(root, residual)


def _solve_traced(
    function: Function, shared: Any, lanes: tuple[Array, ...], lower: Array, upper: Array, start: Array
) -> Root:
    freeze = jax.lax.stop_gradient  # reverse mode does not pass a while_loop: the steps after it are differentiated
    frozen_shared, frozen_lanes, low, high = freeze((shared, lanes, lower, upper))

    def unfinished(state: tuple[Array, ...]) -> Array:
        _, _, _, change, previous, count = state
        return _unfinished(_error_left(change, previous, jnp), change, previous) & (count < MAX_STEPS)

    def advance(state: tuple[Array, ...]) -> tuple[Array, ...]:
        u, low, high, change, _, count = state
        value, slope = function(u, frozen_shared, frozen_lanes)
        new, low, high = _step(value, slope, u, low, high, jnp)
        return new, low, high, jnp.abs(new - u), change, count + 1

    none = jnp.full_like(low, jnp.inf)
    state = (jnp.clip(freeze(start), low, high), low, high, none, none, 0)
    u, _, _, change, previous, _ = freeze(jax.lax.while_loop(unfinished, advance, state))
    residual = _error_left(change, previous, jnp)
    # Two Newton steps from the frozen root carry exact first and second derivatives of the implicit function.
    for _ in range(2):
        value, slope = function(u, shared, lanes)
        u = u - value / slope
    return Root(u, residual)

"""The one place that decides how numbers are computed: NumPy or JAX, and in which precision.

Closed forms are written once, over an array namespace `xp`. Concrete inputs run in NumPy float64 and compile
nothing; inputs traced by `jax.jit`, `jax.grad` or `jax.vmap` run in JAX, in float64 even where the caller's x64
switch is off. The caller's JAX configuration is never changed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

# NumPy and JAX arrays share no static base type, and the closed forms accept both; shapes stand in the docstrings.
Array: TypeAlias = Any

BLOCK_LANES = 2**14  # lanes per NumPy block: bounds the memory of a large sweep
ROW_ELEMENTS = 2**16  # lanes x nodes summed at once: a few such arrays stay in the second-level cache
TRACED_BATCH = 64  # lanes evaluated together under a trace


def is_traced(*trees: Any) -> bool:
    """Tell whether any leaf of the pytrees is a JAX tracer."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(trees))


def as_leaf(value: Any) -> Array:
    """Return a float64 NumPy array, or the value itself where it is traced."""
    return value if is_traced(value) else np.asarray(value, dtype=np.float64)


def namespace(*trees: Any) -> Any:
    """Return `jax.numpy` where anything is traced, else `numpy`."""
    return jnp if is_traced(*trees) else np


def trailing(array: Array, axes: int) -> Array:
    """Append axes of length 1 up to a number of axes, to broadcast against arrays with axes of their own."""
    return namespace(array).reshape(array, np.shape(array) + (1,) * (axes - np.ndim(array)))


def map_lanes(
    kernel: Callable[..., dict[str, Array]],
    prepare: Callable[[Any, Any], Any],
    problem: Any,
    lanes: tuple[Any, ...],
    *,
    reverse_only: bool = False,
) -> dict[str, Array]:
    """Evaluate a closed form over the broadcast lanes, in NumPy blocks or under the caller's trace.

    Args:
        kernel: `kernel(xp, prepared, *lane_values)`, elementwise in its lanes: vectors in NumPy, scalars under a trace.
        prepare: `prepare(xp, problem)`, run once, for whatever all lanes share.
        problem: pytree of numbers.
        lanes: controls that broadcast against each other.
        reverse_only: differentiate in reverse mode alone, by a second evaluation; for kernels with matrix products or
            gathers, whose transposes JAX would otherwise form in the caller's precision.

    Returns:
        The kernel's dictionary, each entry of the lanes' broadcast shape, and axes of its own after those: NumPy
        float64, or traced arrays in the caller's default precision.
    """
    if is_traced(problem, lanes):
        return _map_traced(kernel, prepare, problem, lanes, reverse_only=reverse_only)
    if not all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(problem)):
        problem = jax.tree.map(as_leaf, problem)
    with np.errstate(all="ignore"):
        return _map_blocks(partial(kernel, np, prepare(np, problem)), lanes)


def by_rows(sums: Callable[..., tuple[Array, ...]], lanes: tuple[Array, ...], width: int, xp: Any) -> tuple[Array, ...]:
    """Evaluate sums over a node axis of length `width`, a few lanes at a time so that they stay in cache."""
    rows = max(1, ROW_ELEMENTS // width)
    if xp is not np or len(lanes[0]) <= rows:
        return sums(*lanes)
    starts = range(0, len(lanes[0]), rows)
    parts = [sums(*(lane[start : start + rows] for lane in lanes)) for start in starts]
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def weighted_sum(values: Array, weights: Array, xp: Any) -> Array:
    """Sum over the last axis with weights; under a trace as multiply and add.

    A traced float64 dot that is transposed outside the inner 64-bit context would be truncated to float32.
    """
    return values @ weights if xp is np else xp.sum(values * weights, axis=-1)


def _map_blocks(kernel: Callable[..., dict[str, Array]], lanes: tuple[Any, ...]) -> dict[str, Array]:
    shaped = np.broadcast_arrays(*(np.asarray(lane, dtype=np.float64) for lane in lanes))
    shape, flat = shaped[0].shape, [lane.ravel() for lane in shaped]
    starts = range(0, max(flat[0].size, 1), BLOCK_LANES)
    parts = [kernel(*(lane[start : start + BLOCK_LANES] for lane in flat)) for start in starts]
    if len(parts) == 1:
        return {name: value.reshape(shape + value.shape[1:]) for name, value in parts[0].items()}
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {name: value.reshape(shape + value.shape[1:]) for name, value in joined.items()}


def _map_traced(
    kernel: Callable[..., dict[str, Array]],
    prepare: Callable[[Any, Any], Any],
    problem: Any,
    lanes: tuple[Any, ...],
    *,
    reverse_only: bool,
) -> dict[str, Array]:
    returned = jax.dtypes.canonicalize_dtype(np.float64)

    def double(tree: Any) -> Any:
        # Every operand becomes a JAX array here: a NumPy float64 operand that slips into the inner jit is cached
        # as such and breaks later float32 calls with the same array.
        return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), tree)

    def whole(problem: Any, lanes: tuple[Array, ...]) -> dict[str, Array]:
        shaped = jnp.broadcast_arrays(*lanes)
        flat = tuple(lane.ravel() for lane in shaped)
        prepared = prepare(jnp, problem)
        one = partial(kernel, jnp, prepared)
        if flat[0].size <= TRACED_BATCH:  # a map would compile the kernel twice, for full batches and for the rest
            values = jax.vmap(one)(*flat)
        else:
            values = jax.lax.map(lambda lane: one(*lane), flat, batch_size=TRACED_BATCH)
        return {name: value.reshape(shaped[0].shape + value.shape[1:]) for name, value in values.items()}

    with jax.enable_x64(True):
        values = jax.jit(_reversed(whole) if reverse_only else whole)(double(problem), double(lanes))
        return {name: jax.lax.convert_element_type(value, returned) for name, value in values.items()}


def _reversed(function: Callable[..., dict[str, Array]]) -> Callable[..., dict[str, Array]]:
    """Give a function of float64 arrays a reverse derivative that is formed in float64 whatever the caller's switch."""
    wrapped = jax.custom_vjp(function)

    def backward(arguments: tuple[Any, ...], cotangents: dict[str, Array]) -> tuple[Any, ...]:
        with jax.enable_x64(True):
            _, pull_back = jax.vjp(function, *arguments)
            gradients: tuple[Any, ...] = pull_back(cotangents)
            return gradients

    wrapped.defvjp(lambda *arguments: (function(*arguments), arguments), backward)
    return wrapped


@contextmanager
def simulation_precision(dtype: Any) -> Iterator[None]:
    """Run the body with JAX in the given precision and with exact matrix products, then restore the caller's state."""
    with jax.enable_x64(np.dtype(dtype) == np.float64), jax.default_matmul_precision("highest"):
        yield

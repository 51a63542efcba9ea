"""From one replicate to an estimate: chunks, devices, and a target standard error.

Replicate i uses the key `fold_in(key(seed), i)` and nothing else, so its draw depends on (seed, i) alone: not on how
many replicates were asked, how they were chunked, or how many devices share the work. Sums agree to rounding.
"""

import math
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from solvable.errors import ArgumentError, MemoryLimitError, ReplicateWarning, require
from solvable.estimate import Estimate, Moments
from solvable.observables import Observables
from solvable.precision import Array, simulation_precision

DEFAULT_MAX_BYTES = 2**32
_CHUNK = 32  # replicates per device and compiled call: often enough for Ctrl-C and for the stopping rule
Draw = Callable[..., dict[str, Array]]


@dataclass(frozen=True)
class Sampling:
    """How to sample; every simulator takes these fields as keywords.

    Attributes:
        seed: integer >= 0.
        replicates: how many to run; give this or `relative_error`.
        relative_error: stop once sem/|mean| of the watched observables is below this in every cell, or at
            `max_replicates`.
        max_replicates: upper limit for `relative_error`.
        watch: observables that `relative_error` refers to; None for every excess risk.
        max_bytes: memory that replicates in flight may use; decides chunk sizes, never results.
        dtype: "float64" or "float32".
        device: None for all local devices of the default backend, a platform name ("cpu", "gpu"), a device, or several.
    """

    seed: int
    replicates: int | None = None
    relative_error: float | None = None
    max_replicates: int = 10_000
    watch: tuple[str, ...] | None = None
    max_bytes: float = DEFAULT_MAX_BYTES
    dtype: Any = "float64"
    device: Any = None

    def __post_init__(self) -> None:
        """Check every field."""
        require_integer("seed", self.seed, 0)
        if (self.replicates is None) == (self.relative_error is None):
            raise ArgumentError(
                f"give exactly one of replicates and relative_error; got replicates={self.replicates!r}, "
                f"relative_error={self.relative_error!r}"
            )
        if self.replicates is not None:
            require_integer("replicates", self.replicates, 1)
        if self.relative_error is not None:
            positive = math.isfinite(self.relative_error) and self.relative_error > 0
            require(positive, "relative_error", "finite and > 0", self.relative_error)
        require_integer("max_replicates", self.max_replicates, 2)
        require(not isinstance(self.watch, str), "watch", "a tuple of names", self.watch)
        require(np.dtype(self.dtype) in (np.float32, np.float64), "dtype", "float32 or float64", self.dtype)

    def devices(self) -> tuple[jax.Device, ...]:
        """Return the devices to use, in a fixed order."""
        if self.device is None:
            return tuple(jax.local_devices())
        if isinstance(self.device, str):
            return tuple(jax.local_devices(backend=self.device))
        return tuple(self.device) if isinstance(self.device, Sequence) else (self.device,)


def require_integer(name: str, value: Any, least: int) -> None:
    """Raise `ArgumentError` unless the value is an integer of at least `least`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least
    require(whole, name, f"an integer >= {least}", value)


def run(
    draw: Draw,
    operands: Mapping[str, Any],
    static: Mapping[str, Hashable],
    sampling: Sampling,
    *,
    declared: Observables,
    constants: Mapping[str, Array],
    bytes_per_replicate: float,
    deterministic: bool = False,
) -> Estimate:
    """Run replicates of `draw(key, **operands, **static)` and summarise its base observables.

    Args:
        draw: one replicate, pure and jittable; a module-level function, so that its compilation is kept.
        operands: pytrees of numbers, cast to the sampling dtype.
        static: hashable arguments.
        sampling: seed, number of replicates or target error, memory, precision and devices.
        declared: the model's observables.
        constants: what derived observables need.
        bytes_per_replicate: estimated working memory of one replicate.
        deterministic: whether replicates differ by rounding alone.

    Raises:
        MemoryLimitError: if one replicate needs more than `max_bytes`.

    Warns:
        ReplicateWarning: if replicates were not finite.
    """
    if bytes_per_replicate > sampling.max_bytes:
        raise MemoryLimitError(
            f"one replicate needs about {bytes_per_replicate:.3g} bytes, max_bytes is {sampling.max_bytes:.3g}; "
            "make the problem smaller, or raise max_bytes"
        )
    at_once = int(sampling.max_bytes // bytes_per_replicate)
    devices = sampling.devices()[:at_once]
    batched = devices[0].platform != "cpu"  # vmap of linear algebra is slow on CPU, and hangs on several CPU devices
    per_device = min(_CHUNK, at_once // len(devices)) if batched else _CHUNK
    summarise = partial(Estimate, declared=declared, constants=constants)
    reduce_samples = partial(Moments.of, deterministic=deterministic)
    with simulation_precision(sampling.dtype), jax.default_device(devices[0]):
        key = jax.random.key(sampling.seed)
        cast = partial(jnp.asarray, dtype=jnp.dtype(sampling.dtype))
        call = partial(
            _chunk, key, operands=jax.tree.map(cast, dict(operands)), draw=draw, static=tuple(static.items()),
            devices=devices, batched=batched,
        )  # fmt: skip
        moments = _collect(call, sampling, per_device * len(devices), len(devices), summarise, reduce_samples)
    _warn_of_failures(moments)
    return summarise(moments)


def _collect(
    call: Callable[[Array], dict[str, Array]],
    sampling: Sampling,
    chunk: int,
    divisor: int,
    summarise: Callable[[Moments], Estimate],
    reduce_samples: Callable[[Mapping[str, Array]], Moments],
) -> Moments:
    """Add rounds of replicates in the order of their numbers until there are enough."""
    total = sampling.replicates or sampling.max_replicates
    round_size = total if sampling.replicates else _CHUNK  # the stopping rule must not see the chunk size

    def measure(start: int) -> Moments:
        pieces = _chunks(start, min(start + round_size, total), chunk, divisor)
        results = ((size, call(jnp.asarray(ids))) for ids, size in pieces)
        parts = (reduce_samples({name: np.asarray(v)[:size] for name, v in result.items()}) for size, result in results)
        return reduce(Moments.merge, parts)

    moments = measure(0)
    for start in range(round_size, total, round_size):
        if _precise_enough(summarise(moments), sampling):
            break
        moments = moments.merge(measure(start))
    return moments


def _chunks(start: int, stop: int, chunk: int, divisor: int) -> list[tuple[Array, int]]:
    """Split into runs that share one compiled shape; return each run's numbers and how many of them are new.

    Runs are of nearly equal length. The last replicate of a run is repeated until all have the same length, a multiple
    of the number of devices; what is repeated is dropped afterwards.
    """
    pieces = np.array_split(np.arange(start, stop, dtype=np.uint32), math.ceil((stop - start) / max(chunk, divisor)))
    length = divisor * math.ceil(len(pieces[0]) / divisor)
    return [(np.pad(ids, (0, length - ids.size), mode="edge"), ids.size) for ids in pieces]


def _precise_enough(estimate: Estimate, sampling: Sampling) -> bool:
    if sampling.relative_error is None:
        return False
    mean, sem = estimate.mean, estimate.sem
    watched = sampling.watch or [name for name in mean if name.endswith("excess_risk")]
    return all(bool(np.all(sem[name] <= sampling.relative_error * np.abs(mean[name]))) for name in watched)


def _warn_of_failures(moments: Moments) -> None:
    failed = int(np.sum(moments.failed))
    if failed:
        warnings.warn(
            f"{failed} of {failed + int(np.sum(moments.count))} replicate results were not finite and are left out; "
            "see the estimate's `failed`",
            ReplicateWarning,
            stacklevel=4,
        )


@partial(jax.jit, static_argnames=("draw", "static", "devices", "batched"))
def _chunk(
    key: Array,
    ids: Array,
    *,
    operands: dict[str, Any],
    draw: Draw,
    static: tuple[tuple[str, Hashable], ...],
    devices: tuple[jax.Device, ...],
    batched: bool,
) -> dict[str, Array]:
    def shard(ids: Array, key: Array, operands: dict[str, Any]) -> dict[str, Array]:
        def one(number: Array) -> dict[str, Array]:
            return draw(jax.random.fold_in(key, number), **operands, **dict(static))

        return jax.vmap(one)(ids) if batched else jax.lax.map(one, ids)

    if len(devices) == 1:
        return shard(ids, key, operands)
    mesh = jax.sharding.Mesh(np.array(devices), ("replicates",))
    split, whole = jax.sharding.PartitionSpec("replicates"), jax.sharding.PartitionSpec()
    # Linear algebra inside the shards has no rule for the varying-axes check; every input and output is specified here.
    share = jax.shard_map(shard, mesh=mesh, in_specs=(split, whole, whole), out_specs=split, check_vma=False)
    return share(ids, key, operands)

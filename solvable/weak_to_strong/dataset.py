"""Teachers and students trained on real data."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from solvable.errors import require
from solvable.estimate import Estimate, Moments
from solvable.precision import Array
from solvable.random_features.problem import Problem
from solvable.random_features.simulation import checked_dataset
from solvable.replicates import Sampling, run
from solvable.training import Stage
from solvable.weak_to_strong.generations import fit
from solvable.weak_to_strong.simulation import over_cells, whole_lanes
from solvable.weak_to_strong.stages import controls, read
from solvable.weak_to_strong.theory import OBSERVABLES


def simulate_dataset(
    features_map: Callable[[Array, Array, int], Array],
    inputs: Any,
    labels: Any,
    *,
    teacher: Stage,
    student: Stage,
    noise_variance: float = 0.0,
    seed: int,
    **sampling: Any,
) -> Estimate:
    """Train a teacher on real data and a student on the teacher's labels, and measure both risks exactly.

    The population is the empirical measure of the N given points; both draw training inputs from it with replacement.
    Theory is `predict(random_features.Problem.from_kernel(kernel, labels, noise_variance), ...)`; real data are not
    Gaussian in the kernel's eigenbasis, so expect a gap of some percent.

    Args:
        features_map: as in `random_features.simulate_dataset`; features of teacher and student are independent.
        inputs: shape (N, dimension).
        labels: shape (N,) or (N, outputs), noiseless; risks are summed over outputs.
        teacher: with integer sizes; its fields and the student's broadcast.
        student: the same.
        noise_variance: of noise on the teacher's labels, summed over outputs.
        seed: integer >= 0.
        **sampling: as in `simulate`.

    Returns:
        An `Estimate` of the observables of `predict`.

    Raises:
        ArgumentError: outside these domains.
        MemoryLimitError: if one replicate needs more than `max_bytes`.

    Example:
        >>> import numpy as np
        >>> from solvable import random_features as rf, weak_to_strong as w2s
        >>> inputs = np.random.default_rng(0).normal(size=(60, 3))
        >>> stages = dict(teacher=w2s.Stage(20, 10, ridge=0.1), student=w2s.Stage(40, 60, ridge=0.1))
        >>> measured = w2s.simulate_dataset(rf.relu_features, inputs, inputs[:, 0], **stages, seed=0, replicates=8)
        >>> bool(measured.mean.student_excess_risk < 1)
        True
    """
    plan = Sampling(seed, **sampling)
    points, targets = checked_dataset(inputs, labels)
    stages = {"teacher": teacher, "student": student}
    kernels = [stage.capacity is not None or stage.eigenvalues is not None for stage in stages.values()]
    require(not any(kernels), "teacher, student", "without kernels of their own: the features decide", kernels)
    numbers = read(Problem.from_arrays([1.0], [1.0], noise_variance), stages)
    lanes = whole_lanes(stages, numbers, infinite_width=False)

    def one_cell(cell: tuple[float, ...]) -> Moments:
        sizes = tuple((int(cell[i]), int(cell[i + 1])) for i in (0, 4))
        ridges = [cell[i + 2] * (cell[i] if own.per_sample else 1.0) for i, own in zip((0, 4), numbers, strict=True)]
        operands = {"inputs": points, "labels": targets, "ridges": np.array(ridges), "noises": np.array(cell[3::4])}
        width, most = sum(p for _, p in sizes), max(n for n, _ in sizes)
        numbers_at_once = len(points) * (width + 2 * targets.shape[1]) + 4 * most * width
        return run(
            _draw,
            operands,
            {"features_map": features_map, "sizes": sizes},
            plan,
            declared=OBSERVABLES,
            constants={},
            bytes_per_replicate=numbers_at_once * np.dtype(plan.dtype).itemsize,
        ).moments

    return Estimate(over_cells(lanes, one_cell), OBSERVABLES, {}, controls(stages, numbers))


def _draw(
    key: Array,
    *,
    inputs: Array,
    labels: Array,
    ridges: Array,
    noises: Array,
    features_map: Callable[[Array, Array, int], Array],
    sizes: tuple[tuple[int, int], ...],
) -> dict[str, Array]:
    """Train one stage after the other; functions are their values on all points."""
    function, risks = labels, []
    for place, (stage_key, (n, p)) in enumerate(zip(jax.random.split(key, len(sizes)), sizes, strict=True)):
        feature_key, data_key, noise_key = jax.random.split(stage_key, 3)
        features = features_map(feature_key, inputs, p) / math.sqrt(p)
        require(features.shape == (len(inputs), p), "features_map", f"of shape {(len(inputs), p)}", features.shape)
        chosen = jax.random.randint(data_key, (n,), 0, len(inputs))
        noise = jax.random.normal(noise_key, (n, labels.shape[1]), labels.dtype)
        seen = function[chosen] + jnp.sqrt(noises[place] / labels.shape[1]) * noise
        function = features @ fit(features[chosen], seen, ridges[place], "svd")
        risks.append(jnp.sum(jnp.mean((function - labels) ** 2, axis=0))[None])
    return dict(zip(OBSERVABLES.base, risks, strict=True))

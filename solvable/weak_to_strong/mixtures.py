"""Monte Carlo of students whose labels come partly from a teacher and partly from the truth."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from solvable.errors import require
from solvable.estimate import Estimate
from solvable.precision import Array
from solvable.random_features.problem import Problem
from solvable.replicates import Sampling
from solvable.training import Stage
from solvable.weak_to_strong.generations import Shape, direct_labels, draw_features, fit, trained_functions
from solvable.weak_to_strong.simulation import sample
from solvable.weak_to_strong.theory import OBSERVABLES


def simulate_mixed_labels(
    problem: Problem,
    *,
    teacher: Stage,
    student: Stage,
    fraction: Any,
    true_label_noise_variance: Any = None,
    seed: int,
    **sampling: Any,
) -> Estimate:
    """Measure what `mixed_labels` predicts.

    Args:
        problem: finitely many modes.
        teacher: with integer sizes (n_features may be inf).
        student: the same.
        fraction: of labels from the teacher, in [0, 1], such that fraction x n_samples is an integer.
        true_label_noise_variance: of the true labels; None for the problem's noise.
        seed: integer >= 0.
        **sampling: as in `simulate`.

    Returns:
        An `Estimate` of the observables of `predict`.

    Raises:
        ArgumentError: outside these domains.
        InfiniteWorldError: on infinitely many modes.
        MemoryLimitError: if one replicate needs more than `max_bytes`.

    Example:
        >>> from solvable import weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.5, noise_variance=0.25, n_modes=40)
        >>> stages = dict(teacher=w2s.Stage(20, ridge=0.1), student=w2s.Stage(20, ridge=1.0))
        >>> measured = w2s.simulate_mixed_labels(problem, **stages, fraction=0.5, seed=0, replicates=4)
        >>> bool(measured.mean.student_excess_risk > 0)
        True
    """
    share, n = np.asarray(fraction, dtype=np.float64), np.asarray(student.n_samples, dtype=np.float64)
    whole = np.abs(share * n - np.round(share * n)) < 1e-9 * n
    inside = bool(np.all((share >= 0) & (share <= 1)) and np.all(whole))
    require(inside, "fraction", "in [0, 1], with fraction x n_samples an integer", share.ravel()[:3].tolist())
    noise = problem.noise_variance if true_label_noise_variance is None else true_label_noise_variance
    return sample(
        _draw, problem, {"teacher": teacher, "student": student}, OBSERVABLES, Sampling(seed, **sampling),
        {"fraction": fraction, "true_label_noise_variance": noise},
        from_teacher=lambda stages, extras: round(extras[0] * stages[1][0]),
    )  # fmt: skip


def _draw(
    key: Array,
    *,
    target: Array,
    scales: list[Array],
    ridges: Array,
    noises: Array,
    extras: Array,
    shapes: tuple[Shape, ...],
    from_teacher: int,
) -> dict[str, Array]:
    teacher_key, feature_key, *label_keys = jax.random.split(key, 4)
    (teacher,) = trained_functions(
        teacher_key, target, scales=scales[:1], ridges=ridges, noises=noises, shapes=shapes[:1],
        coupling="independent", direct=False,
    )  # fmt: skip
    shape, scale = shapes[1], scales[1]
    features = draw_features(feature_key, shape.n_features, scale)
    sources = ((teacher, noises[1], from_teacher), (target, extras[1], shape.n_samples - from_teacher))
    parts = [
        direct_labels(label_key, features, scale, function, noise, count)
        for label_key, (function, noise, count) in zip(label_keys, sources, strict=True)
        if count
    ]
    design, labels = (jnp.concatenate(column) for column in zip(*parts, strict=True))
    weights = fit(design, labels, ridges[1], shape.factorisation)
    student = scale * weights if features is None else features.T @ weights
    risks = (jnp.sum((function - target) ** 2)[None] for function in (teacher, student))
    return dict(zip(OBSERVABLES.base, risks, strict=True))

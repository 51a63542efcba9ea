"""A student trained on a teacher's labels: every prediction is the channel of one training, composed."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from solvable.errors import ArgumentError, require
from solvable.observables import Observables, Prediction, Record
from solvable.precision import Array, by_rows, is_traced, map_lanes, weighted_sum
from solvable.random_features.problem import Problem
from solvable.random_features.theory import check_controls, check_resolution, mark_unresolved
from solvable.ridge import EffectiveRidge, effective_ridge
from solvable.training import Stage
from solvable.weak_to_strong.channel import (
    TABLE,
    TRUTH,
    Pairing,
    State,
    Trained,
    Trainer,
    decompose,
    distinct,
    excess_risk,
    lane_by_lane,
    mix,
    solve,
    train,
    trainer,
)
from solvable.weak_to_strong.coupled import shared_features, shared_inputs
from solvable.weak_to_strong.stages import Numbers, controls, read, ridge_per_sample
from solvable.weak_to_strong.worlds import Kernel, World, kernels_of, lay_out, unresolved

RISKS = ("teacher_excess_risk", "student_excess_risk")
OBSERVABLES = Observables(
    base=RISKS,
    derived={"risk_ratio": lambda base, _: base["student_excess_risk"] / base["teacher_excess_risk"]},
    validity="equivalent",
    finite_size=dict.fromkeys((*RISKS, "risk_ratio"), "1/min(n, p)"),
)
TERMS = ("shrink", "student", "teacher_features", "teacher_noise", "teacher_alias", "label_noise")
COUPLINGS = ("independent", "features", "inputs")
Prepared = tuple[World, tuple[Kernel, ...]]
_FEW_LANES = 8  # where distinct stages are so many times fewer than lanes, a table of all pairs is less work
Final = Callable[..., tuple[Array, ...]]


def predict(problem: Problem, *, teacher: Stage, student: Stage, coupling: str = "independent") -> Prediction:
    """Predict the excess risks of a teacher trained on noisy labels and of a student trained on the teacher's.

    Both are ridge regressions on random features of their own; the student sees fresh inputs, labelled by the teacher.
    Each training is the channel of `solvable.weak_to_strong.channel`, applied twice (setting: arXiv:2603.05691; single
    model: arXiv:2405.15699; the channel, its composition and the couplings were derived here). Risks are measured
    against the target, in units of the labels squared, and are means over data, features and noise.

    Args:
        problem: spectrum, target and noise; a `random_features.Problem`.
        teacher: how the teacher trains.
        student: how the student trains.
        coupling: what teacher and student share: "independent" nothing; "features" the random features, on fresh
            inputs; "inputs" the inputs, with the teacher's predictions on them as labels, both with infinitely many
            features.

    Fields of both stages broadcast against each other.

    Returns:
        A `Prediction` of `teacher_excess_risk`, `student_excess_risk` and their `risk_ratio`. `.diagnostics` holds
        `teacher_nu2` and `student_nu2`, and, for "independent", six terms that add up to the student's risk: `shrink`
        (what both miss), `student` (the student's own fluctuation on the mean teacher), `teacher_features`,
        `teacher_noise` and `teacher_alias` (the teacher's fluctuation by features, by label noise, by unlearned signal)
        and `label_noise` (the student's own). Singular points are
        inf: ridge 0 with n = p, or with n = rank <= p, also of the teacher; the ratio of two of them is nan.

    Raises:
        ArgumentError: for arguments outside their domain, named as in "teacher.n_samples"; for "features" unless both
            have equally many and one kernel; for "inputs" unless n_samples are equal and n_features infinite.
        ResolutionError: as in `random_features.predict`.

    Under `jax.jit`, `grad` and `vmap` as `random_features.predict`.

    Example:
        >>> from solvable import weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.8, noise_variance=0.25)
        >>> teacher = w2s.Stage(n_samples=100, n_features=400, ridge=0.0)
        >>> theory = w2s.predict(problem, teacher=teacher, student=w2s.Stage(1000, 1000, ridge=[1.0, 52.59]))
        >>> theory.risk_ratio.round(4)
        array([0.5629, 0.158 ])
    """
    finals = {"independent": _independent, "features": shared_features, "inputs": shared_inputs}
    stages = {"teacher": teacher, "student": student}
    numbers = read(problem, stages)
    check_coupling(coupling, teacher, student)
    return _two_stages(problem, stages, numbers, finals[coupling])


def ensembles(
    problem: Problem, *, teacher: Stage, student: Stage, n_teachers: Any = 1, n_students: Any = 1
) -> Prediction:
    """Predict the risks when the mean of several teachers labels, and the mean of several students answers.

    Args:
        problem: as in `predict`.
        teacher: how each teacher trains, independently of the others.
        student: how each student trains, on its own inputs and features, all labelled by the same mean teacher.
        n_teachers: >= 1, inf allowed.
        n_students: >= 1, inf allowed.

    Returns:
        A `Prediction` as `predict` gives it, of the mean teacher and the mean student (derived here), without the six
        terms.

    Raises:
        ArgumentError: as in `predict`.
        ResolutionError: as in `predict`.

    Example:
        >>> from solvable import weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.8, noise_variance=0.25)
        >>> stages = dict(teacher=w2s.Stage(100, 400, ridge=0.0), student=w2s.Stage(200, 400, ridge=5.0))
        >>> w2s.ensembles(problem, **stages, n_teachers=[1, 4]).student_excess_risk.round(4)
        array([0.0435, 0.016 ])
    """
    others = {"n_teachers": n_teachers, "n_students": n_students}
    check_controls(others, least=dict.fromkeys(others, 1.0))
    stages = {"teacher": teacher, "student": student}
    numbers = read(problem, stages, others)
    return _two_stages(problem, stages, numbers, _averaged, others)


def mixed_labels(
    problem: Problem, *, teacher: Stage, student: Stage, fraction: Any, true_label_noise_variance: Any = None
) -> Prediction:
    """Predict the risks when only a fraction of the student's labels comes from the teacher.

    Args:
        problem: as in `predict`.
        teacher: how the teacher trains.
        student: how the student trains; its `label_noise_variance` is that of the teacher's labels.
        fraction: of labels from the teacher, in [0, 1]; the others are true. All samples weigh the same.
        true_label_noise_variance: of the true labels; None for the problem's noise.

    Returns:
        A `Prediction` as `predict` gives it (derived here), without the six terms.

    Raises:
        ArgumentError: as in `predict`, or for a fraction outside [0, 1].
        ResolutionError: as in `predict`.

    Example:
        >>> from solvable import weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.5, noise_variance=0.25, n_modes=400)
        >>> stages = dict(teacher=w2s.Stage(80, ridge=0.1), student=w2s.Stage(200, ridge=1.0))
        >>> w2s.mixed_labels(problem, **stages, fraction=[0.0, 0.75, 1.0]).student_excess_risk.round(4)
        array([0.0358, 0.0529, 0.0701])
    """
    if not is_traced(fraction):
        inside = (np.asarray(fraction) >= 0) & (np.asarray(fraction) <= 1)
        require(bool(inside.all()), "fraction", "in [0, 1]", np.asarray(fraction)[~inside].ravel()[:3].tolist())
    noise = problem.noise_variance if true_label_noise_variance is None else true_label_noise_variance
    check_controls({"true_label_noise_variance": noise})
    stages = {"teacher": teacher, "student": student}
    others = {"fraction": fraction, "true_label_noise_variance": noise}
    numbers = read(problem, stages)
    return _two_stages(problem, stages, numbers, _mixed, others)


def _two_stages(
    problem: Problem,
    stages: Mapping[str, Stage],
    numbers: list[Numbers],
    final: Final,
    others: Mapping[str, Any] | None = None,
) -> Prediction:
    """Evaluate a closed form of two stages and put its values into a record."""
    lanes = [value for own in numbers for value in own[:4]]
    extra = dict(others or {})
    kernel = partial(_lanes_of_two, numbers, final, RISKS)
    if final is _independent:
        kernel = partial(_lanes_of_a_table, numbers, (*RISKS, *TERMS))

    kernels = kernels_of(stages.values())
    values = map_lanes(kernel, _prepare, (problem, kernels), (*lanes, *extra.values()))
    check_resolution(values.pop("unresolved"))
    observables = OBSERVABLES.complete({name: values.pop(name) for name in RISKS}, {})
    return Prediction(observables, Record(values), Record({**controls(stages, numbers), **extra}), OBSERVABLES)


def _prepare(xp: Any, given: tuple[Problem, list[Stage]]) -> Prepared:
    return lay_out(*given, by_mode=False, xp=xp)


def _lanes_of_two(
    numbers: list[Numbers], final: Final, names: tuple[str, ...], xp: Any, prepared: Prepared, *lanes: Array
) -> dict[str, Array]:
    """Solve both fixed points, then evaluate a few lanes at a time, whose states fill the cache."""
    world, kernels = prepared
    sizes = [lanes[:4], lanes[4:8]]
    solved = [
        solve(kernel, n, p, ridge_per_sample(own, n, penalty), xp)
        for own, kernel, (n, p, penalty, _) in zip(numbers, kernels, sizes, strict=True)
    ]

    def rows(*flat: Array) -> tuple[Array, ...]:
        teacher, student = (
            trainer(world, kernel, EffectiveRidge(*point), n, p, xp)
            for kernel, point, (n, p) in zip(kernels, (flat[:4], flat[4:8]), (flat[8:10], flat[10:12]), strict=True)
        )
        return final(xp, world, (teacher, student), flat[12:14], *flat[14:])

    flat = (*solved[0], *solved[1], *sizes[0][:2], *sizes[1][:2], sizes[0][3], sizes[1][3], *lanes[8:])
    results = by_rows(rows, flat, len(world.target_power), xp)
    values = dict(zip(names, results, strict=True))
    values |= {f"{name}_nu2": point.nu2 for name, point in zip(("teacher", "student"), solved, strict=True)}
    coarse = [unresolved(kernel, point.nu2) for point, kernel in zip(solved, kernels, strict=True)]
    return mark_unresolved(xp, values, coarse[0] | coarse[1])


def _lanes_of_a_table(
    numbers: list[Numbers], names: tuple[str, ...], xp: Any, prepared: Prepared, *lanes: Array
) -> dict[str, Array]:
    """As `_lanes_of_two` for independent stages, all students with all teachers where that is less work."""
    by_lane = partial(_lanes_of_two, numbers, _independent, names, xp, prepared)
    if xp is not np or lanes[0].size < _FEW_LANES:
        return by_lane(*lanes)
    teachers, teacher_places = distinct(*lanes[:4])
    students, student_places = distinct(*lanes[4:8])
    if _FEW_LANES * (teachers.shape[1] + students.shape[1]) > lanes[0].size:
        return by_lane(*lanes)
    world, kernels = prepared

    def ready(index: int, flat: Array) -> tuple[Trainer, Array]:
        n, p, penalty, noise = flat
        solved = effective_ridge(kernels[index].nodes, n, p, ridge_per_sample(numbers[index], n, penalty), np)
        return trainer(world, kernels[index], solved, n, p, np), noise

    teacher, teacher_noise = ready(0, teachers)

    def rows(*flat: Array) -> tuple[Array, ...]:
        student, noise = ready(1, np.stack(flat))
        risks = _risks(np, world, (teacher, student), (teacher_noise, noise), TABLE)
        return tuple(np.broadcast_to(v, risks[1].shape) for v in (*risks, student.solved.nu2[:, None]))

    *results, student_nu2 = by_rows(rows, tuple(students), len(world.target_power), np)
    values = {name: table[student_places, teacher_places] for name, table in zip(names, results, strict=True)}
    values |= {"teacher_nu2": teacher.solved.nu2[teacher_places], "student_nu2": student_nu2[student_places, 0]}
    coarse = [unresolved(kernels[i], values[name]) for i, name in enumerate(("teacher_nu2", "student_nu2"))]
    return mark_unresolved(np, values, coarse[0] | coarse[1])


def _teach(xp: Any, world: World, teacher: Trainer, noise: Array) -> tuple[Trained, Array]:
    """Train on true labels; what the kernel cannot express of them is noise."""
    taught = train(world, teacher, TRUTH, noise + world.null_power, xp)
    return taught, xp.where(taught.singular, np.inf, excess_risk(world, taught.state, xp))


def _independent(
    xp: Any, world: World, pair: tuple[Trainer, Trainer], noises: tuple[Array, Array]
) -> tuple[Array, ...]:
    return _risks(xp, world, pair, noises, lane_by_lane(xp))


def _risks(
    xp: Any, world: World, pair: tuple[Trainer, Trainer], noises: tuple[Array, Array], pairing: Pairing
) -> tuple[Array, ...]:
    """Both risks and the six terms, of which the student's risk is the sum."""
    taught, teacher_risk = _teach(xp, world, pair[0], noises[0])
    terms = decompose(world, *pair, noises, pairing, xp)
    student = pair[1]
    level = weighted_sum(student.missed_squares, world.multiplicities, xp) + noises[1]
    singular = taught.singular | pairing.of_student((student.gap == 0) & (level != 0))
    total = sum(terms[1:], start=terms[0])
    return teacher_risk, *(xp.where(singular, np.inf, value) for value in (total, *terms))


def _averaged(
    xp: Any,
    world: World,
    pair: tuple[Trainer, Trainer],
    noises: tuple[Array, Array],
    n_teachers: Array,
    n_students: Array,
) -> tuple[Array, ...]:
    taught, _ = _teach(xp, world, pair[0], noises[0])
    mean = State(taught.state.mean_error, taught.state.variance / n_teachers[..., None])
    trained = train(world, pair[1], mean, noises[1], xp)
    common = pair[1].learned ** 2 * mean.variance  # of students with the same labels and nothing else in common
    variance = common + (trained.state.variance - common) / n_students[..., None]
    student = State(trained.state.mean_error, variance)
    return (
        _unless_singular(xp, excess_risk(world, mean, xp), taught),
        _unless_singular(xp, excess_risk(world, student, xp), taught, trained),
    )


def _mixed(
    xp: Any,
    world: World,
    pair: tuple[Trainer, Trainer],
    noises: tuple[Array, Array],
    fraction: Array,
    true_noise: Array,
) -> tuple[Array, ...]:
    taught, teacher_risk = _teach(xp, world, pair[0], noises[0])
    trained = mix(world, pair[1], taught.state, fraction, (noises[1], true_noise + world.null_power), xp)
    untaught = taught._replace(singular=taught.singular & (fraction > 0))
    return teacher_risk, _unless_singular(xp, excess_risk(world, trained.state, xp), untaught, trained)


def _unless_singular(xp: Any, risk: Array, *trainings: Trained) -> Array:
    """Return the risk, or inf where any training before it had an infinite one."""
    singular = trainings[0].singular
    for training in trainings[1:]:
        singular = singular | training.singular
    return xp.where(singular, np.inf, risk)


def check_coupling(coupling: str, teacher: Stage, student: Stage) -> None:
    """Raise where two stages cannot share what the coupling says."""
    require(coupling in COUPLINGS, "coupling", f"one of {COUPLINGS}", coupling)
    if coupling == "independent":
        return
    own = [stage.capacity is not None or stage.eigenvalues is not None for stage in (teacher, student)]
    require(not any(own), "coupling", "'independent' where a stage has a kernel of its own", coupling)
    if coupling == "features":
        _require_same(teacher.n_features, student.n_features, "n_features")
        return
    _require_same(teacher.n_samples, student.n_samples, "n_samples")
    for name, stage in (("teacher", teacher), ("student", student)):
        if not is_traced(stage.n_features):
            infinite = bool(np.isinf(stage.n_features).all())
            require(infinite, f"{name}.n_features", "inf for coupling='inputs'", stage.n_features)


def _require_same(teacher: Any, student: Any, name: str) -> None:
    if is_traced(teacher, student):
        return
    try:
        same = bool(np.all(np.asarray(teacher) == np.asarray(student)))
    except ValueError:
        same = False
    if not same:
        raise ArgumentError(f"student.{name} must be that of the teacher, {teacher}, for this coupling; got {student}")

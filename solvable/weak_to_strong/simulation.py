"""Monte Carlo of teachers, students and chains, with exact population risks."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from solvable.errors import ArgumentError, require
from solvable.estimate import Estimate, Moments
from solvable.observables import Observables, Record
from solvable.precision import Array, is_traced
from solvable.random_features.problem import Problem
from solvable.random_features.simulation import require_whole
from solvable.replicates import Draw, Sampling, run
from solvable.training import Stage
from solvable.weak_to_strong.chains import CHAIN
from solvable.weak_to_strong.generations import Shape, trained_functions
from solvable.weak_to_strong.stages import Numbers, controls, numbered, read
from solvable.weak_to_strong.theory import OBSERVABLES, check_coupling
from solvable.weak_to_strong.worlds import own_eigenvalues

SAMPLERS = ("auto", "direct")
_EIGH_ABOVE = 1e-8  # ridges larger than this times n trace leave the Gram matrix well conditioned


def draw(
    key: Array,
    problem: Problem,
    *,
    teacher: Stage,
    student: Stage,
    coupling: str = "independent",
    sampler: str = "auto",
) -> dict[str, Array]:
    """Train one teacher and one student on its labels, once; jittable and vmappable for fixed sizes.

    Args:
        key: JAX random key.
        problem: finitely many modes.
        teacher: with integer sizes (n_features may be inf); numbers or tracers elsewhere.
        student: the same.
        coupling: as in `predict`.
        sampler: "auto" draws the cheapest statistics of the same law, "direct" the inputs themselves.

    Returns:
        `teacher_excess_risk` and `student_excess_risk` of this draw, exact for the trained models; scalars.

    Example:
        >>> import jax
        >>> from solvable import weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.5, noise_variance=0.1, n_modes=60)
        >>> stages = dict(teacher=w2s.Stage(20, 15, ridge=0.1), student=w2s.Stage(30, 25, ridge=0.1))
        >>> sorted(w2s.draw(jax.random.key(0), problem, **stages))
        ['student_excess_risk', 'teacher_excess_risk']
    """
    stages = {"teacher": teacher, "student": student}
    numbers = read(problem, stages)
    shapes = tuple(Shape(int(own.n_samples), _width(own.n_features), "svd") for own in numbers)
    ridges = [own.penalty * (own.n_samples if own.per_sample else 1.0) for own in numbers]
    dtype = jnp.result_type(float)
    scales = [jnp.asarray(np.sqrt(own_eigenvalues(problem, stage)), dtype) for stage in stages.values()]
    risks = _generations(
        key, target=jnp.sqrt(jnp.asarray(problem.modes.explicit().target_power, dtype)), scales=scales,
        ridges=jnp.stack([jnp.asarray(ridge, dtype) for ridge in ridges]),
        noises=jnp.stack([jnp.asarray(own.noise, dtype) for own in numbers]),
        shapes=shapes, coupling=coupling, direct=sampler == "direct",
    )  # fmt: skip
    return dict(zip(OBSERVABLES.base, risks, strict=True))


def simulate(
    problem: Problem,
    *,
    teacher: Stage | None = None,
    student: Stage | None = None,
    coupling: str = "independent",
    stages: Sequence[Stage] | None = None,
    sampler: str = "auto",
    seed: int,
    **sampling: Any,
) -> Estimate:
    """Train teachers and students, and measure their exact population risks; theory is `predict`, or `chain`.

    Args:
        problem: finitely many modes.
        teacher: with integer sizes (n_features may be inf).
        student: the same.
        coupling: as in `predict`.
        stages: instead of teacher and student, the stages of a `chain`.
        sampler: "auto" draws the cheapest statistics of the same law, "direct" the inputs themselves.
        seed: integer >= 0.
        **sampling: `replicates`, or `relative_error` with `max_replicates` and `watch`; `max_bytes`, `dtype`, `device`,
            as in `solvable.replicates.Sampling`.

    Returns:
        An `Estimate` of the observables of `predict`, where the `risk_ratio` is the ratio of means, with the error of
        paired replicates; or of `chain`, with one more axis for the generations.

    Raises:
        ArgumentError: outside these domains.
        InfiniteWorldError: on infinitely many modes.
        MemoryLimitError: if one replicate needs more than `max_bytes`.

    Example:
        >>> from solvable import compare, weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.5, noise_variance=0.1, n_modes=200)
        >>> stages = dict(teacher=w2s.Stage(60, 50, ridge=0.5), student=w2s.Stage(80, 100, ridge=2.0))
        >>> measured = w2s.simulate(problem, **stages, seed=0, replicates=256)
        >>> compare(w2s.predict(problem, **stages), measured, rtol=0.05, detectable=0.3).verdict
        'agree'
    """
    plan = Sampling(seed, **sampling)
    require(sampler in SAMPLERS, "sampler", f"one of {SAMPLERS}", sampler)
    if stages is None:
        if teacher is None or student is None:
            raise ArgumentError(f"give teacher and student, or stages; got teacher={teacher!r}, student={student!r}")
        check_coupling(coupling, teacher, student)
        pair = {"teacher": teacher, "student": student}
        return sample(_draw_pair, problem, pair, OBSERVABLES, plan, coupling=coupling, direct=sampler == "direct")
    alone = teacher is None and student is None and coupling == "independent"
    require(alone and len(stages) > 0, "stages", "at least one, without teacher, student or coupling", len(stages))
    direct = sampler == "direct"
    return sample(_draw_chain, problem, numbered(stages), CHAIN, plan, coupling=coupling, direct=direct)


def sample(
    draw: Draw,
    problem: Problem,
    stages: Mapping[str, Stage],
    declared: Observables,
    plan: Sampling,
    extras: Mapping[str, Any] | None = None,
    **static: Any,
) -> Estimate:
    """Run each distinct set of sizes and ridges once, and put the results in the broadcast shape.

    Args:
        draw: one replicate, whose observables have an axis for the one cell.
        problem: the world.
        stages: by name.
        declared: the observables.
        plan: how to sample.
        extras: further controls, which `draw` gets as the operand `extras`, in their order.
        static: hashable arguments of `draw`, or functions of the extras' values that give them.
    """
    others = dict(extras or {})
    traced = [name for name, value in {**stages, **others}.items() if is_traced(value)]
    require(not traced, ", ".join(traced), "concrete in a simulator (trace `draw` instead)", "a tracer")
    numbers = read(problem, stages, others)
    world = _Sampled(problem, stages, numbers, plan)
    lanes = whole_lanes(stages, numbers, others, infinite_width=True)
    moments = over_cells(lanes, lambda cell: world.run(draw, declared, cell, static).moments)
    return Estimate(moments, declared, {}, Record({**controls(stages, numbers), **others}))


def whole_lanes(
    stages: Mapping[str, Stage],
    numbers: Sequence[Numbers],
    others: Mapping[str, Any] | None = None,
    *,
    infinite_width: bool,
) -> list[Array]:
    """Broadcast the numbers of all stages and the other controls, four lanes a stage; sizes must be integers."""
    values = [v for own in numbers for v in own[:4]] + list((others or {}).values())
    lanes = list(np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in values)))
    for name, n, p in zip(stages, lanes[::4], lanes[1::4], strict=False):
        require_whole(f"{name}.n_samples", n, infinite=False)
        require_whole(f"{name}.n_features", p, infinite=infinite_width)
    return lanes


def over_cells(lanes: Sequence[Array], one_cell: Callable[[tuple[float, ...]], Moments]) -> Moments:
    """Run each distinct cell once, and put the results in the lanes' shape."""
    cells = list(zip(*(lane.ravel().tolist() for lane in lanes), strict=True))
    distinct = list(dict.fromkeys(cells))
    order = np.array([distinct.index(cell) for cell in cells])
    return Moments.gather([one_cell(cell) for cell in distinct], order, lanes[0].shape)


class _Sampled:
    """A finite world and the kernels of the stages in it, ready to run cells."""

    def __init__(self, problem: Problem, stages: Mapping[str, Stage], numbers: list[Numbers], plan: Sampling) -> None:
        self.explicit = problem.modes.explicit()
        self.scales = [np.sqrt(own_eigenvalues(problem, stage)) for stage in stages.values()]
        self.numbers, self.plan = numbers, plan

    def run(self, draw: Draw, declared: Observables, cell: tuple[float, ...], static: Mapping[str, Any]) -> Estimate:
        """Run one cell: the lanes of each stage in turn, then the extras."""
        own = [cell[4 * place : 4 * place + 4] for place in range(len(self.numbers))]
        extras = cell[4 * len(own) :]
        ridges = [r * (n if s.per_sample else 1.0) for s, (n, _, r, _) in zip(self.numbers, own, strict=True)]
        shapes = tuple(
            Shape(int(n), p, _choose(ridge, n * float(scale @ scale), self.plan))
            for (n, p, _, _), ridge, scale in zip(own, ridges, self.scales, strict=True)
        )
        operands = {
            "target": np.sqrt(self.explicit.target_power), "scales": self.scales, "ridges": np.array(ridges),
            "noises": np.array([noise for *_, noise in own]),
        }  # fmt: skip
        return run(
            draw,
            operands | ({"extras": np.array(extras)} if extras else {}),
            {"shapes": shapes, **{k: v(own, extras) if callable(v) else v for k, v in static.items()}},
            self.plan,
            declared=declared,
            constants={},
            bytes_per_replicate=_bytes(shapes, self.explicit.n_modes, self.plan),
        )


def _draw_pair(key: Array, **arguments: Any) -> dict[str, Array]:
    """Return the risks with an axis for the one cell, as they are gathered."""
    return {name: risk[None] for name, risk in zip(OBSERVABLES.base, _generations(key, **arguments), strict=True)}


def _draw_chain(key: Array, **arguments: Any) -> dict[str, Array]:
    return {"excess_risk": jnp.stack(_generations(key, **arguments))[None]}


def _generations(key: Array, *, target: Array, **arguments: Any) -> list[Array]:
    """Return the excess risk of each generation."""
    return [jnp.sum((function - target) ** 2) for function in trained_functions(key, target, **arguments)]


def _choose(ridge: float, trace: float, plan: Sampling) -> str:
    return "eigh" if np.dtype(plan.dtype) == np.float64 and ridge >= _EIGH_ABOVE * trace else "svd"


def _width(n_features: Any) -> float:
    return math.inf if np.isinf(n_features) else int(n_features)


def _bytes(shapes: Sequence[Shape], n_modes: float, plan: Sampling) -> float:
    """Estimate the memory of the largest generation."""
    numbers = []
    for n, p, _ in shapes:
        width = min(p, n_modes)
        numbers.append((n + 2 * width) * n_modes + 3 * n * width + 3 * min(n, width) ** 2)
    return float(max(numbers) * np.dtype(plan.dtype).itemsize)

"""Monte Carlo of chains of trained models, with exact population risks.

A generation with fewer features than modes needs its inputs only through a p x p Wishart matrix: given F, with
Phi = F Sigma^(1/2)/sqrt(p), Phi Phi^T = L L^T and w = L^-1 Phi theta, its design is R L^T and its labels are R w plus
noise of variance tau^2 + |theta|^2 - |w|^2, where R holds n x p normal numbers, or for n > p the triangle of Bartlett's
decomposition. That is exact in law (derived here); `sampler="direct"` draws the n x modes inputs instead.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from solvable.errors import ArgumentError, require
from solvable.estimate import Estimate, Moments
from solvable.observables import Observables
from solvable.precision import Array, is_traced
from solvable.random_features.path import factor_eigh, factor_svd, shrinkage
from solvable.random_features.problem import Problem
from solvable.random_features.simulation import require_whole
from solvable.replicates import Sampling, run
from solvable.training import Stage
from solvable.weak_to_strong.chains import CHAIN
from solvable.weak_to_strong.stages import controls, numbered, read
from solvable.weak_to_strong.theory import OBSERVABLES, check_coupling
from solvable.weak_to_strong.worlds import own_eigenvalues

SAMPLERS = ("auto", "direct")
_EIGH_ABOVE = 1e-8  # ridges larger than this times n trace leave the Gram matrix well conditioned
_SUMMED_BELOW = 2**20  # normal numbers that are summed to chi-squares


class Shape(NamedTuple):
    """What decides the compiled shape of one generation.

    Attributes:
        n_samples: integer >= 1.
        n_features: integer >= 1, or inf.
        factorisation: "svd" or "eigh".
    """

    n_samples: int
    n_features: float
    factorisation: str


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
        return _sample(problem, {"teacher": teacher, "student": student}, OBSERVABLES, coupling, sampler, plan)
    alone = teacher is None and student is None and coupling == "independent"
    require(alone and len(stages) > 0, "stages", "at least one, without teacher, student or coupling", len(stages))
    return _sample(problem, numbered(stages), CHAIN, coupling, sampler, plan)


def _sample(
    problem: Problem, stages: Mapping[str, Stage], declared: Observables, coupling: str, sampler: str, plan: Sampling
) -> Estimate:
    """Run each distinct set of sizes and ridges once, and put the results in the broadcast shape."""
    traced = [name for name, stage in stages.items() if is_traced(stage)]
    require(not traced, ", ".join(traced), "concrete in a simulator (trace `draw` instead)", "a tracer")
    numbers = read(problem, stages)
    explicit = problem.modes.explicit()
    scales = [np.sqrt(own_eigenvalues(problem, stage)) for stage in stages.values()]
    lanes = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for own in numbers for v in own[:4]))
    for name, n, p in zip(stages, lanes[::4], lanes[1::4], strict=True):
        require_whole(f"{name}.n_samples", n, infinite=False)
        require_whole(f"{name}.n_features", p, infinite=True)
    operands = {"target": np.sqrt(explicit.target_power), "scales": scales}
    traces = [float(np.sum(scale**2)) for scale in scales]

    def one_cell(values: tuple[float, ...]) -> Estimate:
        sizes = list(zip(values[::4], values[1::4], strict=True))
        ridges = [
            v * (n if own.per_sample else 1.0) for own, v, (n, _) in zip(numbers, values[2::4], sizes, strict=True)
        ]
        shapes = tuple(
            Shape(int(n), p, _choose(ridge, n * trace, plan))
            for (n, p), ridge, trace in zip(sizes, ridges, traces, strict=True)
        )
        return run(
            _draw_chain if declared is CHAIN else _draw_pair,
            {**operands, "ridges": np.array(ridges), "noises": np.array(values[3::4])},
            {"shapes": shapes, "coupling": coupling, "direct": sampler == "direct"},
            plan,
            declared=declared,
            constants={},
            bytes_per_replicate=_bytes(shapes, explicit.n_modes, plan),
        )

    cells = list(zip(*(lane.ravel().tolist() for lane in lanes), strict=True))
    distinct = list(dict.fromkeys(cells))
    parts = [one_cell(values).moments for values in distinct]
    moments = Moments.gather(parts, np.array([distinct.index(values) for values in cells]), lanes[0].shape)
    return Estimate(moments, declared, {}, controls(stages, numbers))


def _draw_pair(key: Array, **arguments: Any) -> dict[str, Array]:
    """Return the risks with an axis for the one cell, as they are gathered."""
    return {name: risk[None] for name, risk in zip(OBSERVABLES.base, _generations(key, **arguments), strict=True)}


def _draw_chain(key: Array, **arguments: Any) -> dict[str, Array]:
    return {"excess_risk": jnp.stack(_generations(key, **arguments))[None]}


def _generations(key: Array, *, target: Array, **arguments: Any) -> list[Array]:
    """Return the excess risk of each generation."""
    return [jnp.sum((function - target) ** 2) for function in trained_functions(key, target, **arguments)]


def trained_functions(
    key: Array,
    target: Array,
    *,
    scales: Sequence[Array],
    ridges: Array,
    noises: Array,
    shapes: tuple[Shape, ...],
    coupling: str,
    direct: bool,
) -> list[Array]:
    """Train one generation on the labels of the one before; return every function's coefficients, shape (modes,)."""
    function, functions = target, []
    keys = jax.random.split(key, (len(shapes), 2))
    shared = _features(keys[0, 0], shapes[0].n_features, scales[0]) if coupling == "features" else None
    for place, (shape, scale) in enumerate(zip(shapes, scales, strict=True)):
        features = _features(keys[place, 0], shape.n_features, scale) if shared is None else shared
        ridge, noise = ridges[place], noises[place]
        narrow = features is not None and shape.n_features < target.size
        if coupling == "inputs":
            return _refit(keys[0, 1], target, scale, ridges, noises, shape)
        if narrow and not direct:
            design, labels = _whitened(keys[place, 1], features, function, noise, shape.n_samples)
        else:
            design, labels = _direct(keys[place, 1], features, scale, function, noise, shape.n_samples)
        weights = fit(design, labels, ridge, shape.factorisation)
        function = scale * weights if features is None else features.T @ weights
        functions.append(function)
    return functions


def fit(design: Array, labels: Array, ridge: Array, factorisation: str) -> Array:
    """Return the weights of ridge regression, of least norm at ridge 0; shape (p,) or (p, outputs) as the labels."""
    factor = factor_svd if factorisation == "svd" else factor_eigh
    factors = factor(design, labels.reshape(len(labels), -1))
    inverse, _ = shrinkage(factors.s, ridge[None])
    return (factors.vt.T @ (inverse[0][:, None] * factors.scores)).reshape(design.shape[1], *labels.shape[1:])


def _features(key: Array, n_features: float, scale: Array) -> Array | None:
    """Draw scaled features Phi, shape (p, modes); infinitely many need no drawing."""
    if math.isinf(n_features):
        return None
    normal = jax.random.normal(key, (int(n_features), scale.size), scale.dtype)
    return normal * scale[None, :] / math.sqrt(n_features)


def _direct(
    key: Array, features: Array | None, scale: Array, function: Array, noise: Array, n: int
) -> tuple[Array, Array]:
    input_key, noise_key = jax.random.split(key)
    inputs = jax.random.normal(input_key, (n, scale.size), scale.dtype)
    design = inputs * scale[None, :] if features is None else inputs @ features.T
    return design, inputs @ function + jnp.sqrt(noise) * jax.random.normal(noise_key, (n,), scale.dtype)


def _whitened(key: Array, features: Array, function: Array, noise: Array, n: int) -> tuple[Array, Array]:
    """Draw a design and labels with the same law of all that ridge regression sees of them."""
    p = len(features)
    input_key, noise_key, scale_key = jax.random.split(key, 3)
    root = jnp.linalg.cholesky(features @ features.T)
    visible = jax.scipy.linalg.solve_triangular(root, features @ function, lower=True)
    hidden = jnp.maximum(jnp.sum(function**2) - jnp.sum(visible**2), 0.0)
    rows = min(n, p)
    inputs = jax.random.normal(input_key, (rows, p), features.dtype)
    if n > p:
        inputs = jnp.triu(inputs, 1) + jnp.diag(jnp.sqrt(_chi_squares(scale_key, n, p, features.dtype)))
    spread = jnp.sqrt(hidden + noise) * jax.random.normal(noise_key, (rows,), features.dtype)
    return inputs @ root.T, inputs @ visible + spread


def _chi_squares(key: Array, n: int, p: int, dtype: Any) -> Array:
    """Draw chi-square numbers of n, n - 1, ..., n - p + 1 degrees of freedom."""
    freedom = n - jnp.arange(p)
    if n * p > _SUMMED_BELOW:
        return jax.random.chisquare(key, freedom.astype(dtype))
    squares = jax.random.normal(key, (p, n), dtype) ** 2  # a gamma sampler takes seconds to compile
    return jnp.sum(jnp.where(jnp.arange(n)[None, :] < freedom[:, None], squares, 0.0), axis=1)


def _refit(key: Array, target: Array, scale: Array, ridges: Array, noises: Array, shape: Shape) -> list[Array]:
    """Train the student on the teacher's predictions at the teacher's own inputs, with the kernel itself."""
    input_key, *noise_keys = jax.random.split(key, 3)
    inputs = jax.random.normal(input_key, (shape.n_samples, scale.size), scale.dtype)
    labels, functions = inputs @ target, []
    for place, noise_key in enumerate(noise_keys):
        labels = labels + jnp.sqrt(noises[place]) * jax.random.normal(noise_key, labels.shape, labels.dtype)
        functions.append(scale * fit(inputs * scale[None, :], labels, ridges[place], shape.factorisation))
        labels = inputs @ functions[-1]
    return functions


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

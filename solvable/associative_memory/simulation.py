"""The memory itself: a full matrix trained in randomly rotated coordinates, with exact losses."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from solvable.associative_memory.algorithms import (
    KINDS,
    check_steps,
    in_task_basis,
    mixes_entries,
    read,
    warn_if_unstable,
    with_numbers,
)
from solvable.associative_memory.embeddings import EMBEDDINGS, embedded
from solvable.associative_memory.optimizers import direction, full_geometry, kept_share, memory_of
from solvable.associative_memory.polar import METHODS, polar_factor
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import divergence, doubt
from solvable.associative_memory.theory import OBSERVABLES, recorded_controls
from solvable.errors import ArgumentError, require
from solvable.estimate import Estimate, Moments
from solvable.observables import Record
from solvable.precision import Array, is_traced
from solvable.replicates import Sampling, require_integer, run
from solvable.training import Schedule

_POLAR = METHODS[:2]  # exact ones


class _World(NamedTuple):
    """What one run needs of the problem.

    Attributes:
        frequencies: of each item, shape (K,).
        label_noise: a scalar.
        questions: embeddings of questions, shape (d, K).
        answers: embeddings of answers, shape (d, K).
    """

    frequencies: Array
    label_noise: Array
    questions: Array
    answers: Array


def draw(
    key: Array,
    problem: Problem,
    algorithm: Any,
    *,
    steps: Any,
    dimension: int | None = None,
    embeddings: str = "orthonormal",
    batch_size: int | None = None,
    polar_method: str = "svd",
) -> dict[str, Array]:
    """Draw embeddings, train one matrix from W = 0, and return its base observables, exactly.

    Pure and jittable; runs in the caller's default precision. Not differentiable in reverse mode: the number of steps
    between records is a traced bound, so that one compilation serves all.

    Args:
        key: JAX random key.
        problem: frequencies and label noise.
        algorithm: as in `simulate`, with scalar numbers.
        steps: as in `simulate`; may be traced.
        dimension: as in `simulate` (static).
        embeddings: as in `simulate` (static).
        batch_size: as in `simulate` (static).
        polar_method: as in `simulate` (static).

    Returns:
        `loss` and `excess_risk` of shape (steps,), and `group_loss` of shape (steps, groups), the mean over the items
        of a group.

    Example:
        >>> import jax
        >>> from solvable import associative_memory as am
        >>> problem = am.Problem.power_law(exponent=1.5, n_groups=3, group_size=4)
        >>> am.draw(jax.random.key(0), problem, am.Muon(0.5), steps=[0, 10])["group_loss"].shape
        (2, 3)
    """
    embedding_key, batch_key = jax.random.split(key)
    dtype = jnp.result_type(float)
    items, width = problem.n_items, problem.n_items if dimension is None else dimension
    if in_task_basis(algorithm):
        questions = answers = jnp.eye(items, dtype=dtype)
    else:
        shape = width, _inner_width(problem, algorithm, width, embeddings), items
        questions, answers = (embedded(k, embeddings, *shape, dtype) for k in jax.random.split(embedding_key))
    frequencies = jnp.repeat(jnp.asarray(problem.frequencies, dtype), problem.group_size)
    world = _World(frequencies, jnp.asarray(problem.label_noise, dtype), questions, answers)
    start, update = _trainer(algorithm, questions.shape[0], polar_method, dtype)
    gradient = partial(_gradient, world, batch_key, batch_size)

    def step(number: Array, state: tuple[Array, Any]) -> tuple[Array, Any]:
        matrix, memory = state
        moved: tuple[Array, Any] = update(matrix, memory, gradient(matrix, number), number)
        return moved

    def interval(state: tuple[tuple[Array, Any], Array], stop: Array) -> tuple[Any, dict[str, Array]]:
        trained, begun = state
        trained = jax.lax.fori_loop(begun, stop, step, trained)
        return (trained, stop), _losses(world, trained[0], problem.n_groups)

    recorded = jnp.asarray(steps).astype(jnp.int32)
    _, values = jax.lax.scan(interval, (start, jnp.zeros((), jnp.int32)), recorded)
    return values


def simulate(
    problem: Problem,
    algorithm: Any,
    *,
    steps: Any,
    dimension: int | None = None,
    embeddings: str = "orthonormal",
    batch_size: int | None = None,
    polar_method: str = "svd",
    seed: int,
    **sampling: Any,
) -> Estimate:
    """Train the full matrix in randomly rotated coordinates, and measure its exact population losses.

    Gradients are those of the population loss, unless there are batches. With orthonormal embeddings and no batches
    all replicates are equal but for rounding, except in a random basis for methods that act on entries; one is then
    run by default, and its standard errors are 0.

    Args:
        problem: frequencies and label noise, concrete.
        algorithm: one of the dataclasses of `predict`, whose numbers broadcast; or any `optax.GradientTransformation`,
            which gets the d x d matrix as its parameters.
        steps: numbers of steps after which losses are recorded; integers >= 0, increasing, one-dimensional.
        dimension: d, an integer >= K for orthonormal embeddings, >= 1 for Gaussian ones; None for K. Methods in the
            task basis have no embeddings.
        embeddings: "orthonormal", two independent uniformly random frames, or "gaussian", independent entries of
            variance 1/d.
        batch_size: questions per step, drawn by frequency with their noisy labels; None for the loss's own gradient.
        polar_method: how `Muon(polar="exact")` is computed: "svd", or "matmul" for accelerators.
        seed: integer >= 0; replicate i depends on (seed, i) alone.
        **sampling: `replicates` or `relative_error` (with `max_replicates`, `watch`), `max_bytes`, `dtype`, `device`,
            as in `solvable.replicates.Sampling`. float32 agrees with theory to about 1e-4, also where losses are tiny.

    Returns:
        An `Estimate` of `loss`, `excess_risk` and `group_loss`, of the shapes of `predict`.

    Raises:
        ArgumentError: for arguments outside their domain.
        MemoryLimitError: if one replicate needs more than `max_bytes`.

    Warns:
        StabilityWarning: for gradient descent above `max_learning_rate`.

    Example:
        >>> from solvable import associative_memory as am, compare
        >>> problem = am.Problem.power_law(exponent=1.5, n_groups=4, group_size=4, label_noise=0.1)
        >>> run = dict(steps=[0, 5, 20])
        >>> compare(am.predict(problem, am.Muon(0.3), **run), am.simulate(problem, am.Muon(0.3), **run, seed=0)).verdict
        'agree'
    """
    recorded = check_steps(steps)
    _check(problem, dimension, embeddings, batch_size, polar_method)
    own = isinstance(algorithm, KINDS)
    if not own:
        _require_transformation(algorithm)
    random = embeddings == "gaussian" or batch_size is not None or mixes_entries(algorithm)
    if not (random or "replicates" in sampling or "relative_error" in sampling):
        sampling = {"replicates": 1, **sampling}
    plan = Sampling(seed, **sampling)
    static = {
        "dimension": dimension, "embeddings": embeddings, "batch_size": batch_size, "polar_method": polar_method,
    }  # fmt: skip
    width = problem.n_items if dimension is None else dimension
    inner = max(_inner_width(problem, algorithm, width, embeddings), problem.n_items)
    entries = 12.0 * inner**2 + 4.0 * width * problem.n_items

    def one(operands: dict[str, Any], **static: Any) -> Moments:
        return run(
            _drawn,
            {"problem": problem, "steps": recorded, **operands},
            static,
            plan,
            declared=OBSERVABLES,
            constants={},
            bytes_per_replicate=entries * np.dtype(plan.dtype).itemsize,
            deterministic=not random,
        ).moments

    if not own:
        moments = one({}, transformation=algorithm, **static)
        return Estimate(moments, OBSERVABLES, {}, Record({"steps": recorded}))
    algorithm, numbers, schedule = read(algorithm, int(recorded[-1]))
    require(
        not is_traced(problem, numbers, schedule), "algorithm", "concrete in a simulator (trace `draw`)", "a tracer"
    )
    products = polar_method == "matmul" and np.any(numbers.get("regularization", 0.0))
    require(not products, "polar_method", "'svd' with a regularization", polar_method)
    warn_if_unstable(problem, algorithm)
    rates = {} if schedule is None else {"learning_rate": Schedule(schedule)}
    moments = _over_cells(
        numbers, lambda cell: one({"algorithm": with_numbers(algorithm, {**cell, **rates})}, **static)
    )
    controls = recorded_controls(numbers, recorded, moments.count.ndim)
    return Estimate(moments, OBSERVABLES, {}, controls)


def _drawn(key: Array, *, problem: Problem, steps: Array, **arguments: Any) -> dict[str, Array]:
    algorithm = arguments.pop("algorithm", None) or arguments.pop("transformation")
    return draw(key, problem, algorithm, steps=steps, **arguments)


def _over_cells(numbers: dict[str, Array], one_cell: Callable[[dict[str, Array]], Moments]) -> Moments:
    """Run one cell per combination of numbers."""
    arrays = np.broadcast_arrays(*numbers.values()) if numbers else [np.zeros(())]
    shape = arrays[0].shape
    parts = []
    for values in zip(*(array.ravel() for array in arrays), strict=True):
        part = one_cell({name: np.asarray(v) for name, v in zip(numbers, values, strict=False)})
        parts.append(_with_axis(part))
    return Moments.gather(parts, np.arange(len(parts)), shape)


def _with_axis(moments: Moments) -> Moments:
    return Moments(
        moments.count[None], moments.failed[None], moments.deterministic[None],
        {name: value[None] for name, value in moments.mean.items()},
        {pair: value[None] for pair, value in moments.scatter.items()},
    )  # fmt: skip


def _trainer(algorithm: Any, width: int, polar_method: str, dtype: Any) -> tuple[tuple[Array, Any], Callable[..., Any]]:
    """Return the first state, and (matrix, memory, minus gradient, number from 0) -> the next one."""
    matrix = jnp.zeros((width, width), dtype)
    if not isinstance(algorithm, KINDS):
        import optax

        def transform(matrix: Array, memory: Any, gradient: Array, _: Array) -> tuple[Array, Any]:
            with jax.numpy_dtype_promotion("standard"):  # optax relies on it, also where its caller forbids it
                updates, memory = algorithm.update(-gradient, memory, matrix)
            return optax.apply_updates(matrix, updates), memory

        return (matrix, algorithm.init(matrix)), transform

    geometry = full_geometry(partial(_polar, polar_method))
    rates = algorithm.learning_rate

    def advance(matrix: Array, memory: Any, gradient: Array, number: Array) -> tuple[Array, Any]:
        rate = rates.values[number] if isinstance(rates, Schedule) else rates
        memory, step = direction(algorithm, geometry, memory, (gradient,), (number + 1).astype(dtype))
        return kept_share(algorithm, rate) * matrix + rate * step[0], memory

    return (matrix, memory_of(algorithm, (matrix,))), advance


def _polar(method: str, matrix: Array, regularization: Array) -> Array:
    return polar_factor(matrix, method, regularization=regularization)


def _gradient(world: _World, batch_key: Array, batch_size: int | None, matrix: Array, number: Array) -> Array:
    """Return minus the gradient in the matrix; residuals of right answers are formed from those of wrong ones."""
    scores = world.answers.T @ matrix @ world.questions
    items = scores.shape[0]
    answered = jax.nn.softmax(scores, axis=0)
    if batch_size is None:
        lack = (world.label_noise / items - answered) * world.frequencies[None, :]
    else:
        counts = _labels(jax.random.fold_in(batch_key, number), world, batch_size)
        lack = (counts - counts.sum(axis=0, keepdims=True) * answered) / batch_size
    wrong = jnp.where(jnp.eye(items, dtype=bool), 0.0, lack)
    residuals = wrong - jnp.diag(wrong.sum(axis=0))
    return world.answers @ residuals @ world.questions.T


def _labels(key: Array, world: _World, batch_size: int) -> Array:
    """Count how often each answer (rows) was given to each question (columns) of a batch."""
    items, dtype = world.frequencies.size, world.frequencies.dtype
    question_key, noise_key, label_key = jax.random.split(key, 3)
    uniform = jax.random.uniform(question_key, (batch_size,), dtype)
    heaped = jnp.cumsum(world.frequencies)
    questions = jnp.clip(jnp.searchsorted(heaped, uniform * heaped[-1]), 0, items - 1)
    noisy = jax.random.uniform(noise_key, (batch_size,), dtype) < world.label_noise
    labels = jnp.where(noisy, jax.random.randint(label_key, (batch_size,), 0, items, questions.dtype), questions)
    return jnp.zeros((items, items), dtype).at[labels, questions].add(1.0)


def _losses(world: _World, matrix: Array, n_groups: int) -> dict[str, Array]:
    """Return losses with all digits however small, from scores relative to the right answer's."""
    scores = world.answers.T @ matrix @ world.questions
    items, noise = scores.shape[0], world.label_noise
    right = jnp.diagonal(scores)
    behind = scores - right[None, :]
    same = jnp.eye(items, dtype=bool)
    doubts = _log1p_sum(jnp.where(same, -jnp.inf, behind))
    losses = doubts - noise * behind.mean(axis=0)
    noisy = jnp.where(noise > 0, noise, 1.0)
    wrong = jnp.where(same, 0.0, divergence(noisy / items, behind - doubts[None, :] - jnp.log(noisy / items)))
    sure = 1 - doubt(items, noise)
    excess = jnp.where(noise > 0, divergence(sure, -doubts - jnp.log(sure)) + wrong.sum(axis=0), doubts)
    groups = losses.reshape(n_groups, -1).mean(axis=1)
    return {"loss": losses @ world.frequencies, "excess_risk": excess @ world.frequencies, "group_loss": groups}


def _log1p_sum(behind: Array) -> Array:
    """Return log(1 + sum of e^behind) over rows, also where some e^behind overflow."""
    top = jnp.maximum(behind.max(axis=0), 0.0)
    rest = jnp.exp(behind - top[None, :]).sum(axis=0)
    return jnp.where(top > 0, top + jnp.log(jnp.exp(-top) + rest), jnp.log1p(rest))


def _inner_width(problem: Problem, algorithm: Any, width: int, embeddings: str) -> int:
    """Return the width of the matrix that is trained: methods that no rotation changes stay in the items' span."""
    return width if embeddings == "orthonormal" or mixes_entries(algorithm) else min(width, problem.n_items)


def _require_transformation(algorithm: Any) -> None:
    good = callable(getattr(algorithm, "init", None)) and callable(getattr(algorithm, "update", None))
    names = [kind.__name__ for kind in KINDS]
    require(good, "algorithm", f"one of {names} or an optax.GradientTransformation", type(algorithm).__name__)


def _check(problem: Problem, dimension: Any, embeddings: str, batch_size: Any, polar_method: str) -> None:
    require(embeddings in EMBEDDINGS, "embeddings", f"one of {EMBEDDINGS}", embeddings)
    require(polar_method in _POLAR, "polar_method", f"one of {_POLAR}", polar_method)
    if dimension is not None:
        require_integer("dimension", dimension, 1)
        if embeddings == "orthonormal" and dimension < problem.n_items:
            raise ArgumentError(
                f"dimension must be at least the number of items, {problem.n_items}, for orthonormal embeddings; "
                f"got {dimension}"
            )
    if batch_size is not None:
        require_integer("batch_size", batch_size, 1)

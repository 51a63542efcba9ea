"""Predictions: the losses of associative memory after given numbers of steps."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from solvable.associative_memory.algorithms import check_steps, is_plain_muon, read, warn_if_unstable, with_numbers
from solvable.associative_memory.gradient_descent import flow, law
from solvable.associative_memory.margins import Decoupled, RandomBasis, TaskBasis
from solvable.associative_memory.minibatch import batch_losses
from solvable.associative_memory.optimizers import Algorithm, direction, kept_share, memory_of
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import excess, loss
from solvable.associative_memory.spectral import Blocks
from solvable.errors import ArgumentError, require
from solvable.observables import Observables, Prediction, Record
from solvable.precision import Array, is_traced, map_lanes, weighted_sum
from solvable.training import GradientDescent, Muon, NormalizedGradientDescent, SignDescent

BASE = ("loss", "excess_risk", "group_loss")
OBSERVABLES = Observables(base=BASE, own_axes={"group_loss": "group"})
METHODS = ("exact", "decoupled", "mean_field", "flow", "law")
_ERRORS = {  # relative error of the approximations, in the docs with the settings they were measured in
    "decoupled": "learning_rate steps/K",
    "mean_field": "1/K",
    "flow": "1/steps",
    "law": "1/tau",
}
_Picture: TypeAlias = TaskBasis | Blocks


def predict(
    problem: Problem, algorithm: Algorithm, *, steps: Any, batch_size: int | None = None, method: str | None = None
) -> Prediction:
    """Predict the losses of a memory that starts at W = 0 and learns by an algorithm.

    Model: arXiv:2602.05725; reductions derived here. Numbers of the algorithm broadcast against each other; a schedule
    of learning rates does not.

    Args:
        problem: frequencies and label noise.
        algorithm: `GradientDescent`, `NormalizedGradientDescent`, `SignDescent`, `Adam` or `Muon`.
        steps: numbers of steps after which losses are recorded; integers >= 0, increasing, one-dimensional.
        batch_size: questions per step, drawn by frequency; None for the loss's own gradient. Only `Muon` without
            momentum on noiseless labels has a theory (an approximation: each item moves by one rate when it is drawn).
        method: None for "exact" where there is an exact theory, else for the approximation there is. One of

            - "exact": the recursion itself. All but `SignDescent` and `Adam` in a random basis, and batches.
            - "decoupled" (`Muon`): each group by itself. Relative error of a group's loss below 2.5 rate steps/K for
              noiseless labels (measured).
            - "mean_field" (`SignDescent` in a random basis): the mean step. Within 3% of the total loss from K = 128
              while it descends (measured); with noisy labels it misses a floor set by the noise of signs.
            - "flow" (`GradientDescent`): continuous time. Relative error in the excess below 1/steps at the rate
              1/(largest frequency of an item) (measured: 9e-3 after 10 steps, 2e-4 after 1000).
            - "law" (`GradientDescent`, `Problem.power_law` with exponent > 1): the power law in time, while the first
              groups are learned and the last are not. `group_loss` and the margin are nan.

    Returns:
        A `Prediction` of `loss`, `excess_risk` (the loss above its floor), both of the broadcast shape + (steps,), and
        `group_loss` with one more axis for groups; in nats. `.diagnostics` holds the `margin` of each group's right
        answer over the mean of the others, and the `loss_floor`. `.declared.validity` is "exact" or "approximation".

    Raises:
        ArgumentError: for arguments outside their domain, and where no theory is known: `Adam` in a random basis,
            batches of noisy labels, of other algorithms or of other methods.

    Warns:
        StabilityWarning: for gradient descent above `max_learning_rate`.

    Under `jax.jit`, `grad` and `vmap` (reverse mode, bounded scan) the exact, decoupled and mean-field methods return
    traced arrays; the others take concrete numbers. The matrix sign has finite derivatives at equal singular values.

    Example:
        >>> from solvable import associative_memory as am
        >>> problem = am.Problem.power_law(exponent=1.5, n_groups=8, group_size=32)
        >>> am.predict(problem, am.GradientDescent(5.0), steps=[10, 1000]).group_loss[:, [0, -1]].round(3)
        array([[4.741, 5.509],
               [0.014, 2.185]])
        >>> am.predict(problem, am.Muon(0.5), steps=[10, 20]).group_loss[:, [0, -1]].round(3)
        array([[0.994, 1.017],
               [0.011, 0.012]])
    """
    recorded = check_steps(steps)
    algorithm, numbers, schedule = read(algorithm, int(recorded[-1]))
    warn_if_unstable(problem, algorithm)
    method = _chosen(algorithm, method, batch_size)
    if method in ("flow", "law") or batch_size is not None:
        values = _in_closed_form(problem, method, recorded, batch_size, numbers, schedule)
    else:
        values = _by_recursion(problem, algorithm, method, recorded, numbers, schedule)
    declared = OBSERVABLES
    if method != "exact":
        sizes = dict.fromkeys(BASE, _ERRORS[method])
        declared = replace(OBSERVABLES, validity="approximation", finite_size=sizes)
    observables = declared.complete({name: values[name] for name in BASE}, {})
    shape = np.shape(values["loss"])
    floor = problem.loss_floor + np.zeros(shape)
    diagnostics = Record({"margin": values["margin"], "loss_floor": floor})
    return Prediction(observables, diagnostics, recorded_controls(numbers, recorded, len(shape)), declared)


def recorded_controls(numbers: Mapping[str, Array], steps: Array, axes: int) -> Record:
    """Return the numbers of an algorithm, with a last axis of length 1 for the steps, and the steps."""
    shaped = {
        name: value.reshape((1,) * (axes - 1 - np.ndim(value)) + np.shape(value) + (1,))
        for name, value in numbers.items()
    }
    return Record({**shaped, "steps": steps})


def _chosen(algorithm: Algorithm, method: str | None, batch_size: int | None) -> str:
    require(method is None or method in METHODS, "method", f"one of {METHODS}", method)
    known = _methods(algorithm, batch_size)
    if not known:
        what = "on batches" if batch_size is not None else "in a random basis"
        raise ArgumentError(f"{type(algorithm).__name__} {what} has no theory: simulate it")
    require(method in (None, *known), "method", f"one of {known} for {type(algorithm).__name__}", method)
    return method or known[0]


def _methods(algorithm: Algorithm, batch_size: int | None) -> tuple[str, ...]:
    """Return the methods that predict an algorithm, the best first."""
    if batch_size is not None:
        return ("decoupled",) if is_plain_muon(algorithm) else ()
    if isinstance(algorithm, GradientDescent):
        return "exact", "flow", "law"
    if isinstance(algorithm, Muon):
        return "exact", "decoupled"
    if isinstance(algorithm, NormalizedGradientDescent) or algorithm.basis == "task":
        return ("exact",)
    return ("mean_field",) if isinstance(algorithm, SignDescent) else ()


def _by_recursion(
    problem: Problem,
    algorithm: Algorithm,
    method: str,
    steps: Array,
    numbers: Mapping[str, Array],
    schedule: Array | None,
) -> dict[str, Array]:
    pictures: dict[str, Callable[[Problem], _Picture]] = {
        "decoupled": Decoupled,
        "mean_field": RandomBasis,
        "exact": Blocks if isinstance(algorithm, Muon) else TaskBasis,
    }
    kernel = partial(_run_aligned, algorithm, tuple(numbers), pictures[method], tuple(steps.tolist()))
    lanes = tuple(numbers.values()) or (np.asarray(math.nan),)  # a schedule may be all there is
    return map_lanes(kernel, lambda _, given: given, (problem, schedule), lanes, reverse_only=True)


def _run_aligned(*arguments: Any) -> dict[str, Array]:
    """Groups are the last axis everywhere, and broadcast from there as in NumPy, also for callers who forbid it."""
    with jax.numpy_rank_promotion("allow"):
        return _run(*arguments)


def _run(
    algorithm: Algorithm,
    names: tuple[str, ...],
    represent: Callable[[Problem], _Picture],
    steps: tuple[int, ...],
    xp: Any,
    given: tuple[Problem, Array | None],
    *lanes: Array,
) -> dict[str, Array]:
    """Run all lanes together, and read the losses at the steps recorded."""
    problem, schedule = given
    picture: Any = represent(problem)
    numbers, shape = dict(zip(names, lanes, strict=False)), np.shape(lanes[0])

    def of_step(number: Any) -> Array:
        return numbers["learning_rate"] if schedule is None else schedule[number - 1]

    running = with_numbers(algorithm, numbers)

    def advance(state: Any, rate: Array, number: Any) -> Any:
        scores, memory = state
        memory, step = direction(running, picture.geometry, memory, picture.gradient(scores), number)
        return picture.moved(scores, step, rate, kept_share(running, rate)), memory

    start = picture.start(shape)
    state = start, memory_of(algorithm, _zeros_like(picture.gradient(start)))
    states = (_recorded if xp is np else _scanned)(advance, state, of_step, steps)
    values = picture.read(states)
    frequencies = problem.group_frequencies
    return {
        "loss": weighted_sum(values["group_loss"], frequencies, xp),
        "excess_risk": weighted_sum(values["group_excess"], frequencies, xp),
        "group_loss": values["group_loss"],
        "margin": values["margin"],
    }


def _recorded(advance: Callable[..., Any], state: Any, of_step: Callable[[Any], Array], steps: tuple[int, ...]) -> Any:
    """Return the scores at the recorded steps, stacked behind the axis of lanes."""
    kept = []
    for number in range(steps[-1] + 1):
        if number:
            state = advance(state, of_step(number), float(number))
        if number in steps:
            kept.append(state[0])
    axis = 1 if np.ndim(jax.tree.leaves(kept[0])[0]) > 1 else 0
    return jax.tree.map(lambda *leaves: np.stack(leaves, axis=axis), *kept)


def _scanned(advance: Callable[..., Any], state: Any, of_step: Callable[[Any], Array], steps: tuple[int, ...]) -> Any:
    """The same under a trace, by a scan that derivatives pass in reverse."""

    def body(state: Any, number: Array) -> tuple[Any, Any]:
        new = advance(state, of_step(number), number.astype(jnp.float64))
        return new, new[0]

    _, later = jax.lax.scan(body, state, jnp.arange(1, steps[-1] + 1))
    return jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest])[np.array(steps)], state[0], later)


def _zeros_like(gradient: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(0.0 * array for array in gradient)


def _in_closed_form(
    problem: Problem,
    method: str,
    steps: Array,
    batch_size: int | None,
    numbers: Mapping[str, Array],
    schedule: Array | None,
) -> dict[str, Array]:
    """Evaluate flow, law, or batches, at concrete numbers."""
    if is_traced(problem, numbers, schedule):
        raise ArgumentError("only exact, decoupled and mean-field recursions can be traced; give concrete numbers")
    if batch_size is not None:
        require(schedule is None, "learning_rate", "a number on batches", "a schedule")
        return _with_total(problem, _on_batches(problem, numbers["learning_rate"], batch_size, steps))
    if schedule is None:
        times = numbers["learning_rate"][..., None] * steps
    else:
        times = np.concatenate([np.zeros(1), np.cumsum(schedule)])[steps]
    if method == "flow":
        margin, shortfall = flow(problem.n_items, problem.label_noise, times[..., None] * problem.frequencies)
        world = problem.n_items, problem.label_noise
        groups = {"group_loss": loss(*world, margin), "group_excess": excess(*world, margin, shortfall)}
        return _with_total(problem, {**groups, "margin": margin})
    exponent = 0.0 if problem.exponent is None else float(problem.exponent)
    require(exponent > 1, "method", "another unless the problem is a power law with exponent > 1", "law")
    risk = law(problem, exponent, times / problem.group_size)
    nothing = np.full((*times.shape, problem.n_groups), np.nan)
    return {"excess_risk": risk, "loss": risk + problem.loss_floor, "group_loss": nothing, "margin": nothing}


def _on_batches(problem: Problem, rates: Array, batch_size: int, steps: Array) -> dict[str, Array]:
    losses, margins = (
        np.stack(column).reshape((*rates.shape, len(steps), problem.n_groups))
        for column in zip(*(batch_losses(problem, rate, batch_size, steps) for rate in rates.ravel()), strict=True)
    )
    return {"group_loss": losses, "group_excess": losses, "margin": margins}


def _with_total(problem: Problem, groups: dict[str, Array]) -> dict[str, Array]:
    weights = problem.group_frequencies
    totals = {"loss": groups["group_loss"] @ weights, "excess_risk": groups["group_excess"] @ weights}
    return {**totals, "group_loss": groups["group_loss"], "margin": groups["margin"]}

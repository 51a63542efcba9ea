"""Reading what trains: domains of the fields, learning rates step by step, fields that broadcast."""

import math
import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np

from solvable.associative_memory.optimizers import Algorithm
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import doubt
from solvable.errors import ArgumentError, StabilityWarning, require
from solvable.precision import Array, as_leaf, is_traced
from solvable.training import Adam, GradientDescent, Muon, NormalizedGradientDescent, Schedule, SignDescent

KINDS = (GradientDescent, NormalizedGradientDescent, SignDescent, Adam, Muon)
_WORDS = {
    "basis": ("task", "random"),
    "polar": ("exact", "newton_schulz"),
    "convention": ("heavy_ball", "optax"),
}
_BELOW_ONE = ("momentum", "b1", "b2")
_STATIC = ("coefficients", "iterations", "nesterov", *_WORDS)


def read(algorithm: Any, n_steps: int) -> tuple[Algorithm, dict[str, Array], Array | None]:
    """Check an algorithm.

    Args:
        algorithm: one of the dataclasses that this model accepts.
        n_steps: how many steps it will take.

    Returns:
        The algorithm, its numbers by name (arrays that broadcast, or tracers), and the learning rate of each step,
        shape (n_steps,), where that is a schedule; the numbers do not hold it then.

    Raises:
        ArgumentError: for another type, numbers outside their domain, or a schedule that is too short.
    """
    names = [kind.__name__ for kind in KINDS]
    require(isinstance(algorithm, KINDS), "algorithm", f"one of {names}", type(algorithm).__name__)
    for field, words in _WORDS.items():
        if hasattr(algorithm, field):
            require(getattr(algorithm, field) in words, field, f"one of {words}", getattr(algorithm, field))
    schedule = _scheduled(algorithm.learning_rate, n_steps)
    names = [field.name for field in fields(algorithm) if field.name not in _STATIC]
    numbers = {name: as_leaf(getattr(algorithm, name)) for name in names if schedule is None or name != "learning_rate"}
    for name, value in {**numbers, **({} if schedule is None else {"learning_rate": schedule})}.items():
        if not is_traced(value):
            _require_domain(name, value)
    if isinstance(algorithm, Muon) and algorithm.polar == "newton_schulz" and not is_traced(algorithm.regularization):
        none = not np.any(algorithm.regularization)
        require(none, "regularization", "0 unless polar is 'exact'", algorithm.regularization)
    return algorithm, numbers, schedule


def is_plain_muon(algorithm: Any) -> bool:
    """Tell whether an algorithm is Muon with nothing but the exact polar factor."""
    if not isinstance(algorithm, Muon) or algorithm.polar != "exact":
        return False
    others = algorithm.momentum, algorithm.regularization, algorithm.weight_decay
    return not is_traced(others) and not any(np.any(value) for value in others)


def with_numbers(algorithm: Algorithm, numbers: dict[str, Any]) -> Algorithm:
    """Return the algorithm with other numbers."""
    return replace(algorithm, **numbers)


def check_steps(steps: Any) -> Array:
    """Return the numbers of steps to record, one-dimensional.

    Raises:
        ArgumentError: unless they are integers >= 0 that increase.
    """
    given = np.asarray(steps)
    whole = given.ndim == 1 and given.size > 0 and bool(np.all(given == np.floor(given))) and bool(np.all(given >= 0))
    require(whole, "steps", "one-dimensional, integers >= 0", np.asarray(steps).tolist())
    require(bool(np.all(np.diff(given) > 0)), "steps", "strictly increasing", given.tolist())
    return given.astype(np.int64)


def max_learning_rate(problem: Problem, algorithm: Any = GradientDescent) -> float:
    """Return the learning rate beyond which training does not settle at the optimum.

    For gradient descent it is 2/(label_noise q* p), with q* the probability of the right label and p the largest
    frequency of an item (derived here); inf for noiseless labels, which are separable. Methods whose steps have a
    length of their own (normalised, sign, Muon, Adam) circle around the optimum at any rate: 0 for noisy labels, inf
    for noiseless ones.

    Args:
        problem: the world, concrete.
        algorithm: an algorithm or its class.

    Raises:
        ArgumentError: for another algorithm.

    Example:
        >>> from solvable import associative_memory as am
        >>> round(am.max_learning_rate(am.Problem.power_law(1.5, 50, 20, label_noise=0.2)), 3)
        582.589
    """
    kind = algorithm if isinstance(algorithm, type) else type(algorithm)
    require(kind in KINDS, "algorithm", f"one of {[k.__name__ for k in KINDS]}", kind.__name__)
    if problem.label_noise == 0:
        return math.inf
    if kind is not GradientDescent:
        return 0.0
    sure = 1 - doubt(problem.n_items, problem.label_noise)
    return float(2 / (problem.label_noise * sure * np.max(problem.frequencies)))


def warn_if_unstable(problem: Problem, algorithm: Algorithm) -> None:
    """Warn where a constant learning rate of gradient descent is too large to settle."""
    rate = algorithm.learning_rate
    constant = not (isinstance(rate, Schedule) or callable(rate))
    if not isinstance(algorithm, GradientDescent) or not constant or is_traced(problem, rate):
        return
    largest, limit = float(np.max(rate)), max_learning_rate(problem)
    if largest > limit:
        warnings.warn(
            f"learning_rate {largest:.6g} is above {limit:.6g}, beyond which gradient descent does not settle",
            StabilityWarning,
            stacklevel=3,
        )


def _scheduled(rate: Any, n_steps: int) -> Array | None:
    if isinstance(rate, Schedule):
        values = as_leaf(rate.values)
        require(np.ndim(values) == 1, "learning_rate", "a schedule of shape (steps,)", np.shape(values))
        require(len(values) >= n_steps, "learning_rate", f"a schedule of at least {n_steps} steps", len(values))
        return values[:n_steps]
    if callable(rate):
        return np.array([rate(step) for step in range(n_steps)], dtype=np.float64)
    return None


def _require_domain(name: str, value: Array) -> None:
    if name in _BELOW_ONE:
        ok, allowed = (value >= 0) & (value < 1), "in [0, 1)"
    elif name == "learning_rate":
        ok, allowed = np.isfinite(value) & (value > 0), "finite and > 0"
    else:
        ok, allowed = np.isfinite(value) & (value >= 0), "finite and >= 0"
    bad = np.asarray(value)[~np.asarray(ok)].ravel()
    if bad.size:
        raise ArgumentError(f"{name} must be {allowed}; got {bad[:3].tolist()}")


def in_task_basis(algorithm: Any) -> bool:
    """Tell whether a method acts on the entries of the matrix of scores, so that it has no embeddings."""
    return getattr(algorithm, "basis", None) == "task"


def mixes_entries(algorithm: Any) -> bool:
    """Tell whether results depend on the basis that embeddings draw; optax's methods may."""
    return not isinstance(algorithm, KINDS) or getattr(algorithm, "basis", None) == "random"

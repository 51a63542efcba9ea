"""How many steps it takes to reach a loss, and how many times fewer one method takes than another.

Derived here; the separations are those of arXiv:2602.05725. For gradient descent these are steps of its flow, for Muon
those of equal margins (the decoupled approximation).
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq

from solvable.associative_memory.algorithms import is_plain_muon, max_learning_rate, read
from solvable.associative_memory.gradient_descent import flow
from solvable.associative_memory.optimizers import Algorithm
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import excess
from solvable.errors import ArgumentError, require
from solvable.precision import is_traced
from solvable.training import GradientDescent, SignDescent

MATCHINGS = ("equal", "max_stable")
_TOLERANCE = 1e-14


def time_to_loss(problem: Problem, algorithm: Algorithm, excess_risk: float) -> float:
    """Return the number of steps after which the excess loss is, and stays, at most `excess_risk`.

    With labels of noise alpha, q* the probability of the right label and z* the optimal margin:

    - `GradientDescent`: its flow, on all groups; 9e-3 to 2e-4 off the recursion after 10 to 1000 steps (measured).
      Noiseless labels: (K - 1)/(learning_rate excess_risk) for small excess.
    - `Muon` (exact polar factor, no momentum): z/learning_rate with the margin z of that excess, all groups alike;
      log((K - 1)/expm1(excess_risk))/learning_rate for noiseless labels. inf where the cycle around z* is too wide:
      its height is up to q* (1 - q*) learning_rate^2/2.
    - `SignDescent` in the basis of the task: as Muon at twice the learning rate, exactly.

    Args:
        problem: the world, concrete.
        algorithm: one of these, with one constant learning rate.
        excess_risk: > 0, below that of the start, log K - loss_floor.

    Returns:
        A number of steps, not rounded.

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> from solvable import associative_memory as am
        >>> problem = am.Problem.power_law(exponent=1.5, n_groups=50, group_size=20)
        >>> [round(am.time_to_loss(problem, kind(0.5), 1e-3)) for kind in (am.GradientDescent, am.Muon)]
        [2152716, 28]
    """
    _require_excess(problem, excess_risk)
    rate = _rate(algorithm)
    if isinstance(algorithm, GradientDescent):
        stable = rate <= max_learning_rate(problem)
        return _flow_time(problem, excess_risk) / rate if stable else math.inf
    if problem.label_noise > 0 and rate > _widest_cycle(problem, excess_risk):
        return math.inf
    return _margin_of(problem, excess_risk) / rate


def speedup(problem: Problem, slow: Algorithm, fast: Algorithm, excess_risk: float, matching: str = "equal") -> float:
    """Return how many times fewer steps `fast` takes than `slow` to an excess loss.

    Args:
        problem: the world, concrete.
        slow: an algorithm of `time_to_loss`, e.g. `GradientDescent`.
        fast: another, e.g. `Muon`.
        excess_risk: as in `time_to_loss`.
        matching: "equal" gives both the learning rate of `fast`; "max_stable" each the largest with which it gets to
            the excess and stays: `max_learning_rate` for gradient descent, that of the widest cycle for the others;
            noisy labels only, since noiseless ones set no limit.

    Returns:
        The ratio of steps; inf or 0 where only one of them gets there, nan where none does.

    Raises:
        ArgumentError: as in `time_to_loss`, or for "max_stable" on noiseless labels.

    Example:
        >>> from solvable import associative_memory as am
        >>> problem = am.Problem.power_law(exponent=1.5, n_groups=50, group_size=20)
        >>> [round(am.speedup(problem, am.GradientDescent(1.0), am.Muon(1.0), risk)) for risk in (1e-1, 1e-3)]
        [6174, 77918]
    """
    require(matching in MATCHINGS, "matching", f"one of {MATCHINGS}", matching)
    _require_excess(problem, excess_risk)
    if matching == "max_stable" and problem.label_noise == 0:
        raise ArgumentError("matching 'max_stable' needs noisy labels: noiseless ones set no limit to learning rates")
    rates = [_rate(fast)] * 2
    if matching == "max_stable":
        rates = [_largest_rate(problem, kind, excess_risk) for kind in (slow, fast)]
    times = [
        time_to_loss(problem, replace(kind, learning_rate=rate), excess_risk)
        for kind, rate in zip((slow, fast), rates, strict=True)
    ]
    return math.nan if math.isinf(times[0]) and math.isinf(times[1]) else times[0] / times[1]


def _largest_rate(problem: Problem, algorithm: Algorithm, excess_risk: float) -> float:
    if isinstance(algorithm, GradientDescent):
        return max_learning_rate(problem)
    return _widest_cycle(problem, excess_risk) / (2.0 if isinstance(algorithm, SignDescent) else 1.0)


def _rate(algorithm: Algorithm) -> float:
    """Return the step in the margin's own time, and check that the algorithm has a closed form."""
    _, numbers, schedule = read(algorithm, 1)
    one = schedule is None and not is_traced(numbers) and all(np.ndim(value) == 0 for value in numbers.values())
    require(one, "algorithm", "one with a constant scalar learning rate", algorithm)
    if isinstance(algorithm, GradientDescent):
        return float(algorithm.learning_rate)
    if isinstance(algorithm, SignDescent) and algorithm.basis == "task":
        return 2.0 * float(algorithm.learning_rate)
    plain = is_plain_muon(algorithm)
    require(plain, "algorithm", "GradientDescent, SignDescent in the task basis, or plain Muon", algorithm)
    return float(algorithm.learning_rate)


def _require_excess(problem: Problem, excess_risk: float) -> None:
    require(not is_traced(problem), "problem", "concrete", "a tracer")
    start = math.log(problem.n_items) - float(problem.loss_floor)
    require(bool(0 < excess_risk < start), "excess_risk", f"in (0, {start:.6g})", excess_risk)


def _flow_time(problem: Problem, excess_risk: float) -> float:
    """Return the sum of learning rates that the flow needs."""

    def surplus(log_time: float) -> float:
        state = flow(problem.n_items, problem.label_noise, problem.frequencies * math.exp(log_time))
        risks = excess(problem.n_items, problem.label_noise, *state)
        return math.log(float(problem.group_frequencies @ risks) / excess_risk)

    low, high = -5.0, 5.0
    while surplus(low) < 0:
        low -= 5.0
    while surplus(high) > 0:
        high += 5.0
    return math.exp(_root(surplus, low, high))


def _margin_of(problem: Problem, excess_risk: float) -> float:
    """Return the margin below the optimum that has an excess loss."""
    if problem.label_noise == 0:
        return math.log((problem.n_items - 1) / math.expm1(excess_risk))
    top = float(problem.optimal_margin)
    return top - _root(lambda shortfall: _surplus(problem, shortfall, excess_risk), 0.0, top)


def _widest_cycle(problem: Problem, excess_risk: float) -> float:
    """Return the largest step in margin whose cycle around the optimum stays below an excess loss."""
    top = float(problem.optimal_margin)

    def worst(step: float) -> float:
        return max(_surplus(problem, side * step, excess_risk) for side in (-1.0, 1.0))

    high = top
    while worst(high) < 0:
        high *= 2
    return _root(worst, 0.0, high)


def _surplus(problem: Problem, shortfall: float, excess_risk: float) -> float:
    lack = np.asarray(shortfall)
    return float(excess(problem.n_items, problem.label_noise, problem.optimal_margin - lack, lack)) - excess_risk


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    root: Any = brentq(function, low, high, xtol=1e-300, rtol=_TOLERANCE)
    return float(root)

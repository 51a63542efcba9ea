"""How long it takes to reach a loss, and the largest stable learning rate (derived here, cf. arXiv:2602.05725)."""

import math

from scipy.optimize import brentq

from solvable.associative_memory.gradient_descent import flow
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import doubt, excess
from solvable.errors import require


def max_learning_rate(problem: Problem) -> float:
    """Return the learning rate beyond which gradient descent does not settle at the optimum.

    It is 2/(label_noise q* p) with the largest frequency p of an item; inf for noiseless labels, which are separable.
    """
    pull = problem.label_noise * (1 - doubt(problem.n_items, problem.label_noise)) * problem.frequencies.max()
    return float(2 / pull) if pull > 0 else math.inf


def gradient_flow_time(problem: Problem, excess_risk: float) -> float:
    """Return the sum of learning rates after which gradient flow has a given excess loss.

    Args:
        problem: the world.
        excess_risk: > 0, and below that of the start, log K - loss_floor.

    Raises:
        ArgumentError: outside this domain.

    Example:
        >>> from solvable.associative_memory.problem import Problem
        >>> from solvable.associative_memory.times import gradient_flow_time
        >>> round(gradient_flow_time(Problem.power_law(1.5, 50, 20), 0.1), 4)
        56544.7416
    """
    start = math.log(problem.n_items) - float(problem.loss_floor)
    require(0 < excess_risk < start, "excess_risk", f"in (0, {start:.6g})", excess_risk)

    def surplus(log_time: float) -> float:
        state = flow(problem.n_items, problem.label_noise, problem.frequencies * math.exp(log_time))
        return math.log(
            float(problem.group_frequencies @ excess(problem.n_items, problem.label_noise, *state)) / excess_risk
        )

    low, high = -5.0, 5.0
    while surplus(low) < 0:
        low -= 5.0
    while surplus(high) > 0:
        high += 5.0
    return math.exp(brentq(surplus, low, high, xtol=1e-14, rtol=1e-14))


def muon_time(problem: Problem, excess_risk: float) -> float:
    """Return the sum of learning rates after which Muon has a given excess loss, all margins taken to be equal.

    Noiseless labels: log((K - 1)/expm1(excess_risk)). Noisy ones: z*, once the learning rate is so small that the cycle
    around the optimum stays below the excess, rate^2 <= 2 excess_risk/(q* (1 - q*)).
    """
    start = math.log(problem.n_items) - float(problem.loss_floor)
    require(0 < excess_risk < start, "excess_risk", f"in (0, {start:.6g})", excess_risk)
    if problem.label_noise > 0:
        return float(problem.optimal_margin)
    return math.log((problem.n_items - 1) / math.expm1(excess_risk))


def equal_rate_speedup(problem: Problem, excess_risk: float) -> float:
    """Return how many times fewer steps Muon takes than gradient descent at the same learning rate."""
    return gradient_flow_time(problem, excess_risk) / muon_time(problem, excess_risk)

"""How a budget is best split between training samples and attempts, and how steep failure looks in a window."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from solvable.errors import require
from solvable.latent_difficulty.failure import failure
from solvable.latent_difficulty.problem import Problem
from solvable.latent_difficulty.table import FailureTable
from solvable.latent_difficulty.training import training_risk
from solvable.precision import Array

_GRID = 400  # numbers of samples tried before the best is refined
_LEAST, _MOST = 1e-9, 1e9  # bias variance ratios of the table, which finds the split; losses are then exact


class Allocation(NamedTuple):
    """The best split of a budget.

    Attributes:
        n_samples: real.
        k: attempts, real.
        loss: risk_weight x excess risk + failure rate there.
        training_share: of the budget.
        constant_n_samples: what one would choose who takes the exponent of failure for constant, without bias.
        constant_loss: the loss there.
    """

    n_samples: float
    k: float
    loss: float
    training_share: float
    constant_n_samples: float
    constant_loss: float


def effective_exponent(
    problem: Problem, n_samples: Any, k_window: tuple[float, float] = (10.0, 1e4), *, ridge: Any = 0.0
) -> Array:
    """Return the slope of -log(1 - pass@k) over log k in a window, by least squares on 24 log-spaced points.

    It rises with the training set, as n^(1/2) before it saturates (derived here), up to the difficulty exponent where
    the window lies in the intrinsic tail; `training_risk` gives the bias variance.

    Args:
        problem: the world, with a difficulty exponent above 2.
        n_samples: real > 0, a scalar or an array.
        k_window: ends of the window, 1 <= first < last <= 1e12.
        ridge: of the training, >= 0.

    Returns:
        Shape of `n_samples`.

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> problem = lid.Problem.from_paper(alpha=1.0, dimension=50, beta=2.5, sigma=1.0, delta=0.1)
        >>> lid.effective_exponent(problem, [100, 1e6], (1e3, 1e4)).round(2)
        array([0.2, 2.5])
    """
    first, last = k_window
    require(1 <= first < last <= 1e12, "k_window", "two increasing numbers from 1 to 1e12", k_window)
    require(float(problem.difficulty_exponent) > 2, "difficulty_exponent", "> 2: below, the mean risk is infinite",
            float(problem.difficulty_exponent))  # fmt: skip
    k = np.geomspace(first, last, 24)
    variance = training_risk(problem, n_samples=n_samples, ridge=ridge).excess_risk / problem.noise_variance
    beta, tolerance = float(problem.difficulty_exponent), float(problem.tolerance_ratio)
    logs = failure(beta, tolerance, np.asarray(variance)[..., None], k).log_failure
    centred = np.log(k) - np.log(k).mean()
    return -(logs @ centred) / (centred @ centred)


def optimal_allocation(
    problem: Problem,
    budget: float,
    cost_per_sample: float = 1.0,
    cost_per_attempt: float = 1.0,
    risk_weight: float = 0.0,
    *,
    ridge: float = 0.0,
    exact: bool = False,
) -> Allocation:
    """Split a budget cost_per_sample n + cost_per_attempt k between training samples and attempts.

    Minimises risk_weight x excess risk + failure rate after k attempts, on a grid in n and then within its best cell
    (objective: arXiv:2601.03764; here with the exact failure rate). There may be a second minimum on the other side of
    n = d; the grid finds the better one.

    Args:
        problem: the world, with a difficulty exponent above 2.
        budget: > cost_per_sample + cost_per_attempt.
        cost_per_sample: > 0.
        cost_per_attempt: > 0.
        risk_weight: >= 0, per squared unit of the labels.
        ridge: of the training, >= 0.
        exact: whether to use the exact mean risk of least squares, for n above the number of features + 1 alone.

    Returns:
        An `Allocation`.

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> problem = lid.Problem.from_paper(alpha=1.0, dimension=50, beta=2.5, sigma=1.0, delta=0.1)
        >>> best = lid.optimal_allocation(problem, 1e3, risk_weight=1e-6, exact=True)
        >>> round(best.n_samples), round(best.k), round(best.constant_n_samples)
        (644, 356, 85)
    """
    for name, value, least in (("cost_per_sample", cost_per_sample, 0.0), ("cost_per_attempt", cost_per_attempt, 0.0),
                               ("budget", budget, cost_per_sample + cost_per_attempt)):  # fmt: skip
        require(bool(np.isfinite(value) and value > least), name, f"finite and > {least:g}", value)
    require(bool(np.isfinite(risk_weight) and risk_weight >= 0), "risk_weight", "finite and >= 0", risk_weight)
    beta, tolerance = float(problem.difficulty_exponent), float(problem.tolerance_ratio)
    require(beta > 2, "difficulty_exponent", "> 2: below, the mean risk is infinite", beta)
    fewest = float(problem.n_modes) + 2 if exact else 1.0
    most = (budget - cost_per_attempt) / cost_per_sample
    require(most > fewest, "budget", f"enough for {fewest:g} samples and one attempt", budget)

    def risk(log_n: Array) -> Array:
        return training_risk(problem, n_samples=np.exp(log_n), ridge=ridge, exact=exact).excess_risk

    def attempts(log_n: Array) -> Array:
        return np.clip((budget - cost_per_sample * np.exp(log_n)) / cost_per_attempt, 1.0, 1e12)

    grid = np.linspace(np.log(fewest), np.log(most), _GRID)
    ratios = _table_range(risk(grid) / problem.noise_variance)
    largest = max(float(attempts(grid[0])), 2.0)
    table = FailureTable(beta, tolerance, bias_variance_ratio=ratios, k=(1.0, largest))

    def loss(log_n: Array) -> Array:
        excess = risk(log_n)
        ratio = np.clip(excess / problem.noise_variance, *ratios)
        return risk_weight * excess + table.failure_rate(ratio, attempts(log_n))

    def constant(log_n: Array) -> Array:
        return risk_weight * risk(log_n) + np.exp(failure(beta, tolerance, 0.0, attempts(log_n)).log_failure)

    best, naive = _minimum(loss, grid), _minimum(constant, grid)
    losses = [_true_loss(problem, float(risk(at)), float(attempts(at)), risk_weight) for at in (best, naive)]
    n = float(np.exp(best))
    share = cost_per_sample * n / budget
    return Allocation(n, float(attempts(best)), losses[0], share, float(np.exp(naive)), losses[1])


def _table_range(ratios: Array) -> tuple[float, float]:
    found = ratios[np.isfinite(ratios)]
    low, high = (float(np.clip(end, _LEAST, _MOST)) for end in (found.min(), found.max()))
    return low * 0.99, high * 1.01


def _minimum(objective: Callable[[Array], Array], grid: Array) -> Array:
    values = objective(grid)
    place = int(np.nanargmin(values))
    ends = grid[max(place - 1, 0)], grid[min(place + 1, grid.size - 1)]
    found = minimize_scalar(
        lambda x: float(objective(np.asarray(x))), bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    return np.asarray(found.x if found.fun <= values[place] else grid[place])


def _true_loss(problem: Problem, risk: float, k: float, risk_weight: float) -> float:
    ratio = risk / float(problem.noise_variance)
    rate = failure(problem.difficulty_exponent, problem.tolerance_ratio, ratio, k).log_failure
    return risk_weight * risk + float(np.exp(rate))

"""Gradient descent on associative memory: one scalar per frequency, exactly (derived here).

From W = 0 all wrong answers of a question keep equal scores, so its margin alone evolves:

    z(t + 1) = z(t) + learning_rate kappa p residual(z(t)),        kappa = K/(K - 1),

and in continuous time, with progress s = p x (sum of learning rates),

    e^z - 1 + (K - 1) z = K s                                              noiseless,
    alpha q* s = (1 - q*) z - log((e^z* - e^z)/(e^z* - 1))                 noisy.
"""

import math
from typing import Any

import numpy as np
from scipy.special import zeta

from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import doubt, excess, optimal_margin
from solvable.errors import require
from solvable.precision import Array
from solvable.roots import decreasing_root

_NEWTON = 40  # steps from above on a convex function: it stops moving after some ten
_LOWEST = -800.0  # log of the smallest shortfall that is looked for
_HALF_WIDTH, _POINTS = 40.0, 4001  # of the trapezoid rule for the law's constant, in log progress


def flow(n_items: int, label_noise: Any, progress: Any) -> tuple[Array, Array]:
    """Return margin and shortfall in continuous time at progress s >= 0, element by element.

    Example:
        >>> from solvable.associative_memory.gradient_descent import flow
        >>> margin, _ = flow(1000, 0.0, [0.5, 5.0, 50.0])
        >>> margin.round(8)
        array([ 0.49985138,  4.87491225, 10.58226491])
    """
    s = np.asarray(progress, dtype=np.float64)
    if np.asarray(label_noise) == 0:
        margin = _noiseless_margin(n_items, s)
        return margin, np.full_like(margin, math.inf)
    return _noisy_margin(n_items, float(label_noise), s)


def law_constant(n_items: int, label_noise: float, exponent: float) -> float:
    """Return I, the integral over x > 0 of x^(-1/exponent) excess(x), where excess(s) is that of the flow.

    For frequencies i^-exponent/H, the excess loss of infinitely many groups at time tau = (sum of rates)/group_size is
    (1/exponent) H^(-1/exponent) I tau^-(1 - 1/exponent) (derived here; the exponent is that of arXiv:2602.05725).

    Args:
        n_items: K >= 2.
        label_noise: in [0, 1).
        exponent: > 1.

    Relative accuracy is about 1e-14.

    Example:
        >>> from solvable import associative_memory as am
        >>> round(am.law_constant(1000, 0.2, 2.0), 9)
        19.630772827
    """
    require(exponent > 1, "exponent", "> 1", exponent)
    power = 1 - 1 / exponent
    v = np.linspace(-_HALF_WIDTH, _HALF_WIDTH, _POINTS)
    at = excess(n_items, np.asarray(label_noise), *flow(n_items, label_noise, np.exp(v)))
    values = np.exp(power * v) * at
    inner = np.trapezoid(values, v)
    # The integrand is exponential at both ends: the rule's leading error is known (Euler and Maclaurin).
    inner += (values[-1] / exponent + power * values[0]) * (v[1] - v[0]) ** 2 / 12
    start = excess(n_items, np.asarray(label_noise), np.zeros(1), optimal_margin(n_items, np.asarray(label_noise)))
    left = float(start[0]) * math.exp(-power * _HALF_WIDTH) / power
    tail = exponent * (n_items - 1) / n_items * math.exp(-_HALF_WIDTH / exponent) if label_noise == 0 else 0.0
    return float(inner + left + tail)


def law(problem: Problem, exponent: float, tau: Any) -> Array:
    """Return the power law of the excess loss, with what is missing beyond the last group.

    Args:
        problem: `Problem.power_law` of this exponent.
        exponent: > 1.
        tau: (sum of rates)/group_size; valid while the first groups are learned and the last are not.
    """
    n_items, groups = problem.n_items, problem.n_groups
    norm = _norm(exponent, groups)
    amplitude = norm ** (-1 / exponent) / exponent * law_constant(n_items, float(problem.label_noise), exponent)
    with np.errstate(divide="ignore"):  # the law is inf at the start
        whole = amplitude * np.asarray(tau) ** -(1 - 1 / exponent)
    return whole - beyond(problem, exponent)


def beyond(problem: Problem, exponent: float) -> float:
    """Return the excess at the start of all groups beyond the last, which the power law holds and a world lacks."""
    initial = math.log(problem.n_items) - float(problem.loss_floor)
    return initial * float(zeta(exponent, problem.n_groups + 1)) / _norm(exponent, problem.n_groups)


def _norm(exponent: float, n_groups: int) -> float:
    return float(np.sum(np.arange(1.0, n_groups + 1) ** -exponent))


def _noiseless_margin(n_items: int, s: Array) -> Array:
    """Newton's method on the convex expm1(z) + (K - 1) z = K s, from above."""
    target = n_items * s
    z = np.minimum(s, np.log1p(target))
    for _ in range(_NEWTON):
        new = z - (np.expm1(z) + (n_items - 1) * z - target) / (np.exp(z) + n_items - 1)
        if np.all(np.abs(new - z) <= 1e-15 * z):
            return new
        z = new
    return z


def _noisy_margin(n_items: int, noise: float, s: Array) -> tuple[Array, Array]:
    """Solve for log u in its bracket; where the margin is small, polish the margin itself."""
    p, top = doubt(n_items, noise), float(optimal_margin(n_items, np.asarray(noise)))
    target = (noise * (1 - p) * s).ravel()

    def behind(y: Array, _: Any, lanes: tuple[Array, ...]) -> tuple[Array, Array]:
        u = np.exp(y)
        value = p * (top - u) - np.log(-np.expm1(-u)) + math.log(-math.expm1(-top)) - lanes[0]
        return value, -p * u - u / np.expm1(u)

    low, high = np.full(target.shape, _LOWEST), np.full(target.shape, math.log(top))
    start = np.clip(np.log(top) - 0.5 * target, _LOWEST, high)
    with np.errstate(all="ignore"):
        u = np.exp(decreasing_root(behind, None, (target,), lower=low, upper=high, start=start, xp=np).value)
        z = np.maximum(top - u, 0.0)
        for _ in range(4):
            grown = np.expm1(z) / math.expm1(top)
            slope = p + np.exp(z) / math.expm1(top) / (1 - grown)
            z = np.where(z < top / 2, z - (p * z - np.log1p(-grown) - target) / slope, z)
    early = z < top / 2
    return z.reshape(s.shape), np.where(early, top - z, u).reshape(s.shape)

"""Normalised gradient descent, and sign and adaptive methods, on associative memory: scalars again (derived here).

Where steps act on the entries of the matrix of scores ("task" basis), the right answer of a question gets one update
and all wrong ones another, so the margin alone evolves, as for gradient descent:

    normalised   z += rate kappa p r / F,       F^2 = kappa sum over items of (p r)^2
    sign         z += 2 rate sgn(r)
    Adam         z += rate (u(p r) - u(-p r/(K - 1))),     u the usual normalised moments of one gradient entry

with r the residual and kappa = K/(K - 1). In a random basis sign descent mixes all items; its mean step is an integral.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import residual
from solvable.associative_memory.spectral import learning_rates
from solvable.precision import Array
from solvable.training import Adam

_HALF_WIDTH, _POINTS = 40.0, 801  # of the trapezoid rule in log u, exact to rounding


class Margins(NamedTuple):
    """Margin of each group, and what it lacks to the optimum; shape (..., groups)."""

    margin: Array
    shortfall: Array


Step = Callable[[Array], Array]  # residuals -> what margins gain per unit of learning rate


def margin_runs(problem: Problem, step: Step, learning_rate: Any, steps: int) -> Iterator[Margins]:
    """Yield margins after 0, 1, ..., `steps` steps of an optimiser that acts on margins."""
    rates = learning_rates(learning_rate, steps)
    margin = np.zeros((*np.shape(rates)[1:], problem.n_groups))
    state = Margins(margin, margin + problem.optimal_margin)
    yield state
    for rate in rates:
        lack = residual(problem.n_items, problem.label_noise, *state)
        gain = np.asarray(rate)[..., None] * step(lack)
        state = Margins(state.margin + gain, state.shortfall - gain)
        yield state


def normalized_step(problem: Problem) -> Step:
    """Return the step of gradient descent divided by the norm of the gradient."""
    kappa = problem.n_items / (problem.n_items - 1)

    def step(lack: Array) -> Array:
        pull = problem.frequencies * lack
        norm = np.sqrt(kappa * problem.group_size * np.sum(pull * pull, axis=-1, keepdims=True))
        return kappa * pull / np.where(norm == 0, 1.0, norm)

    return step


def sign_step(lack: Array) -> Array:
    """Return the step of sign descent in the basis of the task: the right answer up, all others down."""
    return 2 * np.sign(lack)


def adam_step(problem: Problem, algorithm: Adam) -> Step:
    """Return the step of Adam in the basis of the task; it keeps its moments from call to call."""
    moments = [[0.0, 0.0], [0.0, 0.0]]
    count = [0]

    def update(state: list[Any], gradient: Array) -> Array:
        state[0] = algorithm.b1 * state[0] + (1 - algorithm.b1) * gradient
        state[1] = algorithm.b2 * state[1] + (1 - algorithm.b2) * gradient**2
        mean = state[0] / (1 - algorithm.b1 ** count[0])
        size = np.sqrt(state[1] / (1 - algorithm.b2 ** count[0])) + algorithm.eps
        return mean / np.where(size == 0, 1.0, size)

    def step(lack: Array) -> Array:
        count[0] += 1
        pull = problem.frequencies * lack
        return update(moments[0], pull) - update(moments[1], -pull / (problem.n_items - 1))

    return step


def random_sign_step(problem: Problem) -> Step:
    """Return the mean step of sign descent in a random basis, a mean-field approximation (derived here).

    With g = kappa p r of each item, it is (sqrt(2)/pi) K times the integral over u > 0 of
    u^(-1/2) g (1 + 2 u g^2)^(-1) prod over items of (1 + 2 u g_k^2)^(-1/2).
    """
    kappa = problem.n_items / (problem.n_items - 1)
    u = np.exp(np.linspace(-_HALF_WIDTH, _HALF_WIDTH, _POINTS))
    spacing = 2 * _HALF_WIDTH / (_POINTS - 1)

    def step(lack: Array) -> Array:
        pull = kappa * problem.frequencies * lack
        norm = np.sqrt(problem.group_size * np.sum(pull * pull, axis=-1, keepdims=True))
        scaled = pull / np.where(norm == 0, 1.0, norm)
        growth = 2 * u * scaled[..., None] ** 2  # (..., groups, nodes)
        damping = np.exp(-0.5 * problem.group_size * np.log1p(growth).sum(axis=-2, keepdims=True))
        integral = spacing * np.sum(np.sqrt(u) * damping / (1 + growth), axis=-1)
        return math.sqrt(2) / math.pi * problem.n_items * scaled * integral

    return step

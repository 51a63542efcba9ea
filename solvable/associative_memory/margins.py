"""Optimisers that keep all wrong answers of a question alike: the margin of each group alone evolves (derived here).

From W = 0, a question's right answer gets one update and all wrong ones another, as long as an optimiser acts on the
entries of the matrix of scores ("task" basis) or is linear. With the residual r, kappa = K/(K - 1) and the entries
g = p r of the right answer and -p r/(K - 1) of each wrong one in minus the gradient:

    gradient descent  z += rate kappa p r
    normalised        z += rate kappa p r / F,       F^2 = kappa sum over items of (p r)^2
    sign              z += 2 rate sgn(r)
    Adam              z += rate (u(p r) - u(-p r/(K - 1))),     u the usual normalised moments of one entry

Two approximations have the same form. `decoupled`: spectral optimisers act on each group's singular value kappa p r
alone, as if groups did not interact. `random_basis`: sign descent in a random basis mixes all items, and its mean step
is an integral.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from solvable.associative_memory.optimizers import Geometry, Gradient, elementwise_quintic, soft_sign
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import excess, loss, residual
from solvable.precision import Array, namespace, trailing, weighted_sum

_HALF_WIDTH, _POINTS = 40.0, 801  # of the trapezoid rule in log u, exact to rounding


class Margins(NamedTuple):
    """Margin of each group, and what it lacks to the optimum; shape (..., groups)."""

    margin: Array
    shortfall: Array


class TaskBasis:
    """The two kinds of entries of each column: the right answer's, and a wrong one's."""

    def __init__(self, problem: Problem) -> None:
        """Represent a world."""
        self.problem = problem
        self.geometry = Geometry(self._norm, self._sign, _no_polar, _no_polar)

    def start(self, shape: tuple[int, ...]) -> Margins:
        """Return the state of W = 0, for runs of a shape."""
        xp = namespace(self.problem)
        margin = xp.zeros((*shape, self.problem.n_groups))
        return Margins(margin, margin + self.problem.optimal_margin)

    def gradient(self, state: Margins) -> Gradient:
        """Return minus the gradient."""
        pull = self._pull(state)
        return pull, -pull / (self.problem.n_items - 1)

    def moved(self, state: Margins, step: Gradient, rate: Array, keep: Any) -> Margins:
        """Return the state after keep x state + rate x step."""
        xp = namespace(state, step, rate, keep, self.problem)
        gain = trailing(rate, state.margin.ndim) * self._gain(step)
        kept = trailing(xp.asarray(keep), state.margin.ndim)
        margin = kept * state.margin + gain
        # Without decay the shortfall is carried: its difference to the optimum has more digits than the margin's.
        shortfall = xp.where(kept == 1, state.shortfall - gain, self.problem.optimal_margin - margin)
        return Margins(margin, shortfall)

    def read(self, state: Margins) -> dict[str, Array]:
        """Return loss, excess and margin of each group."""
        world = self.problem.n_items, self.problem.label_noise
        return {
            "group_loss": loss(*world, state.margin),
            "group_excess": excess(*world, *state),
            "margin": state.margin,
        }

    def _pull(self, state: Margins) -> Array:
        return self.problem.frequencies * residual(self.problem.n_items, self.problem.label_noise, *state)

    def _gain(self, step: Gradient) -> Array:
        return step[0] - step[1]

    def _norm(self, gradient: Gradient) -> Array:
        own, other = gradient
        squares = own * own + (self.problem.n_items - 1) * other * other
        return namespace(gradient).sqrt(self.problem.group_size * squares.sum(axis=-1))

    def _sign(self, gradient: Gradient) -> Gradient:
        xp = namespace(gradient)
        return xp.sign(gradient[0]), xp.sign(gradient[1])


class Decoupled(TaskBasis):
    """One singular value per group, kappa p r; an approximation for spectral optimisers."""

    def __init__(self, problem: Problem) -> None:
        """Represent a world."""
        super().__init__(problem)
        self.geometry = Geometry(
            self._norm,
            self._sign,
            lambda g, regularization: (soft_sign(g[0], regularization),),
            lambda g, coefficients, iterations: (elementwise_quintic(g[0], coefficients, iterations),),
        )

    def gradient(self, state: Margins) -> Gradient:
        """Return the singular values."""
        return (self._pull(state) * self.problem.n_items / (self.problem.n_items - 1),)

    def _gain(self, step: Gradient) -> Array:
        return step[0]

    def _norm(self, gradient: Gradient) -> Array:
        items = self.problem.n_items
        squares = gradient[0] * gradient[0] * (self.problem.group_size * (items - 1) / items)
        return namespace(gradient).sqrt(squares.sum(axis=-1))

    def _sign(self, gradient: Gradient) -> Gradient:
        return (namespace(gradient).sign(gradient[0]),)


class RandomBasis(Decoupled):
    """Sign descent in a random basis by its mean step, a mean-field approximation.

    With g = kappa p r of each item, a margin grows by the rate times (sqrt(2)/pi) K times the integral over u > 0 of
    u^(-1/2) g (1 + 2 u g^2)^(-1) prod over items of (1 + 2 u g_k^2)^(-1/2).
    """

    def _sign(self, gradient: Gradient) -> Gradient:
        xp = namespace(gradient)
        u = np.exp(np.linspace(-_HALF_WIDTH, _HALF_WIDTH, _POINTS))
        spacing = 2 * _HALF_WIDTH / (_POINTS - 1)
        pull = gradient[0]
        norm = xp.sqrt(self.problem.group_size * xp.sum(pull * pull, axis=-1, keepdims=True))
        scaled = pull / xp.where(norm == 0, 1.0, norm)
        nodes = u.reshape((1,) * pull.ndim + (_POINTS,))
        growth = 2 * nodes * scaled[..., None] ** 2  # (..., groups, nodes)
        damping = xp.exp(-0.5 * self.problem.group_size * xp.log1p(growth).sum(axis=-2, keepdims=True))
        integral = weighted_sum(damping / (1 + growth), spacing * np.sqrt(u), xp)
        return (math.sqrt(2) / math.pi * self.problem.n_items * scaled * integral,)


def _no_polar(*_: Any) -> Gradient:
    raise NotImplementedError("spectral optimisers need `Decoupled` or the reduction to blocks")


def two_cycle_margin(rate: Array, optimum: Array, steps: Array) -> Array:
    """Return the margin after some steps of +rate below and -rate above an optimum: a rise, then two values in turn.

    Exact for Muon on one group, and for sign descent in the basis of the task at twice the rate (derived here).
    """
    if math.isinf(optimum):
        return rate * steps
    rise = np.floor(optimum / rate)
    odd = np.mod(steps - rise, 2)
    return np.where(steps <= rise, rate * steps, rate * (rise + odd))

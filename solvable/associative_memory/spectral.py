"""Spectral optimisers on associative memory, reduced exactly to one number per group and one matrix of groups.

Items of a group are exchangeable, so every matrix of the run is x_i on differences within group i, and an M x M matrix
N on means of groups (derived here; the symmetry is that of arXiv:2602.05725). Products, polar factors and all functions
of singular values act on x and on N separately, and |X|^2 = (C - 1) sum x^2 + |N|^2 for C items a group. A step costs
M^3 instead of K^3.
"""

from typing import Any

import numpy as np

from solvable.associative_memory.optimizers import Geometry, Gradient, elementwise_quintic, soft_sign
from solvable.associative_memory.polar import matrix_sign, newton_schulz
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import divergence, doubt
from solvable.precision import Array, namespace, trailing


class Blocks:
    """Matrices as pairs (x, N), of shapes (..., groups) and (..., groups, groups); columns belong to questions."""

    def __init__(self, problem: Problem) -> None:
        """Represent a world."""
        self.problem = problem
        groups, size = problem.n_groups, problem.group_size
        self._same = np.eye(groups, dtype=bool)
        self._wrong = size - np.eye(groups)  # wrong answers in group k of a question in group i
        self.geometry = Geometry(
            self._norm,
            _no_sign,
            lambda g, regularization: (soft_sign(g[0], regularization), matrix_sign(g[1], regularization)),
            lambda g, *rule: (elementwise_quintic(g[0], *rule), newton_schulz(g[1], *rule)),
        )

    def start(self, shape: tuple[int, ...]) -> Gradient:
        """Return the scores of W = 0, for runs of a shape."""
        xp, groups = namespace(self.problem), self.problem.n_groups
        return xp.zeros((*shape, groups)), xp.zeros((*shape, groups, groups))

    def gradient(self, scores: Gradient) -> Gradient:
        """Return minus the gradient of the loss; the right answer's residual is formed from those of wrong ones."""
        xp = namespace(scores, self.problem)
        between, right = self._scores(scores)
        top = xp.maximum(between.max(axis=-2), right)[..., None, :]
        weights = xp.exp(between - top)
        total = (self._wrong_by_rank(between) * weights).sum(axis=-2, keepdims=True) + xp.exp(right[..., None, :] - top)
        lack = self.problem.label_noise / self.problem.n_items - weights / total  # of wrong answers, by group
        within = -(self._wrong_by_rank(lack) * lack).sum(axis=-2) - self._diagonal(lack)
        matrix = self.problem.group_size * lack + self._spread(within)
        frequencies = self.problem.frequencies
        return within * frequencies, matrix * frequencies[None, :]

    def moved(self, scores: Gradient, step: Gradient, rate: Array, keep: Any) -> Gradient:
        """Return keep x scores + rate x step."""
        xp = namespace(scores, step, rate, keep)
        pairs = zip(scores, step, strict=True)
        return tuple(trailing(xp.asarray(keep), a.ndim) * a + trailing(rate, b.ndim) * b for a, b in pairs)

    def read(self, scores: Gradient) -> dict[str, Array]:
        """Return loss, excess and margin of each group, with all digits however small."""
        xp = namespace(scores, self.problem)
        noise, items = self.problem.label_noise, self.problem.n_items
        between, right = self._scores(scores)
        counts = self._wrong_by_rank(between)
        behind = between - right[..., None, :]
        doubts = xp.log1p((counts * xp.exp(behind)).sum(axis=-2))  # -log of the right answer's probability
        mean = (right + (counts * between).sum(axis=-2)) / items
        noisy = xp.where(noise > 0, noise, 1.0)
        wrong = divergence(noisy / items, behind - doubts[..., None, :] - xp.log(noisy / items))
        sure = 1 - doubt(items, noise)
        divergences = divergence(sure, -doubts - xp.log(sure)) + (counts * wrong).sum(axis=-2)
        return {
            "group_loss": doubts + noise * (right - mean),
            "group_excess": xp.where(noise > 0, divergences, doubts),
            "margin": right - (mean * items - right) / (items - 1),
        }

    def _scores(self, scores: Gradient) -> tuple[Array, Array]:
        """Return the score of a wrong answer by its group (rows) and the question's (columns), and the right one's."""
        within, matrix = scores
        between = (matrix - self._spread(within)) / self.problem.group_size
        return between, self._diagonal(between) + within

    def _spread(self, diagonal: Array) -> Array:
        xp = namespace(diagonal)
        return xp.where(self._same, diagonal[..., None, :], 0.0)

    def _diagonal(self, matrix: Array) -> Array:
        return namespace(matrix).diagonal(matrix, axis1=-2, axis2=-1)

    def _wrong_by_rank(self, like: Array) -> Array:
        return self._wrong.reshape((1,) * (like.ndim - 2) + self._wrong.shape)

    def _norm(self, gradient: Gradient) -> Array:
        within, matrix = gradient
        squares = (self.problem.group_size - 1) * (within * within).sum(axis=-1) + (matrix * matrix).sum(axis=(-2, -1))
        return namespace(gradient).sqrt(squares)


def _no_sign(_: Gradient) -> Gradient:
    raise NotImplementedError("signs of entries do not act on blocks")

"""Spectral optimisers on associative memory, reduced exactly to one number per group and one matrix of groups.

Items of a group are exchangeable, so every matrix of the run is x_i on differences within group i, and an M x M matrix
N on means of groups (derived here; the symmetry is that of arXiv:2602.05725). Products, polar factors and all functions
of singular values act on x and on N separately, and |X|^2 = (C - 1) sum x^2 + |N|^2 for C items a group. A step costs
M^3 instead of K^3.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from solvable.associative_memory.problem import Problem
from solvable.errors import require
from solvable.precision import Array
from solvable.training import Muon, Schedule

_NULL = 1e-13  # singular values below this times the largest belong to the null mode: columns of gradients sum to 0


class Blocks(NamedTuple):
    """A matrix of the reduction, possibly a stack of them.

    Attributes:
        within: x, on differences within each group, shape (..., groups).
        between: N, on means of groups, shape (..., groups, groups); columns belong to questions.
    """

    within: Array
    between: Array


def muon_runs(problem: Problem, algorithm: Muon, steps: int) -> Iterator[Blocks]:
    """Yield the scores after 0, 1, ..., `steps` steps.

    Args:
        problem: the world, concrete.
        algorithm: its learning rate may be an array, whose shape all results then have in front.
        steps: >= 0.
    """
    rates = learning_rates(algorithm.learning_rate, steps)
    shape = (*np.shape(rates)[1:], problem.n_groups)
    scores = Blocks(np.zeros(shape), np.zeros((*shape, problem.n_groups)))
    buffer = scores
    yield scores
    for number, rate in enumerate(rates, 1):
        gradient = negative_gradient(problem, scores)
        buffer, direction = _averaged(algorithm, buffer, gradient, number)
        step = _signed(problem, algorithm, direction)
        scores = _moved(scores, step, np.asarray(rate), algorithm.weight_decay)
        yield scores


def learning_rates(rate: Any, steps: int) -> Array:
    """Return the rate of each step, shape (steps, ...).

    Raises:
        ArgumentError: if a rate is not > 0 and finite, or a schedule is too short.
    """
    if isinstance(rate, Schedule):
        values = np.asarray(rate.values, dtype=np.float64)
        require(len(values) >= steps, "learning_rate", f"a schedule of at least {steps} steps", len(values))
        rates = values[:steps]
    elif callable(rate):
        rates = np.array([rate(step) for step in range(steps)], dtype=np.float64)
    else:
        constant = np.asarray(rate, dtype=np.float64)
        rates = np.broadcast_to(constant, (steps, *constant.shape))
    bad = rates[~(np.isfinite(rates) & (rates > 0))]
    require(bad.size == 0, "learning_rate", "finite and > 0", bad[:3].tolist())
    return rates


def group_losses(problem: Problem, scores: Blocks) -> Array:
    """Return the loss of each group's items, shape (..., groups), with all digits however small."""
    a, size, n_items = scores.within, problem.group_size, problem.n_items
    between = _block_constants(problem, scores)
    own = np.diagonal(between, axis1=-2, axis2=-1)
    behind = np.exp(between - (own + a)[..., None, :])  # of items of other groups, relative to the right answer
    others = size * (behind.sum(axis=-2) - np.diagonal(behind, axis1=-2, axis2=-1))
    mean = (a + size * between.sum(axis=-2)) / n_items
    return np.log1p((size - 1) * np.exp(-a) + others) + problem.label_noise * (a + own - mean)


def negative_gradient(problem: Problem, scores: Blocks) -> Blocks:
    """Return minus the gradient of the loss in the scores; its residual is formed from those of wrong answers."""
    a, size, n_items = scores.within, problem.group_size, problem.n_items
    between = _block_constants(problem, scores)
    groups = np.arange(problem.n_groups)
    own = between[..., groups, groups]
    top = np.maximum(between.max(axis=-2), own + a)
    wrong = np.exp(between - top[..., None, :])
    counts = np.full((problem.n_groups, problem.n_groups), float(size))
    counts[groups, groups] = size - 1
    total = (counts * wrong).sum(axis=-2) + np.exp(own + a - top)
    lack = problem.label_noise / n_items - wrong / total[..., None, :]  # of wrong answers, by group
    right = -(counts * lack).sum(axis=-2)
    within = right - lack[..., groups, groups]
    matrix = size * lack
    matrix[..., groups, groups] += within
    return Blocks(within * problem.frequencies, matrix * problem.frequencies)


def matrix_sign(matrix: Array, regularization: Any = 0.0) -> Array:
    """Return U f(S) V^T with f = sgn, or S/sqrt(S^2 + lambda^2); singular values at rounding level count as 0."""
    u, s, vt = np.linalg.svd(matrix)
    regular = np.asarray(regularization)[..., None]
    alive = s > _NULL * s[..., :1]
    kept = np.where(alive, s, 0.0) / np.where(alive, np.hypot(s, regular), 1.0)
    return (u * kept[..., None, :]) @ vt


def _moved(scores: Blocks, step: Blocks, rate: Array, weight_decay: Any) -> Blocks:
    keep = 1 - rate * weight_decay
    return Blocks(
        keep[..., None] * scores.within + rate[..., None] * step.within,
        keep[..., None, None] * scores.between + rate[..., None, None] * step.between,
    )


def _block_constants(problem: Problem, scores: Blocks) -> Array:
    """Return (N - diag x)/C: the score of a wrong answer by its group (rows) and the question's (columns)."""
    constants = scores.between.copy()
    groups = np.arange(problem.n_groups)
    constants[..., groups, groups] -= scores.within
    return constants / problem.group_size


def _averaged(algorithm: Muon, buffer: Blocks, gradient: Blocks, number: int) -> tuple[Blocks, Blocks]:
    """Return the new buffer and the direction whose sign is taken."""
    mu = algorithm.momentum
    if algorithm.convention == "heavy_ball":
        new = Blocks(*(mu * old + g for old, g in zip(buffer, gradient, strict=True)))
        ahead = Blocks(*(g + mu * m for g, m in zip(gradient, new, strict=True)))
        return new, ahead if algorithm.nesterov else new
    require(algorithm.convention == "optax", "convention", "'heavy_ball' or 'optax'", algorithm.convention)
    new = Blocks(*(mu * old + (1 - mu) * g for old, g in zip(buffer, gradient, strict=True)))
    if not algorithm.nesterov:
        return new, Blocks(*(m / (1 - mu**number) for m in new))
    weights = mu / (1 - mu ** (number + 1)), (1 - mu) / (1 - mu**number)
    return new, Blocks(*(weights[0] * m + weights[1] * g for m, g in zip(new, gradient, strict=True)))


def _signed(problem: Problem, algorithm: Muon, direction: Blocks) -> Blocks:
    x, matrix = direction
    if algorithm.polar == "exact":
        regular = algorithm.regularization
        size = np.hypot(x, np.asarray(regular)[..., None])
        sign = np.where(x == 0, 0.0, x / np.where(size == 0, 1.0, size))
        return Blocks(sign, matrix_sign(matrix, regular))
    require(algorithm.polar == "newton_schulz", "polar", "'exact' or 'newton_schulz'", algorithm.polar)
    squared = (problem.group_size - 1) * np.sum(x * x, axis=-1) + np.sum(matrix * matrix, axis=(-2, -1))
    norm = np.sqrt(squared) + algorithm.eps
    x, matrix = x / norm[..., None], matrix / norm[..., None, None]
    a, b, c = algorithm.coefficients
    for _ in range(algorithm.iterations):
        x = a * x + b * x**3 + c * x**5
        gram = matrix @ np.swapaxes(matrix, -1, -2)
        matrix = a * matrix + (b * gram + c * gram @ gram) @ matrix
    return Blocks(x, matrix)


def two_cycle_margin(rate: Array, optimum: Array, steps: Array) -> Array:
    """Return the margin after some steps of +rate below and -rate above an optimum: a rise, then two values in turn.

    Exact for one group, and for sign descent in the basis of the task at twice the rate (derived here); for many groups
    an approximation whose relative error in a loss is below 2.5 rate steps / K for noiseless labels.
    """
    if math.isinf(optimum):
        return rate * steps
    rise = np.floor(optimum / rate)
    odd = np.mod(steps - rise, 2)
    return np.where(steps <= rise, rate * steps, rate * (rise + odd))

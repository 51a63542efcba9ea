"""Muon on batches of questions with noiseless labels: a question moves when it is drawn (derived here).

The matrix sign of a batch's gradient is close to one on the questions in it and zero on all others, whatever their
counts. After t steps on batches of B, question j has moved Binomial(t, 1 - (1 - p_j)^B) times.
"""

from typing import Any

import numpy as np
from scipy.stats import binom

from solvable.associative_memory.problem import Problem
from solvable.errors import ArgumentError, require
from solvable.precision import Array


def batch_losses(problem: Problem, learning_rate: float, batch_size: int, steps: Any) -> tuple[Array, Array]:
    """Return the approximate mean loss and margin of each group, each of shape (steps, groups).

    Args:
        problem: with noiseless labels.
        learning_rate: > 0, a constant.
        batch_size: >= 1.
        steps: integers >= 0, one-dimensional.

    Raises:
        ArgumentError: for noisy labels, where the sign of a batch is biased and no theory is known.
    """
    require(batch_size >= 1, "batch_size", ">= 1", batch_size)
    if problem.label_noise > 0:
        raise ArgumentError("Muon on batches of noisy labels has no theory: simulate it")
    moved = -np.expm1(batch_size * np.log1p(-problem.frequencies))
    rows = []
    for step in np.asarray(steps, dtype=int):
        times = np.arange(step + 1)
        after = np.log1p((problem.n_items - 1) * np.exp(-learning_rate * times))
        rows.append(binom.pmf(times, step, moved[:, None]) @ after)
    return np.array(rows), learning_rate * np.asarray(steps)[:, None] * moved

"""Counts of correct attempts per problem, and the published ones that come with the package."""

from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from solvable.errors import ArgumentError, require
from solvable.precision import Array


@dataclass(frozen=True, eq=False)
class Counts:
    """How many attempts were made at each problem, and how many succeeded.

    Attributes:
        n_attempts: integers >= 1, shape (problems,).
        n_correct: integers from 0 to `n_attempts`, shape (problems,).
    """

    n_attempts: Array
    n_correct: Array

    def __post_init__(self) -> None:
        """Check and store both as integer arrays of one shape."""
        attempts, correct = (np.atleast_1d(np.asarray(value)) for value in (self.n_attempts, self.n_correct))
        for name, values in (("n_attempts", attempts), ("n_correct", correct)):
            numbers = values.size > 0 and np.issubdtype(values.dtype, np.number)
            whole = numbers and bool(np.all(values == np.floor(values)))
            require(whole, name, "integers, one per problem", values[:3].tolist())
        alike = correct.ndim == 1 and attempts.shape in (correct.shape, (1,))
        allowed = f"one-dimensional, like n_attempts of shape {attempts.shape} (raw outcomes: Counts.from_outcomes)"
        require(alike, "n_correct", allowed, correct.shape)
        attempts = np.broadcast_to(attempts, correct.shape)
        bad = attempts < 1
        require(not bad.any(), "n_attempts", ">= 1", attempts[bad][:3].tolist())
        bad = (correct < 0) | (correct > attempts)
        if bad.any():
            raise ArgumentError(
                f"n_correct must be from 0 to n_attempts (are the two swapped?); got {correct[bad][:3].tolist()} of "
                f"{attempts[bad][:3].tolist()} attempts"
            )
        object.__setattr__(self, "n_attempts", attempts.astype(np.int64))
        object.__setattr__(self, "n_correct", correct.astype(np.int64))

    @classmethod
    def from_outcomes(cls, outcomes: Any) -> "Counts":
        """Count raw outcomes.

        Args:
            outcomes: 0 or 1, shape (problems, attempts).

        Raises:
            ArgumentError: for other shapes or values.

        Example:
            >>> from solvable import latent_difficulty as lid
            >>> lid.Counts.from_outcomes([[0, 1, 1], [0, 0, 0]]).n_correct
            array([2, 0])
        """
        values = np.asarray(outcomes)
        require(values.ndim == 2 and values.size > 0, "outcomes", "of shape (problems, attempts)", values.shape)
        require(bool(np.all((values == 0) | (values == 1))), "outcomes", "0 or 1", values.ravel()[:3].tolist())
        return cls(np.full(len(values), values.shape[1]), values.sum(axis=1))

    @property
    def n_problems(self) -> int:
        """Number of problems."""
        return int(self.n_attempts.size)

    def subsample(self, n_attempts: int, seed: int) -> "Counts":
        """Keep so many attempts of each problem, drawn without replacement.

        Args:
            n_attempts: at most the least number of attempts at a problem.
            seed: integer >= 0.
        """
        least = int(self.n_attempts.min())
        require(1 <= n_attempts <= least, "n_attempts", f"from 1 to {least}", n_attempts)
        rng = np.random.default_rng(seed)
        kept = rng.hypergeometric(self.n_correct, self.n_attempts - self.n_correct, n_attempts)
        return Counts(np.full(self.n_problems, n_attempts), kept)


def pythia_math() -> dict[str, Counts]:
    """Return counts of seven Pythia models on 128 problems of MATH, 10,000 attempts at each.

    The problems are the same, in the same order, for all models. Collected by Brown et al. (arXiv:2407.21787), data set
    ScalingIntelligence/monkey_business (MIT licence); counted from the outcomes that accompany arXiv:2502.17578.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> {name: int(counts.n_correct.sum()) for name, counts in lid.pythia_math().items()}["12B"]
        29685
    """
    text = (resources.files("solvable.latent_difficulty") / "pythia_math.csv").read_text(encoding="utf-8")
    rows = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
    names, values = rows[0][1:], np.array(rows[1:], dtype=np.int64)[:, 1:]
    return {name: Counts(np.full(len(values), 10_000), values[:, place]) for place, name in enumerate(names)}

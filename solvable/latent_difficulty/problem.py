"""The world of latent difficulty: a linear target, labels whose noise has a random precision, and a tolerance."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from solvable.errors import require
from solvable.modes import Modes, PowerLawModes
from solvable.precision import Array, as_leaf, is_traced, namespace


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("modes", "difficulty_exponent", "noise_variance", "tolerance"),
    meta_fields=(),
)
@dataclass(frozen=True, eq=False)
class Problem:
    """A target f* of Gaussian features, with normal label noise of variance noise_variance/tau (arXiv:2601.03764).

    The precision tau of an input is of Gamma(difficulty_exponent/2, 1), whatever x is: label noise is Student t with
    `difficulty_exponent` degrees of freedom, times sqrt(2 noise_variance/difficulty_exponent) (derived here).

    Attributes:
        modes: variances of the features and target power in each, in units of the labels squared.
        difficulty_exponent: beta > 0; the smaller, the more hard inputs.
        noise_variance: sigma^2 > 0, that of a label at tau = 1.
        tolerance: error of an attempt that still counts as a success, > 0, in units of the labels.
    """

    modes: Modes | PowerLawModes
    difficulty_exponent: Array
    noise_variance: Array
    tolerance: Array

    @classmethod
    def power_law(
        cls, capacity: Any, source: Any, n_modes: float = math.inf, *, difficulty_exponent: Any, noise_variance: Any,
        tolerance: Any,
    ) -> "Problem":  # fmt: skip
        """Feature variances k^-capacity and target power k^-(1 + 2 capacity source), k = 1 ... n_modes.

        Args:
            capacity: > 1 if `n_modes` is inf, else >= 0.
            source: > 0.
            n_modes: an integer >= 1, or inf.
            difficulty_exponent: finite, > 0.
            noise_variance: finite, > 0.
            tolerance: finite, > 0.

        Raises:
            ArgumentError: outside these domains.
        """
        modes = PowerLawModes.build(capacity, source, n_modes)
        return cls(modes, *_positive(difficulty_exponent, noise_variance, tolerance))

    @classmethod
    def from_arrays(
        cls, eigenvalues: Any, target_power: Any, *, difficulty_exponent: Any, noise_variance: Any, tolerance: Any
    ) -> "Problem":
        """Any finite spectrum.

        Args:
            eigenvalues: feature variances, shape (modes,), finite, >= 0, at least one positive.
            target_power: shape (modes,), squared coefficient times feature variance.
            difficulty_exponent: finite, > 0.
            noise_variance: finite, > 0.
            tolerance: finite, > 0.

        Raises:
            ArgumentError: outside these domains, or if shapes differ.
        """
        modes = Modes.from_arrays(eigenvalues, target_power, None)
        return cls(modes, *_positive(difficulty_exponent, noise_variance, tolerance))

    @classmethod
    def from_paper(cls, alpha: Any, dimension: int, beta: Any, sigma: Any, delta: Any) -> "Problem":
        """Use the symbols of arXiv:2601.03764: variances j^-(1 + alpha), all coefficients 1, sigma a deviation.

        Its lambda is `ridge_per_sample` here.

        Args:
            alpha: > 0.
            dimension: d, an integer >= 1.
            beta: > 0.
            sigma: > 0.
            delta: > 0.

        Raises:
            ArgumentError: outside these domains.

        Example:
            >>> from solvable import latent_difficulty as lid
            >>> problem = lid.Problem.from_paper(alpha=1.0, dimension=100, beta=2.5, sigma=1e-3, delta=1e-4)
            >>> float(problem.label_noise_variance.round(12)), float(problem.tolerance_ratio.round(12))
            (4e-06, 0.1)
        """
        if not is_traced(alpha):
            require(bool(alpha > 0), "alpha", "> 0", alpha)
        if not is_traced(sigma):
            require(bool(sigma > 0), "sigma", "> 0", sigma)
        return cls.power_law(
            1 + alpha, alpha / (2 * (1 + alpha)), dimension,
            difficulty_exponent=beta, noise_variance=sigma**2, tolerance=delta,
        )  # fmt: skip

    @property
    def n_modes(self) -> float:
        """Number of features, possibly inf."""
        return self.modes.n_modes

    @property
    def label_noise_variance(self) -> Array:
        """Mean variance of a label, 2 noise_variance/(difficulty_exponent - 2); inf for exponents up to 2."""
        xp = namespace(self.difficulty_exponent, self.noise_variance)
        excess = self.difficulty_exponent - 2
        return xp.where(excess > 0, 2 * self.noise_variance / xp.where(excess > 0, excess, 1.0), np.inf)

    @property
    def tolerance_ratio(self) -> Array:
        """Tolerance over the square root of the noise variance."""
        return self.tolerance / namespace(self.noise_variance).sqrt(self.noise_variance)


def _positive(difficulty_exponent: Any, noise_variance: Any, tolerance: Any) -> tuple[Array, Array, Array]:
    given = {"difficulty_exponent": difficulty_exponent, "noise_variance": noise_variance, "tolerance": tolerance}
    leaves = {name: as_leaf(value) for name, value in given.items()}
    for name, value in leaves.items():
        require(np.ndim(value) == 0, name, "a scalar", np.shape(value))
        if not is_traced(value):
            require(bool(np.isfinite(value) and value > 0), name, "finite and > 0", float(value))
    return leaves["difficulty_exponent"], leaves["noise_variance"], leaves["tolerance"]

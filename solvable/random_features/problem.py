"""The world of random-features ridge regression: a spectrum, a target on it, and label noise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from solvable.errors import ArgumentError, require
from solvable.modes import Modes, PowerLawModes
from solvable.precision import Array, as_leaf, is_traced
from solvable.random_features.scaling import exponents
from solvable.random_features.sphere import N_LEVELS, sphere_levels, sphere_spectrum
from solvable.scaling import ScalingLaw


@partial(jax.tree_util.register_dataclass, data_fields=("modes", "noise_variance"), meta_fields=())
@dataclass(frozen=True, eq=False)
class Problem:
    """A target f*(x) = sum_k beta_k psi_k(x), seen with label noise, and the kernel spectrum that learns it.

    The functions psi_k are orthonormal under the input distribution; random features phi(x, w) have the limiting kernel
    K(x, x') = sum_k eigenvalue_k psi_k(x) psi_k(x') (arXiv:2405.15699). Build one with a class method.

    Attributes:
        modes: eigenvalues and target power beta_k^2, in units of the labels squared.
        noise_variance: variance of the label noise, a scalar.
    """

    modes: Modes | PowerLawModes
    noise_variance: Array

    @classmethod
    def power_law(cls, capacity: Any, source: Any, noise_variance: Any = 0.0, n_modes: float = math.inf) -> "Problem":
        """Eigenvalues k^-capacity and target power k^-(1 + 2 capacity source), k = 1 ... n_modes.

        Args:
            capacity: > 1 if `n_modes` is inf, else >= 0.
            source: > 0.
            noise_variance: finite, >= 0.
            n_modes: an integer >= 1, or inf (the default: an infinite-dimensional world).

        Raises:
            ArgumentError: outside these domains.

        Example:
            >>> from solvable import random_features as rf
            >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01)
            >>> problem.n_modes
            inf
        """
        return cls(PowerLawModes.build(capacity, source, n_modes), _noise(noise_variance))

    @classmethod
    def from_arrays(
        cls, eigenvalues: Any, target_power: Any, noise_variance: Any = 0.0, multiplicities: Any = None
    ) -> "Problem":
        """Any finite spectrum, level by level, in any order.

        Args:
            eigenvalues: shape (levels,), finite, >= 0, at least one positive.
            target_power: shape (levels,), the level's total squared target coefficient, not that of one mode.
            noise_variance: finite, >= 0.
            multiplicities: shape (levels,), number of modes in a level, real and >= 0; None for 1 each.

        Raises:
            ArgumentError: outside these domains, or if shapes differ.

        Example:
            >>> from solvable import random_features as rf
            >>> rf.Problem.from_arrays([1.0, 0.1], [0.5, 0.2], multiplicities=[1, 20]).n_modes
            21.0
        """
        return cls(Modes.from_arrays(eigenvalues, target_power, multiplicities), _noise(noise_variance))

    @classmethod
    def from_kernel(cls, kernel_matrix: Any, labels: Any, noise_variance: Any = 0.0) -> "Problem":
        """Estimate spectrum and target from the kernel matrix of N data points and their labels.

        The population is the N points themselves (`simulate_dataset` draws from it with replacement). With several
        output columns, risks are summed over the outputs, and `noise_variance` is summed over them too.

        Args:
            kernel_matrix: shape (N, N), the limiting kernel of the features, e.g. `relu_features.kernel(inputs)`.
            labels: shape (N,) or (N, outputs), without the noise.
            noise_variance: finite, >= 0.

        Raises:
            ArgumentError: if a shape, symmetry or finiteness fails.

        Warns:
            SpectrumWarning: for negative eigenvalues, or too few points to stand for a wider distribution.

        Example:
            >>> import numpy as np
            >>> from solvable import random_features as rf
            >>> inputs = np.random.default_rng(0).normal(size=(200, 3))
            >>> problem = rf.Problem.from_kernel(rf.relu_features.kernel(inputs), inputs[:, 0])
            >>> problem.n_modes
            200.0
        """
        return cls(Modes.from_kernel(kernel_matrix, labels), _noise(noise_variance))

    @classmethod
    def sphere(
        cls,
        activation: str | Callable[[Array], Array],
        dimension: int,
        level_power: Any,
        noise_variance: Any = 0.0,
    ) -> "Problem":
        """Nonlinear features activation(<x, w>/sqrt(d)) of inputs and weights uniform on the sphere of radius sqrt(d).

        Args:
            activation: "relu", "tanh", "erf", or an elementwise function of NumPy arrays.
            dimension: d, an integer >= 3.
            level_power: power of the target in the spherical harmonics of degree 0, 1, ..., shape (levels,), at most
                64 entries; finite, >= 0.
            noise_variance: finite, >= 0.

        Raises:
            ArgumentError: outside these domains.

        The levels have the multiplicities of the harmonics; degrees of 64 and more are one level of very many modes,
        which act as a ridge. The theory is exact for large d, and an approximation for d of a few.

        Example:
            >>> from solvable import random_features as rf
            >>> problem = rf.Problem.sphere("relu", 30, [0.25, 1.0, 0.49, 0.09], noise_variance=0.1)
            >>> float(rf.predict(problem, n_samples=300, n_features=100, ridge=0.1).bias.round(5))
            0.79313
        """
        power = np.asarray(level_power, dtype=np.float64)
        few = power.ndim == 1 and 0 < power.size <= N_LEVELS
        require(few, "level_power", f"one-dimensional with 1 to {N_LEVELS} entries", power.shape)
        eigenvalues, target, counts = sphere_levels(sphere_spectrum(activation, dimension), power)
        return cls.from_arrays(eigenvalues, target, noise_variance, multiplicities=counts)

    @property
    def n_modes(self) -> float:
        """Number of modes, possibly inf."""
        return self.modes.n_modes

    def exponents(self, *, ridge_exponent: Any, width_exponent: Any = math.inf) -> ScalingLaw:
        """Return `exponents` of this world's capacity, source and noise; call that function for exact rationals.

        Args:
            ridge_exponent: as in `exponents`.
            width_exponent: as in `exponents`.

        Raises:
            ArgumentError: if the world is not a power law, or an exponent is outside its domain.

        Example:
            >>> from solvable import random_features as rf
            >>> law = rf.Problem.power_law(capacity=2, source=0.5).exponents(ridge_exponent=1)
            >>> law.exponent("excess_risk")
            -1.0
        """
        modes = self.modes
        if not isinstance(modes, PowerLawModes):
            raise ArgumentError("exponents need a power law; fit one with Modes.fit_power_law, and call exponents(...)")
        return exponents(
            float(modes.capacity), float(modes.source),
            ridge_exponent=ridge_exponent, width_exponent=width_exponent, noisy=bool(self.noise_variance > 0),
        )  # fmt: skip

    def truncate(self, n_modes: int) -> "Problem":
        """Keep the `n_modes` modes of largest eigenvalue: a world that can be sampled.

        Raises:
            ArgumentError: if `n_modes` is not an integer between 1 and the number of modes.

        Example:
            >>> from solvable import random_features as rf
            >>> rf.Problem.power_law(capacity=1.5, source=0.4).truncate(4000).n_modes
            4000.0
        """
        return Problem(self.modes.truncate(n_modes), self.noise_variance)

    def explicit(self) -> "Problem":
        """Return the same problem with one array entry per mode, as simulators use it.

        Raises:
            InfiniteWorldError: if there are infinitely many modes.
        """
        return Problem(self.modes.explicit(), self.noise_variance)


def _noise(noise_variance: Any) -> Array:
    value = as_leaf(noise_variance)
    require(np.ndim(value) == 0, "noise_variance", "a scalar", np.shape(value))
    if not is_traced(value):
        require(bool(np.isfinite(value) and value >= 0), "noise_variance", "finite and >= 0", float(value))
    return value

"""Random feature maps of real inputs, each with the kernel it converges to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from solvable.errors import require
from solvable.precision import Array


@dataclass(frozen=True)
class FeatureMap:
    """phi(x, w) = activation(<x, w> / sqrt(dimension)), w standard normal, and K(x, x') = E_w phi(x, w) phi(x', w).

    Calling it draws features: `features(key, inputs, n_features)` of shape (points, n_features), unscaled.

    Attributes:
        activation: elementwise function on JAX arrays.
        kernel_of_overlaps: K as a function of <x, x'>/d, <x, x>/d and <x', x'>/d, on NumPy arrays.

    Example:
        >>> import jax, numpy as np
        >>> from solvable import random_features as rf
        >>> rf.erf_features(jax.random.key(0), np.ones((5, 2)), 3).shape
        (5, 3)
        >>> rf.relu_features.kernel(np.ones((2, 4))).round(12).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """

    activation: Callable[[Array], Array]
    kernel_of_overlaps: Callable[[Array, Array, Array], Array]

    def __call__(self, key: Array, inputs: Array, n_features: int) -> Array:
        """Draw weights and return the features, shape (points, n_features)."""
        points = jnp.asarray(inputs, jnp.result_type(float))
        weights = jax.random.normal(key, (points.shape[1], n_features), points.dtype)
        return self.activation(points @ weights / np.sqrt(points.shape[1]))

    def kernel(self, inputs: Any) -> Array:
        """Return the limiting kernel matrix, shape (points, points).

        Args:
            inputs: shape (points, dimension).

        Raises:
            ArgumentError: if the inputs are not a finite matrix.
        """
        points = np.asarray(inputs, dtype=np.float64)
        good = points.ndim == 2 and points.size > 0 and bool(np.isfinite(points).all())
        require(good, "inputs", "a finite array of shape (points, dimension)", points.shape)
        overlaps = points @ points.T / points.shape[1]
        squares = np.diag(overlaps)
        return self.kernel_of_overlaps(overlaps, squares[:, None], squares[None, :])


def arc_cosine_kernel(overlap: Array, left: Array, right: Array, xp: Any = np) -> Array:
    """Return the kernel of ReLU features, the arc-cosine kernel of degree 1."""
    norms = xp.sqrt(left * right)
    cosine = xp.clip(overlap / xp.where(norms > 0, norms, 1.0), -1.0, 1.0)
    return norms * (xp.sqrt(1 - cosine**2) + cosine * (xp.pi - xp.arccos(cosine))) / (2 * xp.pi)


def _erf_kernel(overlap: Array, left: Array, right: Array) -> Array:
    return 2 / np.pi * np.arcsin(2 * overlap / np.sqrt((1 + 2 * left) * (1 + 2 * right)))


relu_features = FeatureMap(jax.nn.relu, arc_cosine_kernel)
erf_features = FeatureMap(jax.scipy.special.erf, _erf_kernel)

"""Failure rates at many bias variances and numbers of attempts at once, from a tabulated bias profile."""

from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from solvable.errors import ArgumentError, require
from solvable.latent_difficulty.failure import check_world, over_biases
from solvable.latent_difficulty.profile import profile
from solvable.precision import Array

_DENSITY = 10.0  # numbers of attempts per factor of e
_ROWS = 16  # variances at once


class FailureTable:
    """The failure rate of one difficulty exponent and tolerance: exact in the bias variance, a spline in log k.

    Making it takes a few seconds, reading it some milliseconds per variance; it agrees with `failure_rate` to 1e-5
    in the logarithm (tested).

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> table = lid.FailureTable(2.5, 0.1, bias_variance_ratio=(0.05, 1.0), k=(1, 1e3))
        >>> table.failure_rate([0.1, 0.5], 100).round(5)
        array([0.01439, 0.03382])
    """

    def __init__(
        self, difficulty_exponent: float, tolerance_ratio: float, *, bias_variance_ratio: tuple[float, float],
        k: tuple[float, float],
    ) -> None:  # fmt: skip
        """Tabulate.

        Args:
            difficulty_exponent: beta > 0.
            tolerance_ratio: t > 0.
            bias_variance_ratio: least and greatest v, > 0.
            k: least and greatest number of attempts, from 1 to 1e12.

        Raises:
            ArgumentError: outside these domains.
        """
        low, high = bias_variance_ratio
        check_world(
            *(np.asarray(x, np.float64) for x in (difficulty_exponent, tolerance_ratio, bias_variance_ratio, k))
        )
        require(0 < low < high, "bias_variance_ratio", "a pair of increasing numbers > 0", bias_variance_ratio)
        require(k[0] < k[1], "k", "a pair of increasing numbers", k)
        self.bounds = {"bias_variance_ratio": bias_variance_ratio, "k": k}
        lines = max(8, int(np.ceil(_DENSITY * np.log(k[1] / k[0]))) + 1)
        self._log_k = np.linspace(float(np.log(k[0])), float(np.log(k[1])), lines)
        attempts = np.clip(np.exp(self._log_k), *k)
        between = np.geomspace(low, high, max(2, int(np.ceil(np.log(high / low))) + 1))
        self._profile = profile(difficulty_exponent, tolerance_ratio, attempts, between)

    def log_failure(self, bias_variance_ratio: Any, k: Any) -> Array:
        """Return log(1 - pass@k); arguments within the table's ends broadcast."""
        return self._read(bias_variance_ratio, k, 0)

    def failure_rate(self, bias_variance_ratio: Any, k: Any) -> Array:
        """Return 1 - pass@k."""
        return np.exp(self.log_failure(bias_variance_ratio, k))

    def local_exponent(self, bias_variance_ratio: Any, k: Any) -> Array:
        """Return -dlog(1 - pass@k)/dlog k."""
        return -self._read(bias_variance_ratio, k, 1)

    def _read(self, bias_variance_ratio: Any, k: Any, order: int) -> Array:
        """Return a derivative in log k."""
        v, attempts = np.broadcast_arrays(
            self._within("bias_variance_ratio", bias_variance_ratio), self._within("k", k)
        )
        levels, row = np.unique(v, return_inverse=True)
        pieces = [over_biases(self._profile, levels[i : i + _ROWS])[0] for i in range(0, levels.size, _ROWS)]
        result = np.empty(v.shape)
        for number, curve in enumerate(np.concatenate(pieces)):
            chosen = row.reshape(v.shape) == number
            result[chosen] = CubicSpline(self._log_k, curve)(np.log(attempts[chosen]), order)
        return result

    def _within(self, name: str, value: Any) -> Array:
        low, high = self.bounds[name]
        given = np.asarray(value, dtype=np.float64)
        outside = given[~((given >= low * (1 - 1e-12)) & (given <= high * (1 + 1e-12)))]
        if outside.size:
            raise ArgumentError(f"{name} must be within the table, {low:g} to {high:g}; got {outside[:3].tolist()}")
        return given

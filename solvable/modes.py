"""Spectra and the targets on them: finite tables, and power laws of any length as recipes.

Predictors ask either for its `nodes` and sum over those, without knowing where they came from; simulators ask for the
`explicit` modes.
"""

import math
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import numpy as np

from solvable.errors import InfiniteWorldError, SpectrumWarning, require
from solvable.precision import Array, as_leaf, is_traced
from solvable.quadrature import Nodes, compress, power_law_grid
from solvable.spectrum_fit import SpectrumFit, fit_spectrum

N_MAX = 1e15  # sample sizes and widths up to which an infinite power law is resolved
_TAIL_DECADES = 8.5  # the nodes run so far beyond the last resolved mode that its remainder acts as one node
_TRACED_CAPACITIES = (1.02, 8.0)  # a grid for a capacity not known in advance serves this range
_LARGEST_SIZE = 2.0**1000
_LARGEST_EXPLICIT = 1e8  # modes that are written out one by one
_COMPRESSED_ABOVE = 256  # levels beyond which a finite spectrum is compressed for the predictors


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("eigenvalues", "multiplicities", "target_power"),
    meta_fields=(),
)
@dataclass(frozen=True, eq=False)
class Modes:
    """A finite spectrum and the target on it, level by level.

    Attributes:
        eigenvalues: shape (levels,), >= 0, in any order.
        multiplicities: number of modes in each level, shape (levels,), real, >= 0.
        target_power: squared target coefficients summed over the modes of a level, shape (levels,).
    """

    eigenvalues: Array
    multiplicities: Array
    target_power: Array

    @classmethod
    def from_arrays(cls, eigenvalues: Any, target_power: Any, multiplicities: Any = None) -> "Modes":
        """Build a finite spectrum from its levels, in any order.

        Args:
            eigenvalues: shape (levels,), finite, >= 0, at least one positive.
            target_power: shape (levels,), total squared target coefficient of each level (not per mode).
            multiplicities: shape (levels,), finite, >= 0; None for one mode per level.

        Raises:
            ArgumentError: naming the array, what is allowed and what was given.
        """
        eigenvalues, target_power = as_leaf(eigenvalues), as_leaf(target_power)
        counts = np.ones(np.shape(eigenvalues)) if multiplicities is None else as_leaf(multiplicities)
        for name, values in (("target_power", target_power), ("multiplicities", counts)):
            same = np.shape(values) == np.shape(eigenvalues)
            require(same, name, f"of the same shape as eigenvalues {np.shape(eigenvalues)}", np.shape(values))
        for name, values in (("eigenvalues", eigenvalues), ("target_power", target_power), ("multiplicities", counts)):
            _require_level_array(name, values)
        _require_positive_trace(eigenvalues, counts)
        return cls(eigenvalues, counts, target_power)

    @classmethod
    def from_kernel(cls, kernel_matrix: Any, labels: Any) -> "Modes":
        """Estimate spectrum and target from a kernel matrix on N points and their labels.

        The population is the empirical measure of the points: K/N = U diag(eigenvalues) U^T, target power
        (U^T y)^2 / N, summed over the columns of y where there are several outputs.

        Args:
            kernel_matrix: shape (N, N), symmetric, positive semi-definite up to rounding.
            labels: shape (N,) or (N, outputs), noiseless.

        Raises:
            ArgumentError: if a shape, symmetry or finiteness fails.

        Warns:
            SpectrumWarning: if eigenvalues are negative beyond rounding (they are set to zero), or if more than half
                of the target power lies beyond the first N/20 modes: then the N points are too few to stand for
                the distribution they came from, though they remain exact as a population of their own.
        """
        kernel = np.asarray(kernel_matrix, dtype=np.float64)
        targets = np.asarray(labels, dtype=np.float64)
        points = len(kernel)
        square = kernel.shape == (points, points)
        require(kernel.ndim == 2 and square, "kernel_matrix", "a square matrix", kernel.shape)
        require(bool(np.isfinite(kernel).all()), "kernel_matrix", "finite", "a matrix with nan or inf")
        require(np.allclose(kernel, kernel.T, rtol=1e-8), "kernel_matrix", "symmetric", "an asymmetric matrix")
        matches = targets.ndim in (1, 2) and len(targets) == points
        require(matches, "labels", f"of shape ({points},) or ({points}, outputs)", targets.shape)
        require(bool(np.isfinite(targets).all()), "labels", "finite", "an array with nan or inf")
        eigenvalues, vectors = np.linalg.eigh(kernel / points)
        power = np.sum((vectors.T @ targets.reshape(points, -1)) ** 2, axis=1) / points
        modes = cls.from_arrays(_clip_negative(eigenvalues)[::-1], power[::-1])
        _warn_if_unresolved(modes.target_power)
        return modes

    @property
    def n_modes(self) -> float:
        """Number of modes, those with eigenvalue zero included."""
        return float(np.sum(self.multiplicities))

    def fit_power_law(self, window: tuple[int, int] | None = None, level: float = 0.95) -> SpectrumFit:
        """Estimate capacity and source, with confidence intervals from how much blocks of modes scatter.

        Args:
            window: first and last mode to use, counted from 1 in decreasing order of eigenvalue; None for all. Leave
                out the first few, which rarely follow the law, and, in a spectrum estimated from N points, all beyond
                N/20.
            level: coverage of the intervals, in (0, 1).

        Raises:
            ArgumentError: for a window too short or out of range, or without eigenvalues or target power in a block.

        Example:
            >>> from solvable import random_features as rf
            >>> modes = rf.Problem.power_law(capacity=1.5, source=0.4, n_modes=500).modes.explicit()
            >>> fit = modes.fit_power_law(window=(4, 500))
            >>> round(fit.capacity, 9), round(fit.source, 9)
            (1.5, 0.4)
        """
        modes = self.explicit()
        order = np.argsort(-modes.eigenvalues, kind="stable")
        return fit_spectrum(modes.eigenvalues[order], modes.target_power[order], window, level)

    def nodes(self, xp: Any) -> Nodes:
        """Return the nodes of the spectrum: its levels in decreasing order, compressed where there are many."""
        return self._compressed if xp is np else self._ordered(xp)

    @cached_property
    def _compressed(self) -> Nodes:
        nodes = self._ordered(np)
        return compress(nodes) if len(nodes.eigenvalues) > _COMPRESSED_ABOVE else nodes

    def _ordered(self, xp: Any) -> Nodes:
        x, counts, power = self.eigenvalues, self.multiplicities, self.target_power
        null_power = xp.sum(xp.where(x > 0, 0.0, power))
        order = xp.argsort(-x)
        x, counts, power = x[order], counts[order], power[order]
        positive = x > 0
        counts, power = xp.where(positive, counts, 0.0), xp.where(positive, power, 0.0)
        return Nodes(xp.where(positive, x, 1.0), counts, power, null_power, xp.sum(counts), xp.asarray(0.0))

    def explicit(self) -> "Modes":
        """Return the same spectrum with one node per mode, as a simulator needs it; target power is shared equally.

        Under a trace the levels cannot be counted and are taken to be single modes, as this method returns them.

        Raises:
            ArgumentError: if a multiplicity is not an integer.
        """
        if is_traced(self):
            return self
        whole = self.multiplicities == np.round(self.multiplicities)
        require(bool(np.all(whole)), "multiplicities", "integers in a simulator", self.multiplicities)
        wanted = f"at most {_LARGEST_EXPLICIT:g} in all in a simulator"
        require(self.n_modes <= _LARGEST_EXPLICIT, "multiplicities", wanted, self.n_modes)
        counts = self.multiplicities.astype(np.int64)
        shares = self.target_power / np.maximum(counts, 1)
        return Modes.from_arrays(np.repeat(self.eigenvalues, counts), np.repeat(shares, counts))

    def truncate(self, n_modes: int) -> "Modes":
        """Return the `n_modes` modes of largest eigenvalue, one node each.

        Raises:
            ArgumentError: if `n_modes` is not an integer between 1 and the number of modes.
        """
        modes = self.explicit()
        _require_truncation(n_modes, modes.n_modes)
        order = np.argsort(-modes.eigenvalues, kind="stable")[: int(n_modes)]
        return Modes.from_arrays(modes.eigenvalues[order], modes.target_power[order])


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("capacity", "source"),
    meta_fields=("size", "order", "last"),
)
@dataclass(frozen=True, eq=False)
class PowerLawModes:
    """Eigenvalues k^-capacity and target power k^-(1 + 2 capacity source), k = 1 ... size, as a recipe.

    `capacity` and `source` may be traced; the grid of nodes is static and was chosen when the recipe was built.

    Attributes:
        capacity: decay exponent of the eigenvalues.
        source: smoothness of the target relative to the kernel.
        size: number of modes, possibly inf.
        order: Gauss points per dyadic block.
        last: position up to which blocks run; beyond it, one node carries the rest of an infinite spectrum.
    """

    capacity: Array
    source: Array
    size: float
    order: int
    last: float

    @classmethod
    def build(cls, capacity: Any, source: Any, n_modes: float = math.inf) -> "PowerLawModes":
        """Choose the grid for a capacity and a source.

        Args:
            capacity: > 1 where `n_modes` is infinite, else >= 0; real.
            source: > 0; real.
            n_modes: an integer >= 1 (below 2^1000), or inf.

        Raises:
            ArgumentError: outside these domains.
        """
        capacity, source = as_leaf(capacity), as_leaf(source)
        infinite = n_modes == math.inf
        require(
            infinite or (n_modes >= 1 and n_modes == math.floor(n_modes)), "n_modes", "an integer >= 1 or inf", n_modes
        )
        require(infinite or n_modes < _LARGEST_SIZE, "n_modes", "below 2^1000, or inf", n_modes)
        _require_exponent("capacity", capacity, 1.0 if infinite else 0.0, strict=infinite)
        _require_exponent("source", source, 0.0, strict=True)
        low, high = _TRACED_CAPACITIES if is_traced(capacity) else (float(capacity), float(capacity))
        order = max(12, math.ceil(4 + 2 * high))
        last = N_MAX * 10 ** (_TAIL_DECADES / low) if infinite else float(n_modes)
        return cls(capacity, source, float(n_modes), order, last)

    @property
    def n_modes(self) -> float:
        """Number of modes, possibly inf."""
        return self.size

    def nodes(self, xp: Any) -> Nodes:
        """Return the quadrature nodes as arrays of the namespace `xp`."""
        return self._concrete_nodes if xp is np else self._build_nodes(xp)

    @cached_property
    def _concrete_nodes(self) -> Nodes:
        return self._build_nodes(np)

    def _build_nodes(self, xp: Any) -> Nodes:
        positions, counts = (xp.asarray(values) for values in power_law_grid(self.last, self.order))
        power = counts * positions ** -(1 + 2 * self.capacity * self.source)
        zero, rank = xp.asarray(0.0), xp.asarray(self.size)
        nodes = Nodes(positions**-self.capacity, counts, power, zero, rank, zero)
        return self._with_tail(nodes, xp) if self.size == math.inf else nodes

    def _with_tail(self, nodes: Nodes, xp: Any) -> Nodes:
        """Add one node that matches the trace, the sum of squares and the target power of all modes beyond `last`."""
        capacity, decay = self.capacity, 2 * self.capacity * self.source
        edge = xp.asarray(math.floor(self.last) + 0.5)  # the sum over k > last is the integral from here, to 1/last^2
        trace = edge ** (1 - capacity) / (capacity - 1)
        squares = edge ** (1 - 2 * capacity) / (2 * capacity - 1)
        tails = (squares / trace, trace**2 / squares, edge**-decay / decay)
        pairs = zip(nodes[:3], tails, strict=True)
        eigenvalues, counts, power = (xp.concatenate([v, xp.reshape(tail, (1,))]) for v, tail in pairs)
        return Nodes(eigenvalues, counts, power, nodes.null_power, nodes.rank, xp.asarray(N_MAX) ** -capacity)

    def explicit(self) -> Modes:
        """Return one node per mode.

        Raises:
            InfiniteWorldError: if there are infinitely many; truncate first.
        """
        if self.size == math.inf:
            raise InfiniteWorldError(
                "a simulator needs finitely many modes; got an infinite power law: call problem.truncate(n_modes)"
            )
        positions = np.arange(1.0, self.size + 1)
        target_exponent = 1 + 2 * self.capacity * self.source
        return Modes.from_arrays(positions**-self.capacity, positions**-target_exponent)

    def truncate(self, n_modes: int) -> "PowerLawModes":
        """Return the first `n_modes` modes.

        Raises:
            ArgumentError: if `n_modes` is not an integer between 1 and the number of modes.
        """
        _require_truncation(n_modes, self.size)
        return PowerLawModes.build(self.capacity, self.source, n_modes)


def _require_level_array(name: str, values: Array) -> None:
    require(np.ndim(values) == 1 and np.size(values) > 0, name, "one-dimensional and not empty", np.shape(values))
    if not is_traced(values):
        bad = values[~(np.isfinite(values) & (values >= 0))]
        require(bad.size == 0, name, "finite and >= 0", bad[:3].tolist())


def _require_positive_trace(eigenvalues: Array, multiplicities: Array) -> None:
    if not is_traced(eigenvalues, multiplicities):
        trace = float(eigenvalues @ multiplicities)
        require(0 < trace < math.inf, "eigenvalues", "of positive and finite sum", trace)


def _require_exponent(name: str, value: Array, bound: float, *, strict: bool) -> None:
    require(np.ndim(value) == 0, name, "a scalar", np.shape(value))
    if not is_traced(value):
        inside = value > bound if strict else value >= bound
        wanted = f"finite and {'>' if strict else '>='} {bound:g}"
        require(
            bool(inside and np.isfinite(value)),
            name,
            wanted + (" (infinitely many modes)" if bound else ""),
            float(value),
        )


def _require_truncation(n_modes: Any, available: float) -> None:
    whole = n_modes == math.floor(n_modes) and 1 <= n_modes <= available
    require(math.isfinite(n_modes) and whole, "n_modes", f"an integer in [1, {available:g}]", n_modes)


def _clip_negative(eigenvalues: Array) -> Array:
    worst, largest = float(eigenvalues.min()), float(eigenvalues.max())
    if worst < -1e-10 * largest:
        warnings.warn(
            f"kernel_matrix is not positive semi-definite: smallest eigenvalue {worst:.3g}, largest {largest:.3g}; "
            "negative eigenvalues are set to zero",
            SpectrumWarning,
            stacklevel=4,
        )
    return np.maximum(eigenvalues, 0.0)


def _warn_if_unresolved(target_power: Array) -> None:
    resolved = max(1, len(target_power) // 20)
    beyond = float(target_power[resolved:].sum() / max(target_power.sum(), 1e-300))
    if beyond > 0.5:
        warnings.warn(
            f"{len(target_power)} points are few: {beyond:.0%} of the target power lies beyond the first {resolved} "
            "modes, which is as far as a spectrum estimated from so many points can be trusted off the points",
            SpectrumWarning,
            stacklevel=4,
        )

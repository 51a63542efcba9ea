"""Monte Carlo estimates: means with standard errors, and the covariance that derived observables need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from solvable.errors import require
from solvable.observables import Observables, Record, flat_columns
from solvable.precision import Array, trailing

_COMPLEX_STEP = 1e-20  # f(x + ih) has imaginary part h f'(x) to rounding: no difference is taken


@dataclass(frozen=True, eq=False)
class Moments:
    """Running sums over replicates that merge without loss of digits (Chan, Golub and LeVeque's update).

    Cells are the shape of the observables with the fewest axes; others have axes of their own after those.

    Attributes:
        count: finite replicates per cell, shape (cells).
        failed: replicates per cell in which some base observable was not finite.
        deterministic: whether all replicates of a cell are equal but for rounding, so that one tells the mean exactly.
        mean: name -> mean over the finite replicates, shape (cells, own axes).
        scatter: (name, name) -> sum over replicates of products of deviations; of names of one shape.
    """

    count: Array
    failed: Array
    deterministic: Array
    mean: Mapping[str, Array]
    scatter: Mapping[tuple[str, str], Array]

    @classmethod
    def of(cls, samples: Mapping[str, Array], *, deterministic: bool = False) -> "Moments":
        """Summarise replicates: name -> array of shape (replicates, cells, own axes)."""
        arrays = {name: np.asarray(values, dtype=np.float64) for name, values in samples.items()}
        axes = min(values.ndim for values in arrays.values())
        finite = np.logical_and.reduce([_all_finite(values, axes) for values in arrays.values()])
        count = finite.sum(axis=0)
        mean, deviation = {}, {}
        for name, values in arrays.items():
            kept = trailing(finite, values.ndim)
            mean[name] = np.where(kept, values, 0.0).sum(axis=0) / trailing(np.maximum(count, 1), values.ndim - 1)
            deviation[name] = np.where(kept, values - mean[name], 0.0)
        pairs = [(a, b) for a, b in combinations_with_replacement(arrays, 2) if mean[a].shape == mean[b].shape]
        scatter = {(a, b): (deviation[a] * deviation[b]).sum(axis=0) for a, b in pairs}
        return cls(count, len(finite) - count, np.full(count.shape, deterministic), mean, scatter)

    def merge(self, other: "Moments") -> "Moments":
        """Combine two disjoint sets of replicates."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        step = {name: other.mean[name] - mean for name, mean in self.mean.items()}
        mean = {name: self.mean[name] + trailing(share, delta.ndim) * delta for name, delta in step.items()}
        weight = self.count * share
        scatter = {
            (a, b): value + other.scatter[a, b] + trailing(weight, value.ndim) * step[a] * step[b]
            for (a, b), value in self.scatter.items()
        }
        return Moments(count, self.failed + other.failed, self.deterministic & other.deterministic, mean, scatter)

    @classmethod
    def gather(cls, parts: Sequence["Moments"], order: Array, shape: tuple[int, ...]) -> "Moments":
        """Join cells end to end along their first axis, take them in an order, and give that axis a shape."""

        def gathered(arrays: Sequence[Array]) -> Array:
            cells = np.concatenate(arrays)[order]
            return cells.reshape(shape + cells.shape[1:])

        first = parts[0]
        return cls(
            gathered([part.count for part in parts]),
            gathered([part.failed for part in parts]),
            gathered([part.deterministic for part in parts]),
            {name: gathered([part.mean[name] for part in parts]) for name in first.mean},
            {pair: gathered([part.scatter[pair] for part in parts]) for pair in first.scatter},
        )


@dataclass(frozen=True, eq=False)
class Estimate:
    """Means over replicates of base and derived observables, with standard errors.

    Attributes:
        moments: counts, means and co-moments of the base observables.
        declared: the model's observables; derived ones are functions of the mean base ones, with errors by the delta
            method from the full covariance.
        constants: numbers of the problem that derived observables need.
        controls: the controls of the cells.
    """

    moments: Moments
    declared: Observables
    constants: Mapping[str, Array] = field(default_factory=dict)
    controls: Record = field(default_factory=lambda: Record({}))

    @classmethod
    def from_samples(
        cls, samples: Mapping[str, Any], declared: Observables | None = None, **constants: Any
    ) -> "Estimate":
        """Build an estimate from your own replicates.

        Args:
            samples: name -> array with replicates along the first axis, then cells; some may have further axes.
            declared: observables to interpret them by; by default every name is a base observable.
            constants: numbers that derived observables need.

        Raises:
            ArgumentError: if shapes do not begin alike or there are no replicates.

        Example:
            >>> from solvable import Estimate
            >>> estimate = Estimate.from_samples({"excess_risk": [0.9, 1.1, 1.0, 1.2]})
            >>> float(estimate.mean.excess_risk), round(float(estimate.sem.excess_risk), 4)
            (1.05, 0.0645)
        """
        arrays = {name: np.asarray(values, dtype=np.float64) for name, values in samples.items()}
        shapes = {values.shape for values in arrays.values()}
        common = min(shapes, key=len, default=())
        good = bool(common and common[0] > 0) and all(shape[: len(common)] == common for shape in shapes)
        require(good, "samples", "arrays with replicates first, whose shapes begin alike", shapes)
        return cls(Moments.of(arrays), declared or Observables(tuple(arrays)), constants)

    @property
    def count(self) -> Array:
        """Number of finite replicates per cell."""
        return self.moments.count

    @property
    def failed(self) -> Array:
        """Number of replicates per cell that were not finite; they are not in the means."""
        return self.moments.failed

    @property
    def mean(self) -> Record:
        """Means of base and derived observables; nan where no replicate was finite."""
        missing = np.where(self.count > 0, 0.0, np.nan)
        base = {name: value + trailing(missing, value.ndim) for name, value in self.moments.mean.items()}
        return self.declared.complete(base, self.constants)

    @property
    def sem(self) -> Record:
        """Standard errors of the means; nan where fewer than two replicates were finite, 0 for deterministic ones."""
        return Record({name: np.sqrt(self._variance_of_mean(self._gradient(name))) for name in self.declared.names})

    def interval(self, level: float = 0.95) -> tuple[Record, Record]:
        """Return lower and upper ends of two-sided Student confidence intervals of the means.

        Args:
            level: coverage, in (0, 1).
        """
        require(0 < level < 1, "level", "in (0, 1)", level)
        from scipy.special import stdtrit

        width = stdtrit(np.maximum(self.count - 1, 1), 0.5 + level / 2)
        mean, sem = self.mean, self.sem
        half = {name: trailing(width, error.ndim) * error for name, error in sem.items()}
        ends = ({name: mean[name] + sign * half[name] for name in mean} for sign in (-1, 1))
        lower, upper = (Record(end) for end in ends)
        return lower, upper

    def merge(self, other: "Estimate") -> "Estimate":
        """Combine with an estimate of the same observables from disjoint replicates."""
        same = self.declared.base == other.declared.base
        require(same, "other", f"an estimate of {self.declared.base}", other.declared.base)
        return Estimate(self.moments.merge(other.moments), self.declared, self.constants, self.controls)

    def to_dict(self) -> dict[str, Array]:
        """Return controls, means, standard errors (name_sem), count and failed as flat columns of equal length."""
        errors = {f"{name}_sem": value for name, value in self.sem.items()}
        values = {**self.mean, **errors, "count": self.count, "failed": self.failed}
        return flat_columns(self.controls, values, own_axes=self.declared.own_axes)

    def to_dataframe(self) -> Any:
        """Return the same as a pandas DataFrame, one row per combination of controls (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def __repr__(self) -> str:
        pairs = zip(self.mean.items(), self.sem.values(), strict=True)
        rows = (f"\n  {name}: {mean} +- {sem}" for (name, mean), sem in pairs)
        return f"Estimate (count {self.count}, failed {self.failed})" + "".join(rows)

    def _gradient(self, name: str) -> dict[str, Array]:
        """Derivatives of an observable in the mean base observables, by complex steps."""
        means = self.moments.mean
        if name in means:
            return {name: np.ones(means[name].shape)}
        derive = self.declared.derived[name]
        slopes = {base: self._slope(derive, means, base) for base in means}
        return {base: slope for base, slope in slopes.items() if np.any(slope != 0)}

    def _slope(self, derive: Any, means: Mapping[str, Array], base: str) -> Array:
        shifted = {**means, base: means[base] + 1j * _COMPLEX_STEP}
        return np.imag(derive(shifted, self.constants)) / _COMPLEX_STEP

    def _variance_of_mean(self, gradient: Mapping[str, Array]) -> Array:
        shapes = [np.shape(slope) for slope in gradient.values()]
        total = np.zeros(max(shapes, key=len, default=np.shape(self.count)))
        for a, b in combinations_with_replacement(self.moments.mean, 2):
            if a in gradient and b in gradient:  # of one shape: no derived observable mixes shapes
                total = total + (1 if a == b else 2) * gradient[a] * gradient[b] * self.moments.scatter[a, b]
        freedom = np.where(self.count > 1, self.count - 1.0, np.where(self.moments.deterministic, np.inf, np.nan))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.maximum(total, 0.0) / trailing(self.count * freedom, np.ndim(total))


def _all_finite(values: Array, axes: int) -> Array:
    return np.isfinite(values).all(axis=tuple(range(axes, values.ndim)))

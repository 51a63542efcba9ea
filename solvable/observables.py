"""Records of named observables, shared by predictions and measurements.

A model declares its observables once, in an `Observables`: *base* ones, which one replicate measures and of which a
prediction gives the mean, and *derived* ones, which are functions of the mean base ones (never a mean of ratios or of
logarithms). Generic code (comparison, sweeps, figures) sees only these names.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from solvable.precision import Array, trailing

Derivation = Callable[[Mapping[str, Array], Mapping[str, Array]], Array]


@jax.tree_util.register_pytree_node_class
class Record(Mapping[str, Any]):
    """An immutable mapping from names to arrays whose entries are also attributes."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        """Store a copy of the entries."""
        self.__dict__["_entries"] = dict(entries)

    def __getitem__(self, name: str) -> Any:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_entries"][name]
        except KeyError:
            raise AttributeError(
                f"no entry {name!r}; there are {', '.join(self.__dict__.get('_entries', ()))}"
            ) from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a record is immutable")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._entries]

    def __repr__(self) -> str:
        return "".join(f"\n  {name}: {np.array2string(np.asarray(v), threshold=8)}" for name, v in self.items())

    def tree_flatten(self) -> tuple[tuple[Any, ...], tuple[str, ...]]:
        """Split into leaves and names, for JAX."""
        return tuple(self._entries.values()), tuple(self._entries)

    @classmethod
    def tree_unflatten(cls, names: tuple[str, ...], leaves: tuple[Any, ...]) -> "Record":
        """Rebuild from names and leaves, for JAX."""
        return cls(dict(zip(names, leaves, strict=True)))


@dataclass(frozen=True, eq=False)
class Observables:
    """What a model measures.

    Attributes:
        base: names that `draw` returns and `predict` predicts the mean of.
        derived: name -> function of (base values, constants of the problem), analytic in the base values.
        validity: how the prediction relates to the simulator: "exact", "equivalent" or "approximation".
        finite_size: name -> order of the relative difference between prediction and mean, e.g. "1/n"; an equivalent is
            exact in the limit only.
        own_axes: name -> axis that an observable has after those of its cells, e.g. {"group_loss": "group"}; tables
            number its entries from 1 in a column of that name.
    """

    base: tuple[str, ...]
    derived: Mapping[str, Derivation] = field(default_factory=dict)
    validity: str = "exact"
    finite_size: Mapping[str, str] = field(default_factory=dict)
    own_axes: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All observables, base ones first."""
        return (*self.base, *self.derived)

    def complete(self, base: Mapping[str, Array], constants: Mapping[str, Array]) -> Record:
        """Add the derived observables to the base ones; at singular points they may be inf or nan."""
        with np.errstate(all="ignore"):
            derived = {name: derive(base, constants) for name, derive in self.derived.items()}
        return Record({**{name: base[name] for name in self.base}, **derived})


@jax.tree_util.register_pytree_node_class
@dataclass(frozen=True, eq=False)
class Prediction:
    """What a theory says: observables as attributes, diagnostics apart, controls carried along.

    Attributes:
        observables: base and derived observables, each of the controls' broadcast shape.
        diagnostics: quantities of the theory only, e.g. effective ridges and the residual of the root.
        controls: the controls as given.
        declared: the model's declaration, with `validity` and `finite_size`.
    """

    observables: Record
    diagnostics: Record
    controls: Record
    declared: Observables

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "observables" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.observables, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.observables]

    def __repr__(self) -> str:
        return f"Prediction ({self.declared.validity}){self.observables!r}"

    def to_dict(self) -> dict[str, Array]:
        """Return controls and observables as flat columns of equal length, ready for any table."""
        return flat_columns(self.controls, self.observables, own_axes=self.declared.own_axes)

    def to_dataframe(self) -> Any:
        """Return the same as a pandas DataFrame, one row per combination of controls (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def tree_flatten(self) -> tuple[tuple[Record, Record, Record], Observables]:
        """Split into records and declaration, for JAX."""
        return (self.observables, self.diagnostics, self.controls), self.declared

    @classmethod
    def tree_unflatten(cls, declared: Observables, records: tuple[Record, Record, Record]) -> "Prediction":
        """Rebuild from records and declaration, for JAX."""
        return cls(*records, declared)


def flat_columns(
    controls: Mapping[str, Any], values: Mapping[str, Any], *, own_axes: Mapping[str, str]
) -> dict[str, Array]:
    """Broadcast controls and values against each other and flatten them.

    Values may have more axes than their cells, at the end; what lacks them is repeated along them.
    """
    columns = {name: np.asarray(value) for name, value in {**controls, **values}.items()}
    axes = max(array.ndim for array in columns.values())
    cells = np.broadcast_shapes(*(columns[name].shape for name in controls))
    expanded: dict[str, Array] = {}
    for name in controls:
        expanded[name] = columns[name].reshape(columns[name].shape + (1,) * (axes - len(cells)))
    for name, axis in ((n, a) for n, a in own_axes.items() if n in columns):
        expanded[axis] = 1 + np.arange(columns[name].shape[-1])
    for name in values:
        expanded[name] = trailing(columns[name], axes)
    arrays = np.broadcast_arrays(*expanded.values())
    return {name: array.ravel() for name, array in zip(expanded, arrays, strict=True)}

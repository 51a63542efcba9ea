"""What experiments on deterministic equivalents share: ridges as rows, and the size of their relative error."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from experiments.sweep import Cell
from solvable.observables import Prediction, Record
from solvable.precision import Array

SIZES = ("n_samples", "n_features")
PAIR_SIZES = tuple(f"{stage}_{size}" for stage in ("teacher", "student") for size in SIZES)


def rows_of_ridges(cell: Cell) -> dict[str, Array]:
    """Return the controls of a cell with one row per ridge and one column per number of features."""
    ridge, width = np.asarray(cell["ridge"])[:, None], np.asarray(cell["n_features"])
    return {"n_samples": cell["n_samples"], "n_features": width, "ridge": ridge}


def over_smallest_size(
    constant: float, observables: Sequence[str], sizes: Sequence[str] = SIZES
) -> Callable[[Mapping[str, Array]], dict[str, Array]]:
    """Return the allowance constant / min(sizes) as a function of the controls, for each observable."""
    return partial(_over_smallest, constant, tuple(observables), tuple(sizes))


def _over_smallest(
    constant: float, observables: Sequence[str], sizes: Sequence[str], controls: Mapping[str, Array]
) -> dict[str, Array]:
    return dict.fromkeys(observables, constant / reduce(np.minimum, (controls[size] for size in sizes)))


def labelled(theory: Prediction, **labels: Any) -> Prediction:
    """Return the prediction with further columns beside its controls."""
    controls = Record({**theory.controls, **labels})
    return Prediction(theory.observables, theory.diagnostics, controls, theory.declared)


def sampling(cell: Cell) -> dict[str, Any]:
    """Return the sampling keywords of a simulation cell."""
    return {name: cell[name] for name in ("seed", "replicates")}

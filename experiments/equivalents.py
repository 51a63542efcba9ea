"""What experiments on deterministic equivalents share: ridges as rows, and the size of their relative error."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from experiments.sweep import Cell, Preset
from solvable import Estimate
from solvable import weak_to_strong as w2s
from solvable.observables import Observables, Prediction, Record
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


def pair_comparison(detectable: float) -> dict[str, Any]:
    """Return how experiments on a teacher and a student are judged: C/min(sizes), with C <= 1.5 from three sizes."""
    names = w2s.OBSERVABLES.base
    return {"observables": names, "finite_size": over_smallest_size(1.5, names, PAIR_SIZES), "detectable": detectable}


def decade_ratios(risks: Mapping[str, Array], declared: Observables) -> Estimate:
    """Return by which factor risks, of shape (points, 2), change over the decade between their two columns.

    Nothing is random here: two equal samples have a standard error of 0, and are held to the allowance alone.
    """
    ratios = {f"{name}_ratio": values[:, 1] / values[:, 0] for name, values in risks.items()}
    return Estimate.from_samples({name: np.stack([value, value]) for name, value in ratios.items()}, declared)


def slopes_within(tolerance: float, observables: Sequence[str], controls: Mapping[str, Array]) -> dict[str, Array]:
    """Return the relative allowance for factors per decade whose exponents are known to a tolerance."""
    size = np.ones_like(next(iter(controls.values())))
    return dict.fromkeys(observables, (10**tolerance - 1) * size)


def sweep_of_sizes(n_modes: int, dense: Array, sizes: Sequence[int], replicates: int) -> Preset:
    """Return a sweep over n: theory of the infinite world, and of the finite one around the sizes simulated."""
    short = np.geomspace(0.7 * sizes[0], 1.4 * sizes[-1], 20)
    return Preset(
        theory=(
            {"n_modes": math.inf, "n_samples": dense.tolist()},
            {"n_modes": n_modes, "n_samples": short.tolist()},
        ),
        simulation=[{"n_modes": n_modes, "n_samples": [n]} for n in sizes],
        sampling={"seed": 0, "replicates": replicates},
    )

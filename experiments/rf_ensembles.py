"""Ensembles: risk of one model, and of averages over features, data or both, against the number of features."""

import math

import numpy as np

from experiments.equivalents import over_smallest_size, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import random_features as rf
from solvable.observables import Prediction
from solvable.precision import Array

RIDGE = 0.1

# The equivalent's relative error, C / min(n, p), C from three sizes at p = n/2 and 3n/2 (slow tests).
FINITE_SIZE = over_smallest_size(1.5, rf.DECOMPOSITION.base)


def _preset(n: int, n_modes: int, widths: list[int], replicates: int) -> Preset:
    world = {"n_samples": n, "n_modes": n_modes, "ridge": RIDGE}
    dense = np.geomspace(n / 8, 10 * n, 120)
    return Preset(
        theory=({**world, "n_features": [*dense.tolist(), math.inf]},),
        simulation=tuple({**world, "n_features": [width]} for width in widths),
        sampling={"seed": 0, "replicates": replicates},
    )


def _controls(cell: Cell) -> dict[str, Array]:
    return {name: np.asarray(cell[name]) for name in ("n_samples", "n_features", "ridge")}


def _problem(cell: Cell) -> rf.Problem:
    return rf.Problem.power_law(1.5, 0.4, 0.05, n_modes=cell["n_modes"])


def predict(cell: Cell) -> Prediction:
    """Predict one cell."""
    return rf.decompose(_problem(cell), **_controls(cell))


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell."""
    return rf.simulate_decomposition(_problem(cell), **_controls(cell), **sampling(cell))


EXPERIMENT = Experiment(
    name="rf_ensembles",
    summary=__doc__.splitlines()[0],
    model="random_features",
    presets={
        "quick": _preset(48, 384, [12, 24, 48, 120], 160),
        "paper": _preset(200, 1600, [25, 50, 100, 200, 400, 800, 1600], 640),
    },
    predict=predict,
    simulate=simulate,
    compare={"observables": rf.DECOMPOSITION.base, "finite_size": FINITE_SIZE, "detectable": 0.6},
    observables=rf.DECOMPOSITION,
)

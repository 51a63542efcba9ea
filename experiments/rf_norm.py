"""Norm-based capacity: the estimator's norm against width, and the risk against the norm."""

import numpy as np

from experiments.equivalents import over_smallest_size, rows_of_ridges, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import random_features as rf
from solvable.observables import Prediction

RIDGES = [1e-3, 1e-1, 1.0]

# The equivalent's relative error, C / min(n, p), with the constants measured for `rf_double_descent`.
FINITE_SIZE = over_smallest_size(1.5, ("excess_risk", "squared_norm"))


def _preset(n: int, n_modes: int, ratios: list[float], replicates: int) -> Preset:
    world = {"n_samples": n, "n_modes": n_modes, "ridge": RIDGES}
    dense = n * np.unique(np.concatenate([np.geomspace(0.1, 8, 150), np.linspace(0.9, 1.1, 21)]))
    return Preset(
        theory=({**world, "n_features": dense.tolist()},),
        simulation=tuple({**world, "n_features": [round(n * ratio)]} for ratio in ratios),
        sampling={"seed": 0, "replicates": replicates},
    )


def _problem(cell: Cell) -> rf.Problem:
    return rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=cell["n_modes"])


def predict(cell: Cell) -> Prediction:
    """Predict one cell."""
    return rf.predict(_problem(cell), **rows_of_ridges(cell))


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell."""
    return rf.simulate(_problem(cell), **rows_of_ridges(cell), **sampling(cell))


EXPERIMENT = Experiment(
    name="rf_norm",
    summary=__doc__.splitlines()[0],
    model="random_features",
    presets={
        "quick": _preset(64, 512, [0.25, 0.5, 2, 4], 224),
        "paper": _preset(100, 800, [0.125, 0.25, 0.5, 2, 4, 8], 1024),
    },
    predict=predict,
    simulate=simulate,
    compare={"observables": ("excess_risk", "squared_norm"), "finite_size": FINITE_SIZE, "detectable": 0.45},
)

"""Excess risk against the number of features: the peak at p = n fades with the ridge, the plateau is the kernel's."""

import math
from collections.abc import Mapping

import numpy as np

from experiments.equivalents import rows_of_ridges, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import random_features as rf
from solvable.observables import Prediction
from solvable.precision import Array

RIDGES = [1e-3, 1e-2, 1e-1, 1.0]
DAMPED = [1e-1, 1.0]  # at p = n smaller ridges make a heavy-tailed risk, whose mean no simulation can estimate


def _preset(n: int, n_modes: int, widths: list[float], replicates: int) -> Preset:
    world = {"n_samples": n, "n_modes": n_modes}
    dense = np.unique(np.concatenate([np.geomspace(n / 8, 8 * n, 90), n * np.linspace(0.9, 1.1, 41)]))
    return Preset(
        theory=(
            {**world, "n_features": dense.tolist(), "ridge": RIDGES},
            {**world, "n_features": [math.inf], "ridge": RIDGES},
        ),
        simulation=tuple(
            {**world, "n_features": [width], "ridge": DAMPED if width == n else RIDGES} for width in widths
        ),
        sampling={"seed": 0, "replicates": replicates},
    )


def _problem(cell: Cell) -> rf.Problem:
    return rf.Problem.power_law(1.5, 0.4, 0.05, n_modes=cell["n_modes"])


def predict(cell: Cell) -> Prediction:
    """Predict one cell."""
    return rf.predict(_problem(cell), **rows_of_ridges(cell))


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell."""
    return rf.simulate(_problem(cell), **rows_of_ridges(cell), **sampling(cell))


def finite_size(controls: Mapping[str, Array]) -> Mapping[str, Array]:
    """The equivalent's relative error, C / min(n, p), with C from three sizes at each ratio p/n and ridge here.

    Measured at n = 48, 96, 192 with up to 4000 replicates, largest over sizes and ridges 1e-3 to 1: 1.5 for bias and
    risk, 1.25 for the variance, and for the training error 0.75 at p < n but 4.1 at p >= n (at p = 2n, ridge 1e-3).
    """
    size = np.minimum(controls["n_samples"], controls["n_features"])
    training = np.where(controls["n_features"] < controls["n_samples"], 0.8, 4.2)
    constants = {"bias": 1.5, "variance": 1.3, "excess_risk": 1.5, "test_error": 1.5, "train_error": training}
    return {name: constant / size for name, constant in constants.items()}


EXPERIMENT = Experiment(
    name="rf_double_descent",
    summary=__doc__.splitlines()[0],
    model="random_features",
    presets={  # replicates in multiples of 32: chunks of one shape, which compile once
        "quick": _preset(64, 512, [16, 32, 64, 128, 256, math.inf], 224),
        "paper": _preset(300, 2400, [40, 75, 110, 150, 300, 600, 1200, 2400, math.inf], 1024),
    },
    predict=predict,
    simulate=simulate,
    compare={
        "observables": ("bias", "variance", "excess_risk", "test_error", "train_error"),
        "finite_size": finite_size,
        "detectable": 0.35,
    },
)

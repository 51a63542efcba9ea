"""Crossover: risk against n bends from the slope of the bias to that of the variance, but not at the best exponents."""

import numpy as np

from experiments.equivalents import labelled, over_smallest_size, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import random_features as rf
from solvable.observables import Prediction
from solvable.precision import Array

WORLDS = {0.25: (2.0, 1e-2, 1.8), 0.6: (2.5, 1e-4, 2.0)}  # source -> capacity, noise, ridge exponent of the bent line
WIDTH = 1.2  # wide enough for the best rate

# The equivalent's relative error, C / min(n, p), with the constant measured for `rf_double_descent`.
FINITE_SIZE = over_smallest_size(1.5, ("excess_risk",))


def _preset(n_modes: int, sizes: list[int], replicates: int) -> Preset:
    theory: list[Cell] = []
    simulation: list[Cell] = []
    for source, (capacity, noise, bending) in WORLDS.items():
        best = rf.optimal_exponents(capacity, source, width_exponent=WIDTH)
        for ridge_exponent in (bending, best.ridge_exponent):
            world = {
                "capacity": capacity, "source": source, "noise_variance": noise, "n_modes": n_modes,
                "ridge_exponent": ridge_exponent, "width_exponent": WIDTH,
            }  # fmt: skip
            dense = np.geomspace(0.7 * sizes[0], 4 * sizes[-1], 80)
            theory.append({**world, "n_samples": dense.tolist()})
            simulation.extend({**world, "n_samples": [n]} for n in sizes)
    return Preset(theory, simulation, {"seed": 0, "replicates": replicates})


def _controls(cell: Cell, *, whole: bool) -> dict[str, Array]:
    n = np.asarray(cell["n_samples"], dtype=float)
    width = n ** cell["width_exponent"]
    return {
        "n_samples": n,
        "n_features": np.round(width) if whole else width,
        "ridge_per_sample": n ** -cell["ridge_exponent"],
    }


def _problem(cell: Cell) -> rf.Problem:
    return rf.Problem.power_law(cell["capacity"], cell["source"], cell["noise_variance"], n_modes=cell["n_modes"])


def predict(cell: Cell) -> Prediction:
    """Predict one cell; a single n is rounded as in its simulation."""
    controls = _controls(cell, whole=len(cell["n_samples"]) == 1)
    theory = rf.predict(_problem(cell), **controls)
    labels = {name: cell[name] for name in ("capacity", "source", "ridge_exponent", "width_exponent")}
    return labelled(theory, **labels)


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell."""
    return rf.simulate(_problem(cell), **_controls(cell, whole=True), **sampling(cell))


EXPERIMENT = Experiment(
    name="rf_crossover",
    summary=__doc__.splitlines()[0],
    model="random_features",
    presets={"quick": _preset(512, [24, 40, 64], 160), "paper": _preset(8192, [16, 32, 64, 128, 256, 512], 256)},
    predict=predict,
    simulate=simulate,
    compare={"observables": ("excess_risk",), "finite_size": FINITE_SIZE, "detectable": 0.6},
)

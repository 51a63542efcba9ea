"""Compute-optimal frontier: risk at the best ridge against compute n p, for several shapes, and their envelope."""

import numpy as np

from experiments.equivalents import labelled, over_smallest_size, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import random_features as rf
from solvable.observables import Prediction
from solvable.precision import Array

CAPACITY, SOURCE = 2.0, 0.4
NOISES = (0.0, 0.1)
ASPECTS = [0.25, 0.4, 0.6, 1.0, 1.5]  # log p / log n

# The equivalent's relative error, C / min(n, p), with the constant measured for `rf_double_descent`.
FINITE_SIZE = over_smallest_size(1.5, ("excess_risk",))


def _preset(n_modes: int, budgets: list[float], replicates: int) -> Preset:
    compute = np.geomspace(budgets[0] / 4, budgets[-1] * 3, 50)
    many = np.linspace(0.15, 1.8, 67)
    theory, simulation = [], []
    for noise in NOISES:
        world = {"noise_variance": noise, "n_modes": n_modes}
        theory += [{**world, "aspect": [aspect], "compute": compute.tolist()} for aspect in ASPECTS]
        theory.append({**world, "aspect": many.tolist(), "compute": compute.tolist()})
        simulation += [{**world, "aspect": [aspect], "compute": [c]} for aspect in (1.0, 1.5) for c in budgets]
    return Preset(theory, simulation, {"seed": 0, "replicates": replicates})


def _controls(cell: Cell) -> dict[str, Array]:
    """Sizes and their best ridge; whole numbers where one point is asked for, which is then simulated."""
    compute, aspect = np.asarray(cell["compute"])[:, None], np.asarray(cell["aspect"])
    n = compute ** (1 / (1 + aspect))
    p = compute / n
    if n.size == 1:
        n, p = np.round(n), np.round(p)
    best = rf.optimal_ridge(_problem(cell), n_samples=n, n_features=p)
    return {"n_samples": n, "n_features": p, "ridge": best.ridge}


def _problem(cell: Cell) -> rf.Problem:
    return rf.Problem.power_law(CAPACITY, SOURCE, cell["noise_variance"], n_modes=cell["n_modes"])


def predict(cell: Cell) -> Prediction:
    """Predict one cell at the best ridge."""
    controls = _controls(cell)
    theory = rf.predict(_problem(cell), **controls)
    labels = {"noise_variance": cell["noise_variance"], "aspect": np.asarray(cell["aspect"])}
    return labelled(theory, **labels)


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell at the best ridge."""
    return rf.simulate(_problem(cell), **_controls(cell), **sampling(cell))


EXPERIMENT = Experiment(
    name="rf_compute_optimal",
    summary=__doc__.splitlines()[0],
    model="random_features",
    presets={"quick": _preset(512, [1000.0, 4000.0, 12000.0], 96), "paper": _preset(8192, [1e3, 1e4, 1e5], 256)},
    predict=predict,
    simulate=simulate,
    compare={"observables": ("excess_risk",), "finite_size": FINITE_SIZE, "detectable": 0.6},
)

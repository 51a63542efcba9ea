"""Self-distillation: errors fall while noise is filtered, then all is forgotten, or all collapses."""

import math

import numpy as np
from scipy.optimize import minimize_scalar

from experiments.equivalents import labelled, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import weak_to_strong as w2s
from solvable.observables import Prediction, Record
from solvable.precision import Array

RIDGES = [0.003, 0.1, 3.0]
BEST = math.nan  # stands for the best ridge of each generation in turn


def _preset(n: int, n_modes: int, generations: tuple[int, int], replicates: int) -> Preset:
    world = {"n": n, "n_modes": n_modes}
    many, few = generations
    return Preset(
        theory=[
            *({**world, "ridge": ridge, "best": False, "generations": many} for ridge in RIDGES),
            {**world, "ridge": RIDGES[0], "best": True, "generations": min(many, 12)},
        ],
        simulation=[{**world, "ridge": ridge, "best": False, "generations": few} for ridge in RIDGES],
        sampling={"seed": 0, "replicates": replicates},
    )


def _problem(cell: Cell) -> w2s.Problem:
    return w2s.Problem.power_law(1.5, 0.6, 0.3, n_modes=cell["n_modes"])


def _stage(cell: Cell, ridge: float) -> w2s.Stage:
    return w2s.Stage(cell["n"], 2 * cell["n"], ridge=ridge)


def _stages(cell: Cell) -> list[w2s.Stage]:
    """Return the same stage again and again, or each with the ridge that is best for it after those before."""
    if not cell["best"]:
        return [_stage(cell, cell["ridge"])] * cell["generations"]
    stages = [_stage(cell, cell["ridge"])]
    for _ in range(cell["generations"] - 1):

        def risk(log_ridge: float) -> float:
            return float(w2s.chain(_problem(cell), [*stages, _stage(cell, math.exp(log_ridge))]).excess_risk[-1])

        stages.append(_stage(cell, math.exp(minimize_scalar(risk, bounds=(-12, 5), method="bounded").x)))
    return stages


def predict(cell: Cell) -> Prediction:
    """Predict one chain."""
    theory = w2s.chain(_problem(cell), _stages(cell))
    generation = np.arange(1, cell["generations"] + 1)
    plain = Prediction(theory.observables, theory.diagnostics, Record({}), theory.declared)
    return labelled(plain, generation=generation, ridge=cell["ridge"], best=float(cell["best"]), n=cell["n"])


def simulate(cell: Cell) -> Estimate:
    """Simulate one chain."""
    return w2s.simulate(_problem(cell), stages=_stages(cell), **sampling(cell))


def finite_size(controls: dict[str, Array]) -> dict[str, Array]:
    """The equivalent's relative error, 1.5/n for one generation as in tests, once more for each."""
    return {"excess_risk": 1.5 * controls["generation"] / controls["n"]}


EXPERIMENT = Experiment(
    name="w2s_chain",
    summary=__doc__.splitlines()[0],
    model="weak_to_strong",
    presets={"quick": _preset(32, 128, (40, 3), 256), "paper": _preset(100, 400, (40, 8), 512)},
    predict=predict,
    simulate=simulate,
    compare={"observables": ("excess_risk",), "finite_size": finite_size, "detectable": 0.5},
    observables=w2s.CHAIN,
)

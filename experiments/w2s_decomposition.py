"""What the student's risk is made of, against its ridge: six terms that add up."""

from typing import Any

import numpy as np

from experiments.equivalents import pair_comparison, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import weak_to_strong as w2s
from solvable.observables import Prediction, Record


def _preset(n: int, n_modes: int, ridges: list[float], replicates: int) -> Preset:
    cell = {"n": n, "n_modes": n_modes}
    return Preset(
        theory=({**cell, "ridge": np.geomspace(1e-3, 300, 100).tolist()},),
        simulation=({**cell, "ridge": ridges},),
        sampling={"seed": 0, "replicates": replicates},
    )


def _stages(cell: Cell) -> dict[str, Any]:
    n = cell["n"]
    teacher = w2s.Stage(n, 2 * n, ridge=0.03)
    student = w2s.Stage(2 * n, 2 * n, ridge=np.asarray(cell["ridge"]), label_noise_variance=0.02)
    return {"teacher": teacher, "student": student}


def _problem(cell: Cell) -> w2s.Problem:
    return w2s.Problem.power_law(1.5, 0.8, 0.25, n_modes=cell["n_modes"])


def predict(cell: Cell) -> Prediction:
    """Predict one cell, terms included."""
    theory = w2s.predict(_problem(cell), **_stages(cell))
    terms = {name: theory.diagnostics[name] for name in w2s.TERMS}
    return Prediction(Record({**theory.observables, **terms}), theory.diagnostics, theory.controls, theory.declared)


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell."""
    return w2s.simulate(_problem(cell), **_stages(cell), **sampling(cell))


EXPERIMENT = Experiment(
    name="w2s_decomposition",
    summary=__doc__.splitlines()[0],
    model="weak_to_strong",
    presets={
        "quick": _preset(32, 256, [0.03, 3.0, 30.0], 256),
        "paper": _preset(100, 1000, [1e-2, 0.1, 1.0, 10.0, 30.0, 100.0], 512),
    },
    predict=predict,
    simulate=simulate,
    compare=pair_comparison(0.4),
)

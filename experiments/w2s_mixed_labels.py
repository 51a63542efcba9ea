"""The student's risk against the fraction of its labels that a teacher gives."""

from typing import Any

import numpy as np

from experiments.equivalents import pair_comparison, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import weak_to_strong as w2s
from solvable.observables import Prediction

TEACHER_SAMPLES = (0.5, 1.0, 4.0)  # relative to the student's


def _preset(n: int, n_modes: int, fractions: list[float], replicates: int) -> Preset:
    world = {"n": n, "n_modes": n_modes}
    return Preset(
        theory=[{**world, "teacher_samples": t, "fraction": np.linspace(0, 1, 51).tolist()} for t in TEACHER_SAMPLES],
        simulation=[{**world, "teacher_samples": t, "fraction": fractions} for t in TEACHER_SAMPLES[:1]],
        sampling={"seed": 0, "replicates": replicates},
    )


def _call(cell: Cell) -> dict[str, Any]:
    n = cell["n"]
    teacher = w2s.Stage(cell["teacher_samples"] * n, 2 * n, ridge=0.3)
    student = w2s.Stage(n, 2 * n, ridge=1.0)
    return {"teacher": teacher, "student": student, "fraction": np.asarray(cell["fraction"])}


def _problem(cell: Cell) -> w2s.Problem:
    return w2s.Problem.power_law(1.5, 0.8, 0.25, n_modes=cell["n_modes"])


def predict(cell: Cell) -> Prediction:
    """Predict one cell."""
    return w2s.mixed_labels(_problem(cell), **_call(cell))


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell."""
    return w2s.simulate_mixed_labels(_problem(cell), **_call(cell), **sampling(cell))


EXPERIMENT = Experiment(
    name="w2s_mixed_labels",
    summary=__doc__.splitlines()[0],
    model="weak_to_strong",
    presets={
        "quick": _preset(64, 256, [0.25, 0.75], 256),
        "paper": _preset(160, 1000, [0.0, 0.25, 0.5, 0.75, 1.0], 512),
    },
    predict=predict,
    simulate=simulate,
    compare=pair_comparison(0.4),
)

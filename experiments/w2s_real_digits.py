"""Real data: a small teacher and a larger student on handwritten digits, predicted from the estimated spectrum."""

from typing import Any

import numpy as np

from experiments.equivalents import sampling
from experiments.rf_real_digits import digits, problem
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import random_features as rf
from solvable import weak_to_strong as w2s
from solvable.observables import Prediction

TEACHERS = [1e-3, 1.0]  # ridges


def _preset(teacher: tuple[int, int], student: tuple[int, int], ridges: list[float], replicates: int) -> Preset:
    sizes = {"teacher_n": teacher[0], "teacher_p": teacher[1], "student_n": student[0], "student_p": student[1]}
    dense = np.geomspace(1e-3, 100, 60).tolist()
    return Preset(
        theory=[{**sizes, "teacher_ridge": ridge, "ridge": dense} for ridge in TEACHERS],
        simulation=[{**sizes, "teacher_ridge": ridge, "ridge": ridges} for ridge in TEACHERS],
        sampling={"seed": 0, "replicates": replicates},
    )


def _stages(cell: Cell) -> dict[str, Any]:
    return {
        "teacher": w2s.Stage(cell["teacher_n"], cell["teacher_p"], ridge=cell["teacher_ridge"]),
        "student": w2s.Stage(cell["student_n"], cell["student_p"], ridge=np.asarray(cell["ridge"])),
    }


def predict(cell: Cell) -> Prediction:
    """Predict one cell from the spectrum of all images."""
    return w2s.predict(problem(), **_stages(cell))


def simulate(cell: Cell) -> Estimate:
    """Train both on random draws of the images and measure on all of them."""
    inputs, labels = digits()
    return w2s.simulate_dataset(rf.relu_features, inputs, labels, **_stages(cell), **sampling(cell))


EXPERIMENT = Experiment(
    name="w2s_real_digits",
    summary=__doc__.splitlines()[0],
    model="weak_to_strong",
    presets={
        "quick": _preset((100, 60), (200, 300), [1e-2, 1.0, 30.0], 32),
        "paper": _preset((150, 100), (600, 1200), [1e-2, 0.1, 1.0, 10.0, 30.0], 128),
    },
    predict=predict,
    simulate=simulate,
    # Pixels are not Gaussian in the kernel's eigenbasis; the error is declared as for one model in `rf_real_digits`.
    compare={"observables": w2s.OBSERVABLES.base, "rtol": 0.15, "detectable": 0.4},
)

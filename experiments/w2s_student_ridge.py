"""The student's risk against its ridge, for teachers of three ridges, and at the best ridge against its sample size."""

import math

import numpy as np

from experiments.equivalents import labelled, pair_comparison, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import weak_to_strong as w2s
from solvable.observables import Prediction

TEACHER_RIDGES = [1e-3, 1.0, 30.0]  # too little, about right, too much
RIDGES = np.geomspace(1e-3, 300, 60).tolist()
SAMPLES = np.geomspace(0.25, 1000, 40)  # of the student, relative to the teacher's


def _preset(n: int, n_modes: int, ridges: list[float], replicates: int) -> Preset:
    """Both have 2 n features; the student sees 2 n samples where it is simulated."""
    cells = [{"n": n, "n_modes": n_modes, "teacher_ridge": ridge} for ridge in TEACHER_RIDGES]
    return Preset(
        theory=[
            *({**cell, "student_n": [2 * n], "ridge": RIDGES} for cell in cells),
            *({**cell, "student_n": (n * SAMPLES).tolist(), "ridge": []} for cell in cells),
        ],
        simulation=[{**cell, "student_n": [2 * n], "ridge": ridges} for cell in cells],
        sampling={"seed": 0, "replicates": replicates},
    )


def _problem(cell: Cell) -> w2s.Problem:
    return w2s.Problem.power_law(1.5, 0.8, 0.25, n_modes=cell["n_modes"])


def _teacher(cell: Cell) -> w2s.Stage:
    return w2s.Stage(cell["n"], 2 * cell["n"], ridge=cell["teacher_ridge"])


def _student(cell: Cell) -> w2s.Stage:
    """Return the student with the ridges of the cell, or with the best of all where it names none."""
    if cell["ridge"]:
        return w2s.Stage(cell["student_n"][0], 2 * cell["n"], ridge=np.asarray(cell["ridge"]))
    sizes = np.asarray(cell["student_n"])
    best = w2s.optimal_student(_problem(cell), teacher=_teacher(cell), n_samples=sizes)
    return w2s.Stage(sizes, math.inf, ridge=best.ridge)


def predict(cell: Cell) -> Prediction:
    """Predict one cell."""
    theory = w2s.predict(_problem(cell), teacher=_teacher(cell), student=_student(cell))
    return labelled(theory, best=float(not cell["ridge"]))


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell."""
    return w2s.simulate(_problem(cell), teacher=_teacher(cell), student=_student(cell), **sampling(cell))


EXPERIMENT = Experiment(
    name="w2s_student_ridge",
    summary=__doc__.splitlines()[0],
    model="weak_to_strong",
    presets={
        "quick": _preset(32, 256, [0.03, 3.0, 30.0], 192),
        "paper": _preset(100, 1000, [1e-2, 0.1, 1.0, 10.0, 30.0, 100.0], 512),
    },
    predict=predict,
    simulate=simulate,
    compare=pair_comparison(0.5),
)

"""A teacher whose error does not decay, and a student of it that learns at the best rate there is."""

import math
from typing import Any

import numpy as np

from experiments.equivalents import labelled, pair_comparison, sampling, sweep_of_sizes
from experiments.sweep import Cell, Experiment
from solvable import Estimate
from solvable import random_features as rf
from solvable import weak_to_strong as w2s
from solvable.observables import Prediction
from solvable.precision import Array

CAPACITY, SOURCE, NOISE = 1.5, 0.8, 0.25
TEACHER = w2s.StageExponents(ridge=math.inf, width=2)  # interpolates, with n^2 features
BEST = w2s.optimal_student_exponents(CAPACITY, SOURCE, teacher=TEACHER)
DENSE = np.geomspace(10, 1e6, 60)


def _stages(n: Array) -> dict[str, Any]:
    student = w2s.Stage(n, ridge_per_sample=n ** -float(BEST.ridge))
    return {"teacher": w2s.Stage(n, n**2, ridge=0.0), "student": student}


def _problem(cell: Cell) -> rf.Problem:
    return rf.Problem.power_law(CAPACITY, SOURCE, NOISE, n_modes=cell["n_modes"])


def predict(cell: Cell) -> Prediction:
    """Predict one cell, and the risk of the student's training on true labels instead."""
    n = np.asarray(cell["n_samples"], dtype=float)
    direct = rf.predict(_problem(cell), n_samples=n, ridge_per_sample=n ** -float(BEST.ridge)).excess_risk
    return labelled(w2s.predict(_problem(cell), **_stages(n)), n_modes=cell["n_modes"], direct_excess_risk=direct)


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell."""
    return w2s.simulate(_problem(cell), **_stages(np.asarray(cell["n_samples"], dtype=float)), **sampling(cell))


EXPERIMENT = Experiment(
    name="w2s_nondecaying_teacher",
    summary=__doc__.splitlines()[0],
    model="weak_to_strong",
    presets={
        "quick": sweep_of_sizes(512, DENSE, [16, 32], 256),
        "paper": sweep_of_sizes(4096, DENSE, [32, 64, 128, 256], 256),
    },
    predict=predict,
    simulate=simulate,
    compare=pair_comparison(0.5),
)

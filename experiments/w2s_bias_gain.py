"""A teacher short of features, and a student that averages their fluctuation away and decays faster."""

import math
from typing import Any

import numpy as np

from experiments.equivalents import labelled, pair_comparison, sampling, sweep_of_sizes
from experiments.sweep import Cell, Experiment
from solvable import Estimate
from solvable import weak_to_strong as w2s
from solvable.observables import Prediction

CAPACITY, SOURCE, NOISE = 1.5, 1.0, 0.01
WIDTH, FEATURES = 0.3, 4.0  # the teacher has FEATURES n^WIDTH features
BEST = w2s.optimal_student_exponents(CAPACITY, SOURCE, teacher=w2s.StageExponents(math.inf, WIDTH))
DENSE = np.geomspace(20, 1e8, 80)


def _stages(cell: Cell) -> dict[str, Any]:
    """Return the stages; a single n is simulated and has a whole number of features."""
    n = np.asarray(cell["n_samples"], dtype=float)
    width = FEATURES * n**WIDTH
    teacher = w2s.Stage(n, np.round(width) if n.size == 1 else width, ridge=0.0)
    return {"teacher": teacher, "student": w2s.Stage(n, ridge_per_sample=n ** -float(BEST.ridge))}


def _problem(cell: Cell) -> w2s.Problem:
    return w2s.Problem.power_law(CAPACITY, SOURCE, NOISE, n_modes=cell["n_modes"])


def predict(cell: Cell) -> Prediction:
    """Predict one cell."""
    return labelled(w2s.predict(_problem(cell), **_stages(cell)), n_modes=cell["n_modes"])


def simulate(cell: Cell) -> Estimate:
    """Simulate one cell."""
    return w2s.simulate(_problem(cell), **_stages(cell), **sampling(cell))


EXPERIMENT = Experiment(
    name="w2s_bias_gain",
    summary=__doc__.splitlines()[0],
    model="weak_to_strong",
    presets={
        "quick": sweep_of_sizes(512, DENSE, [64, 128], 192),
        "paper": sweep_of_sizes(4096, DENSE, [64, 128, 256, 512], 256),
    },
    predict=predict,
    simulate=simulate,
    compare=pair_comparison(0.6),
)

"""A teacher short of features, and a student that averages their fluctuation away and decays faster."""

import math
from typing import Any

import numpy as np

from experiments.equivalents import PAIR_SIZES, labelled, over_smallest_size, sampling
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import weak_to_strong as w2s
from solvable.observables import Prediction

CAPACITY, SOURCE, NOISE = 1.5, 1.0, 0.01
WIDTH, FEATURES = 0.3, 4.0  # the teacher has FEATURES n^WIDTH features
BEST = w2s.optimal_student_exponents(CAPACITY, SOURCE, teacher=w2s.StageExponents(math.inf, WIDTH))


def _preset(n_modes: int, sizes: list[int], replicates: int) -> Preset:
    short = np.geomspace(0.7 * sizes[0], 1.4 * sizes[-1], 20)
    return Preset(
        theory=(
            {"n_modes": math.inf, "n_samples": np.geomspace(20, 1e8, 80).tolist()},
            {"n_modes": n_modes, "n_samples": short.tolist()},
        ),
        simulation=[{"n_modes": n_modes, "n_samples": [n]} for n in sizes],
        sampling={"seed": 0, "replicates": replicates},
    )


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
    presets={"quick": _preset(512, [64, 128], 192), "paper": _preset(4096, [64, 128, 256, 512], 256)},
    predict=predict,
    simulate=simulate,
    compare={
        "observables": w2s.OBSERVABLES.base,
        "finite_size": over_smallest_size(1.5, w2s.OBSERVABLES.base, PAIR_SIZES),
        "detectable": 0.6,
    },
)

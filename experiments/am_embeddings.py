"""Gaussian embeddings instead of orthonormal ones: the loss moves by about K/d, the noise of their overlaps."""

import numpy as np

from experiments.memories import NAMES, TOTALS, predict_totals, simulate_totals
from experiments.sweep import Cell, Experiment, Preset
from solvable.precision import Array

RUNS = (("gradient descent", 5.0, 200), ("Muon", 0.25, 24))


def _cells(group_size: int, embeddings: str, ratios: list[int]) -> list[Cell]:
    """Return both methods in d = ratio x K dimensions."""
    items = 8 * group_size
    shared = {"label_noise": 0.0, "exponent": 1.5, "n_groups": 8, "group_size": group_size}
    own = {"embeddings": embeddings, "is_gaussian": embeddings == "gaussian"}
    return [
        {"algorithm": name, "learning_rate": rate, "steps": [steps], "dimension": items * ratio, **shared, **own}
        for name, rate, steps in RUNS
        for ratio in ratios
    ]


def _preset(group_size: int, ratios: list[int], replicates: int) -> Preset:
    gaussian, orthonormal = _cells(group_size, "gaussian", ratios), _cells(group_size, "orthonormal", [2])
    sampling = {"seed": 0, "replicates": replicates}
    return Preset([*gaussian, *orthonormal], [*gaussian, *orthonormal], sampling)


def finite_size(controls: dict[str, Array]) -> dict[str, Array]:
    """Allow Gaussian embeddings their overlaps, measured at about 0.4 and 1.2 K/d; orthonormal ones are exact."""
    items = controls["n_groups"] * controls["group_size"]
    factor = np.where(controls["algorithm"] == NAMES.index("Muon"), 2.0, 0.6)
    overlap = factor * controls["is_gaussian"] * items / controls["dimension"]
    return {"loss": overlap, "excess_risk": overlap}


EXPERIMENT = Experiment(
    name="am_embeddings",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={"quick": _preset(8, [4, 8, 16, 64], 16), "paper": _preset(16, [4, 8, 16, 32, 64, 128], 64)},
    predict=predict_totals,
    simulate=simulate_totals,
    compare={"finite_size": finite_size, "detectable": 0.7},
    observables=TOTALS,
)

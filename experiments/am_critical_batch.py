"""Muon on batches: rare items wait to be drawn, until a batch holds about one question of each."""

import numpy as np

from experiments.memories import predict, simulate
from experiments.sweep import Cell, Experiment, Preset
from solvable.precision import Array

STEPS, RATE, N_GROUPS = [20], 0.25, 8


def _cells(group_size: int, batches: list[int]) -> list[Cell]:
    shared = {"algorithm": "Muon", "learning_rate": RATE, "label_noise": 0.0, "exponent": 1.5, "n_groups": N_GROUPS}
    return [{**shared, "group_size": group_size, "batch_size": batch, "steps": STEPS} for batch in batches]


def _preset(group_size: int, replicates: int) -> Preset:
    dense = np.unique(np.geomspace(1, 20_000, 60).round()).astype(int).tolist()
    marks = [1, 8, 64, 512, 4096]
    return Preset(_cells(group_size, dense), _cells(group_size, marks), {"seed": 0, "replicates": replicates})


def finite_size(controls: dict[str, Array]) -> dict[str, Array]:
    """Allow the error of independent items, of order rate x steps/K, that `predict` states for its decoupled method."""
    size = controls["learning_rate"] * controls["steps"] / (controls["n_groups"] * controls["group_size"])
    return {"loss": size, "excess_risk": size, "group_loss": 2.5 * size}


EXPERIMENT = Experiment(
    name="am_critical_batch",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={"quick": _preset(8, 48), "paper": _preset(16, 64)},
    predict=predict,
    simulate=simulate,
    compare={"finite_size": finite_size, "detectable": 0.5},
)

"""Group by group: gradient descent learns rare items late, Muon all at once; noisy labels leave Muon in a cycle."""

import numpy as np

from experiments.memories import predict, simulate
from experiments.sweep import Cell, Experiment, Preset

RUNS = [
    ("gradient descent", 10.0, 0.0, 20_000), ("Muon", 0.5, 0.0, 40),
    ("gradient descent", 10.0, 0.2, 20_000), ("Muon", 0.4, 0.2, 60), ("Muon", 0.1, 0.2, 160),
]  # fmt: skip


def _cells(group_size: int, points: int, longest: int) -> list[Cell]:
    """Return one cell per run, recorded at some steps up to its end or to a number of steps."""
    cells: list[Cell] = []
    for name, rate, noise, end in RUNS:
        last = min(end, longest)
        spaced = np.geomspace(1, last, points) if name == "gradient descent" else np.linspace(0, last, points)
        cells.append(
            {
                "algorithm": name,
                "learning_rate": rate,
                "label_noise": noise,
                "exponent": 1.5,
                "n_groups": 8,
                "group_size": group_size,
                "steps": np.unique(spaced.round()).astype(int).tolist(),
            }
        )
    return cells


def _preset(group_size: int, longest: int) -> Preset:
    sampling = {"seed": 0, "replicates": 1}  # replicates differ by rounding alone
    return Preset(_cells(group_size, 161, 10**9), _cells(group_size, 9, longest), sampling)


EXPERIMENT = Experiment(
    name="am_group_losses",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={"quick": _preset(8, 2000), "paper": _preset(32, 20_000)},
    predict=predict,
    simulate=simulate,
    compare={},
)

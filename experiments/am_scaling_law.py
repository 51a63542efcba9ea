"""Scaling laws in time: gradient descent slows with the tail, Muon falls as 1/steps^2 when groups are large."""

import numpy as np

from experiments.memories import TOTALS, predict_totals, simulate_totals
from experiments.sweep import Cell, Experiment, Preset
from solvable import associative_memory as am

EXPONENTS = (1.25, 1.5, 2.0)
NOISE = 0.2
WINDOW = 16  # horizons over which the phase of Muon's cycle is averaged


def _descent(exponent: float, n_groups: int, method: str, steps: list[int]) -> Cell:
    """Return gradient descent at the rate 1/(largest frequency)."""
    problem = am.Problem.power_law(exponent, n_groups, 1, NOISE)
    return {
        "algorithm": "gradient descent", "learning_rate": float(1 / problem.frequencies[0]), "label_noise": NOISE,
        "exponent": exponent, "n_groups": n_groups, "group_size": 1, "method": method, "is_law": method == "law",
        "horizon": None, "steps": steps,
    }  # fmt: skip


def _horizons(exponent: float, group_size: int, first: int) -> list[Cell]:
    """Return runs of Muon of consecutive lengths, each at its own constant rate 1.25 z*/length, read at the end."""
    top = float(am.Problem.power_law(exponent, 8, group_size, NOISE).optimal_margin)
    shared = {
        "algorithm": "Muon", "label_noise": NOISE, "exponent": exponent, "n_groups": 8, "group_size": group_size,
        "method": "exact", "is_law": False, "horizon": first,
    }  # fmt: skip
    lengths = range(first, first + WINDOW)
    return [{**shared, "learning_rate": 1.25 * top / length, "steps": [length]} for length in lengths]


def _preset(n_simulated: int, small: int, simulated: list[int], longest: int) -> Preset:
    """Return large worlds as lines, and small ones, of groups of `small` items for Muon, simulated."""
    steps = np.unique(np.geomspace(1, 1e6, 60).round()).astype(int).tolist()
    few = np.unique(np.geomspace(3, longest, 7).round()).astype(int).tolist()
    lines = [_descent(b, 10_000, method, steps) for b in EXPONENTS for method in ("flow", "law")]
    marks = [_descent(b, n_simulated, "exact", few) for b in EXPONENTS]
    windows = [(size, first) for size in (small, 32) for first in (32, 64, 128, 256)]
    return Preset(
        theory=[*lines, *(cell for b in EXPONENTS for window in windows for cell in _horizons(b, *window))],
        simulation=[*marks, *(cell for b in EXPONENTS for first in simulated for cell in _horizons(b, small, first))],
        sampling={"seed": 0, "replicates": 1},
    )


EXPERIMENT = Experiment(
    name="am_scaling_law",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={
        "quick": _preset(128, 4, [32, 64], 1000),
        "paper": _preset(512, 8, [32, 64, 128], 10_000),
    },
    predict=predict_totals,
    simulate=simulate_totals,
    compare={},
    observables=TOTALS,
)

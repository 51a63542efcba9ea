"""Five Newton-Schulz iterations are Muon for frequent items, and normalised descent below a cutoff in frequency."""

from experiments.memories import predict, simulate
from experiments.sweep import Cell, Experiment, Preset

STEPS = [80]


def _cells(n_groups: int, group_size: int) -> list[Cell]:
    """Return both methods in worlds of a light and of a heavy imbalance."""
    world = {"label_noise": 0.0, "n_groups": n_groups, "group_size": group_size, "steps": STEPS}
    return [
        {"algorithm": name, "learning_rate": 0.15, "exponent": exponent, **world}
        for exponent in (2.0, 3.0)
        for name in ("Muon", "Muon, Newton-Schulz")
    ]


def _preset(n_groups: int, group_size: int) -> Preset:
    cells = _cells(n_groups, group_size)
    return Preset(cells, cells, {"seed": 0, "replicates": 1})  # replicates differ by rounding alone


EXPERIMENT = Experiment(
    name="am_newton_schulz_gap",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={"quick": _preset(32, 4), "paper": _preset(32, 16)},
    predict=predict,
    simulate=simulate,
    compare={},
)

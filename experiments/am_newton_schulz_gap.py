"""The public five-step Newton-Schulz iteration is Muon for frequent items, and normalised descent for rare ones."""

from experiments.memories import predict, simulate
from experiments.sweep import Cell, Experiment, Preset
from solvable import associative_memory as am

GAIN = am.Muon(0.0001).coefficients[0] ** 5  # of five iterations on a small singular value: 485
STEPS = [40, 80]


def _cells(n_groups: int, group_size: int, names: dict[str, float]) -> list[Cell]:
    """Return methods at their learning rates, in worlds of a light and of a heavy imbalance."""
    world = {"label_noise": 0.0, "n_groups": n_groups, "group_size": group_size, "steps": STEPS}
    return [
        {"algorithm": name, "learning_rate": rate, "exponent": exponent, **world}
        for exponent in (2.0, 3.0)
        for name, rate in names.items()
    ]


def _preset(n_groups: int, group_size: int) -> Preset:
    both = {"Muon": 0.15, "Muon, Newton-Schulz": 0.15}
    lines = {**both, "normalised": 0.15 * GAIN}
    sampling = {"seed": 0, "replicates": 1}  # replicates differ by rounding alone
    return Preset(_cells(n_groups, group_size, lines), _cells(n_groups, group_size, both), sampling)


EXPERIMENT = Experiment(
    name="am_newton_schulz_gap",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={"quick": _preset(32, 4), "paper": _preset(32, 16)},
    predict=predict,
    simulate=simulate,
    compare={},
)

"""Seven optimisers after one budget of steps: the loss of each group of frequencies."""

from experiments.memories import NAMES, predict, simulate
from experiments.sweep import Cell, Experiment, Preset
from solvable.precision import Array

RATES = {  # margins of order the rate per step where the method has a step of its own
    "gradient descent": 30.0,
    "normalised": 2.0,
    "sign, random basis": 0.02,
    "sign, task basis": 0.1,
    "Adam, task basis": 0.1,
    "Muon": 0.2,
    "Muon, Newton-Schulz": 0.2,
}


def _cells(group_size: int, steps: int) -> list[Cell]:
    shared = {"label_noise": 0.0, "exponent": 1.5, "n_groups": 8, "group_size": group_size, "steps": [steps]}
    return [{"algorithm": name, "learning_rate": rate, **shared} for name, rate in RATES.items()]


def finite_size(controls: dict[str, Array]) -> dict[str, Array]:
    """Allow the mean field of random signs its error; all others are exact."""
    mean_field = controls["algorithm"] == NAMES.index("sign, random basis")
    return {"loss": 0.05 * mean_field, "excess_risk": 0.05 * mean_field, "group_loss": 0.1 * mean_field}


EXPERIMENT = Experiment(
    name="am_optimizers",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={
        name: Preset(_cells(*size), _cells(*size), {"seed": 0, "replicates": replicates})
        for name, size, replicates in (("quick", (8, 40), 16), ("paper", (32, 60), 64))
    },
    predict=predict,
    simulate=simulate,
    compare={"finite_size": finite_size, "detectable": 0.4},
)

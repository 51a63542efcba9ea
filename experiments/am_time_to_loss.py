"""How many times fewer steps Muon takes than gradient descent, against the loss wanted and the size of groups."""

from typing import Any

import numpy as np

from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import associative_memory as am
from solvable.estimate import Moments
from solvable.observables import Observables, Prediction, Record
from solvable.precision import Array

SPEEDUP = Observables(base=("speedup",))
EXPONENT, N_GROUPS, NOISE, RATE = 1.5, 8, 0.2, 0.25
_NUMBERS = ("excess_risk", "group_size", "label_noise", "is_equal")


def _cells(group_sizes: list[int], excesses: list[float], label_noise: float, matching: str) -> list[Cell]:
    return [
        {"excess_risk": risk, "group_size": size, "label_noise": label_noise, "is_equal": matching == "equal"}
        for size in group_sizes
        for risk in excesses
    ]


def _world(cell: Cell) -> am.Problem:
    return am.Problem.power_law(EXPONENT, N_GROUPS, cell["group_size"], cell["label_noise"])


def predict(cell: Cell) -> Prediction:
    """Predict the ratio of steps."""
    matching = "equal" if cell["is_equal"] else "max_stable"
    pair = am.GradientDescent(RATE), am.Muon(RATE)
    ratio = am.speedup(_world(cell), *pair, cell["excess_risk"], matching)
    controls = Record({name: float(cell[name]) for name in _NUMBERS})
    return Prediction(Record({"speedup": np.asarray(ratio)}), Record({}), controls, SPEEDUP)


def simulate(cell: Cell) -> Estimate:
    """Train both on noiseless labels, and read off where the excess losses cross the one wanted.

    There the ratio depends on rate x steps alone, so that each is trained at a rate of its own.
    """
    problem = _world(cell)
    slow = am.GradientDescent(float(0.5 / problem.frequencies[0]))
    needed = [
        kind.learning_rate * _crossing(problem, cell["excess_risk"], cell["seed"], kind)
        for kind in (slow, am.Muon(RATE))
    ]
    ratio = np.array([needed[0] / needed[1]])
    return Estimate(Moments.of({"speedup": ratio}, deterministic=True), SPEEDUP)


def _crossing(problem: am.Problem, excess_risk: float, seed: int, algorithm: Any) -> float:
    """Return the number of steps, interpolated between records around the predicted one."""
    expected = am.time_to_loss(problem, algorithm, excess_risk)
    steps = np.unique(np.ceil(expected * np.linspace(0.5, 1.5, 33))).astype(int)
    measured = np.log(am.simulate(problem, algorithm, steps=steps, seed=seed).mean.excess_risk)
    first = int(np.argmax(measured <= np.log(excess_risk)))
    pair = slice(first - 1, first + 1)
    return float(np.interp(-np.log(excess_risk), -measured[pair], steps[pair]))


def finite_size(controls: dict[str, Array]) -> dict[str, Array]:
    """Allow the errors of the flow and of equal margins, which move the loss by shares of 1/steps and 1/K."""
    return {"speedup": 2 / (N_GROUPS * controls["group_size"])}


def _preset(largest: int, lowest: int) -> Preset:
    sizes = np.unique(np.geomspace(4, 1024, 17).round()).astype(int).tolist()
    excesses = np.geomspace(1e-4, 1.0, 41).tolist()
    kinds = [(0.0, "equal"), (NOISE, "equal"), (NOISE, "max_stable")]
    lines = [cell for kind in kinds for cell in (*_cells([8], excesses, *kind), *_cells(sizes, [0.01], *kind))]
    marks = [*_cells([8], np.geomspace(10.0**lowest, 0.3, 5).tolist(), 0.0, "equal")]
    grown = _cells([size for size in (4, 8, 16, 32, 64) if size <= largest], [0.01], 0.0, "equal")
    return Preset(lines, [*marks, *grown], {"seed": 0})


EXPERIMENT = Experiment(
    name="am_time_to_loss",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={"quick": _preset(16, -2), "paper": _preset(64, -3)},
    predict=predict,
    simulate=simulate,
    compare={"finite_size": finite_size, "detectable": 0.1},
    observables=SPEEDUP,
)

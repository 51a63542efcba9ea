"""The first step of Muon and of sign descent in two bases: which of them strips the frequencies."""

from collections.abc import Callable

import numpy as np
from scipy.stats import ortho_group

from experiments.memories import NAMES
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import associative_memory as am
from solvable.estimate import Moments
from solvable.observables import Observables, Prediction, Record
from solvable.precision import Array

KINDS: dict[str, am.Muon | am.SignDescent] = {
    "Muon": am.Muon(1.0),
    "sign, task basis": am.SignDescent(1.0),
    "sign, random basis": am.SignDescent(1.0, basis="random"),
}
_STEPS: dict[str, Callable[[Array], Array]] = {"Muon": am.polar_factor}
EXPONENT, N_ITEMS = 1.0, 64
ROWS = tuple(f"score_{number}" for number in range(1, N_ITEMS + 1))  # of the matrix of scores
CENTRED = np.eye(N_ITEMS) - 1 / N_ITEMS
GAINS = Observables(base=("gain", *ROWS), own_axes=dict.fromkeys(("gain", *ROWS), "item"))


def predict(cell: Cell) -> Prediction:
    """Predict the margin that each item gains, and the scores as far as they follow: each against all others alike."""
    name = cell["algorithm"]
    theory = am.predict(am.Problem.power_law(EXPONENT, N_ITEMS), KINDS[name], steps=[1])
    gain = theory.diagnostics.margin[0]
    values = Record(_named(gain, gain * CENTRED))
    return Prediction(values, Record({}), Record({"algorithm": float(NAMES.index(name))}), GAINS)


def simulate(cell: Cell) -> Estimate:
    """Step from W = 0 in random bases of questions and answers, or in that of the task, and read off the scores."""
    name = cell["algorithm"]
    gradient = CENTRED * am.Problem.power_law(EXPONENT, N_ITEMS).frequencies
    rng = np.random.default_rng([cell["seed"], NAMES.index(name)])
    random = name == "sign, random basis"  # of the others, one draw tells all
    samples = []
    for _ in range(cell["replicates"] if random else 1):
        pair = ortho_group.rvs(N_ITEMS, size=2, random_state=rng)
        answers, questions = np.eye(N_ITEMS)[None].repeat(2, axis=0) if name == "sign, task basis" else pair
        step = _STEPS.get(name, np.sign)(answers @ gradient @ questions.T)
        scores = answers.T @ step @ questions
        own = np.diagonal(scores)
        samples.append(_named(own - (scores.sum(axis=0) - own) / (N_ITEMS - 1), scores))
    stacked = {key: np.stack([sample[key] for sample in samples]) for key in samples[0]}
    return Estimate(Moments.of(stacked, deterministic=not random), GAINS)


def finite_size(controls: dict[str, Array]) -> dict[str, Array]:
    """Allow the mean field of random signs its error of order 1/K; the others are exact."""
    return {"gain": 4 / N_ITEMS * (controls["algorithm"] == NAMES.index("sign, random basis"))}


def _named(gain: Array, scores: Array) -> dict[str, Array]:
    return {"gain": gain, **dict(zip(ROWS, scores, strict=True))}


def _preset(replicates: int) -> Preset:
    cells = [{"algorithm": name} for name in KINDS]
    return Preset(cells, cells, {"seed": 0, "replicates": replicates})


EXPERIMENT = Experiment(
    name="am_preconditioner",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={"quick": _preset(400), "paper": _preset(4000)},
    predict=predict,
    simulate=simulate,
    compare={"observables": ("gain",), "finite_size": finite_size, "detectable": 0.5},
    observables=GAINS,
)

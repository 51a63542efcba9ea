"""Real data: pass@k of language models on MATH, four fits with bands, and fits to 100 attempts held out to 10,000."""

import warnings
from functools import cache

import numpy as np

from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import latent_difficulty as lid
from solvable.errors import FitWarning
from solvable.estimate import Moments
from solvable.observables import Observables, Prediction, Record
from solvable.precision import Array

FAILURE = Observables(base=("failure_rate",))
MODELS, FAMILIES = tuple(lid.pythia_math()), lid.FAMILIES  # tables hold places in these lists
FEW = 100  # attempts of the held-out fits


@cache
def _fits(model: str, family: str, attempts: int, draws: int) -> tuple[lid.Fit, ...]:
    """Fit all attempts, or some draws of a few of them."""
    counts = lid.pythia_math()[model]
    parts = (
        [counts] if attempts == counts.n_attempts[0] else [counts.subsample(attempts, seed) for seed in range(draws)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # some fits find no unsolvable problems, which is an answer
        return tuple(lid.fit_counts(part, family) for part in parts)


def predict(cell: Cell) -> Prediction:
    """Extrapolate a fit: its failure rate, or an end of its band of one standard error; the mean over draws."""
    k = np.array(cell["k"], dtype=float)
    fits = _fits(cell["model"], cell["family"], cell["attempts"], cell["draws"])
    bands = [fit.pass_at_k(k) for fit in fits]
    rates = [np.exp(band.log_failure + cell["bound"] * band.log_failure_error) for band in bands]
    controls = {
        "model": MODELS.index(cell["model"]),
        "family": FAMILIES.index(cell["family"]),
        "attempts": cell["attempts"],
        "bound": cell["bound"],
    }
    columns = Record({"k": k, **{name: float(value) for name, value in controls.items()}})
    return Prediction(Record({"failure_rate": np.mean(rates, axis=0)}), Record({}), columns, FAILURE)


def simulate(cell: Cell) -> Estimate:
    """Return what all attempts say, without a model; these problems are what they are."""
    mean = lid.benchmark_pass_at_k(lid.pythia_math()[cell["model"]], cell["k"], problems="fixed").mean
    return Estimate(Moments.of({"failure_rate": 1 - mean[None]}, deterministic=True), FAILURE)


def allowed(controls: dict[str, Array]) -> dict[str, Array]:
    """Allow fits 5% within the attempts they saw, and 30% more for each decade beyond: the gaps that were found."""
    return {"failure_rate": 0.05 + 0.3 * np.maximum(np.log10(controls["k"] / controls["attempts"]), 0.0)}


def _preset(models: tuple[str, ...], draws: int) -> Preset:
    far = np.geomspace(1, 1e6, 61).round().tolist()
    held_out = [
        {"model": model, "family": family, "attempts": FEW, "draws": draws, "bound": 0.0}
        for model in models
        for family in FAMILIES
    ]
    whole = [{**cell, "attempts": 10_000, "bound": bound, "k": far} for cell in held_out for bound in (-1.0, 0.0, 1.0)]
    marks = np.unique(np.geomspace(1, 10_000, 17).round()).astype(int).tolist()
    return Preset(whole, [{**cell, "k": marks} for cell in held_out], {})


EXPERIMENT = Experiment(
    name="lid_pythia",
    summary=__doc__.splitlines()[0],
    model="latent_difficulty",
    presets={"quick": _preset(("160M", "12B"), 3), "paper": _preset(MODELS, 30)},
    predict=predict,
    simulate=simulate,
    compare={"finite_size": allowed, "detectable": 1.0},
    observables=FAILURE,
)

"""Phase diagram: which term decides the rate, in the plane of ridge and width exponents, with measured slopes."""

from functools import partial

import numpy as np

from experiments.equivalents import decade_ratios, slopes_within
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import random_features as rf
from solvable.observables import Observables, Prediction, Record

CAPACITY, SOURCES = 1.5, (0.7, 0.3)
WINDOW = (1e9, 1e10)  # the decade of samples between which the exact predictor's slope is taken
RATIOS = Observables(base=("bias_ratio", "variance_ratio"), finite_size={})
# Corrections to the power laws between n = 1e9 and 1e10: slopes within 0.05 of the exponents.
FINITE_SIZE = partial(slopes_within, 0.05, RATIOS.base)


def _preset(resolution: int, measured: int) -> Preset:
    def cells(count: int, first: float) -> list[Cell]:
        """Rows of the plane."""
        ridges = np.linspace(first, 2.2, count).tolist()
        widths = np.linspace(first, 1.9, count).tolist()
        return [{"source": s, "width_exponent": [q], "ridge_exponent": ridges} for s in SOURCES for q in widths]

    stars = []
    for source in SOURCES:
        best = rf.optimal_exponents(CAPACITY, source)
        stars.append(
            {"source": source, "width_exponent": [best.width_exponent], "ridge_exponent": [best.ridge_exponent]}
        )
    return Preset(theory=(*cells(resolution, 0.01), *stars), simulation=cells(measured, 0.2), sampling={})


def predict(cell: Cell) -> Prediction:
    """Return by which factor bias and variance change over a decade of n, and the exponents of all terms."""
    width, rows = cell["width_exponent"][0], []
    for ridge in cell["ridge_exponent"]:
        law = rf.exponents(CAPACITY, cell["source"], ridge_exponent=ridge, width_exponent=width)
        ratios = {f"{name}_ratio": 10 ** float(law.exponent(name)) for name in ("bias", "variance")}
        terms = {f"{name}_exponent": float(value) for name, value in law.terms.items()}
        rows.append({**ratios, **terms, "risk_exponent": float(law.exponent("excess_risk"))})
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Prediction(Record(columns), Record({}), Record(cell), RATIOS)


def simulate(cell: Cell) -> Estimate:
    """Measure the same ratios with the exact predictor, whose risk is no power law at any finite n."""
    n, ridge = np.array(WINDOW), np.array(cell["ridge_exponent"])[:, None]
    problem = rf.Problem.power_law(CAPACITY, cell["source"], noise_variance=1.0)
    theory = rf.predict(problem, n_samples=n, n_features=n ** cell["width_exponent"][0], ridge_per_sample=n**-ridge)
    return decade_ratios({"bias": theory.bias, "variance": theory.variance}, RATIOS)


EXPERIMENT = Experiment(
    name="rf_phase_diagram",
    summary=__doc__.splitlines()[0],
    model="random_features",
    presets={"quick": _preset(81, 7), "paper": _preset(241, 15)},
    predict=predict,
    simulate=simulate,
    compare={"observables": RATIOS.base, "finite_size": FINITE_SIZE, "detectable": 0.15},
    observables=RATIOS,
)

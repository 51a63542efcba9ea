"""Phase diagram: the teacher's rate, the best student's, and the difference, against the teacher's exponents."""

from functools import partial

import numpy as np

from experiments.equivalents import decade_ratios, labelled, slopes_within
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import weak_to_strong as w2s
from solvable.observables import Observables, Prediction, Record

CAPACITY, SOURCE = 1.5, 0.8
WINDOW = (1e9, 1e10)  # the decade of samples between which the exact predictor's slope is taken
RATIOS = Observables(base=("teacher_ratio", "student_ratio"), finite_size={})
# Corrections to power laws between n = 1e9 and 1e10: slopes within 0.05 of the exponents, as in tests.
FINITE_SIZE = partial(slopes_within, 0.05, RATIOS.base)


def _preset(resolution: int, measured: int) -> Preset:
    def rows(count: int, first: float) -> list[Cell]:
        ridges, widths = np.linspace(first, 2.2, count), np.linspace(first, 1.9, count)
        return [{"width_exponent": [q], "ridge_exponent": ridges.tolist()} for q in widths.tolist()]

    return Preset(theory=rows(resolution, 0.02), simulation=rows(measured, 0.3), sampling={})


def _best(ridge: float, width: float) -> w2s.OptimalStudent:
    return w2s.optimal_student_exponents(CAPACITY, SOURCE, teacher=w2s.StageExponents(ridge, width))


def predict(cell: Cell) -> Prediction:
    """Return by which factors both risks change over a decade of n, and the margin of the minimax rate."""
    width = cell["width_exponent"][0]
    laws = [_best(ridge, width).law for ridge in cell["ridge_exponent"]]
    rates = {
        name: np.array([float(law.exponent(f"{name}_excess_risk")) for law in laws]) for name in ("teacher", "student")
    }
    pairs = (w2s.StageExponents(ridge, width) for ridge in cell["ridge_exponent"])
    margin = np.array([float(w2s.minimax_margin(CAPACITY, SOURCE, teacher=pair)) for pair in pairs])
    columns = {f"{name}_ratio": 10**rate for name, rate in rates.items()}
    extra = {**{f"{name}_exponent": rate for name, rate in rates.items()}, "minimax_margin": margin}
    return labelled(Prediction(Record({**columns, **extra}), Record({}), Record({}), RATIOS), **cell)


def simulate(cell: Cell) -> Estimate:
    """Measure the same factors with the exact predictor, at the ridges that the law calls best."""
    n, width = np.array(WINDOW), cell["width_exponent"][0]
    ridges = np.array(cell["ridge_exponent"])[:, None]
    best = np.array([float(_best(ridge, width).ridge) for ridge in cell["ridge_exponent"]])[:, None]
    problem = w2s.Problem.power_law(CAPACITY, SOURCE, noise_variance=1.0)
    theory = w2s.predict(
        problem,
        teacher=w2s.Stage(n, n**width, ridge_per_sample=n**-ridges),
        student=w2s.Stage(n, ridge_per_sample=n**-best),
    )
    risks = {"teacher": theory.teacher_excess_risk, "student": theory.student_excess_risk}
    return decade_ratios(risks, RATIOS)


EXPERIMENT = Experiment(
    name="w2s_phase_diagram",
    summary=__doc__.splitlines()[0],
    model="weak_to_strong",
    presets={"quick": _preset(51, 6), "paper": _preset(161, 12)},
    predict=predict,
    simulate=simulate,
    compare={"observables": RATIOS.base, "finite_size": FINITE_SIZE, "detectable": 0.15},
    observables=RATIOS,
)

"""What experiments on associative memory share: worlds and algorithms named in cells, tables with equal columns."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from experiments.sweep import Cell
from solvable import Estimate
from solvable import associative_memory as am
from solvable.estimate import Moments
from solvable.observables import Observables, Prediction, Record

TOTALS = Observables(base=("loss", "excess_risk"))
QUINTIC = partial(am.Muon, polar="newton_schulz")
ALGORITHMS: dict[str, Callable[[float], Any]] = {
    "gradient descent": am.GradientDescent,
    "normalised": am.NormalizedGradientDescent,
    "sign, random basis": partial(am.SignDescent, basis="random"),
    "sign, task basis": am.SignDescent,
    "Adam, task basis": partial(am.Adam, b2=0.99),
    "Muon": am.Muon,
    "Muon, Newton-Schulz": QUINTIC,
}
NAMES = tuple(ALGORITHMS)  # tables hold the place in this list
_RUN = ("batch_size", "method")
_SIMULATION = ("batch_size", "dimension", "embeddings")


def world(cell: Cell) -> am.Problem:
    """Return a cell's world, a power law."""
    return am.Problem.power_law(cell["exponent"], cell["n_groups"], cell["group_size"], cell["label_noise"])


def algorithm(cell: Cell) -> Any:
    """Return what trains in a cell."""
    return ALGORITHMS[cell["algorithm"]](cell["learning_rate"])


def labels(cell: Cell) -> dict[str, float]:
    """Return a cell's numbers, all but the steps, as columns of a table; nan for what is not set."""
    numbers = {name: value for name, value in cell.items() if not isinstance(value, (str, list))}
    columns = {name: math.nan if value is None else float(value) for name, value in numbers.items()}
    return {"algorithm": float(NAMES.index(cell["algorithm"])), **columns}


def predict(cell: Cell, problem: am.Problem | None = None) -> Prediction:
    """Predict a cell, by default in its power-law world."""
    given = {name: cell[name] for name in _RUN if name in cell}
    theory = am.predict(problem or world(cell), algorithm(cell), steps=cell["steps"], **given)
    controls = Record({"steps": theory.controls.steps, **labels(cell)})
    return Prediction(theory.observables, theory.diagnostics, controls, theory.declared)


def simulate(cell: Cell, problem: am.Problem | None = None) -> Estimate:
    """Simulate a cell, by default in its power-law world."""
    given = {name: cell[name] for name in (*_SIMULATION, "seed", "replicates") if name in cell}
    return am.simulate(problem or world(cell), algorithm(cell), steps=cell["steps"], **given)


def predict_totals(cell: Cell) -> Prediction:
    """Predict a cell without its groups, of which there may be many."""
    theory = predict(cell)
    totals = Record({name: theory.observables[name] for name in TOTALS.base})
    return Prediction(totals, Record({}), theory.controls, TOTALS)


def simulate_totals(cell: Cell) -> Estimate:
    """Simulate a cell without its groups."""
    measured = simulate(cell)
    moments = measured.moments
    kept = Moments(
        moments.count, moments.failed, moments.deterministic, {name: moments.mean[name] for name in TOTALS.base},
        {pair: value for pair, value in moments.scatter.items() if set(pair) <= set(TOTALS.base)},
    )  # fmt: skip
    return Estimate(kept, TOTALS, {}, measured.controls)

"""One sweep for all experiments: compute what is missing, gather a tidy table, judge it once.

An experiment declares what to compute; nothing here knows a model by name. Cells are computed by any executor and kept
as they finish, so a sweep can be stopped at any moment and goes on from there.
"""

import importlib
import inspect
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from experiments.store import Store, results_root, source_digest
from solvable import Estimate, compare
from solvable.agreement import Agreement, Comparison
from solvable.estimate import Moments
from solvable.observables import Observables, Prediction, Record
from solvable.precision import Array, trailing

Cell = Mapping[str, Any]
Progress = Callable[[int, int], None]
Tree = dict[str, Any]
THEORY, SIMULATION = "theory", "simulation"


@dataclass(frozen=True)
class Preset:
    """The grid of an experiment at one size.

    Attributes:
        theory: cells to predict (the lines of a figure). A cell holds the controls, as JSON-able values; lists
            broadcast against each other, and one cell may hold a whole array of ridges that share their draws.
        simulation: cells to simulate, and to predict at the same points (the markers).
        sampling: keywords that every simulation cell gets besides its controls, e.g. seed and replicates.
    """

    theory: Sequence[Cell]
    simulation: Sequence[Cell]
    sampling: Cell


@dataclass(frozen=True)
class Experiment:
    """What to compute and how to judge it; module-level functions, so that any executor can carry them.

    Attributes:
        name: the module's name, and that of its results and its figure.
        summary: one line for `list`.
        model: the sub-package of `solvable` that it depends on.
        presets: "quick" and "paper".
        predict: a cell's controls -> prediction.
        simulate: a cell's controls and the preset's sampling keywords -> estimate.
        compare: keywords of `solvable.compare`, each a value or a function of the controls (name -> array over all
            simulated points), and `observables`, the names to compare (default: all).
        observables: what is measured, where it is not what the model's `predict` and `simulate` return.
    """

    name: str
    summary: str
    model: str
    presets: Mapping[str, Preset]
    predict: Callable[[Cell], Prediction]
    simulate: Callable[[Cell], Estimate]
    compare: Mapping[str, Any]
    observables: Observables | None = None

    @property
    def declared(self) -> Observables:
        """The observables that the experiment or else the model declares."""
        if self.observables is not None:
            return self.observables
        observables: Observables = importlib.import_module(f"solvable.{self.model}").OBSERVABLES
        return observables

    def sources(self) -> list[Path]:
        """Return the files whose code decides the results: shared modules, the model, the experiment, its helpers."""
        shared = Path(inspect.getfile(compare)).parent
        own = [value for value in vars(inspect.getmodule(self.predict)).values() if inspect.isfunction(value)]
        files = {inspect.getfile(value) for value in own if value.__module__.startswith("experiments.")}
        helpers = [Path(name) for name in sorted({*files, inspect.getfile(self.predict)})]
        return [*shared.glob("*.py"), *(shared / self.model).glob("*.py"), *helpers]

    def store(self, preset: str) -> Store:
        """Return the place of a preset's results."""
        return Store(results_root() / self.name / preset, source_digest(self.sources()))


@dataclass(frozen=True)
class Task:
    """One cell to compute: of which kind, with which controls and sampling keywords."""

    kind: str
    cell: Cell
    sampling: Cell

    @property
    def parameters(self) -> Tree:
        """All that decides the result, besides the code."""
        return {"kind": self.kind, "cell": self.cell, "sampling": self.sampling}


def tasks(preset: Preset) -> list[Task]:
    """List the cells of a preset."""
    theory = [Task(THEORY, cell, {}) for cell in preset.theory]
    return theory + [Task(SIMULATION, cell, preset.sampling) for cell in preset.simulation]


def finished(experiment: Experiment, preset: str) -> tuple[int, int]:
    """Return how many cells of a preset are there, and how many there should be."""
    store, wanted = experiment.store(preset), tasks(experiment.presets[preset])
    return sum(store.load(task.parameters) is not None for task in wanted), len(wanted)


def run(experiment: Experiment, preset: str, executor: Executor, progress: Progress) -> Agreement:
    """Compute the missing cells of a preset, then write its table and its verdict.

    Args:
        experiment: what to compute.
        preset: name of one of its presets.
        executor: who computes.
        progress: called with the numbers of finished and of all cells.

    Returns:
        The one comparison over all simulated points together.
    """
    store, wanted = experiment.store(preset), tasks(experiment.presets[preset])
    values = _all_values(experiment, wanted, store, executor, progress)
    theory, simulation = (
        concatenate([value for task, value in zip(wanted, values, strict=True) if task.kind == kind])
        for kind in (THEORY, SIMULATION)
    )
    estimate = measured(simulation, experiment.declared)
    agreement = judge(experiment.compare, simulation, estimate)
    tables = [tidy(THEORY, theory, None), tidy(SIMULATION, simulation, estimate)]
    store.write_table({name: np.concatenate([table[name] for table in tables]) for name in tables[0]})
    store.write_verdict({"experiment": experiment.name, "preset": preset, **summary(agreement)})
    return agreement


def compute(
    predict: Callable[[Cell], Prediction], simulate: Callable[[Cell], Estimate], task: Task
) -> tuple[Tree, Tree]:
    """Compute one cell.

    Returns:
        Its values, as flat columns of equal length (names -> arrays), and their provenance.
    """
    start = time.perf_counter()
    values = _prediction_columns(predict(task.cell))
    if task.kind == SIMULATION:
        values |= _estimate_columns(simulate({**task.cell, **task.sampling}))
    return values, _provenance(task, time.perf_counter() - start)


def concatenate(trees: Sequence[Tree]) -> Tree:
    """Join columns of several cells end to end.

    Raises:
        KeyError: if the cells have different columns.
    """
    first = trees[0]
    return {
        name: concatenate([tree[name] for tree in trees])
        if isinstance(first[name], Mapping)
        else np.concatenate([np.asarray(tree[name], dtype=np.float64) for tree in trees])
        for name in first
    }


def measured(columns: Tree, declared: Observables) -> Estimate:
    """Rebuild the estimate from stored columns; errors and degrees of freedom are those of the simulation."""
    stored = columns["moments"]
    scatter = {tuple(name.split(" ", 1)): value for name, value in stored["scatter"].items()}
    deterministic = stored["deterministic"].astype(bool)
    moments = Moments(stored["count"], stored["failed"], deterministic, stored["mean"], scatter)
    return Estimate(moments, declared, columns["constants"], Record(columns["controls"]))


def judge(keywords: Cell, simulation: Tree, estimate: Estimate) -> Agreement:
    """Compare all simulated points at once, so that the rate of false alarms holds for the whole experiment."""
    controls, predicted = simulation["controls"], simulation["predicted"]
    given = {name: value(controls) if callable(value) else value for name, value in keywords.items()}
    names = given.pop("observables", tuple(predicted))
    return compare({name: predicted[name] for name in names}, estimate, **given)


def tidy(kind: str, columns: Tree, estimate: Estimate | None) -> Tree:
    """Return one row per point and observable: kind, controls, observable, predicted, mean, sem, count, failed."""
    predicted: Mapping[str, Array] = columns["predicted"]
    size = len(next(iter(predicted.values())))
    nothing = np.full(size, np.nan)
    zeros = np.zeros(size)
    means, errors = (estimate.mean, estimate.sem) if estimate else ({}, {})
    counts, failures = (estimate.count, estimate.failed) if estimate else (zeros, zeros)
    repeated = {name: np.tile(values, len(predicted)) for name, values in columns["controls"].items()}
    return {
        "kind": np.full(size * len(predicted), kind, dtype=object),
        **repeated,
        "observable": np.repeat(np.array(list(predicted), dtype=object), size),
        "predicted": np.concatenate(list(predicted.values())),
        "mean": np.concatenate([means.get(name, nothing) for name in predicted]),
        "sem": np.concatenate([errors.get(name, nothing) for name in predicted]),
        "count": np.tile(counts, len(predicted)).astype(np.int64),
        "failed": np.tile(failures, len(predicted)).astype(np.int64),
    }


def summary(agreement: Agreement) -> Tree:
    """Return the verdict with its numbers: per observable, the largest over the points compared."""
    return {
        "verdict": agreement.verdict,
        "detectable": agreement.detectable,
        "observables": {name: _extremes(item) for name, item in agreement.comparisons.items()},
        "text": repr(agreement),
    }


def _extremes(item: Comparison) -> Tree:
    chosen = item.compared
    columns = {"relative": item.relative, "z": item.z, "detectable": item.detectable, "allowed": item.allowed}
    largest = {name: float(np.max(np.abs(values[chosen]), initial=0.0)) for name, values in columns.items()}
    return {**largest, "compared": int(chosen.sum()), "disagree": int(item.disagrees.sum())}


def _all_values(
    experiment: Experiment, wanted: Sequence[Task], store: Store, executor: Executor, progress: Progress
) -> list[Tree]:
    values = {index: store.load(task.parameters) for index, task in enumerate(wanted)}
    missing = [index for index, value in values.items() if value is None]
    progress(len(wanted) - len(missing), len(wanted))
    calls = {index: (compute, experiment.predict, experiment.simulate, wanted[index]) for index in missing}
    for done, (index, (columns, provenance)) in enumerate(_as_they_finish(executor, calls), 1):
        values[index] = store.save(wanted[index].parameters, columns, provenance)
        progress(len(wanted) - len(missing) + done, len(wanted))
    return [value for value in values.values() if value is not None]


def _as_they_finish(executor: Executor, calls: Mapping[int, tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
    """Yield results as soon as they are there, also between submissions: `submit` of a serial executor computes."""
    pending: dict[Future[Any], int] = {}
    try:
        for index, call in calls.items():
            pending[executor.submit(*call)] = index
            for future in [future for future in pending if future.done()]:
                yield pending.pop(future), future.result()
        for future in as_completed(list(pending)):
            yield pending.pop(future), future.result()
    finally:  # after Ctrl-C or an error, what has not begun need not begin
        for future in pending:
            future.cancel()


def _prediction_columns(prediction: Prediction) -> Tree:
    columns = prediction.to_dict()
    return {
        "controls": {name: values for name, values in columns.items() if name not in prediction.observables},
        "predicted": {name: columns[name] for name in prediction.observables},
    }


def _estimate_columns(estimate: Estimate) -> Tree:
    moments = estimate.moments
    shape = max((value.shape for value in moments.mean.values()), key=len)

    def flat(value: Any) -> Array:
        """Repeat a value of the cells along the axes that some observables have besides."""
        return np.broadcast_to(trailing(value, len(shape)), shape).ravel()

    stored = {
        "count": flat(moments.count),
        "failed": flat(moments.failed),
        "deterministic": flat(moments.deterministic),
        "mean": {name: flat(value) for name, value in moments.mean.items()},
        "scatter": {f"{a} {b}": flat(value) for (a, b), value in moments.scatter.items()},
    }
    constants = {
        name: flat(np.broadcast_to(value, np.shape(estimate.count))) for name, value in estimate.constants.items()
    }
    return {"moments": stored, "constants": constants}


def _provenance(task: Task, seconds: float) -> Tree:
    import jax

    return {
        "versions": {name: metadata.version(name) for name in ("jax", "jaxlib", "numpy", "scipy")},
        "python": platform.python_version(),
        "machine": platform.machine(),
        "device": jax.devices()[0].device_kind,
        "dtype": task.sampling.get("dtype", "float64"),
        "seed": task.sampling.get("seed"),
        "seconds": seconds,
    }

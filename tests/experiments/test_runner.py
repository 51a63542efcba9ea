"""The runner: immutable cells, resuming, damage, tables, verdicts, command line."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numpy as np
import pytest

from experiments import __main__ as command_line
from experiments.executors import SerialExecutor
from experiments.store import Store, canonical, source_digest, write_atomically
from experiments.sweep import Experiment, Preset, finished, run
from solvable import Estimate
from solvable import random_features as rf
from solvable.observables import Record

pytestmark = pytest.mark.x64_independent
CALLS = []


def predict(cell):
    CALLS.append(cell)
    return rf.predict(rf.Problem.power_law(1.5, 0.4, 0.1), **controls(cell))


def controls(cell):
    return {name: np.asarray(cell[name]) for name in ("n_samples", "n_features", "ridge")}


def simulate(cell):
    """A fast stand-in: the theory plus noise of known size."""
    if cell.get("n_samples") == 13:
        raise KeyboardInterrupt
    theory = rf.predict(rf.Problem.power_law(1.5, 0.4, 0.1), **controls(cell))
    noise = np.random.default_rng(cell["seed"]).normal(size=(50, *np.shape(theory.bias)))
    samples = {name: theory.observables[name] * (1 + cell["spread"] * noise) for name in rf.OBSERVABLES.base}
    estimate = Estimate.from_samples(samples, rf.OBSERVABLES, noise_variance=np.asarray(0.1))
    return Estimate(estimate.moments, estimate.declared, estimate.constants, Record(controls(cell)))


def experiment(*sizes, spread=0.01, **compare):
    cells = tuple({"n_samples": n, "n_features": [10, np.inf], "ridge": [[0.0], [0.1]]} for n in sizes)
    preset = Preset(cells[:1], cells, {"seed": 0, "spread": spread})
    return Experiment("toy", "a toy", "random_features", {"quick": preset}, predict, simulate, compare)


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    monkeypatch.setenv("SOLVABLE_RESULTS", str(tmp_path))
    CALLS.clear()
    return tmp_path


def quietly(done, total):
    pass


@pytest.mark.parametrize("executor", [SerialExecutor, lambda: ThreadPoolExecutor(2)])
def test_a_second_run_computes_nothing_and_says_the_same(executor):
    with executor() as workers:
        first = run(experiment(20, 30), "quick", workers, quietly)
        count = len(CALLS)
        second = run(experiment(20, 30), "quick", workers, quietly)
    assert first.verdict == second.verdict == "agree"
    assert count == 3
    assert len(CALLS) == count
    assert repr(first) == repr(second)


def test_an_interrupted_sweep_keeps_what_was_finished():
    with pytest.raises(KeyboardInterrupt):
        run(experiment(20, 13, 40), "quick", SerialExecutor(), quietly)
    assert finished(experiment(20, 13, 40), "quick") == (2, 4)


def test_more_cells_compute_only_the_new_ones():
    run(experiment(20), "quick", SerialExecutor(), quietly)
    CALLS.clear()
    run(experiment(20, 30), "quick", SerialExecutor(), quietly)
    assert [cell["n_samples"] for cell in CALLS] == [30]


def test_damaged_cells_are_computed_again(results):
    run(experiment(20), "quick", SerialExecutor(), quietly)
    files = sorted((results / "toy" / "quick" / "cells").iterdir())
    files[0].write_text(files[0].read_text()[:-40])
    files[1].write_text(files[1].read_text().replace('"n_samples":20', '"n_samples":21', 1))
    CALLS.clear()
    run(experiment(20), "quick", SerialExecutor(), quietly)
    assert len(CALLS) == 2


def test_the_table_is_tidy_and_keeps_singular_values():
    run(experiment(10), "quick", SerialExecutor(), quietly)
    table = experiment(10).store("quick").read_table()
    assert set(table.kind) == {"theory", "simulation"}
    assert len(table) == 2 * 4 * len(rf.OBSERVABLES.names)
    singular = table[(table.n_features == 10) & (table.ridge == 0) & (table.observable == "bias")]
    assert np.isinf(singular.predicted).all()
    assert np.isinf(table.n_features).any()


def test_verdicts_are_saved_with_their_numbers():
    run(experiment(20, spread=0.5), "quick", SerialExecutor(), quietly)
    verdict = experiment(20).store("quick").read_verdict()
    assert verdict["verdict"] == "inconclusive"
    assert verdict["observables"]["bias"]["detectable"] > 0.05


def test_a_wrong_prediction_disagrees():
    wrong = experiment(20, observables=("bias",), detectable=1.0)
    biased = Experiment(**{**wrong.__dict__, "simulate": lambda cell: simulate({**cell, "n_samples": 25})})
    assert run(biased, "quick", SerialExecutor(), quietly).verdict == "disagree"


def test_keys_depend_on_parameters_and_code_only(tmp_path):
    one, other = Store(tmp_path, "code"), Store(tmp_path, "other code")
    assert one.key({"n": 100, "p": 2.5}) == one.key({"p": 2.5, "n": 100.0})
    assert one.key({"n": 100}) != one.key({"n": 101})
    assert one.key({"n": 100}) != other.key({"n": 100})
    file = tmp_path / "a.py"
    file.write_text("x = 1")
    before = source_digest([file])
    file.write_text("x = 2")
    assert source_digest([file]) != before
    assert canonical({"b": np.float64(2), "a": np.array([np.inf])}) == '{"a":[Infinity],"b":2}'


def test_files_are_whole_or_absent(tmp_path, monkeypatch):
    target = tmp_path / "folder" / "file"
    write_atomically(target, b"whole")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_atomically(target, b"half")
    assert target.read_bytes() == b"whole"
    assert list(target.parent.iterdir()) == [target]


@pytest.fixture
def toy(monkeypatch):
    module = ModuleType("experiments.toy")
    module.EXPERIMENT = experiment(20)
    monkeypatch.setitem(sys.modules, "experiments.toy", module)
    monkeypatch.setattr(command_line, "all_experiments", lambda: {"toy": module.EXPERIMENT})


@pytest.mark.usefixtures("toy")
def test_command_line(capsys, results):
    assert command_line.main(["list"]) == 0
    assert "a toy" in capsys.readouterr().out
    assert command_line.main(["run", "toy"]) == 0
    assert "agree" in capsys.readouterr().out
    assert command_line.main(["status"]) == 0
    assert "2/2 cells, agree" in capsys.readouterr().out
    assert json.loads((results / "toy" / "quick" / "verdict.json").read_text())["verdict"] == "agree"
    assert command_line.main(["run", "nonsense"]) == 2
    assert "known are toy" in capsys.readouterr().err


def test_the_shipped_experiments_are_found():
    known = command_line.all_experiments()
    assert {"rf_double_descent", "rf_real_digits"} <= set(known)
    for name, item in known.items():
        assert item.name == name
        assert set(item.presets) == {"quick", "paper"}

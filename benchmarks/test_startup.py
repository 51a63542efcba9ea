"""Imports and first predictions in fresh processes, and the warm call."""

import math
import subprocess
import sys
from statistics import median

import pytest

from solvable import random_features as rf

FRESH = """
import time
start = time.perf_counter()
{what}
print(time.perf_counter() - start)
"""
FIRST = """
import time
from solvable import random_features as rf
start = time.perf_counter()
problem = rf.Problem.power_law(1.5, 0.4, 0.01)
rf.predict(problem, n_samples=1000, n_features=500, ridge=1e-3)
print(time.perf_counter() - start)
"""
SCRIPTS = {
    "import solvable": FRESH.format(what="import solvable"),
    "import solvable.random_features": FRESH.format(what="import solvable.random_features"),
    "import jax": FRESH.format(what="import jax"),
    "first predict, infinite power law": FIRST,
}
ROWS = [("what", "median")]


@pytest.fixture(scope="module", autouse=True)
def _tables(medians, add_table):
    yield
    ROWS.append(("warm scalar predict", f"{1e3 * medians.get('scalar', math.nan):.2f} ms"))
    add_table("start-up, each in fresh processes", ROWS)


@pytest.mark.parametrize("what", SCRIPTS)
def test_fresh_process(what, benchmark):
    seconds = []

    def once():
        done = subprocess.run([sys.executable, "-c", SCRIPTS[what]], capture_output=True, text=True, check=True)
        seconds.append(float(done.stdout))

    benchmark.pedantic(once, rounds=5, warmup_rounds=1)
    ROWS.append((what, f"{1e3 * median(seconds):.1f} ms"))


def test_warm_scalar(timed):
    problem = rf.Problem.power_law(1.5, 0.4, 0.01)
    timed("scalar", lambda: rf.predict(problem, n_samples=1000, n_features=500, ridge=1e-3), rounds=31, iterations=10)

"""Replicates at n = p = 512 and 2048 modes for a path of ridges, against one Cholesky per ridge and a floor."""

import jax
import numpy as np
import pytest

from benchmarks.baselines import cholesky_draw, floor_draw, over_replicates, random_numbers
from solvable import random_features as rf

N, P, MODES, NOISE = 512, 512, 2048, 0.01
REPLICATES = 2
PATHS = (1, 5, 20, 100)
OBSERVABLES = ("bias", "variance", "train_error", "squared_norm", "degrees_of_freedom")
PROBLEM = rf.Problem.power_law(1.5, 0.4, NOISE, n_modes=MODES)
CHOLESKY, FLOOR, NUMBERS = (over_replicates(draw) for draw in (cholesky_draw, floor_draw, random_numbers))


def ridges(count):
    return np.geomspace(1e-3, 10, count)


def spectrum():
    modes = PROBLEM.modes.explicit()
    return modes.eigenvalues, modes.target_power


def ours(count):
    return rf.simulate(PROBLEM, n_samples=N, n_features=P, ridge=ridges(count), seed=0, replicates=REPLICATES)


def cholesky(count):
    out = CHOLESKY(0, *spectrum(), NOISE, ridges(count), replicates=REPLICATES, n=N, p=P)
    return {name: np.asarray(value).mean(axis=0) for name, value in out.items()}


def floor():
    return jax.block_until_ready(FLOOR(0, *spectrum(), replicates=REPLICATES, n=N, p=P))


def numbers():
    return jax.block_until_ready(NUMBERS(0, *spectrum(), replicates=REPLICATES, n=N, p=P))


@pytest.fixture(scope="module", autouse=True)
def _tables(medians, add_table):
    yield
    low, drawn = (medians.get(name, np.nan) / REPLICATES for name in ("floor", "numbers"))
    rows = [("ridges", "ours", "Cholesky each", "Cholesky/ours", "ours/floor", "first call")]
    for count in PATHS:
        ours, chol = (medians.get((name, count), np.nan) / REPLICATES for name in ("ours", "cholesky"))
        first = medians.get(("first", count), np.nan)
        times = f"{1e3 * ours:.0f} ms", f"{1e3 * chol:.0f} ms"
        rows.append((str(count), *times, f"{chol / ours:.2f}", f"{ours / low:.2f}", f"{first:.1f} s"))
    rows.append(("floor", f"{1e3 * low:.0f} ms", f"of which {1e3 * drawn:.0f} ms random numbers", "", "", ""))
    add_table(f"simulate at n = p = {N}, {MODES} modes, per replicate (first call: {REPLICATES}, with compiling)", rows)


@pytest.mark.parametrize("count", PATHS)
def test_first_call(count, timed):
    timed(("first", count), lambda: ours(count), rounds=1, warmup=0)


@pytest.mark.parametrize("part", [floor, numbers])
def test_floor(part, timed):
    timed(part.__name__, part, rounds=5)


@pytest.mark.parametrize("count", PATHS)
def test_ours(count, timed):
    timed(("ours", count), lambda: ours(count), rounds=5)


@pytest.mark.parametrize("count", PATHS)
def test_cholesky(count, timed):
    expected = timed(("cholesky", count), lambda: cholesky(count), rounds=1 if count == 100 else 3)
    measured = ours(count).mean
    for name in OBSERVABLES:
        np.testing.assert_allclose(measured[name], expected[name], rtol=1e-7)

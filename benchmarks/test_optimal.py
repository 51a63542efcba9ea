"""The best ridge on a 40 x 40 grid of sizes, against a bounded search over predictions per point."""

from functools import partial

import numpy as np
import pytest

from benchmarks.baselines import best_ridge_by_search
from solvable import random_features as rf

SIZES = np.geomspace(20, 1e5, 40)
SAMPLED = 4  # the search is timed on every tenth size in each direction
WORLDS = {"800 modes": 800, "infinite": np.inf}


def world(name):
    return rf.Problem.power_law(1.5, 0.4, 0.05, n_modes=WORLDS[name])


@pytest.fixture(scope="module", autouse=True)
def _table(medians, add_table):
    yield
    rows = [("world", "optimal_ridge, 1600 points", "search per point, same points", "ratio")]
    for name in WORLDS:
        ours, search = medians.get(name, np.nan), medians.get(f"{name}, search", np.nan) * (len(SIZES) / SAMPLED) ** 2
        rows.append((name, f"{1e3 * ours:.0f} ms", f"{search:.1f} s (from {SAMPLED**2})", f"{search / ours:.0f}x"))
    add_table("best ridge on a 40 x 40 grid of n and p", rows)


@pytest.mark.parametrize("name", WORLDS)
def test_grid(name, timed):
    problem = world(name)
    timed(name, lambda: rf.optimal_ridge(problem, n_samples=SIZES[:, None], n_features=SIZES), rounds=5)


@pytest.mark.parametrize("name", WORLDS)
def test_search(name, timed):
    problem, few = world(name), SIZES[5 :: len(SIZES) // SAMPLED]
    predict = partial(rf.predict, problem)
    values = timed(
        f"{name}, search",
        lambda: np.array([[best_ridge_by_search(predict, n, p) for p in few] for n in few]),
        rounds=1,
        warmup=0,
    )
    best = rf.optimal_ridge(problem, n_samples=few[:, None], n_features=few).excess_risk
    assert np.all(best <= values * (1 + 1e-9))
    np.testing.assert_allclose(best, values, rtol=1e-6)

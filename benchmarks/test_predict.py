"""A grid of 216 predictions, against a root finder per point and the plain fixed-point iteration."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.baselines import MAX_ITERATIONS, brentq_plain, brentq_point, fixed_point
from benchmarks.grid import CAPACITY, N_MODES, N_SAMPLES, NOISE, RIDGES, SOURCE, WIDTHS, Point, modes
from solvable import random_features as rf

REFERENCE = json.loads(Path(__file__).with_name("reference.json").read_text(encoding="utf-8"))
BUILD = {
    "power_law": lambda: rf.Problem.power_law(CAPACITY, SOURCE, NOISE, n_modes=N_MODES),
    "from_arrays": lambda: rf.Problem.from_arrays(*modes(), NOISE),
}
BASELINES = ("brentq per point", "brentq on our equation", "fixed-point iteration")
ERRORS: dict[str, float] = {}
NOTES: dict[str, str] = {}


def grid(problem):
    return rf.predict(problem, n_samples=N_SAMPLES, n_features=WIDTHS[:, None], ridge=RIDGES)


def largest_error(bias, variance):
    """Largest relative error at the checked points."""
    pairs = [
        (v[row["width"], row["ridge"]], row[k])
        for row in REFERENCE
        for k, v in (("bias", bias), ("variance", variance))
    ]
    return max(abs(value / float(digits) - 1) for value, digits in pairs)


def point_by_point(solve):
    """Values on the grid as arrays, one field of `Point` after the other."""
    x, power = modes()
    cells = [solve(x, power, NOISE, N_SAMPLES, p, ridge) for p, ridge in product(WIDTHS, RIDGES)]
    return Point(*np.array(cells).T.reshape(-1, WIDTHS.size, RIDGES.size))


@pytest.fixture(scope="module", autouse=True)
def _tables(medians, add_table):
    yield
    rows = [("route", "median", "over power_law", "over from_arrays", "largest error", "")]
    for name, error in ERRORS.items():
        ratios = (f"{medians[name] / medians.get(f'{ours}, warm', np.nan):.1f}x" for ours in BUILD)
        rows.append((name, f"{1e3 * medians[name]:.2f} ms", *ratios, f"{error:.0e}", NOTES.get(name, "")))
    add_table(f"predict at {WIDTHS.size * RIDGES.size} points, {N_MODES} modes", rows)
    sizes = [(f"{size:.0e} modes", f"{1e3 * medians.get(size, np.nan):.2f} ms") for size in (1e3, 1e6, np.inf)]
    add_table("the same points on power laws of other lengths", sizes)


@pytest.mark.parametrize("route", BUILD)
def test_warm(route, timed):
    problem = BUILD[route]()
    name = f"{route}, warm"
    theory = timed(name, lambda: grid(problem), rounds=31)
    ERRORS[name] = largest_error(theory.bias, theory.variance)
    assert ERRORS[name] < 1e-12


@pytest.mark.parametrize("route", BUILD)
def test_with_building_the_problem(route, timed):
    name = f"{route}, problem built anew"
    theory = timed(name, lambda: grid(BUILD[route]()), rounds=15)
    ERRORS[name] = largest_error(theory.bias, theory.variance)


def test_brentq_on_the_plain_equation(timed):
    values = timed(BASELINES[0], lambda: point_by_point(brentq_plain), rounds=5)
    ERRORS[BASELINES[0]] = largest_error(values.bias, values.variance)


def test_brentq_on_the_equation_without_cancellation(timed):
    values = timed(BASELINES[1], lambda: point_by_point(brentq_point), rounds=5)
    ERRORS[BASELINES[1]] = largest_error(values.bias, values.variance)
    ours = grid(BUILD["power_law"]())
    for name in Point._fields:
        np.testing.assert_allclose(getattr(ours, name), getattr(values, name), rtol=1e-9)


def test_fixed_point_iteration(timed):
    iterations = []

    def solve(*arguments):
        point, count = fixed_point(*arguments)
        iterations.append(count)
        return point

    values = timed(BASELINES[2], lambda: point_by_point(solve), rounds=1, warmup=0)
    ERRORS[BASELINES[2]] = largest_error(values.bias, values.variance)
    stopped = sum(count == MAX_ITERATIONS for count in iterations)
    NOTES[BASELINES[2]] = f"up to {max(iterations)} iterations, {stopped} points not converged"


@pytest.mark.parametrize("size", [1e3, 1e6, np.inf])
def test_other_sizes(size, timed):
    problem = rf.Problem.power_law(CAPACITY, SOURCE, NOISE, n_modes=size)
    timed(size, lambda: grid(problem), rounds=15)

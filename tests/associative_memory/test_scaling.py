"""Exponents: the table, symbols, and slopes of the theory itself."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from solvable import associative_memory as am
from solvable.associative_memory.gradient_descent import beyond
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent


def exponent_of(exponent, algorithm, **options):
    return am.exponents(exponent, algorithm, **options).exponent("excess_risk")


@pytest.mark.parametrize(
    ("algorithm", "options", "expected"),
    [
        (am.GradientDescent, {}, Fraction(-1, 3)),
        (am.GradientDescent(0.1), {"label_noise": 0.2}, Fraction(-1, 3)),
        (am.GradientDescent, {"window": "late"}, -1),
        (am.GradientDescent, {"window": "late", "label_noise": 0.2}, -math.inf),
        (am.NormalizedGradientDescent, {}, -1),
        (am.NormalizedGradientDescent, {"window": "late"}, -math.inf),
        (am.Muon, {}, -math.inf),
        (am.SignDescent(0.1), {"window": "late"}, -math.inf),
        (am.Muon, {"window": "late", "label_noise": 0.2}, 0),
        (am.SignDescent, {"window": "horizon", "label_noise": 0.2}, -2),
        (am.Muon, {"batches": True}, Fraction(-1, 3)),
    ],
)
def test_the_table(algorithm, options, expected):
    assert exponent_of(Fraction(3, 2), algorithm, **options) == expected


def test_symbols_and_flat_frequencies():
    beta = sympy.Symbol("beta", positive=True)
    assert sympy.simplify(exponent_of(beta, am.GradientDescent) - (1 / beta - 1)) == 0
    assert exponent_of(1.0, am.GradientDescent) is None
    assert am.exponents(2, am.Muon).regime == {"kind": ("exponential",)}


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        (am.GradientDescent, {"window": "horizon"}), (am.Muon, {"window": "horizon"}), (am.Adam, {}),
        (am.Muon, {"batches": True, "label_noise": 0.1}), (am.SignDescent(0.1, basis="random"), {}),
        (am.NormalizedGradientDescent, {"window": "late", "label_noise": 0.1}),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said(algorithm, options):
    with pytest.raises(ArgumentError, match="no law is known"):
        am.exponents(1.5, algorithm, **options)


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("exponent", [1.25, 1.5, 2.0])
def test_gradient_descent_has_its_slope(exponent, noise):
    """In the window that `learning_steps` bounds; the rest of the gap to the law is below 1e-3."""
    problem = am.Problem.power_law(exponent, 100_000, 1, noise)
    algorithm = am.GradientDescent(1.0)
    window = am.learning_steps(problem, algorithm)
    steps = np.geomspace(20 * window.first, window.last_begins / 20, 4).astype(int)
    excess = am.predict(problem, algorithm, steps=steps, method="flow").excess_risk + beyond(problem, exponent)
    slopes = np.diff(np.log(excess)) / np.diff(np.log(steps))
    np.testing.assert_allclose(slopes, exponent_of(exponent, am.GradientDescent), atol=2e-3)


@pytest.mark.parametrize("exponent", [1.25, 1.5, 2.0])
def test_normalised_descent_approaches_its_slope(exponent):
    """Measured gaps halve with every doubling of the steps, the correction of a plateau of constant length."""
    problem = am.Problem.power_law(exponent, 30_000)
    steps = np.array([50, 100, 200, 400])
    total = am.predict(problem, am.NormalizedGradientDescent(1.0), steps=steps).loss + beyond(problem, exponent)
    slopes = np.diff(np.log2(total))
    law = exponent_of(exponent, am.NormalizedGradientDescent)
    gaps = slopes - law
    assert (np.abs(np.diff(np.log2(gaps)) + 1) < 0.15).all()
    assert slopes[-1] == pytest.approx(law, rel=0.07)


def test_learning_steps_bracket_the_groups():
    problem = am.Problem.power_law(1.5, 30, 4)
    times = am.learning_steps(problem, am.GradientDescent(2.0))
    steps = np.round([times.first, times.last_begins, times.last]).astype(int)
    shares = am.predict(problem, am.GradientDescent(2.0), steps=steps).group_loss / math.log(problem.n_items)
    assert 0.1 < shares[0, 0] < 0.9
    assert shares[1, -1] == pytest.approx(1 - 1 / math.log(problem.n_items), abs=0.01)
    assert 0.1 < shares[2, -1] < 0.9
    with pytest.raises(ArgumentError, match="algorithm must be GradientDescent with"):
        am.learning_steps(problem, am.Muon(0.1))

"""Scaling exponents: against the exact predictor's slopes, in exact numbers, and with symbols."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy

from solvable import random_features as rf
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent

WORLDS = [(1.5, 0.3), (1.5, 0.7), (2.5, 0.8), (1.3, 1.4)]
RIDGE_EXPONENTS = (0.2, 0.5, 0.8, 1.2, 1.6, 2.2)
WIDTH_EXPONENTS = (0.2, 0.35, 0.5, 0.65, 0.8, 1.3, 2.0)


@pytest.mark.parametrize("world", WORLDS)
def test_slopes_of_the_exact_predictor(world):
    """Bias and variance between n = 1e9 and 1e10, at 42 pairs of exponents: within 0.04 of the law.

    The effective ridge, like the bias, within 0.04: a width n^0.2 is 63 to 100 features only.
    """
    problem = rf.Problem.power_law(*world, noise_variance=1.0)
    n = np.array([1e9, 1e10])
    for ell, q in product(RIDGE_EXPONENTS, WIDTH_EXPONENTS):
        theory = rf.predict(problem, n_samples=n, n_features=n**q, ridge_per_sample=n**-ell)
        law = rf.exponents(*world, ridge_exponent=ell, width_exponent=q)
        slope = {name: math.log10(value[1] / value[0]) for name, value in theory.observables.items()}
        assert slope["bias"] == pytest.approx(float(law.exponent("bias")), abs=0.04), (ell, q)
        assert slope["variance"] == pytest.approx(float(law.exponent("variance")), abs=0.04), (ell, q)
        nu2 = math.log10(theory.diagnostics.nu2[1] / theory.diagnostics.nu2[0])
        assert nu2 == pytest.approx(float(law.exponent("nu2")), abs=0.04), (ell, q)


def test_the_minimax_rate_and_the_fewest_features():
    """At the optimum the bias and variance decay alike; the width is below the earlier bound."""
    for capacity, source in product((Fraction(3, 2), Fraction(5, 2)), (Fraction(1, 4), Fraction(1, 2), Fraction(4, 5))):
        best = rf.optimal_exponents(capacity, source)
        law = rf.exponents(capacity, source, ridge_exponent=best.ridge_exponent, width_exponent=best.width_exponent)
        assert best.rate == 2 * capacity * source / (2 * capacity * source + 1)
        assert law.exponent("bias") == law.exponent("variance") == -best.rate
        assert "variance" in law.regime["dominated_by"]
        assert len(law.regime["dominated_by"]) > 1
        if source >= Fraction(1, 2):
            assert best.width_exponent <= (capacity + 2 * source - 1) / (2 * capacity * source + 1)


@pytest.mark.parametrize("noisy", [True, False])
@pytest.mark.parametrize("world", WORLDS)
def test_the_optimum_is_the_best_of_all_exponents(world, noisy):
    """Against brute force over a fine grid of ridge exponents, at several widths; and over widths too."""

    def risk(ell, q):
        return -rf.exponents(*world, ridge_exponent=ell, width_exponent=q, noisy=noisy).exponent("excess_risk")

    grid = np.linspace(0, 1.2 * world[0], 601)
    rates = []
    for q in (0.1, 0.3, 0.45, 0.6, 0.9, 1.0, 1.7, 3.0, 6.0):
        best = rf.optimal_exponents(*world, width_exponent=q, noisy=noisy)
        brute = max(risk(ell, q) for ell in grid)
        assert brute <= best.rate + 1e-12
        assert best.rate == pytest.approx(brute, abs=0.01)
        assert risk(best.ridge_exponent, q) == pytest.approx(best.rate)
        rates.append(best.rate)
    free = rf.optimal_exponents(*world, noisy=noisy)
    assert free.rate == pytest.approx(max(rates))
    assert rf.optimal_exponents(*world, width_exponent=0.97 * free.width_exponent, noisy=noisy).rate < free.rate


@pytest.mark.parametrize(
    ("capacity", "source", "noisy", "expected"),
    [
        (1.5, 0.8, False, 0.828),
        (3, 0.8, False, 1.5),
        (1.5, 0.8, True, 0.453),
        (3, 0.8, True, 0.6),
        (1.5, 0.3, True, 0.310),
        (1.5, 0.3, False, 0.450),
    ],
)
def test_compute_optimal_rates(capacity, source, noisy, expected):
    """Published formula, and the exact frontier's mean slope between compute 1e8 and 1e12: within 0.005."""
    law = rf.compute_optimal(capacity, source, noisy=noisy)
    assert -law.exponent("excess_risk") == pytest.approx(expected, abs=6e-4)
    problem = rf.Problem.power_law(capacity, source, noise_variance=1.0 if noisy else 0.0)
    compute = np.array([1e8, 1e12])
    aspect = np.linspace(0.02, 3.0, 400)
    n = compute[:, None] ** (1 / (1 + aspect))
    frontier = rf.optimal_ridge(problem, n_samples=n, n_features=n**aspect).excess_risk.min(axis=1)
    assert math.log(frontier[0] / frontier[1]) / math.log(1e4) == pytest.approx(expected, abs=5e-3)


@pytest.mark.parametrize("noisy", [True, False])
def test_compute_optimal_against_brute_force(noisy):
    for (capacity, source), cost in product(WORLDS, (1, 2)):
        law = rf.compute_optimal(capacity, source, noisy=noisy, feature_cost=cost)
        widths = np.linspace(0.01, 6, 4000)
        rates = [
            rf.optimal_exponents(capacity, source, width_exponent=q, noisy=noisy).rate / (1 + cost * q) for q in widths
        ]
        assert -law.exponent("excess_risk") == pytest.approx(max(rates), rel=1e-3)
        assert max(rates) <= -law.exponent("excess_risk") + 1e-12


@pytest.mark.parametrize("noisy", [True, False])
def test_symbolic_expressions_evaluate_to_the_numbers(noisy):
    """At 60 random rationals, source 1/2 and 1 among them; to rounding, because evaluation is in floating point."""
    symbols = alpha, r, ell, q = sympy.symbols("alpha r ell q", positive=True)
    law = rf.exponents(alpha, r, ridge_exponent=ell, width_exponent=q, noisy=noisy)
    spent = rf.compute_optimal(alpha, r, noisy=noisy)
    assert law.regime == {}
    expressions = [
        *(law.exponent(name) for name in law.laws),
        *rf.optimal_exponents(alpha, r, noisy=noisy),
        *rf.optimal_exponents(alpha, r, width_exponent=q, noisy=noisy),
        *(spent.exponent(name) for name in spent.laws),
    ]
    evaluate = sympy.lambdify(symbols, expressions, modules="math")
    generator = np.random.default_rng(0)
    for _ in range(60):
        capacity = 1 + Fraction(int(generator.integers(1, 60)), 20)
        source, ridge, width = (Fraction(int(v), 10) for v in generator.integers(1, 25, 3))
        law = rf.exponents(capacity, source, ridge_exponent=ridge, width_exponent=width, noisy=noisy)
        spent = rf.compute_optimal(capacity, source, noisy=noisy)
        numbers = [
            *(law.exponent(name) for name in law.laws),
            *rf.optimal_exponents(capacity, source, noisy=noisy),
            *rf.optimal_exponents(capacity, source, width_exponent=width, noisy=noisy),
            *(spent.exponent(name) for name in spent.laws),
        ]
        values = evaluate(*map(float, (capacity, source, ridge, width)))
        assert values == pytest.approx([float(number) for number in numbers], rel=1e-13, abs=1e-14)


def test_exact_numbers_stay_exact():
    law = rf.exponents(2, Fraction(1, 3), ridge_exponent=1, width_exponent=1)
    assert all(isinstance(entry.exponent, Fraction) for entry in law.laws.values())


@pytest.mark.parametrize("noisy", [True, False])
@pytest.mark.parametrize(("capacity", "source"), [(1.5, 0.3), (1.5, 0.7), (2.5, 1.4)])
def test_boundaries_separate_the_dominant_terms(capacity, source, noisy):
    """On each piece its two terms tie, and no other is larger."""
    for piece in rf.phase_boundaries(capacity, source, noisy=noisy):
        start, end = (np.minimum(np.array(point, dtype=float), 50.0) for point in (piece.start, piece.end))
        point = start + 0.37 * (end - start)
        law = rf.exponents(capacity, source, ridge_exponent=point[0], width_exponent=point[1], noisy=noisy)
        values = [law.terms[name] for name in piece.between]
        assert values[0] == pytest.approx(values[1])
        assert max(law.terms.values()) == pytest.approx(values[0])


def test_regimes_and_logarithms():
    def law(ell, q, source=0.7):
        return rf.exponents(1.5, source, ridge_exponent=ell, width_exponent=q)

    assert law(0.3, 1.0).regime["limited_by"] == ("ridge",)
    assert law(3.0, 0.5).regime["limited_by"] == ("features",)
    assert law(3.0, 2.0).regime["limited_by"] == ("samples",)
    assert law(math.inf, math.inf).regime["limited_by"] == ("samples",)
    assert law(0.3, 1.0).regime["dominated_by"] == ("kernel_bias",)
    assert law(0.9, 0.3).regime["dominated_by"] == ("feature_bias",)
    assert law(1.4, 1.5).regime["dominated_by"] == ("variance",)
    assert law(0.3, 1.0, source=1).laws["bias"].log_power == 1
    assert law(0.3, 1.0, source=0.9).laws["bias"].log_power == 0
    exact = rf.exponents(Fraction(3, 2), Fraction(1, 2), ridge_exponent=Fraction(9, 10), width_exponent=Fraction(3, 10))
    assert exact.laws["excess_risk"].log_power == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"capacity": 1.0}, "capacity must be > 1"),
        ({"source": 0.0}, "source must be > 0"),
        ({"ridge_exponent": -0.1}, "ridge_exponent must be >= 0"),
        ({"width_exponent": math.nan}, "width_exponent must be > 0"),
        ({"capacity": math.inf}, "capacity must be > 1 and finite"),
    ],
)
def test_bad_exponents_are_refused(changes, message):
    arguments = {"capacity": 1.5, "source": 0.4, "ridge_exponent": 1, "width_exponent": 1, **changes}
    with pytest.raises(ArgumentError, match=message):
        rf.exponents(**arguments)

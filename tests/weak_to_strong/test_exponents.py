"""Exponents: published table, slopes of the exact predictor, brute force, criteria, symbols."""

import math
from fractions import Fraction

import numpy as np
import pytest

from solvable import weak_to_strong as w2s
from solvable.errors import ArgumentError
from solvable.weak_to_strong import (
    Stage,
    StageExponents,
    exponents,
    minimax_exponent,
    minimax_margin,
    optimal_student_exponents,
)

pytestmark = pytest.mark.x64_independent
INF = math.inf


@pytest.mark.parametrize(
    ("source", "width", "teacher", "student", "kappa", "minimax"),
    [
        (0.8, 2, 0, 0.70588, 0.29412, True),
        (0.8, 0.3, 0.45, 0.5878, 0.2449, False),
        (1.0, 0.2, 0.30, 0.43636, 0.14545, False),
        (0.4, 0.2, 0.24, 0.24, None, False),
        (0.4, 0.8, 0.20, 0.54545, 0.45455, True),
    ],
)
def test_published_table(source, width, teacher, student, kappa, minimax):
    best = optimal_student_exponents(1.5, source, teacher=StageExponents(INF, width))
    assert best.law.exponent("teacher_excess_risk") == pytest.approx(-teacher, abs=1e-12)
    assert best.law.exponent("student_excess_risk") == pytest.approx(-student, abs=5e-5)
    assert best.law.gains_over_teacher is (student > teacher)
    assert best.law.reaches_minimax is minimax
    if kappa is not None:
        assert best.ridge / 1.5 == pytest.approx(kappa, abs=5e-5)


def random_settings(count, seed):
    """Parameters of teacher and student, all regimes."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        teacher = StageExponents(
            float(rng.choice([INF, rng.uniform(0.2, 3)])), float(rng.choice([INF, rng.uniform(0.2, 2)]))
        )
        student = StageExponents(
            float(rng.uniform(0.2, 2)), float(rng.choice([INF, rng.uniform(0.2, 2)])), float(rng.uniform(0.5, 1.5))
        )
        yield float(rng.uniform(1.3, 2.5)), float(rng.uniform(0.15, 1.4)), teacher, student, bool(rng.integers(2))


def slope(capacity, source, teacher, student, noisy, n):
    """Of the exact predictor's student risk, over one decade up to n."""
    n = np.array([n / 10, n])
    m = n**student.samples
    stages = {
        "teacher": Stage(n, n**teacher.width, ridge_per_sample=n**-teacher.ridge),
        "student": Stage(m, m**student.width, ridge_per_sample=m**-student.ridge),
    }
    problem = w2s.Problem.power_law(capacity, source, 1.0 if noisy else 0.0)
    theory = w2s.predict(problem, **stages)
    return [float(np.log10(r[1] / r[0])) for r in (theory.teacher_excess_risk, theory.student_excess_risk)]


def test_slopes_of_the_exact_predictor():
    """Between n = 1e9 and 1e10, away from ties (gap 0.2) and from logarithms, within 0.05."""
    checked = 0
    for capacity, source, teacher, student, noisy in random_settings(250, 5):
        law = exponents(capacity, source, teacher=teacher, student=student, noisy=noisy)
        near_log = min(abs(source - 0.5), abs(source - 1)) < 0.1
        first, second = sorted(law.terms.values())[::-1][:2]
        on_peak = any(abs(stage.width - 1) < 0.1 for stage in (teacher, student))
        if near_log or on_peak or first - second < 0.2 or max(student.samples, 1) * 10 > 14.5:
            continue
        _, measured = slope(capacity, source, teacher, student, noisy, 1e10)
        assert measured == pytest.approx(law.exponent("student_excess_risk"), abs=0.05), (
            capacity,
            source,
            teacher,
            student,
        )
        checked += 1
    assert checked > 60


def test_the_best_ridge_is_found_exactly():
    """Against a grid of 2,000 ridges, for 300 settings."""
    for capacity, source, teacher, student, noisy in random_settings(300, 9):
        width, samples = student.width, student.samples
        best = optimal_student_exponents(capacity, source, teacher=teacher, width=width, samples=samples, noisy=noisy)
        rate = best.law.exponent("student_excess_risk")
        grid = np.linspace(0, capacity * min(1, width), 2001)
        tried = min(
            exponents(capacity, source, teacher=teacher, student=StageExponents(float(r), width, samples), noisy=noisy)
            .exponent("student_excess_risk")
            for r in grid[::10]
        )  # fmt: skip
        assert rate <= tried + 1e-9
        assert rate >= minimax_exponent(capacity, source) - 1e-9 or not noisy


def test_criterion_for_a_gain_over_a_biased_teacher():
    """A student gains on a bias-dominated teacher exactly if some kappa lies in an open interval, with source > 1/2."""
    seen = set()
    for capacity, source, teacher, student, _ in random_settings(1500, 21):
        law = optimal_student_exponents(
            capacity, source, teacher=teacher, width=student.width, samples=student.samples
        ).law
        terms = {name: -value for name, value in law.teacher_terms.items()}
        bias = min(terms["kernel_bias"], terms["feature_bias"])
        if bias >= terms["variance"]:
            continue
        kappa = min(teacher.ridge / capacity, teacher.width, 1)
        smooth, n, q = min(source, 1), student.samples, student.samples * student.width
        gap = (q - teacher.width) / (capacity - 1) if q < INF else INF
        low = max(terms["feature_bias"] / (2 * capacity * smooth), kappa - gap) if teacher.width < INF else INF
        expected = source > 0.5 and terms["feature_bias"] < terms["kernel_bias"] and low < min(kappa, n, q)
        assert law.gains_over_teacher == expected, (capacity, source, teacher, student)
        seen.add(expected)
    assert seen == {True, False}


def test_criterion_for_the_minimax_rate():
    """Five conditions against the best of all ridges."""
    seen = set()
    for capacity, source, teacher, student, _ in random_settings(1500, 22):
        shape = {"teacher": teacher, "width": student.width, "samples": student.samples}
        expected = minimax_margin(capacity, source, **shape) >= 0
        assert optimal_student_exponents(capacity, source, **shape).law.reaches_minimax == expected
        seen.add(bool(expected))
    assert seen == {True, False}


def test_rationals_stay_exact():
    best = optimal_student_exponents(Fraction(3, 2), Fraction(4, 5), teacher=StageExponents(INF, 2))
    assert best.law.exponent("student_excess_risk") == Fraction(-12, 17)
    assert best.ridge == Fraction(15, 34)
    assert best.law.regime["teacher_dominated_by"] == ("variance",)
    assert set(best.law.regime["dominated_by"]) == {"shrink", "teacher_noise"}


def test_symbols_evaluate_to_the_numeric_function():
    import sympy

    names = sympy.symbols("alpha r lt qt ls qs mu", positive=True)
    a, r, lt, qt, ls, qs, mu = names
    law = exponents(a, r, teacher=StageExponents(lt, qt), student=StageExponents(ls, qs, mu))
    assert law.gains_over_teacher is None
    rng = np.random.default_rng(1)
    for _ in range(20):
        values = [Fraction(int(v), 20) for v in rng.integers(5, 50, 7)]
        values[0] += 1
        numeric = exponents(
            values[0], values[1], teacher=StageExponents(*values[2:4]), student=StageExponents(*values[4:])
        )
        at = dict(zip(names, (sympy.Rational(v.numerator, v.denominator) for v in values), strict=True))
        for name in ("teacher_excess_risk", "student_excess_risk"):
            assert law.exponent(name).xreplace(at) == sympy.Rational(str(numeric.exponent(name)))


def test_bad_input_is_refused():
    good = StageExponents(1, 1)
    with pytest.raises(ArgumentError, match=r"teacher.samples must be 1"):
        exponents(2, 1, teacher=StageExponents(1, 1, 2), student=good)
    with pytest.raises(ArgumentError, match=r"student.width must be > 0"):
        exponents(2, 1, teacher=good, student=StageExponents(1, 0))
    with pytest.raises(ArgumentError, match=r"capacity must be > 1"):
        exponents(1, 1, teacher=good, student=good)

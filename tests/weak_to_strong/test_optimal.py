"""The best student: published values, brute force, and when no student helps."""

import math

import numpy as np
import pytest

from solvable import random_features as rf
from solvable import weak_to_strong as w2s
from solvable.errors import ArgumentError
from solvable.weak_to_strong import Stage

pytestmark = pytest.mark.x64_independent
INF = math.inf


@pytest.mark.parametrize(
    ("world", "teacher", "student", "risks", "ridge"),
    [
        ((1.5, 0.8, 0.25), Stage(100, 400, ridge=0.0), (100, 1000), (0.20878886, 0.040586155), 5.265),
        ((1.5, 0.8, 0.25), Stage(100, 400, ridge=0.0), (1000, 1000), (0.20878886, 0.032989611), 52.59),
        ((1.5, 0.8, 0.25), Stage(100, 400, ridge=0.0), (1e5, INF), (0.20878886, 0.031177386), 5322),
        ((1.5, 1.0, 0.01), Stage(1000, 30, ridge=0.0), (1000, INF), (0.029586944, 0.0064690477), 14.91),
    ],
)
def test_published_best_students(world, teacher, student, risks, ridge):
    best = w2s.optimal_student(
        w2s.Problem.power_law(*world), teacher=teacher, n_samples=student[0], n_features=student[1]
    )
    assert float(best.teacher_excess_risk) == pytest.approx(risks[0], rel=1e-7)
    assert float(best.student_excess_risk) == pytest.approx(risks[1], rel=1e-7)
    assert float(best.ridge) == pytest.approx(ridge, rel=3e-4)


@pytest.mark.parametrize(
    ("capacity", "source", "gain"),
    [
        (2, 0.1, 0.0),
        (2, 0.25, 0.0),
        (2, 0.4, 0.00505),
        (2, 0.8, 0.0300),
        (1.5, 0.1, 0.0),
        (1.5, 0.3, 0.00488),
        (1.5, 1.0, 0.0533),
    ],
)
def test_published_gains_over_the_best_kernel_teacher(capacity, source, gain):
    """The spectral filter of an infinite student helps beyond source (capacity - 1)/(2 capacity) alone."""
    problem = w2s.Problem.power_law(capacity, source, 0.25)
    ridge = rf.optimal_ridge(problem, n_samples=200).ridge
    best = w2s.optimal_student(problem, teacher=Stage(200, ridge=ridge), n_samples=INF)
    measured = 1 - float(best.student_excess_risk / best.teacher_excess_risk)
    assert measured == pytest.approx(gain, abs=6e-5 if gain else 1e-12)


@pytest.mark.parametrize(
    ("teacher", "student", "noise"),
    [
        (Stage(100, 60, ridge=0.0), (80, 200), 0.0),
        (Stage(100, 60, ridge=3.0), (80, 40), 0.1),
        (Stage(50, ridge=1e-3), (300, INF), 0.0),
        (Stage(50, 500, ridge=1e-3), (INF, 70), 0.0),
        (Stage(50, 500, ridge=1e-3), (900, 950), 0.3),
    ],
)
@pytest.mark.parametrize("n_modes", [500, INF])
def test_no_ridge_does_better(teacher, student, noise, n_modes):
    problem = w2s.Problem.power_law(1.5, 0.6, 0.2, n_modes=n_modes)
    best = w2s.optimal_student(
        problem, teacher=teacher, n_samples=student[0], n_features=student[1], label_noise_variance=noise
    )
    grid = np.append(0.0, np.geomspace(1e-8, 1e3, 400))
    near = float(best.ridge_per_sample) * np.linspace(0.999, 1.001, 11)
    for ridges in (grid, near):
        tried = Stage(*student, ridge_per_sample=ridges, label_noise_variance=noise)
        risks = w2s.predict(problem, teacher=teacher, student=tried).student_excess_risk
        assert float(best.student_excess_risk) <= risks.min() * (1 + 1e-12)
    here = Stage(*student, ridge_per_sample=best.ridge_per_sample, label_noise_variance=noise)
    theory = w2s.predict(problem, teacher=teacher, student=here)
    assert float(theory.student_excess_risk) == pytest.approx(float(best.student_excess_risk), rel=1e-11)
    assert float(theory.diagnostics.student_nu2) == pytest.approx(float(best.nu2), rel=1e-9)


def test_a_student_gains_a_little_over_any_narrow_teacher():
    """Published to seven digits: a teacher of 50 features at source 0.1, ten times its nu2 at ridge 1."""
    problem = w2s.Problem.power_law(1.5, 0.1, 0.25)
    at_one = w2s.predict(
        problem, teacher=Stage(200, 50, ridge=1.0), student=Stage(10, ridge=1.0)
    ).diagnostics.teacher_nu2
    nodes = problem.modes.nodes(np)
    df1 = float(np.sum(nodes.multiplicities * nodes.eigenvalues / (nodes.eigenvalues + 10 * at_one)))
    ridge = 10 * float(at_one) * (1 - df1 / 50) * (200 - df1)
    best = w2s.optimal_student(problem, teacher=Stage(200, 50, ridge=ridge), n_samples=INF)
    assert float(best.teacher_excess_risk) == pytest.approx(2.112159, rel=1e-7)
    assert 1 - float(best.student_excess_risk / best.teacher_excess_risk) == pytest.approx(0.00361, abs=6e-6)
    published = Stage(INF, ridge_per_sample=0.0154 * at_one)  # the minimum is flat there
    beside = w2s.predict(problem, teacher=Stage(200, 50, ridge=ridge), student=published).student_excess_risk
    assert 0 <= float(beside / best.student_excess_risk) - 1 < 1e-5


def test_sizes_and_teachers_broadcast_and_noise_alone_is_not_learned():
    problem = w2s.Problem.power_law(1.5, 0.6, 0.2)
    best = w2s.optimal_student(problem, teacher=Stage(100, 60, ridge=[[0.1], [1.0]]), n_samples=[50, 100, INF])
    assert best.student_excess_risk.shape == best.ridge.shape == (2, 3)
    assert np.all(np.diff(best.student_excess_risk, axis=1) < 0)
    assert np.all(np.isinf(best.ridge[:, 2]))
    nothing = w2s.Problem.from_arrays([1.0, 0.5], [0.0, 0.0], 1.0)
    silent = w2s.optimal_student(nothing, teacher=Stage(10, ridge=0.1), n_samples=10)
    assert float(silent.ridge) == INF
    assert float(silent.student_excess_risk) == 0


def test_bad_input_is_refused():
    problem = w2s.Problem.power_law(1.5, 0.6)
    with pytest.raises(ArgumentError, match="student.n_samples must be > 0"):
        w2s.optimal_student(problem, teacher=Stage(10, ridge=1.0), n_samples=0)

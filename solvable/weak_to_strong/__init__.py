"""Weak-to-strong generalisation: a student that learns from a teacher's labels, and what it gains.

>>> from solvable import weak_to_strong as w2s
>>> problem = w2s.Problem.power_law(capacity=1.5, source=0.8, noise_variance=0.25)
>>> teacher = w2s.Stage(n_samples=100, n_features=400, ridge=0.0)
>>> best = w2s.optimal_student(problem, teacher=teacher, n_samples=1000, n_features=1000)
>>> round(float(best.ridge), 2), round(float(best.student_excess_risk / best.teacher_excess_risk), 4)
(52.59, 0.158)
"""

from solvable.random_features.problem import Problem
from solvable.training import Stage
from solvable.weak_to_strong.chains import CHAIN, chain, collapse_ridge, growth_rate
from solvable.weak_to_strong.dataset import simulate_dataset
from solvable.weak_to_strong.mixtures import simulate_mixed_labels
from solvable.weak_to_strong.optimal import optimal_student
from solvable.weak_to_strong.scaling import (
    OptimalStudent,
    StageExponents,
    WeakToStrongLaw,
    exponents,
    minimax_exponent,
    minimax_margin,
    optimal_student_exponents,
)
from solvable.weak_to_strong.simulation import draw, simulate
from solvable.weak_to_strong.theory import OBSERVABLES, TERMS, ensembles, mixed_labels, predict

__all__ = [
    "CHAIN",
    "OBSERVABLES",
    "TERMS",
    "OptimalStudent",
    "Problem",
    "Stage",
    "StageExponents",
    "WeakToStrongLaw",
    "chain",
    "collapse_ridge",
    "draw",
    "ensembles",
    "exponents",
    "growth_rate",
    "minimax_exponent",
    "minimax_margin",
    "mixed_labels",
    "optimal_student",
    "optimal_student_exponents",
    "predict",
    "simulate",
    "simulate_dataset",
    "simulate_mixed_labels",
]

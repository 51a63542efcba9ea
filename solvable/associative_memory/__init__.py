"""Softmax retrieval from an associative memory, trained by gradient descent, Muon, sign or adaptive methods.

>>> from solvable import associative_memory as am
>>> problem = am.Problem.power_law(exponent=1.5, n_groups=64, group_size=16)
>>> [am.time_to_loss(problem, kind(learning_rate=0.5), 0.1).__round__() for kind in (am.GradientDescent, am.Muon)]
[122897, 18]
"""

from solvable.associative_memory.algorithms import max_learning_rate
from solvable.associative_memory.gradient_descent import law_constant
from solvable.associative_memory.polar import polar_factor
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.scaling import LearningSteps, exponents, learning_steps
from solvable.associative_memory.simulation import draw, simulate
from solvable.associative_memory.theory import OBSERVABLES, predict
from solvable.associative_memory.times import speedup, time_to_loss
from solvable.training import Adam, GradientDescent, Muon, NormalizedGradientDescent, Schedule, SignDescent

__all__ = [
    "OBSERVABLES",
    "Adam",
    "GradientDescent",
    "LearningSteps",
    "Muon",
    "NormalizedGradientDescent",
    "Problem",
    "Schedule",
    "SignDescent",
    "draw",
    "exponents",
    "law_constant",
    "learning_steps",
    "max_learning_rate",
    "polar_factor",
    "predict",
    "simulate",
    "speedup",
    "time_to_loss",
]

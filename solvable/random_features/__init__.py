"""Random-features ridge regression: deterministic equivalents and their Monte Carlo check.

>>> from solvable import random_features as rf
>>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01)
>>> float(rf.predict(problem, n_samples=100, n_features=200, ridge=1e-2).bias.round(9))
0.039318012
"""

from solvable.random_features.ensembles import DECOMPOSITION, decompose, simulate_decomposition
from solvable.random_features.features import FeatureMap, erf_features, relu_features
from solvable.random_features.optimal import optimal_ridge, risk_curve
from solvable.random_features.problem import Problem
from solvable.random_features.scaling import compute_optimal, exponents, optimal_exponents, phase_boundaries
from solvable.random_features.shift import covariate_shift
from solvable.random_features.simulation import draw, simulate, simulate_dataset
from solvable.random_features.sphere_simulation import simulate_sphere
from solvable.random_features.theory import OBSERVABLES, predict

__all__ = [
    "DECOMPOSITION",
    "OBSERVABLES",
    "FeatureMap",
    "Problem",
    "compute_optimal",
    "covariate_shift",
    "decompose",
    "draw",
    "erf_features",
    "exponents",
    "optimal_exponents",
    "optimal_ridge",
    "phase_boundaries",
    "predict",
    "relu_features",
    "risk_curve",
    "simulate",
    "simulate_dataset",
    "simulate_decomposition",
    "simulate_sphere",
]

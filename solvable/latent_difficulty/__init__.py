"""pass@k of a trained model on instances of unequal difficulty: the law behind it, and estimators for real counts.

>>> from solvable import latent_difficulty as lid
>>> counts = lid.pythia_math()["1B"]
>>> lid.benchmark_pass_at_k(counts, [1, 100]).mean.round(4)
array([0.0083, 0.2745])
>>> float(lid.fit_counts(counts).pass_at_k(1e6).estimate.round(3))
0.898
"""

from solvable.latent_difficulty.allocation import Allocation, effective_exponent, optimal_allocation
from solvable.latent_difficulty.counts import Counts, pythia_math
from solvable.latent_difficulty.estimators import (
    PROBLEMS,
    BenchmarkPassAtK,
    PassAtK,
    benchmark_pass_at_k,
    estimate_pass_at_k,
)
from solvable.latent_difficulty.failure import BIAS_LAWS, Failure, failure, failure_rate, local_exponent
from solvable.latent_difficulty.fits import FAMILIES, Band, Fit, compare_fits, fit_counts
from solvable.latent_difficulty.io import read_counts
from solvable.latent_difficulty.problem import Problem
from solvable.latent_difficulty.success import Success, success_probability
from solvable.latent_difficulty.table import FailureTable
from solvable.latent_difficulty.tails import bias_tail_exponent, crossover_attempts, inference_regime, intrinsic_tail
from solvable.latent_difficulty.training import (
    TrainingRisk,
    saturation_samples,
    training_risk,
    training_risk_quantiles,
)

__all__ = [
    "BIAS_LAWS",
    "FAMILIES",
    "PROBLEMS",
    "Allocation",
    "Band",
    "BenchmarkPassAtK",
    "Counts",
    "Failure",
    "FailureTable",
    "Fit",
    "PassAtK",
    "Problem",
    "Success",
    "TrainingRisk",
    "benchmark_pass_at_k",
    "bias_tail_exponent",
    "compare_fits",
    "crossover_attempts",
    "effective_exponent",
    "estimate_pass_at_k",
    "failure",
    "failure_rate",
    "fit_counts",
    "inference_regime",
    "intrinsic_tail",
    "local_exponent",
    "optimal_allocation",
    "pythia_math",
    "read_counts",
    "saturation_samples",
    "success_probability",
    "training_risk",
    "training_risk_quantiles",
]

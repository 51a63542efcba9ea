"""pass@k of a trained model on instances of unequal difficulty: the law behind it, and estimators for real counts."""

from solvable.latent_difficulty.failure import BIAS_LAWS, Failure, failure, failure_rate, local_exponent
from solvable.latent_difficulty.success import Success, success_probability
from solvable.latent_difficulty.tails import bias_tail_exponent, crossover_attempts, inference_regime, intrinsic_tail

__all__ = [
    "BIAS_LAWS",
    "Failure",
    "Success",
    "bias_tail_exponent",
    "crossover_attempts",
    "failure",
    "failure_rate",
    "inference_regime",
    "intrinsic_tail",
    "local_exponent",
    "success_probability",
]

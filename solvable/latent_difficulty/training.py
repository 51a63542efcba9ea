"""What training leaves: the excess risk of ridge regression on labels of unequal precision.

Label noise enters the mean risk through its mean variance alone, since the precision does not depend on the input. The
deterministic equivalent is that of kernel ridge regression (`solvable.random_features`, infinitely many features).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln
from scipy.stats import f as ratio_of_squares

from solvable import random_features as rf
from solvable.errors import ArgumentError, require
from solvable.latent_difficulty.problem import Problem
from solvable.latent_difficulty.tails import crossover_attempts
from solvable.precision import Array, is_traced, namespace

_ANGLES, _RATES = 400, 400  # strata of the stable law


class TrainingRisk(NamedTuple):
    """Means over data and labels, each of the controls' broadcast shape; excess_risk = bias + variance."""

    excess_risk: Array
    bias: Array
    variance: Array


def training_risk(
    problem: Problem, *, n_samples: Any, ridge: Any = None, ridge_per_sample: Any = None, exact: bool = False
) -> TrainingRisk:
    """Return the mean excess risk of ridge regression, without the irreducible noise.

    By default the deterministic equivalent, continuous in the ridge, with relative errors of order 1/n. `exact` is for
    least squares with more samples than features: label_noise_variance d/(n - d - 1), where the equivalent has
    d/(n - d).

    Args:
        problem: spectrum, target and law of the labels.
        n_samples: n, real > 0.
        ridge: factor of the penalty in sum of squares + ridge x squared norm, >= 0; give it or `ridge_per_sample`.
        ridge_per_sample: ridge/n_samples, the lambda of arXiv:2601.03764.
        exact: whether to use the finite-n law; needs ridge 0 and n > d, and is inf up to n = d + 1.

    Returns:
        A `TrainingRisk`. The variance is inf for difficulty exponents up to 2, where labels have no variance: there
        `training_risk_quantiles` says what happens; and at n = d with ridge 0.

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> problem = lid.Problem.from_paper(alpha=1.0, dimension=100, beta=2.5, sigma=1e-3, delta=1e-4)
        >>> lid.training_risk(problem, n_samples=[20, 50, 200], ridge_per_sample=1e-9).bias[:2].round(9)
        array([0.09718401, 0.02651586])
    """
    unit = rf.Problem(problem.modes, np.asarray(1.0))
    theory = rf.predict(unit, n_samples=n_samples, ridge=ridge, ridge_per_sample=ridge_per_sample)
    noise = problem.label_noise_variance
    if exact:
        return _least_squares(problem, theory.bias, n_samples, (ridge, ridge_per_sample))
    xp = namespace(noise, theory.variance)
    variance = xp.where(theory.variance == 0, 0.0, xp.where(theory.variance == 0, 1.0, theory.variance) * noise)
    return TrainingRisk(theory.bias + variance, theory.bias, variance)


def _least_squares(problem: Problem, bias: Array, n_samples: Any, ridges: tuple[Any, Any]) -> TrainingRisk:
    require(not is_traced(problem, n_samples, ridges), "exact", "False under a trace", "True")
    d, n = problem.n_modes, np.asarray(n_samples, dtype=np.float64) + np.zeros(np.shape(bias))
    zero = all(value is None or bool(np.all(np.asarray(value) == 0)) for value in ridges)
    if not (zero and np.all(n > d)):
        raise ArgumentError(f"exact=True needs ridge 0 and n_samples above the number of features, {d}")
    spare = n - d - 1
    with np.errstate(divide="ignore"):
        variance = problem.label_noise_variance * np.where(spare > 0, d / np.maximum(spare, 0.0), np.inf)
    return TrainingRisk(variance, np.zeros(n.shape), variance)


def training_risk_quantiles(problem: Problem, *, n_samples: Any, probabilities: Any = (0.1, 0.5, 0.9)) -> Array:
    """Return quantiles of the excess risk of least squares over data and labels, n well above the number of features d.

    For difficulty exponents beta > 2 the law of equal label variances, label_noise_variance times chi-square(d) over
    chi-square(n - d + 1), approximate for few d. For beta < 2, where the mean is infinite, sums of squared labels are
    stable (derived here): with a = beta/2 and C = 2^a Gamma(a + 1/2)/(sqrt(pi) Gamma(a + 1)),

        V = d/(n (n - d - 1)) noise_variance (n C Gamma(1 - a))^(1/a) S,        E exp(-s S) = exp(-s^a),

    so that typical risks fall as n^-(2 - 2/beta), and do not fall for beta <= 1. The law is for large n, and slow to
    come: for d = 20 and beta = 1.5, measured medians are 14%, 10% and 8% below it at n = 400, 1000 and 4000, and 10%
    quantiles 34%, 30% and 22%; for beta = 1.7, medians are 33% and 28% below at 400 and 1000.

    Args:
        problem: the world, concrete; the spectrum does not matter.
        n_samples: n > d + 1, a scalar or an array.
        probabilities: in (0, 1), a scalar or one-dimensional.

    Returns:
        Shape of `n_samples`, then of `probabilities`.

    Raises:
        ArgumentError: outside these domains, and at beta = 2, where logarithms enter.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> problem = lid.Problem.from_paper(alpha=1.0, dimension=40, beta=1.5, sigma=1.0, delta=0.1)
        >>> lid.training_risk_quantiles(problem, n_samples=[400, 6400], probabilities=0.5).round(2)
        array([3.73, 0.53])
    """
    n, shares = (np.asarray(value, dtype=np.float64) for value in (n_samples, probabilities))
    d, beta = problem.n_modes, float(problem.difficulty_exponent)
    require(bool(np.all(n > d + 1)), "n_samples", f"> {d + 1:g}", n_samples)
    require(bool(np.all((shares > 0) & (shares < 1))), "probabilities", "in (0, 1)", probabilities)
    require(beta != 2, "difficulty_exponent", "other than 2", beta)
    n = n.reshape(n.shape + (1,) * shares.ndim)
    if beta > 2:
        freedom = n - d + 1
        quantiles: Array = problem.label_noise_variance * d / freedom * ratio_of_squares.ppf(shares, d, freedom)
        return quantiles
    a = beta / 2
    log_constant = a * math.log(2) + gammaln(a + 0.5) - 0.5 * math.log(math.pi) - gammaln(a + 1) + gammaln(1 - a)
    scale = problem.noise_variance * np.exp((np.log(n) + log_constant) / a) * d / (n * (n - d - 1))
    result: Array = scale * _stable_quantiles(a, shares)
    return result


def _stable_quantiles(a: float, probabilities: Array) -> Array:
    """Quantiles of the positive stable law, from Kanter's representation on a grid of strata."""
    angle = math.pi * (np.arange(_ANGLES) + 0.5) / _ANGLES
    rate = -np.log1p(-(np.arange(_RATES) + 0.5) / _RATES)
    log_sines = np.log(np.sin(a * angle)) - np.log(np.sin(angle)) / a
    logs = log_sines[:, None] + (1 / a - 1) * (np.log(np.sin((1 - a) * angle))[:, None] - np.log(rate))
    return np.exp(np.quantile(logs, probabilities))


def saturation_samples(problem: Problem, k: float) -> float:
    """Return the logarithm of the number of samples from which on the failure rate at k has its full exponent.

    Where label_noise_variance d/n, the risk of least squares, puts `crossover_attempts` at k (derived here); about
    log(beta^2 d log(k)/(2 (beta - 2))) for small tolerance.

    Args:
        problem: the world, concrete, with a difficulty exponent above 2 and finitely many features.
        k: attempts > 1.

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> import math
        >>> from solvable import latent_difficulty as lid
        >>> problem = lid.Problem.from_paper(alpha=1.0, dimension=50, beta=2.5, sigma=1.0, delta=1e-6)
        >>> round(math.exp(lid.saturation_samples(problem, 1e4)) / 50, 1)
        57.6
    """
    from scipy.optimize import brentq

    beta, t = float(problem.difficulty_exponent), float(problem.tolerance_ratio)
    require(beta > 2, "difficulty_exponent", "> 2: below, the mean risk is infinite", beta)
    require(math.isfinite(problem.n_modes), "n_modes", "finite", problem.n_modes)
    require(bool(np.isfinite(k) and k > 1), "k", "finite and > 1", k)
    scale = 2 * problem.n_modes / (beta - 2)
    guess = math.log(beta * beta * scale * math.log(k) / 4)

    def surplus(log_samples: float) -> float:
        return crossover_attempts(beta, t, scale * math.exp(-log_samples)) / math.log(k) - 1

    low = high = guess
    while surplus(low) > 0:
        low -= 2.0
    while surplus(high) < 0:
        high += 2.0
    return float(brentq(surplus, low, high, xtol=1e-12)) if low < high else low

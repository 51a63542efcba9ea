"""Unbiased pass@k from counts, its variance, and means over a benchmark with errors."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri
from scipy.stats import hypergeom

from solvable.errors import ArgumentError, require
from solvable.latent_difficulty.counts import Counts
from solvable.precision import Array

_FEW = 8  # factors that are multiplied one by one
_STIRLING = 16  # arguments from which Stirling's series is exact to rounding
PROBLEMS = ("random", "fixed")


class PassAtK(NamedTuple):
    """pass@k of each problem, of shape (problems,) and that of k.

    Attributes:
        estimate: unbiased.
        variance: of the estimate over attempts, problem by problem; unbiased where 2 k <= attempts, and else of the
            binomial law at the observed share, which is biased.
    """

    estimate: Array
    variance: Array


class BenchmarkPassAtK(NamedTuple):
    """pass@k of a whole benchmark, each of k's shape.

    Attributes:
        mean: over problems.
        sem: its standard error.
        lower: end of a bootstrap interval over problems (random problems), or of a normal one (fixed problems).
        upper: the other end.
    """

    mean: Array
    sem: Array
    lower: Array
    upper: Array


def estimate_pass_at_k(n_attempts: Any, n_correct: Any, k: Any) -> PassAtK:
    """Return the unbiased estimate of pass@k of each problem.

    1 - C(n - c, k)/C(n, k), for c correct of n attempts (arXiv:2107.03374). The relative error of pass@k and of its
    complement is below 1e-13 (1e-12 for complements below 1e-40), for n up to 1e8. Its variance is F_k^2 - F_2k without
    bias, with F_k the estimate of the complement (derived here). The plug-in 1 - (1 - c/n)^k is biased and left out.

    Args:
        n_attempts: n, integers >= 1, shape (problems,).
        n_correct: c, integers from 0 to n, shape (problems,).
        k: attempts allowed, integers from 1 to the least n; a scalar or one-dimensional.

    Returns:
        A `PassAtK`.

    Raises:
        ArgumentError: outside these domains; beyond n attempts nothing is known without a model: `fit_counts`.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> lid.estimate_pass_at_k([10, 10], [1, 4], k=[1, 5]).estimate.round(4)
        array([[0.1   , 0.5   ],
               [0.4   , 0.9762]])
    """
    counts = Counts(n_attempts, n_correct)
    attempts = _attempts(k)
    beyond = attempts > counts.n_attempts.min()
    if beyond.any():
        raise ArgumentError(
            f"k must be at most the number of attempts, here {int(counts.n_attempts.min())}; got "
            f"{attempts[beyond][:3].tolist()}. Beyond it a model is needed: fit_counts(...).pass_at_k(k)"
        )
    base = int(counts.n_attempts.max()) + 1  # problems with the same counts are done once
    kinds, place = np.unique(counts.n_attempts * base + counts.n_correct, return_inverse=True)
    n, c = (value.reshape((-1,) + (1,) * attempts.ndim) for value in np.divmod(kinds, base))
    n, c, chosen = np.broadcast_arrays(n, c, attempts)
    log_failure = log_failure_rate(n, c, chosen)
    variance = _variance(n, c, chosen, log_failure)
    return PassAtK(-np.expm1(log_failure)[place], variance[place])


def benchmark_pass_at_k(
    counts: Counts, k: Any, *, problems: str = "random", level: float = 0.95, n_bootstrap: int = 2000, seed: int = 0
) -> BenchmarkPassAtK:
    """Return the mean pass@k over problems with its error.

    Args:
        counts: what was observed.
        k: attempts allowed, as in `estimate_pass_at_k`.
        problems: "random" for problems that stand for more of their kind (errors from their spread, and a percentile
            bootstrap), "fixed" for a benchmark that is what it is (errors from the attempts alone).
        level: coverage of the interval, in (0, 1).
        n_bootstrap: resamples of the problems.
        seed: of the resampling.

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> mean, sem, lower, upper = lid.benchmark_pass_at_k(lid.pythia_math()["12B"], [1, 100])
        >>> mean.round(5), sem.round(5)
        (array([0.02319, 0.48343]), array([0.0039 , 0.03512]))
    """
    require(problems in PROBLEMS, "problems", f"one of {PROBLEMS}", problems)
    require(0 < level < 1, "level", "in (0, 1)", level)
    each, variance = estimate_pass_at_k(counts.n_attempts, counts.n_correct, k)
    mean, size = each.mean(axis=0), counts.n_problems
    if problems == "fixed":
        sem = np.sqrt(variance.sum(axis=0)) / size
        half = ndtri(0.5 + level / 2) * sem
        return BenchmarkPassAtK(mean, sem, np.maximum(mean - half, 0.0), np.minimum(mean + half, 1.0))
    sem = each.std(axis=0, ddof=1) / np.sqrt(size) if size > 1 else np.full(mean.shape, np.nan)
    chosen = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=n_bootstrap) / size
    resampled = np.tensordot(chosen, each, axes=1)
    lower, upper = np.quantile(resampled, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    return BenchmarkPassAtK(mean, sem, lower, upper)


def log_failure_rate(n: Array, c: Array, k: Array) -> Array:
    """Return log of C(n - c, k)/C(n, k), -inf where k > n - c; arrays of one shape."""
    fewer, more = np.minimum(c, k), np.maximum(c, k)
    left = n - c - k
    result = np.full(n.shape, -np.inf)
    possible = left >= 0
    short, long = possible & (fewer <= _FEW), possible & (fewer > _FEW) & (left >= _STIRLING)
    rest = possible & ~short & ~long
    result[short] = _by_factors(n[short], fewer[short], more[short])
    result[long] = _by_stirling(n[long], c[long], k[long])
    result[rest] = _by_factorials(n[rest], fewer[rest], left[rest])
    return result


def _by_factors(n: Array, fewer: Array, more: Array) -> Array:
    """Sum log(1 - more/(n - i)) over i below `fewer`, from numerators that are whole numbers."""
    total = np.zeros(n.shape)
    for i in range(int(fewer.max(initial=0))):
        used = i < fewer
        whole = np.where(used, n - i, 1)
        total += _log_share(np.where(used, n - i - more, 1), whole, np.where(used, more, 0))
    return total


def _log_share(part: Array, whole: Array, lacking: Array) -> Array:
    """Return log(part/whole) for part + lacking = whole."""
    share = lacking / whole
    return np.where(share < 0.5, np.log1p(-np.minimum(share, 0.5)), np.log(part / whole))


def _by_stirling(n: Array, c: Array, k: Array) -> Array:
    """The second difference of log Gamma, arranged so that its large terms never meet (derived here).

    With r = c/n, s = k/n and l = log1p(-r s/((1 - r)(1 - s))), that of x log x is n times
    -s log(1 - r) - r log(1 - s) + (1 - r - s) l: three terms of the size of their sum. What is sought is minus that.
    """
    n, c, k = (np.asarray(value, dtype=np.float64) for value in (n, c, k))
    left = n - c - k
    mixed = _log_share(n * left, (n - c) * (n - k), c * k)
    main = k * _log_share(n - c, n, c) + c * _log_share(n - k, n, k) - left * mixed
    return main - 0.5 * mixed - _remainder(n) + _remainder(n - c) + _remainder(n - k) - _remainder(left)


def _by_factorials(n: Array, fewer: Array, left: Array) -> Array:
    """Return log of (left + m)!/left! over n!/(n - m)!, for few attempts left over and m = `fewer` many."""
    share = np.log1p(-fewer / n)
    falling = fewer * np.log(n) - (n - fewer + 0.5) * share - fewer + _remainder(n) - _remainder(n - fewer)
    return gammaln(left + fewer + 1) - gammaln(left + 1) - falling


def _remainder(x: Array) -> Array:
    """Stirling's series of log x! - ((x + 1/2) log x - x + log(2 pi)/2)."""
    inverse = 1.0 / x
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))


def _variance(n: Array, c: Array, k: Array, log_failure: Array) -> Array:
    unbiased = 2 * k <= n
    twice = log_failure_rate(n, c, np.where(unbiased, 2 * k, 0))
    known = unbiased & (log_failure > -np.inf)
    ratio = np.where(known, twice, 0.0) - 2 * np.where(known, log_failure, 0.0)
    result = np.maximum(-np.exp(2 * log_failure) * np.expm1(ratio), 0.0)
    for size, chosen in {(int(a), int(b)) for a, b in zip(n[~unbiased], k[~unbiased], strict=True)}:
        same = ~unbiased & (n == size) & (k == chosen)
        result[same] = _plug_in_variance(size, chosen, 1 - c[same] / n[same])
    return result


def _plug_in_variance(n: int, k: int, failing: Array) -> Array:
    """q^2k (E q^-J - 1) with J hypergeometric, the number of attempts that two samples of k share (derived here)."""
    shared = np.arange(max(0, 2 * k - n), k + 1)
    chance = hypergeom.pmf(shared, n, k, k)
    used = chance > 1e-18 * chance.max()
    second = (chance[used] * failing[:, None] ** (2 * k - shared[used])).sum(axis=1)
    return np.maximum(second - failing ** (2 * k), 0.0)


def _attempts(k: Any) -> Array:
    values = np.asarray(k)
    require(values.ndim <= 1 and values.size > 0, "k", "a scalar or one-dimensional", values.shape)
    bad = ~((values >= 1) & (values == np.floor(values)))
    require(not bad.any(), "k", "integers >= 1", values[bad][:3].tolist())
    return values.astype(np.int64)

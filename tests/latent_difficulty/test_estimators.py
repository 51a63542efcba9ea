"""pass@k from counts: exact rationals, published values, variance and coverage by simulation, degenerate counts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from solvable import latent_difficulty as lid
from solvable.errors import ArgumentError
from solvable.latent_difficulty.estimators import log_failure_rate

pytestmark = pytest.mark.x64_independent
PYTHIA = {
    "12B": [0.02319, 0.15682, 0.48343, 0.72325, 0.87500],
    "2.8B": [0.02031, 0.13475, 0.42204, 0.67779, 0.81250],
    "1B": [0.00833, 0.06646, 0.27452, 0.54619, 0.74219],
    "160M": [0.00267, 0.02509, 0.16191, 0.41016, 0.57031],
    "70M": [0.00065, 0.00597, 0.03610, 0.12414, 0.26562],
}


def one(n, c, k):
    return float(log_failure_rate(np.array([n]), np.array([c]), np.array([k]))[0])


@st.composite
def small_counts(draw):
    n = draw(st.integers(1, 300))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(small_counts())
def test_small_counts_against_rationals(case):
    n, c, k = case
    exact = Fraction(math.comb(n - c, k), math.comb(n, k))
    found = float(lid.estimate_pass_at_k([n], [c], k).estimate[0])
    assert found == pytest.approx(float(1 - exact), rel=1e-13, abs=0)
    assert math.exp(one(n, c, k)) == pytest.approx(float(exact), rel=3e-13, abs=1e-300)


@pytest.mark.parametrize("decade", range(3, 9))
def test_large_counts_against_fifty_digits(decade):
    """Every route, also where few attempts are left over; errors stay below 1e-15 times the logarithm."""
    rng = np.random.default_rng(decade)
    with mp.workdps(50):
        for _ in range(150):
            n = int(10 ** rng.uniform(decade - 1, decade))
            c, k = (min(n, int(10 ** rng.uniform(0, math.log10(n)))) for _ in range(2))
            k = max(1, n - c - int(rng.integers(40)) if rng.random() < 0.3 else k)
            if n - c < k:
                assert one(n, c, k) == -math.inf
                continue
            exact = mp.loggamma(n - c + 1) - mp.loggamma(n - c - k + 1) - mp.loggamma(n + 1) + mp.loggamma(n - k + 1)
            if exact:
                assert abs(mpf(one(n, c, k)) / exact - 1) < 3e-15


def test_published_values():
    assert math.exp(one(200, 10, 50)) == pytest.approx(0.052093629404, rel=1e-11)
    assert math.exp(one(10_000, 61, 1000)) == pytest.approx(0.00158461821758, rel=1e-11)
    for name, expected in PYTHIA.items():
        found = lid.benchmark_pass_at_k(lid.pythia_math()[name], [1, 10, 100, 1000, 10_000]).mean
        np.testing.assert_allclose(found, expected, atol=5.1e-6)


def test_variance_is_unbiased():
    """Summed over all counts that 50 attempts can give; the variance itself is published."""
    n, p, k = 50, 0.03, 20
    counts = np.arange(n + 1)
    chance = np.array([math.comb(n, int(c)) * p**c * (1 - p) ** (n - c) for c in counts.tolist()])
    found = lid.estimate_pass_at_k(np.full(n + 1, n), counts, k)
    mean = chance @ found.estimate
    assert 1 - mean == pytest.approx((1 - p) ** k, rel=1e-12)
    variance = chance @ found.estimate**2 - mean**2
    assert variance == pytest.approx(0.0821102, rel=1e-6)
    assert chance @ found.variance == pytest.approx(variance, rel=1e-10)


def test_variance_beyond_half_the_attempts_is_that_of_the_observed_share():
    n, k, c = 30, 20, 6
    q = 1 - c / n
    counts = np.arange(n + 1)
    chance = np.array([math.comb(n, int(i)) * (1 - q) ** i * q ** (n - i) for i in counts.tolist()])
    estimates = lid.estimate_pass_at_k(np.full(n + 1, n), counts, k).estimate
    exact = chance @ estimates**2 - (chance @ estimates) ** 2
    assert float(lid.estimate_pass_at_k([n], [c], k).variance[0]) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("problems", lid.PROBLEMS)
def test_errors_of_a_benchmark(problems, test_seed):
    """Intervals of 95% cover in 0.91 to 0.98 of 600 draws: false alarms below 1e-3 at 0.95, 0.87 is found."""
    rng, k, size, n = np.random.default_rng(test_seed), 5, 100, 40
    chances = rng.beta(0.6, 3.0, size=size)
    truth = np.mean(1 - (1 - chances) ** k) if problems == "fixed" else 1 - _beta_failure(0.6, 3.0, k)
    covered, errors, means = 0, [], []
    for draw in range(600):
        drawn = chances if problems == "fixed" else rng.beta(0.6, 3.0, size=size)
        counts = lid.Counts(np.full(size, n), rng.binomial(n, drawn))
        mean, sem, lower, upper = lid.benchmark_pass_at_k(counts, k, problems=problems, n_bootstrap=400, seed=draw)
        covered += lower <= truth <= upper
        errors.append(sem)
        means.append(mean)
    assert 0.91 < covered / 600 < 0.98
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.13)
    assert abs(np.mean(means) - truth) < 4.5 * np.std(means) / np.sqrt(600)


def _beta_failure(a, b, k):
    return math.exp(math.lgamma(b + k) + math.lgamma(a + b) - math.lgamma(b) - math.lgamma(a + b + k))


def test_shapes_and_degenerate_counts():
    found = lid.estimate_pass_at_k([5, 7, 9], [0, 7, 3], k=[1, 3, 5])
    assert found.estimate.shape == found.variance.shape == (3, 3)
    np.testing.assert_array_equal(found.estimate[0], 0)
    np.testing.assert_array_equal(found.estimate[1], 1)
    np.testing.assert_allclose(found.variance[:2], 0, atol=1e-15)
    assert lid.estimate_pass_at_k(10, [1, 2], 3).estimate.shape == (2,)
    assert np.isnan(lid.benchmark_pass_at_k(lid.Counts([9], [3]), 2).sem)


def test_subsamples_keep_the_chances():
    counts = lid.pythia_math()["12B"]
    part = counts.subsample(100, seed=0)
    assert (part.n_attempts == 100).all()
    share, error = part.n_correct.mean() / 100, np.sqrt((counts.n_correct / 1e4).sum() / 100) / 128
    assert abs(share - counts.n_correct.mean() / 1e4) < 4 * error


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lid.estimate_pass_at_k([10, 5], [1, 1], 6), r"number of attempts, here 5; got \[6\].*fit_counts"),
        (lambda: lid.estimate_pass_at_k([10], [11], 1), "are the two swapped"),
        (lambda: lid.estimate_pass_at_k([0], [0], 1), "n_attempts must be >= 1"),
        (lambda: lid.estimate_pass_at_k([10], [1], 0), "k must be integers >= 1"),
        (lambda: lid.estimate_pass_at_k([10], [1], 1.5), "k must be integers >= 1"),
        (lambda: lid.estimate_pass_at_k([10], [0.5], 1), "n_correct must be integers"),
        (lambda: lid.Counts([10, 10], [[1, 0], [1, 1]]), "Counts.from_outcomes"),
        (lambda: lid.Counts([10, 10, 10], [1, 0]), "like n_attempts of shape"),
        (lambda: lid.Counts.from_outcomes([[0, 2]]), "outcomes must be 0 or 1"),
        (lambda: lid.benchmark_pass_at_k(lid.Counts([9], [3]), 2, problems="all"), "problems must be one of"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()

"""The failure rate: published values, high-precision references, closed forms and limits, sampled instances."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from solvable import latent_difficulty as lid
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent
ATTEMPTS = [1, 10, 1e2, 1e4, 1e6, 1e9, 1e12]
# fmt: off
PUBLISHED = [
    (2.5, 1.0, 0.0,
     [3.5939022e-01, 1.0741803e-02, 4.9379163e-05, 5.1559056e-10, 5.1581392e-15, 1.6311540e-22, 5.1581618e-30],
     [0.8430, 2.1066, 2.4565, 2.4996, 2.5000, 2.5000, 2.5000]),
    (2.5, 0.5, 0.0,
     [6.2224404e-01, 5.0164615e-02, 2.7827069e-04, 2.9166195e-09, 2.9178842e-14, 9.2272002e-22, 2.9178969e-29],
     [0.4407, 1.8518, 2.4492, 2.4996, 2.5000, 2.5000, 2.5000]),
    (2.5, 0.5, 0.3,
     [6.7823809e-01, 6.7342152e-02, 5.7947094e-04, 4.2626431e-06, 2.0951597e-07, 5.9699336e-09, 3.1782918e-10],
     [0.3672, 1.8364, 1.8119, 0.7464, 0.5825, 0.4614, 0.3931]),
    (2.5, 0.1, 0.1,
     [9.2521279e-01, 4.8470593e-01, 1.4393994e-02, 2.0057750e-07, 2.6800039e-10, 8.2449606e-13, 7.0499946e-15],
     [0.0771, 0.6689, 2.2986, 2.2643, 0.9579, 0.7486, 0.6388]),
    (2.5, 0.1, 0.001,
     [9.1940179e-01, 4.6229475e-01, 1.3931159e-02, 1.6304184e-07, 1.6311468e-12, 5.1581617e-20, 1.6311540e-27],
     [0.0832, 0.7010, 2.2553, 2.4995, 2.5000, 2.5000, 2.5000]),
    (2.5, 0.5, 4.0,
     [8.3349828e-01, 3.6993195e-01, 1.4992333e-01, 5.5557878e-02, 2.6770028e-02, 1.1085903e-02, 5.3045926e-03],
     [0.1650, 0.4979, 0.2788, 0.1782, 0.1429, 0.1153, 0.0993]),
    (2.5, 0.5, 10000.0,
     [9.9601130e-01, 9.8296063e-01, 9.7046753e-01, 9.5521812e-01, 9.4428826e-01, 9.3127791e-01, 9.2052079e-01],
     [0.0034, 0.0067, 0.0044, 0.0028, 0.0022, 0.0018, 0.0016]),
    (0.5, 0.3, 1.0,
     [9.3514829e-01, 6.0491047e-01, 2.0239252e-01, 2.0230641e-02, 2.0431094e-03, 6.9264286e-05, 3.1820978e-06],
     [0.0645, 0.3664, 0.5027, 0.4991, 0.4962, 0.4788, 0.3953]),
    (0.8, 0.2, 2.0,
     [9.4793336e-01, 6.3646736e-01, 1.4443165e-01, 7.3082214e-03, 1.4037628e-03, 3.3060073e-04, 1.0565167e-04],
     [0.0523, 0.3767, 0.7782, 0.4982, 0.2592, 0.1804, 0.1524]),
    (1.0, 2.0, 0.5,
     [4.1816141e-01, 6.4924744e-02, 7.0021676e-03, 7.0705278e-05, 7.0717616e-07, 7.0896897e-10, 8.0724633e-13],
     [0.5981, 0.9265, 0.9904, 0.9999, 1.0000, 0.9986, 0.9241]),
    (4.0, 1.0, 0.04,
     [2.4299723e-01, 1.2517398e-03, 2.6839598e-07, 2.9579225e-15, 2.9608518e-23, 3.4299536e-35, 2.0803920e-40],
     [1.2011, 3.2453, 3.9035, 3.9990, 4.0000, 3.6709, 1.3307]),
    (6.0, 0.1, 0.05,
     [8.7798816e-01, 2.9083503e-01, 2.8305859e-04, 9.1414577e-10, 1.1512409e-12, 4.3006949e-16, 6.1648647e-19],
     [0.1293, 1.1655, 4.9963, 1.6617, 1.2888, 1.0269, 0.8803]),
]  # difficulty exponent, tolerance, bias variance, failure rates, local exponents
# fmt: on
REFERENCES = json.loads((Path(__file__).parents[1] / "reference" / "failure_rates.json").read_text())
BETA, TOLERANCE = st.floats(0.3, 6.0), st.floats(0.05, 2.0)


@pytest.mark.parametrize(("beta", "tolerance", "variance", "rates", "slopes"), PUBLISHED)
def test_published_failure_rates(beta, tolerance, variance, rates, slopes):
    found = lid.failure(beta, tolerance, variance, ATTEMPTS)
    np.testing.assert_allclose(np.exp(found.log_failure), rates, rtol=5e-8)
    np.testing.assert_allclose(found.local_exponent, slopes, atol=5.1e-5)
    np.testing.assert_allclose(found.success, -np.expm1(found.log_failure), rtol=1e-9)


@pytest.mark.parametrize("case", REFERENCES)
def test_references(case):
    arguments = [case[name] for name in ("difficulty_exponent", "tolerance_ratio", "bias_variance_ratio", "k")]
    assert case.get("digits", 20) >= 14
    assert float(lid.failure_rate(*arguments)) == pytest.approx(float(case["failure_rate"]), rel=1e-10, abs=0)


def test_published_fixed_biases():
    slopes = lid.local_exponent(2.5, 0.2, 1.7**2, ATTEMPTS[2:], bias_law="fixed")
    np.testing.assert_allclose(slopes, [0.872, 0.809, 0.833, 0.853, 0.862], atol=5.1e-4)
    rate = lid.failure_rate(2.5, 0.2, 1.7**2, 1e6, bias_law="fixed")
    assert float(rate) == pytest.approx(8.224e-5, rel=1e-4)
    assert float(lid.failure_rate(1.0, 0.1, 6.25, 1e12, bias_law="fixed")) == pytest.approx(3.038e-5, rel=2e-4)
    within = lid.failure(2.5, 0.5, 0.16, 1e12, bias_law="fixed")
    assert float(np.exp(within.log_failure)) == pytest.approx(2.918e-29, rel=2e-4)
    assert float(within.local_exponent) == pytest.approx(2.5, abs=5e-4)


@given(beta=BETA, tolerance=TOLERANCE)
def test_one_attempt_without_bias_is_student_t(beta, tolerance):
    """The error of an attempt is sqrt(2/beta) times a Student t number."""
    exact = 2 * stats.t.sf(tolerance * np.sqrt(beta / 2), beta)
    assert float(lid.failure_rate(beta, tolerance, 0.0, 1)) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(("beta", "tolerance", "variance"), [(2.5, 0.5, 0.3), (0.8, 0.2, 2.0), (6.0, 1.0, 1e-2)])
def test_one_attempt_is_student_t_plus_normal(beta, tolerance, variance):
    spread = np.sqrt(variance)

    def density(b):
        ends = (np.array([tolerance, -tolerance]) - b) * np.sqrt(beta / 2)
        return stats.norm.pdf(b, scale=spread) * -np.diff(stats.t.cdf(ends, beta))[0]

    ends = [point for point in (-tolerance, tolerance) if abs(point) < 8 * spread]
    exact = quad(density, -8 * spread, 8 * spread, points=[0.0, *ends], epsabs=0, epsrel=1e-12, limit=500)[0]
    assert float(lid.failure(beta, tolerance, variance, 1).success) == pytest.approx(exact, rel=1e-9)


@given(beta=BETA, tolerance=TOLERANCE)
def test_order(beta, tolerance):
    """Failure falls with attempts, ever more slowly on a log-linear scale, and rises with the bias."""
    rates = lid.failure(beta, tolerance, [[0.0], [0.1], [1.0]], [1, 2, 3, 4, 5])
    log_rates = rates.log_failure
    assert (np.diff(log_rates, axis=0) > 0).all()
    assert (np.diff(log_rates, axis=1) < 0).all()
    assert (np.diff(log_rates, n=2, axis=1) > -1e-9).all()
    assert (np.diff(rates.local_exponent / np.arange(1, 6), axis=1) < 1e-9).all()


def test_large_biases_leave_a_strip():
    """pass@k approaches sqrt(2/(pi v)) times the integral over biases of their chances (published)."""
    success = lid.failure(2.5, 0.5, 1e8, [1, 10, 100, 1000]).success * np.sqrt(np.pi * 1e8 / 2)
    np.testing.assert_allclose(success, [0.5, 2.13632, 3.70534, 4.77932], rtol=3e-6)
    assert success[0] == pytest.approx(0.5, rel=1e-7)


def test_small_difficulty_exponents_have_mass_below_all_nodes():
    assert float(lid.failure_rate(0.05, 0.3, 0.0, 1e6)) == pytest.approx(0.531411868198, rel=1e-11)


def test_arguments_broadcast_in_any_order():
    whole = lid.failure_rate([[2.5], [1.0]], 0.5, [0.3, 0.0, 0.3], 10)
    one = [[float(lid.failure_rate(beta, 0.5, v, 10)) for v in (0.3, 0.0, 0.3)] for beta in (2.5, 1.0)]
    np.testing.assert_allclose(whole, one, rtol=1e-10)


def test_sampled_instances(test_seed):
    """False alarms below 1e-4 (6 comparisons); a bias of 8% in each is found."""
    rng, size, attempts = np.random.default_rng(test_seed), 400_000, (1, 3, 10)
    for beta, tolerance, variance in ((2.5, 0.5, 0.3), (0.8, 0.2, 2.0)):
        tau, bias = rng.gamma(beta / 2, size=size), rng.normal(scale=np.sqrt(variance), size=size)
        logs = lid.success_probability(tau, bias, tolerance).log_failure
        for k, expected in zip(attempts, lid.failure_rate(beta, tolerance, variance, attempts), strict=True):
            failed = np.exp(k * logs)
            error = failed.std() / np.sqrt(size)
            assert error < 0.01 * expected
            assert abs(failed.mean() - expected) < 4.5 * error


@pytest.mark.parametrize(("beta", "tolerance"), [(6.0, 0.1), (2.5, 0.5)])
def test_the_table_agrees_with_exact_values(beta, tolerance):
    """At random points between its lines, with the hardest kinks at small variances and large exponents."""
    table, rng = lid.FailureTable(beta, tolerance, bias_variance_ratio=(1e-3, 10), k=(1, 1e6)), np.random.default_rng(1)
    v, k = np.exp(rng.uniform(*np.log([1e-3, 10]), 20)), np.exp(rng.uniform(0, np.log(1e6), 8))
    exact = lid.failure(beta, tolerance, v[:, None], k)
    np.testing.assert_allclose(table.log_failure(v[:, None], k), exact.log_failure, atol=1e-5)
    np.testing.assert_allclose(table.local_exponent(v[:, None], k), exact.local_exponent, atol=1e-3)
    with pytest.raises(ArgumentError, match="^k must be within the table"):
        table.failure_rate(1.0, 1e7)
    with pytest.raises(ArgumentError, match="^difficulty_exponent must be"):
        lid.FailureTable(-1.0, 0.1, bias_variance_ratio=(1e-3, 10), k=(1, 10))


@pytest.mark.parametrize(
    ("tau", "bias", "tolerance", "expected"),
    [
        (1e-24, 0.3, 0.5, 3.98942280401432677939e-13),
        (1.0, 0.0, 1.0, 0.68268949213708589717),
        (4.0, 3.0, 0.5, 2.866502920666500258387e-7),
    ],
)
def test_chances_keep_their_digits(tau, bias, tolerance, expected):
    found = lid.success_probability(tau, bias, tolerance)
    assert float(found.probability) == pytest.approx(expected, rel=1e-13)
    assert float(found.log_failure) == pytest.approx(np.log1p(-expected), rel=1e-13)


def test_small_tolerance():
    exact, small = (lid.success_probability(2.0, 0.7, 0.01, small_tolerance=s).probability for s in (False, True))
    assert float(small) == pytest.approx(float(exact), rel=1e-4)
    assert float(lid.success_probability(100.0, 0.0, 1.0, small_tolerance=True).probability) == 1


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 1.0, 0.0, 1), "difficulty_exponent"),
        ((2.0, 0.0, 0.0, 1), "tolerance_ratio"),
        ((2.0, 1.0, -1.0, 1), "bias_variance_ratio"),
        ((2.0, 1.0, 0.0, 0.5), "k"),
        ((2.0, 1.0, 0.0, 1e13), "k"),
        ((2.0, 1.0, np.nan, 1), "bias_variance_ratio"),
    ],
)
def test_bad_arguments(arguments, name):
    with pytest.raises(ArgumentError, match=f"^{name} must be"):
        lid.failure_rate(*arguments)

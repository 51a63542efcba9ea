"""pass@k of many problems against a loop over them, a fit against its 50-digit likelihood, and the law on a grid."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.optimize import minimize

from solvable import latent_difficulty as lid
from solvable.latent_difficulty.mixtures import Beta

PROBLEMS, ATTEMPTS, KS = 2000, 10_000, [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]
RNG = np.random.default_rng(0)
COUNTS = lid.Counts(np.full(PROBLEMS, ATTEMPTS), RNG.binomial(ATTEMPTS, RNG.beta(0.3, 12.0, PROBLEMS)))
SAMPLES, LAW_KS = np.geomspace(50, 5000, 100), np.geomspace(1, 1e6, 50)


def loop(problems):
    """The usual estimator: a product over attempts for each problem and k."""
    rows = []
    for n, c in zip(COUNTS.n_attempts[:problems], COUNTS.n_correct[:problems], strict=True):
        rows.append([1.0 if n - c < k else 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)) for k in KS])
    return np.array(rows)


def rationals(problems):
    """Exact values, rounded once."""
    pairs = zip(COUNTS.n_attempts[:problems].tolist(), COUNTS.n_correct[:problems].tolist(), strict=True)
    return np.array([[float(1 - Fraction(math.comb(n - c, k), math.comb(n, k))) for k in KS] for n, c in pairs])


def fifty_digits():
    """The likelihood of a Beta mixture at one point."""
    with mp.workdps(50):
        a, b = mpf("0.3"), mpf(12)
        both = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
        total = mpf(0)
        for n, c in zip(COUNTS.n_attempts.tolist(), COUNTS.n_correct.tolist(), strict=True):
            total += mp.loggamma(c + a) + mp.loggamma(n - c + b) - mp.loggamma(n + a + b) - both
        return total


VARIANCES = 100 / 0.5 / SAMPLES


def law():
    """Failure rates at 100 sizes of the training set and 50 numbers of attempts."""
    return lid.failure_rate(2.5, 0.1, VARIANCES[:, None], LAW_KS)


@pytest.fixture(scope="module", autouse=True)
def _table(medians, add_table):
    yield
    get = lambda name: medians.get(name, math.nan)  # noqa: E731  (one line, used below)
    few = 20
    exact = rationals(few)
    some = exact > 0
    errors = [np.max(np.abs(values[some] / exact[some] - 1)) for values in (ours()[:few], loop(few))]
    add_table(
        f"pass@k of {PROBLEMS} problems, {ATTEMPTS} attempts, {len(KS)} k",
        [
            ("", "solvable", "loop", "ratio"),
            ("time", f"{1e3 * get('ours'):.0f} ms", f"{get('loop'):.2f} s", f"{get('loop') / get('ours'):.0f}x"),
            ("largest relative error", f"{errors[0]:.0e}", f"{errors[1]:.0e}", ""),
        ],
    )
    slow = get("digits") * get("evaluations")
    add_table(
        "Beta fit with errors against Nelder and Mead on 50-digit likelihoods, and the exact law",
        [
            ("fit", f"{get('evaluations')} likelihoods", "ratio", "100 n x 50 k of the law", "the same from a table"),
            (
                f"{1e3 * get('fit'):.0f} ms",
                f"{slow:.0f} s",
                f"{slow / get('fit'):.0f}x",
                f"{get('law'):.2f} s",
                f"{get('table'):.3f} s",
            ),
        ],
    )


def ours():
    return lid.estimate_pass_at_k(COUNTS.n_attempts, COUNTS.n_correct, KS).estimate


def test_estimates(timed):
    timed("ours", ours, rounds=5)


def test_loop(timed):
    values = timed("loop", lambda: loop(PROBLEMS), rounds=1, warmup=0)
    np.testing.assert_allclose(values, ours(), rtol=1e-9)


def test_fit(timed):
    fit = timed("fit", lambda: lid.fit_counts(COUNTS), rounds=5)
    assert fit.parameters["shape"] == pytest.approx(0.3, rel=0.1)


def test_fifty_digits(timed, medians):
    """Count the evaluations of a derivative-free search in double precision, and time one of 50 digits."""
    law, n, c = Beta(), COUNTS.n_attempts.astype(float), COUNTS.n_correct.astype(float)
    found = minimize(lambda point: -law.log_mean(point, n, c).value.sum(), law.starts[0], method="Nelder-Mead")
    np.testing.assert_allclose(np.exp(found.x), list(lid.fit_counts(COUNTS).parameters.values()), rtol=1e-3)
    medians["evaluations"] = found.nfev
    timed("digits", fifty_digits, rounds=1, warmup=0)


def test_law(timed):
    assert timed("law", law, rounds=3).shape == (100, 50)


def test_table(timed):
    table = lid.FailureTable(2.5, 0.1, bias_variance_ratio=(VARIANCES[-1], VARIANCES[0]), k=(1, 1e6))
    read = timed("table", lambda: table.failure_rate(VARIANCES[:, None], LAW_KS), rounds=3)
    np.testing.assert_allclose(read, law(), rtol=1e-5)

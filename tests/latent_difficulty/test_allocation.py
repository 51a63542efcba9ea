"""The best split of a budget, and effective exponents: published values, limits, optimality."""

import numpy as np
import pytest

from solvable import latent_difficulty as lid
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent
PROBLEM = lid.Problem.from_paper(alpha=1.0, dimension=50, beta=2.5, sigma=1.0, delta=0.1)


@pytest.mark.parametrize(
    ("budget", "n", "loss", "naive_n", "naive_loss"),
    [(1e3, 644, 2.270e-3, 85, 0.207), (1e4, 2330, 4.202e-7, 1664, 6.64e-7), (1e5, 44504, None, 44504, None)],
)
def test_published_allocations(budget, n, loss, naive_n, naive_loss):
    best = lid.optimal_allocation(PROBLEM, budget, risk_weight=1e-6, exact=True)
    assert best.n_samples == pytest.approx(n, rel=2e-3)
    assert best.constant_n_samples == pytest.approx(naive_n, rel=6e-3)
    assert best.n_samples + best.k == pytest.approx(budget)
    assert best.training_share == pytest.approx(best.n_samples / budget)
    if loss:
        assert best.loss == pytest.approx(loss, rel=1e-3)
        assert best.constant_loss == pytest.approx(naive_loss, rel=5e-3)
    assert best.loss <= best.constant_loss * (1 + 1e-9)


def test_no_neighbour_is_better():
    """The true loss, recomputed from its parts, one percent to either side; here also below n = d, with a ridge."""
    best = lid.optimal_allocation(PROBLEM, 2000.0, 2.0, 0.5, 1e-3, ridge=1.0)

    def loss(n):
        risk = float(lid.training_risk(PROBLEM, n_samples=n, ridge=1.0).excess_risk)
        return 1e-3 * risk + float(lid.failure_rate(2.5, 0.1, risk, (2000 - 2 * n) / 0.5))

    assert best.loss == pytest.approx(loss(best.n_samples), rel=1e-9)
    assert all(loss(best.n_samples * factor) > best.loss for factor in (0.99, 1.01))


def test_effective_exponents_saturate():
    exponents = lid.effective_exponent(PROBLEM, [60, 100, 400, 4000, 1e6], (1e3, 1e4))
    assert (np.diff(exponents[:4]) > 0).all()
    assert exponents[-1] == pytest.approx(2.5, abs=0.02)
    assert float(lid.effective_exponent(PROBLEM, 400.0, (1e3, 1e4), ridge=1.0)) < 2.5


def test_exponents_grow_as_the_inverse_deviation_before():
    """1/sqrt(v log k), so n^(1/2), within 8%."""
    v = np.array([20.0, 100.0, 400.0])
    np.testing.assert_allclose(lid.local_exponent(2.5, 0.1, v, 1e4) * np.sqrt(v * np.log(1e4)), 1, atol=0.08)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lid.optimal_allocation(PROBLEM, 1.5), "budget must be finite and > 2"),
        (lambda: lid.optimal_allocation(PROBLEM, 40.0, exact=True), "budget must be enough for 52 samples"),
        (lambda: lid.optimal_allocation(PROBLEM, 100.0, risk_weight=-1.0), "risk_weight must be"),
        (lambda: lid.optimal_allocation(PROBLEM, 100.0, 0.0), "cost_per_sample must be"),
        (lambda: lid.effective_exponent(PROBLEM, 100, (10, 5)), "k_window must be"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()

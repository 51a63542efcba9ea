"""The two tails, where they meet, and the exact failure rate between and beyond them."""

import numpy as np
import pytest

from solvable import latent_difficulty as lid
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent


@pytest.mark.parametrize(("beta", "tolerance", "variance"), [(2.5, 0.5, 0.0), (2.5, 0.1, 1e-3), (1.0, 2.0, 0.01)])
def test_hard_instances_rule_with_the_next_order_known(beta, tolerance, variance):
    """The relative correction is of order 1/(k c)^2; what is left after it falls as its square."""
    k = np.array([300.0, 1000.0]) / tolerance
    ratio = lid.failure_rate(beta, tolerance, variance, k) / lid.intrinsic_tail(beta, tolerance, k)
    size = (variance + tolerance**2 / 3) / 2 * beta * (beta + 1) * (beta + 2) - beta * (beta + 1)
    predicted = size / (k * tolerance * np.sqrt(2 / np.pi)) ** 2
    np.testing.assert_allclose(ratio - 1, predicted, rtol=0.1, atol=1e-11)


def test_published_crossovers():
    cases = {(2.5, 0.1, 0.1): 7.44, (2.5, 0.5, 0.04): 30.5, (4, 1, 0.04): 23.2, (6, 0.1, 0.05): 2.79, (1, 2, 0.5): 29.7}
    for arguments, expected in cases.items():
        assert lid.crossover_attempts(*arguments) == pytest.approx(expected, rel=2e-3)
    assert lid.crossover_attempts(2.5, 1e-9, 0.1) == pytest.approx(4 / (2.5**2 * 0.1), rel=1e-3)
    assert lid.crossover_attempts(2.5, 0.1, 0.0) == np.inf


def test_wrong_instances_rule_beyond():
    """The local exponent approaches that of the saddle, from below by a slowly falling share."""
    k = np.array([1e6, 1e9, 1e12])
    ratio = lid.local_exponent(2.5, 0.1, 0.1, k) / lid.bias_tail_exponent(0.1, 0.1, k)
    assert (np.diff(np.abs(ratio - 1)) < 0).all()
    assert abs(ratio[-1] - 1) < 0.15


def test_fixed_biases():
    assert float(lid.bias_tail_exponent(0.2, 1.7**2, 10, bias_law="fixed")) == pytest.approx(2 / 1.5**2)
    assert lid.bias_tail_exponent(0.5, 0.16, 10, bias_law="fixed") == np.inf
    assert lid.bias_tail_exponent(0.5, 0.0, 10) == np.inf


def test_regimes():
    regimes = [lid.inference_regime(2.5, 0.1, 0.01, k) for k in (10, 1e4, 1e12, 1e40)]
    assert regimes == ["pre-asymptotic", "intrinsic", "intrinsic", "bias-limited"]


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="^tolerance_ratio must be"):
        lid.intrinsic_tail(2.0, 0.0, 10)
    with pytest.raises(ArgumentError, match="^bias_variance_ratio must be"):
        lid.crossover_attempts(2.0, 1.0, -1.0)
    with pytest.raises(ArgumentError, match="^k must be"):
        lid.bias_tail_exponent(0.1, 1.0, 1)
    with pytest.raises(ArgumentError, match="^bias_variance_ratio must be a scalar"):
        lid.crossover_attempts(2.0, 1.0, [0.1, 0.2])
    with pytest.raises(ArgumentError, match="^k must be a scalar"):
        lid.inference_regime(2.0, 1.0, 0.1, [1, 10])

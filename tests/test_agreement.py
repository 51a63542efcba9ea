"""The judge is judged: false alarms, power, exact route, allowances, inconclusive verdicts."""

import numpy as np
import pytest
from scipy.stats import kstest, t

from solvable import Estimate, compare
from solvable import random_features as rf
from solvable.agreement import FALSE_ALARM_RATE, POWER
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent


def measured(generator, replicates, cells, spread=0.1):
    return Estimate.from_samples({"risk": 1 + spread * generator.normal(size=(replicates, cells))})


def test_p_values_are_uniform_under_truth():
    result = compare({"risk": 1.0}, measured(np.random.default_rng(1), 12, 4000))
    p_values = 2 * t.sf(np.abs(result.comparisons["risk"].z), 11)
    assert kstest(p_values, "uniform").pvalue > 1e-3


def test_false_alarm_rate_is_per_call_whatever_the_number_of_comparisons():
    """The bound for one comparison is Student's; for a thousand it is wider by the Bonferroni factor."""
    for cells in (1, 1000):
        result = compare({"risk": 1.0}, measured(np.random.default_rng(2), 10, cells)).comparisons["risk"]
        sem = (result.bound - 1e-10) / t.isf(FALSE_ALARM_RATE / (2 * cells), 9)
        assert np.abs(result.difference / result.z) == pytest.approx(sem, rel=1e-6)


@pytest.mark.parametrize("replicates", [8, 64, 1000])
def test_detectable_bias_is_found_with_the_stated_power(replicates):
    """Inject the stated bias many times: it is missed in one case of a thousand (the formula is good to a factor 3)."""
    generator, trials, freedom = np.random.default_rng(3), 200_000, replicates - 1
    one = measured(generator, replicates, 1)
    shift = float(compare({"risk": 1.0}, one).comparisons["risk"].detectable[0] / one.sem.risk[0])
    statistic = (generator.normal(size=trials) + shift) / np.sqrt(generator.chisquare(freedom, trials) / freedom)
    missed = np.mean(statistic < t.isf(FALSE_ALARM_RATE / 2, freedom))
    assert 0.3 * (1 - POWER) < missed < 3 * (1 - POWER)


def test_injected_bias_is_found():
    generator = np.random.default_rng(4)
    assert compare({"risk": 1.0}, measured(generator, 100, 5)).verdict in ("agree", "inconclusive")
    assert compare({"risk": 1.2}, measured(generator, 100, 5)).verdict == "disagree"


def test_weak_measurements_are_inconclusive_not_agreement():
    result = compare({"risk": 1.0}, {"risk": (1.1, 0.3)})
    assert result.verdict == "inconclusive"
    assert not result
    assert compare({"risk": 1.0}, {"risk": (1.1, 0.3)}, detectable=5.0).verdict == "agree"


def test_deterministic_measurements_take_the_exact_route():
    assert compare({"loss": 1e-12}, {"loss": (1e-12 * (1 + 1e-12), 0.0)}).verdict == "agree"
    assert compare({"loss": 1e-12}, {"loss": (1e-12 * (1 + 1e-8), 0.0)}).verdict == "disagree"


def test_allowances_are_declared_per_observable():
    measurement = {"a": (1.03, 1e-4), "b": (1.03, 1e-4)}
    predicted = {"a": 1.0, "b": 1.0}
    assert compare(predicted, measurement).verdict == "disagree"
    assert compare(predicted, measurement, rtol=0.04).verdict == "agree"
    result = compare(predicted, measurement, finite_size={"a": 0.04})
    assert result.verdict == "disagree"
    assert not result.comparisons["a"].disagrees
    assert "DISAGREES" in repr(result)


def test_an_allowance_above_the_detectable_bias_is_inconclusive():
    assert compare({"a": 1.0}, {"a": (1.0, 1e-6)}, rtol=0.1).verdict == "inconclusive"


def test_singular_points_are_not_compared():
    result = compare({"a": [np.inf, 1.0]}, {"a": (np.array([7.0, 1.0]), np.array([1.0, 1e-3]))})
    assert result.verdict == "agree"
    assert result.comparisons["a"].compared.tolist() == [False, True]
    assert compare({"a": np.inf}, {"a": (7.0, 1.0)}).verdict == "inconclusive"


def test_zero_agrees_with_zero():
    assert compare({"a": 0.0}, {"a": (0.0, 0.0)}).verdict == "agree"


def test_bad_calls_are_named():
    with pytest.raises(ArgumentError, match="nothing in common"):
        compare({"a": 1.0}, {"b": (1.0, 0.1)})
    with pytest.raises(ArgumentError, match="finite_size must name"):
        compare({"a": 1.0}, {"a": (1.0, 0.1)}, finite_size={"c": 0.1})
    with pytest.raises(ArgumentError, match="^detectable must be"):
        compare({"a": 1.0}, {"a": (1.0, 0.1)}, detectable=0.0)


@pytest.mark.parametrize(
    ("prediction", "measured", "keywords", "message"),
    [
        (Estimate.from_samples({"a": [1.0, 2.0]}), {"a": (1.0, 0.1)}, {}, "prediction must be a Prediction"),
        ({"a": 1.0}, [1.0], {}, "measured must be an Estimate"),
        ({"a": 1.0}, {"a": (1.0, 0.1)}, {"finite_size": 0.1}, "finite_size must be a mapping"),
        ({"a": np.ones(3)}, {"a": (np.ones(2), 0.1)}, {}, r"prediction of a must be a scalar or of shape \(2,\)"),
    ],
)
def test_calls_that_cannot_be_meant_are_refused(prediction, measured, keywords, message):
    with pytest.raises(ArgumentError, match=message):
        compare(prediction, measured, **keywords)


def test_different_controls_are_refused():
    world = rf.Problem.power_law(1.5, 0.4, n_modes=20)
    measured = rf.simulate(world, n_samples=10, n_features=5, ridge=[0.1, 0.2], seed=0, replicates=2)
    for controls in ({"n_samples": 11, "ridge": [0.1, 0.2]}, {"n_samples": 10, "ridge": [0.1, 0.2, 0.3]}):
        with pytest.raises(ArgumentError, match="of the prediction must be that of the measurement"):
            compare(rf.predict(world, n_features=5, **controls), measured)

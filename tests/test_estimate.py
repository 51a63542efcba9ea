"""Estimates: merging, covariance, derived observables by the delta method, failures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvable import Estimate, compare
from solvable.errors import ArgumentError
from solvable.estimate import Moments
from solvable.observables import Observables

pytestmark = pytest.mark.x64_independent
RATIO = Observables(("top", "bottom"), {"ratio": lambda b, c: b["top"] / b["bottom"] * c["scale"]})


def samples(count, seed=0, shape=(3,)):
    generator = np.random.default_rng(seed)
    bottom = 2 + generator.normal(size=(count, *shape))
    return {"top": 3 * bottom + 0.1 * generator.normal(size=(count, *shape)), "bottom": bottom}


def test_mean_and_standard_error_of_base_observables():
    values = samples(50)
    estimate = Estimate.from_samples(values)
    assert estimate.mean.top == pytest.approx(values["top"].mean(axis=0))
    assert estimate.sem.top == pytest.approx(values["top"].std(axis=0, ddof=1) / np.sqrt(50))
    assert estimate.count.tolist() == [50] * 3


@given(st.integers(1, 49), st.integers(0, 10**6))
def test_merging_parts_is_summarising_the_whole(split, seed):
    values = samples(50, seed)
    values["top"] += 1e6  # a large mean must not eat the digits of the scatter
    parts = [{name: v[part] for name, v in values.items()} for part in (slice(None, split), slice(split, None))]
    merged = Estimate.from_samples(parts[0], RATIO, scale=2.0).merge(Estimate.from_samples(parts[1], RATIO, scale=2.0))
    whole = Estimate.from_samples(values, RATIO, scale=2.0)
    for name in RATIO.names:
        assert merged.mean[name] == pytest.approx(whole.mean[name], rel=1e-12)
    assert merged.sem.bottom == pytest.approx(whole.sem.bottom, rel=1e-12)
    assert merged.sem.top == pytest.approx(whole.sem.top, rel=1e-6)


def test_derived_observables_use_the_covariance():
    """Top and bottom are nearly proportional: without their covariance the error would be 30 times too large."""
    estimates = [Estimate.from_samples(samples(400, seed, ()), RATIO, scale=1.0) for seed in range(300)]
    ratios = np.array([float(estimate.mean.ratio) for estimate in estimates])
    stated = np.mean([float(estimate.sem.ratio) for estimate in estimates])
    assert stated == pytest.approx(ratios.std(ddof=1), rel=0.2)  # 300 runs give the spread to 4%: 5 sigma


def test_derived_mean_is_a_function_of_means():
    values = samples(20)
    estimate = Estimate.from_samples(values, RATIO, scale=2.0)
    assert estimate.mean.ratio == pytest.approx(2 * values["top"].mean(0) / values["bottom"].mean(0))


def test_failed_replicates_are_counted_and_left_out():
    values = samples(10)
    clean = {name: v[2:, 1] for name, v in values.items()}
    values["top"][0, 1], values["bottom"][1, 1] = np.nan, np.inf
    estimate = Estimate.from_samples(values)
    assert estimate.failed.tolist() == [0, 2, 0]
    assert estimate.count.tolist() == [10, 8, 10]
    assert estimate.mean.bottom[1] == pytest.approx(clean["bottom"].mean())
    assert estimate.sem.top[1] == pytest.approx(clean["top"].std(ddof=1) / np.sqrt(8))


def test_nothing_finite_gives_nan_not_zero():
    estimate = Estimate.from_samples({"a": np.array([np.nan, np.inf])})
    assert np.isnan(estimate.mean.a)
    assert np.isnan(estimate.sem.a)


def test_single_replicate_has_no_error_bar():
    assert np.isnan(Estimate.from_samples({"a": [1.0]}).sem.a)


def test_interval_is_students():
    estimate = Estimate.from_samples({"a": [1.0, 2.0, 3.0, 4.0]})
    lower, upper = estimate.interval(0.95)
    assert (float(lower.a), float(upper.a)) == pytest.approx((2.5 - 2.0543, 2.5 + 2.0543), abs=1e-4)


def test_tables_are_flat():
    estimate = Estimate.from_samples(samples(5, shape=(2, 2)))
    frame = estimate.to_dataframe()
    assert len(frame) == 4
    assert set(frame.columns) == {"top", "bottom", "top_sem", "bottom_sem", "count", "failed"}


def test_observables_may_have_axes_of_their_own():
    generator = np.random.default_rng(3)
    values = {"loss": generator.normal(size=(20, 3)), "group_loss": generator.normal(size=(20, 3, 4))}
    values["group_loss"][5, 1, 2] = np.nan
    declared = Observables(("loss", "group_loss"), own_axes={"group_loss": "group"})
    parts = [
        Estimate.from_samples({name: v[part] for name, v in values.items()}, declared)
        for part in (slice(None, 8), slice(8, None))
    ]
    estimate = parts[0].merge(parts[1])
    assert estimate.count.tolist() == [20, 19, 20]
    kept = np.delete(values["group_loss"][:, 1], 5, axis=0)
    assert estimate.mean.group_loss[1] == pytest.approx(kept.mean(axis=0))
    assert estimate.sem.group_loss[1] == pytest.approx(kept.std(axis=0, ddof=1) / np.sqrt(19))
    lower, _ = estimate.interval()
    assert lower.group_loss.shape == (3, 4)
    frame = estimate.to_dataframe()
    assert len(frame) == 12
    assert frame.group.tolist() == [1, 2, 3, 4] * 3
    assert frame.loss[0] == frame.loss[3] == estimate.mean.loss[0]


def test_deterministic_replicates_have_no_error():
    one = Moments.of({"a": np.array([[1.0, 2.0]])}, deterministic=True)
    estimate = Estimate(one, Observables(("a",)))
    assert estimate.sem.a.tolist() == [0.0, 0.0]
    assert compare({"a": np.array([1.0, 2.0])}, estimate).verdict == "agree"
    assert compare({"a": np.array([1.0, 2.0 + 1e-8])}, estimate).verdict == "disagree"


def test_bad_samples_are_named():
    with pytest.raises(ArgumentError, match="^samples must be"):
        Estimate.from_samples({"a": [1.0, 2.0], "b": [1.0]})
    with pytest.raises(ArgumentError, match="^other must be"):
        Estimate.from_samples({"a": [1.0, 2.0]}).merge(Estimate.from_samples({"b": [1.0, 2.0]}))
    with pytest.raises(ArgumentError, match="^level must be"):
        Estimate.from_samples({"a": [1.0, 2.0]}).interval(1.0)

"""What `predict` offers: methods and their validity, derivatives, tables, errors."""

import jax
import numpy as np
import pytest

from solvable import associative_memory as am
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent
RANDOM = {"basis": "random"}


def problem(noise=0.0):
    return am.Problem.power_law(1.5, 3, 4, noise)


@pytest.mark.parametrize(
    ("algorithm", "options", "validity"),
    [
        (am.GradientDescent(1.0), {}, "exact"),
        (am.GradientDescent(1.0), {"method": "flow"}, "approximation"),
        (am.GradientDescent(1.0), {"method": "law"}, "approximation"),
        (am.NormalizedGradientDescent(1.0), {}, "exact"),
        (am.SignDescent(0.1), {}, "exact"),
        (am.SignDescent(0.1, **RANDOM), {}, "approximation"),
        (am.Adam(0.1), {}, "exact"),
        (am.Muon(0.1), {}, "exact"),
        (am.Muon(0.1), {"method": "decoupled"}, "approximation"),
        (am.Muon(0.1), {"batch_size": 8}, "approximation"),
    ],
)
def test_methods_say_what_they_are(algorithm, options, validity):
    theory = am.predict(problem(), algorithm, steps=[0, 10], **options)
    assert theory.declared.validity == validity
    assert (validity == "exact") == (not theory.declared.finite_size)
    assert theory.loss.shape == (2,)
    assert theory.group_loss.shape == (2, 3)


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        (am.Adam(0.1, **RANDOM), {}, "Adam in a random basis has no theory: simulate it"),
        (am.Muon(0.1, momentum=0.9), {"batch_size": 8}, "Muon on batches has no theory"),
        (am.GradientDescent(0.1), {"batch_size": 8}, "GradientDescent on batches has no theory"),
        (am.Muon(0.1), {"method": "flow"}, r"method must be one of \('exact', 'decoupled'\) for Muon; got 'flow'"),
        (am.Muon(0.1), {"method": "fast"}, "method must be one of"),
        (am.Muon(am.Schedule([0.1] * 20)), {"batch_size": 8}, "learning_rate must be a number on batches"),
        (am.Muon(0.1, polar="newton_schulz", regularization=1.0), {}, "regularization must be 0 unless"),
        (am.Muon(0.1, momentum=1.0), {}, r"momentum must be in \[0, 1\); got \[1.0\]"),
        (am.Adam(0.1, b2=-0.1), {}, r"b2 must be in \[0, 1\)"),
        (0.1, {}, "algorithm must be one of"),
    ],
)
def test_what_has_no_theory_raises(algorithm, options, message):
    with pytest.raises(ArgumentError, match=message):
        am.predict(problem(), algorithm, steps=[10], **options)


def test_noisy_batches_and_laws_of_other_worlds_raise():
    with pytest.raises(ArgumentError, match="batches of noisy labels has no theory"):
        am.predict(problem(0.2), am.Muon(0.1), steps=[10], batch_size=8)
    with pytest.raises(ArgumentError, match="method must be another unless the problem is a power law"):
        am.predict(am.Problem.from_frequencies([0.6, 0.4]), am.GradientDescent(1.0), steps=[10], method="law")
    with pytest.raises(ArgumentError, match="cannot be traced|can be traced"):
        jax.jit(lambda rate: am.predict(problem(), am.GradientDescent(rate), steps=[10], method="flow").loss)(1.0)


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize(
    "kind",
    [am.GradientDescent, am.NormalizedGradientDescent, am.Adam, am.Muon, lambda rate: am.SignDescent(rate, **RANDOM)],
)
def test_derivatives_in_the_learning_rate_against_differences(kind, noise):
    """Muon starts at a matrix whose singular values may be equal; the sign of sign descent in the task has none."""

    def loss(rate):
        return am.predict(problem(noise), kind(rate), steps=[6]).loss[0]

    rate, step = 0.07, 1e-6
    with jax.enable_x64(True):
        slope = float(jax.grad(loss)(rate))
    assert slope == pytest.approx((loss(rate + step) - loss(rate - step)) / (2 * step), rel=1e-6)


def test_equal_frequencies_have_finite_derivatives():
    def loss(frequencies):
        return am.predict(am.Problem.from_frequencies(frequencies, 2), am.Muon(0.3), steps=[4]).loss[0]

    slopes = jax.grad(loss)(np.full(4, 0.25))
    assert np.isfinite(slopes).all()
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-5)


def test_runs_without_steps_and_without_learning_are_the_start():
    theory = am.predict(problem(0.2), am.Muon(0.3), steps=[0])
    np.testing.assert_allclose(theory.loss, np.log(12), rtol=1e-14)
    np.testing.assert_allclose(theory.excess_risk, np.log(12) - float(problem(0.2).loss_floor), rtol=1e-13)
    assert (theory.diagnostics.margin == 0).all()


def test_tables_number_the_groups():
    frame = am.predict(problem(), am.Muon([0.1, 0.2]), steps=[1, 2]).to_dataframe()
    assert len(frame) == 12
    assert sorted(frame.group.unique()) == [1, 2, 3]

"""Methods that keep wrong answers alike: published values, the full run, limits, approximations."""

import numpy as np
import pytest

from solvable import associative_memory as am
from solvable.associative_memory.gradient_descent import beyond
from solvable.associative_memory.margins import Margins, RandomBasis, two_cycle_margin
from solvable.associative_memory.retrieval import loss
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent


def harmonic(n_items, noise=0.0):
    frequencies = 1 / np.arange(1.0, n_items + 1)
    return am.Problem.from_frequencies(frequencies / frequencies.sum(), 1, noise)


def test_published_normalised_descent():
    problem = am.Problem.power_law(1.5, 8, 32)
    total = am.predict(problem, am.NormalizedGradientDescent(1.0), steps=[100, 200, 400]).loss
    np.testing.assert_allclose(total, [0.4524167606217444, 0.0022283174315529675, 8.124469404570713e-09], rtol=1e-11)


def test_late_normalised_descent_is_exponential():
    total = am.predict(am.Problem.power_law(1.5, 8, 32), am.NormalizedGradientDescent(1.0), steps=[400, 401]).loss
    assert np.log(total[0] / total[1]) == pytest.approx(1 / np.sqrt(255), rel=1e-4)


@pytest.mark.parametrize(
    ("noise", "algorithm", "items", "expected", "tolerance"),
    [
        (0.2, am.Adam(0.05, 0.9, 0.95, 1e-3), [0, 15, 31], [1.158778154669, 1.204359512667, 1.294505883891], 1e-11),
        (0.0, am.Adam(0.05, 0.9, 0.999, 1e-8), [0, 31], [0.109919352981, 0.109926393425], 1e-11),
        (0.2, am.Adam(0.05, 0.0, 0.0, 0.0), [0, 15, 31], [1.1572329] * 3, 1e-8),
    ],
)
def test_published_adam(noise, algorithm, items, expected, tolerance):
    losses = am.predict(harmonic(32, noise), algorithm, steps=[80]).group_loss[0, items]
    np.testing.assert_allclose(losses, expected, rtol=tolerance)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_sign_descent_is_the_cycle_at_twice_the_rate(noise):
    problem, steps = am.Problem.power_law(1.5, 5, 7, noise), np.arange(50)
    expected = two_cycle_margin(0.22, float(problem.optimal_margin), steps)
    for algorithm in (am.SignDescent(0.11), am.Adam(0.11, 0.0, 0.0, 0.0)):
        margins = am.predict(problem, algorithm, steps=steps).diagnostics.margin
        np.testing.assert_allclose(margins, np.repeat(expected[:, None], 5, axis=1), atol=1e-12)


def test_adam_without_eps_ignores_frequencies():
    losses = am.predict(harmonic(12, 0.1), am.Adam(0.05, 0.9, 0.95, 0.0), steps=[40]).group_loss[0]
    np.testing.assert_allclose(losses, losses[0], rtol=1e-12)


def test_published_sign_descent_in_a_random_basis():
    picture = RandomBasis(harmonic(128))
    pull = picture.gradient(Margins(np.zeros(128), np.full(128, np.inf)))
    (gains,) = picture.geometry.sign(pull)
    expected = [63.654024257, 41.046100866, 29.886258882, 9.008374817, 0.782908588]
    np.testing.assert_allclose(gains[[0, 1, 2, 10, 127]], expected, atol=6e-10)
    total = am.predict(
        am.Problem.power_law(1.5, 8, 16), am.SignDescent(0.008, basis="random"), steps=[30, 60, 90, 120]
    ).loss
    np.testing.assert_allclose(total, [1.93179, 0.75876, 0.23993, 0.04103], rtol=2e-4)


@pytest.mark.parametrize(
    ("problem", "gain"),
    [
        (am.Problem.from_frequencies(np.full(4, 0.25), 5000), np.sqrt(2 / np.pi) * np.sqrt(20_000)),
        (am.Problem.from_frequencies([1 - 1e-9, 1e-9]), 2 * 2 / np.pi),
    ],
)
def test_random_signs_at_high_and_low_effective_rank(problem, gain):
    """Many equal items: sqrt(2/pi) K g/|g|; one that dominates: 2 K/pi."""
    margin = am.predict(problem, am.SignDescent(1e-9, basis="random"), steps=[1]).diagnostics.margin
    assert margin[0, 0] / 1e-9 == pytest.approx(gain, rel=1e-3)


def test_published_minibatches():
    problem = am.Problem.power_law(1.5, 8, 16)
    theory = am.predict(problem, am.Muon(0.25), steps=[10, 20, 40], batch_size=64)
    np.testing.assert_allclose(theory.loss, [3.34752, 2.05148, 0.94174], atol=6e-6)
    assert theory.group_loss[2, 7] == pytest.approx(3.988, abs=6e-4)
    assert theory.declared.validity == "approximation"
    everything = am.predict(problem, am.Muon(0.25), steps=[20], batch_size=10**9)
    np.testing.assert_allclose(everything.group_loss[0], loss(128, problem.label_noise, np.asarray(5.0)), rtol=1e-12)
    assert everything.diagnostics.margin[0, 0] == pytest.approx(5.0)
    rates = am.predict(problem, am.Muon([0.25, 0.1]), steps=[10, 20], batch_size=64)
    np.testing.assert_array_equal(rates.group_loss[0], theory.group_loss[:2])


def test_small_batches_bring_back_the_exponent_of_rarity():
    """With the loss of what lies beyond the last group added back, slopes are -(1 - 1/exponent)."""
    problem = am.Problem.power_law(1.5, 20_000)
    steps = np.array([100, 200, 400, 800])
    total = am.predict(problem, am.Muon(0.5), steps=steps, batch_size=64).loss + beyond(problem, 1.5)
    slopes = np.diff(np.log(total)) / np.diff(np.log(steps))
    np.testing.assert_allclose(slopes, [-0.348, -0.340, -0.337], atol=1e-3)


def test_published_decoupled_iteration():
    problem = am.Problem.power_law(1.5, 32, 32, 0.2)
    algorithm = am.Muon(0.1, polar="newton_schulz")
    groups = [0, 8, 16, 31]
    for method, expected in (
        ("exact", [1.8868, 1.8849, 1.8884, 3.1461]),
        ("decoupled", [1.8868, 1.8849, 1.8884, 3.1450]),
    ):
        losses = am.predict(problem, algorithm, steps=[83], method=method).group_loss[0, groups]
        np.testing.assert_allclose(losses, expected, atol=6e-5)


def test_published_decoupled_regularised_sign():
    problem = am.Problem.power_law(1.5, 8, 32)
    losses = am.predict(problem, am.Muon(0.1, regularization=1e-3), steps=[100], method="decoupled").group_loss
    np.testing.assert_allclose(losses[0, [0, 7]], [0.028273, 0.816310], atol=6e-7)


@pytest.mark.parametrize(("exponent", "shape"), [(1.0, (16, 256)), (1.5, (8, 64)), (2.0, (128, 1)), (1.5, (16, 16))])
def test_the_decoupled_error_is_as_stated(exponent, shape):
    problem, rate = am.Problem.power_law(exponent, *shape), 0.25
    steps = np.arange(1, int(2 * np.log(problem.n_items) / rate))
    exact, alone = (
        am.predict(problem, am.Muon(rate), steps=steps, method=m).group_loss for m in ("exact", "decoupled")
    )
    bound = 2.5 * rate * steps / problem.n_items
    assert (np.abs(alone / exact - 1).max(axis=1) < bound).all()


@pytest.mark.parametrize("steps", [[3, 2], [1.5], [-1], 4, []])
def test_bad_steps_are_refused(steps):
    with pytest.raises(ArgumentError, match="^steps must be"):
        am.predict(harmonic(4), am.Muon(0.1), steps=steps)

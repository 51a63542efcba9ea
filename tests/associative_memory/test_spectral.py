"""The reduction of spectral optimisers: published values, the full matrix run, closed forms, symmetries."""

import numpy as np
import pytest

from solvable import associative_memory as am
from solvable.associative_memory.margins import two_cycle_margin
from solvable.associative_memory.polar import matrix_sign
from solvable.associative_memory.retrieval import loss
from solvable.associative_memory.spectral import Blocks
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent
FIVE_STEPS = {"polar": "newton_schulz", "momentum": 0.95, "nesterov": True}


def losses(problem, algorithm, steps):
    return am.predict(problem, algorithm, steps=steps).group_loss


def test_published_noiseless_muon():
    expected = [
        [1.240500037923, 1.253808058254, 1.279997143389, 1.324548717345],
        [0.178119394013, 0.184735449848, 0.197417256935, 0.218199187183],
        [0.001231166261, 0.001348245049, 0.001550359225, 0.001838958704],
        [2.090285616e-12, 2.855562915e-12, 3.807712388e-12, 4.900838141e-12],
    ]
    measured = losses(am.Problem.power_law(1.5, 4, 8), am.Muon(0.5), [5, 10, 20, 60])
    np.testing.assert_allclose(measured, expected, rtol=3e-9)


def test_published_noisy_muon():
    problem = am.Problem.power_law(1.5, 4, 8, 0.2)
    expected = [
        [2.345390747465, 2.352898183479, 2.367753507936, 2.393175830013],
        [1.157332171188, 1.157269805497, 1.157521391392, 1.15762405018],
    ]
    np.testing.assert_allclose(losses(problem, am.Muon(0.3), [5, 40]), expected, rtol=1e-11)
    assert float(problem.loss_floor) == pytest.approx(1.1569500642172288, rel=1e-14)
    five = losses(problem, am.Muon(0.1, **FIVE_STEPS, eps=1e-7), [60])[0]
    np.testing.assert_allclose(five, [1.257900704683, 1.158500034767, 1.258755777681, 1.172953715569], rtol=1e-10)
    optax = losses(problem, am.Muon(0.1, **FIVE_STEPS, convention="optax", eps=1e-8), [40])[0]
    np.testing.assert_allclose(optax, [1.16960236, 1.47328414, 1.19044099, 1.42331931], rtol=1e-8)


def test_published_regularised_sign():
    measured = losses(am.Problem.power_law(1.5, 8, 32), am.Muon(0.1, regularization=1e-3), [100])[0]
    np.testing.assert_allclose(measured[[0, 7]], [0.028098584696, 0.820335932152], rtol=1e-10)


def test_published_sign_of_two_groups():
    picture = Blocks(am.Problem.from_frequencies([0.8, 0.2], 5))
    _, matrix = picture.gradient(picture.start(()))
    expected = [[0.68599434057, -0.171498585143], [-0.68599434057, 0.171498585143]]
    np.testing.assert_allclose(matrix_sign(matrix), expected, rtol=1e-10)


def horizon(problem, first, length=16):
    """Mean excess at the end of runs of `length` consecutive lengths, each with its rate 1.25 z*/T."""
    top, lengths = float(problem.optimal_margin), first + np.arange(length)
    theory = am.predict(problem, am.Muon(1.25 * top / lengths), steps=lengths)
    cycles = [two_cycle_margin(1.25 * top / T, top, np.asarray(T)) for T in lengths]
    one = loss(problem.n_items, problem.label_noise, np.array(cycles)) - problem.loss_floor
    return np.diagonal(theory.excess_risk).mean(), one.mean()


def test_published_horizon_law():
    problem = am.Problem.power_law(1.5, 8, 32, 0.2)
    measured = np.array([horizon(problem, first) for first in (32, 64, 128, 256)])
    exact, cycle = measured.T
    np.testing.assert_allclose(exact, [1.61600e-3, 4.54536e-4, 9.56282e-5, 3.06295e-5], rtol=4e-6)
    np.testing.assert_allclose(cycle, [1.63212e-3, 4.79081e-4, 8.44176e-5, 2.52147e-5], rtol=4e-6)
    slope = np.polyfit(np.log([39.5, 71.5, 135.5, 263.5]), np.log(exact), 1)[0]
    assert slope == pytest.approx(
        am.exponents(1.5, am.Muon, label_noise=0.2, window="horizon").exponent("excess_risk"), abs=0.2
    )


@pytest.mark.parametrize(("rate", "expected"), [(0.2, 8.786e-4), (0.05, 6.078e-5)])
def test_published_floor_of_the_cycle(rate, expected):
    problem = am.Problem.power_law(1.5, 8, 32, 0.2)
    late = 10 * int(float(problem.optimal_margin) / rate)
    excess = am.predict(problem, am.Muon(rate), steps=late + np.arange(64)).excess_risk.mean()
    assert excess == pytest.approx(expected, rel=0.05)  # the published window is not stated


def full_run(problem, algorithm, steps):
    """The K x K run itself, by plain formulas, in the basis of the task."""
    frequencies = np.repeat(problem.frequencies, problem.group_size)
    size = len(frequencies)
    noise, mu = float(problem.label_noise), algorithm.momentum
    labels = (1 - noise) * np.eye(size) + noise / size
    scores, buffer = np.zeros((size, size)), np.zeros((size, size))
    for _ in range(steps):
        weights = np.exp(scores - scores.max(axis=0))
        gradient = (labels - weights / weights.sum(axis=0)) * frequencies
        buffer = mu * buffer + gradient
        direction = gradient + mu * buffer if algorithm.nesterov else buffer
        if algorithm.polar == "exact":
            u, s, vt = np.linalg.svd(direction)
            kept = np.where(s > 1e-12 * s[0], s, 0.0) / np.hypot(np.maximum(s, 1e-300), algorithm.regularization)
            step = (u * kept) @ vt
        else:
            step = direction / np.linalg.norm(direction)
            for _ in range(5):
                gram = step @ step.T
                step = 3.4445 * step + (-4.7750 * gram + 2.0315 * gram @ gram) @ step
        scores = (1 - algorithm.learning_rate * algorithm.weight_decay) * scores + algorithm.learning_rate * step
    log_z = np.log(np.exp(scores - scores.max(axis=0)).sum(axis=0)) + scores.max(axis=0)
    each = log_z - (labels * scores).sum(axis=0)
    return each.reshape(problem.n_groups, problem.group_size)


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize(
    "algorithm",
    [
        am.Muon(0.3),
        am.Muon(0.3, regularization=0.01, weight_decay=0.05),
        am.Muon(0.1, momentum=0.9),
        am.Muon(0.1, momentum=0.9, nesterov=True),
        am.Muon(0.1, **FIVE_STEPS),
    ],
)
@pytest.mark.parametrize("shape", [(3, 4), (7, 1), (1, 6)])
def test_the_reduction_is_the_full_run(noise, algorithm, shape):
    problem = am.Problem.power_law(1.5, *shape, noise)
    full = full_run(problem, algorithm, 12)
    repeated = np.repeat(losses(problem, algorithm, [12])[0][:, None], shape[1], axis=1)
    np.testing.assert_allclose(full, repeated, rtol=1e-10)


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_huge_regularisation_is_gradient_descent(noise):
    problem = am.Problem.power_law(1.5, 4, 8, noise)
    expected = losses(problem, am.GradientDescent(3.0), [30])
    np.testing.assert_allclose(losses(problem, am.Muon(3e9, regularization=1e9), [30]), expected, rtol=1e-12)
    np.testing.assert_allclose(
        losses(problem, am.Muon(0.1, regularization=1e-13), [15]), losses(problem, am.Muon(0.1), [15]), rtol=1e-6
    )


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_one_group_ends_in_a_cycle_of_two(noise):
    problem, rate = am.Problem.from_frequencies([1.0], 40, noise), 0.37
    steps = np.arange(60)
    margin = two_cycle_margin(rate, float(problem.optimal_margin), steps)
    theory = am.predict(problem, am.Muon(rate), steps=steps)
    np.testing.assert_allclose(theory.loss, loss(40, problem.label_noise, margin), rtol=1e-12)
    np.testing.assert_allclose(theory.diagnostics.margin[:, 0], margin, rtol=1e-12)
    np.testing.assert_allclose(theory.loss, am.predict(problem, am.SignDescent(rate / 2), steps=steps).loss, rtol=1e-12)
    if noise:
        assert theory.excess_risk[30:].max() < 0.5 * rate**2 * 0.25


def test_equal_items_are_one_group():
    apart, together = (
        am.Problem.from_frequencies(np.full(12, 1 / 12), 1, 0.1),
        am.Problem.from_frequencies([1.0], 12, 0.1),
    )
    rates = am.Muon(0.3)
    np.testing.assert_allclose(losses(apart, rates, [9])[0], losses(together, rates, [9])[0, 0], rtol=1e-13)


def test_contrast_margins_ignore_frequencies():
    """Within a group, the right answer leads by rate x steps exactly, whatever the frequency; a rigorous envelope."""
    problem, rate = am.Problem.power_law(2.0, 5, 6), 0.4
    steps = np.arange(1, 40)
    theory = losses(problem, am.Muon(rate), steps)
    lower, upper = (np.log1p(29 * np.exp(-rate * steps * (1 + s / 6)))[:, None] for s in (1, -3))
    assert (theory >= lower * (1 - 1e-12)).all()
    assert (theory <= upper * (1 + 1e-12)).all()


def test_order_splits_and_arrays_of_rates():
    problem = am.Problem.power_law(1.5, 4, 8, 0.1)
    alone = losses(problem, am.Muon(0.2), [20])[0]
    order = np.array([2, 0, 3, 1])
    shuffled = am.Problem.from_frequencies(problem.group_frequencies[order], 8, 0.1)
    np.testing.assert_allclose(losses(shuffled, am.Muon(0.2), [20])[0], alone[order], rtol=1e-11)
    halves = am.Problem.from_frequencies(np.repeat(problem.group_frequencies / 2, 2), 4, 0.1)
    np.testing.assert_allclose(losses(halves, am.Muon(0.2), [20])[0][::2], alone, rtol=1e-11)
    grid = am.predict(problem, am.Muon(np.array([[0.1], [0.2]]), momentum=np.array([0.0, 0.9])), steps=[10, 20])
    assert grid.group_loss.shape == (2, 2, 2, 4)
    assert grid.loss.shape == (2, 2, 2)
    np.testing.assert_allclose(grid.group_loss[1, 0, 1], alone, rtol=1e-12)
    frame = grid.to_dataframe()
    assert len(frame) == 32
    row = frame[(frame.learning_rate == 0.2) & (frame.momentum == 0) & (frame.steps == 20) & (frame.group == 2)]
    assert row.group_loss.item() == grid.group_loss[1, 0, 1, 1]


def test_schedules():
    problem = am.Problem.power_law(1.5, 4, 8, 0.1)
    values = np.linspace(0.5, 0.01, 20)
    by_schedule, by_function = (
        losses(problem, am.Muon(rate), [20]) for rate in (am.Schedule(values), lambda step: float(values[step]))
    )
    np.testing.assert_array_equal(by_schedule, by_function)
    for rate, message in (
        (am.Schedule(values), "a schedule of at least 21 steps"),
        (-0.1, "learning_rate must be finite"),
    ):
        with pytest.raises(ArgumentError, match=message):
            losses(problem, am.Muon(rate), [21])


def test_decaying_rates_remove_the_floor():
    """Published: a linear decay with budget 3 z* gets from 1e-3 to 1e-6 at T = 128; erratic in T."""
    problem = am.Problem.power_law(1.5, 8, 32, 0.2)
    top = float(problem.optimal_margin)
    for horizon_length, published in ((64, 8.4e-6), (128, 1.1e-6), (256, 3.6e-7)):
        values = 6 * top * (1 - np.arange(horizon_length) / horizon_length) / horizon_length
        excess = am.predict(problem, am.Muon(am.Schedule(values)), steps=[horizon_length]).excess_risk[0]
        assert excess == pytest.approx(published, rel=0.06)

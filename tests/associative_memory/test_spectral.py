"""The reduction of spectral optimisers: published values, the full matrix run, closed forms, symmetries."""

import itertools

import numpy as np
import pytest

from solvable.associative_memory.gradient_descent import descend
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import excess, loss
from solvable.associative_memory.spectral import (
    Blocks,
    group_losses,
    matrix_sign,
    muon_runs,
    negative_gradient,
    two_cycle_margin,
)
from solvable.errors import ArgumentError
from solvable.training import Muon, Schedule

pytestmark = pytest.mark.x64_independent
FIVE_STEPS = {"polar": "newton_schulz", "momentum": 0.95, "nesterov": True}


def losses(problem, algorithm, steps):
    """Group losses after each of the given numbers of steps."""
    runs = itertools.islice(muon_runs(problem, algorithm, max(steps)), max(steps) + 1)
    wanted = {number: group_losses(problem, scores) for number, scores in enumerate(runs) if number in steps}
    return np.array([wanted[number] for number in steps])


def test_published_noiseless_muon():
    expected = [
        [1.240500037923, 1.253808058254, 1.279997143389, 1.324548717345],
        [0.178119394013, 0.184735449848, 0.197417256935, 0.218199187183],
        [0.001231166261, 0.001348245049, 0.001550359225, 0.001838958704],
        [2.090285616e-12, 2.855562915e-12, 3.807712388e-12, 4.900838141e-12],
    ]
    measured = losses(Problem.power_law(1.5, 4, 8), Muon(0.5), [5, 10, 20, 60])
    np.testing.assert_allclose(measured, expected, rtol=3e-9)


def test_published_noisy_muon():
    problem = Problem.power_law(1.5, 4, 8, 0.2)
    expected = [
        [2.345390747465, 2.352898183479, 2.367753507936, 2.393175830013],
        [1.157332171188, 1.157269805497, 1.157521391392, 1.15762405018],
    ]
    np.testing.assert_allclose(losses(problem, Muon(0.3), [5, 40]), expected, rtol=1e-11)
    assert float(problem.loss_floor) == pytest.approx(1.1569500642172288, rel=1e-14)
    five = losses(problem, Muon(0.1, **FIVE_STEPS, eps=1e-7), [60])[0]
    np.testing.assert_allclose(five, [1.257900704683, 1.158500034767, 1.258755777681, 1.172953715569], rtol=1e-10)
    optax = losses(problem, Muon(0.1, **FIVE_STEPS, convention="optax", eps=1e-8), [40])[0]
    np.testing.assert_allclose(optax, [1.16960236, 1.47328414, 1.19044099, 1.42331931], rtol=1e-8)


def test_published_regularised_sign():
    measured = losses(Problem.power_law(1.5, 8, 32), Muon(0.1, regularization=1e-3), [100])[0]
    np.testing.assert_allclose(measured[[0, 7]], [0.028098584696, 0.820335932152], rtol=1e-10)


def test_published_sign_of_two_groups():
    problem = Problem.from_frequencies([0.8, 0.2], 5)
    zero = Blocks(np.zeros(2), np.zeros((2, 2)))
    sign = matrix_sign(negative_gradient(problem, zero).between)
    expected = [[0.68599434057, -0.171498585143], [-0.68599434057, 0.171498585143]]
    np.testing.assert_allclose(sign, expected, rtol=1e-10)


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
            kept = np.where(s > 1e-12 * s[0], s / np.hypot(s, algorithm.regularization), 0.0)
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
        Muon(0.3),
        Muon(0.3, regularization=0.01, weight_decay=0.05),
        Muon(0.1, momentum=0.9),
        Muon(0.1, momentum=0.9, nesterov=True),
        Muon(0.1, **FIVE_STEPS),
    ],
)
@pytest.mark.parametrize("shape", [(3, 4), (7, 1), (1, 6)])
def test_the_reduction_is_the_full_run(noise, algorithm, shape):
    problem = Problem.power_law(1.5, *shape, noise)
    full = full_run(problem, algorithm, 12)
    np.testing.assert_allclose(
        full, np.repeat(losses(problem, algorithm, [12])[0][:, None], shape[1], axis=1), rtol=1e-10
    )


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_a_huge_regularisation_is_gradient_descent(noise):
    problem = Problem.power_law(1.5, 4, 8, noise)
    margins, _ = descend(problem, np.full(30, 3.0))
    expected = loss(32, problem.label_noise, margins[-1])
    measured = losses(problem, Muon(3e9, regularization=1e9), [30])[0]
    np.testing.assert_allclose(measured, expected, rtol=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_one_group_ends_in_a_cycle_of_two(noise):
    problem, rate = Problem.from_frequencies([1.0], 40, noise), 0.37
    steps = np.arange(60)
    margin = two_cycle_margin(rate, float(problem.optimal_margin), steps)
    np.testing.assert_allclose(
        losses(problem, Muon(rate), list(steps))[:, 0], loss(40, problem.label_noise, margin), rtol=1e-12
    )
    if noise:
        late = excess(40, problem.label_noise, margin, problem.optimal_margin - margin)[30:]
        assert late.max() < 0.5 * rate**2 * 0.25


def test_contrast_margins_ignore_frequencies():
    """Within a group, the right answer leads by rate x steps exactly, whatever the frequency."""
    *_, last = muon_runs(Problem.power_law(2.0, 5, 6), Muon(0.4), 25)
    np.testing.assert_allclose(last.within, 10.0, rtol=1e-13)


def test_order_splits_and_arrays_of_rates():
    problem = Problem.power_law(1.5, 4, 8, 0.1)
    order = np.array([2, 0, 3, 1])
    shuffled = Problem.from_frequencies(problem.group_frequencies[order], 8, 0.1)
    np.testing.assert_allclose(
        losses(shuffled, Muon(0.2), [20])[0], losses(problem, Muon(0.2), [20])[0][order], rtol=1e-11
    )
    halves = Problem.from_frequencies(np.repeat(problem.group_frequencies / 2, 2), 4, 0.1)
    np.testing.assert_allclose(losses(halves, Muon(0.2), [20])[0][::2], losses(problem, Muon(0.2), [20])[0], rtol=1e-11)
    both = losses(problem, Muon(np.array([0.1, 0.2])), [20])[0]
    np.testing.assert_allclose(both[1], losses(problem, Muon(0.2), [20])[0], rtol=1e-12)


def test_schedules():
    problem = Problem.power_law(1.5, 4, 8, 0.1)
    values = np.linspace(0.5, 0.01, 20)
    by_schedule, by_function = (
        losses(problem, Muon(rate), [20]) for rate in (Schedule(values), lambda step: float(values[step]))
    )
    np.testing.assert_array_equal(by_schedule, by_function)
    for rate, message in (
        (Schedule(values), "a schedule of at least 21 steps"),
        (-0.1, "learning_rate must be finite"),
    ):
        with pytest.raises(ArgumentError, match=message):
            losses(problem, Muon(rate), [21])


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_the_matrix_sign_has_no_scale_and_no_null_mode(scale):
    matrix = np.random.default_rng(0).normal(size=(6, 6))
    matrix -= matrix.mean(axis=0)
    sign = matrix_sign(scale * matrix)
    np.testing.assert_allclose(sign, matrix_sign(matrix), atol=1e-13)
    np.testing.assert_allclose(sign.sum(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(matrix_sign(matrix.T), sign.T, atol=1e-13)
    np.testing.assert_array_equal(matrix_sign(np.zeros((3, 3))), np.zeros((3, 3)))

"""Normalised, sign, adaptive and minibatch methods: published values, the full run, limits."""

import itertools

import numpy as np
import pytest

from solvable.associative_memory.elementwise import (
    adam_step,
    margin_runs,
    normalized_step,
    random_sign_step,
    sign_step,
)
from solvable.associative_memory.minibatch import batch_losses
from solvable.associative_memory.problem import Problem
from solvable.associative_memory.retrieval import loss
from solvable.associative_memory.spectral import two_cycle_margin
from solvable.errors import ArgumentError
from solvable.training import Adam

pytestmark = pytest.mark.x64_independent


def losses(problem, step, rate, steps):
    runs = list(itertools.islice(margin_runs(problem, step, rate, max(steps)), max(steps) + 1))
    return np.array([loss(problem.n_items, problem.label_noise, runs[number].margin) for number in steps])


def test_published_normalised_descent():
    problem = Problem.power_law(1.5, 8, 32)
    total = losses(problem, normalized_step(problem), 1.0, [100, 200, 400]) @ problem.group_frequencies
    np.testing.assert_allclose(total, [0.4524167606217444, 0.0022283174315529675, 8.124469404570713e-09], rtol=1e-11)


def test_late_normalised_descent_is_exponential():
    problem = Problem.power_law(1.5, 8, 32)
    total = losses(problem, normalized_step(problem), 1.0, [400, 401]) @ problem.group_frequencies
    assert np.log(total[0] / total[1]) == pytest.approx(1 / np.sqrt(255), rel=1e-4)


def test_published_adam():
    frequencies = 1 / np.arange(1.0, 33)
    for noise, adam, items, expected in (
        (0.2, Adam(0.05, 0.9, 0.95, 1e-3), [0, 15, 31], [1.158778154669, 1.204359512667, 1.294505883891]),
        (0.0, Adam(0.05, 0.9, 0.999, 1e-8), [0, 31], [0.109919352981, 0.109926393425]),
        (0.2, Adam(0.05, 0.0, 0.0, 0.0), [0, 15, 31], [1.1572329] * 3),
    ):
        problem = Problem.from_frequencies(frequencies / frequencies.sum(), 1, noise)
        measured = losses(problem, adam_step(problem, adam), 0.05, [80])[0, items]
        np.testing.assert_allclose(measured, expected, rtol=1e-8 if adam.b1 == 0 else 1e-11)


def test_adam_is_the_full_run():
    problem, adam = Problem.power_law(1.3, 6, 1, 0.1), Adam(0.05, 0.9, 0.95, 1e-4)
    size = 6
    labels = 0.9 * np.eye(size) + 0.1 / size
    scores, mean, square = (np.zeros((size, size)) for _ in range(3))
    for number in range(1, 31):
        weights = np.exp(scores)
        gradient = (weights / weights.sum(axis=0) - labels) * problem.frequencies
        mean, square = adam.b1 * mean + (1 - adam.b1) * gradient, adam.b2 * square + (1 - adam.b2) * gradient**2
        scores -= 0.05 * (mean / (1 - adam.b1**number)) / (np.sqrt(square / (1 - adam.b2**number)) + adam.eps)
    full = np.log(np.exp(scores).sum(axis=0)) - (labels * scores).sum(axis=0)
    np.testing.assert_allclose(losses(problem, adam_step(problem, adam), 0.05, [30])[0], full, rtol=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_sign_descent_is_the_cycle_at_twice_the_rate(noise):
    problem, steps = Problem.power_law(1.5, 5, 7, noise), np.arange(50)
    runs = [state.margin for state in margin_runs(problem, sign_step, 0.11, 49)]
    expected = two_cycle_margin(0.22, float(problem.optimal_margin), steps)
    np.testing.assert_allclose(runs, np.repeat(expected[:, None], 5, axis=1), atol=1e-12)


def test_published_sign_descent_in_a_random_basis():
    frequencies = 1 / np.arange(1.0, 129)
    problem = Problem.from_frequencies(frequencies / frequencies.sum())
    gains = random_sign_step(problem)(np.full(128, 1 - 1 / 128))
    expected = [63.654024257, 41.046100866, 29.886258882, 9.008374817, 0.782908588]
    np.testing.assert_allclose(gains[[0, 1, 2, 10, 127]], expected, atol=6e-10)
    grouped = Problem.power_law(1.5, 8, 16)
    total = losses(grouped, random_sign_step(grouped), 0.008, [30, 60, 90, 120]) @ grouped.group_frequencies
    np.testing.assert_allclose(total, [1.93179, 0.75876, 0.23993, 0.04103], rtol=2e-4)


def test_random_signs_at_high_and_low_effective_rank():
    """Many equal items: sqrt(2/pi) K g/|g|; one that dominates: 2 K/pi."""
    many = Problem.from_frequencies(np.full(4, 0.25), 5000)
    gain = random_sign_step(many)(np.ones(4))
    np.testing.assert_allclose(gain, np.sqrt(2 / np.pi) * np.sqrt(20_000), rtol=1e-3)
    one = Problem.from_frequencies([1 - 1e-9, 1e-9])
    assert random_sign_step(one)(np.ones(2))[0] == pytest.approx(2 * 2 / np.pi, rel=1e-6)


def test_published_minibatches():
    problem = Problem.power_law(1.5, 8, 16)
    groups = batch_losses(problem, 0.25, 64, [10, 20, 40])
    np.testing.assert_allclose(groups @ problem.group_frequencies, [3.34752, 2.05148, 0.94174], atol=6e-6)
    assert groups[2, 7] == pytest.approx(3.988, abs=6e-4)
    everything = batch_losses(problem, 0.25, 10**9, [20])[0]
    np.testing.assert_allclose(everything, loss(128, problem.label_noise, np.asarray(5.0)), rtol=1e-12)
    with pytest.raises(ArgumentError, match="no theory"):
        batch_losses(Problem.power_law(1.5, 8, 16, 0.1), 0.25, 64, [10])

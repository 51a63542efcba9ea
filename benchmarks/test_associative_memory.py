"""Reduced Muon against the full matrix, and a full step against a plain NumPy loop and optax in a Python loop."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from solvable import associative_memory as am

LARGE = am.Problem.power_law(1.5, 64, 1024)  # K = 65,536
MIDDLE = am.Problem.power_law(1.5, 32, 32)  # K = 1024
SMALL = am.Problem.power_law(1.5, 8, 32)  # K = 256
RATE, STEPS, FEW = 0.1, 200, 5
QUINTIC = {"polar": "newton_schulz", "momentum": 0.95, "nesterov": True, "convention": "optax", "eps": 1e-8}


def gradient(problem, scores, xp):
    """The gradient of the loss in the scores of noiseless labels, as a user would write it."""
    top = scores.max(axis=0)
    answered = xp.exp(scores - top)
    answered = answered / answered.sum(axis=0)
    return (answered - xp.eye(scores.shape[0])) * np.repeat(problem.frequencies, problem.group_size)


def loss(problem, scores):
    top = scores.max(axis=0)
    losses = top + np.log(np.exp(scores - top).sum(axis=0)) - np.diagonal(scores)
    return float(losses @ np.repeat(problem.frequencies, problem.group_size))


def numpy_loop(problem, steps):
    """Muon in the basis of the task with NumPy's SVD."""
    scores = np.zeros((problem.n_items, problem.n_items))
    for _ in range(steps):
        u, s, vt = np.linalg.svd(gradient(problem, scores, np))
        scores = scores - RATE * (u * (s > 1e-13 * s[0])) @ vt
    return loss(problem, scores)


@pytest.fixture(scope="module")
def optax_loop():
    """Optax's Muon in a Python loop, its step compiled."""
    method = optax.contrib.muon(RATE)

    @jax.jit
    def step(scores, state):
        updates, state = method.update(gradient(SMALL, scores, jnp), state, scores)
        return optax.apply_updates(scores, updates), state

    def run(steps):
        scores = jnp.zeros((SMALL.n_items, SMALL.n_items))
        state = method.init(scores)
        for _ in range(steps):
            scores, state = step(scores, state)
        return loss(SMALL, np.asarray(scores))

    return run


@pytest.fixture(scope="module", autouse=True)
def _table(medians, add_table):
    yield
    get = lambda name: medians.get(name, math.nan)  # noqa: E731  (one line, used below)
    add_table(
        "Muon, reduced",
        [
            ("K = 65,536, 200 steps", "K = 1024, a step", "full, a step", "ratio"),
            (f"{get('large'):.2f} s", f"{1e3 * get('middle') / STEPS:.2f} ms", f"{1e3 * get('full') / FEW:.0f} ms",
             f"{get('full') / FEW / (get('middle') / STEPS):.0f}x"),
        ],
    )  # fmt: skip
    rows = [("full step, K = 256", "solvable", "the other", "ratio")]
    for title, ours, other in (
        ("against a NumPy SVD loop", "svd", "numpy"),
        ("Newton-Schulz, against optax in a loop", "quintic", "optax"),
    ):
        rows.append(
            (
                title,
                f"{1e3 * get(ours) / FEW:.1f} ms",
                f"{1e3 * get(other) / FEW:.1f} ms",
                f"{get(other) / get(ours):.1f}x",
            )
        )
    rows.append(("compiling a first run", f"{get('first') - get('svd'):.1f} s", "", ""))
    add_table("Muon, full matrix (ours with random rotations, 4 more products)", rows)


def full(problem, algorithm, steps):
    """One replicate of the full matrix."""
    return float(am.simulate(problem, algorithm, steps=[steps], seed=0, replicates=1).mean.loss[0])


def test_reduced_large(timed):
    timed("large", lambda: am.predict(LARGE, am.Muon(RATE), steps=[STEPS]), rounds=3)


def test_reduced_middle(timed):
    timed("middle", lambda: am.predict(MIDDLE, am.Muon(RATE), steps=[STEPS]), rounds=3)


def test_full(timed):
    measured = timed("full", lambda: full(MIDDLE, am.Muon(RATE), FEW), rounds=1)
    assert measured == pytest.approx(float(am.predict(MIDDLE, am.Muon(RATE), steps=[FEW]).loss[0]), rel=1e-10)


def test_first_run(timed):
    timed("first", lambda: full(SMALL, am.Muon(RATE), FEW), rounds=1, warmup=0)


def test_svd(timed):
    measured = timed("svd", lambda: full(SMALL, am.Muon(RATE), FEW), rounds=5)
    assert measured == pytest.approx(numpy_loop(SMALL, FEW), rel=1e-10)


def test_numpy(timed):
    timed("numpy", lambda: numpy_loop(SMALL, FEW), rounds=5)


def test_quintic(timed, optax_loop):
    measured = timed("quintic", lambda: full(SMALL, am.Muon(RATE, **QUINTIC), FEW), rounds=5)
    assert measured == pytest.approx(optax_loop(FEW), rel=1e-8)


def test_optax(timed, optax_loop):
    timed("optax", lambda: optax_loop(FEW), rounds=5)

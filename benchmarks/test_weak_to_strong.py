"""A surface of student risks against point-by-point calls, and the simulator against training by mini-batch SGD."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from solvable import weak_to_strong as w2s
from solvable.weak_to_strong.generations import direct_labels, draw_features, fit

WIDTHS, RIDGES = np.geomspace(20, 2000, 40), np.geomspace(1e-3, 100, 20)
INFINITE = w2s.Problem.power_law(1.5, 0.6, 0.3)
WORLD = w2s.Problem.power_law(1.5, 0.8, 0.25, n_modes=800)
PAIR = {"teacher": w2s.Stage(100, 60, ridge=0.1), "student": w2s.Stage(200, 150, ridge=1.0)}
REPLICATES, DRAWS, ACCURACY, BATCH = 64, 4, 0.01, 10


def surface():
    teacher = w2s.Stage(500, WIDTHS, ridge=0.1)
    student = w2s.Stage(1000, WIDTHS[:, None], ridge=RIDGES[:, None, None])
    return w2s.predict(INFINITE, teacher=teacher, student=student).student_excess_risk


def points(count):
    """The first points of the surface, one call each."""
    risks = []
    for ridge, student, teacher in list(np.ndindex(20, 40, 40))[:count]:
        pair = {
            "teacher": w2s.Stage(500, WIDTHS[teacher], ridge=0.1),
            "student": w2s.Stage(1000, WIDTHS[student], ridge=RIDGES[ridge]),
        }
        risks.append(float(w2s.predict(INFINITE, **pair).student_excess_risk))
    return risks


@partial(jax.jit, static_argnames=("steps",))
def descend(key, design, labels, ridge, steps):
    """Mini-batch SGD on the ridge loss: a constant rate, with the second half of the iterates averaged."""
    n, p = design.shape
    rate = 0.5 / (jnp.max(jnp.sum(design**2, axis=1)) + ridge / n)

    def step(number, state):
        weights, mean = state
        rows = jax.random.randint(jax.random.fold_in(key, number), (BATCH,), 0, n)
        error = design[rows] @ weights - labels[rows]
        weights = weights - rate * (design[rows].T @ error / BATCH + ridge / n * weights)
        return weights, mean + jnp.where(number >= steps // 2, weights, 0.0) * 2 / steps

    return jax.lax.fori_loop(0, steps, step, (jnp.zeros(p), jnp.zeros(p)))[1]


def trained(steps):
    """Student risks of a few draws: exact where `steps` is None, else by SGD."""
    target = np.sqrt(WORLD.modes.explicit().target_power)
    scale = jnp.asarray(np.sqrt(WORLD.modes.explicit().eigenvalues))
    risks = []
    for number in range(DRAWS):
        function, noise = jnp.asarray(target), jnp.asarray(0.25)
        for key, stage in zip(jax.random.split(jax.random.key(number), 2), PAIR.values(), strict=True):
            feature_key, data_key, sgd_key = jax.random.split(key, 3)
            features = draw_features(feature_key, stage.n_features, scale)
            design, labels = direct_labels(data_key, features, scale, function, noise, stage.n_samples)
            ridge = jnp.asarray(stage.ridge)
            weights = (
                fit(design, labels, ridge, "eigh") if steps is None else descend(sgd_key, design, labels, ridge, steps)
            )
            function, noise = features.T @ weights, jnp.asarray(0.0)
        risks.append(float(jnp.sum((function - target) ** 2)))
    return np.array(risks)


def steps_needed():
    """Smallest power of two at which SGD's mean risk is within the accuracy of the exact one."""
    exact, steps = trained(None).mean(), 2**10
    while abs(trained(steps).mean() / exact - 1) > ACCURACY and steps < 2**20:
        steps *= 2
    return steps


@pytest.fixture(scope="module", autouse=True)
def _table(medians, add_table):
    yield
    whole, few = medians.get("surface", math.nan), medians.get("points", math.nan) * WIDTHS.size**2 * RIDGES.size / 64
    add_table(
        "student risk at 40 x 40 x 20 points, infinite world",
        [
            ("one call", "a call per point (from 64)", "ratio"),
            (f"{whole:.2f} s", f"{few:.0f} s", f"{few / whole:.0f}x"),
        ],
    )
    ours, sgd = medians.get("simulate", math.nan) / REPLICATES, medians.get("sgd", math.nan) / DRAWS
    add_table(
        f"teacher and student trained, 800 modes, per replicate (SGD: {medians.get('steps', 0)} steps, within 1%)",
        [
            ("simulate", "mini-batch SGD", "ratio"),
            (f"{1e3 * ours:.1f} ms", f"{1e3 * sgd:.0f} ms", f"{sgd / ours:.0f}x"),
        ],
    )


def test_surface(timed):
    assert timed("surface", surface, rounds=5).shape == (20, 40, 40)


def test_points(timed):
    risks = timed("points", lambda: points(64), rounds=3)
    np.testing.assert_allclose(risks, surface().ravel()[:64], rtol=1e-11)


def test_simulate(timed):
    timed("simulate", lambda: w2s.simulate(WORLD, **PAIR, seed=0, replicates=REPLICATES), rounds=5)


def test_sgd(timed, medians):
    steps = steps_needed()
    medians["steps"] = steps
    timed("sgd", lambda: trained(steps), rounds=3)

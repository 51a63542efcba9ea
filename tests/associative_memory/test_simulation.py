"""The full matrix: equal to every exact reduction, optax's methods, Gaussian embeddings, batches, single precision."""

import sys

import jax
import numpy as np
import optax
import pytest

from solvable import associative_memory as am
from solvable import compare
from solvable.errors import ArgumentError, MemoryLimitError

pytestmark = pytest.mark.x64_independent
STEPS = np.array([0, 1, 7, 24])
NESTEROV = {"momentum": 0.95, "nesterov": True}
QUINTIC = {"polar": "newton_schulz", **NESTEROV}
ALGORITHMS = {
    "gradient descent": am.GradientDescent(3.0),
    "normalised": am.NormalizedGradientDescent(0.5),
    "sign": am.SignDescent(0.11),
    "adam": am.Adam(0.05, 0.9, 0.99, 1e-4),
    "muon": am.Muon(0.31),
    "momentum": am.Muon(0.1, **NESTEROV),
    "optax's momentum": am.Muon(0.1, momentum=0.9, nesterov=True, convention="optax"),
    "regularised": am.Muon(0.3, regularization=0.01, weight_decay=0.05),
    "newton-schulz": am.Muon(0.1, **QUINTIC, eps=1e-7),
}


def problem(noise, shape=(3, 4)):
    return am.Problem.power_law(1.5, *shape, noise)


def assert_equal(theory, measured, rtol=1e-10):
    for name in am.OBSERVABLES.base:
        np.testing.assert_allclose(measured.mean[name], theory.observables[name], rtol=rtol, err_msg=name)
        np.testing.assert_array_equal(measured.sem[name], 0)


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_full_matrix_is_its_reduction(name, noise):
    """In randomly rotated coordinates, of more dimensions than items."""
    world, algorithm = problem(noise), ALGORITHMS[name]
    dimension = None if name in ("sign", "adam") else 15
    theory = am.predict(world, algorithm, steps=STEPS)
    assert theory.declared.validity == "exact"
    measured = am.simulate(world, algorithm, steps=STEPS, dimension=dimension, seed=3)
    assert_equal(theory, measured)
    assert compare(theory, measured).verdict == "agree"


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_numbers_broadcast_and_schedules_run(noise):
    world = problem(noise)
    grid = am.Muon(np.array([[0.1], [0.3]]), momentum=np.array([0.0, 0.5, 0.9]))
    assert_equal(am.predict(world, grid, steps=STEPS), am.simulate(world, grid, steps=STEPS, seed=0))
    schedule = am.Muon(lambda step: 0.4 / (1 + step))
    assert_equal(am.predict(world, schedule, steps=STEPS), am.simulate(world, schedule, steps=STEPS, seed=0))


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("nesterov", [True, False])
def test_the_muon_of_optax_matches(noise, nesterov):
    world = problem(noise, (4, 8))
    algorithm = am.Muon(0.1, **{**QUINTIC, "nesterov": nesterov}, convention="optax", eps=1e-8)
    theirs = optax.contrib.muon(0.1, beta=0.95, nesterov=nesterov, eps=1e-8)
    measured = am.simulate(world, theirs, steps=[1, 40], seed=0, replicates=2)
    for name in am.OBSERVABLES.base:
        theory = am.predict(world, algorithm, steps=[1, 40]).observables[name]
        np.testing.assert_allclose(measured.mean[name], theory, rtol=1e-10)


def test_any_transformation_of_optax_runs():
    world = problem(0.1)
    schedule = optax.linear_schedule(4.0, 1.0, 20)
    measured = am.simulate(world, optax.sgd(schedule), steps=[20], seed=0, replicates=2)
    theory = am.predict(world, am.GradientDescent(lambda step: 4.0 - 3.0 * step / 20), steps=[20])
    np.testing.assert_allclose(measured.mean.loss, theory.loss, rtol=1e-7)  # optax's schedules are float32
    chained = optax.chain(optax.clip_by_global_norm(0.1), optax.adamw(0.05))
    assert float(am.simulate(world, chained, steps=[20], seed=0, replicates=2).mean.loss[0]) < np.log(12)


def test_products_alone_compute_the_same_polar_factor():
    world = problem(0.1)
    measured = am.simulate(world, am.Muon(0.3), steps=STEPS, polar_method="matmul", seed=0)
    assert_equal(am.predict(world, am.Muon(0.3), steps=STEPS), measured)


@pytest.mark.parametrize(("noise", "rtol"), [(0.0, 1e-4), (0.2, 1e-5)])
def test_single_precision_keeps_tiny_losses(noise, rtol):
    """Noiseless losses reach 1e-13 here, where the usual form of the loss has no digit left from 1e-7 on."""
    world, steps = problem(noise, (8, 8)), [10, 60, 120]
    theory = am.predict(world, am.Muon(0.3), steps=steps)
    measured = am.simulate(world, am.Muon(0.3), steps=steps, seed=0, dtype="float32")
    np.testing.assert_allclose(measured.mean.loss, theory.loss, rtol=rtol)
    if not noise:
        assert theory.loss[-1] < 1e-12


def test_the_matrix_sign_is_found_where_divide_and_conquer_fails():
    """LAPACK's usual SVD does not converge on some matrix of this run, after 68 steps."""
    world, algorithm = problem(0.0, (8, 16)), am.Muon(0.1926676679706881)
    measured = am.simulate(world, algorithm, steps=[67, 74], seed=0)
    assert not measured.failed.any()
    np.testing.assert_allclose(measured.mean.loss, am.predict(world, algorithm, steps=[67, 74]).loss, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "steps", "published"),
    [
        (am.Muon(0.25), 24, {1: 0.493, 2: 0.284, 8: 0.168, 64: 0.1450}),
        (am.GradientDescent(5.0), 200, {1: 0.2861, 2: 0.2296, 8: 0.1929, 64: 0.1830}),
    ],
)
def test_published_gaussian_embeddings(test_seed, algorithm, steps, published):
    """Published numbers come without errors: taken for single draws; false alarms below 1e-3 in all.

    A weak test by nature: it finds a bias of five times the spread of a draw. The next one is sharp.
    """
    for ratio, expected in published.items():
        measured = gaussian(algorithm, steps, ratio, test_seed, 32)
        spread = float(measured.sem.loss[0]) * np.sqrt(1 + 32)
        assert abs(float(measured.mean.loss[0]) - expected) < 4.6 * spread + 5e-4


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "steps"), [(am.Muon(0.25), 24), (am.GradientDescent(5.0), 200)])
def test_gaussian_embeddings_approach_orthonormal_ones(test_seed, algorithm, steps):
    """The loss is too large by order K/d: from d/K = 8 to 64 the gap falls by 8, here by 4 to 20."""
    theory = float(am.predict(problem(0.0, (8, 8)), algorithm, steps=[steps]).loss[0])
    runs = [gaussian(algorithm, steps, ratio, test_seed, 64) for ratio in (8, 64)]
    (wide, wide_error), (narrow, narrow_error) = (
        (float(run.mean.loss[0]) - theory, float(run.sem.loss[0])) for run in runs
    )
    assert narrow > 3 * narrow_error
    assert (wide + 4 * wide_error) / (narrow - 3 * narrow_error) > 4
    assert (wide - 4 * wide_error) / (narrow + 4 * narrow_error) < 20


def gaussian(algorithm, steps, ratio, seed, replicates):
    """Train on 64 items with Gaussian embeddings in d = 64 x ratio dimensions."""
    run = {"steps": [steps], "dimension": 64 * ratio, "embeddings": "gaussian"}
    return am.simulate(problem(0.0, (8, 8)), algorithm, **run, seed=seed, replicates=replicates)


def test_gaussian_embeddings_are_trained_in_the_span_of_the_items():
    """Methods that no rotation changes never leave it; optax's descent is trained in all dimensions."""
    run = {"steps": [1, 20], "dimension": 30, "embeddings": "gaussian", "seed": 3, "replicates": 2}
    thin, full = (am.simulate(problem(0.2), method, **run) for method in (am.GradientDescent(2.0), optax.sgd(2.0)))
    np.testing.assert_allclose(thin.mean.group_loss, full.mean.group_loss, rtol=1e-12)


def test_batches_of_noiseless_labels_are_as_predicted(test_seed):
    """Within 2% of the total loss, where a bias of 10% could not pass, and 6% of a group's."""
    world, run = problem(0.0, (8, 8)), {"steps": [10, 20], "batch_size": 64}
    theory = am.predict(world, am.Muon(0.25), **run)
    measured = am.simulate(world, am.Muon(0.25), **run, seed=test_seed, replicates=48)
    total = {"loss": (measured.mean.loss, measured.sem.loss, 48)}
    assert compare({"loss": theory.loss}, total, rtol=0.02, detectable=0.1).verdict == "agree"
    groups = np.abs(measured.mean.group_loss - theory.group_loss)
    assert (groups < 0.06 * theory.group_loss + 6 * measured.sem.group_loss).all()


@pytest.mark.slow
def test_batches_of_noisy_labels_do_not_average_their_noise(test_seed):
    """The matrix sign of a batch is biased: without batches the excess after as many steps is below 1e-3."""
    world, run = problem(0.2, (8, 8)), {"steps": [400], "replicates": 2, "seed": test_seed}
    excesses = [am.simulate(world, am.Muon(0.1), batch_size=b, **run).mean.excess_risk[0] for b in (16, 256, None)]
    assert excesses[0] > excesses[1] > 0.1
    assert excesses[2] < 1e-3


@pytest.mark.slow
def test_sign_descent_in_a_random_basis(test_seed):
    """The mean field holds to 1.2% of the total loss in the descent (published), and to 6% in the last group."""
    world, algorithm = problem(0.0, (8, 16)), am.SignDescent(0.008, basis="random")
    run = {"steps": [30, 60, 90]}
    measured = am.simulate(world, algorithm, **run, seed=test_seed, replicates=16)
    published = [1.92275, 0.75220, 0.23680]
    errors = np.array([0.00088, 0.00069, 0.00054])
    assert (np.abs(measured.mean.loss - published) < 4.5 * np.hypot(errors, measured.sem.loss)).all()
    theory = am.predict(world, algorithm, **run)
    sizes = {"loss": 0.02, "excess_risk": 0.02, "group_loss": 0.08}
    assert compare(theory, measured, finite_size=sizes, detectable=0.25).verdict == "agree"


def test_replicates_depend_on_their_number_alone():
    world, keys = problem(0.0), {"steps": [5], "embeddings": "gaussian", "dimension": 30}
    few, many = (am.simulate(world, am.Muon(0.3), **keys, seed=5, replicates=count) for count in (1, 2))
    with jax.enable_x64(True):
        both = [jax.random.fold_in(jax.random.key(5), i) for i in range(2)]
        drawn = [float(am.draw(key, world, am.Muon(0.3), **keys)["loss"][0]) for key in both]
    assert float(few.mean.loss[0]) == pytest.approx(drawn[0], rel=1e-12)
    assert float(many.mean.loss[0]) == pytest.approx(np.mean(drawn), rel=1e-12)
    assert np.isnan(few.sem.loss[0])


def test_optax_is_imported_only_when_used(monkeypatch):
    monkeypatch.setitem(sys.modules, "optax", None)
    am.simulate(problem(0.0), am.Muon(0.3), steps=[1], seed=0)
    with pytest.raises(ImportError, match="optax"):
        am.simulate(problem(0.0), optax.sgd(1.0), steps=[1], seed=0, replicates=2)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"dimension": 11}, ArgumentError, "dimension must be at least the number of items, 12, .*; got 11"),
        ({"dimension": 0}, ArgumentError, "dimension must be an integer >= 1; got 0"),
        ({"embeddings": "sparse"}, ArgumentError, "embeddings must be one of"),
        ({"batch_size": 0}, ArgumentError, "batch_size must be an integer >= 1"),
        ({"polar_method": "qr"}, ArgumentError, "polar_method must be one of"),
        ({"steps": [3, 3]}, ArgumentError, "steps must be strictly increasing"),
        ({"algorithm": "muon"}, ArgumentError, "algorithm must be one of .* or an optax.GradientTransformation"),
        ({"algorithm": am.Muon(0.1, polar="qr")}, ArgumentError, "polar must be one of"),
        ({"algorithm": am.Muon(0.0)}, ArgumentError, r"learning_rate must be finite and > 0; got \[0.0\]"),
        ({"seed": -1}, ArgumentError, "seed must be an integer >= 0"),
        ({"max_bytes": 1000.0}, MemoryLimitError, "make the problem smaller"),
    ],
)
def test_bad_input_is_refused(arguments, error, message):
    given = {"algorithm": am.Muon(0.1), "steps": [3], "seed": 0, **arguments}
    with pytest.raises(error, match=message):
        am.simulate(problem(0.0), **given)

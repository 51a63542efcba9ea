"""Limits and identities of the predictor, as properties over random problems."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from solvable import random_features as rf

pytestmark = pytest.mark.x64_independent

INFINITE = rf.Problem.power_law(1.5, 0.4, 0.02)
sizes = st.floats(2.0, 1e5)
ridges = st.floats(-10, 3).map(lambda exponent: 10.0**exponent)
controls = st.fixed_dictionaries({"n_samples": sizes, "n_features": sizes, "ridge": ridges})


@st.composite
def problems(draw):
    """A few levels with multiplicities, some of eigenvalue zero."""
    count = draw(st.integers(2, 6))
    rows = st.lists(st.floats(1e-4, 10.0), min_size=count, max_size=count)
    eigenvalues = np.array(draw(rows))
    return eigenvalues, np.array(draw(rows)), np.array(draw(rows)), draw(st.floats(0.0, 2.0))


def build(eigenvalues, power, counts, noise):
    return rf.Problem.from_arrays(eigenvalues, power, noise, multiplicities=np.ceil(counts * 20))


def check_equal(one, other, names, rel=1e-11):
    for name in names:
        assert float(one.observables[name]) == pytest.approx(float(other.observables[name]), rel=rel, abs=1e-300), name


@given(problem=problems(), at=controls)
def test_published_forms(problem, at):
    """Upsilon and chi of arXiv:2405.15699, where they are stable."""
    world = build(*problem)
    theory = rf.predict(world, **at)
    n, p = at["n_samples"], at["n_features"]
    nu1, nu2 = float(theory.diagnostics.nu1), float(theory.diagnostics.nu2)
    x, counts, power = world.modes.eigenvalues, world.modes.multiplicities, world.modes.target_power
    df1, df2 = np.sum(counts * x / (x + nu2)), np.sum(counts * (x / (x + nu2)) ** 2)
    assume(min(n, p) > 1.01 * df1)  # their subtractions lose digits beyond
    upsilon = p / n * ((1 - nu1 / nu2) ** 2 + (nu1 / nu2) ** 2 * df2 / (p - df2))
    chi = np.sum(counts * x / (x + nu2) ** 2) / (p - df2)
    bias = nu2**2 * np.sum(power * (1 + chi * x) / (x + nu2) ** 2) / (1 - upsilon)
    assert float(theory.bias) == pytest.approx(bias, rel=1e-9)
    assert float(theory.variance) == pytest.approx(problem[3] * upsilon / (1 - upsilon), rel=1e-9)


@given(problem=problems(), at=controls, factor=st.floats(1e-3, 1e3))
def test_scaling_the_kernel_and_the_ridge(problem, at, factor):
    eigenvalues, power, counts, noise = problem
    one = rf.predict(build(eigenvalues, power, counts, noise), **at)
    other = rf.predict(build(factor * eigenvalues, power, counts, noise), **{**at, "ridge": factor * at["ridge"]})
    check_equal(one, other, ("bias", "variance", "train_error", "gcv", "degrees_of_freedom"), rel=1e-9)
    assert float(other.squared_norm) * factor == pytest.approx(float(one.squared_norm), rel=1e-9)


@given(problem=problems(), at=controls)
def test_splitting_a_level_changes_nothing(problem, at):
    eigenvalues, power, counts, noise = problem
    whole = np.ceil(counts * 20)
    one = rf.Problem.from_arrays(eigenvalues, power, noise, whole)
    split = rf.Problem.from_arrays(
        np.append(eigenvalues, eigenvalues[0]),
        np.append(power, 0.7 * power[0]) - np.append(0.7 * power[0], np.zeros(len(power))),
        noise,
        np.append(whole, 0.25 * whole[0]) - np.append(0.25 * whole[0], np.zeros(len(power))),
    )
    check_equal(rf.predict(one, **at), rf.predict(split, **at), rf.OBSERVABLES.names)


@given(problem=problems(), at=controls, null_power=st.floats(1e-3, 3.0))
def test_a_null_mode_is_label_noise(problem, at, null_power):
    eigenvalues, power, counts, noise = problem
    whole = np.ceil(counts * 20)
    noisy = rf.predict(rf.Problem.from_arrays(eigenvalues, power, noise + null_power, whole), **at)
    padded = rf.Problem.from_arrays(
        np.append(eigenvalues, 0.0), np.append(power, null_power), noise, np.append(whole, 1.0)
    )
    check_equal(noisy, rf.predict(padded, **at), ("test_error", "train_error", "squared_norm"))


@given(problem=problems(), at=controls)
def test_training_error_and_objective(problem, at):
    """0 <= train <= label power; objective = n train + ridge norm, and its ridge derivative is the norm."""
    world = build(*problem)
    theory = rf.predict(world, **at)
    n, ridge = at["n_samples"], at["ridge"]
    nu1, nu2 = float(theory.diagnostics.nu1), float(theory.diagnostics.nu2)
    x, power, noise = world.modes.eigenvalues, world.modes.target_power, problem[3]
    objective = ridge * (nu2 / nu1 * np.sum(power / (x + nu2)) + noise / nu1)
    assert n * float(theory.train_error) + ridge * float(theory.squared_norm) == pytest.approx(objective, rel=1e-9)
    assert 0 <= float(theory.train_error) <= np.sum(power) + noise + 1e-12
    assert float(theory.train_error) == pytest.approx((ridge / (n * nu1)) ** 2 * float(theory.test_error), rel=1e-9)


def test_derivative_of_the_objective_is_the_norm():
    at = {"n_samples": 120.0, "n_features": 150.0}
    step = 1e-4

    def objective(ridge):
        theory = rf.predict(INFINITE, **at, ridge=ridge)
        return at["n_samples"] * float(theory.train_error) + ridge * float(theory.squared_norm)

    slope = (objective(0.5 + step) - objective(0.5 - step)) / (2 * step)
    assert slope == pytest.approx(float(rf.predict(INFINITE, **at, ridge=0.5).squared_norm), rel=1e-7)


@given(n=sizes, ridge=ridges)
def test_infinite_width_is_the_limit_of_wide(n, ridge):
    kernel = rf.predict(INFINITE, n_samples=n, ridge=ridge)
    wide = rf.predict(INFINITE, n_samples=n, n_features=1e16, ridge=ridge)
    check_equal(kernel, wide, rf.OBSERVABLES.names, rel=1e-9)
    df2 = float(kernel.degrees_of_freedom) - float(delta_at(kernel))
    assert float(kernel.variance) == pytest.approx(0.02 * df2 / (n - df2), rel=1e-8)


def delta_at(theory):
    from solvable.ridge import spectral_sums

    return spectral_sums(INFINITE.modes.nodes(np), np.atleast_1d(theory.diagnostics.nu2), np).delta[0]


@given(p=sizes, ridge=ridges.filter(lambda ridge: ridge > 1e-6))
def test_infinite_samples_are_the_limit_of_many(p, ridge):
    infinite = rf.predict(INFINITE, n_samples=math.inf, n_features=p, ridge_per_sample=ridge)
    many = rf.predict(INFINITE, n_samples=1e14, n_features=p, ridge_per_sample=ridge)
    assert float(infinite.variance) == 0
    check_equal(infinite, many, ("bias", "train_error", "test_error", "degrees_of_freedom"), rel=1e-8)


@given(p=st.floats(2.0, 1e4))
def test_infinite_samples_without_ridge_project_on_the_features(p):
    theory = rf.predict(INFINITE, n_samples=math.inf, n_features=p, ridge=0.0)
    nu2 = float(theory.diagnostics.nu2)
    nodes = INFINITE.modes.nodes(np)
    assert float(theory.degrees_of_freedom) == pytest.approx(p, rel=1e-11)
    assert float(theory.bias) == pytest.approx(nu2 * np.sum(nodes.target_power / (nodes.eigenvalues + nu2)), rel=1e-11)


@pytest.mark.parametrize(("n", "p"), [(200.0, 80.0), (80.0, 200.0)])
def test_ridgeless_closed_forms(n, p):
    theory = rf.predict(INFINITE, n_samples=n, n_features=p, ridge=0.0)
    nu2, delta = float(theory.diagnostics.nu2), float(delta_at(theory))
    nodes = INFINITE.modes.nodes(np)
    b1 = np.sum(nodes.target_power / (nodes.eigenvalues + nu2))
    if p < n:
        assert float(theory.diagnostics.nu1) == 0
        assert float(theory.bias) == pytest.approx(n * nu2 * b1 / (n - p), rel=1e-11)
        assert float(theory.variance) == pytest.approx(0.02 * p / (n - p), rel=1e-11)
        assert float(theory.train_error) == pytest.approx((n - p) / n * (nu2 * b1 + 0.02), rel=1e-11)
    else:
        assert float(theory.train_error) == 0
        gap = (p - n) * delta / (p - n + delta)
        assert float(theory.test_error) == pytest.approx(n * (float(missed(theory)) + 0.02) / gap, rel=1e-11)


def missed(theory):
    """(1 - phi) sum beta^2 t + phi sum beta^2 t^2 with p > n at ridge 0, where b = (p - n)/p."""
    nu2 = float(theory.diagnostics.nu2)
    n, p = (float(theory.controls[name]) for name in ("n_samples", "n_features"))
    nodes, delta = INFINITE.modes.nodes(np), delta_at(theory)
    t = nu2 / (nodes.eigenvalues + nu2)
    return (delta * np.sum(nodes.target_power * t) + (p - n) * np.sum(nodes.target_power * t**2)) / (p - n + delta)


def test_the_peak_at_equal_sizes():
    """For ridge -> 0 at n = p the test error grows like ridge^-1/2."""
    n, ridge = 100.0, 1e-12
    theory = rf.predict(INFINITE, n_samples=n, n_features=n, ridge=ridge)
    edge = rf.predict(INFINITE, n_samples=n, n_features=math.inf, ridge=0.0)
    nodes, nu2 = INFINITE.modes.nodes(np), float(edge.diagnostics.nu2)
    b1 = np.sum(nodes.target_power / (nodes.eigenvalues + nu2))
    asymptote = (nu2 * b1 + 0.02) * 0.5 * math.sqrt(n * nu2 / ridge)
    assert float(theory.test_error) == pytest.approx(asymptote, rel=1e-4)


def test_infinite_ridge_learns_nothing():
    theory = rf.predict(INFINITE, n_samples=50, n_features=70, ridge=1e30)
    total = np.sum(INFINITE.modes.nodes(np).target_power)
    assert float(theory.bias) == pytest.approx(total, rel=1e-12)
    assert float(theory.variance) == pytest.approx(0, abs=1e-50)
    assert float(theory.squared_norm) == pytest.approx(0, abs=1e-25)


@given(n=st.floats(1.0, 39.0), k=st.just(40))
def test_isotropic_interpolation(n, k):
    world = rf.Problem.from_arrays([1.0], [2.0], 0.3, multiplicities=[k])
    under = rf.predict(world, n_samples=n, ridge=0.0)
    assert float(under.bias) == pytest.approx(2 * (1 - n / k), rel=1e-12)
    assert float(under.variance) == pytest.approx(0.3 * n / (k - n), rel=1e-12)
    over = rf.predict(world, n_samples=k + n, ridge=0.0)
    assert float(over.bias) == 0
    assert float(over.variance) == pytest.approx(0.3 * k / n, rel=1e-12)


def test_singular_points_are_values():
    world = rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=50)
    assert rf.predict(INFINITE, n_samples=100, n_features=100, ridge=0.0).excess_risk == math.inf
    edge = rf.predict(world, n_samples=50, ridge=0.0)
    assert (float(edge.bias), float(edge.variance)) == (0.0, math.inf)
    assert float(edge.train_error) == 0
    quiet = rf.predict(rf.Problem.power_law(1.5, 0.4, 0.0, n_modes=50), n_samples=50, ridge=0.0)
    assert float(quiet.excess_risk) == 0
    least_squares = rf.predict(world, n_samples=80, n_features=50, ridge=0.0)
    assert float(least_squares.variance) == pytest.approx(0.01 * 50 / 30, rel=1e-12)
    assert float(least_squares.bias) == 0
    sweep = rf.predict(INFINITE, n_samples=100, n_features=[50, 100, 200], ridge=[[0.0], [1e-3]])
    assert np.isfinite(sweep.excess_risk).tolist() == [[True, False, True], [True, True, True]]


def test_ridge_per_sample_is_ridge_over_n():
    at = {"n_samples": np.array([10.0, 1000.0]), "n_features": 50}
    one = rf.predict(INFINITE, **at, ridge=0.1 * at["n_samples"])
    other = rf.predict(INFINITE, **at, ridge_per_sample=0.1)
    assert one.bias == pytest.approx(other.bias, rel=1e-14)

"""The predictor's manners: input checks, tables, tracing."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from solvable import random_features as rf
from solvable.errors import ArgumentError, ResolutionError

WORLD = rf.Problem.power_law(1.5, 0.4, 0.01)


@pytest.mark.x64_independent
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_samples": 0}, r"^n_samples must be > 0; got \[0.0\]"),
        ({"n_samples": math.nan}, "^n_samples must be > 0"),
        ({"n_features": -3}, "^n_features must be > 0"),
        ({"ridge": -1e-9}, "^ridge must be finite and >= 0"),
        ({"ridge": math.nan}, "^ridge must be finite and >= 0"),
        ({"ridge": math.inf}, "^ridge must be finite and >= 0"),
        ({"ridge": None}, "exactly one of ridge and ridge_per_sample"),
        ({"ridge_per_sample": 0.1}, "exactly one of ridge and ridge_per_sample"),
        ({"n_samples": [1, 2, 3], "ridge": [0.1, 0.2]}, "must broadcast"),
    ],
)
def test_bad_controls_are_named(change, message):
    with pytest.raises(ArgumentError, match=message):
        rf.predict(WORLD, **({"n_samples": 10, "n_features": 10, "ridge": 0.1} | change))


@pytest.mark.x64_independent
@pytest.mark.parametrize("noise", [-0.1, math.nan, math.inf, [0.1, 0.2]])
def test_bad_noise_is_named(noise):
    with pytest.raises(ArgumentError, match="^noise_variance must be"):
        rf.Problem.power_law(1.5, 0.4, noise)


@pytest.mark.x64_independent
def test_unresolved_points_raise_and_are_nan_under_a_trace():
    with pytest.raises(ResolutionError, match="1 of 2 points"):
        rf.predict(WORLD, n_samples=[100, 1e17], ridge=0.0)
    value = jax.jit(lambda n: rf.predict(WORLD, n_samples=n, ridge=0.0).bias)(1e17)
    assert np.isnan(float(value))
    assert rf.predict(WORLD.truncate(10**6), n_samples=1e17, ridge=0.0).bias == 0


@pytest.mark.x64_independent
def test_tables():
    theory = rf.predict(WORLD, n_samples=[10, 20, 30], n_features=[[5], [6]], ridge=0.1)
    frame = theory.to_dataframe()
    assert frame.shape == (6, 3 + len(rf.OBSERVABLES.names))
    assert frame.n_features.tolist() == [5, 5, 5, 6, 6, 6]
    assert "excess_risk" in dir(theory)
    assert "bias" in repr(theory)
    with pytest.raises(AttributeError, match="no entry 'bais'"):
        _ = theory.bais


def test_gradients_match_differences_in_every_number():
    def risk(capacity, source, noise, n, p, ridge):
        problem = rf.Problem.power_law(capacity, source, noise)
        return rf.predict(problem, n_samples=n, n_features=p, ridge=ridge).excess_risk

    at = (1.5, 0.4, 0.05, 100.0, 60.0, 0.03)
    with jax.enable_x64(True):
        reverse = jax.jit(jax.grad(risk, argnums=range(6)))(*at)
        forward = jax.jit(jax.jacfwd(risk, argnums=range(6)))(*at)
    for i, value in enumerate(at):
        step = 1e-5 * value
        ends = [float(risk(*at[:i], value + sign * step, *at[i + 1 :])) for sign in (-1, 1)]
        difference = (ends[1] - ends[0]) / (2 * step)
        assert float(reverse[i]) == pytest.approx(difference, rel=1e-6)
        assert float(forward[i]) == pytest.approx(float(reverse[i]), rel=1e-10)


def test_gradients_in_eigenvalues_and_target_power():
    eigenvalues, power = np.array([0.2, 1.0, 0.05]), np.array([0.5, 1.0, 0.3])

    def risk(eigenvalues, power):
        problem = rf.Problem.from_arrays(eigenvalues, power, 0.1)
        return rf.predict(problem, n_samples=4.0, n_features=6.0, ridge=0.03).excess_risk

    with jax.enable_x64(True):
        slopes = jax.jit(jax.grad(risk, argnums=(0, 1)))(jnp.asarray(eigenvalues), jnp.asarray(power))
    for position, slope in enumerate(slopes):
        for i in range(3):
            ends = []
            for sign in (-1, 1):
                arrays = [eigenvalues.copy(), power.copy()]
                arrays[position][i] += sign * 1e-6
                ends.append(float(risk(*arrays)))
            assert float(slope[i]) == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-6)


def test_second_derivative_in_log_ridge():
    """Against differences, at 800 modes, n = 100, p = 200, ridge 0.01, noise variance 0.01."""
    problem = rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=800)

    def log_risk(log_ridge):
        return jnp.log(rf.predict(problem, n_samples=100.0, n_features=200.0, ridge=jnp.exp(log_ridge)).excess_risk)

    with jax.enable_x64(True):
        curvature = float(jax.jit(jax.hessian(log_risk))(jnp.log(0.01)))
        step = 1e-3
        values = np.asarray(jax.vmap(log_risk)(jnp.log(0.01) + jnp.asarray([-step, 0.0, step])))
    assert curvature == pytest.approx((values[0] - 2 * values[1] + values[2]) / step**2, rel=1e-4)


def test_risk_at_ridge_zero_is_differentiable_from_above():
    def risk(ridge):
        return rf.predict(WORLD, n_samples=100.0, n_features=60.0, ridge=ridge).excess_risk

    with jax.enable_x64(True):
        slope = float(jax.grad(risk)(0.0))
    assert slope == pytest.approx((float(risk(1e-7)) - float(risk(0.0))) / 1e-7, rel=1e-4)


def test_vmap_and_jit_agree_with_numpy():
    n = np.geomspace(10, 1e4, 7)
    expected = rf.predict(WORLD, n_samples=n, n_features=100.0, ridge=1e-2).bias
    with jax.enable_x64(True):
        one = jax.jit(lambda n: rf.predict(WORLD, n_samples=n, n_features=100.0, ridge=1e-2).bias)
        assert np.asarray(one(jnp.asarray(n))) == pytest.approx(expected, rel=1e-12)
        assert np.asarray(jax.vmap(one)(jnp.asarray(n))) == pytest.approx(expected, rel=1e-12)


def test_problems_pass_through_jit():
    table = rf.Problem.from_arrays([1.0, 0.5], [0.3, 0.2], 0.01)
    for problem in (WORLD, table):
        value = jax.jit(lambda world: rf.predict(world, n_samples=10.0, ridge=0.1).bias)(problem)
        assert float(value) == pytest.approx(float(rf.predict(problem, n_samples=10.0, ridge=0.1).bias), rel=1e-6)

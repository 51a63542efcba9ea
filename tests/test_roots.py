"""The root finder: hostile functions, exact brackets, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from solvable.roots import TOLERANCE, decreasing_root


def cubic(u, shared, lanes):
    (level,) = lanes
    return level - u**3, -3 * u**2


def step_like(u, shared, lanes):
    """Flat far from the root: plain Newton leaves every bracket."""
    (level,) = lanes
    return -np.tanh(20 * (u - level)), -20 / np.cosh(20 * (u - level)) ** 2


def solve(function, level, lower, upper, start):
    lanes = np.atleast_1d(np.asarray(level, float))
    ends = (np.full(lanes.shape, float(v)) for v in (lower, upper, start))
    low, high, first = ends
    return decreasing_root(function, None, (lanes,), lower=low, upper=high, start=first, xp=np)


@pytest.mark.x64_independent
def test_lanes_are_independent_of_their_company():
    levels = np.array([1e-9, 0.5, 1.0, 8.0, 999.0])
    together = solve(cubic, levels, 0, 10, 5)
    assert together.value == pytest.approx(np.cbrt(levels), rel=1e-12)
    alone = [solve(cubic, level, 0, 10, 5).value[0] for level in levels]
    assert together.value.tolist() == alone


@pytest.mark.x64_independent
@pytest.mark.parametrize("level", [-2.9, 0.0, 0.37, 2.999])
def test_flat_functions_fall_back_to_bisection(level):
    with np.errstate(all="ignore"):
        root = solve(step_like, level, -3, 3, -3)
    assert root.value[0] == pytest.approx(level, abs=1e-12)
    assert root.residual[0] < TOLERANCE


@pytest.mark.x64_independent
@pytest.mark.parametrize("start", [0.0, 2.0, 17.0])
def test_roots_at_the_ends_of_the_bracket(start):
    assert solve(cubic, 8.0, 2, 10, start).value[0] == pytest.approx(2, rel=1e-12)
    assert solve(cubic, 8.0, 1, 2, start).value[0] == pytest.approx(2, rel=1e-12)


def test_derivatives_of_the_traced_root():
    def root(level):
        ends = (jnp.asarray(v, level.dtype) for v in (0.1, 10.0, 3.0))
        low, high, first = ends
        return decreasing_root(cubic, None, (level,), lower=low, upper=high, start=first, xp=jnp).value

    with jax.enable_x64(True):
        at = jnp.asarray(8.0, jnp.float64)
        assert float(root(at)) == pytest.approx(2, rel=1e-14)
        assert float(jax.grad(root)(at)) == pytest.approx(1 / 12, rel=1e-13)
        assert float(jax.jacfwd(root)(at)) == pytest.approx(1 / 12, rel=1e-13)
        assert float(jax.hessian(root)(at)) == pytest.approx(-1 / 144, rel=1e-12)
        values = jax.vmap(root)(jnp.asarray([1.0, 27.0], jnp.float64))
        assert np.asarray(values) == pytest.approx([1, 3], rel=1e-14)

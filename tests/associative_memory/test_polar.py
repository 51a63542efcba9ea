"""The polar factor: symmetries, null modes, three algorithms, derivatives where singular values meet."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from solvable import associative_memory as am
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent
EXACT = pytest.mark.parametrize("method", ["svd", "matmul"])


def matrix(rows=6, columns=6, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns))


def rank_two():
    return matrix(6, 2) @ matrix(2, 6, seed=1)


@EXACT
@pytest.mark.parametrize("shape", [(6, 6), (3, 5), (5, 3)])
def test_it_is_an_isometry_and_makes_the_matrix_symmetric(method, shape):
    given = matrix(*shape)
    factor = am.polar_factor(given, method)
    small = min(shape)
    gram = factor @ factor.T if shape[0] == small else factor.T @ factor
    np.testing.assert_allclose(gram, np.eye(small), atol=1e-12)
    symmetric = factor.T @ given
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-12)
    assert (np.linalg.eigvalsh(symmetric) > -1e-12).all()


@EXACT
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_scale_transpose_and_rotation(method, scale):
    given, factor = matrix(), am.polar_factor(matrix(), method)
    rotation, _ = np.linalg.qr(matrix(seed=2))
    np.testing.assert_allclose(am.polar_factor(scale * given, method), factor, atol=1e-12)
    np.testing.assert_allclose(am.polar_factor(-scale * given.T, method), -factor.T, atol=1e-12)
    np.testing.assert_allclose(am.polar_factor(rotation @ given, method), rotation @ factor, atol=1e-12)


@pytest.mark.parametrize("method", ["svd", "matmul", "newton_schulz"])
def test_zero_stays_zero(method):
    np.testing.assert_array_equal(am.polar_factor(np.zeros((3, 4)), method), 0)


def test_null_modes_stay_null():
    factor = am.polar_factor(rank_two())
    np.testing.assert_allclose(np.linalg.svd(factor)[1], [1, 1, 0, 0, 0, 0], atol=1e-12)
    by_products = am.polar_factor(rank_two(), "matmul")
    u, _, vt = np.linalg.svd(rank_two())
    np.testing.assert_allclose(u[:, :2].T @ by_products @ vt[:2].T, np.eye(2), atol=1e-12)


def test_gradients_of_a_memory_have_a_null_mode():
    """Columns sum to 0, and so do those of the sign: a constant vector is no singular direction of its."""
    problem = am.Problem.power_law(1.5, 5)
    residuals = (np.eye(5) - 0.2) * problem.frequencies
    np.testing.assert_allclose(am.polar_factor(residuals).sum(axis=0), 0, atol=1e-14)


def test_batches_regularisation_and_the_quintic():
    batch = np.stack([matrix(seed=seed) for seed in range(3)])
    softness = np.array([0.0, 0.5, 2.0])
    factors = am.polar_factor(batch, regularization=softness)
    for one, factor, soft in zip(batch, factors, softness, strict=True):
        u, s, vt = np.linalg.svd(one)
        np.testing.assert_allclose(factor, u * (s / np.hypot(s, soft)) @ vt, atol=1e-13)
    values = np.linalg.svd(am.polar_factor(batch, "newton_schulz"))[1]
    assert 0.6 < values.min() < 0.9 < values.max() < 1.25
    for method in ("svd", "matmul"):
        np.testing.assert_allclose(am.polar_factor(batch, method)[1], am.polar_factor(batch[1], method), atol=1e-13)


def test_numpy_in_numpy_out_and_single_precision():
    given = matrix().astype(np.float32)
    assert isinstance(am.polar_factor(given), np.ndarray)
    traced = am.polar_factor(jnp.asarray(given))
    assert isinstance(traced, jax.Array)
    assert traced.dtype == jnp.float32
    np.testing.assert_allclose(traced, am.polar_factor(given), atol=2e-5)


def test_single_precision_drops_null_modes_too():
    traced = am.polar_factor(jnp.asarray(rank_two(), jnp.float32))
    np.testing.assert_allclose(np.linalg.svd(traced)[1], [1, 1, 0, 0, 0, 0], atol=1e-5)


def points():
    """Matrices at which naive derivatives of an SVD are infinite or lose digits, and a plain one."""
    rotation, _ = np.linalg.qr(matrix(4, 4, seed=3))
    return {
        "distinct": matrix(4, 4),
        "equal": 2.0 * rotation,
        "a pair": rotation @ np.diag([3.0, 1.0, 1.0, 0.5]),
        "wide": matrix(3, 5),
        "tall": matrix(5, 3),
    }


@pytest.mark.parametrize("softness", [0.0, 0.7])
@pytest.mark.parametrize("name", points())
def test_derivatives_against_differences(name, softness):
    point = points()[name]
    change = matrix(*point.shape, seed=7)
    step = 1e-5
    ahead, behind = (am.polar_factor(point + s * step * change, regularization=softness) for s in (1, -1))
    with jax.enable_x64(True):
        _, tangent = jax.jvp(
            lambda a: am.polar_factor(a, regularization=softness), (jnp.asarray(point),), (jnp.asarray(change),)
        )
        weight = jnp.asarray(matrix(*point.shape, seed=8))
        pulled = jax.grad(lambda a: (am.polar_factor(a, regularization=softness) * weight).sum())(jnp.asarray(point))
    np.testing.assert_allclose(tangent, (ahead - behind) / (2 * step), atol=2e-9)
    assert np.vdot(pulled, change) == pytest.approx(np.vdot(tangent, weight), rel=1e-12)


def test_derivative_in_the_regularisation():
    given, soft, step = matrix(), 0.4, 1e-5
    expected = (
        am.polar_factor(given, regularization=soft + step) - am.polar_factor(given, regularization=soft - step)
    ) / (2 * step)
    with jax.enable_x64(True):
        slope = jax.jacfwd(lambda s: am.polar_factor(jnp.asarray(given), regularization=s))(soft)
    np.testing.assert_allclose(slope, expected, atol=1e-9)


def test_derivatives_on_fixed_rank():
    """Along changes that keep the rank, null modes contribute f/s of the living ones alone."""
    left, right = matrix(6, 2), matrix(2, 6, seed=1)
    change, step = matrix(6, 2, seed=4), 1e-5
    ahead, behind = (am.polar_factor((left + s * step * change) @ right) for s in (1, -1))
    with jax.enable_x64(True):
        _, tangent = jax.jvp(am.polar_factor, (jnp.asarray(left @ right),), (jnp.asarray(change @ right),))
    np.testing.assert_allclose(tangent, (ahead - behind) / (2 * step), atol=1e-8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: am.polar_factor(matrix(), "qr"), "method must be one of"),
        (lambda: am.polar_factor(np.zeros(3)), "matrix must be of shape"),
        (lambda: am.polar_factor(matrix(), regularization=-1.0), "regularization must be >= 0"),
        (lambda: am.polar_factor(matrix(), "matmul", regularization=1.0), "regularization must be 0 unless"),
        (lambda: am.polar_factor(np.full((2, 2), np.nan)), "matrix must be finite"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()

"""The matrix sign U sgn(S) V^T of A = U S V^T, and S/sqrt(S^2 + lambda^2) in place of sgn(S), with derivatives.

The derivative of an odd function f of singular values is, in the singular bases (Sylvester's equation, written out;
this form with lambda and with null modes is derived here): symmetric parts of U^T dA V are multiplied by
(f_i - f_j)/(s_i - s_j), antisymmetric ones by (f_i + f_j)/(s_i + s_j). Both are written without differences, and stay
finite where singular values are equal.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from solvable.errors import require
from solvable.precision import Array, is_traced, namespace

METHODS = ("svd", "matmul", "newton_schulz")
QUINTIC = (3.4445, -4.7750, 2.0315)  # of Newton-Schulz as Muon is usually run
NULL = 1e-13  # singular values below this times the largest count as 0: columns of the gradients here sum to 0
_NULL_SINGLE = 1e-6  # the same in float32
_GROW, _POLISH = 24, 6  # steps of the quintic, which lifts 1e-13 to order 1, then of a rule that converges to 1


def polar_factor(matrix: Any, method: str = "svd", *, regularization: Any = 0.0) -> Array:
    """Return the matrix sign.

    Args:
        matrix: shape (..., rows, columns), finite; NumPy arrays give NumPy arrays, JAX arrays and tracers JAX arrays.
        method: "svd"; "matmul", which uses matrix products alone, for accelerators; or "newton_schulz", the usual five
            quintic steps, which leave singular values between 0.7 and 1.2, and small ones small.
        regularization: lambda >= 0 of the "svd" method, shape (...).

    Returns:
        U f(S) V^T, of the matrix's shape. Null modes stay 0 by "svd"; by "matmul", singular values below 1e-13 of the
        norm (1e-6 in float32) come out anywhere between 0 and 1. Derivatives are finite at equal singular values; they
        take the rank as given.

    Raises:
        ArgumentError: for an unknown method, entries that are not finite, a negative lambda, or a lambda with another
            method.

    Example:
        >>> import numpy as np
        >>> from solvable.associative_memory import polar_factor
        >>> polar_factor(np.array([[3.0, 0.0], [0.0, -1e-5]])).tolist()
        [[1.0, 0.0], [0.0, -1.0]]
    """
    require(method in METHODS, "method", f"one of {METHODS}", method)
    require(np.ndim(matrix) >= 2, "matrix", "of shape (..., rows, columns)", np.shape(matrix))
    if not is_traced(regularization):
        alone = method == "svd" or not np.any(regularization)
        require(alone, "regularization", "0 unless method is 'svd'", regularization)
        require(bool(np.all(np.asarray(regularization) >= 0)), "regularization", ">= 0", regularization)
    values = matrix if isinstance(matrix, jax.Array) else np.asarray(matrix, dtype=np.float64)
    if not is_traced(values):
        bad = np.asarray(values)[~np.isfinite(values)]
        require(bad.size == 0, "matrix", "finite", bad[:3].tolist())
    if method == "svd":
        return matrix_sign(values, regularization)
    if method == "newton_schulz":
        return newton_schulz(values / _safe(_norm(values)), QUINTIC, 5)
    return _by_products(values)


def matrix_sign(matrix: Array, regularization: Any = 0.0) -> Array:
    """Return the matrix sign by singular values, in NumPy or JAX."""
    if namespace(matrix, regularization) is np and not isinstance(matrix, jax.Array):
        u, s, vt = _concrete_svd(matrix)
        return (u * _mapped(s, np.asarray(regularization), np)[..., None, :]) @ vt
    scale = jnp.broadcast_to(jnp.asarray(regularization, matrix.dtype), matrix.shape[:-2])
    return _traced_sign(matrix, scale)


def newton_schulz(matrix: Array, coefficients: tuple[float, float, float], iterations: int) -> Array:
    """Apply s <- a s + b s^3 + c s^5 to the singular values, some times."""
    a, b, c = coefficients
    for _ in range(iterations):
        gram = matrix @ matrix.mT
        matrix = a * matrix + (b * gram + c * (gram @ gram)) @ matrix
    return matrix


def _concrete_svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Decompose by divide and conquer; by QR, which is several times slower, where that does not converge."""
    try:
        u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:
        from scipy.linalg import svd

        flat = matrix.reshape(-1, *matrix.shape[-2:])
        parts = zip(*(svd(one, full_matrices=False, lapack_driver="gesvd") for one in flat), strict=True)
        u, s, vt = (np.reshape(part, (*matrix.shape[:-2], *np.shape(part)[1:])) for part in map(np.stack, parts))
    return u, s, vt


def _traced_svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Do the same in JAX, where a failure is nan; accelerators have other algorithms."""
    plain = partial(jax.lax.linalg.svd, full_matrices=False)

    def robust(matrix: Array) -> Any:
        first = plain(matrix)
        safely = partial(plain, algorithm=jax.lax.linalg.SvdAlgorithm.QR)
        good = jnp.isfinite(first[1]).all() | ~jnp.isfinite(matrix).all()
        return jax.lax.cond(good, lambda _: first, safely, matrix)

    u, s, vt = jax.lax.platform_dependent(matrix, cpu=robust, default=plain)
    return u, s, vt


def _by_products(matrix: Array) -> Array:
    grown = newton_schulz(matrix / _safe(_norm(matrix)), QUINTIC, _GROW)
    return newton_schulz(grown, (15 / 8, -10 / 8, 3 / 8), _POLISH)


def _norm(matrix: Array) -> Array:
    """Frobenius norm whose squares neither overflow nor vanish."""
    xp = np if isinstance(matrix, np.ndarray) else jnp
    top = _safe(xp.max(xp.abs(matrix), axis=(-2, -1), keepdims=True))
    return top * xp.sqrt(xp.sum((matrix / top) ** 2, axis=(-2, -1), keepdims=True))


def _safe(size: Array) -> Array:
    xp = np if isinstance(size, np.ndarray) else jnp
    return xp.where(size == 0, xp.ones_like(size), size)


def _alive(s: Array) -> Array:
    null = NULL if s.dtype == np.float64 else _NULL_SINGLE
    return s > null * s[..., :1]


def _mapped(s: Array, regularization: Array, xp: Any) -> Array:
    """Return f(s) = s/sqrt(s^2 + lambda^2), 0 for null modes."""
    alive = _alive(s)
    size = xp.hypot(s, regularization[..., None])
    return xp.where(alive, s, 0.0) / xp.where(alive, size, 1.0)


@jax.custom_jvp
def _traced_sign(matrix: Array, regularization: Array) -> Array:
    u, s, vt = _traced_svd(matrix)
    return (u * _mapped(s, regularization, jnp)[..., None, :]) @ vt


@_traced_sign.defjvp
def _sign_derivative(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (matrix, regularization), (change, softening) = primals, tangents
    u, s, vt = _traced_svd(matrix)
    f = _mapped(s, regularization, jnp)
    size = jnp.where(_alive(s), jnp.hypot(s, regularization[..., None]), jnp.inf)
    inner = u.mT @ change @ vt.mT
    even, odd = (inner + inner.mT) / 2, (inner - inner.mT) / 2
    symmetric, antisymmetric = _divided(s, size, regularization)
    faded = -s * regularization[..., None] * softening[..., None] / size**3
    core = symmetric * even + antisymmetric * odd + faded[..., None, :] * jnp.eye(s.shape[-1], dtype=s.dtype)
    ratio = 1 / size  # f/s, for parts of the change outside the singular spaces
    left = change @ vt.mT - u @ inner
    right = u.mT @ change - inner @ vt
    tangent = u @ core @ vt + (left * ratio[..., None, :]) @ vt + u @ (ratio[..., :, None] * right)
    return (u * f[..., None, :]) @ vt, tangent


def _divided(s: Array, size: Array, regularization: Array) -> tuple[Array, Array]:
    """Return (f_i - f_j)/(s_i - s_j) and (f_i + f_j)/(s_i + s_j); null modes have infinite size."""
    alive = jnp.isfinite(size)
    finite = jnp.where(alive, size, 1.0)
    own, other = s[..., :, None], s[..., None, :]
    h, k = finite[..., :, None], finite[..., None, :]
    square = jnp.square(regularization)[..., None, None]
    mixed = own * k + other * h
    safe = jnp.where(mixed == 0, 1.0, mixed)
    symmetric = square * (own + other) / (h * k * safe)
    antisymmetric = mixed / (h * k * jnp.where(own + other == 0, 1.0, own + other))
    both = alive[..., :, None] & alive[..., None, :]
    one = alive[..., :, None] != alive[..., None, :]
    single = 1 / jnp.where(alive[..., :, None], h, k)  # f/s of the living one of a pair
    return (
        jnp.where(both, symmetric, jnp.where(one, single, 0.0)),
        jnp.where(both, antisymmetric, jnp.where(one, single, 0.0)),
    )

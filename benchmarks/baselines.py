"""What a careful user would write without the library: a root finder per point, and one Cholesky per ridge."""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq, minimize_scalar

from benchmarks.grid import Point

MAX_ITERATIONS = 100_000


def closed_form(x, power, noise, n, p, nu, kept, share) -> Point:
    """Evaluate bias, variance, training error and norm by explicit sums over modes.

    `nu` is the effective ridge nu2, `kept` is (n - df1)/n and `share` is (p - df1)/p.
    """
    inverse = 1 / (x + nu)
    s, t = x * inverse, nu * inverse
    df1, df2, delta = s.sum(), s @ s, s @ t
    phi = share / (share + delta / p)
    gap = kept + phi * delta / n
    missed = power @ t
    bias = ((1 - phi) * missed + phi * (power @ t**2)) / gap
    variance = noise * (phi * df2 + (1 - phi) * df1) / (n * gap)
    train_error = kept**2 * (bias + variance + noise)
    trace, learned = delta / nu, power @ (s * inverse)
    norm = (trace * (missed + noise) / n + kept * learned) / ((share + delta / p) * gap)
    return Point(bias, variance, train_error, norm)


def bracket(x, m, penalty) -> tuple[float, float]:
    """Bounds of log nu2, for m = min(n, p) and a ridge per sample."""
    return math.log(penalty), math.log(max(2 * x.sum() / m, 4 * penalty))


def brentq_plain(x, power, noise, n, p, ridge) -> Point:
    """Solve p ridge = nu2 (n - df1) (p - df1) as it stands, by Brent's method in log nu2."""

    def mismatch(u: float) -> float:
        nu = math.exp(u)
        df1 = (x / (x + nu)).sum()
        return nu * max(n - df1, 0.0) * max(p - df1, 0.0) - p * ridge

    nu = math.exp(brentq(mismatch, *bracket(x, min(n, p), ridge / n), xtol=1e-14))
    df1 = (x / (x + nu)).sum()
    return closed_form(x, power, noise, n, p, nu, (n - df1) / n, (p - df1) / p)


def brentq_point(x, power, noise, n, p, ridge) -> Point:
    """Solve the scalar equation in log nu by Brent's method in a rigorous bracket.

    The logarithm of the ratio of its sides is nearly linear, and the excess keeps the digits of n - df1 and p - df1.
    """
    m, w = min(n, p), max(n, p)
    imbalance, penalty = (w - m) / w, ridge / n

    def excess(nu: float) -> float:
        c = m * penalty / nu
        return 2 * c / (imbalance + math.sqrt(imbalance * imbalance + 4 * c / w))

    def mismatch(u: float) -> float:
        nu = math.exp(u)
        return math.log(((x / (x + nu)).sum() + excess(nu)) / m)

    nu = math.exp(brentq(mismatch, *bracket(x, m, penalty), xtol=1e-14))
    small, large = excess(nu) / m, excess(nu) / w + imbalance
    kept, share = (small, large) if n <= p else (large, small)
    return closed_form(x, power, noise, n, p, nu, kept, share)


def fixed_point(x, power, noise, n, p, ridge) -> tuple[Point, int]:
    """Iterate the two equations as they are printed, until both move by less than 1e-14; also return the iterations."""
    nu1 = nu2 = x.sum() / min(n, p) + ridge / n
    iterations, moved = 0, math.inf
    while moved >= 1e-14 and iterations < MAX_ITERATIONS:
        df1 = (x / (x + nu2)).sum()
        new1 = (ridge + nu1 * df1) / n
        new2 = nu1 + nu2 * df1 / p
        moved = max(abs(new1 - nu1), abs(new2 - nu2))
        nu1, nu2 = new1, new2
        iterations += 1
    return closed_form(x, power, noise, n, p, nu2, ridge / (n * nu1), nu1 / nu2), iterations


def sample(key, x, power, *, n: int, p: int):
    """Draw design, features and noiseless labels exactly as `random_features.draw` does."""
    scale, target = jnp.sqrt(x), jnp.sqrt(power)
    data_key, feature_key = jax.random.split(key)
    samples = jax.random.normal(data_key, (n, x.size), x.dtype)
    features = jax.random.normal(feature_key, (p, x.size), x.dtype) * scale / math.sqrt(p)
    return samples, features, samples @ target


def cholesky_draw(key, x, power, noise, ridges, *, n: int, p: int) -> dict[str, Any]:
    """Train with one Cholesky factorisation per ridge; everything that no ridge changes is computed once (p <= n)."""
    samples, features, labels = sample(key, x, power, n=n, p=p)
    target = jnp.sqrt(power)
    transposed = (
        features @ samples.T
    )  # of the design: XLA multiplies it about three times faster in this order on a CPU
    gram, moment = transposed @ transposed.T, features @ features.T
    projected, identity = transposed @ labels, jnp.eye(p, dtype=x.dtype)

    def one_ridge(ridge):
        factor = jax.scipy.linalg.cho_factor(gram + ridge * identity, lower=True)
        inverse = jax.scipy.linalg.cho_solve(factor, identity)
        a = inverse @ projected
        trace, trace_squared = jnp.trace(inverse), jnp.sum(inverse * inverse)
        spread = jnp.sum(moment * inverse) - ridge * jnp.sum((moment @ inverse) * inverse)
        residual = jnp.sum((labels - a @ transposed) ** 2)
        noise_left = n - p + ridge**2 * trace_squared
        return {
            "bias": jnp.sum((target - a @ features) ** 2),
            "variance": noise * spread,
            "train_error": (residual + noise * noise_left) / n,
            "squared_norm": a @ a + noise * (trace - ridge * trace_squared),
            "degrees_of_freedom": p - ridge * trace,
        }

    return jax.lax.map(one_ridge, ridges)


def floor_draw(key, x, power, *, n: int, p: int) -> Any:
    """Do only what cannot be avoided: design, Gram matrix, its eigenvectors, and reading them out (p <= n)."""
    samples, features, labels = sample(key, x, power, n=n, p=p)
    transposed = features @ samples.T
    values, vectors = jnp.linalg.eigh(transposed @ transposed.T)
    functions = vectors.T @ features
    return jnp.sum(functions) + jnp.sum(values) + jnp.sum(labels)


def random_numbers(key, x, power, *, n: int, p: int) -> Any:
    """Draw and sum: what the random numbers alone cost."""
    samples, features, labels = sample(key, x, power, n=n, p=p)
    return jnp.sum(samples) + jnp.sum(features) + jnp.sum(labels)


def relu_kernel(overlaps):
    """Population mean of products of ReLU features, whose weights have these cosines."""
    cosine = np.clip(overlaps, -1, 1)
    return (np.sqrt(1 - cosine**2) + cosine * (np.pi - np.arccos(cosine))) / (2 * np.pi)


def over_replicates(draw):
    """Compile a function of (seed, ...) that runs one replicate after another, keyed as the library does."""

    @partial(jax.jit, static_argnames=("replicates", "n", "p"))
    def run(seed, *operands, replicates: int, n: int, p: int):
        key = jax.random.key(seed)
        one = lambda i: draw(jax.random.fold_in(key, i), *operands, n=n, p=p)  # noqa: E731  (one line, one use)
        return jax.lax.map(one, np.arange(replicates, dtype=np.uint32))

    return run


def best_ridge_by_search(predict, n, p) -> float:
    """Smallest risk over ridges, by bounded search on one prediction at a time."""
    risk = lambda u: float(predict(n_samples=n, n_features=p, ridge=math.exp(u)).excess_risk)  # noqa: E731  (one use)
    return minimize_scalar(
        risk, bounds=(math.log(1e-9 * n), math.log(10 * n)), method="bounded", options={"xatol": 1e-6}
    ).fun

"""Losses of a question whose right answer leads all others by one margin z (arXiv:2602.05725; forms derived here).

With K answers and label noise alpha, q* = 1 - alpha + alpha/K is the probability of the right answer among labels,
z* = log(1 + K (1 - alpha)/alpha) the margin that gives it, and u = z* - z the shortfall:

    loss     = log(1 + (K - 1) e^-z) + alpha (1 - 1/K) z
    residual = q* - q(z) = q* (1 - q*) expm1(u) / (1 + (1 - q*) expm1(u)),   or 1/(1 + e^z/(K - 1)) for alpha = 0
    excess   = log(1 + (1 - q*) expm1(u)) - (1 - q*) u,                     or log(1 + (K - 1) e^-z)

Noisy quantities are functions of u: near the optimum z has lost the digits of the excess.
"""

import math

from solvable.precision import Array, namespace

_SMALL = 0.05  # shortfalls below which the excess is a series: the terms of its closed form nearly cancel


def doubt(n_items: int, label_noise: Array) -> Array:
    """Return 1 - q*, the probability of a wrong label."""
    return label_noise * (n_items - 1) / n_items


def optimal_margin(n_items: int, label_noise: Array) -> Array:
    """Return z*; inf where labels are noiseless."""
    xp = namespace(label_noise)
    safe = xp.where(label_noise > 0, label_noise, 1.0)
    return xp.where(label_noise > 0, xp.log1p(n_items * (1 - safe) / safe), math.inf)


def loss(n_items: int, label_noise: Array, margin: Array) -> Array:
    """Return the loss at a margin."""
    xp = namespace(label_noise, margin)
    return xp.log1p((n_items - 1) * xp.exp(-margin)) + doubt(n_items, label_noise) * margin


def residual(n_items: int, label_noise: Array, margin: Array, shortfall: Array) -> Array:
    """Return q* - q, how much probability the right answer still lacks."""
    xp = namespace(label_noise, margin)
    p = doubt(n_items, label_noise)
    finite = xp.where(label_noise > 0, shortfall, 0.0)
    # e^u overflows where the margin is far too small for tiny noise: divide through by it
    shrunk = xp.exp(-xp.maximum(finite, 0.0))
    grown = xp.where(finite > 0, -xp.expm1(-xp.maximum(finite, 0.0)), xp.expm1(xp.minimum(finite, 0.0)))
    noisy = p * (1 - p) * grown / (shrunk + p * grown)
    rest = (n_items - 1) * xp.exp(-margin)
    return xp.where(label_noise > 0, noisy, rest / (1 + rest))


def excess(n_items: int, label_noise: Array, margin: Array, shortfall: Array) -> Array:
    """Return the loss above its floor."""
    xp = namespace(label_noise, margin)
    p = doubt(n_items, label_noise)
    u = xp.where(label_noise > 0, shortfall, 0.0)
    small = xp.abs(u) < _SMALL
    wide = xp.where(small, 1.0, u)
    direct = wide * (1 - p) + xp.log(xp.exp(-wide) + p * -xp.expm1(-wide))
    noiseless = xp.log1p((n_items - 1) * xp.exp(-margin))
    return xp.where(label_noise > 0, xp.where(small, _series(p, xp.where(small, u, 0.0)), direct), noiseless)


def divergence(share: Array, distance: Array) -> Array:
    """Return p (e^d - 1 - d), of which a Kullback-Leibler divergence is the sum, for d = log(model/p); never < 0."""
    xp = namespace(share, distance)
    small = xp.abs(distance) < _SMALL
    near = xp.where(small, distance, 0.0)
    series = near * near / 2
    term = series
    for order in range(3, 10):
        term = term * near / order
        series = series + term
    far = xp.where(small, 1.0, distance)
    return share * xp.where(small, series, xp.expm1(far) - far)


def _series(p: Array, u: Array) -> Array:
    """Cumulants 2 to 8 of a Bernoulli variable: the excess is its cumulant generating function less the mean."""
    v, skew = p * (1 - p), 1 - 2 * p
    cumulants = (
        v,
        v * skew,
        v * (1 - 6 * v),
        v * skew * (1 - 12 * v),
        v * (1 - 30 * v + 120 * v * v),
        v * skew * (1 - 60 * v + 360 * v * v),
        v * (1 - 126 * v + 1680 * v * v - 5040 * v**3),
    )
    total = 0.0 * u
    for order, cumulant in reversed(list(enumerate(cumulants, 2))):
        total = total * u + cumulant / math.factorial(order)
    return total * u * u

"""What a bias costs: the failure rate of all instances of one bias, on nodes that serve every bias variance.

With tau of Gamma(beta/2, 1) and p the chance of one attempt, G_k(b) = E (1 - p(tau, b))^k. It does not depend on the
variance of b, so that one profile answers for every training size (derived here).

Rules: Gauss-Legendre panels in log tau and in log b. At a bias b, attempts fail again above the precision where
k p = 1; the transition there has width 1/log k in log tau, which sets the finer panels.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammainc, gammaln

from solvable.latent_difficulty.success import exact_success
from solvable.precision import Array

_COARSE, _FINE = 1.0, 0.5  # panel widths in log tau
_TRANSITION = 7.0  # and at most so many widths 1/log k of the transition
_TAU_ORDER, _BIAS_ORDER = 24, 16
_GROWTH, _DEVIATIONS = 0.6, 1.5  # panel widths in b: a share of b, and at most so many standard deviations
_REACH = 9.0  # standard deviations of b beyond the saddle
_BLOCK = 2**18  # elements at once


class Profile(NamedTuple):
    """Values at each bias (rows) and number of attempts (columns).

    Attributes:
        bias: b >= 0, shape (nodes,).
        weights: of an integral over b >= 0.
        log_failure: log G_k(b).
        success: 1 - G_k(b), without a subtraction.
        slope: -dG_k/dlog k over G_k, how fast the failure rate of this bias falls.
    """

    bias: Array
    weights: Array
    log_failure: Array
    success: Array
    slope: Array


def profile(difficulty_exponent: float, tolerance: float, attempts: Array, variances: Array) -> Profile:
    """Return the profile on nodes for all these variances of b and numbers of attempts.

    Args:
        difficulty_exponent: beta > 0.
        tolerance: t > 0, in units of the noise scale.
        attempts: k >= 1, shape (attempts,).
        variances: of b, > 0, shape (variances,), in units of the noise variance.
    """
    bias, weights = _bias_nodes(tolerance, variances, float(attempts.max()))
    return Profile(bias, weights, *at_biases(difficulty_exponent, tolerance, attempts, bias))


def at_biases(difficulty_exponent: float, tolerance: float, attempts: Array, bias: Array) -> tuple[Array, Array, Array]:
    """Return log failure rate, success rate and slope at given biases >= 0, each of shape (biases, attempts)."""
    shape = difficulty_exponent / 2
    u, log_weights, below = _precision_nodes(shape, tolerance, float(attempts.max()), float(bias.max()))
    root = np.exp(0.5 * u)
    values = np.empty((3, bias.size, attempts.size))
    rows = max(1, _BLOCK // u.size)
    for start in range(0, bias.size, rows):
        part = slice(start, start + rows)
        x, h = np.broadcast_arrays(bias[part, None] * root, tolerance * root)
        logs = exact_success(x, h).log_failure
        for column, k in enumerate(attempts):
            values[:, part, column] = _averages(k * logs, log_weights, below)
    return values[0], values[1], values[2]


def _averages(powers: Array, log_weights: Array, below: float) -> tuple[Array, Array, Array]:
    """Average e^powers over the precision, where a mass `below` the nodes always fails."""
    terms = powers + log_weights
    top = np.maximum(terms.max(axis=1), math.log(max(below, 1e-300)))
    terms -= top[:, None]
    np.exp(terms, out=terms)
    failure = terms.sum(axis=1) + below * np.exp(-top)
    slope = -np.einsum("ij,ij->i", powers, terms) / failure
    log_failure = top + np.log(failure)
    success = -np.expm1(log_failure)
    rare = success < 0.5
    success[rare] = -np.expm1(powers[rare]) @ np.exp(log_weights)
    return log_failure, success, slope


def _precision_nodes(shape: float, tolerance: float, most: float, widest: float) -> tuple[Array, Array, float]:
    """Return log tau, logarithms of weights with the Gamma density, and the mass below the first node."""
    first = -2 * math.log1p(most * tolerance) - min(45 / shape, 80.0) - 2
    last = math.log(750 + shape)
    turn = min(max(first, math.log(1 / max(widest, 1e-3) ** 2) - 2), last - 1)
    fine = min(_FINE, _TRANSITION / math.log(max(most, 2.0)))
    edges = np.concatenate([_edges(first, turn, _COARSE)[:-1], _edges(turn, last, fine)])
    u, weights = panels(edges, _TAU_ORDER)
    below = float(gammainc(shape, math.exp(first)))
    return u, np.log(weights) + shape * u - np.exp(u) - gammaln(shape), below


def _bias_nodes(tolerance: float, variances: Array, most: float) -> tuple[Array, Array]:
    """Return nodes and weights from 0 to well beyond the saddle of bias^2/2v + 2 log k/(bias - t)^2."""
    deviations = np.sqrt(np.sort(variances))
    ends = [saddle_bias(tolerance, float(d * d), math.log(most)) + _REACH * float(d) for d in deviations]
    edges = [0.0, 1e-3 * min(float(deviations[0]), tolerance, 1.0)]
    while edges[-1] < ends[-1]:
        narrowest = deviations[np.searchsorted(ends, edges[-1], side="right")]  # of those that reach so far
        edges.append(edges[-1] + min(_GROWTH * edges[-1], _DEVIATIONS * float(narrowest)))
    return panels(np.union1d(edges, [tolerance]), _BIAS_ORDER)


def saddle_bias(tolerance: float, variance: float, log_attempts: float) -> float:
    """Return the bias above t with bias (bias - t)^3 = 4 variance log k, which rules the tail of wrong instances."""
    target = 4 * variance * log_attempts
    if target == 0:
        return tolerance
    reach = tolerance + target ** (1 / 3) + target**0.25
    root = brentq(lambda b: b * (b - tolerance) ** 3 - target, tolerance, reach, rtol=1e-12)
    return float(root)


def panels(edges: Array, order: int) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss-Legendre rules between consecutive edges."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()


def _edges(first: float, last: float, width: float) -> Array:
    return np.linspace(first, last, max(1, math.ceil((last - first) / width)) + 1)

"""How the chance of success is spread over problems: families of mixtures, with first and second derivatives.

Every family gives log E p^c (1 - p)^(n - c), the likelihood of c correct of n attempts and, with c = 0, the failure
rate after n; n need not be a whole number. Parameters are logarithms (a logit for the share that is never solved), so
that any real number is allowed. Beta: closed form. The others: sums over fixed nodes, on which only the density depends
on the parameters, so that derivatives of any order are exact (derived here).
"""

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import betaln, digamma, erf, erfc, gammaln, polygamma

from solvable.latent_difficulty.profile import panels
from solvable.precision import Array

_LOWEST = -700.0  # log odds; below lies a mass of e^-700 shape
_BLOCK = 2**19  # nodes x cases at once
_PANEL, _ORDER = 2.5, 16  # panel width in standard deviations of what a problem's counts tell


class LogMean(NamedTuple):
    """A log mean with its derivatives in the parameters.

    Attributes:
        value: shape (cases,).
        gradient: shape (cases, parameters).
        hessian: shape (cases, parameters, parameters).
    """

    value: Array
    gradient: Array
    hessian: Array


class Family(ABC):
    """A distribution of chances over problems.

    Attributes:
        names: of the parameters.
        starts: points from which to maximise a likelihood.
    """

    names: ClassVar[tuple[str, ...]]
    starts: ClassVar[tuple[tuple[float, ...], ...]]

    @abstractmethod
    def log_mean(self, parameters: Array, attempts: Array, correct: Array) -> LogMean:
        """Return log E p^correct (1 - p)^(attempts - correct)."""


class Beta(Family):
    """p of Beta(shape, failure_shape); failure rates fall as k^-shape."""

    names = ("shape", "failure_shape")
    starts = ((-1.0, 0.0), (-1.0, 2.5), (0.5, 3.0))

    def log_mean(self, parameters: Array, attempts: Array, correct: Array) -> LogMean:
        """Return betaln(c + a, n - c + b) - betaln(a, b)."""
        a, b = np.exp(parameters)
        failed = attempts - correct
        value = betaln(correct + a, failed + b) - betaln(a, b)
        both, both2 = (digamma(attempts + a + b) - digamma(a + b), _trigamma(attempts + a + b) - _trigamma(a + b))
        own = np.stack([digamma(correct + a) - digamma(a), digamma(failed + b) - digamma(b)], axis=-1)
        own2 = np.stack([_trigamma(correct + a) - _trigamma(a), _trigamma(failed + b) - _trigamma(b)], axis=-1)
        scale = np.array([a, b])
        gradient = scale * (own - both[:, None])
        hessian = -both2[:, None, None] * np.outer(scale, scale) + np.eye(2) * (own2 * scale**2 + gradient)[:, None, :]
        return LogMean(value, gradient, hessian)


class ZeroInflatedBeta(Family):
    """A share of problems is never solved, the others follow `Beta`."""

    names = ("unsolvable", "shape", "failure_shape")
    starts = ((-2.0, -1.0, 2.5), (0.0, 0.0, 3.0))

    def log_mean(self, parameters: Array, attempts: Array, correct: Array) -> LogMean:
        """Mix the two."""
        logit, rest = parameters[0], Beta().log_mean(parameters[1:], attempts, correct)
        share = 1 / (1 + math.exp(-logit))
        cases = len(attempts)
        values = np.stack([np.where(correct == 0, 0.0, -np.inf), rest.value], axis=-1)
        gradients, hessians = np.zeros((cases, 2, 3)), np.zeros((cases, 2, 3, 3))
        gradients[:, 0, 0], gradients[:, 1, 0] = 1 - share, -share
        gradients[:, 1, 1:], hessians[:, 1, 1:, 1:] = rest.gradient, rest.hessian
        hessians[..., 0, 0] = -share * (1 - share)
        weights = np.array([-np.logaddexp(0, -logit), -np.logaddexp(0, logit)])
        return _mixed(values + weights, gradients, hessians)


class _OnNodes(Family):
    """A density of x on nodes where the chance p(x) is known; subclasses say how it depends on the parameters."""

    def __init__(self, most_attempts: float) -> None:
        """Lay nodes that resolve the counts of so many attempts."""
        self.x, self.weights = panels(self._edges(most_attempts), _ORDER)
        self.log_success, self.log_failure = self._chances(self.x)

    def log_mean(self, parameters: Array, attempts: Array, correct: Array) -> LogMean:
        """Sum over the nodes, some cases at a time."""
        density, gradient, hessian = self._log_density(parameters)
        squares = gradient[:, :, None] * gradient[:, None, :]
        derivatives = np.hstack([gradient, (hessian + squares).reshape(density.size, -1)])
        base = density + np.log(self.weights)
        rows = max(1, _BLOCK // density.size)
        parts = []
        for start in range(0, len(attempts), rows):
            c, n = (values[start : start + rows, None] for values in (correct, attempts))
            value, share = _normalised(base + c * self.log_success + (n - c) * self.log_failure)
            parts.append((value, share @ derivatives))
        values, means = (np.concatenate(part) for part in zip(*parts, strict=True))
        size = parameters.size
        second = means[:, size:].reshape(-1, size, size)
        return LogMean(values, means[:, :size], second - means[:, :size, None] * means[:, None, :size])

    def _edges(self, most_attempts: float) -> Array:
        """Panels as wide as counts are sharp: in log odds, their deviation is 1/sqrt(n p (1 - p))."""
        edges, top = [_LOWEST], math.log(most_attempts) + 8
        while edges[-1] < top:
            x = edges[-1]
            deviation = math.cosh(min(abs(x), top) / 2) * 2 / math.sqrt(most_attempts)
            edges.append(x + min(_PANEL * deviation, 6.0 if x < -top - 20 else 1.0))
        return np.array(edges)

    def _chances(self, x: Array) -> tuple[Array, Array]:
        """Return log p and log(1 - p) at log odds x."""
        return -np.logaddexp(0, -x), -np.logaddexp(0, x)

    @abstractmethod
    def _log_density(self, parameters: Array) -> tuple[Array, Array, Array]:
        """Return the log density at the nodes, its gradient and its Hessian in the parameters."""


class Kumaraswamy(_OnNodes):
    """Density a b p^(a - 1) (1 - p^a)^(b - 1); failure rates fall as k^-a."""

    names = ("shape", "failure_shape")
    starts = ((-1.0, 0.5), (-1.0, 2.0), (0.5, 3.0))

    def _log_density(self, parameters: Array) -> tuple[Array, Array, Array]:
        a, b = np.exp(parameters)
        z = a * self.log_success  # log p^a
        rest = np.log(-np.expm1(z))  # log(1 - p^a)
        odds = np.exp(z - rest)
        value = parameters.sum() + z + (b - 1) * rest + self.log_failure
        gradient = np.stack([1 + z - (b - 1) * z * odds, 1 + b * rest], axis=-1)
        first = z - (b - 1) * z * odds * (1 + z * (1 + odds))
        mixed = -b * z * odds
        return value, gradient, _symmetric(first, mixed, b * rest)


class LatentDifficulty(_OnNodes):
    """p = erf(t sqrt(tau/2)) with tau of Gamma(beta/2, 1), the law of a perfectly trained model (arXiv:2601.03764).

    Nodes are in log(t^2 tau), so that the chances do not depend on the parameters.
    """

    names = ("difficulty_exponent", "tolerance_ratio")
    starts = ((-1.0, -2.0), (0.5, -3.0), (0.5, 0.0))

    def _edges(self, most_attempts: float) -> Array:
        """Log p is half of x where p is small; large p is reached at x of a few."""
        odds = super()._edges(most_attempts)
        small = odds[odds < -1.0]
        width = min(1.0, 2 * float(small[-1] - small[-2]))
        return np.concatenate(
            [2 * small, np.arange(2 * small[-1] + width, math.log(2 * math.log(most_attempts) + 60), width)]
        )

    def _chances(self, x: Array) -> tuple[Array, Array]:
        half = np.exp(x / 2) / math.sqrt(2)
        log_success = np.where(x < -600, x / 2 + 0.5 * math.log(2 / math.pi), np.log(np.maximum(erf(half), 1e-300)))
        return log_success, np.where(
            half < 0.5, np.log1p(-erf(np.minimum(half, 0.5))), np.log(erfc(np.minimum(half, 26.0)))
        )

    def _log_density(self, parameters: Array) -> tuple[Array, Array, Array]:
        a = math.exp(parameters[0]) / 2
        log_tau = self.x - 2 * parameters[1]
        tau = np.exp(np.minimum(log_tau, 700.0))
        value = a * log_tau - tau - gammaln(a)
        gradient = np.stack([a * (log_tau - digamma(a)), -2 * a + 2 * tau], axis=-1)
        first = a * (log_tau - digamma(a)) - a * a * _trigamma(a)
        return value, gradient, _symmetric(first, np.full(tau.shape, -2 * a), -4 * tau)


def _trigamma(x: Array) -> Array:
    return polygamma(1, x)


def _symmetric(first: Array, mixed: Array, last: Array) -> Array:
    return np.stack([np.stack([first, mixed], axis=-1), np.stack([mixed, last], axis=-1)], axis=-2)


def _mixed(logs: Array, gradients: Array, hessians: Array) -> LogMean:
    """Return the log of a sum of terms, axis 1 of all arguments, whose logs have these derivatives."""
    value, share = _normalised(logs)
    gradient = np.einsum("ij,ijk->ik", share, gradients)
    second = np.einsum("ij,ijkl->ikl", share, hessians) + np.einsum("ij,ijk,ijl->ikl", share, gradients, gradients)
    return LogMean(value, gradient, second - gradient[:, :, None] * gradient[:, None, :])


def _normalised(logs: Array) -> tuple[Array, Array]:
    """Return the log of the sum of each row's exponentials, and their shares of it."""
    top = logs.max(axis=1, keepdims=True)
    terms = np.exp(logs - top)
    total = terms.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], terms / total

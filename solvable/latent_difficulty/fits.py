"""Fits of counts by maximum likelihood, with errors, and pass@k beyond the attempts that were made."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtri

from solvable.errors import FitWarning, require
from solvable.latent_difficulty.counts import Counts
from solvable.latent_difficulty.mixtures import Beta, Family, Kumaraswamy, LatentDifficulty, LogMean, ZeroInflatedBeta
from solvable.precision import Array

FAMILIES = ("beta", "kumaraswamy", "zero_inflated_beta", "latent_difficulty")
_FAR = 12.0  # parameters (logarithms) beyond this are at a boundary
_STEEP = 1e-5  # of a gradient per problem, at what counts as converged


class Band(NamedTuple):
    """pass@k of a fit, each of k's shape.

    Attributes:
        estimate: pass@k.
        lower: end of the interval, from a normal law of log(1 - pass@k) (delta method).
        upper: the other end.
        log_failure: log(1 - pass@k).
        log_failure_error: its standard error.
    """

    estimate: Array
    lower: Array
    upper: Array
    log_failure: Array
    log_failure_error: Array


@dataclass(frozen=True, eq=False)
class Fit:
    """A family fitted to counts.

    Attributes:
        family: its name.
        parameters: name -> value.
        log_likelihood: without the binomial coefficients, which no fit changes.
        covariance: of the logarithms of the parameters (the logit of `unsolvable`), from the exact Hessian.
        note: "" or what is degenerate about the counts.
        identified: whether errors mean anything; else they are inf, and bands go from 0 to 1.
    """

    family: str
    parameters: dict[str, float]
    log_likelihood: float
    covariance: Array
    note: str
    identified: bool
    _law: Family
    _point: Array

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 parameters - 2 log_likelihood; smaller is better."""
        return 2 * len(self.parameters) - 2 * self.log_likelihood

    @property
    def log_errors(self) -> dict[str, float]:
        """Standard errors of the logarithms of the parameters (of the logit of `unsolvable`)."""
        return dict(zip(self.parameters, np.sqrt(np.diagonal(self.covariance)).tolist(), strict=True))

    def interval(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return intervals of the parameters, normal in their logarithms.

        Args:
            level: coverage, in (0, 1).
        """
        require(0 < level < 1, "level", "in (0, 1)", level)
        half = float(ndtri(0.5 + level / 2)) * np.sqrt(np.diagonal(self.covariance))
        ends = (_natural(self.parameters, self._point + sign * half) for sign in (-1, 1))
        lower, upper = ends
        return {name: (lower[name], upper[name]) for name in self.parameters}

    def pass_at_k(self, k: Any, level: float = 0.95) -> Band:
        """Return the fit's pass@k, also far beyond the attempts that were made.

        Args:
            k: attempts, real, >= 1; a scalar or one-dimensional.
            level: coverage of the band, in (0, 1). It holds within the family; compare families for the rest.

        Raises:
            ArgumentError: outside these domains.
        """
        attempts = np.asarray(k, dtype=np.float64)
        require(attempts.ndim <= 1, "k", "a scalar or one-dimensional", attempts.shape)
        require(bool(np.all((attempts >= 1) & np.isfinite(attempts))), "k", "finite and >= 1", k)
        require(0 < level < 1, "level", "in (0, 1)", level)
        flat = attempts.ravel()
        mean = self._law.log_mean(self._point, flat, np.zeros(flat.shape))
        error = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", mean.gradient, self.covariance, mean.gradient), 0.0))
        error = error if self.identified else np.full(flat.shape, np.inf)
        half = float(ndtri(0.5 + level / 2)) * error
        least = 0.0 - np.expm1(np.minimum(mean.value + half, 0.0))
        values = (-np.expm1(mean.value), least, -np.expm1(mean.value - half), mean.value, error)
        return Band(*(value.reshape(attempts.shape) for value in values))

    def __repr__(self) -> str:
        bounds = self.interval()
        rows = [f"  {name}: {value:.4g} ({bounds[name][0]:.4g} to {bounds[name][1]:.4g})"
                for name, value in self.parameters.items()]  # fmt: skip
        notes = [f"  note: {self.note}"] if self.note else []
        return "\n".join([f"Fit of {self.family}, AIC {self.aic:.1f}", *rows, *notes])


def fit_counts(counts: Counts, family: str = "beta") -> Fit:
    """Fit how the chance of success is spread over problems, by maximum likelihood.

    Args:
        counts: what was observed; numbers of attempts may differ.
        family: "beta" (failure rates fall as k^-shape), "kumaraswamy" (likewise), "zero_inflated_beta" (a share of
            problems is never solved), or "latent_difficulty" (as k^-difficulty_exponent; arXiv:2601.03764 without
            bias, which counts do not identify).

    Returns:
        A `Fit`, from the best of several starts, with errors from the exact Hessian.

    Raises:
        ArgumentError: for an unknown family.

    Warns:
        FitWarning: where the likelihood has no maximum (no success at all; equal chances), so that errors mean nothing.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> fit = lid.fit_counts(lid.pythia_math()["12B"])
        >>> fit
        Fit of beta, AIC 216054.0
          shape: 0.2955 (0.2386 to 0.3659)
          failure_shape: 12.36 (8.525 to 17.93)
        >>> fit.pass_at_k([1e4, 1e6]).estimate.round(3)
        array([0.863, 0.965])
    """
    require(family in FAMILIES, "family", f"one of {FAMILIES}", family)
    law = _law(family, float(counts.n_attempts.max()))
    pairs, repeats = np.unique(np.stack([counts.n_attempts, counts.n_correct]), axis=1, return_counts=True)
    attempts, correct = pairs.astype(np.float64)

    def total(point: Array) -> LogMean:
        each = law.log_mean(point, attempts, correct)
        return LogMean(*(np.tensordot(repeats, value, axes=1) for value in each))

    point = _maximised(total, law, counts.n_problems)
    best = total(point)
    covariance, curved = _covariance(best.hessian, point)
    note, identified = _note(counts, point, curved=curved)
    if note:
        warnings.warn(FitWarning(f"{family}: {note}"), stacklevel=2)
    if not identified:
        covariance = np.diag(np.full(point.shape, np.inf))
    parameters = _natural(law.names, point)
    return Fit(family, parameters, float(best.value), covariance, note, identified, law, point)


def compare_fits(counts: Counts, families: Sequence[str] = FAMILIES) -> list[Fit]:
    """Fit several families and return them in order of Akaike's criterion, the best first.

    Extrapolations differ between families that fit equally well: that difference is part of the uncertainty.

    Example:
        >>> from solvable import latent_difficulty as lid
        >>> [fit.family for fit in lid.compare_fits(lid.pythia_math()["12B"], ("beta", "latent_difficulty"))]
        ['beta', 'latent_difficulty']
    """
    return sorted((fit_counts(counts, family) for family in families), key=lambda fit: fit.aic)


def _law(family: str, most_attempts: float) -> Family:
    if family == "beta":
        return Beta()
    if family == "zero_inflated_beta":
        return ZeroInflatedBeta()
    return (Kumaraswamy if family == "kumaraswamy" else LatentDifficulty)(most_attempts)


def _maximised(total: Any, law: Family, n_problems: int) -> Array:
    """Return the best of the maxima reached from the family's starts, by a trust region with exact curvature."""
    bound = np.full(len(law.names), 1.5 * _FAR)

    @lru_cache(maxsize=4)  # the optimiser asks for value, gradient and Hessian of a point one by one
    def clipped(*point: float) -> LogMean:
        mean: LogMean = total(np.clip(point, -bound, bound))
        return mean

    found = [
        minimize(
            lambda point: -float(clipped(*point).value) / n_problems,
            np.array(start),
            jac=lambda point: -clipped(*point).gradient / n_problems,
            hess=lambda point: -clipped(*point).hessian / n_problems,
            method="trust-exact",
            options={"gtol": 1e-9, "maxiter": 200},
        )
        for start in law.starts
    ]
    best: Array = np.clip(min(found, key=lambda result: result.fun).x, -bound, bound)
    return best


def _covariance(hessian: Array, point: Array) -> tuple[Array, bool]:
    """Return minus the inverse Hessian, of a share at its boundary 0 without that share, and whether it is positive."""
    inner = np.ones(point.size, dtype=bool)
    inner[0] = not _at_boundary(point)
    chosen = np.ix_(inner, inner)
    covariance = np.zeros(hessian.shape)
    curvature = -hessian[chosen]
    values = np.linalg.eigvalsh(curvature)
    curved = bool(values[0] > 1e-12 * abs(values[-1]))
    if curved:
        covariance[chosen] = np.linalg.inv(curvature)
    return covariance, curved


def _at_boundary(point: Array) -> bool:
    """Tell whether no problem is unsolvable."""
    return bool(point.size == 3 and point[0] < -_FAR)


def _note(counts: Counts, point: Array, *, curved: bool) -> tuple[str, bool]:
    """Return what is degenerate, and whether the parameters are identified all the same."""
    if not counts.n_correct.any():
        return "no attempt succeeded, so that any chance near 0 will do", False
    if counts.n_attempts.max() < 2:
        return "one attempt per problem does not tell how chances differ", False
    if np.abs(point[-2:]).max() > _FAR:
        return "the likelihood has no maximum: chances do not differ between problems, or all are 0 or 1", False
    if not curved:
        return "the counts do not identify the parameters", False
    return ("the share of unsolvable problems is 0" if _at_boundary(point) else ""), True


def _natural(names: Iterable[str], point: Array) -> dict[str, float]:
    """Return parameters from their logarithms and logits."""
    with np.errstate(over="ignore"):
        values = [expit(x) if name == "unsolvable" else np.exp(x) for name, x in zip(names, point, strict=True)]
    return dict(zip(names, map(float, values), strict=True))

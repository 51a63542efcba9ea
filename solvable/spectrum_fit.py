"""Capacity and source of a given spectrum and target, with intervals (derived here)."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from solvable.errors import require
from solvable.precision import Array
from solvable.scaling import PowerLawFit, fit_power_law

_BLOCK = 2**0.5  # ratio of the ends of a block of modes


class SpectrumFit(NamedTuple):
    """The power law that a spectrum and the target on it follow.

    Attributes:
        capacity: eigenvalue k ~ k^-capacity.
        capacity_interval: confidence interval.
        source: target power k ~ k^-(1 + 2 capacity source).
        source_interval: confidence interval, errors of both fits taken to be independent.
        window: first and last mode used.
        blocks: number of blocks of modes that the fit sees.
    """

    capacity: float
    capacity_interval: tuple[float, float]
    source: float
    source_interval: tuple[float, float]
    window: tuple[int, int]
    blocks: int


def fit_spectrum(eigenvalues: Array, target_power: Array, window: tuple[int, int] | None, level: float) -> SpectrumFit:
    """Fit sums over blocks of modes, log-spaced: exact on exact power laws, whatever is beyond the window.

    Args:
        eigenvalues: shape (modes,), decreasing.
        target_power: shape (modes,).
        window: first and last mode, counted from 1; None for all.
        level: coverage of the intervals.
    """
    positive = int(np.sum(eigenvalues > 0))
    first, last = window or (1, positive)
    wanted = f"a pair 1 <= first < last <= {positive}"
    require(1 <= first < last <= positive, "window", wanted, window)
    blocks = _blocks(int(first), int(last))
    require(len(blocks) >= 4, "window", "wide enough for four blocks of modes (a factor of about 4)", (first, last))
    capacity = _exponent(eigenvalues, blocks, level)
    target = _exponent(target_power, blocks, level)
    source = (-target.exponent - 1) / (-2 * capacity.exponent)
    slopes = 1 / (2 * capacity.exponent), source / capacity.exponent
    ends = capacity.interval[1] - capacity.exponent, target.interval[1] - target.exponent
    width = float(np.hypot(slopes[0] * ends[1], slopes[1] * ends[0]))
    return SpectrumFit(
        -capacity.exponent,
        (-capacity.interval[1], -capacity.interval[0]),
        source,
        (source - width, source + width),
        (int(first), int(last)),
        len(blocks),
    )


def _blocks(first: int, last: int) -> list[Array]:
    """Mode numbers of each block; neighbouring blocks differ in their ends by a factor of about sqrt(2)."""
    count = int(np.floor(np.log((last + 1) / first) / np.log(_BLOCK) + 1e-9))
    edges = np.unique(np.round(np.geomspace(first, last + 1, max(count, 1) + 1)).astype(int))
    return [np.arange(a, b) for a, b in pairwise(edges)]


def _exponent(values: Array, blocks: list[Array], level: float) -> PowerLawFit:
    """Exponent whose exact block sums are proportional to those of the values, by Gauss-Newton steps."""
    sums = np.array([values[block - 1].sum() for block in blocks])
    logs = [np.log(block) for block in blocks]
    exponent = 0.0
    for _ in range(50):
        weights = [np.exp(exponent * log) for log in logs]
        expected = np.array([weight.sum() for weight in weights])
        centres = np.array([weight @ log / weight.sum() for weight, log in zip(weights, logs, strict=True)])
        fit = fit_power_law(np.exp(centres), sums / expected, level=level)
        exponent += fit.exponent
        if abs(fit.exponent) < 1e-13:
            break
    low, high = (end - fit.exponent + exponent for end in fit.interval)
    return fit._replace(exponent=exponent, interval=(low, high))

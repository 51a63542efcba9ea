"""Capacity and source from spectra: exact ones, noisy ones with covering intervals, and one estimated from data."""

import numpy as np
import pytest

from solvable.errors import ArgumentError
from solvable.modes import Modes, PowerLawModes

pytestmark = pytest.mark.x64_independent


@pytest.mark.parametrize(("capacity", "source"), [(1.1, 0.2), (1.5, 0.4), (2.0, 1.2), (4.0, 0.9)])
@pytest.mark.parametrize("window", [None, (1, 20), (7, 800)])
def test_exact_power_laws(capacity, source, window):
    fit = PowerLawModes.build(capacity, source, 1000).explicit().fit_power_law(window)
    assert fit.capacity == pytest.approx(capacity, rel=1e-10)
    assert fit.source == pytest.approx(source, rel=1e-10)
    assert fit.capacity_interval[1] - fit.capacity_interval[0] < 1e-8


def test_levels_and_order_do_not_matter():
    x = np.repeat(np.arange(1.0, 65), 4) ** -1.5
    power = np.arange(1.0, 257) ** -2.2
    levels = Modes.from_arrays(x[::4], power.reshape(64, 4).sum(axis=1), np.full(64, 4.0))
    shuffled = np.random.default_rng(0).permutation(64)
    again = Modes.from_arrays(levels.eigenvalues[shuffled], levels.target_power[shuffled], np.full(64, 4.0))
    assert again.fit_power_law((8, 256)) == levels.fit_power_law((8, 256))


def test_intervals_cover_at_their_level():
    """400 targets with independent chi-squared coefficients: binomial count, bounds at a false-alarm rate of 1e-6.

    Blocks hold different numbers of modes, so their scatter is not of equal size: coverage of 0.9 is met within 0.08.
    """
    generator, trials, covered = np.random.default_rng(5), 400, 0
    k = np.arange(1.0, 2001)
    for _ in range(trials):
        power = k**-2.2 * generator.chisquare(20, k.size) / 20
        fit = Modes.from_arrays(k**-1.5, power).fit_power_law((4, 2000), level=0.9)
        covered += fit.source_interval[0] <= 0.4 <= fit.source_interval[1]
    assert abs(covered / trials - 0.9) < 4.9 * np.sqrt(0.09 / trials) + 0.08


def test_bad_input_is_refused():
    modes = PowerLawModes.build(1.5, 0.4, 50).explicit()
    for window in ((0, 20), (20, 10), (1, 51), (10, 12)):
        with pytest.raises(ArgumentError, match="window must be"):
            modes.fit_power_law(window)
    with pytest.raises(ArgumentError, match="y must be positive"):
        Modes.from_arrays(np.arange(1.0, 51) ** -1.5, np.zeros(50)).fit_power_law()

"""Fits and slopes: exact on exact laws, and intervals that cover."""

import numpy as np
import pytest

from solvable.errors import ArgumentError
from solvable.scaling import PowerLaw, ScalingLaw, fit_power_law, local_slopes

pytestmark = pytest.mark.x64_independent


def test_a_power_law_is_recovered_exactly():
    x = np.geomspace(1e-3, 1e9, 30)
    fit = fit_power_law(x, 2.5 * x**1.25)
    assert fit.exponent == pytest.approx(1.25, abs=1e-13)
    assert fit.amplitude == pytest.approx(2.5, rel=1e-12)
    assert fit.interval[1] - fit.interval[0] < 1e-12
    assert local_slopes(x, np.stack([x**0.5, x**-2.0]))[1] == pytest.approx(np.array([[0.5], [-2.0]]) * np.ones(29))


def test_the_window_selects_points():
    x = np.geomspace(1, 1e4, 41)
    y = x**-1.0 + 1e-2 * x**-0.25
    assert fit_power_law(x, y, window=(1, 3)).exponent == pytest.approx(-1, abs=0.03)
    fit = fit_power_law(x, y, window=(5e3, 1e4))
    assert fit.exponent == pytest.approx(-0.25, abs=0.1)
    assert fit.window == (5e3, 1e4)
    assert fit.points == 4


@pytest.mark.parametrize("known", [True, False])
def test_intervals_cover_at_their_level(known):
    """2000 fits of nine noisy points: the count of covering intervals is binomial; bound at a false-alarm rate 1e-6."""
    generator, trials = np.random.default_rng(3), 2000
    x = np.geomspace(1, 100, 9)
    errors = 0.02 * np.linspace(0.5, 2, 9) if known else 0.02 * np.ones(9)
    covered = 0
    for _ in range(trials):
        y = x**-0.5 * np.exp(errors * generator.normal(size=9))
        fit = fit_power_law(x, y, sem=y * errors if known else None, level=0.9)
        covered += fit.interval[0] <= -0.5 <= fit.interval[1]
    spread = np.sqrt(trials * 0.9 * 0.1)
    assert covered > 0.9 * trials - 4.9 * spread
    widened = 0.03 * trials if known else 0  # known errors are only ever widened by the scatter, which covers more
    assert covered < 0.9 * trials + 4.9 * spread + widened


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        (([1, 2, 3], [1, -2, 3]), {}, "y must be positive"),
        (([1, 2, 3], [1, 2]), {}, "y must be one-dimensional"),
        (([1, 2, 3], [1, 2, 3]), {"window": (1, 2)}, "window must be"),
        (([1, 2, 3], [1, 2, 3]), {"level": 1.0}, "level must be"),
        (([1, 2, 3], [1, 2, 3]), {"sem": 0.0}, "sem must be positive"),
    ],
)
def test_bad_fits_are_refused(arguments, keywords, message):
    with pytest.raises(ArgumentError, match=message):
        fit_power_law(*arguments, **keywords)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [([1, 1], [1, 2], "strictly increasing"), ([1], [1], "at least two"), ([1, 2], [[1], [2]], "of shape")],
)
def test_bad_slopes_are_refused(x, y, message):
    with pytest.raises(ArgumentError, match=message):
        local_slopes(x, y)


def test_unknown_laws_are_refused():
    law = ScalingLaw("n_samples", {"excess_risk": PowerLaw(-1)})
    assert law.exponent("excess_risk") == -1
    with pytest.raises(ArgumentError, match="excess_risk"):
        law.exponent("bias")

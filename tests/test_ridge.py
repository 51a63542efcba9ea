"""The effective ridge: the original equations hold, identities, and every difficult corner."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvable.modes import Modes, PowerLawModes
from solvable.ridge import effective_ridge, spectral_sums

pytestmark = pytest.mark.x64_independent

sizes = st.floats(1.0, 1e6)
ridges = st.floats(-12, 4).map(lambda exponent: 10.0**exponent)


def solve(modes, n, p, ridge):
    lanes = [np.atleast_1d(np.asarray(v, float)) for v in (n, p, ridge / np.asarray(n, float))]
    with np.errstate(all="ignore"):
        nodes = modes.nodes(np)
        solved = effective_ridge(nodes, *lanes, np)
        return solved, spectral_sums(nodes, solved.nu2, np)


INFINITE = PowerLawModes.build(1.5, 0.4)
FINITE = PowerLawModes.build(1.5, 0.4, 60)


@given(n=sizes, p=sizes, ridge=ridges, finite=st.booleans())
def test_the_two_original_equations_hold(n, p, ridge, finite):
    solved, sums = solve(FINITE if finite else INFINITE, n, p, ridge)
    nu1 = solved.nu2 * solved.feature_gap
    assert n == pytest.approx((ridge / nu1 + sums.df1)[0], rel=1e-11)
    assert p == pytest.approx((p * nu1 / solved.nu2 + sums.df1)[0], rel=1e-11)
    assert solved.residual[0] < 1e-11


@given(n=sizes, p=sizes, ridge=ridges)
def test_swapping_samples_and_features(n, p, ridge):
    one, _ = solve(INFINITE, n, p, ridge)
    other, _ = solve(INFINITE, p, n, ridge * p / n)
    assert one.nu2 == pytest.approx(other.nu2, rel=1e-12)


@given(n=sizes, p=sizes, ridge=ridges, factor=st.floats(1.01, 10))
def test_monotone_in_every_control(n, p, ridge, factor):
    base = solve(INFINITE, n, p, ridge)[0].nu2[0]
    slack = 1 + 1e-12
    assert solve(INFINITE, n, p, ridge * factor)[0].nu2[0] * slack >= base
    assert solve(INFINITE, n * factor, p, ridge)[0].nu2[0] <= base * slack
    assert solve(INFINITE, n, p * factor, ridge)[0].nu2[0] <= base * slack
    assert base >= ridge / n * (1 - 1e-12)


@pytest.mark.parametrize("modes", [INFINITE, FINITE])
@pytest.mark.parametrize(
    ("n", "p"), [(40.0, 80.0), (80.0, 40.0), (40.0, 40.0), (40.0, np.inf), (60.0, 60.0), (100.0, 90.0)]
)
def test_the_path_to_ridge_zero_is_smooth(modes, n, p):
    """From 1 down to 1e-300 and to exactly 0: finite, monotone, and continuous at the end."""
    path = np.concatenate([10.0 ** -np.arange(0.0, 300, 4), [1e-300, 0.0]])
    solved, _ = solve(modes, np.full(path.shape, n), np.full(path.shape, p), path)
    assert np.isfinite(solved.nu2).all()
    assert np.all(np.diff(solved.nu2) <= 1e-12 * solved.nu2[:-1])
    assert solved.nu2[-1] == pytest.approx(solved.nu2[-2], rel=1e-12, abs=1e-99)  # at n = p = rank, nu2 ~ ridge^(1/3)
    assert solved.residual.max() < 1e-11


def test_exhausted_rank_at_ridge_zero():
    solved, sums = solve(FINITE, 100, 80, 0.0)
    assert solved.nu2[0] == 0
    assert sums.df1[0] == pytest.approx(60, rel=1e-14)
    assert solved.sample_gap[0] == pytest.approx(0.4)
    assert solved.feature_gap[0] == pytest.approx(0.25)


def test_infinite_sizes():
    both, _ = solve(INFINITE, np.inf, np.inf, 0.0)
    assert (both.nu2[0], both.sample_gap[0], both.feature_gap[0]) == (0, 1, 1)
    samples, sums = solve(INFINITE, np.inf, 100, 0.0)
    assert sums.df1[0] == pytest.approx(100, rel=1e-12)
    near, _ = solve(INFINITE, 1e14, 100, 0.0)
    assert samples.nu2 == pytest.approx(near.nu2, rel=1e-12)


@pytest.mark.parametrize("gap", [1e-2, 1e-6, 1e-9])
def test_spectra_with_gaps(gap):
    """Two clusters far apart: df1 is flat over many decades of nu2."""
    modes = Modes.from_arrays(np.repeat([1.0, 1e-12], 20), np.ones(40))
    solved, sums = solve(modes, 20 + gap, np.inf, 0.0)
    assert sums.df1[0] == pytest.approx(20 + gap, rel=1e-13)
    assert 1e-12 < solved.nu2[0] < 1


def test_null_modes_and_zero_multiplicities_carry_no_rank():
    plain = Modes.from_arrays([1.0, 0.5, 0.1], [1.0, 1.0, 1.0])
    padded = Modes.from_arrays([0.0, 1.0, 0.7, 0.5, 0.1], [3.0, 1.0, 0.0, 1.0, 1.0], [5, 1, 0, 1, 1])
    for n in (2.0, 3.0, 7.0):
        expected, actual = solve(plain, n, np.inf, 1e-3)[0], solve(padded, n, np.inf, 1e-3)[0]
        assert actual.nu2 == pytest.approx(expected.nu2, rel=1e-13)

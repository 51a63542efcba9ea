"""Spectra as nodes: quadrature against 50 digits and direct sums, compression, truncation, estimation from data."""

import json
import math
from pathlib import Path

import jax
import numpy as np
import pytest

from solvable.errors import ArgumentError, InfiniteWorldError, SpectrumWarning
from solvable.modes import Modes, PowerLawModes
from solvable.quadrature import power_law_grid
from solvable.ridge import spectral_sums

pytestmark = pytest.mark.x64_independent

REFERENCES = json.loads((Path(__file__).parent / "reference" / "spectral_sums.json").read_text())


def sums_at(nodes, nu):
    sums = spectral_sums(nodes, np.array([nu]), np)
    values = {name: float(value[0]) for name, value in sums._asdict().items()}
    return values | {"nu_learned": nu * values["learned"]}


@pytest.mark.parametrize("row", REFERENCES, ids=lambda row: f"{row['capacity']}-{row['nu']:.0e}")
def test_infinite_power_law_against_50_digits(row):
    nodes = PowerLawModes.build(row["capacity"], row["source"]).nodes(np)
    computed = sums_at(nodes, row["nu"])
    for name, digits in row["values"].items():
        assert computed[name] == pytest.approx(float(digits), rel=1e-12), name


@pytest.mark.parametrize("size", [1, 7, 15, 16, 17, 31, 40, 1000, 4096, 12345])
@pytest.mark.parametrize("capacity", [0.0, 0.5, 1.5, 4.0])
def test_finite_power_law_is_its_explicit_sum(size, capacity):
    modes = PowerLawModes.build(capacity, 0.7, size)
    for nu in (1e-8, 1e-3, 1.0):
        quadrature, direct = sums_at(modes.nodes(np), nu), sums_at(modes.explicit()._ordered(np), nu)
        assert quadrature == pytest.approx(direct, rel=2e-13)


def test_grid_weights_are_positive_and_count_every_integer():
    for last in (1, 15, 16, 100, 10**7, 10**12):
        positions, weights = power_law_grid(float(last), 12)
        assert weights.min() > 0
        assert weights.sum() == pytest.approx(last, rel=1e-13)
        assert positions.max() <= last
    assert len(power_law_grid(1e7, 12)[0]) < 260
    assert len(PowerLawModes.build(1.5, 0.4).nodes(np).eigenvalues) < 850


def test_a_huge_finite_spectrum_approaches_the_infinite_one():
    finite, infinite = (PowerLawModes.build(3.0, 0.5, size).nodes(np) for size in (1e290, math.inf))
    finite_sums, infinite_sums = sums_at(finite, 1e-6), sums_at(infinite, 1e-6)
    assert finite_sums == pytest.approx(infinite_sums, rel=1e-13)


def test_compression_of_a_wild_spectrum_is_exact_to_rounding():
    generator = np.random.default_rng(3)
    eigenvalues = np.exp(3 * generator.normal(size=20_000)) * np.where(generator.random(20_000) < 0.1, 1e-6, 1.0)
    power = generator.exponential(size=20_000) * (generator.random(20_000) < 0.5)
    eigenvalues[:10] = 0.0
    modes = Modes.from_arrays(eigenvalues, power, generator.integers(0, 4, 20_000))
    compressed, full = modes.nodes(np), modes._ordered(np)
    assert len(compressed.eigenvalues) < 1500
    for nu in (1e-12, 1e-6, 1e-3, 1.0, 1e4):
        assert sums_at(compressed, nu) == pytest.approx(sums_at(full, nu), rel=1e-13)
    assert compressed.rank == pytest.approx(float(full.rank), rel=1e-13)


def test_compression_of_equal_eigenvalues_breaks_down_gracefully():
    modes = Modes.from_arrays(np.repeat([1.0, 0.9], 300), np.ones(600))
    assert sums_at(modes.nodes(np), 0.3) == pytest.approx(sums_at(modes._ordered(np), 0.3), rel=1e-14)


@pytest.mark.slow
def test_a_million_modes_compress_to_rounding():
    k = np.arange(1.0, 2e6 + 1)
    modes = Modes.from_arrays(k**-1.3 * (1.5 + np.sin(np.log(k) * 5)), k**-1.8)
    for nu in (1e-8, 1e-5, 1e-2):
        assert sums_at(modes.nodes(np), nu) == pytest.approx(sums_at(modes._ordered(np), nu), rel=1e-12)


def test_levels_with_multiplicity_are_repeated_modes():
    levels = Modes.from_arrays([0.5, 2.0, 0.0], [1.2, 0.4, 0.3], [3, 1, 2])
    explicit = levels.explicit()
    assert explicit.eigenvalues.tolist() == [0.5, 0.5, 0.5, 2.0, 0.0, 0.0]
    assert explicit.target_power.tolist() == pytest.approx([0.4, 0.4, 0.4, 0.4, 0.15, 0.15])
    assert sums_at(levels.nodes(np), 0.1) == pytest.approx(sums_at(explicit.nodes(np), 0.1), rel=1e-15)


def test_truncate_keeps_the_largest_eigenvalues():
    modes = Modes.from_arrays([0.1, 3.0, 1.0], [1.0, 2.0, 3.0]).truncate(2)
    assert modes.eigenvalues.tolist() == [3.0, 1.0]
    assert modes.target_power.tolist() == [2.0, 3.0]
    cut = PowerLawModes.build(2.0, 0.5).truncate(3).explicit()
    assert cut.eigenvalues.tolist() == pytest.approx([1, 1 / 4, 1 / 9])
    assert cut.target_power.tolist() == pytest.approx([1, 2.0**-3, 3.0**-3])


def test_kernel_of_known_spectrum_is_recovered():
    generator = np.random.default_rng(0)
    basis, _ = np.linalg.qr(generator.normal(size=(30, 30)))
    eigenvalues, target = np.geomspace(1, 1e-3, 30), generator.normal(size=30)
    target[0] = 20.0  # most of the power in the first mode: no warning
    kernel, labels = 30 * (basis * eigenvalues) @ basis.T, math.sqrt(30) * basis @ target
    modes = Modes.from_kernel((kernel + kernel.T) / 2, labels)
    assert modes.eigenvalues == pytest.approx(eigenvalues, rel=1e-10)
    assert modes.target_power == pytest.approx(target**2, rel=1e-8)


def test_kernel_quality_warnings():
    with pytest.warns(SpectrumWarning, match="not positive semi-definite"):
        Modes.from_kernel(np.diag([1.0, 1.0, -0.5]), [1.0, 0.0, 0.0])
    with pytest.warns(SpectrumWarning, match="points are few"):
        Modes.from_kernel(np.diag(np.arange(40.0, 0, -1)), np.ones(40))


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: PowerLawModes.build(1.0, 0.5), "capacity"),
        (lambda: PowerLawModes.build(-0.1, 0.5, 10), "capacity"),
        (lambda: PowerLawModes.build(math.nan, 0.5), "capacity"),
        (lambda: PowerLawModes.build(1.5, 0.0), "source"),
        (lambda: PowerLawModes.build(1.5, 0.5, 2.5), "n_modes"),
        (lambda: PowerLawModes.build(1.5, 0.5, 0), "n_modes"),
        (lambda: PowerLawModes.build(1.5, 0.5, 10).truncate(11), "n_modes"),
        (lambda: Modes.from_arrays([1.0, 2.0], [1.0]), "target_power"),
        (lambda: Modes.from_arrays([1.0, -2.0], [1.0, 1.0]), "eigenvalues"),
        (lambda: Modes.from_arrays([0.0, 0.0], [1.0, 1.0]), "eigenvalues"),
        (lambda: Modes.from_arrays([], []), "eigenvalues"),
        (lambda: Modes.from_arrays([1.0, math.inf], [1.0, 1.0]), "eigenvalues"),
        (lambda: Modes.from_arrays([1.0], [1.0], [1.5]).explicit(), "multiplicities"),
        (lambda: Modes.from_kernel(np.ones((2, 3)), [1.0, 1.0]), "kernel_matrix"),
        (lambda: Modes.from_kernel(np.array([[1.0, 0.5], [0.2, 1.0]]), [1.0, 1.0]), "kernel_matrix"),
        (lambda: Modes.from_kernel(np.eye(3), [1.0, 1.0]), "labels"),
    ],
)
def test_bad_spectra_are_named(build, named):
    with pytest.raises(ArgumentError, match=f"^{named} must be"):
        build()


def test_explicit_infinite_spectrum_names_the_way_out():
    with pytest.raises(InfiniteWorldError, match="truncate"):
        PowerLawModes.build(1.5, 0.4).explicit()


def test_capacity_and_source_are_traceable():
    def trace_above(capacity, source):
        return jax.numpy.sum(PowerLawModes.build(capacity, source, 50).nodes(jax.numpy).target_power)

    slope = jax.grad(trace_above, argnums=1)(1.5, 0.4)
    k = np.arange(1.0, 51)
    assert float(slope) == pytest.approx(float(np.sum(-3 * np.log(k) * k**-2.2)), rel=1e-5)

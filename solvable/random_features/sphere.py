"""Spectrum of nonlinear random features on the sphere: phi(x, w) = activation(<x, w> / sqrt(d)), |x| = |w| = sqrt(d).

By rotation invariance the eigenfunctions are the spherical harmonics. All of degree k share the eigenvalue xi_k^2, with

    xi_k = E_u[activation(sqrt(d) u) P_k(u)],      u with density proportional to (1 - u^2)^((d-3)/2) on [-1, 1],

P_k the Legendre polynomial in dimension d with P_k(1) = 1, and there are N_k of them (the model of
arXiv:2405.15699; the equations are classical).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from solvable.errors import ArgumentError, require
from solvable.precision import Array

N_LEVELS = 64  # degrees kept one by one; what is beyond acts as one more ridge
_POINTS = 400  # Gauss-Legendre points on each side of the equator, where ReLU has its kink
_REST_MODES = 1e12  # modes of the level that stands for the rest: so many that none of them is learned
_ROUNDING = 1e-26  # share of E activation^2 below which a level is rounding noise


class SphereSpectrum(NamedTuple):
    """Degrees 0, 1, ... of an activation on the sphere.

    Attributes:
        coefficients: xi_k with its sign, shape (levels,); exactly 0 where a parity forbids a degree.
        multiplicities: N_k, shape (levels,).
        rest: the part of E activation^2 in higher degrees.
    """

    coefficients: Array
    multiplicities: Array
    rest: float


def _relu(z: Array) -> Array:
    return np.maximum(z, 0.0)


def _erf(z: Array) -> Array:
    from scipy.special import erf

    return np.asarray(erf(z))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"relu": _relu, "tanh": np.tanh, "erf": _erf}


def sphere_spectrum(
    activation: str | Callable[[Array], Array], dimension: int, n_levels: int = N_LEVELS
) -> SphereSpectrum:
    """Expand an activation in degrees.

    Args:
        activation: "relu", "tanh", "erf", or an elementwise function of NumPy arrays; smooth on either side of 0.
        dimension: d, an integer >= 3.
        n_levels: number of degrees, >= 1.

    Raises:
        ArgumentError: outside these domains, or if the activation is not finite or zero everywhere.

    Example:
        >>> from solvable.random_features.sphere import sphere_spectrum
        >>> spectrum = sphere_spectrum("relu", 30)
        >>> (spectrum.coefficients[:3] ** 2).round(9).tolist(), spectrum.multiplicities[:3].tolist()
        ([0.161829255, 0.008333333, 0.000168397], [1.0, 30.0, 464.0])
    """
    require(dimension == math.floor(dimension) and dimension >= 3, "dimension", "an integer >= 3", dimension)
    u, weights = _quadrature(int(dimension))
    values = np.asarray(_function(activation)(math.sqrt(dimension) * u), dtype=np.float64)
    good = values.shape == u.shape and bool(np.isfinite(values).all()) and bool(np.any(values != 0))
    require(good, "activation", "elementwise, finite and not zero everywhere", activation)
    weighted, total = weights * values, float(weights @ values**2)
    coefficients = np.array([weighted @ polynomial for polynomial in polynomials(u, int(dimension), n_levels)])
    counts = np.array([_multiplicity(k, int(dimension)) for k in range(n_levels)])
    noise = counts * coefficients**2 < _ROUNDING * total
    coefficients[noise] = 0.0
    rest = total - float(counts @ coefficients**2)
    return SphereSpectrum(coefficients, counts, rest if rest > 1e-14 * total else 0.0)


def sphere_levels(spectrum: SphereSpectrum, level_power: Array) -> tuple[Array, Array, Array]:
    """Return eigenvalues, target power and multiplicities, the rest included as a level of very many modes."""
    power = np.zeros(len(spectrum.coefficients))
    power[: len(level_power)] = level_power
    levels = spectrum.coefficients**2, power, spectrum.multiplicities
    if spectrum.rest == 0:
        return levels
    extra = spectrum.rest / _REST_MODES, 0.0, _REST_MODES
    eigenvalues, power, counts = (np.append(values, value) for values, value in zip(levels, extra, strict=True))
    return eigenvalues, power, counts


def _function(activation: str | Callable[[Array], Array]) -> Callable[[Array], Array]:
    if callable(activation):
        return activation
    if activation not in ACTIVATIONS:
        raise ArgumentError(f"activation must be a function or one of {sorted(ACTIVATIONS)}; got {activation!r}")
    return ACTIVATIONS[activation]


def _quadrature(dimension: int) -> tuple[Array, Array]:
    """Points u = cos(angle) and weights of sum 1; the angle makes the density smooth at the poles."""
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    angle = math.pi / 4 * (points + 1)
    height, density = np.cos(angle), weights * np.sin(angle) ** (dimension - 2)
    return np.concatenate([height, -height]), np.concatenate([density, density]) / (2 * density.sum())


def polynomials(u: Array, dimension: int, count: int) -> list[Array]:
    """Legendre polynomials in dimension d: (k + d - 2) P_{k+1} = (2k + d - 2) u P_k - k P_{k-1}."""
    found = [u * 0 + 1, u]
    for k in range(1, count - 1):
        upper = (2 * k + dimension - 2) * u * found[k] - k * found[k - 1]
        found.append(upper / (k + dimension - 2))
    return found[:count]


def _multiplicity(degree: int, dimension: int) -> float:
    """Dimension of the spherical harmonics of a degree."""
    if degree == 0:
        return 1.0
    return float((2 * degree + dimension - 2) * math.comb(degree + dimension - 3, degree - 1) // degree)

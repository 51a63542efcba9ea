"""Short quadratures for long sums over modes.

Every predictor needs sums over modes, sum_k f(k); here they become sum_i multiplicity_i f(node_i) over a few hundred
nodes with positive weights, exact to rounding (both constructions derived here):

- a power law: integers below the first power of two >= m are kept, and each further dyadic block [2^j, 2^(j+1)) of N
  integers is replaced by the m-point Gauss rule of the counting measure on its points, whose orthogonal polynomials
  are those of Gram (discrete Chebyshev);
- any finite spectrum: each octave of eigenvalues is replaced by the Gauss rules of its multiplicities and target power.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from solvable.precision import Array

_OCTAVE_ORDER = 12  # the poles of what is summed leave Gauss rules on an octave an error of 6^-24


class Nodes(NamedTuple):
    """Weighted nodes as predictors read them: sum_k f(k) = sum_i multiplicities_i f(node_i).

    Attributes:
        eigenvalues: shape (nodes,), positive, in decreasing order.
        multiplicities: how many modes each node stands for, shape (nodes,), >= 0.
        target_power: squared target coefficients summed over the modes of a node, shape (nodes,).
        null_power: the target power in modes of eigenvalue zero, which are never learned.
        rank: number of modes with a positive eigenvalue, possibly inf.
        resolution: effective ridges below this depend on modes that the nodes do not resolve (0: none do).
    """

    eigenvalues: Array
    multiplicities: Array
    target_power: Array
    null_power: Array
    rank: Array
    resolution: Array


def compress(nodes: Nodes) -> Nodes:
    """Replace many nodes by few with the same sums, to rounding, for any spectrum.

    What predictors sum are rational functions of the eigenvalue with poles on the negative axis. Within one octave of
    eigenvalues, Gauss rules of 12 points integrate them to 6^-24: one rule for the multiplicities, one for the
    target power. Octaves with fewer than 25 nodes are kept as they are.
    """
    weighty = nodes.multiplicities + nodes.target_power > 0
    arrays = [values[weighty] for values in nodes[:3]]
    edges = np.flatnonzero(np.diff(np.floor(np.log2(arrays[0])))) + 1
    parts = [_compress_octave(*part) for part in zip(*(np.split(v, edges) for v in arrays), strict=True)]
    arrays = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(-arrays[0])
    eigenvalues, counts, power = (values[order] for values in arrays)
    return nodes._replace(eigenvalues=eigenvalues, multiplicities=counts, target_power=power)


def _compress_octave(eigenvalues: Array, multiplicities: Array, target_power: Array) -> tuple[Array, Array, Array]:
    if len(eigenvalues) <= 2 * _OCTAVE_ORDER:
        return eigenvalues, multiplicities, target_power
    counted, counts = _gauss_of_measure(eigenvalues, multiplicities)
    powered, power = _gauss_of_measure(eigenvalues, target_power)
    return (
        np.concatenate([counted, powered]),
        np.concatenate([counts, np.zeros(len(power))]),
        np.concatenate([np.zeros(len(counts)), power]),
    )


def _gauss_of_measure(points: Array, weights: Array) -> tuple[Array, Array]:
    """Gauss rule of a discrete measure, by the Lanczos process with full reorthogonalisation."""
    total = weights.sum()
    if total == 0:
        return np.empty(0), np.empty(0)
    basis, diagonal, off_diagonal = [np.sqrt(weights / total)], [], []
    for _ in range(_OCTAVE_ORDER):
        image = points * basis[-1]
        diagonal.append(image @ basis[-1])
        for _ in range(2):  # once is not enough to rounding
            image = image - np.array(basis).T @ (np.array(basis) @ image)
        off_diagonal.append(np.linalg.norm(image))
        if off_diagonal[-1] < 1e-13 * points[0]:  # fewer distinct points than the order: the rule is the measure
            break
        basis.append(image / off_diagonal[-1])
    positions, first = _golub_welsch(np.array(diagonal), np.array(off_diagonal[: len(diagonal) - 1]))
    return positions, total * first


def _golub_welsch(diagonal: Array, off_diagonal: Array) -> tuple[Array, Array]:
    """Nodes and weights (of sum 1) of the Gauss rule with this Jacobi matrix."""
    positions, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))
    return positions, vectors[0] ** 2


@lru_cache(maxsize=256)
def power_law_grid(last: float, order: int) -> tuple[Array, Array]:
    """Return positions and weights with sum_{k=1}^{last} f(k) = sum_i weight_i f(position_i) for f smooth in log k.

    Args:
        last: number of integers, >= 1, below 2^1000.
        order: Gauss points per dyadic block, m.
    """
    last = math.floor(last)  # an exact integer, however large
    first = 1 << (order - 1).bit_length()
    kept = np.arange(1.0, min(first - 1, last) + 1)
    starts, sizes = [], []
    start = first
    while start <= last:
        starts.append(start)
        sizes.append(min(start, last - start + 1))
        start *= 2
    rules = [_gauss_rule(size, min(order, size)) for size in sizes]
    positions = [
        start + 0.5 * (size - 1) + size * rule[0] for start, size, rule in zip(starts, sizes, rules, strict=True)
    ]
    weights = [size * rule[1] for size, rule in zip(sizes, rules, strict=True)]
    grid = np.concatenate([kept, *positions]), np.concatenate([np.ones(len(kept)), *weights])
    for values in grid:
        values.flags.writeable = False
    return grid


@lru_cache(maxsize=4096)
def _gauss_rule(size: int, order: int) -> tuple[Array, Array]:
    """Gauss rule of the uniform measure on `size` equally spaced points of spacing 1/size about 0, weights of sum 1."""
    degree = np.arange(1.0, order)
    beyond = 1 - (degree / size) ** 2 if size < 2**60 else np.ones(order - 1)
    off_diagonal = degree * np.sqrt(beyond / (4 * (4 * degree**2 - 1)))
    return _golub_welsch(np.zeros(order), off_diagonal)

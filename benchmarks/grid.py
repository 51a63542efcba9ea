"""The points at which predictions are timed, and those at which they are checked."""

from typing import NamedTuple

import numpy as np

CAPACITY, SOURCE, NOISE, N_MODES, N_SAMPLES = 1.5, 0.4, 0.01, 4096, 512.0
WIDTHS = np.geomspace(64, 32768, 24)
RIDGES = np.geomspace(1e-12, 1, 9)
CHECKED = [(0, 0), (0, 8), (3, 4), (6, 1), (7, 0), (7, 5), (8, 0), (8, 2), (9, 7), (13, 3), (18, 0), (23, 0), (23, 8)]


class Point(NamedTuple):
    """What the equivalent says at one point."""

    bias: float
    variance: float
    train_error: float
    squared_norm: float


def modes() -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and target power, mode by mode."""
    k = np.arange(1.0, N_MODES + 1)
    return k**-CAPACITY, k ** -(1 + 2 * CAPACITY * SOURCE)

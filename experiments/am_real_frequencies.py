"""Real data: the words of Python's language reference, remembered by gradient descent and by Muon."""

import re
from collections import Counter
from functools import cache

import numpy as np

from experiments import memories
from experiments.sweep import Cell, Experiment, Preset
from solvable import Estimate
from solvable import associative_memory as am
from solvable.observables import Prediction
from solvable.precision import Array


@cache
def words() -> tuple[tuple[str, ...], Array]:
    """Return the words of the reference manual that comes with Python, most frequent first, and their counts.

    Counts differ a little between versions of Python.
    """
    from pydoc_data.topics import topics

    counted = Counter(re.findall(r"[a-z]+", " ".join(topics.values()).lower()))
    found, counts = zip(*counted.most_common(), strict=True)
    return found, np.array(counts, dtype=float)


def problem(n_words: int) -> am.Problem:
    """Return the world of the most frequent words, each an item of its own."""
    counts = words()[1][:n_words]
    return am.Problem.from_frequencies(counts / counts.sum())


def predict(cell: Cell) -> Prediction:
    """Predict one cell."""
    return memories.predict(cell, problem(cell["n_groups"]))


def simulate(cell: Cell) -> Estimate:
    """Train the full matrix."""
    return memories.simulate(cell, problem(cell["n_groups"]))


def _cells(n_words: int, slow: list[int], fast: list[int]) -> list[Cell]:
    shared = {"label_noise": 0.0, "group_size": 1, "n_groups": n_words}
    return [
        {"algorithm": "gradient descent", "learning_rate": 8.0, "steps": slow, **shared},
        {"algorithm": "Muon", "learning_rate": 0.25, "steps": fast, **shared},
    ]


def _preset(n_words: int) -> Preset:
    marks = [1, 3, 10, 30, 100, 300, 1000, 3000]
    dense = np.union1d(np.geomspace(1, 3000, 40).round(), marks).astype(int).tolist()
    return Preset(
        _cells(n_words, dense, list(range(1, 45))),
        _cells(n_words, marks, list(range(4, 45, 8))),
        {"seed": 0, "replicates": 1},  # replicates differ by rounding alone
    )


EXPERIMENT = Experiment(
    name="am_real_frequencies",
    summary=__doc__.splitlines()[0],
    model="associative_memory",
    presets={"quick": _preset(128), "paper": _preset(512)},
    predict=predict,
    simulate=simulate,
    compare={},
)

"""The world of associative memory: items of given frequencies, stored as pairs of orthonormal embeddings."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import numpy as np

from solvable.associative_memory.retrieval import loss, optimal_margin
from solvable.errors import require
from solvable.precision import Array, as_leaf, is_traced


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("group_frequencies", "label_noise", "exponent"),
    meta_fields=("group_size",),
)
@dataclass(frozen=True, eq=False)
class Problem:
    """K = groups x group_size questions, each with one answer, asked with given frequencies (arXiv:2602.05725).

    A matrix W answers question j with the softmax over i of the scores <answer_i, W question_j>, with orthonormal
    embeddings of questions and of answers. The label is the right answer with probability 1 - label_noise, and else any
    of the K answers. The loss is the cross-entropy, averaged over questions by frequency.

    Attributes:
        group_frequencies: total frequency of each group, shape (groups,), > 0, of sum 1; shared equally by its items.
        label_noise: in [0, 1), a scalar.
        group_size: items per group.
        exponent: decay exponent of the group frequencies; None unless built by `power_law`.
    """

    group_frequencies: Array
    label_noise: Array
    group_size: int
    exponent: Array | None = None

    @classmethod
    def power_law(cls, exponent: Any, n_groups: int, group_size: int = 1, label_noise: Any = 0.0) -> "Problem":
        """Group frequencies proportional to i^-exponent, i = 1 ... n_groups.

        Args:
            exponent: finite, > 0.
            n_groups: an integer >= 1.
            group_size: an integer >= 1; n_groups x group_size >= 2.
            label_noise: in [0, 1).

        Raises:
            ArgumentError: outside these domains.

        Example:
            >>> from solvable.associative_memory import Problem
            >>> Problem.power_law(exponent=1.5, n_groups=8, group_size=32).n_items
            256
        """
        exponent = as_leaf(exponent)
        _require_count("n_groups", n_groups)
        if not is_traced(exponent):
            require(bool(np.isfinite(exponent) and exponent > 0), "exponent", "finite and > 0", float(exponent))
        weights = np.arange(1.0, n_groups + 1) ** -exponent
        return replace(cls.from_frequencies(weights / weights.sum(), group_size, label_noise), exponent=exponent)

    @classmethod
    def from_frequencies(cls, group_frequencies: Any, group_size: int = 1, label_noise: Any = 0.0) -> "Problem":
        """Any frequencies, e.g. those of words.

        Args:
            group_frequencies: shape (groups,), finite, > 0, of sum 1 to 1e-9.
            group_size: an integer >= 1; at least 2 items in all.
            label_noise: in [0, 1).

        Raises:
            ArgumentError: outside these domains.

        Example:
            >>> from solvable.associative_memory import Problem
            >>> float(Problem.from_frequencies([0.5, 0.3, 0.2], label_noise=0.1).loss_floor.round(6))
            0.29114
        """
        frequencies, noise = as_leaf(group_frequencies), as_leaf(label_noise)
        _require_count("group_size", group_size)
        one_axis = np.ndim(frequencies) == 1 and np.size(frequencies) * group_size >= 2
        require(one_axis, "group_frequencies", "one-dimensional, with at least 2 items in all", np.shape(frequencies))
        require(np.ndim(noise) == 0, "label_noise", "a scalar", np.shape(noise))
        if not is_traced(frequencies):
            bad = frequencies[~(np.isfinite(frequencies) & (frequencies > 0))]
            require(bad.size == 0, "group_frequencies", "finite and > 0", bad[:3].tolist())
            total = float(frequencies.sum())
            require(abs(total - 1) < 1e-9, "group_frequencies", "of sum 1 (to 1e-9)", total)
        if not is_traced(noise):
            require(bool(0 <= noise < 1), "label_noise", "in [0, 1)", float(noise))
        return cls(frequencies, noise, int(group_size))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(np.shape(self.group_frequencies)[0])

    @property
    def n_items(self) -> int:
        """Number of items, K."""
        return self.n_groups * self.group_size

    @property
    def frequencies(self) -> Array:
        """Frequency of one item of each group, shape (groups,)."""
        return self.group_frequencies / self.group_size

    @property
    def optimal_margin(self) -> Array:
        """Margin log(1 + K (1 - label_noise)/label_noise) of least loss; inf for noiseless labels."""
        return optimal_margin(self.n_items, self.label_noise)

    @property
    def loss_floor(self) -> Array:
        """The least possible loss, the entropy of a label; 0 for noiseless ones."""
        noiseless = self.label_noise == 0
        if not is_traced(noiseless) and noiseless:
            return np.asarray(0.0)
        return loss(self.n_items, self.label_noise, self.optimal_margin)


def _require_count(name: str, value: Any) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 1
    require(bool(whole), name, "an integer >= 1", value)

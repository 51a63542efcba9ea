"""What trains, as plain values; models re-export those they accept."""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax


@partial(
    jax.tree_util.register_dataclass,
    data_fields=(
        "n_samples", "n_features", "ridge", "ridge_per_sample", "label_noise_variance", "capacity", "eigenvalues",
    ),
    meta_fields=(),
)  # fmt: skip
@dataclass(frozen=True, eq=False)
class Stage:
    """One training of ridge regression on random features: how much data, how many features, which ridge.

    Fields broadcast against each other and against those of other stages; `capacity` and `eigenvalues` describe one
    kernel and do not. Values are checked where a stage is used.

    Attributes:
        n_samples: > 0, may be inf in predictions.
        n_features: > 0, inf (the default) for kernel ridge regression.
        ridge: finite, >= 0, never divided by n_samples. Give exactly one of `ridge` and `ridge_per_sample`.
        ridge_per_sample: ridge / n_samples.
        label_noise_variance: finite, >= 0; None for the problem's noise when the labels are true, and for 0 when a
            model gives them.
        capacity: decay exponent of this stage's own kernel, on the modes of a power law; None for the problem's.
        eigenvalues: this stage's own kernel, one eigenvalue per level of a finite problem; None for the problem's.

    Example:
        >>> from solvable.weak_to_strong import Stage
        >>> Stage(100, 50, ridge=0.1).n_features
        50
    """

    n_samples: Any
    n_features: Any = math.inf
    ridge: Any = field(default=None, kw_only=True)
    ridge_per_sample: Any = field(default=None, kw_only=True)
    label_noise_variance: Any = field(default=None, kw_only=True)
    capacity: Any = field(default=None, kw_only=True)
    eigenvalues: Any = field(default=None, kw_only=True)

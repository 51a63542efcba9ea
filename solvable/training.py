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


@partial(jax.tree_util.register_dataclass, data_fields=("values",), meta_fields=())
@dataclass(frozen=True, eq=False)
class Schedule:
    """Learning rates that change with time.

    Attributes:
        values: learning rate of each step, shape (steps,); runs of more steps are refused.
    """

    values: Any


@partial(jax.tree_util.register_dataclass, data_fields=("learning_rate",), meta_fields=())
@dataclass(frozen=True, eq=False)
class GradientDescent:
    """Steps along minus the gradient.

    Attributes:
        learning_rate: > 0; a number, an array, a `Schedule`, or a function of the number of the step, from 0.
    """

    learning_rate: Any


@partial(jax.tree_util.register_dataclass, data_fields=("learning_rate",), meta_fields=())
@dataclass(frozen=True, eq=False)
class NormalizedGradientDescent:
    """Steps along minus the gradient divided by its Frobenius norm.

    Attributes:
        learning_rate: > 0; a number, an array, a `Schedule`, or a function of the number of the step, from 0.
    """

    learning_rate: Any


@partial(jax.tree_util.register_dataclass, data_fields=("learning_rate",), meta_fields=("basis",))
@dataclass(frozen=True, eq=False)
class SignDescent:
    """Steps along minus the sign of each entry of the gradient.

    Attributes:
        learning_rate: > 0; a number, an array, a `Schedule`, or a function of the number of the step, from 0.
        basis: "task", where each weight belongs to one pair of question and answer, or "random".
    """

    learning_rate: Any
    basis: str = "task"


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("learning_rate", "momentum", "regularization", "weight_decay", "eps"),
    meta_fields=("polar", "coefficients", "iterations", "nesterov", "convention"),
)
@dataclass(frozen=True, eq=False)
class Muon:
    """Steps along the matrix sign U sgn(S) V^T of the (averaged) gradient U S V^T.

    Attributes:
        learning_rate: > 0; a number, an array, a `Schedule`, or a function of the number of the step, from 0.
        polar: "exact", or "newton_schulz" for the iteration s <- a s + b s^3 + c s^5 on the normalised gradient, which
            does not converge to 1 and leaves small singular values small.
        coefficients: a, b, c of that iteration.
        iterations: how many of it.
        momentum: in [0, 1).
        nesterov: look ahead by one gradient.
        convention: "heavy_ball" for buffer <- momentum buffer + gradient, "optax" for the bias-corrected mean of
            `optax.contrib.muon`. They differ with Nesterov's rule alone.
        regularization: lambda >= 0 of the exact route: S/sqrt(S^2 + lambda^2) in place of sgn(S).
        weight_decay: >= 0, decoupled: the weights shrink by 1 - learning_rate weight_decay.
        eps: >= 0, added to the norm that Newton-Schulz divides by.
    """

    learning_rate: Any
    polar: str = "exact"
    coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315)
    iterations: int = 5
    momentum: Any = 0.0
    nesterov: bool = False
    convention: str = "heavy_ball"
    regularization: Any = 0.0
    weight_decay: Any = 0.0
    eps: Any = 0.0


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("learning_rate", "b1", "b2", "eps"),
    meta_fields=("basis",),
)
@dataclass(frozen=True, eq=False)
class Adam:
    """Adam with bias correction.

    Attributes:
        learning_rate: > 0; a number, an array, a `Schedule`, or a function of the number of the step, from 0.
        b1: decay of the mean gradient, in [0, 1).
        b2: decay of the mean squared gradient, in [0, 1).
        eps: >= 0, added to the root of the mean square.
        basis: "task", where each weight belongs to one pair of question and answer, or "random".
    """

    learning_rate: Any
    b1: Any = 0.9
    b2: Any = 0.999
    eps: Any = 1e-8
    basis: str = "task"

"""Scaling laws in the number of steps, on frequencies i^-exponent, exact in whatever numbers come in.

Gradient descent learns items one frequency after another; a method that strips frequencies learns all at once
(arXiv:2602.05725, prefactors, windows and the normalised law derived here).
"""

import math
from typing import Any, NamedTuple

from solvable.associative_memory.algorithms import KINDS, read
from solvable.associative_memory.optimizers import Algorithm
from solvable.associative_memory.problem import Problem
from solvable.errors import ArgumentError, require
from solvable.scaling import PowerLaw, ScalingLaw, is_symbolic, ratio
from solvable.training import GradientDescent, Muon, NormalizedGradientDescent, SignDescent

WINDOWS = ("descent", "late", "horizon")


class LearningSteps(NamedTuple):
    """When gradient descent learns the groups: the boundaries of its laws, crossovers rather than points.

    Attributes:
        first: the most frequent group is learned (progress p x rate x steps = log K); the power law begins.
        last_begins: the rarest group begins to move (progress 1); the power law ends.
        last: the rarest group is learned; the late law begins.
    """

    first: float
    last_begins: float
    last: float


def exponents(
    exponent: Any, algorithm: Any, *, label_noise: Any = 0.0, window: str = "descent", batches: bool = False
) -> ScalingLaw:
    """Return how the excess loss falls with the number of steps.

    ====================================  =======================================  ============================
    method                                window                                   excess loss
    ====================================  =======================================  ============================
    GradientDescent                       descent                                  steps^-(1 - 1/exponent)
    GradientDescent                       late, noiseless labels                   steps^-1
    GradientDescent                       late, noisy labels                       exponential
    NormalizedGradientDescent             descent                                  steps^-2(exponent - 1)
    NormalizedGradientDescent             late, noiseless labels                   exponential
    Muon, SignDescent in the task basis   descent                                  exponential
    Muon, SignDescent in the task basis   late, noiseless labels                   exponential
    Muon, SignDescent in the task basis   late, noisy labels, constant rate        plateau
    Muon, SignDescent in the task basis   horizon: rate ~ 1/steps, noisy labels    steps^-2
    Muon on batches                       descent, noiseless labels                steps^-(1 - 1/exponent)
    ====================================  =======================================  ============================

    Args:
        exponent: decay exponent of the frequencies, > 0; a number, a fraction or a sympy symbol (taken to be > 1). At
            most 1 there is no power law in the descent: its exponent is None.
        algorithm: an algorithm or its class.
        label_noise: in [0, 1); only whether it is 0 matters.
        window: "descent" while the first groups are learned and the last not yet (see `learning_steps`), "late" after
            all, "horizon" at the end of runs whose constant rate is chosen for their length, on average over lengths
            and for large groups: with few items per group the imbalance between groups decays more slowly.
        batches: whether gradients are those of batches so small that the rarest items are missing from most.

    Returns:
        A `ScalingLaw` in "steps" with the law of `excess_risk`; exponential decay has exponent -inf, and `regime` names
        the "kind": "power", "exponential" or "plateau".

    Raises:
        ArgumentError: outside these domains, and where no law is known.

    Example:
        >>> from fractions import Fraction
        >>> from solvable import associative_memory as am
        >>> am.exponents(Fraction(3, 2), am.GradientDescent).exponent("excess_risk")
        Fraction(-1, 3)
        >>> am.exponents(Fraction(3, 2), am.Muon, label_noise=0.2, window="horizon").exponent("excess_risk")
        -2
    """
    kind = algorithm if isinstance(algorithm, type) else type(algorithm)
    require(kind in KINDS, "algorithm", f"one of {[k.__name__ for k in KINDS]}", kind.__name__)
    require(window in WINDOWS, "window", f"one of {WINDOWS}", window)
    positive = is_symbolic(exponent) or (exponent > 0 and exponent < math.inf)
    require(positive, "exponent", "finite and > 0", exponent)
    noisy = not is_symbolic(label_noise) and label_noise > 0
    value = _exponent(exponent, kind, window, noisy=noisy, batches=batches)
    in_random_basis = getattr(algorithm, "basis", "task") == "random"
    if value is _UNKNOWN or in_random_basis:
        raise ArgumentError(f"no law is known for {kind.__name__}, window {window!r}, label_noise {label_noise!r}")
    regime = "exponential" if value == -math.inf else "plateau" if value == 0 else "power"
    return ScalingLaw("steps", {"excess_risk": PowerLaw(value)}, regime={"kind": (regime,)})


def learning_steps(problem: Problem, algorithm: Algorithm) -> LearningSteps:
    """Return when gradient descent learns its first and its last group.

    Args:
        problem: the world, concrete.
        algorithm: `GradientDescent` with one constant learning rate.

    Raises:
        ArgumentError: for another algorithm.

    Example:
        >>> from solvable import associative_memory as am
        >>> problem = am.Problem.power_law(exponent=1.5, n_groups=100)
        >>> [round(step) for step in am.learning_steps(problem, am.GradientDescent(1.0))]
        [11, 2413, 11112]
    """
    _, numbers, schedule = read(algorithm, 1)
    constant = isinstance(algorithm, GradientDescent) and schedule is None
    require(constant, "algorithm", "GradientDescent with a constant learning rate", algorithm)
    rate, frequencies = float(numbers["learning_rate"]), problem.frequencies
    needed = math.log(problem.n_items) / rate
    most, least = float(frequencies.max()), float(frequencies.min())
    return LearningSteps(needed / most, 1 / (rate * least), needed / least)


class _Unknown:
    """No law is known."""


_UNKNOWN = _Unknown()


def _exponent(exponent: Any, kind: type, window: str, *, noisy: bool, batches: bool) -> Any:
    falls = is_symbolic(exponent) or exponent > 1
    by_rarity = ratio(1, exponent) - 1 if falls else None
    if batches:
        return by_rarity if kind is Muon and window == "descent" and not noisy else _UNKNOWN
    if kind in (Muon, SignDescent):
        return {"descent": -math.inf, "late": 0 if noisy else -math.inf, "horizon": -2 if noisy else _UNKNOWN}[window]
    if kind is GradientDescent:
        return {"descent": by_rarity, "late": -math.inf if noisy else -1, "horizon": _UNKNOWN}[window]
    if kind is NormalizedGradientDescent and window == "descent":
        return 2 - 2 * exponent if falls else None
    if kind is NormalizedGradientDescent and window == "late" and not noisy:
        return -math.inf
    return _UNKNOWN

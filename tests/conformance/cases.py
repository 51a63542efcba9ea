"""One case per model: what the conformance battery needs to know, as data. A new model adds one row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from solvable import random_features as rf
from solvable.observables import Observables


class Model(Protocol):
    """What every model package offers."""

    OBSERVABLES: Observables
    predict: Callable[..., Any]
    draw: Callable[..., Any]
    simulate: Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """How to call one model.

    `gradient` is the declared mode ("reverse", "forward" or "none") and `problem_from` builds a problem from continuous
    numbers `numbers`, for gradients; `bad` lists changes of the controls that must raise a named error.
    """

    module: ModuleType
    problem: Any
    infinite: Any
    controls: Mapping[str, Any]
    arrays: Mapping[str, Any]
    shape: tuple[int, ...]
    problem_from: Callable[..., Any]
    numbers: tuple[float, ...]
    gradient: str
    bad: Mapping[str, Any] = field(default_factory=dict)


CASES = {
    "random_features": Case(
        module=rf,
        problem=rf.Problem.power_law(1.5, 0.4, 0.02, n_modes=40),
        infinite=rf.Problem.power_law(1.5, 0.4, 0.02),
        controls={"n_samples": 12, "n_features": 20, "ridge": 0.1},
        arrays={"n_samples": np.array([8, 12]), "n_features": 20, "ridge": np.array([[0.0], [0.1], [3.0]])},
        shape=(3, 2),
        problem_from=rf.Problem.power_law,
        numbers=(1.5, 0.4, 0.02),
        gradient="reverse",
        bad={"n_samples": -1, "n_features": 0, "ridge": -0.1},
    ),
}

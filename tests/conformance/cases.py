"""One case per model: what the conformance battery needs to know, as data. A new model adds one row."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from solvable import associative_memory as am
from solvable import random_features as rf
from solvable import weak_to_strong as w2s
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

    `keywords` turns flat controls (name -> number) into keywords of the model; `risk` is the observable to watch.
    `random` holds what `simulate` needs besides for its replicates to differ by more than rounding.
    `shape` is that of the controls; observables may have more axes. `infinite` is None where all worlds are finite.
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
    keywords: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    risk: str = "excess_risk"
    random: Mapping[str, Any] = field(default_factory=dict)


def stages(controls):
    """Controls named "teacher.n_samples" as one stage per prefix."""
    names = dict.fromkeys(name.split(".")[0] for name in controls)
    return {
        stage: w2s.Stage(**{key.split(".")[1]: value for key, value in controls.items() if key.startswith(stage)})
        for stage in names
    }


def muon(controls):
    """A run of Muon that is recorded twice."""
    return {"algorithm": am.Muon(**controls), "steps": [1, 6]}


CASES = {
    "associative_memory": Case(
        module=am,
        problem=am.Problem.power_law(1.5, 3, 4, 0.1),
        infinite=None,
        controls={"learning_rate": 0.3, "momentum": 0.5},
        arrays={"learning_rate": np.array([0.2, 0.4]), "momentum": np.array([[0.0], [0.5], [0.9]])},
        shape=(3, 2),
        problem_from=lambda exponent, label_noise: am.Problem.power_law(exponent, 3, 4, label_noise),
        numbers=(1.5, 0.1),
        gradient="reverse",
        bad={"learning_rate": -1, "momentum": 1},
        keywords=muon,
        random={"embeddings": "gaussian"},
    ),
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
    "weak_to_strong": Case(
        module=w2s,
        problem=w2s.Problem.power_law(1.5, 0.4, 0.02, n_modes=40),
        infinite=w2s.Problem.power_law(1.5, 0.4, 0.02),
        controls={
            "teacher.n_samples": 12,
            "teacher.n_features": 20,
            "teacher.ridge": 0.1,
            "student.n_samples": 16,
            "student.n_features": 10,
            "student.ridge": 0.3,
        },
        arrays={
            "teacher.n_samples": 12,
            "teacher.n_features": 20,
            "teacher.ridge": np.array([0.0, 0.1]),
            "student.n_samples": 16,
            "student.n_features": 10,
            "student.ridge": np.array([[0.0], [0.1], [3.0]]),
        },
        shape=(3, 2),
        problem_from=w2s.Problem.power_law,
        numbers=(1.5, 0.4, 0.02),
        gradient="reverse",
        bad={"teacher.n_samples": -1, "student.n_features": 0, "student.ridge": -0.1},
        keywords=stages,
        risk="student_excess_risk",
    ),
}

"""Stages as flat controls: checked, named, and in the order in which closed forms read them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from solvable.errors import require
from solvable.observables import Record
from solvable.random_features.problem import Problem
from solvable.random_features.theory import check_controls, the_ridge
from solvable.training import Stage

TEACHER_AND_STUDENT = ("teacher", "student")


class Numbers(NamedTuple):
    """The numbers of one stage: lanes of a closed form, and how to read the third."""

    n_samples: Any
    n_features: Any
    penalty: Any
    noise: Any
    per_sample: bool


def read(problem: Problem, stages: Mapping[str, Stage], others: Mapping[str, Any] | None = None) -> list[Numbers]:
    """Check stages by name, and return their numbers; the first labels from the truth, the others from models.

    `others` are further controls that have to broadcast with them.
    """
    numbers: list[Numbers] = []
    controls: dict[str, Any] = {}
    for place, (name, stage) in enumerate(stages.items()):
        require(isinstance(stage, Stage), name, "a Stage", type(stage).__name__)
        one_kernel = stage.capacity is None or stage.eigenvalues is None
        require(one_kernel, f"{name}.capacity", "None where eigenvalues are given", stage.capacity)
        ridge, penalty = the_ridge(stage.ridge, stage.ridge_per_sample)
        default = 0.0 if place else problem.noise_variance
        noise = default if stage.label_noise_variance is None else stage.label_noise_variance
        own = Numbers(stage.n_samples, stage.n_features, penalty, noise, ridge == "ridge_per_sample")
        names = ("n_samples", "n_features", ridge, "label_noise_variance")
        controls |= {f"{name}.{key}": value for key, value in zip(names, own, strict=False)}
        numbers.append(own)
    check_controls({**controls, **(others or {})})
    return numbers


def controls(stages: Iterable[str], numbers: Sequence[Numbers]) -> Record:
    """Return the controls under flat names, e.g. `teacher_n_samples` or `stage0_ridge`, as tables hold them."""
    entries: dict[str, Any] = {}
    for name, own in zip((name.replace("s[", "").rstrip("]") for name in stages), numbers, strict=True):
        ridge = "ridge_per_sample" if own.per_sample else "ridge"
        entries |= {f"{name}_n_samples": own.n_samples, f"{name}_n_features": own.n_features}
        entries |= {f"{name}_{ridge}": own.penalty, f"{name}_label_noise_variance": own.noise}
    return Record(entries)


def numbered(stages: Sequence[Stage]) -> dict[str, Stage]:
    """Name the stages of a chain by their place."""
    return {f"stages[{place}]": stage for place, stage in enumerate(stages)}


def ridge_per_sample(own: Numbers, n: Any, penalty: Any) -> Any:
    """Return ridge / n from the lanes of a stage."""
    return penalty if own.per_sample else penalty / n

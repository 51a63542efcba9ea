"""Solvable scaling models: a closed-form prediction and a Monte Carlo experiment with one signature.

Each sub-package is one model of learning, with `predict` (the law) and `simulate` (the experiment); `compare` gives
the verdict. Sub-packages load when first used.

    >>> from solvable import compare, random_features as rf
    >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01)
    >>> float(rf.predict(problem, n_samples=1e6, ridge=1e-3).excess_risk.round(9))
    0.003681212
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from solvable import associative_memory as associative_memory
    from solvable import random_features as random_features
    from solvable import weak_to_strong as weak_to_strong
    from solvable.agreement import Agreement as Agreement
    from solvable.agreement import compare as compare
    from solvable.errors import SolvableError as SolvableError
    from solvable.estimate import Estimate as Estimate
    from solvable.references import cite as cite

__version__ = "0.1.0"

MODELS = ("random_features", "weak_to_strong", "associative_memory")
"""Names of the model sub-packages; each follows the same contract, and the tests run one battery over all of them."""

_HOMES = {
    "Agreement": "solvable.agreement",
    "Estimate": "solvable.estimate",
    "SolvableError": "solvable.errors",
    "cite": "solvable.references",
    "compare": "solvable.agreement",
}

__all__ = [
    "MODELS",
    "Agreement",
    "Estimate",
    "SolvableError",
    "associative_memory",
    "cite",
    "compare",
    "random_features",
    "weak_to_strong",
]


def __getattr__(name: str) -> Any:
    if name in MODELS:
        return importlib.import_module(f"solvable.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'solvable' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

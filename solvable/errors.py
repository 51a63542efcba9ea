"""Every error and warning the library raises on purpose.

All errors are `SolvableError`, and therefore also `ValueError`: they mean that the call cannot be answered as
written, and their text names the argument, the allowed range and the value given. A singular point of a theory is
not an error: predictors return `inf` there.
"""

from typing import Any


class SolvableError(ValueError):
    """The base of all errors raised by `solvable`."""


class ArgumentError(SolvableError):
    """An argument lies outside its documented domain."""


class InfiniteWorldError(SolvableError):
    """A simulator was asked to sample a problem with infinitely many modes."""


class MemoryLimitError(SolvableError):
    """One replicate would need more memory than `max_bytes`."""


class ResolutionError(SolvableError):
    """The answer depends on modes beyond those that the quadrature of an infinite spectrum resolves."""


class SpectrumWarning(UserWarning):
    """A spectrum estimated from data is of doubtful quality."""


class ReplicateWarning(UserWarning):
    """Some replicates were not finite; they are counted in `failed` and left out of the means."""


class StabilityWarning(UserWarning):
    """A learning rate is too large for training to settle."""


class FitWarning(UserWarning):
    """A likelihood has no maximum inside the parameters' domain."""


def require(ok: Any, argument: str, allowed: str, value: Any) -> None:
    """Raise `ArgumentError` unless `ok`, naming the argument, what is allowed and what was given."""
    if not ok:
        raise ArgumentError(f"{argument} must be {allowed}; got {value!r}")

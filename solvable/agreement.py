"""Does a measurement agree with a prediction? A verdict with numbers, never a vacuous one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from solvable.errors import ArgumentError, require
from solvable.estimate import Estimate
from solvable.observables import Prediction
from solvable.precision import Array, trailing

FALSE_ALARM_RATE = 1e-6  # per call of `compare`, over all comparisons made in it
POWER = 0.999  # probability with which the stated detectable bias would have been found
_KNOWN_ERROR = 1e9  # degrees of freedom at which Student's distribution is normal to rounding
ROUNDING = 1e-10  # relative difference that two correct double-precision routes may show


@dataclass(frozen=True, eq=False)
class Comparison:
    """One observable of an `Agreement`; arrays have the cells' shape.

    Attributes:
        difference: measured minus predicted mean.
        relative: difference over |predicted|.
        z: difference in standard errors (0/0 = 0).
        bound: largest |difference| that is not called a disagreement.
        detectable: smallest relative bias that would have been found with probability 0.999.
        allowed: relative difference that `rtol` and `finite_size` allow.
        compared: False where the prediction is not finite (a singular point) or nothing was measured.
    """

    difference: Array
    relative: Array
    z: Array
    bound: Array
    detectable: Array
    allowed: Array
    compared: Array

    @property
    def disagrees(self) -> Array:
        """Where the difference is beyond the bound."""
        return self.compared & ~(np.abs(self.difference) <= self.bound)


@dataclass(frozen=True, eq=False)
class Agreement:
    """A verdict and the numbers behind it.

    Attributes:
        verdict: "agree", "disagree" or "inconclusive".
        comparisons: observable name -> `Comparison`.
        detectable: the relative bias that had to be detectable for "agree".
    """

    verdict: str
    comparisons: Mapping[str, Comparison]
    detectable: float

    def __bool__(self) -> bool:
        """Return True for "agree" only."""
        return self.verdict == "agree"

    def __repr__(self) -> str:
        return "\n".join([self.verdict, *(self._line(name) for name in self.comparisons)])

    def _line(self, name: str) -> str:
        item = self.comparisons[name]
        if not item.compared.any():
            return f"  {name}: nothing to compare"
        relative, z, found = (_largest(v, item.compared) for v in (item.relative, item.z, item.detectable))
        mark = "DISAGREES: " if item.disagrees.any() else ""
        allowed = float(np.max(item.allowed))
        within = f", allowed {allowed:.2g}" if allowed else ""
        errors = f"z {z:.1f}" if np.isfinite(z) else "no standard error"
        return (
            f"  {name}: {mark}relative difference up to {relative:.2g} ({errors}{within}), detectable bias {found:.2g}"
        )


def compare(
    prediction: Prediction | Mapping[str, Any],
    measured: Estimate | Mapping[str, Any],
    *,
    rtol: float = 0.0,
    finite_size: Mapping[str, Any] | None = None,
    detectable: float = 0.05,
) -> Agreement:
    """Compare predicted with measured means, observable by observable.

    A difference counts as disagreement beyond `t sem + (rtol + finite_size + 1e-10) |predicted|`, where t is Student's
    quantile that gives one false alarm in 10^6 calls, whatever the number of comparisons in a call (Bonferroni). The
    verdict is "inconclusive" if nothing disagrees but a relative bias of `detectable` could have passed unseen.
    Deterministic measurements (sem 0) are held to the relative part alone.

    Args:
        prediction: a `Prediction`, or name -> predicted value.
        measured: an `Estimate`, or name -> (mean, standard error) or (mean, standard error, count of replicates).
        rtol: relative difference allowed everywhere, e.g. a declared model error.
        finite_size: name -> relative allowance, e.g. {"bias": 1.4 / n}; broadcasts against the cells.
        detectable: relative bias, > 0, that must not pass unseen for the verdict "agree".

    Returns:
        An `Agreement`; it is true exactly if the verdict is "agree".

    Raises:
        ArgumentError: if no observable is common to both, an allowance names an unknown one, shapes do not fit, or both
            carry controls and these differ.

    Example:
        >>> from solvable import compare
        >>> print(compare({"excess_risk": 1.0}, {"excess_risk": (1.01, 0.004)}))
        agree
          excess_risk: relative difference up to 0.01 (z 2.5), detectable bias 0.032
    """
    require(detectable > 0, "detectable", "> 0", detectable)
    require(rtol >= 0, "rtol", ">= 0", rtol)
    require(isinstance(prediction, Prediction | Mapping), "prediction", "a Prediction or a mapping", type(prediction))
    require(isinstance(measured, Estimate | Mapping), "measured", "an Estimate or a mapping", type(measured))
    require(isinstance(finite_size, Mapping | None), "finite_size", "a mapping or None", finite_size)
    _require_same_controls(prediction, measured)
    predicted = prediction.observables if isinstance(prediction, Prediction) else prediction
    means, errors, freedom = _measurement(measured)
    names = [name for name in predicted if name in means]
    if not names:
        raise ArgumentError(f"nothing in common: predicted {sorted(predicted)}, measured {sorted(means)}")
    allowances = dict(finite_size or {})
    if not set(allowances) <= set(names):
        raise ArgumentError(f"finite_size must name compared observables {names}; got {sorted(allowances)}")
    for name in names:
        fits = np.ndim(predicted[name]) == 0 or np.shape(predicted[name]) == np.shape(means[name])
        require(
            fits, f"prediction of {name}", f"a scalar or of shape {np.shape(means[name])}", np.shape(predicted[name])
        )
    count = sum(np.size(means[name]) for name in names)
    comparisons = {
        name: _compare_one(
            predicted[name], means[name], errors[name], freedom[name], rtol + allowances.get(name, 0.0), count
        )
        for name in names
    }
    return Agreement(_verdict(comparisons, detectable), comparisons, detectable)


def _require_same_controls(prediction: Any, measured: Any) -> None:
    """Two points of different sizes or ridges are no test of anything."""
    if not (isinstance(prediction, Prediction) and isinstance(measured, Estimate)):
        return
    for name in set(prediction.controls) & set(measured.controls):
        theory, simulation = np.asarray(prediction.controls[name]), np.asarray(measured.controls[name])
        same = np.allclose(theory, simulation, rtol=1e-6, atol=0) if _broadcast(theory, simulation) else False
        require(same, f"{name} of the prediction", "that of the measurement", theory.ravel()[:3].tolist())


def _broadcast(left: Array, right: Array) -> bool:
    try:
        np.broadcast_shapes(left.shape, right.shape)
    except ValueError:
        return False
    return True


def _measurement(measured: Estimate | Mapping[str, Any]) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array]]:
    """Return means, standard errors and degrees of freedom; without a count the error is taken as known."""
    if isinstance(measured, Estimate):
        sem = measured.sem
        measured = {
            name: (mean, sem[name], trailing(measured.count, mean.ndim)) for name, mean in measured.mean.items()
        }
    entries = {name: [np.asarray(v, dtype=np.float64) for v in entry] for name, entry in measured.items()}
    known = np.asarray(_KNOWN_ERROR)
    freedom = {name: np.maximum(entry[2] - 1, 1.0) if len(entry) > 2 else known for name, entry in entries.items()}
    return (
        {name: entry[0] for name, entry in entries.items()},
        {name: entry[1] for name, entry in entries.items()},
        freedom,
    )


def _compare_one(predicted: Any, mean: Array, sem: Array, freedom: Array, allowance: Any, count: int) -> Comparison:
    predicted = np.asarray(predicted, dtype=np.float64)
    quantile = stdtrit(freedom, 1 - FALSE_ALARM_RATE / (2 * count))
    # The noncentral t at which the quantile is exceeded with probability POWER (Abramowitz and Stegun 26.7.10).
    noncentrality = quantile * (1 - 1 / (4 * freedom)) + ndtri(POWER) * np.sqrt(1 + quantile**2 / (2 * freedom))
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = mean - predicted
        scale = np.abs(predicted)
        systematic = (allowance + ROUNDING) * scale
        compared = np.isfinite(predicted) & np.isfinite(mean) & np.isfinite(sem)
        nothing = difference == 0
        return Comparison(
            difference=difference,
            relative=np.where(nothing, 0.0, difference / scale),
            z=np.where(nothing, 0.0, difference / sem),
            bound=quantile * sem + systematic,
            detectable=np.where(sem == 0, allowance + ROUNDING, (noncentrality * sem + systematic) / scale),
            allowed=np.broadcast_to(allowance, np.shape(difference)),
            compared=compared,
        )


def _verdict(comparisons: Mapping[str, Comparison], detectable: float) -> str:
    items = comparisons.values()
    if any(item.disagrees.any() for item in items):
        return "disagree"
    seen = [item.detectable[item.compared] for item in items]
    sharp = all(np.all(values <= detectable) for values in seen)
    return "agree" if sharp and sum(values.size for values in seen) else "inconclusive"


def _largest(values: Array, where: Array) -> float:
    chosen = values[where]
    return float(chosen[np.argmax(np.abs(chosen))])

"""Scaling exponents of teacher and student on a power law, exact in whatever numbers come in (derived here).

Everything is a power of the teacher's n. With kappa = samples min(ridge/capacity, width, 1) for each stage, so that its
degrees of freedom are n^kappa and its effective ridge n^(-capacity kappa), N = samples, Q = samples width, and

    m = min(kappa_s, kappa_t),   s = min(source, 1),   r = min(source, 1/2),
    W = max(m, kappa_t + kappa_s - N_s),
    T = max(m (1 + capacity), m (1 + capacity) - Q_s + kappa_t, m - N_s + kappa_t (1 + capacity)),

the teacher's risk has the terms of `random_features.exponents`, of which bias is n^-b, and the student's

    shrink            n^-(2 capacity m s)                                          what both miss
    student_features  n^-(capacity kappa_s - capacity m max(1 - 2 source, 0) + Q_s - kappa_s)
    teacher_noise     n^-(1 - W)                                                   absent for noiseless labels
    teacher_alias     n^-(b + 1 - W)
    teacher_features  n^-(Q_t + capacity kappa_t (1 + 2 r) - T).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from solvable.errors import require
from solvable.random_features.scaling import exponents as exponents_of_one
from solvable.scaling import ROUNDING, PowerLaw, ScalingLaw, attaining, is_symbolic, largest, ratio, smallest

_HALF = Fraction(1, 2)


class StageExponents(NamedTuple):
    """How a stage grows with the teacher's number of samples.

    Attributes:
        ridge: the ridge per sample is (the stage's own n)^-ridge; >= 0, inf for ridge 0.
        width: n_features = (the stage's own n)^width; > 0, inf for kernel ridge regression.
        samples: the stage's own n is n_teacher^samples; > 0, and 1 for the teacher.
    """

    ridge: Any
    width: Any = math.inf
    samples: Any = 1


@dataclass(frozen=True)
class WeakToStrongLaw(ScalingLaw):
    """The scaling law of a teacher and a student, in the teacher's number of samples.

    `laws` holds `teacher_excess_risk` and `student_excess_risk`; `terms` the student's competing terms; `regime` what
    the student is `limited_by` (ridge, features or samples) and `dominated_by`, and what dominates the teacher,
    `teacher_dominated_by`; it is empty where symbols leave it open, as the two answers are then None.

    Attributes:
        teacher_terms: the competing terms of the teacher's risk.
        gains_over_teacher: whether the student's risk falls with a larger power of n.
        reaches_minimax: whether it falls as fast as any estimator can from the teacher's n noisy labels,
            n^-(2 capacity s/(2 capacity s + 1)); None for noiseless labels, where that is no bound.
    """

    teacher_terms: Mapping[str, Any] = field(default_factory=dict)
    gains_over_teacher: bool | None = None
    reaches_minimax: bool | None = None


class OptimalStudent(NamedTuple):
    """The best growth of a student's ridge for a given teacher.

    Attributes:
        ridge: the student's ridge exponent, relative to its own n.
        law: the law that it gives; `law.exponent("student_excess_risk")` is the fastest decay.
    """

    ridge: Any
    law: WeakToStrongLaw


class _Fixed(NamedTuple):
    """What the student's terms depend on besides its kappa."""

    capacity: Any
    source: Any
    kappa_t: Any
    width_t: Any
    bias_t: Any
    samples: Any
    width: Any
    noisy: bool


def exponents(
    capacity: Any, source: Any, *, teacher: StageExponents, student: StageExponents, noisy: bool = True
) -> WeakToStrongLaw:
    """Return how the risks of teacher and student scale with the teacher's n_samples.

    Args:
        capacity: > 1.
        source: > 0.
        teacher: growth of its ridge and width; samples must be 1.
        student: growth of its ridge, width and samples. Its labels are the teacher's, without noise of their own.
        noisy: False for noiseless true labels.

    Returns:
        A `WeakToStrongLaw`; exponents are exact if the parameters were. Logarithms, where terms tie or the source is
        1/2 or 1, are not resolved.

    Raises:
        ArgumentError: outside these domains. Symbols are not checked.

    Example:
        >>> from fractions import Fraction
        >>> from solvable.weak_to_strong import StageExponents, exponents
        >>> ridgeless, student = StageExponents(float("inf"), 2), StageExponents(Fraction(15, 34))
        >>> law = exponents(Fraction(3, 2), Fraction(4, 5), teacher=ridgeless, student=student)
        >>> law.exponent("teacher_excess_risk"), law.exponent("student_excess_risk"), law.reaches_minimax
        (0, Fraction(-12, 17), True)
    """
    one, fixed = _read(capacity, source, teacher, student, noisy=noisy)
    kappa = student.samples * smallest(ratio(student.ridge, capacity), student.width, 1)
    terms = _student_terms(fixed, kappa)
    risk, teacher_risk = largest(*terms.values()), one.exponent("excess_risk")
    laws = {"teacher_excess_risk": PowerLaw(teacher_risk), "student_excess_risk": PowerLaw(risk)}
    if is_symbolic(risk, teacher_risk, kappa):
        return WeakToStrongLaw("n_samples", laws, terms, teacher_terms=one.terms)
    limits = {"ridge": ratio(student.ridge, capacity), "features": student.width, "samples": 1}
    regime = {
        "limited_by": attaining(limits, min(limits.values())),
        "dominated_by": attaining(terms, risk),
        "teacher_dominated_by": one.regime["dominated_by"],
    }
    gains = bool(risk < teacher_risk - ROUNDING)
    minimax = bool(risk <= minimax_exponent(capacity, source) + ROUNDING) if noisy else None
    return WeakToStrongLaw("n_samples", laws, terms, regime, one.terms, gains, minimax)


def optimal_student_exponents(
    capacity: Any,
    source: Any,
    *,
    teacher: StageExponents,
    width: Any = math.inf,
    samples: Any = 1,
    noisy: bool = True,
) -> OptimalStudent:
    """Return the growth of the student's ridge that makes its risk fall fastest, exactly.

    The rate is a piecewise linear function of kappa: its largest value is at an end, a kink or a crossing.

    Args:
        capacity: > 1.
        source: > 0.
        teacher: growth of the teacher's ridge and width.
        width: of the student, > 0, may be inf.
        samples: of the student, > 0.
        noisy: False for noiseless true labels.

    Raises:
        ArgumentError: outside these domains, or for symbols.

    Example:
        >>> from solvable.weak_to_strong import StageExponents, optimal_student_exponents
        >>> best = optimal_student_exponents(1.5, 1.0, teacher=StageExponents(float("inf"), 0.3))
        >>> round(best.law.exponent("student_excess_risk"), 4), best.law.exponent("teacher_excess_risk")
        (-0.6545, -0.45)
    """
    symbolic = is_symbolic(capacity, source, *teacher, width, samples)
    require(not symbolic, "parameters", "numbers in optimal_student_exponents", "symbols")
    _, fixed = _read(capacity, source, teacher, StageExponents(math.inf, width, samples), noisy=noisy)
    ends = sorted({0, *(k for k in _kinks(fixed) if 0 < k < _largest_kappa(fixed)), _largest_kappa(fixed)})
    candidates = [k for low, high in pairwise(ends) for k in _crossings(fixed, low, high)]
    kappa = min([*ends, *candidates], key=lambda k: largest(*_student_terms(fixed, k).values()))
    ridge = ratio(capacity * kappa, samples)
    student = StageExponents(ridge, width, samples)
    return OptimalStudent(ridge, exponents(capacity, source, teacher=teacher, student=student, noisy=noisy))


def minimax_exponent(capacity: Any, source: Any) -> Any:
    """Return -2 capacity s/(2 capacity s + 1), s = min(source, 1): the fastest decay from noisy labels by ridge."""
    smooth = 2 * capacity * smallest(source, 1)
    return -ratio(smooth, smooth + 1)


def minimax_margin(
    capacity: Any, source: Any, *, teacher: StageExponents, width: Any = math.inf, samples: Any = 1
) -> Any:
    """Return by how much the tightest condition for a minimax student is met; some ridge reaches it if this is >= 0.

    With k = 1/(1 + 2 capacity s) and T at kappa_s = k, the conditions are (derived here)

        kappa_t >= k,   N_s >= kappa_t,   min(N_s, Q_s) >= k,   Q_s >= k (1 + 2 capacity (s - r)),
        Q_t + capacity kappa_t (1 + 2 r) - T >= 2 capacity s k.

    Args:
        capacity: > 1.
        source: > 0.
        teacher: growth of the teacher's ridge and width; true labels are noisy.
        width: of the student, > 0, may be inf.
        samples: of the student, > 0.

    Raises:
        ArgumentError: outside these domains. Symbols are not checked.

    Example:
        >>> from fractions import Fraction
        >>> from solvable.weak_to_strong import StageExponents, minimax_margin
        >>> minimax_margin(Fraction(3, 2), Fraction(4, 5), teacher=StageExponents(float("inf"), Fraction(1, 2)))
        Fraction(7, 34)
    """
    _, fixed = _read(capacity, source, teacher, StageExponents(math.inf, width, samples), noisy=True)
    smooth, rough = 2 * capacity * smallest(source, 1), 2 * capacity * smallest(source, _HALF)
    star = ratio(1, 1 + smooth)
    terms = _student_terms(fixed, star)
    return smallest(
        fixed.kappa_t - star,
        fixed.samples - fixed.kappa_t,
        _largest_kappa(fixed) - star,
        fixed.width - star * (1 + smooth - rough),
        -terms["teacher_features"] - smooth * star,
    )


def _read(
    capacity: Any, source: Any, teacher: StageExponents, student: StageExponents, *, noisy: bool
) -> tuple[ScalingLaw, _Fixed]:
    if not is_symbolic(teacher.samples):
        require(teacher.samples == 1, "teacher.samples", "1", teacher.samples)
    for name in ("samples", "width"):
        value = getattr(student, name)
        if not is_symbolic(value):
            finite = name == "width" or math.isfinite(value)
            require(
                bool(value > 0 and finite), f"student.{name}", "> 0" + ("" if name == "width" else " and finite"), value
            )
    if not is_symbolic(student.ridge):
        require(bool(student.ridge >= 0), "student.ridge", ">= 0", student.ridge)
    one = exponents_of_one(capacity, source, ridge_exponent=teacher.ridge, width_exponent=teacher.width, noisy=noisy)
    bias = -one.exponent("bias")
    kappa_t = one.exponent("degrees_of_freedom")
    width = student.samples * student.width
    return one, _Fixed(capacity, source, kappa_t, teacher.width, bias, student.samples, width, noisy)


def _student_terms(fixed: _Fixed, kappa: Any) -> dict[str, Any]:
    alpha, source, kappa_t = fixed.capacity, fixed.source, fixed.kappa_t
    m = smallest(kappa, kappa_t)
    memorised = largest(m, kappa_t + kappa - fixed.samples)
    spread = largest(
        m * (1 + alpha), m * (1 + alpha) - fixed.width + kappa_t, m - fixed.samples + kappa_t * (1 + alpha)
    )
    roughness = largest(1 - 2 * source, 0)
    terms = {
        "shrink": -2 * alpha * m * smallest(source, 1),
        "student_features": -(alpha * kappa - alpha * m * roughness + fixed.width - kappa),
        "teacher_noise": memorised - 1,
        "teacher_alias": memorised - 1 - fixed.bias_t,
        "teacher_features": spread - fixed.width_t - alpha * kappa_t * (1 + 2 * smallest(source, _HALF)),
    }
    return terms if fixed.noisy else {name: value for name, value in terms.items() if name != "teacher_noise"}


def _largest_kappa(fixed: _Fixed) -> Any:
    return smallest(fixed.samples, fixed.width)


def _kinks(fixed: _Fixed) -> list[Any]:
    """Values of kappa where one of the minima and maxima in the terms changes its branch."""
    alpha, kappa_t, samples, width = fixed.capacity, fixed.kappa_t, fixed.samples, fixed.width
    return [
        kappa_t,
        samples,
        kappa_t + ratio(kappa_t - samples, alpha),
        kappa_t + ratio(width - samples, alpha),
    ]


def _crossings(fixed: _Fixed, low: Any, high: Any) -> list[Any]:
    """Where two terms, linear between `low` and `high`, are equal."""
    first, last = _student_terms(fixed, low), _student_terms(fixed, high)
    places = []
    finite = [name for name in first if math.isfinite(first[name]) and math.isfinite(last[name])]
    for one, other in combinations(finite, 2):
        start, end = first[one] - first[other], last[one] - last[other]
        if (start < 0) != (end < 0):
            places.append(low + (high - low) * ratio(start, start - end))
    return places

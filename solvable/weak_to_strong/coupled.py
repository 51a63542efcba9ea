"""Teacher and student that share their features or their inputs (derived here).

Both need the mean of products of two resolvents of one random matrix, K(K + z)^-1 at the teacher's z and at the
student's, which are smooth functions of two effective ridges. Derivatives and divided differences of them are written
out, so equal ridges are no special case.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from solvable.precision import Array, weighted_sum
from solvable.ridge import ratio
from solvable.weak_to_strong.channel import Trainer
from solvable.weak_to_strong.worlds import World


class _Connected(NamedTuple):
    """What fluctuations of common features add to a product of two resolvents, and its derivatives.

    `at_teacher` and `at_student` are derivatives in log z of one of the two, `at_both` is the mixed one.
    """

    value: Array
    at_teacher: Array
    at_student: Array
    at_both: Array

    def apply(self, teacher: int, student: int) -> Array:
        """Apply (1 + teacher d/dlog z_t)(1 + student d/dlog z_s), with +1 for K/(K + z) and -1 for its rest."""
        return self.value + teacher * self.at_teacher + student * self.at_student + teacher * student * self.at_both


def shared_features(
    xp: Any, world: World, pair: tuple[Trainer, Trainer], noises: tuple[Array, Array]
) -> tuple[Array, ...]:
    """Return both risks where teacher and student use the same features on independent inputs.

    With R = K(K + z)^-1 in the kernel K of the features, the mean student is R_s R_t beta. Each operator that turns
    R into R^2, 1 + d/dlog z, acts on s as on the mean resolvent: s -> w and h -> m as in `channel`.
    """
    teacher, student = pair
    connected = partial(_connected, world, teacher, student, xp)
    target, modes = connected(world.target_power), connected(world.multiplicities)
    power, counts = (
        partial(weighted_sum, weights=world.target_power, xp=xp),
        partial(weighted_sum, weights=world.multiplicities, xp=xp),
    )
    h_t, h_s = teacher.missed, student.missed
    m_t, m_s, w_t, w_s = teacher.missed_squares, student.missed_squares, teacher.squares, student.squares
    level = power(m_t) + noises[0] + world.null_power
    noise = ratio(level, teacher.gap, xp) / teacher.n_samples
    missed = power(m_t + m_s + 2 * h_t * h_s - 2 * m_t * h_s - 2 * h_t * m_s + m_t * m_s)
    bias = missed + target.apply(1, 1) - 2 * target.value
    inherited = noise * (counts(w_t * w_s) + modes.apply(1, 1))
    against = power(w_t * m_s) - target.apply(1, -1) + noise * (counts(w_t * m_s) - modes.apply(1, -1)) + noises[1]
    own = ratio(against * counts(w_s) / student.n_samples, student.gap, xp)
    teacher_risk = power(m_t) + noise * counts(w_t) + world.null_power
    return _finite(xp, teacher, level, teacher_risk), _finite(
        xp, student, against, _finite(xp, teacher, level, bias + inherited + own + world.null_power)
    )


def shared_inputs(
    xp: Any, world: World, pair: tuple[Trainer, Trainer], noises: tuple[Array, Array]
) -> tuple[Array, ...]:
    """Return both risks where the student refits the teacher's predictions on the training inputs themselves.

    The student is the divided difference of z theta(z) between the two ridges: per mode it learns s_s (1 - k h_t) with
    k = a_t / (a_s + sum N h_t s_s / n), which is s_s s_t up to how ridges are renormalised.
    """
    teacher, student = pair
    power, counts = (
        partial(weighted_sum, weights=world.target_power, xp=xp),
        partial(weighted_sum, weights=world.multiplicities, xp=xp),
    )
    n, (h_t, s_t), (h_s, s_s) = teacher.n_samples, (teacher.missed, teacher.learned), (student.missed, student.learned)
    total = student.solved.sample_gap + counts(h_t * s_s) / n
    share = ratio(teacher.solved.sample_gap, total, xp)[..., None]
    rest = ratio(counts(s_t * h_s) / n, total, xp)[..., None]
    step = share * h_t * s_s
    learned = s_s * (rest + share * s_t)  # s_s (1 - k h_t), with 1 - k = rest
    sources = noises[0] + world.null_power

    def between(left: Array, right: Array, own: Array, other: Array) -> Array:
        """Mean product of the errors of two models, by what they miss and by what they learn."""
        return power(left * right) + sources * counts(own * other) / n

    gap = teacher.solved.sample_gap + counts(s_t * h_s) / n  # 1 - sum N s_t s_s / n
    teacher_risk = ratio(between(h_t, h_t, s_t, s_t), teacher.gap, xp)
    both = ratio(between(h_t, h_s, s_t, s_s), gap, xp)
    turned = counts(step * s_s) / n  # minus the step of sum N s s / n, on one side or both
    across = ratio(between(step, h_t, -step, s_t) - teacher_risk * counts(step * s_t) / n, gap, xp)
    level = between(h_s + step, h_s + step, learned, learned)
    level = level - 2 * (both + across) * turned + teacher_risk * counts(step * step) / n
    own = ratio(level + noises[1] * counts(s_s * s_s) / n, student.gap, xp)
    first = between(h_t, h_t, s_t, s_t)
    teacher_total = _finite(xp, teacher, first, teacher_risk + world.null_power)
    return teacher_total, _finite(xp, student, level, own + world.null_power)


def _finite(xp: Any, stage: Trainer, level: Array, risk: Array) -> Array:
    return xp.where((stage.gap == 0) & (level != 0), np.inf, risk)


def _connected(world: World, teacher: Trainer, student: Trainer, xp: Any, weights: Array) -> _Connected:
    """Return M = q W / d with q = sum N h_t s_s / p, d = b_t + sum N s_t h_s / p and W = sum weights s_t h_s.

    Derivatives in log nu2 are written as `_t`, `_s`, `_ts`; phi turns them into derivatives in log z.
    """
    counts = partial(weighted_sum, weights=world.multiplicities, xp=xp)
    (s_t, h_t, u_t), (s_s, h_s, u_s) = teacher[:3], student[:3]
    width = 1 / teacher.n_features
    q, q_t, q_s, both = (width * counts(v) for v in (h_t * s_s, u_t * s_s, h_t * u_s, u_t * u_s))
    d = teacher.solved.feature_gap + width * counts(s_t * h_s)
    d_t, d_s = q_t, width * counts(s_t * u_s)
    slope = ratio(q, d, xp)
    slope_t, slope_s = ratio(q_t - slope * d_t, d, xp), ratio(-q_s - slope * d_s, d, xp)
    slope_ts = ratio(-both - slope_t * d_s - slope_s * d_t + slope * both, d, xp)
    weigh = partial(weighted_sum, weights=weights, xp=xp)
    w, w_t, w_s, w_ts = weigh(s_t * h_s), -weigh(u_t * h_s), weigh(s_t * u_s), -weigh(u_t * u_s)
    phi_t, phi_s = 1 - teacher.share, 1 - student.share
    return _Connected(
        slope * w,
        phi_t * (slope_t * w + slope * w_t),
        phi_s * (slope_s * w + slope * w_s),
        phi_t * phi_s * (slope_ts * w + slope_t * w_s + slope_s * w_t + slope * w_ts),
    )

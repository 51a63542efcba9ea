"""One training as a channel: what it does to the mean and the variance of the function that labels its data.

A labelling function enters ridge regression on random features through two numbers per mode (derived here; exact for
Gaussian features in the limit of many samples and features): its mean (1 - e) beta, by the relative `mean_error` e, and
its `variance` v. With s = x/(x + nu2), h = 1 - s, u = s h, D = (delta/p)/(b + delta/p) and iota = D/delta,

    w = s^2 + D u,    m = h^2 + D u,    c = (1 - e)^2 beta^2 + v            (second moment of the labels)

a training on n labels with noise of variance tau^2 returns a function of

    effective_noise = (sum m c + tau^2) / gap,       gap = a + (1 - D) delta/n = 1 - sum N w / n,
    e' = h + s e,       v' = s^2 v + N (iota (sum u c) u + effective_noise/n w).

The truth is e = v = 0. A teacher is one training, a student two, a chain many; an average of B teachers divides v by B.
No term is negative, so nothing cancels, and errors are carried instead of means.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from solvable.precision import Array, weighted_sum
from solvable.ridge import EffectiveRidge, effective_ridge, feature_shares
from solvable.weak_to_strong.worlds import Kernel, World


class State(NamedTuple):
    """What is known of a function, per level: arrays of the lanes' shape + (levels,), or 0 for the truth.

    Attributes:
        mean_error: e, where the mean coefficient is (1 - e) times the target's.
        variance: v, summed over the modes of a level.
    """

    mean_error: Array
    variance: Array


class Trainer(NamedTuple):
    """One stage of training with its fixed point solved.

    Attributes:
        learned: s, shape (lanes, levels).
        missed: h = 1 - s.
        overlap: u = s h.
        share: D, the features' share, shape (lanes,).
        per_feature: iota = 1/(p - df2), 0 for infinitely many features.
        gap: 1 - Upsilon; 0 at interpolation.
        n_samples: n.
        n_features: p.
        solved: the fixed point.
    """

    learned: Array
    missed: Array
    overlap: Array
    share: Array
    per_feature: Array
    gap: Array
    n_samples: Array
    n_features: Array
    solved: EffectiveRidge

    def lane(self, index: int) -> "Trainer":
        """Return one lane of a concrete trainer."""
        fields = {name: values[index] for name, values in zip(self._fields, self[:-1], strict=False)}
        return Trainer(**fields, solved=EffectiveRidge(*(values[index] for values in self.solved)))

    @property
    def squares(self) -> Array:
        """Return w, the mean of the squared map from labels to function."""
        return self.learned**2 + self.share[..., None] * self.overlap

    @property
    def missed_squares(self) -> Array:
        """Return m, the mean of the squared map from labels to what is not learned of them."""
        return self.missed**2 + self.share[..., None] * self.overlap


class Trained(NamedTuple):
    """A trained function, and what it cost.

    Attributes:
        state: mean error and variance.
        effective_noise: error against the labels, their noise included, in units of squared labels.
        singular: True where the effective noise, and every risk from here on, is infinite.
    """

    state: State
    effective_noise: Array
    singular: Array


TRUTH = State(0.0, 0.0)


def solve(kernel: Kernel, n: Array, p: Array, ridge_per_sample: Array, xp: Any) -> EffectiveRidge:
    """Solve the fixed point of a stage, once for each distinct combination of sizes and ridge."""
    if xp is not np:
        return effective_ridge(kernel.nodes, n, p, ridge_per_sample, xp)
    (n, p, ridge_per_sample), places = distinct(n, p, ridge_per_sample)
    solved = effective_ridge(kernel.nodes, n, p, ridge_per_sample, xp)
    return EffectiveRidge(*(values[places] for values in solved))


def distinct(*lanes: Array) -> tuple[Array, Array]:
    """Return the distinct combinations of concrete lanes, one row per lane, and the place of each among them."""
    rows, places = np.unique(np.stack(lanes, axis=1), axis=0, return_inverse=True)
    return rows.T, places.ravel()


def trainer(world: World, kernel: Kernel, solved: EffectiveRidge, n: Array, p: Array, xp: Any) -> Trainer:
    """Return the channel at a solved fixed point."""
    x, nu = kernel.eigenvalues, solved.nu2[..., None]
    null = x == 0
    total = xp.where(null, 1.0, x + nu)
    learned, missed = x / total, xp.where(null, 1.0, nu / total)
    overlap = learned * missed
    delta = weighted_sum(overlap, world.multiplicities, xp)
    phi, share = feature_shares(solved.feature_gap, delta / p, xp)
    features = solved.feature_gap + delta / p
    per_feature = xp.where(features == 0, 0.0, 1 / p / xp.where(features == 0, 1.0, features))
    gap = solved.sample_gap + phi * delta / n
    return Trainer(learned, missed, overlap, share, per_feature, gap, n, p, solved)


def train(world: World, stage: Trainer, labels: State, noise: Array, xp: Any) -> Trained:
    """Pass a labelling function through one training on its labels plus noise."""
    e, v = labels
    seen = (1 - e) ** 2 * world.target_power + v
    missed = xp.sum(stage.missed_squares * seen, axis=-1)
    overlap = xp.sum(stage.overlap * seen, axis=-1)
    return respond(world, stage, labels, missed + noise, overlap, xp)


def respond(world: World, stage: Trainer, labels: State, level: Array, overlap: Array, xp: Any) -> Trained:
    """Return the trained function, given the error level against the labels before amplification, and sum u c."""
    singular = (stage.gap == 0) & (level != 0)
    noise = xp.where(stage.gap == 0, 0.0, level) / _positive(stage.gap, xp)
    per_mode = (stage.per_feature * overlap)[..., None] * stage.overlap
    per_mode = per_mode + (noise / stage.n_samples)[..., None] * stage.squares
    mean_error = stage.missed + stage.learned * labels.mean_error
    variance = stage.learned**2 * labels.variance + world.multiplicities * per_mode
    return Trained(State(mean_error, variance), noise, singular)


def mix(world: World, stage: Trainer, teacher: State, fraction: Array, noises: tuple[Array, Array], xp: Any) -> Trained:
    """Train on a fraction of labels from the teacher and the rest from the truth (derived here).

    `noises` are the label-noise variances of the two kinds, null power of the world included.
    """
    share, e, v = fraction[..., None], teacher.mean_error, teacher.variance
    s, h, power = stage.learned, stage.missed, world.target_power
    mean = State(share * e, share**2 * v)
    overlap = xp.sum(stage.overlap * ((1 - mean.mean_error) ** 2 * power + mean.variance), axis=-1)
    of_teacher = (h - e + s * mean.mean_error) ** 2 * power + (1 - share * s) ** 2 * v
    of_truth = (h + s * mean.mean_error) ** 2 * power + share**2 * s**2 * v
    from_teacher, from_truth = (
        xp.sum(errors, axis=-1) + noise for errors, noise in zip((of_teacher, of_truth), noises, strict=True)
    )
    features = stage.per_feature * weighted_sum(stage.overlap, world.multiplicities, xp) * overlap
    level = fraction * from_teacher + (1 - fraction) * from_truth + features
    return respond(world, stage, mean, level, overlap, xp)


def excess_risk(world: World, state: State, xp: Any) -> Array:
    """Return the mean squared distance from the target."""
    return xp.sum(state.mean_error**2 * world.target_power + state.variance, axis=-1) + world.null_power


class Pairing(NamedTuple):
    """How a sum over levels runs over students and teachers.

    Attributes:
        product: (student's, teacher's) factors of shape (lanes, levels) -> sums of their products.
        of_student: gives a student's number the shape of such a sum.
    """

    product: Callable[[Array, Array], Array]
    of_student: Callable[[Array], Array]


def lane_by_lane(xp: Any) -> Pairing:
    """Pair each student with the teacher of the same lane."""
    return Pairing(lambda f, g: xp.sum(f * g, axis=-1), lambda value: value)


# Every student with every teacher: matrix products, rows are students.
TABLE = Pairing(lambda f, g: f @ g.T, lambda value: value[:, None])


def decompose(
    world: World, teacher: Trainer, student: Trainer, noises: tuple[Array, Array], pairing: Pairing, xp: Any
) -> tuple[Array, ...]:
    """Split the student's excess risk into six parts that are never negative (derived here).

    Two channels composed are linear in what the teacher hands on: the student's risk weighs second moments of its
    labels by a = s^2 + D u + amplification m, and so each source of the teacher's variance.

    Returns:
        What both miss; the student's own fluctuation on the mean teacher; then the teacher's fluctuation by features,
        by label noise, and by unlearned signal; and the student's own label noise.
    """
    power, counts = world.target_power, world.multiplicities
    product, of_student = pairing
    amplification = weighted_sum(student.squares, counts, xp) / student.n_samples / _positive(student.gap, xp)
    own = student.share[..., None] * student.overlap + amplification[..., None] * student.missed_squares
    squares = student.learned**2
    weights = counts * (own + squares)
    missed = product(2 * student.overlap, power * teacher.missed) + product(squares, power * teacher.missed**2)
    coupled = product(weights, teacher.squares) / teacher.n_samples / _positive(teacher.gap, xp)
    alias = weighted_sum(teacher.missed_squares, power, xp) + world.null_power
    return (
        of_student(weighted_sum(student.missed**2, power, xp) + world.null_power) + missed,
        product(own, power * teacher.learned**2),
        weighted_sum(teacher.overlap, power, xp) * teacher.per_feature * product(weights, teacher.overlap),
        noises[0] * coupled,
        alias * coupled,
        of_student(noises[1] * amplification) + 0.0 * coupled,
    )


def _positive(gap: Array, xp: Any) -> Array:
    """Return a gap to divide by; where it is 0 the caller knows that the risk is singular."""
    return xp.where(gap == 0, 1.0, gap)

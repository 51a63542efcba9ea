"""The best student for a given teacher, without solving for the effective ridge (derived here).

At given nu2 the student's ridge is explicit, ridge/n = nu2 a b, and so is its risk. The risk is scanned over nu2 and
minimised where its derivative, taken by a complex step, vanishes.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize.elementwise import find_root

from solvable.errors import require
from solvable.observables import Record
from solvable.precision import Array, by_rows, map_lanes
from solvable.random_features.problem import Problem
from solvable.random_features.theory import check_resolution
from solvable.ridge import EffectiveRidge, Floor, above_floor, ridge_floor
from solvable.training import Stage
from solvable.weak_to_strong.channel import TRUTH, State, excess_risk, solve, train, trainer
from solvable.weak_to_strong.stages import Numbers, read, ridge_per_sample
from solvable.weak_to_strong.worlds import Kernel, World, lay_out, unresolved

_POINTS = 160  # of the scan in log(nu2 - nu0)
_EDGE = -28.0  # log(nu2/nu0 - 1) at its left end: a ridge of 1e-12 of its natural size
_STEP = 1e-30  # of the complex step


class _Search(NamedTuple):
    """What the student's risk depends on besides nu2, per lane."""

    mean_error: Array
    variance: Array
    n: Array
    p: Array
    nu2: Array  # of the floor, where the ridge is 0
    missing: Array
    noise: Array


def optimal_student(
    problem: Problem,
    *,
    teacher: Stage,
    n_samples: Any,
    n_features: Any = math.inf,
    label_noise_variance: Any = 0.0,
) -> Record:
    """Return the student's ridge of smallest excess risk, and that risk.

    Args:
        problem: as in `predict`.
        teacher: how the teacher trains.
        n_samples: of the student, > 0; inf for a student that sees the teacher everywhere.
        n_features: of the student, > 0, may be inf. With both inf the student is the spectral filter x/(x + nu2),
            nu2 = ridge_per_sample.
        label_noise_variance: of the student's labels, finite, >= 0.

    Sizes and the teacher's fields broadcast.

    Returns:
        A record of `ridge`, `ridge_per_sample`, `student_excess_risk`, `teacher_excess_risk` and `nu2`, each of the
        broadcast shape. The ridge is exactly 0 where the risk rises from there, and inf where learning nothing is best;
        with infinitely many samples a positive ridge is inf, and `ridge_per_sample` says which.

    Raises:
        ArgumentError: outside these domains, or for traced arguments.
        ResolutionError: as in `random_features.predict`.

    Example:
        >>> from solvable import weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.8, noise_variance=0.25)
        >>> best = w2s.optimal_student(problem, teacher=w2s.Stage(100, 400, ridge=0.0), n_samples=1000, n_features=1000)
        >>> best.ridge.round(2).item(), best.student_excess_risk.round(7).item()
        (52.59, 0.0329896)
    """
    student = Stage(n_samples, n_features, ridge=0.0, label_noise_variance=label_noise_variance)
    numbers = read(problem, {"teacher": teacher, "student": student})
    lanes = [value for own in numbers for value in own[:4]]

    def prepare(xp: Any, problem: Problem) -> tuple[World, tuple[Kernel, ...]]:
        require(xp is np, "problem, teacher", "concrete in optimal_student", "a tracer")
        return lay_out(problem, [teacher, student], by_mode=False, xp=xp)

    values = map_lanes(partial(_best, numbers[0]), prepare, problem, tuple(lanes))
    check_resolution(values.pop("unresolved"))
    return Record(values)


def _best(own: Numbers, xp: Any, prepared: tuple[World, tuple[Kernel, ...]], *lanes: Array) -> dict[str, Array]:
    world, kernels = prepared
    n_t, p_t, penalty, noise_t, n, p, _, noise = lanes
    solved = solve(kernels[0], n_t, p_t, ridge_per_sample(own, n_t, penalty), xp)
    floor = ridge_floor(kernels[1].nodes, n, p, xp)
    flat = (*solved, n_t, p_t, noise_t, n, p, *floor, noise)

    def rows(*flat: Array) -> tuple[Array, ...]:
        teacher = trainer(world, kernels[0], EffectiveRidge(*flat[:4]), flat[4], flat[5], xp)
        taught = train(world, teacher, TRUTH, flat[6] + world.null_power, xp)
        risk = xp.where(taught.singular, np.inf, excess_risk(world, taught.state, xp))
        search = _Search(*taught.state, *flat[7:])
        gap, ridge, best = _minimise(world, kernels[1], search)
        return risk, search.nu2 + gap, ridge, xp.where(taught.singular, np.inf, best)

    teacher_risk, nu2, per_sample, risk = by_rows(rows, flat, len(world.target_power), xp)
    unlimited = xp.isinf(n) & (per_sample > 0)
    return {
        "ridge": xp.where(unlimited, np.inf, per_sample * xp.where(xp.isinf(n), 1.0, n)),
        "ridge_per_sample": per_sample,
        "student_excess_risk": risk,
        "teacher_excess_risk": teacher_risk,
        "nu2": nu2,
        "unresolved": unresolved(kernels[0], solved.nu2) | (unresolved(kernels[1], nu2) & (per_sample > 0)),
    }


def _minimise(world: World, kernel: Kernel, search: _Search) -> tuple[Array, Array, Array]:
    """Return nu2 - nu0, the ridge per sample and the risk at the minimum of each lane."""
    low, places = _places(world, kernel, search)
    scanned = np.stack([_risk(world, kernel, search, v)[0] for v in places.T], axis=1)
    best = np.argmin(scanned, axis=1)
    lanes = np.arange(len(best))
    left, right = places[lanes, np.maximum(best - 1, 0)], places[lanes, np.minimum(best + 1, _POINTS - 1)]
    slope = partial(_slope, world, kernel)
    falls, rises = slope(left, *search) < 0, slope(right, *search) > 0
    at_floor, at_end = (best == 0) & ~(falls & rises), (best == _POINTS - 1) & ~(falls & rises)
    value = places[lanes, best]  # kept where the risk is flat to rounding
    inner = falls & rises
    if inner.any():
        # The lanes left are passed by number: the solver wants arguments of one entry per lane.
        root = find_root(
            lambda v, lane: slope(v, *(values[lane.astype(int)] for values in search)),
            (left[inner], right[inner]), args=(lanes[inner],), tolerances={"xatol": 1e-13},
        )  # fmt: skip
        value[inner] = root.x
    risk, per_sample = _risk(world, kernel, search, value)
    zero = _risk(world, kernel, search, np.full_like(low, -np.inf))[0]
    nothing = np.sum(world.target_power) + world.null_power
    gap = np.where(at_floor, 0.0, np.exp(value))
    return (
        gap,
        np.where(at_floor, 0.0, np.where(at_end, np.inf, per_sample)),
        np.where(at_floor, zero, np.where(at_end, nothing, risk)),
    )


def _places(world: World, kernel: Kernel, search: _Search) -> tuple[Array, Array]:
    """Scan from next to the floor to where nothing is learned."""
    x = kernel.nodes.eigenvalues
    noise = np.max(search.noise) / max(float(np.sum(world.target_power)), 1e-300)
    high = math.log(1e6 * float(x @ kernel.nodes.multiplicities) * (1 + noise))
    resolved = float(kernel.nodes.resolution) or float(x[-1]) * math.exp(_EDGE)
    low = np.log(np.where(search.nu2 > 0, search.nu2 * math.exp(_EDGE), resolved))
    return low, low[:, None] + (high - low[:, None]) * np.linspace(0, 1, _POINTS)


def _risk(world: World, kernel: Kernel, search: _Search, v: Array) -> tuple[Array, Array]:
    """Student's excess risk and ridge per sample at log(nu2 - nu0) = v; v may be complex."""
    solved = above_floor(kernel.nodes, Floor(search.nu2, search.missing), np.exp(v), search.n, search.p, np)
    student = trainer(world, kernel, solved, search.n, search.p, np)
    trained = train(world, student, State(search.mean_error, search.variance), search.noise, np)
    risk = np.where(trained.singular, np.inf, excess_risk(world, trained.state, np))
    return risk, solved.nu2 * solved.sample_gap * solved.feature_gap


def _slope(world: World, kernel: Kernel, v: Array, *search: Array) -> Array:
    risk, _ = _risk(world, kernel, _Search(*search), v + 1j * _STEP)
    return risk.imag / risk.real / _STEP

"""Chains of trainings, each labelled by the one before, and when repeated self-distillation collapses."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from solvable.errors import require
from solvable.observables import Observables, Prediction, Record
from solvable.precision import Array, map_lanes, namespace
from solvable.random_features.problem import Problem
from solvable.random_features.theory import check_controls, check_resolution, mark_unresolved
from solvable.training import Stage
from solvable.weak_to_strong.channel import TRUTH, Trainer, excess_risk, solve, train, trainer
from solvable.weak_to_strong.stages import Numbers, controls, numbered, read, ridge_per_sample
from solvable.weak_to_strong.worlds import Kernel, World, kernels_of, lay_out, unresolved

CHAIN = Observables(base=("excess_risk",), validity="equivalent", finite_size={"excess_risk": "1/min(n, p)"})
_RIDGES = (1e-12, 1e12)  # between which the threshold of collapse is looked for, per sample and trace


def chain(problem: Problem, stages: Sequence[Stage]) -> Prediction:
    """Predict every generation of a chain: the first learns from noisy true labels, each next one from the last.

    The channel of `solvable.weak_to_strong.channel`, iterated (derived here). Inputs and features are fresh each time.

    Args:
        problem: as in `predict`.
        stages: one or more; their fields broadcast.

    Returns:
        A `Prediction` of `excess_risk`, of the broadcast shape + (generations,). `.diagnostics` holds `nu2` of each,
        and per mode the `mean_error` e (mean coefficient (1 - e) beta) and the `variance`, of the broadcast shape +
        (generations, levels), with the `eigenvalues` (of the first stage's kernel), `multiplicities` and `target_power`
        of the levels. Levels are the modes of a finite world, and quadrature nodes of an infinite one; `variance` is
        that of one mode.

    Raises:
        ArgumentError: for no stages, or arguments outside their domain.
        ResolutionError: as in `random_features.predict`.

    Example:
        >>> from solvable import weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.6, noise_variance=0.3, n_modes=300)
        >>> collapse = w2s.chain(problem, [w2s.Stage(80, 120, ridge=0.05)] + 3 * [w2s.Stage(100, 100, ridge=0.02)])
        >>> collapse.excess_risk.round(5)
        array([0.29036, 0.31703, 0.34408, 0.37058])
    """
    require(not isinstance(stages, Stage) and len(stages) > 0, "stages", "a sequence of at least one Stage", stages)
    named = numbered(stages)
    numbers = read(problem, named)
    lanes = [value for own in numbers for value in own[:4]]

    given = (problem, kernels_of(stages))
    values = map_lanes(partial(_generations, numbers), _by_mode, given, tuple(lanes))
    check_resolution(values.pop("unresolved"))
    observables = Record({"excess_risk": values.pop("excess_risk")})
    world, kernels = _by_mode(namespace(given), given)
    values |= {"multiplicities": world.multiplicities, "target_power": world.target_power}
    values |= {"eigenvalues": kernels[0].eigenvalues}
    return Prediction(observables, Record(values), controls(named, numbers), CHAIN)


def _by_mode(xp: Any, given: tuple[Problem, list[Stage]]) -> tuple[World, tuple[Kernel, ...]]:
    return lay_out(*given, by_mode=True, xp=xp)


def growth_rate(problem: Problem, stage: Stage) -> Array:
    """Return the factor per generation by which variance grows or fades in repeated noiseless self-distillation.

    It is the largest eigenvalue of the map from one generation's second moments to the next (derived here): below 1
    everything is forgotten, above 1 re-fitted sampling noise grows without bound.

    Args:
        problem: as in `predict`.
        stage: the training that is repeated; its label noise plays no role. Fields broadcast.

    Returns:
        The factor, of the fields' broadcast shape; inf where one training is singular.

    Raises:
        ArgumentError: outside these domains.
        ResolutionError: as in `random_features.predict`.

    Example:
        >>> from solvable import weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.6, n_modes=300)
        >>> w2s.growth_rate(problem, w2s.Stage(100, 100, ridge=[0.02, 0.1, 1.0])).round(4)
        array([1.0192, 0.9894, 0.9632])
    """
    (own,) = read(problem, {"stage": stage})

    def prepare(xp: Any, problem: Problem) -> tuple[World, tuple[Kernel, ...]]:
        require(xp is np, "stage", "concrete in growth_rate", "a tracer")
        return lay_out(problem, [stage], by_mode=False, xp=xp)

    values = map_lanes(partial(_growth, own), prepare, problem, tuple(own[:3]))
    check_resolution(values.pop("unresolved"))
    return values["growth"]


def collapse_ridge(problem: Problem, *, n_samples: float, n_features: float = math.inf) -> float:
    """Return the ridge at which `growth_rate` is 1: below it, repeated self-distillation collapses.

    Args:
        problem: as in `predict`.
        n_samples: > 0 and finite; a scalar.
        n_features: > 0, may be inf; a scalar.

    Returns:
        The ridge; 0.0 if no ridge collapses.

    Raises:
        ArgumentError: outside these domains.

    Example:
        >>> from solvable import weak_to_strong as w2s
        >>> problem = w2s.Problem.power_law(capacity=1.5, source=0.6, n_modes=300)
        >>> round(w2s.collapse_ridge(problem, n_samples=100, n_features=100), 4)
        0.0223
    """
    check_controls({"n_samples": n_samples, "n_features": n_features})
    require(math.isfinite(n_samples), "n_samples", "finite", n_samples)
    nodes = problem.modes.nodes(np)
    scale = float(n_samples * (nodes.eigenvalues @ nodes.multiplicities))

    def surplus(log_ridge: float) -> float:
        stage = Stage(n_samples, n_features, ridge=scale * math.exp(log_ridge))
        return math.log(float(growth_rate(problem, stage)))

    low, high = (math.log(ridge) for ridge in _RIDGES)
    if surplus(low) <= 0:
        return 0.0
    return scale * math.exp(brentq(surplus, low, high, xtol=1e-13, rtol=1e-14))


def _generations(
    numbers: list[Numbers], xp: Any, prepared: tuple[World, tuple[Kernel, ...]], *lanes: Array
) -> dict[str, Array]:
    world, kernels = prepared
    state, rows = TRUTH, []
    singular = coarse = xp.zeros(lanes[0].shape, dtype=bool)
    hidden = world.null_power  # of the true labels; a model's labels hold nothing of it
    for place, (own, kernel) in enumerate(zip(numbers, kernels, strict=True)):
        n, p, penalty, noise = lanes[4 * place : 4 * place + 4]
        solved = solve(kernel, n, p, ridge_per_sample(own, n, penalty), xp)
        trained = train(world, trainer(world, kernel, solved, n, p, xp), state, noise + hidden, xp)
        state, singular, hidden = trained.state, singular | trained.singular, 0.0
        coarse = coarse | unresolved(kernel, solved.nu2)
        risk = xp.where(singular, np.inf, excess_risk(world, state, xp))
        per_mode = state.variance / xp.where(world.multiplicities > 0, world.multiplicities, 1.0)
        rows.append((risk, solved.nu2, state.mean_error, xp.where(singular[..., None], np.inf, per_mode)))
    risks, nu2, errors, variances = (xp.stack(column, axis=lanes[0].ndim) for column in zip(*rows, strict=True))
    shape = lanes[0].shape
    values = {"excess_risk": risks, "nu2": nu2, "mean_error": errors, "variance": variances}
    flagged = {
        name: mark_unresolved(xp, {name: value}, coarse.reshape(shape + (1,) * (value.ndim - len(shape))))[name]
        for name, value in values.items()
    }
    return {**flagged, "unresolved": coarse}


def _growth(
    own: Numbers, xp: Any, prepared: tuple[World, tuple[Kernel, ...]], n: Array, p: Array, penalty: Array
) -> dict[str, Array]:
    world, (kernel,) = prepared
    solved = solve(kernel, n, p, ridge_per_sample(own, n, penalty), xp)
    stage = trainer(world, kernel, solved, n, p, xp)
    roots = [_largest_eigenvalue(world, stage.lane(i)) for i in range(n.size)]
    return {"growth": np.array(roots), "unresolved": unresolved(kernel, solved.nu2)}


class _RankTwo(NamedTuple):
    """The map c -> diag(d) c + columns (rows . c), all entries >= 0."""

    diagonal: Array
    columns: Array  # (2, levels)
    rows: Array  # (2, levels)


def _second_moment_map(world: World, stage: Trainer) -> _RankTwo:
    refitted = world.multiplicities * stage.squares / (stage.n_samples * stage.gap)
    features = world.multiplicities * stage.per_feature * stage.overlap
    return _RankTwo(stage.learned**2, np.stack([features, refitted]), np.stack([stage.overlap, stage.missed_squares]))


def _largest_eigenvalue(world: World, stage: Trainer) -> float:
    """Solve for the eigenvalue at which the 2 x 2 matrix rows (rho - diag)^-1 columns has spectral radius 1."""
    if stage.gap == 0:
        return math.inf
    diagonal, columns, rows = _second_moment_map(world, stage)
    top = float(diagonal.max())

    def surplus(log_excess: float) -> float:
        inverse = 1 / (top - diagonal + math.exp(log_excess))
        (a, b), (c, d) = (rows * inverse) @ columns.T
        return math.log((a + d + math.sqrt((a - d) ** 2 + 4 * b * c)) / 2 + 1e-300)

    low, high = -60.0, 3.0
    if surplus(low) <= 0:
        return top
    while surplus(high) > 0:
        high += 3.0
    return top + math.exp(brentq(surplus, low, high, xtol=1e-14, rtol=1e-14))

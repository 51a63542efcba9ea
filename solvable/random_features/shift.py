"""Covariate shift: the same training, judged under another distribution of inputs.

The risk under test is sum_k m_k (f_k - beta_k)^2 with the metric m_k (diagonal in the basis of the kernel; m = 1 is the
training distribution). With df2_M = sum N m s^2, delta_M = sum N m s t, D = (delta/p)/(b + delta/p) and L as in
`ensembles` (derived here):

    risk = sum m beta^2 t^2 + L (delta_M/p)/(b + delta/p) + (excess_risk + noise_variance) (df2_M + D delta_M) / n
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from solvable.errors import require
from solvable.modes import Modes, PowerLawModes
from solvable.observables import Prediction, Record
from solvable.precision import Array, is_traced, map_lanes, weighted_sum
from solvable.random_features.problem import Problem
from solvable.random_features.theory import (
    OBSERVABLES,
    check_controls,
    check_resolution,
    closed_form_at,
    nodes_and_noise,
    the_ridge,
)
from solvable.ridge import effective_ridge, ratio, spectral_sums

Metric = Any  # an array of one entry per level, or a function of the number k of a power law's mode


def covariate_shift(
    problem: Problem,
    metric: Array | Callable[[Array], Array],
    *,
    n_samples: Any,
    n_features: Any = math.inf,
    ridge: Any = None,
    ridge_per_sample: Any = None,
) -> Prediction:
    """Predict the risk of a model under another distribution of inputs than it was trained on.

    Args:
        problem: the world of the training data.
        metric: m_k = the mean of psi_k^2 under the test distribution, whose covariance of the psi is taken to be
            diagonal; finite, >= 0. An array in the order of the problem's levels (modes of a finite power law), or, for
            power laws of any length, a function of k, smooth in log k and bounded where there are infinitely many.
        n_samples: > 0, may be inf.
        n_features: > 0, may be inf.
        ridge: finite, >= 0. Give exactly one of `ridge` and `ridge_per_sample`.
        ridge_per_sample: ridge / n_samples.

    Returns:
        A `Prediction` of the observables of `predict`, where `bias`, `variance`, `excess_risk` and `test_error` are
        those under test (label noise as in training), and `train_error`, `gcv`, `squared_norm` and
        `degrees_of_freedom` stay as they are.

    Raises:
        ArgumentError: outside these domains.
        InfiniteWorldError: for an array on infinitely many modes.
        ResolutionError: as in `predict`.

    Example:
        >>> import numpy as np
        >>> from solvable import random_features as rf
        >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.05, n_modes=800)
        >>> harder = rf.covariate_shift(problem, lambda k: 1 + k**0.3, n_samples=150, n_features=120, ridge=0.01)
        >>> bool(harder.excess_risk > rf.predict(problem, n_samples=150, n_features=120, ridge=0.01).excess_risk)
        True
    """
    name, penalty = the_ridge(ridge, ridge_per_sample)
    controls = {"n_samples": n_samples, "n_features": n_features, name: penalty}
    check_controls(controls)
    kernel = partial(_shifted, per_sample=name == "ridge_per_sample")
    values = map_lanes(kernel, partial(_prepare, metric), problem, tuple(controls.values()))
    check_resolution(values.pop("unresolved"))
    diagnostics = Record({key: values.pop(key) for key in ("nu1", "nu2", "residual")})
    observables = OBSERVABLES.complete(values, {"noise_variance": problem.noise_variance})
    return Prediction(observables, diagnostics, Record(controls), OBSERVABLES)


def metric_on_modes(problem: Problem, metric: Metric) -> Array:
    """Return the metric with one entry per mode of a finite world, as simulators need it."""
    levels, values = _levels(np, problem, metric if not callable(metric) else _on_explicit(problem, metric))
    return np.repeat(values, levels.multiplicities.astype(np.int64))


def _on_explicit(problem: Problem, metric: Callable[[Array], Array]) -> Array:
    return np.asarray(metric(_positions(problem.modes, problem.modes.explicit().eigenvalues)))


def _prepare(metric: Metric, xp: Any, problem: Problem) -> Any:
    return (*nodes_and_noise(xp, problem), *_levels(xp, problem, metric))


def _levels(xp: Any, problem: Problem, metric: Metric) -> tuple[Any, Array]:
    """Return levels and the metric on them; where it is a function, the nodes of the quadrature will do."""
    modes = problem.modes
    if callable(metric):
        nodes = modes.nodes(xp)
        return nodes, _checked(xp.asarray(metric(_positions(modes, nodes.eigenvalues))), nodes.eigenvalues)
    levels = modes if isinstance(modes, Modes) else modes.explicit()
    own = metric if is_traced(metric) else np.array(metric, dtype=np.float64)  # a copy: see `precision`
    return levels, _checked(xp.asarray(own), levels.eigenvalues)


def _positions(modes: Modes | PowerLawModes, eigenvalues: Array) -> Array:
    good = isinstance(modes, PowerLawModes)
    require(good, "metric", "an array, because only modes of a power law are numbered", "a function")
    return eigenvalues ** (-1 / modes.capacity) if isinstance(modes, PowerLawModes) else eigenvalues


def _checked(values: Array, eigenvalues: Array) -> Array:
    shape = np.shape(eigenvalues)
    require(np.shape(values) == shape, "metric", f"one entry for each of the {shape[0]} levels", np.shape(values))
    if not is_traced(values):
        bad = values[~(np.isfinite(values) & (values >= 0))]
        require(bad.size == 0, "metric", "finite and >= 0", bad[:3].tolist())
    return values


def _shifted(xp: Any, prepared: Any, n: Array, p: Array, ridge: Array, *, per_sample: bool) -> dict[str, Array]:
    nodes, noise, levels, metric = prepared
    solved = effective_ridge(nodes, n, p, ridge if per_sample else ridge / n, xp)
    values = closed_form_at(xp, (nodes, noise), solved, n, p)
    sums = spectral_sums(nodes, solved.nu2, xp)
    squares, spread, missed = _metric_sums(xp, levels, metric, solved.nu2)
    features = solved.feature_gap + sums.delta / p
    share = ratio(sums.delta / p, features, xp)
    amplification = (squares + share * spread) / n
    lost = solved.nu2 * sums.learned * ratio(spread / p, features, xp)
    return {
        **values,
        "bias": missed + lost + values["bias"] * amplification,
        "variance": (values["variance"] + noise) * amplification,
    }


def _metric_sums(xp: Any, levels: Any, metric: Array, nu2: Array) -> tuple[Array, Array, Array]:
    """Sum N m s^2, sum N m s t and sum m beta^2 t^2, where t = 1 on modes of eigenvalue 0."""
    x, nu = levels.eigenvalues, nu2[..., None]
    null = x == 0
    total = xp.where(null, 1.0, x) + xp.where(null, 0.0, nu)
    s, t = x / total, xp.where(null, 1.0, nu / total)
    counted = partial(weighted_sum, weights=levels.multiplicities * metric, xp=xp)
    return counted(s * s), counted(s * t), weighted_sum(t * t, levels.target_power * metric, xp)

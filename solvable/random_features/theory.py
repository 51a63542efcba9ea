"""The deterministic equivalent of random-features ridge regression: every observable in closed form."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from solvable.errors import ArgumentError, ResolutionError, require
from solvable.observables import Observables, Prediction, Record
from solvable.precision import Array, is_traced, map_lanes
from solvable.quadrature import Nodes
from solvable.random_features.problem import Problem
from solvable.ridge import EffectiveRidge, SpectralSums, effective_ridge, feature_shares, ratio, spectral_sums

OBSERVABLES = Observables(
    base=("bias", "variance", "train_error", "gcv", "squared_norm", "degrees_of_freedom"),
    derived={
        "excess_risk": lambda base, _: base["bias"] + base["variance"],
        "test_error": lambda base, constants: base["bias"] + base["variance"] + constants["noise_variance"],
    },
    validity="equivalent",
    finite_size=dict.fromkeys(
        ("bias", "variance", "train_error", "gcv", "squared_norm", "degrees_of_freedom", "excess_risk", "test_error"),
        "1/min(n, p)",
    ),
)
DIAGNOSTICS = ("nu1", "nu2", "residual")


def predict(
    problem: Problem,
    *,
    n_samples: Any,
    n_features: Any = math.inf,
    ridge: Any = None,
    ridge_per_sample: Any = None,
) -> Prediction:
    """Predict the means of all observables of ridge regression on random features.

    The estimator minimises |y - Z a|^2 + ridge |a|^2 (never divided by n) over the coefficients of p random features,
    Z_ij = phi(x_i, w_j) / sqrt(p). The prediction is its deterministic equivalent (arXiv:2405.15699): exact as n and p
    grow, with relative corrections of order 1/min(n, p) at finite size. Equations are in `solvable.ridge` and below;
    those for the training error, norm and degrees of freedom were derived here:

        test_error         = excess_risk + noise_variance,   excess_risk = bias + variance
        train_error        = (ridge / (n nu1))^2 test_error
        gcv                = test_error                      (generalised cross-validation is exact in the limit)
        degrees_of_freedom = df1(nu2)
        squared_norm       = E |a|^2

    Args:
        problem: spectrum, target and noise.
        n_samples: n, real > 0, inf allowed.
        n_features: p, real > 0, inf (the default) for kernel ridge regression.
        ridge: finite, >= 0; 0 is least squares (of minimal norm). Give exactly one of `ridge`, `ridge_per_sample`.
        ridge_per_sample: ridge / n_samples, finite, >= 0.

    Controls broadcast against each other like NumPy arguments.

    Returns:
        A `Prediction` with `bias`, `variance`, `excess_risk`, `test_error`, `train_error`, `gcv`, `squared_norm` and
        `degrees_of_freedom`, each of the controls' broadcast shape, and `.diagnostics` `nu1`, `nu2` (effective
        ridges) and `residual` (estimated relative error left in nu2). Risks are in units of the labels squared, and
        are means over data, features and noise. Singular points are values: at ridge 0 the risk is inf at n = p, and
        the variance is inf at n = rank <= p. Target power in modes of eigenvalue 0 counts as bias.

    Raises:
        ArgumentError: for arguments outside their domain, or both or neither of the two ridges.
        ResolutionError: where nu2 < (1e15)^-capacity in an infinite world, beyond what its nodes resolve.

    Under `jax.jit`, `grad` and `vmap` the result is traced and differentiable (forward and reverse) in every control
    and in every number of the problem, including capacity and source; nothing is then checked, and unresolved points
    are nan. Numbers enter and leave in the caller's precision (float32 with x64 off); inside it is float64.

    Example:
        >>> from solvable import random_features as rf
        >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01)
        >>> theory = rf.predict(problem, n_samples=[100, 1000], n_features=200, ridge=1e-2)
        >>> theory.bias.round(6)
        array([0.039318, 0.017524])
    """
    name, penalty = the_ridge(ridge, ridge_per_sample)
    controls = {"n_samples": n_samples, "n_features": n_features, name: penalty}
    check_controls(controls)
    kernel = _from_ridge if name == "ridge" else _from_ridge_per_sample
    values = map_lanes(kernel, nodes_and_noise, problem, (n_samples, n_features, penalty))
    check_resolution(values.pop("unresolved"))
    diagnostics = Record({key: values.pop(key) for key in DIAGNOSTICS})
    observables = OBSERVABLES.complete(values, {"noise_variance": problem.noise_variance})
    return Prediction(observables, diagnostics, Record(controls), OBSERVABLES)


def check_controls(controls: dict[str, Any], *, least: Mapping[str, float] | None = None) -> None:
    """Check sizes and ridge of a concrete call, and that they broadcast; tracers pass.

    Ridges and noise variances are finite and >= 0, what `least` names is at least that, all else is > 0. Names may
    have a prefix that ends in a dot.
    """
    bounds = least or {}
    concrete = {name: np.asarray(value, dtype=np.float64) for name, value in controls.items() if not is_traced(value)}
    for name, values in concrete.items():
        penalty = name.rpartition(".")[2].startswith("ridge") or name.endswith("noise_variance")
        good = (values >= 0) & np.isfinite(values) if penalty else values > 0
        wanted = "finite and >= 0" if penalty else "> 0"
        if name in bounds:
            good, wanted = values >= bounds[name], f">= {bounds[name]:g}"
        require(bool(good.all()), name, wanted, values[~good].ravel()[:3].tolist())
    try:
        np.broadcast_shapes(*(np.shape(value) for value in controls.values()))
    except ValueError:
        shapes = {name: np.shape(value) for name, value in controls.items()}
        raise ArgumentError(f"controls must broadcast against each other; got shapes {shapes}") from None


def the_ridge(ridge: Any, ridge_per_sample: Any) -> tuple[str, Any]:
    """Return the name and value of the one ridge given."""
    given = [(name, v) for name, v in (("ridge", ridge), ("ridge_per_sample", ridge_per_sample)) if v is not None]
    if len(given) != 1:
        raise ArgumentError(
            f"give exactly one of ridge and ridge_per_sample; got ridge={ridge!r}, "
            f"ridge_per_sample={ridge_per_sample!r}"
        )
    return given[0]


def check_resolution(unresolved: Array) -> None:
    """Raise where an infinite spectrum would have to be resolved further than its nodes do."""
    if not is_traced(unresolved) and unresolved.any():
        raise ResolutionError(
            f"{int(unresolved.sum())} of {unresolved.size} points have an effective ridge below (1e15)^-capacity, "
            "where an infinite spectrum is not resolved; use a larger ridge, fewer samples or features, or "
            "problem.truncate(n_modes); with n_samples=inf give ridge_per_sample"
        )


def nodes_and_noise(xp: Any, problem: Problem) -> tuple[Nodes, Array]:
    """Return what all lanes of a closed form share."""
    return problem.modes.nodes(xp), problem.noise_variance


def _from_ridge(xp: Any, prepared: tuple[Nodes, Array], n: Array, p: Array, ridge: Array) -> dict[str, Array]:
    return _closed_form(xp, prepared, n, p, ridge / n)


def _from_ridge_per_sample(
    xp: Any, prepared: tuple[Nodes, Array], n: Array, p: Array, ridge: Array
) -> dict[str, Array]:
    return _closed_form(xp, prepared, n, p, ridge)


def _closed_form(xp: Any, prepared: tuple[Nodes, Array], n: Array, p: Array, ridge: Array) -> dict[str, Array]:
    return closed_form_at(xp, prepared, effective_ridge(prepared[0], n, p, ridge, xp), n, p)


def closed_form_at(
    xp: Any, prepared: tuple[Nodes, Array], solved: EffectiveRidge, n: Array, p: Array
) -> dict[str, Array]:
    """Return base observables and diagnostics at a solved fixed point, and whether it is `unresolved`."""
    nodes, noise = prepared
    sums = spectral_sums(nodes, solved.nu2, xp)
    values = _observables(solved, sums, n, p, noise, xp)
    values |= {"nu1": solved.nu2 * solved.feature_gap, "nu2": solved.nu2, "residual": solved.residual}
    return mark_unresolved(xp, values, solved.nu2 < nodes.resolution)


def mark_unresolved(xp: Any, values: dict[str, Array], unresolved: Array) -> dict[str, Array]:
    """Add `unresolved`, which `check_resolution` raises for; a traced call cannot raise, and gets nan there."""
    if xp is not np:
        values = {name: xp.where(unresolved, np.nan, value) for name, value in values.items()}
    return {**values, "unresolved": unresolved}


def _observables(
    solved: EffectiveRidge, sums: SpectralSums, n: Array, p: Array, noise: Array, xp: Any
) -> dict[str, Array]:
    a, b = solved.sample_gap, solved.feature_gap
    per_feature, per_sample = sums.delta / p, sums.delta / n
    phi, rest = feature_shares(b, per_feature, xp)
    gap = a + phi * per_sample
    missed = rest * sums.missed + phi * sums.missed_squared
    bias = ratio(missed, gap, xp)
    variance = ratio(noise * (phi * sums.df2 + rest * sums.df1) / n, gap, xp)
    test_error = ratio(missed + noise, gap, xp)
    squared_norm = ratio(sums.trace * (sums.missed + noise) / n + a * sums.learned, (b + per_feature) * gap, xp)
    return {
        "bias": bias,
        "variance": variance,
        "train_error": a * ratio(a * (missed + noise), gap, xp),
        "gcv": test_error,
        "squared_norm": squared_norm,
        "degrees_of_freedom": sums.df1,
    }

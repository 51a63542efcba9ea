"""Ensembles over features and over data: what of the risk averages away, and what stays.

With D = (delta/p) / (b + delta/p) the features' share, gap = a + (1 - D) delta/n as in `solvable.ridge`, and
g = a + delta/n = (n - df2)/n, the risk of one model splits into four parts that are never negative (derived here,
cf. arXiv:2405.00592):

    common      = sum beta^2 t^2
    features    = D L,                                  L = nu2 sum beta^2 x/(x + nu2)^2
    data        = df2 (common + noise_variance) / (n g)
    interaction = common (D delta/n)/(gap g) + D L (df2 + D delta)/(n gap)
                  + noise_variance (D delta/n) (1 + df2/(n g)) / gap

Averaging k predictors of independent features divides the second and fourth by k, of independent data the third and
fourth; label noise is part of the data.
"""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from solvable.estimate import Estimate
from solvable.observables import Observables, Prediction, Record
from solvable.precision import Array, map_lanes
from solvable.quadrature import Nodes
from solvable.random_features.path import factor_svd, shrinkage
from solvable.random_features.problem import Problem
from solvable.random_features.simulation import integer_controls, over_sizes
from solvable.random_features.theory import (
    check_controls,
    check_resolution,
    mark_unresolved,
    nodes_and_noise,
    the_ridge,
)
from solvable.replicates import Sampling, run
from solvable.ridge import effective_ridge, feature_shares, ratio, spectral_sums

_RISKS = ("excess_risk", "feature_averaged_risk", "data_averaged_risk", "fully_averaged_risk")
PARTS = ("common_part", "feature_part", "data_part", "interaction_part")
DECOMPOSITION = Observables(
    base=_RISKS,
    derived={
        "common_part": lambda base, _: base["fully_averaged_risk"],
        "feature_part": lambda base, _: base["data_averaged_risk"] - base["fully_averaged_risk"],
        "data_part": lambda base, _: base["feature_averaged_risk"] - base["fully_averaged_risk"],
        "interaction_part": lambda base, _: (
            base["excess_risk"]
            - base["feature_averaged_risk"]
            - base["data_averaged_risk"]
            + base["fully_averaged_risk"]
        ),
    },
    validity="equivalent",
    finite_size=dict.fromkeys((*_RISKS, *PARTS), "1/min(n, p)"),
)


def decompose(
    problem: Problem,
    *,
    n_samples: Any,
    n_features: Any = math.inf,
    ridge: Any = None,
    ridge_per_sample: Any = None,
    n_feature_draws: Any = 1,
    n_datasets: Any = 1,
) -> Prediction:
    """Predict the risk of averaged predictors, and the parts of the risk that averaging removes.

    Args:
        problem: the world.
        n_samples: n, > 0.
        n_features: p, > 0, or inf.
        ridge: finite, >= 0. Give exactly one of `ridge` and `ridge_per_sample`.
        ridge_per_sample: ridge / n_samples.
        n_feature_draws: k >= 1, independent draws of the features in an ensemble; inf allowed.
        n_datasets: l >= 1, independent data sets in it, each combined with each draw of the features; inf allowed.

    Controls broadcast.

    Returns:
        A `Prediction` of `excess_risk` (one model), `feature_averaged_risk` (infinite ensemble over features, one data
        set), `data_averaged_risk` (infinite ensemble over data, one draw of features), `fully_averaged_risk`, and of
        `common_part`, `feature_part`, `data_part` and `interaction_part`, which add up to the risk of one model. Its
        diagnostics hold `ensemble_risk`, that of the k x l predictors averaged. Parts keep their digits when small.

    Raises:
        ArgumentError: outside these domains.
        ResolutionError: as in `predict`.

    Example:
        >>> from solvable import random_features as rf
        >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01, n_modes=800)
        >>> parts = rf.decompose(problem, n_samples=100, n_features=200, ridge=1e-2, n_feature_draws=[1, 10])
        >>> parts.diagnostics.ensemble_risk.round(6)
        array([0.043491, 0.019509])
    """
    name, penalty = the_ridge(ridge, ridge_per_sample)
    controls = {"n_samples": n_samples, "n_features": n_features, name: penalty}
    draws = {"n_feature_draws": n_feature_draws, "n_datasets": n_datasets}
    check_controls({**controls, **draws}, least={"n_feature_draws": 1.0, "n_datasets": 1.0})
    kernel = partial(_parts, per_sample=name == "ridge_per_sample")
    values = map_lanes(kernel, nodes_and_noise, problem, (*controls.values(), *draws.values()))
    check_resolution(values.pop("unresolved"))
    diagnostics = Record({"ensemble_risk": values.pop("ensemble_risk"), "nu2": values.pop("nu2")})
    return Prediction(Record(values), diagnostics, Record({**controls, **draws}), DECOMPOSITION)


def simulate_decomposition(
    problem: Problem,
    *,
    n_samples: Any,
    n_features: Any,
    ridge: Any = None,
    ridge_per_sample: Any = None,
    seed: int,
    **sampling: Any,
) -> Estimate:
    """Measure by Monte Carlo what `decompose` predicts.

    Each replicate trains on two data sets with two draws of the features each: products of the errors of two models
    that share features, data, both or neither are unbiased for the four risks. Label noise is integrated in closed
    form.

    Args:
        problem: finitely many modes.
        n_samples: integers >= 1.
        n_features: integers >= 1, finite.
        ridge: finite, >= 0. Give exactly one of `ridge` and `ridge_per_sample`.
        ridge_per_sample: ridge / n_samples.
        seed: integer >= 0.
        **sampling: as in `simulate`.

    Returns:
        An `Estimate` of the observables of `decompose`.

    Raises:
        ArgumentError: outside these domains.
        InfiniteWorldError: on infinitely many modes.
        MemoryLimitError: if one replicate needs more than `max_bytes`.

    Example:
        >>> from solvable import random_features as rf
        >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01, n_modes=50)
        >>> measured = rf.simulate_decomposition(
        ...     problem, n_samples=10, n_features=20, ridge=0.1, seed=0, replicates=20
        ... )
        >>> bool(measured.mean.feature_averaged_risk < measured.mean.excess_risk)
        True
    """
    plan = Sampling(seed, **sampling)
    controls, penalty = integer_controls(n_samples, n_features, ridge, ridge_per_sample, infinite_width=False)
    finite = problem.explicit()

    def one_size(n: int, p: float, ridges: Array) -> Estimate:
        numbers = (2 * (n + p) + 8 * min(n, p)) * finite.n_modes + 16 * n * p
        return run(
            _draw_pairs,
            {"problem": finite, "ridge": ridges},
            {"n_samples": n, "n_features": int(p)},
            plan,
            declared=DECOMPOSITION,
            constants={},
            bytes_per_replicate=numbers * np.dtype(plan.dtype).itemsize,
        )

    return over_sizes(one_size, controls, penalty)


def _parts(
    xp: Any,
    prepared: tuple[Nodes, Array],
    n: Array,
    p: Array,
    ridge: Array,
    draws: Array,
    datasets: Array,
    *,
    per_sample: bool,
) -> dict[str, Array]:
    nodes, noise = prepared
    solved = effective_ridge(nodes, n, p, ridge if per_sample else ridge / n, xp)
    sums = spectral_sums(nodes, solved.nu2, xp)
    phi, share = feature_shares(solved.feature_gap, sums.delta / p, xp)
    per_n = sums.delta / n
    gap, kernel_gap = solved.sample_gap + phi * per_n, solved.sample_gap + per_n
    common, lost = sums.missed_squared, share * solved.nu2 * sums.learned
    data = ratio(sums.df2 * (common + noise) / n, kernel_gap, xp)
    amplified = (
        ratio(common * share * per_n, gap * kernel_gap, xp)
        + ratio(lost * (sums.df2 + share * sums.delta) / n, gap, xp)
        + ratio(noise * share * per_n, gap, xp) * (1 + ratio(sums.df2 / n, kernel_gap, xp))
    )
    parts = dict(zip(PARTS, (common, lost, data, amplified), strict=True))
    values = {
        "excess_risk": common + lost + data + amplified,
        "feature_averaged_risk": common + data,
        "data_averaged_risk": common + lost,
        "fully_averaged_risk": common,
        **parts,
        "ensemble_risk": common + lost / draws + data / datasets + amplified / (draws * datasets),
        "nu2": solved.nu2,
    }
    return mark_unresolved(xp, values, solved.nu2 < nodes.resolution)


def _draw_pairs(key: Array, problem: Problem, *, ridge: Array, n_samples: int, n_features: int) -> dict[str, Array]:
    modes, dtype = problem.modes.explicit(), jnp.result_type(float)
    scale = jnp.sqrt(jnp.asarray(modes.eigenvalues, dtype))
    target = jnp.sqrt(jnp.asarray(modes.target_power, dtype))
    data_key, feature_key = jax.random.split(key)
    samples = jax.random.normal(data_key, (2, n_samples, scale.size), dtype)
    features = jax.random.normal(feature_key, (2, n_features, scale.size), dtype) * scale[None, None, :]
    features = features / math.sqrt(n_features)

    def errors(x: Array, f: Array) -> tuple[Array, Array]:
        """Error of the mean predictor, and the map from training labels to functions, for each ridge."""
        factors = factor_svd(x @ f.T, jnp.column_stack([x @ target, jnp.eye(n_samples, dtype=dtype)]))
        inverse, _ = shrinkage(factors.s, ridge)
        learned = jnp.einsum("rm,mo,mk->rok", inverse, factors.scores, factors.vt @ f)
        return learned[:, 0] - target[None, :], learned[:, 1:]

    trained = [[errors(samples[j], features[i]) for j in range(2)] for i in range(2)]
    noise = jnp.asarray(problem.noise_variance, dtype)

    def product(i: int, j: int, k: int, m: int) -> Array:
        (left, left_map), (right, right_map) = trained[i][j], trained[k][m]
        common_noise = noise * jnp.sum(left_map * right_map, axis=(1, 2)) if j == m else 0.0
        return jnp.sum(left * right, axis=1) + common_noise

    return {
        "excess_risk": sum(product(i, j, i, j) for i in range(2) for j in range(2)) / 4,
        "feature_averaged_risk": (product(0, 0, 1, 0) + product(0, 1, 1, 1)) / 2,
        "data_averaged_risk": (product(0, 0, 0, 1) + product(1, 0, 1, 1)) / 2,
        "fully_averaged_risk": (product(0, 0, 1, 1) + product(0, 1, 1, 0)) / 2,
    }

"""Monte Carlo of random-features ridge regression: Gaussian features, or real data as the population."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from solvable.errors import require
from solvable.estimate import Estimate, Moments
from solvable.observables import Record
from solvable.precision import Array, as_leaf, is_traced
from solvable.random_features.path import expanded, factor_eigh, factor_svd, ridge_path
from solvable.random_features.problem import Problem
from solvable.random_features.shift import metric_on_modes
from solvable.random_features.theory import OBSERVABLES, check_controls, the_ridge
from solvable.replicates import Sampling, run

FACTORISATIONS = {"svd": factor_svd, "eigh": factor_eigh}
_EIGH_ABOVE = 1e-8  # ridge over E tr(Z Z^T) from which the Gram matrix keeps eight digits


def draw(
    key: Array,
    problem: Problem,
    *,
    n_samples: int,
    n_features: float,
    ridge: Array,
    metric: Array | None = None,
    factorisation: str = "svd",
) -> dict[str, Array]:
    """Train one model on Gaussian features and return its base observables, exactly.

    psi_k(x) and phi_k(w) are independent standard normal (the model of `predict` with Gaussian features), so that the
    n x p design is Z = G F^T / sqrt(p), and the population risk is a sum over modes. Pure and jittable; runs in the
    caller's default precision.

    Args:
        key: JAX random key.
        problem: finitely many modes, one entry each (`problem.explicit()`).
        n_samples: n, an integer >= 1 (static).
        n_features: p, an integer >= 1, or inf for kernel ridge regression (static).
        ridge: scalar or any shape; all ridges share the draw and one factorisation.
        metric: weights of the modes in bias and variance, shape (modes,), as in `covariate_shift`; None for 1 each.
        factorisation: "svd", or "eigh" for ridges above about 1e-8 of the trace of Z Z^T (static).

    Returns:
        `bias`, `variance`, `train_error`, `gcv`, `squared_norm`, `degrees_of_freedom`, each of the ridge's shape.

    Example:
        >>> import jax
        >>> from solvable import random_features as rf
        >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, n_modes=50)
        >>> sorted(rf.draw(jax.random.key(0), problem, n_samples=10, n_features=20, ridge=0.1))[:2]
        ['bias', 'degrees_of_freedom']
    """
    modes, dtype = problem.modes.explicit(), jnp.result_type(float)
    scale = jnp.sqrt(jnp.asarray(modes.eigenvalues, dtype))
    target = jnp.sqrt(jnp.asarray(modes.target_power, dtype))[:, None]
    weight = jnp.ones_like(scale) if metric is None else jnp.sqrt(jnp.asarray(metric, dtype))
    data_key, feature_key = jax.random.split(key)
    samples = jax.random.normal(data_key, (n_samples, scale.size), dtype)
    if math.isinf(n_features):
        design = samples * scale[None, :]
        read_out: Callable[[Array], Array] = lambda vt: vt * (scale * weight)[None, :]  # noqa: E731  (one line, one use)
    else:
        features = jax.random.normal(feature_key, (int(n_features), scale.size), dtype) * scale[None, :]
        features = features / math.sqrt(n_features)
        design = samples @ features.T
        read_out = (features * weight[None, :]).__rmatmul__
    ridges = jnp.asarray(ridge, dtype)
    factors = FACTORISATIONS[factorisation](design, samples @ target)
    values = ridge_path(
        factors,
        expanded(read_out(factors.vt), target * weight[:, None]),
        n_samples=n_samples,
        noise_variance=jnp.asarray(problem.noise_variance, dtype),
        ridge=ridges.ravel(),
    )
    return {name: value.reshape(ridges.shape) for name, value in values.items()}


def simulate(
    problem: Problem,
    *,
    n_samples: Any,
    n_features: Any = math.inf,
    ridge: Any = None,
    ridge_per_sample: Any = None,
    metric: Any = None,
    seed: int,
    **sampling: Any,
) -> Estimate:
    """Measure by Monte Carlo what `predict` predicts, on Gaussian features.

    The risk of each trained model is exact (no test set, label noise integrated in closed form); the average runs
    over data and features. Controls broadcast; cells that differ in the ridge alone share their draws.

    Args:
        problem: finitely many modes; truncate an infinite one first.
        n_samples: integers >= 1.
        n_features: integers >= 1, or inf for kernel ridge regression.
        ridge: finite, >= 0. Give exactly one of `ridge` and `ridge_per_sample`.
        ridge_per_sample: ridge / n_samples.
        metric: None, or as in `covariate_shift`, which then is what is measured.
        seed: integer >= 0; replicate i depends on (seed, i) alone.
        **sampling: `replicates` or `relative_error` (with `max_replicates`, `watch`), `max_bytes`, `dtype`, `device`,
            as in `solvable.replicates.Sampling`. float32 holds three digits for ridges above 1e-6 n trace(eigenvalues).

    Returns:
        An `Estimate` of the observables of `predict`, each of the controls' broadcast shape.

    Raises:
        ArgumentError: outside these domains.
        InfiniteWorldError: on infinitely many modes.
        MemoryLimitError: if one replicate needs more than `max_bytes`.

    Example:
        >>> from solvable import compare, random_features as rf
        >>> problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01, n_modes=400)
        >>> controls = dict(n_samples=100, n_features=50, ridge=1.0)
        >>> measured = rf.simulate(problem, **controls, seed=0, replicates=256)
        >>> compare(rf.predict(problem, **controls), measured, detectable=0.2, rtol=0.05).verdict
        'agree'
    """
    plan = Sampling(seed, **sampling)
    controls, penalty = integer_controls(n_samples, n_features, ridge, ridge_per_sample, infinite_width=True)
    finite = problem.explicit()
    trace = float(np.sum(finite.modes.explicit().eigenvalues))
    shifted = {} if metric is None else {"metric": metric_on_modes(problem, metric)}

    def one_size(n: int, p: float, ridges: Array) -> Estimate:
        return run(
            draw,
            {"problem": finite, "ridge": ridges, **shifted},
            {"n_samples": n, "n_features": p, "factorisation": _choose(ridges, n * trace, plan)},
            plan,
            declared=OBSERVABLES,
            constants={"noise_variance": problem.noise_variance},
            bytes_per_replicate=_bytes(n, p, finite.n_modes, ridges.size, plan),
        )

    return over_sizes(one_size, controls, penalty)


def simulate_dataset(
    features_map: Callable[[Array, Array, int], Array],
    inputs: Any,
    labels: Any,
    *,
    n_samples: Any,
    n_features: Any,
    ridge: Any = None,
    ridge_per_sample: Any = None,
    noise_variance: float = 0.0,
    seed: int,
    **sampling: Any,
) -> Estimate:
    """Train random-features ridge regression on real data, and measure its exact risk on them.

    The population is the empirical measure of the N given points: training sets are drawn from it with replacement,
    and the risk is the mean over all N. Its theory is `predict(Problem.from_kernel(kernel, labels), ...)`. Real data
    are not Gaussian in the kernel's eigenbasis: expect a gap of some percent, more at small ridge.

    Args:
        features_map: `features_map(key, inputs, n_features) -> (N, n_features)`, unscaled; e.g. `relu_features`. A
            module-level function or object, so that its compilation is kept.
        inputs: shape (N, dimension).
        labels: shape (N,) or (N, outputs), noiseless; risks are summed over outputs.
        n_samples: integers >= 1.
        n_features: integers >= 1.
        ridge: finite, >= 0. Give exactly one of `ridge` and `ridge_per_sample`.
        ridge_per_sample: ridge / n_samples.
        noise_variance: variance of noise added to training labels, summed over outputs.
        seed: integer >= 0.
        **sampling: as in `simulate`.

    Returns:
        An `Estimate` of the observables of `predict`.

    Raises:
        ArgumentError: outside these domains.
        MemoryLimitError: if one replicate needs more than `max_bytes`.

    Example:
        >>> import numpy as np
        >>> from solvable import random_features as rf
        >>> inputs = np.random.default_rng(0).normal(size=(60, 3))
        >>> measured = rf.simulate_dataset(
        ...     rf.relu_features, inputs, inputs[:, 0], n_samples=20, n_features=30, ridge=0.1, seed=0, replicates=8
        ... )
        >>> bool(measured.mean.excess_risk < 1)
        True
    """
    plan = Sampling(seed, **sampling)
    points, targets = checked_dataset(inputs, labels)
    controls, penalty = integer_controls(n_samples, n_features, ridge, ridge_per_sample, infinite_width=False)
    noise = as_leaf(noise_variance)
    require(bool(noise >= 0 and np.isfinite(noise)), "noise_variance", "finite and >= 0", noise_variance)

    def one_size(n: int, p: float, ridges: Array) -> Estimate:
        return run(
            _draw_dataset,
            {"inputs": points, "labels": targets, "noise_variance": noise, "ridge": ridges},
            {"features_map": features_map, "n_samples": n, "n_features": int(p)},
            plan,
            declared=OBSERVABLES,
            constants={"noise_variance": noise},
            bytes_per_replicate=_bytes(n, p, len(points), ridges.size * targets.shape[1], plan),
        )

    return over_sizes(one_size, controls, penalty)


def _draw_dataset(
    key: Array,
    *,
    inputs: Array,
    labels: Array,
    noise_variance: Array,
    ridge: Array,
    features_map: Callable[[Array, Array, int], Array],
    n_samples: int,
    n_features: int,
) -> dict[str, Array]:
    feature_key, data_key = jax.random.split(key)
    features = features_map(feature_key, inputs, n_features) / math.sqrt(n_features)
    wanted = (len(inputs), n_features)
    require(features.shape == wanted, "features_map", f"a function that returns shape {wanted}", features.shape)
    chosen = jax.random.randint(data_key, (n_samples,), 0, len(inputs))
    scale = 1 / math.sqrt(len(inputs))
    factors = factor_svd(features[chosen], labels[chosen])
    return ridge_path(
        factors,
        expanded(factors.vt @ (scale * features.T), scale * labels),
        n_samples=n_samples,
        noise_variance=noise_variance,
        ridge=ridge,
    )


def integer_controls(
    n_samples: Any, n_features: Any, ridge: Any, ridge_per_sample: Any, *, infinite_width: bool
) -> tuple[dict[str, Array], Array]:
    """Check the controls of a simulator, broadcast them, and return them with the ridge of each cell."""
    name, penalty = the_ridge(ridge, ridge_per_sample)
    given = {"n_samples": n_samples, "n_features": n_features, name: penalty}
    traced = [key for key, value in given.items() if is_traced(value)]
    require(not traced, ", ".join(traced), "concrete in a simulator (trace `draw` instead)", "a tracer")
    check_controls(given)
    shaped = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in given.values()))
    controls = dict(zip(given, shaped, strict=True))
    require_whole("n_samples", controls["n_samples"], infinite=False)
    require_whole("n_features", controls["n_features"], infinite=infinite_width)
    return controls, controls[name] * (1.0 if name == "ridge" else controls["n_samples"])


def require_whole(name: str, values: Array, *, infinite: bool) -> None:
    """Raise unless all sizes are integers, or inf where that is allowed."""
    allowed = (values == np.floor(values)) & (np.isfinite(values) | infinite)
    wanted = "integers >= 1 in a simulator" + (", or inf" if infinite else "")
    require(bool(allowed.all()), name, wanted, values[~allowed][:3].tolist())


def over_sizes(
    one_size: Callable[[int, float, Array], Estimate], controls: dict[str, Array], penalty: Array
) -> Estimate:
    """Run each pair of sizes once, with all its ridges, and put the results in the controls' shape."""
    n, p = (controls[name].ravel() for name in ("n_samples", "n_features"))
    flat, parts, places = penalty.ravel(), [], []
    for pair in dict.fromkeys(zip(n.tolist(), p.tolist(), strict=True)):
        index = np.flatnonzero((n == pair[0]) & (p == pair[1]))
        parts.append(one_size(int(pair[0]), pair[1], flat[index]))
        places.append(index)
    moments = Moments.gather([part.moments for part in parts], np.argsort(np.concatenate(places)), penalty.shape)
    return Estimate(moments, parts[0].declared, parts[0].constants, Record(controls))


def _choose(ridges: Array, trace: float, plan: Sampling) -> str:
    """Take the Gram matrix where it is cheaper and every ridge leaves it well conditioned."""
    safe = np.dtype(plan.dtype) == np.float64 and bool(np.all(ridges >= _EIGH_ABOVE * trace))
    return "eigh" if safe else "svd"


def _bytes(n: int, p: float, modes: float, ridges: int, plan: Sampling) -> float:
    width = modes if math.isinf(p) else p
    rank = min(n, width)
    numbers = (n + width) * modes + 3 * n * width + rank * (2 * modes + 2 * rank) + ridges * (modes + rank)
    return float(numbers * np.dtype(plan.dtype).itemsize)


def checked_dataset(inputs: Any, labels: Any) -> tuple[Array, Array]:
    """Return inputs and labels as matrices of finite numbers, one row per point."""
    points, targets = np.asarray(inputs, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    require(points.ndim == 2 and len(points) > 0, "inputs", "of shape (points, dimension)", points.shape)
    matches = targets.ndim in (1, 2) and len(targets) == len(points)
    require(matches, "labels", f"of shape ({len(points)},) or ({len(points)}, outputs)", targets.shape)
    for name, values in (("inputs", points), ("labels", targets)):
        require(bool(np.isfinite(values).all()), name, "finite", "an array with nan or inf")
    return points, targets.reshape(len(points), -1)

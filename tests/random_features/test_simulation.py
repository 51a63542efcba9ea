"""The simulators: algebra of one draw, agreement with theory, finite-size rates, routes, bad input."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from solvable import compare
from solvable import random_features as rf
from solvable.errors import ArgumentError, InfiniteWorldError, MemoryLimitError
from solvable.random_features.path import expanded, factor_eigh, factor_svd, ridge_path

WORLD = rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=120)


def plain_ridge(design, labels, features, target, noise, ridge):
    """Textbook formulas with explicit inverses."""
    n, p = design.shape
    solve = np.linalg.inv(design.T @ design + ridge * np.eye(p)) @ design.T
    hat = design @ solve
    signal, left = features @ solve @ labels, (np.eye(n) - hat) @ labels
    train = (np.sum(left**2) + noise * np.sum((np.eye(n) - hat) ** 2)) / n
    return {
        "bias": np.sum((target - signal) ** 2),
        "variance": noise * np.sum((features @ solve) ** 2),
        "train_error": train,
        "gcv": train / (1 - np.trace(hat) / n) ** 2,
        "squared_norm": np.sum((solve @ labels) ** 2) + noise * np.sum(solve**2),
        "degrees_of_freedom": np.trace(hat),
    }


@pytest.mark.x64_independent
@pytest.mark.parametrize("factor", [factor_svd, factor_eigh])
@pytest.mark.parametrize(("n", "p"), [(12, 20), (20, 12), (15, 15)])
@pytest.mark.parametrize("outputs", [1, 3])
def test_one_draw_is_textbook_ridge_regression(factor, n, p, outputs):
    generator = np.random.default_rng(n + outputs)
    design, features = generator.normal(size=(n, p)), generator.normal(size=(30, p))
    labels, target = generator.normal(size=(n, outputs)), generator.normal(size=(30, outputs))
    ridges = np.array([0.3, 2.0, 100.0])
    with jax.enable_x64(True):
        arrays = [jnp.asarray(v) for v in (design, labels, features, target, ridges)]
        factors = factor(*arrays[:2])
        path = ridge_path(
            factors,
            expanded(factors.vt @ arrays[2].T, arrays[3]),
            n_samples=n,
            noise_variance=jnp.asarray(0.7),
            ridge=arrays[4],
        )
        values = {name: np.asarray(value) for name, value in path.items()}
    for i, ridge in enumerate(ridges):
        expected = plain_ridge(design, labels, features, target, 0.7, ridge)
        for name, value in expected.items():
            assert values[name][i] == pytest.approx(value, rel=1e-9), name


@pytest.mark.x64_independent
@pytest.mark.parametrize(("n", "p"), [(20, 40), (40, 20)])
def test_ridge_zero_is_the_limit_of_small_ridges(n, p):
    with jax.enable_x64(True):
        values = rf.draw(jax.random.key(0), WORLD, n_samples=n, n_features=p, ridge=[0.0, 1e-300, 1e-12])
    for name, path in values.items():
        zero, tiny, small = np.asarray(path)
        assert zero == pytest.approx(tiny, rel=1e-10, abs=1e-30), name
        assert zero == pytest.approx(small, rel=1e-6, abs=1e-20), name


@pytest.mark.x64_independent
def test_least_squares_of_full_rank_world_recovers_the_target():
    world = rf.Problem.power_law(1.5, 0.4, 0.0, n_modes=10)
    with jax.enable_x64(True):
        values = rf.draw(jax.random.key(0), world, n_samples=30, n_features=20, ridge=0.0)
    assert float(values["bias"]) < 1e-20
    assert float(values["degrees_of_freedom"]) == pytest.approx(10)


@pytest.mark.x64_independent
@pytest.mark.parametrize(("n", "p"), [(60, 100), (100, 60), (80, 80)])
def test_both_factorisations_agree_where_both_are_used(n, p):
    ridge = 1e-8 * n * float(np.sum(WORLD.explicit().modes.eigenvalues))
    with jax.enable_x64(True):
        one, other = (
            rf.draw(jax.random.key(1), WORLD, n_samples=n, n_features=p, ridge=ridge, factorisation=name)
            for name in ("svd", "eigh")
        )
    for name, value in one.items():
        assert float(value) == pytest.approx(float(other[name]), rel=1e-8), name


@pytest.mark.x64_independent
def test_a_ridge_does_not_depend_on_its_neighbours():
    controls = {"n_samples": 30, "n_features": 20, "seed": 2, "replicates": 5}
    alone = rf.simulate(WORLD, **controls, ridge=0.5)
    together = rf.simulate(WORLD, **controls, ridge=[0.0, 0.5, 10.0])
    assert together.mean.bias[1] == pytest.approx(float(alone.mean.bias), rel=1e-10)


def test_shapes_follow_the_controls():
    measured = rf.simulate(WORLD, n_samples=12, n_features=[9, np.inf], ridge=[[0.1], [0.2]], seed=0, replicates=3)
    assert measured.mean.excess_risk.shape == (2, 2)
    assert len(measured.to_dataframe()) == 4
    single = rf.simulate(WORLD, n_samples=12, n_features=9, ridge=0.2, seed=0, replicates=3)
    assert float(single.mean.bias) == pytest.approx(measured.mean.bias[1, 0], rel=1e-12)


@pytest.mark.x64_independent
@pytest.mark.parametrize("n_features", [25, 100, np.inf])
def test_agreement_within_the_finite_size_correction(n_features, test_seed):
    """Detects biases of 8%; the 1/n correction is declared per observable (constants measured in the slow session)."""
    controls = {"n_samples": 50, "n_features": n_features, "ridge": 0.3}
    measured = rf.simulate(WORLD, **controls, seed=test_seed, replicates=800)
    size = min(50, n_features)
    constants = {"bias": 2.5, "variance": 0.6, "train_error": 3.5, "gcv": 2.5, "squared_norm": 2.5}
    constants |= {"excess_risk": 2.5, "test_error": 2.5, "degrees_of_freedom": 0.3}
    allowance = {name: constant / size for name, constant in constants.items()}
    verdict = compare(rf.predict(WORLD, **controls), measured, finite_size=allowance, detectable=0.3)
    assert verdict, verdict


@pytest.mark.x64_independent
def test_a_wrong_theory_is_found_out(test_seed):
    """The same comparison catches a theory that forgets the width."""
    controls = {"n_samples": 50, "n_features": 100, "ridge": 0.3}
    measured = rf.simulate(WORLD, **controls, seed=test_seed, replicates=400)
    wrong = rf.predict(WORLD, n_samples=50, ridge=0.3)
    assert compare(wrong.observables, measured, rtol=0.05).verdict == "disagree"


class Published(NamedTuple):
    """An earlier simulation at capacity, source, noise variance, modes, n, p and ridge: (mean, standard error)."""

    setting: tuple[float, float, float, int, int, int, float]
    measured: dict[str, tuple[float, float]]
    replicates: int


SHORT = [
    Published((1.5, 0.4, 0.01, 400, 25, 50, 0.0), {"bias": (0.17274, 7.2e-4), "variance": (0.016778, 2.1e-5)}, 800),
    Published((1.5, 0.4, 0.01, 800, 50, 100, 0.01), {"bias": (0.074805, 3.2e-4), "variance": (0.013984, 1.1e-5)}, 400),
]
LONG = [
    Published((1.5, 0.4, 0.01, 1600, 100, 200, 0.0), {"bias": (0.036637, 2.1e-4), "variance": (0.016465, 1.4e-5)}, 700),
    Published(
        (1.5, 0.4, 0.01, 1600, 100, 200, 1.0), {"bias": (0.041181, 2.2e-4), "variance": (1.5928e-3, 1.3e-6)}, 700
    ),
    Published(
        (1.2, 0.7, 0.25, 1000, 300, 300, 0.01),
        {"bias": (0.0266921, 7e-4), "variance": (0.97808, 1.5e-3), "train_error": (0.0159299, 5.5e-5)},
        64,
    ),
    Published(
        (1.2, 0.7, 0.25, 1000, 300, 300, 1.0),
        {"variance": (0.0710378, 6e-5), "degrees_of_freedom": (121.674, 0.047)},
        64,
    ),
    Published((2.0, 1.2, 0.0, 1000, 400, 100, 0.0), {"bias": (3.25424e-4, 1.2e-5), "squared_norm": (2.764, 0.097)}, 64),
]


@pytest.mark.x64_independent
@pytest.mark.parametrize("row", SHORT + [pytest.param(row, marks=pytest.mark.slow) for row in LONG])
def test_published_monte_carlo_rows(row, test_seed):
    """Our mean against an independent simulation's: two means with two standard errors."""
    capacity, source, noise, n_modes, n, p, ridge = row.setting
    world = rf.Problem.power_law(capacity, source, noise, n_modes=n_modes)
    ours = rf.simulate(world, n_samples=n, n_features=p, ridge=ridge, seed=test_seed, replicates=row.replicates)
    pooled = {name: (ours.mean[name], np.hypot(ours.sem[name], sem)) for name, (_, sem) in row.measured.items()}
    assert compare({name: mean for name, (mean, _) in row.measured.items()}, pooled, detectable=0.5)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ((1.5, 0.4, 0.01, 400, 25, 50, 0.0), {"bias": 0.16518, "variance": 0.016062}),
        ((1.5, 0.4, 0.01, 800, 50, 100, 0.01), {"bias": 0.073025, "variance": 0.013770}),
        ((1.5, 0.4, 0.01, 1600, 100, 200, 0.0), {"bias": 0.036244, "variance": 0.016288}),
        ((1.5, 0.4, 0.01, 1600, 100, 200, 1.0), {"bias": 0.040708, "variance": 1.5911e-3}),
        ((1.2, 0.7, 0.25, 1000, 300, 300, 0.01), {"bias": 0.0262289, "variance": 0.977901, "squared_norm": 389.776}),
        ((1.2, 0.7, 0.25, 1000, 300, 300, 1.0), {"variance": 0.0711404, "degrees_of_freedom": 121.85}),
        ((2.0, 1.2, 0.0, 1000, 400, 100, 0.0), {"bias": 3.27653e-4, "squared_norm": 2.649}),
    ],
)
def test_predictions_at_the_published_settings(setting, expected):
    capacity, source, noise, n_modes, n, p, ridge = setting
    world = rf.Problem.power_law(capacity, source, noise, n_modes=n_modes)
    theory = rf.predict(world, n_samples=n, n_features=p, ridge=ridge)
    for name, value in expected.items():
        assert float(theory.observables[name]) == pytest.approx(value, rel=2e-4), name


@pytest.mark.slow
def test_finite_size_bias_shrinks_like_one_over_n(test_seed):
    """Relative deviation times n over three sizes is constant within errors, for each observable."""
    constants = {}
    for n, replicates in ((40, 12_000), (80, 4000), (160, 1200)):
        world = rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=8 * n)
        controls = {"n_samples": n, "n_features": int(1.5 * n), "ridge": 0.05}
        theory, measured = (
            rf.predict(world, **controls),
            rf.simulate(world, **controls, seed=test_seed, replicates=replicates),
        )
        for name in rf.OBSERVABLES.base:
            scale = n / float(theory.observables[name])
            deviation = float(measured.mean[name] - theory.observables[name])
            constants.setdefault(name, []).append((scale * deviation, scale * float(measured.sem[name])))
    print({name: [f"{c:.2f}+-{e:.2f}" for c, e in rows] for name, rows in constants.items()})
    for name, rows in constants.items():
        values, errors = np.array(rows).T
        weighted = np.sum(values / errors**2) / np.sum(errors**-2.0)
        # a term in 1/n^2 may shift the smallest size: a fifth of the constant is allowed on top of five errors
        assert np.all(np.abs(values - weighted) < 5 * errors + 0.2 * np.abs(weighted) + 0.05), (name, rows)


def test_float32_draws_stay_float32_and_finite():
    """Their accuracy is tested below, on one design in both precisions."""
    with jax.enable_x64(False):
        values = rf.draw(jax.random.key(4), WORLD, n_samples=40, n_features=30, ridge=1e-4)
    assert {value.dtype for value in values.values()} == {np.dtype("float32")}
    assert all(np.isfinite(value) for value in values.values())


@pytest.mark.x64_independent
def test_float32_singular_values_keep_three_digits_at_small_ridge():
    generator = np.random.default_rng(0)
    design = generator.normal(size=(40, 120)) @ (
        generator.normal(size=(120, 30)) * np.arange(1.0, 121)[:, None] ** -0.75
    )
    labels = generator.normal(size=(40, 1))
    ridge = 1e-6 * np.sum(design**2)
    results = []
    for dtype in (np.float32, np.float64):
        with jax.enable_x64(dtype == np.float64):
            one = lambda v, dtype=dtype: jnp.asarray(v, dtype)  # noqa: E731  (a cast, used five times below)
            factors = factor_svd(one(design), one(labels))
            path = ridge_path(
                factors,
                expanded(factors.vt, one(np.zeros((30, 1)))),
                n_samples=40,
                noise_variance=one(0.1),
                ridge=one([ridge]),
            )
            results.append({name: float(value[0]) for name, value in path.items()})
    assert results[0] == pytest.approx(results[1], rel=2e-3)


def test_a_data_set_that_is_gaussian_follows_the_theory(test_seed):
    """With linear features on an empirical population the equivalent holds for the estimated spectrum."""
    generator = np.random.default_rng(7)
    inputs = generator.normal(size=(600, 20))
    labels = inputs @ generator.normal(size=20) / 5 + 0.3 * inputs[:, 0] * inputs[:, 1]
    problem = rf.Problem.from_kernel(rf.erf_features.kernel(inputs), labels, noise_variance=0.05)
    controls = {"n_samples": 60, "n_features": 80, "ridge": 0.05}
    measured = rf.simulate_dataset(
        rf.erf_features, inputs, labels, **controls, noise_variance=0.05, seed=test_seed, replicates=150
    )
    assert compare(rf.predict(problem, **controls), measured, rtol=0.1, detectable=0.35)


@pytest.mark.x64_independent
@pytest.mark.parametrize("features", [rf.relu_features, rf.erf_features])
def test_features_converge_to_their_kernel(features):
    inputs = np.random.default_rng(0).normal(size=(6, 4))
    with jax.enable_x64(True):
        drawn = np.asarray(features(jax.random.key(0), inputs, 40_000))
    estimate, error = drawn @ drawn.T / 40_000, 6 / np.sqrt(40_000) * np.max(np.mean(drawn**4, axis=1)) ** 0.5
    assert np.abs(estimate - features.kernel(inputs)).max() < error


@pytest.mark.x64_independent
@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_samples": 0}, ArgumentError, "^n_samples must be > 0"),
        ({"n_samples": 2.5}, ArgumentError, "^n_samples must be integers"),
        ({"n_samples": np.inf}, ArgumentError, "^n_samples must be integers"),
        ({"n_features": 2.5}, ArgumentError, "^n_features must be integers"),
        ({"ridge": -1.0}, ArgumentError, "^ridge must be finite and >= 0"),
        ({"ridge": np.nan}, ArgumentError, "^ridge must be finite"),
        ({"ridge": None}, ArgumentError, "exactly one of ridge"),
        ({"ridge_per_sample": 0.1}, ArgumentError, "exactly one of ridge"),
        ({"problem": rf.Problem.power_law(1.5, 0.4)}, InfiniteWorldError, "truncate"),
        ({"max_bytes": 1000}, MemoryLimitError, "max_bytes is 1e"),
        ({"n_samples": [1, 2, 3], "ridge": [0.1, 0.2]}, ArgumentError, "broadcast"),
    ],
)
def test_bad_input_is_named(change, error, message):
    call = {"problem": WORLD, "n_samples": 10, "n_features": 10, "ridge": 0.1, "seed": 0, "replicates": 2} | change
    with pytest.raises(error, match=message) as caught:
        rf.simulate(call.pop("problem"), **call)
    assert isinstance(caught.value, ValueError)


@pytest.mark.x64_independent
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": np.ones(5)}, "^inputs must be"),
        ({"labels": np.ones(4)}, "^labels must be"),
        ({"inputs": np.full((5, 2), np.nan)}, "^inputs must be finite"),
        ({"noise_variance": -1.0}, "^noise_variance must be"),
        ({"n_features": np.inf}, "^n_features must be integers"),
    ],
)
def test_bad_data_sets_are_named(change, message):
    call = {"inputs": np.ones((5, 2)), "labels": np.ones(5), "n_samples": 3, "n_features": 3, "ridge": 0.1} | change
    with pytest.raises(ArgumentError, match=message):
        rf.simulate_dataset(rf.relu_features, call.pop("inputs"), call.pop("labels"), **call, seed=0, replicates=2)


def test_a_feature_map_of_the_wrong_width_is_refused():
    inputs = np.ones((6, 2))
    with pytest.raises(ArgumentError, match=r"features_map must be a function that returns shape \(6, 5\)"):
        rf.simulate_dataset(
            lambda key, x, p: x, inputs, inputs[:, 0], n_samples=4, n_features=5, ridge=1, seed=0, replicates=2
        )

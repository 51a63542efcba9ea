"""Simulators: one draw against textbook ridge regression, both samplers, agreement with theory, published means."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from solvable import compare
from solvable import random_features as rf
from solvable import weak_to_strong as w2s
from solvable.errors import ArgumentError, InfiniteWorldError, MemoryLimitError
from solvable.weak_to_strong import Stage, generations

INF = math.inf
WORLD = w2s.Problem.power_law(1.5, 0.6, 0.25, n_modes=120)
FINITE_SIZE = {"teacher_excess_risk": 1.5, "student_excess_risk": 1.5, "risk_ratio": 1.5}  # C of C/min(n, p)


def functions(shapes, ridges, noises, key=0, *, coupling="independent", direct=True, n_modes=30):
    """Coefficients of both functions, and the target, of one draw in double precision."""
    target = np.arange(1.0, n_modes + 1) ** -0.8
    scale = np.arange(1.0, n_modes + 1) ** -0.75
    with jax.enable_x64(True):
        return target, scale, [
            np.asarray(f)
            for f in generations.trained_functions(
                jax.random.key(key), jnp.asarray(target), scales=[jnp.asarray(scale)] * 2, ridges=jnp.asarray(ridges),
                noises=jnp.asarray(noises), shapes=tuple(generations.Shape(*shape, "svd") for shape in shapes),
                coupling=coupling, direct=direct,
            )
        ]  # fmt: skip


@pytest.mark.x64_independent
def test_one_draw_is_textbook_ridge_regression_twice():
    shapes, ridges = ((12, 20), (15, INF)), (0.3, 0.7)
    target, scale, (teacher, student) = functions(shapes, ridges, (0.2, 0.0))
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), (2, 2))
        phi = np.asarray(jax.random.normal(keys[0, 0], (20, 30))) * scale / math.sqrt(20)
        input_key, noise_key = jax.random.split(keys[0, 1])
        inputs, noise = (
            np.asarray(jax.random.normal(input_key, (12, 30))),
            np.asarray(jax.random.normal(noise_key, (12,))),
        )
        fresh = np.asarray(jax.random.normal(jax.random.split(keys[1, 1])[0], (15, 30)))
    design, labels = inputs @ phi.T, inputs @ target + math.sqrt(0.2) * noise
    weights = np.linalg.solve(design.T @ design + 0.3 * np.eye(20), design.T @ labels)
    np.testing.assert_allclose(teacher, phi.T @ weights, rtol=1e-9, atol=1e-12)
    kernel = np.diag(scale**2)
    dual = np.linalg.solve(fresh @ kernel @ fresh.T + 0.7 * np.eye(15), fresh @ teacher)
    np.testing.assert_allclose(student, kernel @ fresh.T @ dual, rtol=1e-9, atol=1e-12)


@pytest.mark.x64_independent
def test_the_student_refits_the_teachers_predictions_on_shared_inputs():
    shapes = ((12, INF), (12, INF))
    _, scale, (teacher, student) = functions(shapes, (0.3, 0.7), (0.2, 0.0), coupling="inputs")
    with jax.enable_x64(True):
        input_key = jax.random.split(jax.random.split(jax.random.key(0), (2, 2))[0, 1], 3)[0]
        inputs = np.asarray(jax.random.normal(input_key, (12, 30)))
    kernel = np.diag(scale**2)
    dual = np.linalg.solve(inputs @ kernel @ inputs.T + 0.7 * np.eye(12), inputs @ teacher)
    np.testing.assert_allclose(student, kernel @ inputs.T @ dual, rtol=1e-9, atol=1e-12)


@pytest.mark.x64_independent
@pytest.mark.parametrize(
    ("teacher", "student"),
    [
        (Stage(60, 20, ridge=0.1), Stage(30, 45, ridge=0.5)),  # more samples than features, and fewer
        (Stage(60, 20, ridge=0.0), Stage(80, 30, ridge=0.0)),
    ],
)
def test_both_samplers_have_one_law(teacher, student, test_seed):
    """Detects a difference of 15% in either mean, of 40% at ridge 0."""
    means = [
        w2s.simulate(
            WORLD,
            teacher=teacher,
            student=student,
            sampler=sampler,
            seed=test_seed + i,
            replicates=1024 if teacher.ridge else 384,
        )
        for i, sampler in enumerate(("auto", "direct"))
    ]
    one, other = means
    pooled = {
        name: (one.mean[name], np.hypot(one.sem[name], other.sem[name]), one.count) for name in w2s.OBSERVABLES.base
    }
    assert compare({name: other.mean[name] for name in pooled}, pooled, detectable=0.15 if teacher.ridge else 0.4)


@pytest.mark.x64_independent
@pytest.mark.parametrize(
    ("coupling", "teacher", "student"),
    [
        ("independent", Stage(40, 60, ridge=0.2), Stage(60, 80, ridge=1.0)),
        ("features", Stage(40, 60, ridge=0.2), Stage(60, 60, ridge=[0.2, 1.0])),
        ("inputs", Stage(60, ridge=0.2), Stage(60, ridge=1.0)),
    ],
)
def test_simulation_agrees(coupling, teacher, student, test_seed):
    """Detects biases of a quarter; C/min(n, p) is declared, with C from three sizes in the slow session."""
    pair = {"teacher": teacher, "student": student, "coupling": coupling}
    measured = w2s.simulate(WORLD, **pair, seed=test_seed, replicates=512)
    allowance = {name: constant / 40 for name, constant in FINITE_SIZE.items()}
    verdict = compare(w2s.predict(WORLD, **pair), measured, finite_size=allowance, detectable=0.25)
    assert verdict, verdict
    assert compare({"student_excess_risk": 1.3 * verdict_of(pair)}, measured, rtol=0.05).verdict == "disagree"


def verdict_of(pair):
    return w2s.predict(WORLD, **pair).student_excess_risk


@pytest.mark.x64_independent
def test_chains_agree(test_seed):
    stages = [Stage(40, 60, ridge=0.1), Stage(50, 40, ridge=0.3, label_noise_variance=0.05), Stage(60, ridge=0.5)]
    measured = w2s.simulate(WORLD, stages=stages, seed=test_seed, replicates=512)
    theory = w2s.chain(WORLD, stages)
    assert measured.mean.excess_risk.shape == theory.excess_risk.shape == (3,)
    verdict = compare(theory, measured, finite_size={"excess_risk": 1.5 / 40}, detectable=0.25)
    assert verdict, verdict


@pytest.mark.x64_independent
def test_mixed_labels_agree(test_seed):
    pair = {"teacher": Stage(40, 60, ridge=0.1), "student": Stage(40, 30, ridge=0.3)}
    mixture = {**pair, "fraction": 0.75, "true_label_noise_variance": 0.1}
    measured = w2s.simulate_mixed_labels(WORLD, **mixture, seed=test_seed, replicates=512)
    allowance = {name: constant / 30 for name, constant in FINITE_SIZE.items()}
    verdict = compare(w2s.mixed_labels(WORLD, **mixture), measured, finite_size=allowance, detectable=0.3)
    assert verdict, verdict
    with pytest.raises(ArgumentError, match="fraction must be in"):
        w2s.simulate_mixed_labels(WORLD, **{**mixture, "fraction": 0.33}, seed=0, replicates=2)


@pytest.mark.x64_independent
def test_a_data_set_that_is_gaussian_follows_the_theory(test_seed):
    """Linear features of Gaussian points: the kernel's eigenvectors are Gaussian. Detects biases of 30%."""
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(400, 30)) * np.arange(1.0, 31) ** -0.75
    labels = inputs @ rng.normal(size=30)
    pair = {"teacher": Stage(40, 30, ridge=0.05), "student": Stage(60, 80, ridge=0.1)}
    measured = w2s.simulate_dataset(
        linear_features, inputs, labels, **pair, noise_variance=0.1, seed=test_seed, replicates=384
    )
    kernel = inputs @ inputs.T
    theory = w2s.predict(rf.Problem.from_kernel(kernel, labels, 0.1), **pair)
    assert compare(theory, measured, rtol=0.1, detectable=0.35)


def linear_features(key, inputs, n_features):
    return inputs @ jax.random.normal(key, (inputs.shape[1], n_features), inputs.dtype)


@pytest.mark.x64_independent
def test_states_per_mode_agree(test_seed):
    """Means and variances of coefficients over 512 draws: five standard errors and 2/min(n, p)."""
    shapes = ((40, 30), (50, 60))
    with jax.enable_x64(True):
        target, scale, _ = functions(shapes, (0.1, 0.4), (0.25, 0.0))

        def both(key):
            return jnp.stack(generations.trained_functions(
                key, jnp.asarray(target), scales=[jnp.asarray(scale)] * 2, ridges=jnp.array([0.1, 0.4]),
                noises=jnp.array([0.25, 0.0]), shapes=tuple(generations.Shape(*s, "eigh") for s in shapes),
                coupling="independent", direct=False,
            ))  # fmt: skip

        draws = np.asarray(
            jax.jit(lambda keys: jax.lax.map(both, keys))(jax.random.split(jax.random.key(test_seed), 512))
        )
    problem = w2s.Problem.from_arrays(scale**2, target**2, 0.25)
    state = w2s.chain(problem, [Stage(40, 30, ridge=0.1), Stage(50, 60, ridge=0.4)]).diagnostics
    mean, variance = draws.mean(axis=0), draws.var(axis=0, ddof=1)
    predicted = (1 - state.mean_error) * target
    assert np.all(np.abs(mean - predicted) < 5 * np.sqrt(variance / 512) + 2 / 30 * np.abs(target - predicted))
    heavy = (draws - mean) ** 2
    error = heavy.std(axis=0) / math.sqrt(512)
    assert np.all(np.abs(variance - state.variance) < 5 * error + 2 / 30 * state.variance)


ROWS = {  # capacity, source, modes, teacher, student, published mean and standard error of both risks
    "kernel": (1.5, 0.4, 400, (100, INF, 0.5, 0.5), (150, INF, 1, 0), ((0.07521, 0.00037), (0.06553, 0.00034))),
    "ridgeless": (1.5, 0.4, 400, (100, 200, 0, 0.5), (150, 300, 2, 0), ((0.5225, 0.0047), (0.1464, 0.0018))),
    "narrow": (1.5, 0.8, 400, (100, 60, 0.1, 0.5), (200, 150, 1, 0), ((0.1660, 0.0015), (0.06699, 0.00086))),
    "both": (1.5, 0.8, 400, (200, 50, 0, 0.3), (100, 200, 0, 0), ((0.04673, 0.00035), (0.05599, 0.00054))),
    "smooth": (2, 1.2, 400, (100, 80, 0.001, 0), (200, 40, 0.1, 0), ((0.001085, 0.000013), (0.002302, 0.000028))),
    "noisy": (1.2, 0.5, 600, (100, 150, 0.1, 1), (80, 400, 3, 0), ((1.2457, 0.0052), (0.3305, 0.0025))),
    "extreme": (3, 2, 200, (100, 100, 0.001, 0.2), (100, 100, 0.001, 0), ((0.01607, 0.00016), (0.01231, 0.00015))),
    "ordinary": (1.5, 0.5, 300, (400, 300, 0, 0.5), (600, 200, 1, 0), ((0.7610, 0.0063), (0.1639, 0.0017))),
}


@pytest.mark.slow
@pytest.mark.x64_independent
@pytest.mark.parametrize("name", ROWS)
def test_published_monte_carlo_rows(name, test_seed):
    """Two simulations of the same means, 400 replicates here."""
    capacity, source, n_modes, *pair, published = ROWS[name]
    problem = w2s.Problem.power_law(capacity, source, n_modes=n_modes)
    teacher, student = (Stage(n, p, ridge=r, label_noise_variance=d**2) for n, p, r, d in pair)
    ours = w2s.simulate(problem, teacher=teacher, student=student, seed=test_seed, replicates=400)
    means = dict(zip(w2s.OBSERVABLES.base, published, strict=True))
    pooled = {key: (ours.mean[key], np.hypot(ours.sem[key], sem)) for key, (_, sem) in means.items()}
    assert compare({key: mean for key, (mean, _) in means.items()}, pooled, detectable=0.25)


def apart(measured, mean, sem):
    """Compare one of our means with a published one."""
    pooled = (measured.mean.student_excess_risk, np.hypot(measured.sem.student_excess_risk, sem))
    return compare({"student_excess_risk": mean}, {"student_excess_risk": pooled}, detectable=0.25)


@pytest.mark.slow
@pytest.mark.x64_independent
@pytest.mark.parametrize(
    ("coupling", "teacher", "student", "mean", "sem"),
    [
        ("inputs", Stage(100, ridge=0.1), Stage(100, ridge=1.0), 0.04498, 0.0006),
        ("features", Stage(100, 80, ridge=0.05), Stage(200, 80, ridge=1.0), 0.1282, 0.0017),
        ("features", Stage(100, 200, ridge=0.5), Stage(100, 200, ridge=0.1), 0.0606, 0.0008),
    ],
)
def test_published_couplings(coupling, teacher, student, mean, sem, test_seed):
    world = w2s.Problem.power_law(1.5, 0.5, 0.25, n_modes=400)
    pair = {"teacher": teacher, "student": student, "coupling": coupling}
    verdict = apart(w2s.simulate(world, **pair, seed=test_seed, replicates=400), mean, sem)
    assert verdict, verdict


@pytest.mark.slow
@pytest.mark.x64_independent
@pytest.mark.parametrize(
    ("world", "teacher", "student", "fraction", "noise", "mean", "sem"),
    [
        ((1.5, 0.5, 0.25, 400), Stage(80, ridge=0.1), Stage(200, ridge=1.0), 0.75, 0.25, 0.05317, 0.00074),
        ((1.5, 0.5, 0.25, 400), Stage(80, 100, ridge=0.1), Stage(200, 150, ridge=1.0), 0.5, 1.0, 0.1076, 0.0012),
        (
            (2, 1, 0.09, 300), Stage(60, 40, ridge=0.01), Stage(160, 120, ridge=0.05, label_noise_variance=0.04),
            0.75, 0.09, 0.04802, 0.0007,
        ),
    ],
)  # fmt: skip
def test_published_mixtures(world, teacher, student, fraction, noise, mean, sem, test_seed):
    problem = w2s.Problem.power_law(*world[:3], n_modes=world[3])
    mixture = {"fraction": fraction, "true_label_noise_variance": noise}
    measured = w2s.simulate_mixed_labels(
        problem, teacher=teacher, student=student, **mixture, seed=test_seed, replicates=400
    )
    verdict = apart(measured, mean, sem)
    assert verdict, verdict


@pytest.mark.slow
@pytest.mark.x64_independent
def test_published_chain(test_seed):
    world = w2s.Problem.power_law(1.5, 0.6, 0.25, n_modes=400)
    later = [Stage(120, 200, ridge=0.2, label_noise_variance=v) for v in (0.0, 0.01, 0.0)]
    ours = w2s.simulate(world, stages=[Stage(120, 200, ridge=0.01), *later], seed=test_seed, replicates=400)
    mean, sem = np.array([0.4041, 0.1996, 0.1333, 0.1022]), np.array([0.0033, 0.0024, 0.0019, 0.0017])
    pooled = (ours.mean.excess_risk, np.hypot(ours.sem.excess_risk, sem))
    assert compare({"excess_risk": mean}, {"excess_risk": pooled}, detectable=0.3)


@pytest.mark.slow
@pytest.mark.x64_independent
def test_finite_size_bias_shrinks(test_seed):
    """Relative deviation times n over three sizes, all sizes and ridges scaled together: at most 1.5, as declared."""
    for n, replicates in ((24, 8000), (48, 3000), (96, 1000)):
        world = w2s.Problem.power_law(1.5, 0.6, 0.25, n_modes=8 * n)
        pair = {"teacher": Stage(n, 3 * n // 2, ridge=0.005 * n), "student": Stage(3 * n // 2, 2 * n, ridge=0.025 * n)}
        theory, measured = (
            w2s.predict(world, **pair),
            w2s.simulate(world, **pair, seed=test_seed, replicates=replicates),
        )
        for name in w2s.OBSERVABLES.names:
            scale = n / float(theory.observables[name])
            constant = scale * float(measured.mean[name] - theory.observables[name])
            error = scale * float(measured.sem[name])
            print(n, name, f"{constant:.2f}+-{error:.2f}")
            assert abs(constant) < FINITE_SIZE[name] + 5 * error


@pytest.mark.x64_independent
def test_an_ensemble_of_students_and_teachers_averages_what_theory_says(test_seed):
    """Two teachers averaged, two students averaged, by plain NumPy: within 4 standard errors and 2/min(n, p)."""
    rng, size = np.random.default_rng(test_seed), 60
    scale, target = np.arange(1.0, size + 1) ** -0.75, np.arange(1.0, size + 1) ** -0.9

    def trained(n, p, ridge, function, noise):
        phi, inputs = rng.normal(size=(p, size)) * scale / math.sqrt(p), rng.normal(size=(n, size))
        design, labels = inputs @ phi.T, inputs @ function + math.sqrt(noise) * rng.normal(size=n)
        return phi.T @ np.linalg.solve(design.T @ design + ridge * np.eye(p), design.T @ labels)

    def risk():
        teacher = np.mean([trained(30, 40, 0.1, target, 0.25) for _ in range(2)], axis=0)
        student = np.mean([trained(40, 30, 0.3, teacher, 0.0) for _ in range(2)], axis=0)
        return [np.sum((f - target) ** 2) for f in (teacher, student)]

    risks = np.array([risk() for _ in range(600)])
    pair = {"teacher": Stage(30, 40, ridge=0.1), "student": Stage(40, 30, ridge=0.3)}
    theory = w2s.ensembles(w2s.Problem.from_arrays(scale**2, target**2, 0.25), **pair, n_teachers=2, n_students=2)
    measured = {
        name: (risks[:, i].mean(), risks[:, i].std() / math.sqrt(600), 600)
        for i, name in enumerate(w2s.OBSERVABLES.base)
    }
    expected = {name: theory.observables[name] for name in measured}
    assert compare(expected, measured, rtol=2 / 30, detectable=0.25)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"student": None}, ArgumentError, "give teacher and student, or stages"),
        ({"stages": [Stage(5, ridge=1.0)]}, ArgumentError, "stages must be at least one, without teacher"),
        ({"teacher": Stage(5.5, ridge=1.0)}, ArgumentError, "teacher.n_samples must be integers >= 1"),
        ({"teacher": Stage(INF, ridge_per_sample=1.0)}, ArgumentError, "teacher.n_samples must be integers >= 1"),
        ({"sampler": "magic"}, ArgumentError, "sampler must be one of"),
        ({"max_bytes": 10.0}, MemoryLimitError, "one replicate needs"),
    ],
)
@pytest.mark.x64_independent
def test_bad_input_is_refused(change, error, message):
    call = {
        "teacher": Stage(10, 8, ridge=0.1),
        "student": Stage(10, 8, ridge=0.1),
        "seed": 0,
        "replicates": 2,
        **change,
    }
    with pytest.raises(error, match=message):
        w2s.simulate(WORLD, **call)


@pytest.mark.x64_independent
def test_kernels_of_their_own_are_simulated_and_infinite_ones_refused(test_seed):
    pair = {"teacher": Stage(40, 60, ridge=0.05), "student": Stage(50, 50, ridge=0.1, capacity=2.1)}
    measured = w2s.simulate(WORLD, **pair, seed=test_seed, replicates=512)
    allowance = {name: constant / 40 for name, constant in FINITE_SIZE.items()}
    assert compare(w2s.predict(WORLD, **pair), measured, finite_size=allowance, detectable=0.3)
    infinite = w2s.Problem.power_law(1.5, 0.6)
    with pytest.raises(InfiniteWorldError, match="truncate"):
        w2s.simulate(infinite, **pair, seed=0, replicates=2)

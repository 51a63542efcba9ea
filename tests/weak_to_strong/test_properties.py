"""Identities that hold for every world and every pair of stages."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvable import random_features as rf
from solvable import weak_to_strong as w2s
from solvable.weak_to_strong import Stage
from solvable.weak_to_strong.channel import TRUTH, State, excess_risk, solve, train, trainer
from solvable.weak_to_strong.worlds import lay_out

pytestmark = pytest.mark.x64_independent
sizes = st.floats(2, 1e5)
widths = sizes | st.just(math.inf)
ridges = st.just(0.0) | st.floats(1e-10, 1e4)
stages = st.builds(lambda n, p, ridge: Stage(n, p, ridge=ridge), sizes, widths, ridges)
worlds = st.builds(
    lambda capacity, source, noise: w2s.Problem.power_law(capacity, source, noise, n_modes=2000),
    st.floats(1.1, 3), st.floats(0.1, 1.5), st.sampled_from([0.0, 0.3]),
)  # fmt: skip
TERMS = ("shrink", "student", "teacher_features", "teacher_noise", "teacher_alias", "label_noise")


def single(problem, stage):
    return rf.predict(problem, n_samples=stage.n_samples, n_features=stage.n_features, ridge=stage.ridge)


@given(problem=worlds, teacher=stages, student=stages)
def test_two_channels_composed_are_the_sum_of_six_positive_terms(problem, teacher, student):
    theory, steps = w2s.predict(problem, teacher=teacher, student=student), w2s.chain(problem, [teacher, student])
    assert float(theory.teacher_excess_risk) == pytest.approx(float(single(problem, teacher).excess_risk), rel=1e-11)
    assert float(theory.teacher_excess_risk) == pytest.approx(float(steps.excess_risk[0]), rel=1e-11)
    assert float(theory.student_excess_risk) == pytest.approx(float(steps.excess_risk[1]), rel=1e-11)
    terms = [float(theory.diagnostics[name]) for name in TERMS]
    assert min(terms) >= 0
    assert sum(terms) == pytest.approx(float(theory.student_excess_risk), rel=1e-12)
    assert np.all(steps.diagnostics.variance >= 0)


@given(problem=worlds, student=stages)
def test_a_perfect_teacher_is_the_truth(problem, student):
    perfect = Stage(math.inf, ridge_per_sample=0.0)
    noisy = Stage(student.n_samples, student.n_features, ridge=student.ridge, label_noise_variance=0.2)
    theory = w2s.predict(problem, teacher=perfect, student=noisy)
    direct = rf.Problem(problem.modes, np.asarray(0.2))
    assert float(theory.teacher_excess_risk) == 0
    assert float(theory.student_excess_risk) == pytest.approx(float(single(direct, student).excess_risk), rel=1e-11)


@given(problem=worlds, teacher=stages)
def test_a_perfect_student_is_the_teacher_and_a_lazy_one_learns_nothing(problem, teacher):
    power = float(np.sum(problem.modes.nodes(np).target_power))
    perfect = w2s.predict(problem, teacher=teacher, student=Stage(math.inf, ridge_per_sample=0.0))
    assert float(perfect.student_excess_risk) == pytest.approx(float(perfect.teacher_excess_risk), rel=1e-12)
    lazy = w2s.predict(problem, teacher=Stage(50, 80, ridge=0.1), student=Stage(50, 80, ridge=1e15))
    assert float(lazy.student_excess_risk) == pytest.approx(power, rel=1e-9)


@given(capacity=st.floats(1.1, 2.5), scale=st.floats(1e-3, 1e3), teacher=stages, student=stages)
def test_scales_order_splits_and_null_levels(capacity, scale, teacher, student):
    rng = np.random.default_rng(7)
    x, power = np.arange(1.0, 121) ** -capacity, rng.uniform(0, 1, 120)

    def risks(x, power, noise, ridge_scale=1.0, counts=None):
        problem = w2s.Problem.from_arrays(x, power, noise, multiplicities=counts)
        pair = [Stage(s.n_samples, s.n_features, ridge=s.ridge * ridge_scale) for s in (teacher, student)]
        theory = w2s.predict(problem, teacher=pair[0], student=pair[1])
        return np.array([float(theory.teacher_excess_risk), float(theory.student_excess_risk)])

    plain = risks(x, power, 0.3)
    np.testing.assert_allclose(risks(x, scale * power, 0.3 * scale), scale * plain, rtol=1e-10)
    np.testing.assert_allclose(risks(scale * x, power, 0.3, scale), plain, rtol=1e-9)
    order = rng.permutation(120)
    np.testing.assert_allclose(risks(x[order], power[order], 0.3), plain, rtol=1e-10)
    halves = risks(np.repeat(x, 2), np.repeat(power / 2, 2), 0.3, counts=np.full(240, 0.5))
    np.testing.assert_allclose(halves, plain, rtol=1e-10)
    with_null = risks(np.append(x, 0.0), np.append(power, 0.4), 0.3)
    np.testing.assert_allclose(with_null, risks(x, power, 0.7) + 0.4, rtol=1e-10)


@given(problem=worlds, teacher=stages, student=stages)
def test_mixtures_and_ensembles_at_their_ends(problem, teacher, student):
    pair = {"teacher": teacher, "student": student}
    theory = w2s.predict(problem, **pair)
    mixed = w2s.mixed_labels(problem, **pair, fraction=[0.0, 1.0]).student_excess_risk
    assert float(mixed[0]) == pytest.approx(float(single(problem, student).excess_risk), rel=1e-11)
    assert float(mixed[1]) == pytest.approx(float(theory.student_excess_risk), rel=1e-11)
    means = w2s.ensembles(problem, **pair, n_teachers=[1, 5, math.inf], n_students=[1, 3, math.inf])
    assert float(means.student_excess_risk[0]) == pytest.approx(float(theory.student_excess_risk), rel=1e-11)
    if math.isfinite(float(theory.student_excess_risk)):
        assert means.student_excess_risk[0] >= means.student_excess_risk[1] >= means.student_excess_risk[2]
        assert float(means.student_excess_risk[2]) == pytest.approx(float(theory.diagnostics.shrink), rel=1e-11)


def test_more_of_everything_helps_at_a_fixed_effective_ridge():
    """Published values at nu2 = 0.02."""
    problem = w2s.Problem.power_law(1.5, 0.6, 0.3, n_modes=300)
    expected = {
        (100, 150): 0.1003641608, (200, 150): 0.0880577596, (200, 300): 0.0822917796,
        (1e5, 300): 0.0726919065, (1e5, math.inf): 0.0684185346,
    }  # fmt: skip
    nodes = problem.modes.nodes(np)
    df1 = float(np.sum(nodes.multiplicities * nodes.eigenvalues / (nodes.eigenvalues + 0.02)))
    teacher = Stage(80, 120, ridge=0.05)
    for (n, p), risk in expected.items():
        ridge = 0.02 * (1 - df1 / p) * (n - df1)
        theory = w2s.predict(problem, teacher=teacher, student=Stage(n, p, ridge=ridge))
        assert float(theory.student_excess_risk) == pytest.approx(risk, rel=1e-9)
        assert float(theory.diagnostics.student_nu2) == pytest.approx(0.02, rel=1e-12)


def test_many_features_are_infinitely_many():
    problem = w2s.Problem.power_law(1.5, 0.5, 0.2)
    wide, infinite = (
        w2s.predict(problem, teacher=Stage(50, p, ridge=0.1), student=Stage(70, p, ridge=0.2)).student_excess_risk
        for p in (1e12, math.inf)
    )
    assert float(wide) == pytest.approx(float(infinite), rel=1e-9)


@given(teacher=stages, student=stages)
def test_infinite_students_commute_in_what_they_shrink(teacher, student):
    """Filters multiply: exchanging the effective ridges of a noiseless kernel pair leaves the mean alone."""
    problem = w2s.Problem.power_law(1.5, 0.5, 0.0, n_modes=500)
    one, other = (Stage(math.inf, ridge_per_sample=1e-4 + s.ridge) for s in (teacher, student))
    forth, back = (
        w2s.predict(problem, teacher=a, student=b).diagnostics.shrink for a, b in ((one, other), (other, one))
    )
    assert float(forth) == pytest.approx(float(back), rel=1e-11)


def test_the_channel_conserves_the_adjoint():
    """Second moments passed forwards and weights passed backwards give the same risk, for any state of the labels."""
    problem = w2s.Problem.power_law(1.5, 0.6, 0.3, n_modes=100)
    one = np.ones(1)
    world, (kernel,) = lay_out(problem, [Stage(1, ridge=0.0)], by_mode=True, xp=np)
    stage = trainer(world, kernel, solve(kernel, 60 * one, 40 * one, 0.002 * one, np), 60 * one, 40 * one, np)
    rng = np.random.default_rng(3)
    e, v = rng.uniform(0, 1, (1, 100)), rng.uniform(0, 0.1, (1, 100))
    forwards = float(excess_risk(world, train(world, stage, State(e, v), 0.2 * one, np).state, np)[0])
    s, u, d = stage.learned, stage.overlap, stage.share[:, None]
    amplification = (stage.squares.sum() / 60 / stage.gap)[:, None]
    weights = s**2 + d * u + amplification * stage.missed_squares
    beta2 = world.target_power
    seen = (1 - e) ** 2 * beta2 + v
    backwards = np.sum(beta2 - 2 * s * (1 - e) * beta2 + weights * seen) + 0.2 * float(amplification[0, 0])
    assert forwards == pytest.approx(float(backwards), rel=1e-12)
    assert float(train(world, stage, TRUTH, 0.2 * one, np).effective_noise[0]) > 0.2

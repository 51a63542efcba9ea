"""Published values of the two-stage prediction, its couplings, mixtures, kernels and limits."""

import math

import jax
import numpy as np
import pytest

from solvable import random_features as rf
from solvable import weak_to_strong as w2s
from solvable.errors import ArgumentError, InfiniteWorldError, ResolutionError
from solvable.weak_to_strong import Stage

pytestmark = pytest.mark.x64_independent
TERMS = ("shrink", "student", "teacher_features", "teacher_noise", "teacher_alias", "label_noise")
INF = math.inf

# capacity, source, modes, teacher (n, p, ridge, noise deviation), student (the same), risks
GOLDEN = {
    "kernel": (1.5, 0.4, 400, (100, INF, 0.5, 0.5), (150, INF, 1, 0), 0.07459397468, 0.06482932751),
    "ridgeless kernel": (1.5, 0.4, 400, (100, INF, 0, 0.5), (150, INF, 2, 0), 0.2390860892, 0.09052920897),
    "ridgeless wide": (1.5, 0.4, 400, (100, 200, 0, 0.5), (150, 300, 2, 0), 0.5083408916, 0.1428490361),
    "narrow": (1.5, 0.8, 400, (100, 60, 0.1, 0.5), (200, 150, 1, 0), 0.1644832601, 0.06655480992),
    "ridgeless both": (1.5, 0.8, 400, (200, 50, 0, 0.3), (100, 200, 0, 0), 0.04606205394, 0.05492019892),
    "smooth": (2, 1.2, 400, (100, 80, 0.001, 0), (200, 40, 0.1, 0), 0.001046753857, 0.002165652387),
    "rough": (2, 0.25, 400, (150, 300, 0.01, 0), (150, 300, 0.01, 0), 0.01874798346, 0.02617897576),
    "noisy": (1.2, 0.5, 600, (100, 150, 0.1, 1), (80, 400, 3, 0), 1.246669237, 0.3301022593),
    "wide student": (1.5, 0.8, 800, (200, 400, 0, 0.5), (400, 400, 20, 0), 0.482648247, 0.03576785404),
    "extreme": (3, 2, 200, (100, 100, 0.001, 0.2), (100, 100, 0.001, 0), 0.01603457794, 0.01220314654),
    "ordinary": (1.5, 0.5, 300, (400, 300, 0, 0.5), (600, 200, 1, 0), 0.75, 0.1622956536),
    "few features": (1.5, 1.0, 1000, (500, 30, 0, 0.1), (500, INF, 15, 0), 0.02669504491, 0.007316022009),
}
NU2 = {
    "kernel": (0.008987245788, 0.009370441207),
    "narrow": (0.008301778157, 0.009083564866),
    "extreme": (2.712789417e-05, 2.712789417e-05),
    "ordinary": (0.0, 0.003097322123),
}


def stage(setting, **more):
    n, p, ridge, deviation = setting
    return Stage(n, p, ridge=ridge, label_noise_variance=deviation**2, **more)


def predicted(row, **more):
    capacity, source, n_modes, teacher, student = row[:5]
    problem = w2s.Problem.power_law(capacity, source, 0.7, n_modes=n_modes)
    return w2s.predict(problem, teacher=stage(teacher), student=stage(student), **more)


@pytest.mark.parametrize("name", GOLDEN)
def test_published_risks(name):
    row = GOLDEN[name]
    theory = predicted(row)
    assert float(theory.teacher_excess_risk) == pytest.approx(row[5], rel=1e-9)
    assert float(theory.student_excess_risk) == pytest.approx(row[6], rel=1e-9)
    assert float(theory.risk_ratio) == pytest.approx(row[6] / row[5], rel=1e-9)
    if name in NU2:
        nu2 = float(theory.diagnostics.teacher_nu2), float(theory.diagnostics.student_nu2)
        assert nu2 == pytest.approx(NU2[name], rel=1e-9)


def test_published_decomposition():
    theory = predicted(GOLDEN["narrow"])
    expected = (0.001851228667, 0.003040409213, 0.001847435123, 0.05767780582, 0.002137931094, 0.0)
    for name, value in zip(TERMS, expected, strict=True):
        assert float(theory.diagnostics[name]) == pytest.approx(value, rel=1e-9), name


def test_problem_noise_is_the_teachers_and_not_the_students():
    problem = w2s.Problem.power_law(1.5, 0.4, 0.25, n_modes=400)
    theory = w2s.predict(problem, teacher=Stage(100, ridge=0.5), student=Stage(150, ridge=1.0))
    assert float(theory.student_excess_risk) == pytest.approx(0.06482932751, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "teacher", "student"),
    [
        (1e2, 0.12595727, 0.049782519),
        (1e3, 0.12506407, 0.010542832),
        (1e4, 0.12500626, 0.0022368692),
        (1e5, 0.12500063, 0.00046347335),
        (1e6, 0.12500006, 9.430808e-05),
    ],
)
def test_published_flat_teacher(n, teacher, student):
    problem = w2s.Problem.power_law(1.5, 0.8, 0.25)
    ridge = n ** (1 - 1.5 / 3.4)
    theory = w2s.predict(problem, teacher=Stage(n, n**2, ridge=0.0), student=Stage(n, ridge=ridge))
    assert float(theory.teacher_excess_risk) == pytest.approx(teacher, rel=1e-7)
    assert float(theory.student_excess_risk) == pytest.approx(student, rel=1e-7)


@pytest.mark.parametrize(
    ("n", "teacher", "student"),
    [
        (1e3, 0.16342441, 0.083781001),
        (1e4, 0.068361387, 0.023189817),
        (1e5, 0.026371715, 0.0058571171),
        (1e6, 0.0097376853, 0.0014227808),
        (1e8, 0.0012589182, 8.2138373e-05),
    ],
)
def test_published_width_limited_teacher(n, teacher, student):
    problem = w2s.Problem.power_law(1.5, 1.0, 0.01)
    ridge = n ** (1 - 1.5 * 12 / 55)  # kappa = (Q + 2 capacity kappa)/(1 + 3 capacity) at Q = kappa = 0.3
    theory = w2s.predict(problem, teacher=Stage(n, n**0.3, ridge=0.0), student=Stage(n, ridge=ridge))
    assert float(theory.teacher_excess_risk) == pytest.approx(teacher, rel=1e-7)
    assert float(theory.student_excess_risk) == pytest.approx(student, rel=1e-7)


@pytest.mark.parametrize(
    ("world", "teacher", "student", "fraction", "noise", "risk"),
    [
        ((1.5, 0.5, 0.25, 400), (80, INF, 0.1), (200, INF, 1, 0), 0.75, 0.25, 0.05287301954),
        ((1.5, 0.5, 0.25, 400), (80, 100, 0.1), (200, 150, 1, 0), 0.5, 1.0, 0.1060007075),
        ((2, 1, 0.09, 300), (60, 40, 0.01), (160, 120, 0.05, 0.2), 0.75, 0.09, 0.04746435924),
    ],
)
def test_published_mixtures(world, teacher, student, fraction, noise, risk):
    problem = w2s.Problem.power_law(*world[:3], n_modes=world[3])
    stages = {"teacher": Stage(teacher[0], teacher[1], ridge=teacher[2]), "student": stage(student)}
    theory = w2s.mixed_labels(problem, **stages, fraction=fraction, true_label_noise_variance=noise)
    assert float(theory.student_excess_risk) == pytest.approx(risk, rel=1e-9)


def test_published_couplings():
    row = (1.5, 0.5, 400, (100, INF, 0.1, 0.5), (100, INF, 1, 0))
    assert float(predicted(row, coupling="inputs").student_excess_risk) == pytest.approx(0.04478094940, rel=1e-9)
    for teacher, student, risk, apart in (
        ((100, 80, 0.05, 0.5), (200, 80, 1, 0), 0.1269092088, 0.1127878882),
        ((100, 200, 0.5, 0.5), (100, 200, 0.1, 0), 0.06156452940, 0.06334536711),
    ):
        row = (1.5, 0.5, 400, teacher, student)
        assert float(predicted(row, coupling="features").student_excess_risk) == pytest.approx(risk, rel=1e-9)
        assert float(predicted(row).student_excess_risk) == pytest.approx(apart, rel=1e-9)


@pytest.mark.parametrize(("coupling", "width"), [("features", 80), ("features", 300), ("inputs", INF)])
def test_couplings_pass_smoothly_through_equal_ridges(coupling, width):
    """Second differences around equality are those of a smooth curve, down to the last step that rounding allows."""
    steps = np.array([-1e-2, -1e-4, -1e-8, 0.0, 1e-8, 1e-4, 1e-2])
    problem = w2s.Problem.power_law(1.5, 0.5, 0.25)
    stages = {"teacher": Stage(100, width, ridge=0.3), "student": Stage(100, width, ridge=0.3 * np.exp(steps))}
    risk = w2s.predict(problem, **stages, coupling=coupling).student_excess_risk
    slope = (risk[6] - risk[0]) / 2e-2
    np.testing.assert_allclose((risk - risk[3])[1:6], slope * steps[1:6], atol=abs(slope) * 1e-7 + 1e-14)


def test_shared_features_of_a_wide_pair_are_no_longer_random():
    problem = w2s.Problem.power_law(1.5, 0.5, 0.25, n_modes=400)
    stages = {"teacher": Stage(100, 1e10, ridge=0.3), "student": Stage(150, 1e10, ridge=1.0)}
    shared, apart = (
        w2s.predict(problem, **stages, coupling=c).student_excess_risk for c in ("features", "independent")
    )
    assert float(shared) == pytest.approx(float(apart), rel=1e-7)


def test_least_squares_on_common_features_recovers_the_teacher():
    """Fewer features than samples, labels in their span: the student fits the teacher exactly."""
    problem = w2s.Problem.power_law(1.5, 0.5, 0.25)
    stages = {"teacher": Stage(50, 40, ridge=0.0), "student": Stage(60, 40, ridge=0.0)}
    theory = w2s.predict(problem, **stages, coupling="features")
    assert float(theory.risk_ratio) == pytest.approx(1, rel=1e-12)


def test_a_ridgeless_teacher_seen_on_its_own_inputs_hands_on_the_labels():
    problem = w2s.Problem.power_law(1.5, 0.5, 0.25)
    stages = {"teacher": Stage(100, ridge=0.0), "student": Stage(100, ridge=0.7)}
    student = w2s.predict(problem, **stages, coupling="inputs").student_excess_risk
    assert float(student) == pytest.approx(float(rf.predict(problem, n_samples=100, ridge=0.7).excess_risk), rel=1e-12)


def test_other_kernels():
    problem = w2s.Problem.power_law(1.5, 0.6, 0.3, n_modes=300)
    teacher, own = Stage(80, 120, ridge=0.05), np.arange(1.0, 301) ** -2.1
    for kernel in ({"capacity": 2.1}, {"eigenvalues": own}):
        theory = w2s.predict(problem, teacher=teacher, student=Stage(100, 100, ridge=0.02, **kernel))
        assert float(theory.student_excess_risk) == pytest.approx(0.1806040081, rel=1e-9)
    infinite = w2s.Problem.power_law(1.5, 0.6, 0.3)
    same, plain = (
        w2s.predict(infinite, teacher=teacher, student=Stage(100, 100, ridge=0.02, capacity=c)).student_excess_risk
        for c in (1.5, None)
    )
    assert float(same) == pytest.approx(float(plain), rel=1e-12)
    grown = [
        float(
            w2s.predict(world, teacher=teacher, student=Stage(100, 100, ridge=0.02, capacity=1.2)).student_excess_risk
        )
        for world in (infinite.truncate(10**12), infinite.truncate(10**15), infinite)
    ]
    assert abs(grown[1] / grown[2] - 1) < abs(grown[0] / grown[2] - 1) < 0.05


def test_gradients_in_the_number_of_a_kernel_and_through_couplings():
    problem = w2s.Problem.power_law(1.5, 0.6, 0.3)

    def by_capacity(capacity):
        student = Stage(70.0, 60.0, ridge=0.1, capacity=capacity)
        return w2s.predict(problem, teacher=Stage(50.0, 60.0, ridge=0.1), student=student).student_excess_risk

    def by_ridge(ridge):
        pair = {"teacher": Stage(50.0, 60.0, ridge=0.1), "student": Stage(70.0, 60.0, ridge=ridge)}
        return w2s.predict(problem, **pair, coupling="features").student_excess_risk

    for function, at in ((by_capacity, 2.0), (by_ridge, 0.1)):
        with jax.enable_x64(True):
            slope = float(jax.grad(function)(at))
        difference = float(function(at * 1.0001) - function(at * 0.9999)) / (2e-4 * at)
        assert slope == pytest.approx(difference, rel=1e-5)


def test_a_perfect_student_of_an_infinite_world_is_its_teacher():
    problem = w2s.Problem.power_law(1.5, 0.6, 0.3)
    student = Stage(INF, ridge_per_sample=[0.0, 1e-9])
    ratio = w2s.predict(problem, teacher=Stage(50, 60, ridge=0.1), student=student).risk_ratio
    assert float(ratio[0]) == pytest.approx(1, rel=1e-14)
    assert 0.99 < ratio[1] < 1  # the weakest filter takes some of the teacher's feature noise away


def test_singular_points_are_infinite():
    problem = w2s.Problem.power_law(1.5, 0.5, 0.25, n_modes=400)
    peak, good = Stage(100, 100, ridge=0.0), Stage(100, 50, ridge=0.1)
    first = w2s.predict(problem, teacher=peak, student=good)
    assert float(first.teacher_excess_risk) == float(first.student_excess_risk) == INF
    second = w2s.predict(problem, teacher=good, student=peak)
    assert math.isfinite(float(second.teacher_excess_risk))
    assert float(second.student_excess_risk) == INF
    assert w2s.chain(problem, [good, peak, good]).excess_risk[1:].tolist() == [INF, INF]
    interpolates = w2s.predict(problem, teacher=good, student=Stage(400, ridge=0.0))  # n = rank, noiseless labels
    assert float(interpolates.risk_ratio) == pytest.approx(1, rel=1e-12)


def test_a_table_of_students_and_teachers_equals_lanes():
    problem = w2s.Problem.power_law(1.5, 0.6, 0.3)
    widths, ridges = np.geomspace(20, 500, 9), np.array([0.0, 1e-2, 1.0])[:, None, None]
    student = Stage(100, widths[:, None], ridge=ridges)
    table = w2s.predict(problem, teacher=Stage(80, widths, ridge=0.05), student=student)
    for place in (0, 4, 8):
        lanes = w2s.predict(problem, teacher=Stage(80, widths[place], ridge=0.05), student=student)
        for name in (*w2s.OBSERVABLES.names, *TERMS, "student_nu2"):
            values = [
                getattr(t, name, None) if name in w2s.OBSERVABLES.names else t.diagnostics[name] for t in (table, lanes)
            ]
            np.testing.assert_allclose(values[0][..., place], values[1][..., 0], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"teacher": Stage(-1, ridge=0.1)}, r"teacher.n_samples must be > 0; got \[-1.0\]"),
        ({"student": Stage(10, ridge=INF)}, "student.ridge must be finite and >= 0"),
        ({"student": Stage(10)}, "give exactly one of ridge and ridge_per_sample"),
        ({"student": Stage(10, ridge=0.1, label_noise_variance=-1)}, "student.label_noise_variance must be"),
        ({"teacher": {"n_samples": 10}}, "teacher must be a Stage; got 'dict'"),
        ({"student": Stage(10, ridge=0.1, capacity=2.0, eigenvalues=[1.0])}, "student.capacity must be None"),
        ({"coupling": "nothing"}, "coupling must be one of"),
        (
            {"coupling": "features", "student": Stage(10, 30, ridge=0.1)},
            "student.n_features must be that of the teacher",
        ),
        ({"coupling": "inputs"}, "teacher.n_features must be inf"),
        ({"student": Stage(10, ridge=0.1, capacity=0.5)}, "capacity must be finite and > 1"),
        ({"student": Stage([10, 20, 30], ridge=[0.1, 0.2])}, "controls must broadcast"),
    ],
)
def test_bad_input_is_refused(change, message):
    problem = w2s.Problem.power_law(1.5, 0.5)
    stages = {"teacher": Stage(10, 20, ridge=0.1), "student": Stage(10, 20, ridge=0.1)}
    with pytest.raises(ArgumentError, match=message):
        w2s.predict(problem, **{**stages, **change})


def test_worlds_that_cannot_answer_say_so():
    infinite = w2s.Problem.power_law(1.5, 0.5)
    with pytest.raises(InfiniteWorldError, match="truncate"):
        w2s.predict(infinite, teacher=Stage(10, ridge=1.0), student=Stage(10, ridge=1.0, eigenvalues=[1.0]))
    with pytest.raises(ResolutionError, match="not resolved"):
        w2s.predict(infinite, teacher=Stage(10, ridge=1.0), student=Stage(1e16, ridge=0.0))
    arrays = w2s.Problem.from_arrays([1.0, 0.5], [1.0, 1.0])
    with pytest.raises(ArgumentError, match="eigenvalues instead"):
        w2s.predict(arrays, teacher=Stage(10, ridge=1.0), student=Stage(10, ridge=1.0, capacity=2.0))
    stages = {"teacher": Stage(10, ridge=1.0), "student": Stage(10, ridge=1.0)}
    with pytest.raises(ArgumentError, match="fraction must be in"):
        w2s.mixed_labels(infinite, **stages, fraction=1.5)

"""Losses of one question and gradient descent: published values, limits, stability of the forms."""

import mpmath
import numpy as np
import pytest

from solvable import associative_memory as am
from solvable.associative_memory.gradient_descent import flow
from solvable.associative_memory.retrieval import excess, loss, optimal_margin, residual
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent


def excess_of_flow(n_items, noise, progress):
    return excess(n_items, np.asarray(noise), *flow(n_items, noise, progress))


def test_published_noiseless_flow():
    margin, _ = flow(1000, 0.0, [0.5, 5, 50, 5000])
    expected = [0.499851375127208, 4.874912251342421, 10.582264913790613, 15.421862625921332]
    np.testing.assert_allclose(margin, expected, rtol=1e-14)
    losses = [6.408552169932983, 2.1550276163745865, 0.02502082915850736, 0.00020039742309219542]
    np.testing.assert_allclose(excess_of_flow(1000, 0.0, [0.5, 5, 50, 5000]), losses, rtol=1e-13)


def test_published_noisy_flow():
    problem = am.Problem.from_frequencies(np.full(1000, 1e-3), label_noise=0.2)
    assert float(problem.optimal_margin) == pytest.approx(8.294299608857235, rel=1e-15)
    assert float(problem.loss_floor) == pytest.approx(1.8800946444086781, rel=1e-15)
    progress = [0.5, 5, 20, 50, 100, 200]
    expected = [4.708163965821072, 1.9229910556422318, 0.004353470217024168]
    expected += [2.466806412202e-07, 2.76106032780e-14, 3.46878925e-28]
    np.testing.assert_allclose(excess_of_flow(1000, 0.2, progress), expected, rtol=3e-9)
    np.testing.assert_allclose(excess_of_flow(1000, 0.2, progress)[:3], expected[:3], rtol=1e-12)
    assert float(flow(1000, 0.2, 20.0)[1]) == pytest.approx(0.22820505107401592, rel=1e-13)


def test_excess_and_residual_against_fifty_digits():
    with mpmath.workdps(50):
        for n_items in (2, 30, 10_000):
            for noise in (1e-12, 0.03, 0.5, 0.99):
                k, a = mpmath.mpf(n_items), mpmath.mpf(noise)
                q = 1 - a + a / k
                top = mpmath.log(1 + k * (1 - a) / a)
                for shortfall in (-3.0, -0.049, -1e-9, 1e-12, 1e-3, 0.049, 0.051, 0.7 * float(top)):
                    u = mpmath.mpf(shortfall)
                    exact = mpmath.log(1 + (1 - q) * mpmath.expm1(u)) - (1 - q) * u
                    lack = q * (1 - q) * mpmath.expm1(u) / (1 + (1 - q) * mpmath.expm1(u))
                    arguments = (n_items, np.asarray(noise), np.asarray(float(top - u)), np.asarray(shortfall))
                    assert float(excess(*arguments)) == pytest.approx(float(exact), rel=3e-12), (
                        n_items,
                        noise,
                        shortfall,
                    )
                    assert float(residual(*arguments)) == pytest.approx(float(lack), rel=1e-13)


@pytest.mark.parametrize(
    ("n_items", "noise", "exponent", "expected", "tolerance"),
    [
        (1000, 0.0, 2, 26.447830550148, 1e-12), (1000, 0.2, 2, 19.630772826794, 1e-12),
        (1000, 0.2, 1.5, 23.0852014803, 1e-11), (100, 0.5, 1.25, 10.240449436, 1e-9),
        (1000, 0.0, 1.1, 83.8542773, 1e-7), (1000, 0.0, 4, 27.4444410133, 1e-11),
    ],
)  # fmt: skip
def test_published_constants(n_items, noise, exponent, expected, tolerance):
    assert am.law_constant(n_items, noise, exponent) == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize(
    ("noise", "exponent", "tau", "total", "predicted"),
    [
        (0.2, 2.0, 1e3, 0.3181512222, 0.3181508278),
        (0.2, 2.0, 1e4, 0.0980582648, 0.0980574768),
        (0.0, 1.5, 1e3, 1.1909445433, 1.1913687426),
    ],
)
def test_published_law(noise, exponent, tau, total, predicted):
    problem = am.Problem.power_law(exponent, 1000, 4, noise)
    by_law, by_flow = (
        am.predict(problem, am.GradientDescent(4.0), steps=[int(tau)], method=m).excess_risk[0] for m in ("law", "flow")
    )
    assert by_flow == pytest.approx(total, rel=1e-9)
    assert by_law == pytest.approx(predicted, rel=2e-9)  # published with a constant to 1e-9


def test_published_recursion():
    problem = am.Problem.power_law(1.5, 50, 20, 0.2)
    theory = am.predict(problem, am.GradientDescent(1 / float(problem.frequencies[0])), steps=[10, 100, 1000])
    np.testing.assert_allclose(
        theory.excess_risk, [2.400956891742548, 0.8202768421822966, 0.1068086214405366], rtol=1e-12
    )
    flows = am.predict(problem, am.GradientDescent(20.0), steps=[10, 100, 1000, 10_000], method="flow")
    expected = [3.6355758352511924, 1.2813711296913262, 0.2914443109335793, 7.130817001431588e-4]
    np.testing.assert_allclose(flows.excess_risk, expected, rtol=1e-12)
    assert flows.declared.validity == "approximation"


def test_schedules_add_up_in_continuous_time():
    problem = am.Problem.power_law(1.5, 50, 20, 0.2)
    rates = am.Schedule(np.linspace(1.0, 39.0, 100))
    by_schedule, constant = (
        am.predict(problem, am.GradientDescent(rate), steps=[100], method="flow").loss for rate in (rates, 20.0)
    )
    np.testing.assert_allclose(by_schedule, constant, rtol=1e-13)


def test_rare_groups_are_learned_later_and_more_groups_are_harder():
    totals = []
    for n_groups in (10, 20, 40):
        problem = am.Problem.power_law(1.5, n_groups, 4, 0.1)
        theory = am.predict(problem, am.GradientDescent(2.0), steps=np.arange(0, 200, 20), method="flow")
        assert (np.diff(theory.group_loss, axis=1) >= 0).all()
        assert (np.diff(theory.loss) < 0).all()
        totals.append(theory.loss)
    assert (np.diff(totals, axis=0) > 0).all()


def test_small_noise_is_no_noise():
    progress = np.geomspace(1e-6, 100, 20)
    small, none = (excess_of_flow(500, noise, progress) for noise in (1e-13, 0.0))
    np.testing.assert_allclose(small, none, rtol=1e-9, atol=1e-11)
    assert optimal_margin(500, np.asarray(0.0)) == np.inf
    assert float(loss(500, np.asarray(0.0), np.asarray(0.0))) == pytest.approx(np.log(500), rel=1e-15)


@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.3])
def test_the_flow_is_the_limit_of_small_steps_and_keeps_small_margins(noise):
    """Euler's error falls like the step; margins at tiny progress are (1 - noise) s."""
    problem = am.Problem.from_frequencies([0.7, 0.3], 10, noise)
    gaps = []
    for steps in (200, 400):
        theory = am.predict(problem, am.GradientDescent(100 / steps), steps=[steps])
        gaps.append(np.abs(theory.diagnostics.margin[0] - flow(20, noise, problem.frequencies * 100)[0]).max())
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.1)
    assert float(flow(20, noise, 1e-9)[0]) == pytest.approx((1 - noise) * 1e-9, rel=1e-8)


def test_losses_are_convex_with_their_minimum_at_the_optimum():
    margin = np.linspace(0.0, 20.0, 400)
    values = loss(50, np.asarray(0.1), margin)
    assert (np.diff(values, 2) > 0).all()
    assert margin[np.argmin(values)] == pytest.approx(float(optimal_margin(50, np.asarray(0.1))), abs=0.06)
    assert (excess(50, np.asarray(0.1), margin, optimal_margin(50, np.asarray(0.1)) - margin) >= 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: am.Problem.from_frequencies([1.0]), "group_frequencies must be one-dimensional"),
        (lambda: am.Problem.from_frequencies([0.5, 0.4]), "group_frequencies must be of sum 1"),
        (lambda: am.Problem.from_frequencies([0.5, 0.5], label_noise=1.0), r"label_noise must be in \[0, 1\); got 1.0"),
        (lambda: am.Problem.power_law(-1.0, 5), "exponent must be finite and > 0"),
        (lambda: am.Problem.power_law(1.5, 0), "n_groups must be an integer >= 1"),
        (lambda: am.law_constant(10, 0.1, 1.0), "exponent must be > 1"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()

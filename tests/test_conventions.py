"""Converters: round trips, and the fixed point as each paper writes it."""

import numpy as np
import pytest

from solvable import conventions
from solvable import random_features as rf
from solvable.errors import ArgumentError

pytestmark = pytest.mark.x64_independent
WORLD = rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=500)
EIGENVALUES = np.arange(1.0, 501) ** -1.5


def solved(n, p, ridge):
    diagnostics = rf.predict(WORLD, n_samples=n, n_features=p, ridge=ridge).diagnostics
    return {"n_samples": n, "n_features": p, "ridge": ridge, "nu1": diagnostics.nu1, "nu2": diagnostics.nu2}


def pick(values, *names):
    return {name: values[name] for name in ("n_samples", *names)}


@pytest.mark.parametrize("paper", conventions.PAPERS)
def test_round_trips(paper):
    names = {symbol.ours for symbol in conventions.PAPERS[paper].values()} - {"n_samples"}
    ours = {"n_samples": np.array([7.0, 100.0]), **{name: np.array([0.3, 2.0]) for name in names}}
    there = conventions.to_paper(paper, **ours)
    back = conventions.from_paper(paper, n_samples=ours["n_samples"], **there)
    for name in names:
        np.testing.assert_allclose(back[name], ours[name], rtol=1e-15)


def test_simon_and_others():
    """sum_i x_i/(x_i + gamma) + delta/kappa = n, and = k - k kappa/gamma (arXiv:2311.14646)."""
    symbols = conventions.to_paper("2311.14646", **solved(100, 200, 0.5))
    df1 = np.sum(EIGENVALUES / (EIGENVALUES + symbols["gamma"]))
    assert df1 + symbols["delta"] / symbols["kappa"] == pytest.approx(symbols["n"], rel=1e-12)
    assert df1 + symbols["k"] * symbols["kappa"] / symbols["gamma"] == pytest.approx(symbols["k"], rel=1e-12)


def test_atanasov_and_others():
    """kappa_1 = S lambda with S = 1/(1 - df1/n), and kappa_2 = kappa_1 / (1 - df1/p) (arXiv:2405.00592)."""
    symbols = conventions.to_paper("2405.00592", **pick(solved(100, 200, 0.5), "ridge", "nu1", "nu2"))
    df1 = np.sum(EIGENVALUES / (EIGENVALUES + symbols["kappa_2"]))
    assert symbols["kappa_1"] == pytest.approx(symbols["lambda_"] / (1 - df1 / 100), rel=1e-11)
    assert symbols["kappa_2"] == pytest.approx(symbols["kappa_1"] / (1 - df1 / 200), rel=1e-11)


def test_bordelon_and_others():
    """kappa = lambda + sum_i 1/(p/kappa + 1/x_i) in the kernel limit (arXiv:2002.02561)."""
    symbols = conventions.to_paper("2002.02561", **pick(solved(100, np.inf, 0.5), "ridge", "nu2"))
    total = symbols["lambda_"] + np.sum(1 / (symbols["p"] / symbols["kappa"] + 1 / EIGENVALUES))
    assert symbols["kappa"] == pytest.approx(total, rel=1e-12)


def test_exponents_of_the_scaling_section():
    names = conventions.from_paper("2405.15699", alpha=1.5, r=0.4, ell=1.0, q=2.0)
    law = rf.exponents(**names)
    assert float(law.exponent("variance")) == pytest.approx(2 / 3 - 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conventions.to_paper("nobody", ridge=1), "paper must be one of"),
        (lambda: conventions.to_paper("2311.14646", capacity=1), r"names must be among .* got \['capacity'\]"),
        (lambda: conventions.from_paper("2311.14646", lam=1), "symbols must be among"),
        (lambda: conventions.to_paper("2405.00592", ridge=1), "n_samples must be given"),
        (lambda: conventions.from_paper("2405.00592", lambda_=1), "n_samples must be given"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()

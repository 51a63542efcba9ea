"""The predictor against 50 digits and against published golden values."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from solvable import random_features as rf

pytestmark = pytest.mark.x64_independent

ROWS = json.loads((Path(__file__).parents[1] / "reference" / "random_features.json").read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(str(v) for v in list(row.values())[:-1]))
def test_against_50_digits(row):
    size = math.inf if row["n_modes"] == "infinite" else row["n_modes"]
    problem = rf.Problem.power_law(row["capacity"], row["source"], row["noise_variance"], n_modes=size)
    width = math.inf if row["n_features"] is None else row["n_features"]
    theory = rf.predict(problem, n_samples=row["n_samples"], n_features=width, ridge=row["ridge"])
    computed = {**theory.observables, **theory.diagnostics}
    for name, digits in row["values"].items():
        assert float(computed[name]) == pytest.approx(float(digits), rel=1e-12, abs=1e-320), name
    assert theory.diagnostics.residual < 1e-11


COLUMNS = ("nu1", "nu2", "degrees_of_freedom", "bias", "variance", "train_error", "squared_norm")
FINITE = {  # 800 modes, capacity 1.5, source 0.4, noise variance 0.01
    (100, 200, 1e-2): "1.558678583e-3 2.929414958e-3 93.5843091 0.03000953963 0.01348099535 2.201728708e-4 20.32208009",
    (100, 50, 0.0): "0 8.297039476e-3 50 0.107539556 0.01 0.031884889 15.23451907",
    (100, 50, 1.0): "0.01323122622 0.02586367238 24.42121515 0.08077658375 1.722120611e-3 0.05283667256 4.494058527",
    (200, 400, 0.0): "3.734103419e-4 7.468206838e-4 200 0.0127138438 0.01925355255 0 50.5864407",
    (100, 100, 1e-12): "5.113454152e-9 2.614741336e-3 99.99980444 5898.118504 2556.721376 3.233532038e-8 3233532.488",
}
INFINITE = {  # capacity, source, n, p, ridge; noise variance 0.01
    (1.5, 0.4, 100, 200, 1e-2): "0.00210267673125 0.00401443332417 95.2441571967 0.03931801165 "
    "0.01251327656 1.398502598e-4 18.56382701",
    (1.5, 0.4, 1e4, 100, 0): "0 0.0037328754333 100 0.03062536124 1.01010101e-4 0.03991591655 8.978701327",
    (1.5, 0.4, 1e3, 1e5, 0): "1.17652600258e-4 1.18841010361e-4 1000 7.966920113e-4 0.005093513963 0 104.1282873",
    (1.5, 0.4, 1e6, 1e6, 1): "1.02399310038e-6 1.04856186963e-6 23430.919968 1.252509209e-5 "
    "8.12133275e-5 0.009626268809 193.8589377",
    (2, 1.2, 100, 200, 1e-2): "3.28200508772e-4 5.03108108242e-4 69.5308211514 2.016194678e-4 "
    "0.007218945002 0.001617274441 15.97744962",
    (2, 1.2, 1e3, 1e5, 0): "2.44028619301e-6 2.46493554849e-6 1000 2.734877601e-8 0.0100910151 0 4098.988598",
    (1.2, 0.7, 1e6, 1e6, 1): "1.41535621363e-6 2.00323321146e-6 293464.083196 1.563819151e-6 "
    "0.001258629393 0.00562100965 1448.142508",
    (1.05, 0.25, 100, 200, 1e-2): "0.092364304916 0.184528826132 99.8917330671 1.700287775 "
    "0.01040601146 2.016950583e-6 11.33811399",
}


def check_golden(problem, controls, row):
    theory = rf.predict(problem, **dict(zip(("n_samples", "n_features", "ridge"), controls, strict=True)))
    values = {**theory.observables, **theory.diagnostics}
    for name, printed in zip(COLUMNS, row.split(), strict=True):
        assert float(values[name]) == pytest.approx(float(printed), rel=6e-10, abs=1e-15), name


@pytest.mark.parametrize("controls", FINITE)
def test_golden_values_of_800_modes(controls):
    check_golden(rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=800), controls, FINITE[controls])
    k = np.arange(1.0, 801)
    check_golden(rf.Problem.from_arrays(k**-1.5, k**-2.2, 0.01), controls, FINITE[controls])


@pytest.mark.parametrize("case", INFINITE)
def test_golden_values_of_infinite_spectra(case):
    check_golden(rf.Problem.power_law(case[0], case[1], 0.01), case[2:], INFINITE[case])

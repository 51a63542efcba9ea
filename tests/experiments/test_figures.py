"""Figures are drawn from tables alone, and are the same bytes every time."""

import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from experiments.am_preconditioner import GAINS
from paper_figures import __main__ as command_line
from solvable import associative_memory as am
from solvable import random_features as rf
from solvable import weak_to_strong as w2s

pytestmark = pytest.mark.x64_independent

VERDICT = {"verdict": "agree", "text": "agree\n  excess_risk: fine", "observables": {"excess_risk": {"allowed": 0.1}}}


def write_results(folder, name):
    exponents = ("risk", "kernel_bias", "feature_bias", "variance", "teacher", "student")
    ratios = ("bias_ratio", "variance_ratio")
    observables = sorted(
        {
            *w2s.OBSERVABLES.names,
            *w2s.TERMS,
            *am.OBSERVABLES.names,
            *GAINS.names,
            "speedup",
            "failure_rate",
            "teacher_ratio",
            "student_ratio",
            "minimax_margin",
            *rf.OBSERVABLES.names,
            *rf.DECOMPOSITION.names,
            *ratios,
            *(f"{term}_exponent" for term in exponents),
        }
    )
    controls = {"n_samples": 64.0, "source": 0.3, "capacity": 1.5, "noise_variance": 0.1, "dimension": 5.0}
    controls |= {"student_n_samples": 64.0, "direct_excess_risk": 0.2}
    rows = [
        {"kind": kind, "n_features": width, "ridge": ridge, "observable": observable, **controls,
         "aspect": ridge, "width_exponent": min(width, 300) / 150, "ridge_exponent": ridge,
         "n_modes": np.inf if ridge < 1 else 100.0, "teacher_n_samples": min(width, 400),
         "generation": width, "fraction": 1 / width, "best": float(ridge < 1),
         "steps": min(width, 400), "group": 1 + (width > 100), "algorithm": 5.0 * (ridge < 1), "exponent": 1 + ridge,
         "label_noise": 0.2 * (ridge < 1), "group_size": 8.0, "learning_rate": ridge, "is_law": float(width > 100),
         "horizon": 32.0 + 32 * (width > 100), "item": 1 + float(width > 100), "batch_size": min(width, 400),
         "excess_risk": 0.01, "is_equal": float(width > 100), "is_gaussian": 1.0, "n_groups": 2.0,
         "model": 5.0, "family": 1.0 * (ridge < 1), "attempts": 100.0, "bound": 0.0, "k": min(width, 400),
         "teacher_ridge": ridge, "student_ridge": ridge * width,
         "predicted": (1 / width + ridge) * (-1 if observable.endswith("exponent") else 1),
         "mean": 1 / width + ridge, "sem": 0.01, "count": 10, "failed": 0}
        for kind in ("theory", "simulation") for width in (20.0, 64.0, 200.0, np.inf) for ridge in (0.1, 1.0)
        for observable in observables
    ]  # fmt: skip
    place = folder / name / "quick"
    place.mkdir(parents=True)
    pd.DataFrame(rows).to_parquet(place / "table.parquet", engine="pyarrow")
    (place / "verdict.json").write_text(json.dumps(VERDICT))


@pytest.mark.parametrize("name", command_line.names())
def test_figures_are_byte_stable_and_print_the_verdict(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOLVABLE_RESULTS", str(tmp_path / "results"))
    write_results(tmp_path / "results", name)
    settings = dict(mpl.rcParams)
    contents = []
    for run in ("one", "two"):
        monkeypatch.setenv("SOLVABLE_FIGURES", str(tmp_path / run))
        assert command_line.main([name]) == 0
        contents.append([(tmp_path / run / f"{name}{suffix}").read_bytes() for suffix in (".pdf", ".png")])
    assert contents[0] == contents[1]
    assert "excess_risk: fine" in capsys.readouterr().out
    assert dict(mpl.rcParams) == settings


def test_a_missing_table_names_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOLVABLE_RESULTS", str(tmp_path))
    assert command_line.main(["rf_double_descent"]) == 2
    assert "python -m experiments run rf_double_descent --preset quick" in capsys.readouterr().err
    assert command_line.main(["nonsense"]) == 2
    assert "unknown figure 'nonsense'" in capsys.readouterr().err

"""What all figures share: reading tables, drawing theory as lines and simulation as markers, writing stable files."""

import json
import os
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from experiments.store import results_root

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito: safe for colour blindness
KEY = "lines: theory, markers: simulation with one standard error"  # a figure's own KEY goes before it
_LETTERS_PER_INCH = 23  # of the key
STYLE = Path(__file__).parent / "style.mplstyle"


def figures_root() -> Path:
    """Return where figures are written: $SOLVABLE_FIGURES, or `figures` in the current directory."""
    return Path(os.environ.get("SOLVABLE_FIGURES", "figures"))


def read(name: str, preset: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the table and verdict of an experiment.

    Raises:
        FileNotFoundError: naming the command that makes them.
    """
    folder = results_root() / name / preset
    table, verdict = folder / "table.parquet", folder / "verdict.json"
    if not (table.exists() and verdict.exists()):
        raise FileNotFoundError(f"no results for {name}; run: python -m experiments run {name} --preset {preset}")
    return pd.read_parquet(table, engine="pyarrow"), json.loads(verdict.read_text())


def by_ridge(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield (colour, label, rows) for each ridge, smallest first."""
    for colour, (ridge, rows) in zip(COLOURS, table.groupby("ridge"), strict=False):
        exponent = np.log10(float(ridge))
        label = rf"$10^{{{exponent:.0f}}}$" if exponent == round(exponent) else f"{ridge:g}"
        yield colour, label, rows.sort_values("n_features")


def draw_risk(axes: Axes, table: pd.DataFrame, observable: str = "excess_risk") -> None:
    """Draw an observable against the number of features: lines for theory, markers with one standard error."""
    chosen = table[table.observable == observable]
    for colour, label, rows in by_ridge(chosen[np.isfinite(chosen.n_features)]):
        theory, measured = rows[rows.kind == "theory"], rows[rows.kind == "simulation"]
        axes.plot(theory.n_features, theory.predicted, color=colour, label=label)
        axes.errorbar(measured.n_features, measured["mean"], yerr=measured["sem"], fmt="o", color=colour, mew=0, lw=0.8)


def finish(figure: Figure, name: str, verdict: dict[str, Any], *, key: str) -> list[Path]:
    """Note key and verdict, write PDF and PNG, the same bytes for the same table, and print path and verdict."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_formatter(NullFormatter())  # powers of ten are labels enough
    allowed = max((item["allowed"] for item in verdict["observables"].values()), default=0.0)
    within = f" ({allowed:.0%} allowed)" if allowed else ""
    note = f"{key}; verdict: {verdict['verdict']}{within}"
    figure.suptitle(textwrap.fill(note, int(_LETTERS_PER_INCH * figure.get_figwidth())), fontsize=6.5, color="0.4")
    folder = figures_root()
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.pdf", folder / f"{name}.png"]
    figure.savefig(paths[0], metadata={"CreationDate": None, "Creator": None, "Producer": None})
    figure.savefig(paths[1], metadata={"Software": None})
    print(f"{paths[0]}: {verdict['text']}")
    return paths


def styled() -> Any:
    """Return a context with the figures' style that leaves the caller's settings alone."""
    return mpl.rc_context(mpl.rc_params_from_file(STYLE, use_default_template=True))


def draw_sizes(axes: Axes, table: pd.DataFrame, names: Mapping[str, str]) -> None:
    """Draw observables against the teacher's samples; the finite world, which is simulated, is dashed."""
    for colour, (observable, label) in zip(COLOURS, names.items(), strict=False):
        rows = table[table.observable == observable].sort_values("teacher_n_samples")
        theory, measured = rows[rows.kind == "theory"], rows[rows.kind == "simulation"]
        for style, chosen in (("-", np.isinf(theory.n_modes)), ("--", np.isfinite(theory.n_modes))):
            part = theory[chosen]
            slope = np.polyfit(np.log(part.teacher_n_samples[-4:]), np.log(part.predicted[-4:]), 1)[0]
            name = f"{label} (slope {round(slope, 2) + 0.0:.2f} at the end)" if style == "-" else None
            axes.plot(part.teacher_n_samples, part.predicted, style, color=colour, label=name)
        draw_marks(axes, measured.teacher_n_samples, measured, colour)


def draw_marks(axes: Axes, x: pd.Series, measured: pd.DataFrame, colour: str) -> None:
    """Draw simulated points with one standard error."""
    axes.errorbar(x, measured["mean"], yerr=measured["sem"], fmt="o", color=colour, mew=0, lw=0.8)

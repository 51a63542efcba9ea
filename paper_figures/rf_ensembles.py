"""Risks of one model and of ensembles against width, and the four parts of the risk of one model."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper_figures.drawing import COLOURS

RISKS = {
    "excess_risk": "one model",
    "feature_averaged_risk": "averaged over features",
    "data_averaged_risk": "averaged over data",
    "fully_averaged_risk": "averaged over both",
}
PARTS = {"interaction_part": "interaction", "feature_part": "features", "data_part": "data", "common_part": "common"}


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 2.9))
    lines, areas = figure.subplots(1, 2, sharex=True)
    finite = table[np.isfinite(table.n_features)].sort_values("n_features")
    theory, measured = finite[finite.kind == "theory"], finite[finite.kind == "simulation"]
    for colour, (name, label) in zip(COLOURS, RISKS.items(), strict=False):
        line, marks = theory[theory.observable == name], measured[measured.observable == name]
        lines.plot(line.n_features, line.predicted, color=colour, label=label)
        lines.errorbar(marks.n_features, marks["mean"], yerr=marks["sem"], fmt="o", color=colour, mew=0, lw=0.8)
    _draw_shares(areas, theory)
    n = int(table.n_samples.iloc[0])
    lines.set(xscale="log", yscale="log", ylabel="excess risk", xlabel=f"features, p  (n = {n})")
    areas.set(xlabel=f"features, p  (n = {n})", ylabel="share of the risk of one model", ylim=(0, 1))
    lines.legend(fontsize=6.5)
    return figure


def _draw_shares(axes: Axes, theory: pd.DataFrame) -> None:
    columns = theory.pivot_table(index="n_features", columns="observable", values="predicted")
    total, bottom = columns["excess_risk"], 0.0 * columns["excess_risk"]
    for colour, (name, label) in zip(COLOURS[3::-1], PARTS.items(), strict=True):
        top = bottom + columns[name] / total
        height = (top + bottom) / 2
        axes.fill_between(columns.index, bottom, top, color=colour, alpha=0.55, lw=0)
        middle = len(total) // 3
        if top.iloc[middle] - bottom.iloc[middle] > 0.07:
            place = columns.index[middle], height.iloc[middle]
            axes.annotate(label, place, ha="center", va="center", fontsize=7, in_layout=False)
        bottom = top

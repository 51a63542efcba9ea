"""Excess risk against width: lines are theory, markers simulation, dashes on the right the kernel limit."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import by_ridge, draw_risk


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure()
    axes = figure.add_subplot()
    draw_risk(axes, table)
    n = int(table.n_samples.iloc[0])
    limits = table[(table.observable == "excess_risk") & np.isinf(table.n_features)]
    for colour, _, rows in by_ridge(limits):
        theory, measured = rows[rows.kind == "theory"], rows[rows.kind == "simulation"]
        axes.plot([9.5 * n, 14.5 * n], [float(theory.predicted.iloc[0])] * 2, color=colour, ls=(0, (2, 1)))
        axes.errorbar(12 * n, measured["mean"], yerr=measured["sem"], fmt="o", color=colour, mew=0, lw=0.8)
    axes.axvline(n, color="0.75", lw=0.6, zorder=0)
    finite = table[(table.observable == "excess_risk") & np.isfinite(table.predicted)]
    lowest = finite.predicted.min()
    axes.set(xscale="log", yscale="log", xlim=(n / 8.5, 16 * n), ylim=(0.8 * lowest, 60 * lowest))
    ticks = [n / 8, n / 4, n / 2, n, 2 * n, 4 * n, 8 * n, 12 * n]
    axes.set_xticks(ticks, ["1/8", "1/4", "1/2", "1", "2", "4", "8", r"$\infty$"])
    axes.minorticks_off()
    axes.set(xlabel=f"features per sample, p/n  (n = {n})", ylabel="excess risk")
    axes.legend(title="ridge", loc="upper right", ncols=2, title_fontsize=8)
    return figure

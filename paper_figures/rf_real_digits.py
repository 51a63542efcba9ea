"""Handwritten digits: predicted and measured risk against width, and the relative gap below."""

import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import by_ridge, draw_risk


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.2, 4.0))
    risk, gap = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.2))
    draw_risk(risk, table)
    n = int(table.n_samples.iloc[0])
    measured = table[(table.kind == "simulation") & (table.observable == "excess_risk")]
    for colour, _, rows in by_ridge(measured):
        relative, error = 100 * (rows["mean"] / rows.predicted - 1), 100 * rows["sem"] / rows.predicted
        gap.errorbar(rows.n_features, relative, yerr=error, fmt="o", color=colour, mew=0, lw=0.8)
    for axes in (risk, gap):
        axes.axvline(n, color="0.75", lw=0.6, zorder=0)
    gap.axhline(0, color="0.4", lw=0.6, zorder=0)
    lowest, highest = measured["predicted"].min(), measured["mean"].max()
    risk.set(xscale="log", yscale="log", ylabel="excess risk (10 outputs)")
    risk.set_yticks([0.1, 0.2, 0.3, 0.5, 1], ["0.1", "0.2", "0.3", "0.5", "1"])
    risk.minorticks_off()
    risk.set_ylim(0.85 * lowest, 2 * highest)
    gap.set(xlabel=f"features, p  (n = {n} images)", ylabel="gap (%)")
    risk.legend(title="ridge", ncols=2, title_fontsize=8, loc="upper right")
    return figure

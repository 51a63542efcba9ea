"""ReLU features on the sphere: risk against width above, relative gap of the variance below, a column per dimension."""

import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import by_ridge, draw_risk


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 3.6))
    panels = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=(3, 1.2))
    n = int(table.n_samples.iloc[0])
    columns = sorted(table.groupby("dimension"), key=lambda item: -item[0])
    for (risk, gap), (dimension, rows) in zip(panels.T, columns, strict=False):
        draw_risk(risk, rows)
        measured = rows[(rows.kind == "simulation") & (rows.observable == "variance")]
        for colour, _, marks in by_ridge(measured):
            relative, error = 100 * (marks["mean"] / marks.predicted - 1), 100 * marks["sem"] / marks.predicted
            gap.errorbar(marks.n_features, relative, yerr=error, fmt="o", color=colour, mew=0, lw=0.8)
        gap.axhline(0, color="0.4", lw=0.6, zorder=0)
        risk.set_title(f"{dimension:g} dimensions", fontsize=8)
        risk.set(xscale="log", yscale="log")
        gap.set_xlabel(f"features, p  (n = {n})")
    panels[0, 0].set_ylabel("excess risk")
    panels[1, 0].set_ylabel("variance\ngap (%)")
    panels[0, 0].legend(title="ridge", title_fontsize=8, loc="upper left")
    return figure

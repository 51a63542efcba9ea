"""Left: squared norm against width. Right: risk against the norm, one curve per ridge, widths growing along it."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import by_ridge, draw_risk


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 2.9))
    norm, risk = figure.subplots(1, 2)
    draw_risk(norm, table, "squared_norm")
    n = int(table.n_samples.iloc[0])
    for colour, _, rows in by_ridge(table[np.isfinite(table.n_features)]):
        theory, measured = rows[rows.kind == "theory"], rows[rows.kind == "simulation"]
        line = theory.pivot_table(index="n_features", columns="observable", values="predicted")
        narrow, wide = line[line.index <= n], line[line.index >= n]
        risk.plot(narrow.squared_norm, narrow.excess_risk, color=colour, ls=(0, (2, 1)))
        risk.plot(wide.squared_norm, wide.excess_risk, color=colour)
        means = measured.pivot_table(index="n_features", columns="observable", values="mean")
        errors = measured.pivot_table(index="n_features", columns="observable", values="sem")
        risk.errorbar(
            means.squared_norm, means.excess_risk, xerr=errors.squared_norm, yerr=errors.excess_risk,
            fmt="o", color=colour, mew=0, lw=0.8,
        )  # fmt: skip
    norm.axvline(n, color="0.75", lw=0.6, zorder=0)
    norm.set(xscale="log", yscale="log", xlabel=f"features, p  (n = {n})", ylabel="squared norm")
    risk.set(xscale="log", yscale="log", xlabel="squared norm", ylabel="excess risk")
    risk.plot([], [], color="0.3", label="p > n")
    risk.plot([], [], color="0.3", ls=(0, (2, 1)), label="p < n")
    norm.legend(title="ridge", title_fontsize=8)
    risk.legend()
    return figure

"""Loss of Muon after a number of steps against the batch size; the rarest item is in a batch from 1/frequency on."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import draw_marks


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.2, 3.2))
    axes = figure.subplots()
    groups = table[table.observable == "group_loss"].sort_values("batch_size")
    total = table[(table.observable == "loss") & (table.group == 1)].sort_values("batch_size")
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 0.9, groups.group.nunique()))
    series = [(f"group {group:.0f}", mpl.colors.to_hex(shade), rows)
              for shade, (group, rows) in zip(shades, groups.groupby("group"), strict=True)]  # fmt: skip
    for label, colour, rows in [*series, ("all", "#000000", total)]:
        theory, measured = rows[rows.kind == "theory"], rows[rows.kind == "simulation"]
        axes.plot(theory.batch_size, theory.predicted, color=colour, lw=1.4 if label == "all" else 0.9, label=label)
        draw_marks(axes, measured.batch_size, measured, colour)
    weights = np.sort(groups.group.unique()) ** -groups.exponent.iloc[0]
    rarest = weights[-1] / weights.sum() / groups.group_size.iloc[0]
    axes.axvline(1 / rarest, color="0.6", lw=0.8, ls=":", label="1/(least frequency)")
    steps = int(table.steps.iloc[0])
    axes.set(xscale="log", yscale="log", xlabel="batch size", ylabel=f"loss after {steps} steps")
    axes.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
    axes.legend(fontsize=6.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure

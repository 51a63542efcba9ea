"""Steps of gradient descent over those of Muon, against the excess loss wanted and against the size of groups."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.am_time_to_loss import NOISE, RATE
from paper_figures.drawing import COLOURS, draw_marks

KEY = "lines: closed forms, markers: crossings of simulated losses"
KINDS = (
    (0.0, 1.0, "noiseless labels, equal rates"),
    (NOISE, 1.0, f"label noise {NOISE:g}, rates {RATE:g}"),
    (NOISE, 0.0, f"label noise {NOISE:g}, largest rates"),
)


def _draw(axes: Axes, rows: pd.DataFrame, x: str) -> None:
    for colour, (noise, equal, label) in zip(COLOURS, KINDS, strict=False):
        part = rows[(rows.label_noise == noise) & (rows.is_equal == equal)].sort_values(x)
        theory, measured = part[part.kind == "theory"].drop_duplicates(x), part[part.kind == "simulation"]
        axes.plot(theory[x], theory.predicted.where(theory.predicted > 0), color=colour, label=label)
        draw_marks(axes, measured[x], measured, colour)
    axes.axhline(1, color="0.75", lw=0.6, zorder=0)
    axes.set(xscale="log", yscale="log", ylabel="times fewer steps")


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 3.0))
    left, right = figure.subplots(1, 2, sharey=True)
    size, risk = 8, 0.01
    _draw(left, table[table.group_size == size], "excess_risk")
    _draw(right, table[np.isclose(table.excess_risk, risk)], "group_size")
    left.set(xlabel="excess loss", title=f"8 groups of {size}")
    right.set(xlabel="items per group", ylabel="", title=f"8 groups, excess loss {risk:g}")
    left.set_xlim(2, 5e-5)  # towards better
    right.legend(fontsize=6.5)
    return figure

"""Words of Python's language reference: loss by rank on the way, and of all words against steps."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.memories import NAMES
from paper_figures.drawing import COLOURS, draw_marks

METHODS = ("gradient descent", "Muon")


def _draw_ranks(axes: Axes, rows: pd.DataFrame) -> None:
    measured = rows[rows.kind == "simulation"]
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 0.9, measured.steps.nunique()))
    for shade, (steps, marks) in zip(shades, measured.groupby("steps"), strict=True):
        colour = mpl.colors.to_hex(shade)
        line = rows[(rows.kind == "theory") & (rows.steps == steps)]
        axes.plot(line.group, line.predicted, color=colour, lw=0.9, label=f"{steps:.0f}")
        shown = marks[np.isin(marks.group, 2 ** np.arange(16))]
        draw_marks(axes, shown.group, shown, colour)
    axes.set(xscale="log", yscale="log", xlabel="word, by frequency", ylabel="loss of a word", ylim=(3e-6, 10))
    axes.legend(title="steps", title_fontsize=7, fontsize=6, ncols=2, loc="lower right")


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(7.2, 2.9))
    *by_rank, total = figure.subplots(1, 3)
    ranks = table[table.observable == "group_loss"].sort_values("group")
    totals = table[(table.observable == "loss") & (table.group == 1)].sort_values("steps")
    for colour, axes, name in zip(COLOURS, by_rank, METHODS, strict=False):
        _draw_ranks(axes, ranks[ranks.algorithm == NAMES.index(name)])
        axes.set_title(name)
        part = totals[totals.algorithm == NAMES.index(name)]
        theory, measured = part[part.kind == "theory"], part[part.kind == "simulation"]
        total.plot(theory.steps, theory.predicted, color=colour, label=name)
        draw_marks(total, measured.steps, measured, colour)
    total.set(
        xscale="log", yscale="log", xlabel="steps", ylabel="loss of all words", title="all words", ylim=(1e-4, 10)
    )
    total.legend(loc="lower left")
    return figure

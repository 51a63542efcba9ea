"""Risk against compute for several shapes (colours), and the envelope over all shapes (black)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper_figures.drawing import COLOURS

SHAPES = (0.25, 0.4, 0.6, 1.0, 1.5)  # of which lines are drawn; the envelope is over all that were computed


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 2.9))
    risks = table[table.observable == "excess_risk"].assign(compute=lambda rows: rows.n_samples * rows.n_features)
    for axes, (noise, rows) in zip(figure.subplots(1, 2), risks.groupby("noise_variance"), strict=False):
        _draw_world(axes, rows)
        axes.set(xscale="log", yscale="log", xlabel="compute, n p", ylabel="excess risk at the best ridge")
        axes.set_title(f"noise variance {noise:g}", fontsize=8)
        axes.legend(fontsize=6.5, title="features", title_fontsize=7)
    return figure


def _draw_world(axes: Axes, rows: pd.DataFrame) -> None:
    theory, measured = rows[rows.kind == "theory"], rows[rows.kind == "simulation"]
    for colour, aspect in zip(COLOURS, SHAPES, strict=False):
        line, marks = theory[theory.aspect == aspect].sort_values("compute"), measured[measured.aspect == aspect]
        axes.plot(line.compute, line.predicted, color=colour, lw=0.9, label=f"$p = n^{{{aspect:g}}}$")
        axes.errorbar(marks.compute, marks["mean"], yerr=marks["sem"], fmt="o", color=colour, mew=0, lw=0.8)
    envelope = theory.groupby(np.round(np.log(theory.compute), 6)).predicted.min()
    axes.plot(np.exp(envelope.index), envelope, color="black", lw=1.6, zorder=1, label="best shape")

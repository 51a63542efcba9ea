"""Excess risk of each generation of self-distillation, for fixed ridges and for the best ridge of each generation."""

import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import COLOURS, draw_marks


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.0, 3.1))
    axes = figure.subplots()
    rows = table[table.observable == "excess_risk"].sort_values("generation")
    fixed = rows[rows.best == 0]
    for colour, (ridge, chosen) in zip(COLOURS, fixed.groupby("ridge"), strict=False):
        theory, measured = chosen[chosen.kind == "theory"], chosen[chosen.kind == "simulation"]
        axes.plot(theory.generation, theory.predicted, color=colour, label=f"ridge {ridge:g}")
        draw_marks(axes, measured.generation, measured, colour)
    best = rows[(rows.best == 1) & (rows.kind == "theory")]
    axes.plot(best.generation, best.predicted, "--", color="0.4", label="best ridge each time")
    axes.set(xscale="log", yscale="log", xlabel="generation", ylabel="excess risk")
    axes.legend(fontsize=6.5)
    return figure

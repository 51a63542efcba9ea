"""Risks of a teacher short of features and of its student against the number of samples, with local slopes."""

import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import draw_sizes

KEY = "lines: theory (dashed: the finite world that is simulated), markers: simulation with one standard error"


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.2, 3.2))
    axes = figure.subplots()
    draw_sizes(axes, table, {"teacher_excess_risk": "teacher", "student_excess_risk": "student"})
    axes.set(xscale="log", yscale="log", xlabel="samples, n", ylabel="excess risk")
    axes.legend(fontsize=7)
    return figure

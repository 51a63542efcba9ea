"""Risks of a teacher short of features and of its student against the number of samples, with local slopes."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import draw_sizes, slope_note

KEY = "lines: theory (dashed: the finite world that is simulated), markers: simulation with one standard error"


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(3.6, 3.0))
    axes = figure.subplots()
    names = {"teacher_excess_risk": "teacher", "student_excess_risk": "student"}
    draw_sizes(axes, table, names)
    infinite = table[(table.kind == "theory") & np.isinf(table.n_modes)].sort_values("teacher_n_samples")
    for name, label in names.items():
        rows = infinite[infinite.observable == name]
        slope_note(axes, rows.teacher_n_samples, rows.predicted, label)
    axes.set(xscale="log", yscale="log", xlabel="samples, n", ylabel="excess risk")
    axes.legend()
    return figure

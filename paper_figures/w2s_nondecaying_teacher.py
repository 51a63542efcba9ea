"""Risks of teacher, student and a directly trained student against the number of samples, with local slopes."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import COLOURS, draw_sizes

KEY = "lines: theory (dashed: the finite world that is simulated), markers: simulation with one standard error"


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.2, 3.2))
    axes = figure.subplots()
    draw_sizes(axes, table, {"teacher_excess_risk": "teacher", "student_excess_risk": "student of the teacher"})
    theory = table[(table.kind == "theory") & np.isinf(table.n_modes) & (table.observable == "student_excess_risk")]
    rows = theory.sort_values("teacher_n_samples")
    axes.plot(rows.teacher_n_samples, rows.direct_excess_risk, ":", color=COLOURS[2], label="student of the truth")
    axes.set(xscale="log", yscale="log", xlabel="samples, n", ylabel="excess risk")
    axes.legend(fontsize=7)
    return figure

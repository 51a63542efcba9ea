"""Handwritten digits: a student's risk against its ridge for two small teachers, with the measured gap to theory."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import COLOURS, draw_marks

KEY = "lines: theory from the estimated spectrum (dotted: teacher), markers: trained on images, squares: teachers"


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.2, 3.2))
    axes = figure.subplots()
    for colour, (ridge, rows) in zip(COLOURS, table.groupby("teacher_ridge"), strict=False):
        theory, measured = (rows[rows.kind == kind].sort_values("student_ridge") for kind in ("theory", "simulation"))
        student, teacher = (f"{name}_excess_risk" for name in ("student", "teacher"))
        line, marks = theory[theory.observable == student], measured[measured.observable == student]
        axes.plot(line.student_ridge, line.predicted, color=colour, label=f"{ridge:g}")
        draw_marks(axes, marks.student_ridge, marks, colour)
        axes.axhline(float(theory[theory.observable == teacher].predicted.iloc[0]), ls=":", lw=1, color=colour)
        level = measured[measured.observable == teacher].iloc[:1]
        axes.errorbar(
            line.student_ridge.iloc[:1], level["mean"], yerr=level["sem"], fmt="s", color=colour, mew=0, lw=0.8
        )
    simulated = table[(table.kind == "simulation") & table.observable.isin([student, teacher])]
    gap = float(np.max(np.abs(simulated["mean"] / simulated.predicted - 1)))
    axes.set(xscale="log", xlabel="student's ridge", ylabel="excess risk")
    axes.legend(title=f"teacher's ridge (gap up to {gap:.0%})", fontsize=7, title_fontsize=7)
    return figure

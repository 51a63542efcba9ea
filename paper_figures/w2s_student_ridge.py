"""The student's risk against its ridge for three teachers, and at the best ridge against its number of samples."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import COLOURS, draw_marks

KEY = "lines: theory (dotted: the teacher), markers: simulation with one standard error"


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 2.9))
    left, right = figure.subplots(1, 2, sharey=True)
    students = table[table.observable == "student_excess_risk"]
    teachers = table[(table.observable == "teacher_excess_risk") & (table.kind == "theory")]
    for colour, (ridge, rows) in zip(COLOURS, students.groupby("teacher_ridge"), strict=False):
        theory, measured = rows[rows.kind == "theory"], rows[rows.kind == "simulation"]
        swept = theory[theory.best == 0].sort_values("student_ridge")
        best = theory[theory.best == 1].sort_values("student_n_samples")
        left.plot(swept.student_ridge, swept.predicted, color=colour, label=f"{ridge:g}")
        draw_marks(left, measured.student_ridge, measured, colour)
        right.plot(best.student_n_samples / best.teacher_n_samples, best.predicted, color=colour)
        level = float(teachers[np.isclose(teachers.teacher_ridge, ridge)].predicted.iloc[0])
        for axes in (left, right):
            axes.axhline(level, ls=":", lw=1, color=colour)
    left.set(xscale="log", yscale="log", xlabel="student's ridge", ylabel="excess risk")
    right.set(xscale="log", xlabel="student's samples / teacher's", title="best ridge, all features")
    left.legend(title="teacher's ridge", fontsize=6.5)
    return figure

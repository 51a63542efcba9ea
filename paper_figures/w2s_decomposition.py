"""The six terms of the student's risk, stacked, against its ridge; the teacher's risk dotted."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import COLOURS, draw_marks

LABELS = {
    "shrink": "missed by both",
    "student": "student's fluctuation",
    "teacher_features": "teacher: features",
    "teacher_noise": "teacher: label noise",
    "teacher_alias": "teacher: unlearned signal",
    "label_noise": "student's label noise",
}
KEY = "areas: terms, line: their sum, dotted: teacher, markers: simulation with one standard error"


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.2, 3.2))
    axes = figure.subplots()
    theory = table[table.kind == "theory"].pivot_table(index="student_ridge", columns="observable", values="predicted")
    tops = np.cumsum([theory[name].to_numpy() for name in LABELS], axis=0)
    bottoms = [np.zeros_like(tops[0]), *tops[:-1]]
    for colour, label, bottom, top in zip(COLOURS, LABELS.values(), bottoms, tops, strict=True):
        axes.fill_between(theory.index, bottom, top, color=colour, alpha=0.55, lw=0, label=label)
    axes.plot(theory.index, theory.student_excess_risk, color="0.2", lw=1)
    axes.plot(theory.index, theory.teacher_excess_risk, ":", color="0.2", lw=1)
    measured = table[(table.kind == "simulation") & (table.observable == "student_excess_risk")]
    draw_marks(axes, measured.student_ridge, measured, "0.2")
    axes.set(xscale="log", xlabel="student's ridge", ylabel="excess risk", ylim=(0, None))
    axes.legend(fontsize=6, loc="upper center")
    return figure

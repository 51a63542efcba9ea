"""The student's risk against the fraction of labels from the teacher, for teachers of three sizes."""

import pandas as pd
from matplotlib.figure import Figure

from paper_figures.drawing import COLOURS, draw_marks


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.0, 3.1))
    axes = figure.subplots()
    rows = table[table.observable == "student_excess_risk"].sort_values("fraction")
    for colour, (samples, chosen) in zip(COLOURS, rows.groupby("teacher_n_samples"), strict=False):
        theory, measured = chosen[chosen.kind == "theory"], chosen[chosen.kind == "simulation"]
        axes.plot(theory.fraction, theory.predicted, color=colour, label=f"{samples:g}")
        draw_marks(axes, measured.fraction, measured, colour)
    n = int(rows.student_n_samples.iloc[0])
    axes.set(xlabel=f"fraction of its {n} labels from the teacher", ylabel="excess risk of the student")
    axes.legend(title="teacher's samples", fontsize=6.5)
    return figure

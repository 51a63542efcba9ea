"""Loss of each group after one budget of steps, by optimiser."""

import pandas as pd
from matplotlib.figure import Figure

from experiments.memories import NAMES
from paper_figures.drawing import COLOURS, draw_marks


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.6, 3.3))
    axes = figure.subplots()
    rows = table[table.observable == "group_loss"].sort_values("group")
    for colour, (index, part) in zip((*COLOURS, "#000000"), rows.groupby("algorithm"), strict=False):
        theory, measured = part[part.kind == "theory"], part[part.kind == "simulation"]
        axes.plot(theory.group, theory.predicted, color=colour, label=NAMES[int(index)])
        draw_marks(axes, measured.group, measured, colour)
    steps = int(rows.steps.iloc[0])
    axes.set(yscale="log", xlabel="group, from frequent to rare", ylabel=f"loss after {steps} steps")
    axes.legend(fontsize=6.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure

"""Loss of each group against steps: gradient descent above, Muon below, noiseless labels left, noisy ones right."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.memories import NAMES
from paper_figures.drawing import draw_marks


def _draw_groups(axes: Axes, rows: pd.DataFrame, style: str = "-") -> None:
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 0.9, rows.group.nunique()))
    for shade, (group, chosen) in zip(shades, rows.groupby("group"), strict=True):
        theory, measured = chosen[chosen.kind == "theory"], chosen[chosen.kind == "simulation"]
        colour = mpl.colors.to_hex(shade)
        axes.plot(theory.steps, theory.predicted, style, color=colour, lw=0.9, label=f"{group:.0f}")
        draw_marks(axes, measured.steps, measured, colour)


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 4.6))
    panels = figure.subplots(2, 2)
    rows = table[table.observable == "group_loss"].sort_values("steps")
    for column, (noise, part) in enumerate(rows.groupby("label_noise")):
        for row, name in enumerate(("gradient descent", "Muon")):
            axes = panels[row, column]
            chosen = part[part.algorithm == NAMES.index(name)]
            for style, (rate, run) in zip(("--", "-"), reversed(list(chosen.groupby("learning_rate"))), strict=False):
                _draw_groups(axes, run, style if len(chosen.learning_rate.unique()) > 1 else "-")
                if noise and name == "Muon":
                    middle = run[run.kind == "theory"].iloc[len(run) // 8]
                    axes.annotate(f" rate {rate:g}", (middle.steps, middle.predicted), fontsize=7)
            labels = f"label noise {noise:g}" if noise else "noiseless labels"
            axes.set(title=f"{name}, {labels}", xlabel="steps", ylabel="loss of a group")
            axes.set_xscale("log" if row == 0 else "linear")
            axes.set_yscale("log" if noise == 0 else "linear")
    handles, names = panels[0, 0].get_legend_handles_labels()
    panels[0, 0].legend(handles, names, title="group, by frequency", ncols=2, fontsize=6.5, title_fontsize=7)
    return figure

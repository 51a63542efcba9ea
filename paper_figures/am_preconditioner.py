"""Scores after the first step, of the most frequent questions; below, the margin that each item gains."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure

from experiments.am_preconditioner import ROWS
from experiments.memories import NAMES
from paper_figures.drawing import COLOURS, draw_marks

SHOWN = 24  # items
KEY = f"above: simulated scores of {SHOWN} items, mean of draws; below, lines: theory, markers: simulation"


def _draw_map(figure: Figure, axes: Axes, rows: pd.DataFrame) -> None:
    entries = rows.pivot_table(index="observable", columns="item", values="mean")
    scores = entries.loc[list(ROWS)].to_numpy()[:SHOWN, :SHOWN]
    top = float(np.abs(scores).max())
    norm = SymLogNorm(0.3, vmin=-top, vmax=top)
    image = axes.imshow(
        scores, cmap="RdBu_r", norm=norm, interpolation="nearest", extent=(0.5, SHOWN + 0.5, SHOWN + 0.5, 0.5)
    )
    bar = figure.colorbar(image, ax=axes, shrink=0.8, ticks=[-top, 0, top])
    bar.ax.set_yticklabels([f"{value:.3g}" for value in (-top, 0, top)])
    bar.ax.minorticks_off()
    axes.set(xlabel="question", xticks=[1, SHOWN], yticks=[1, SHOWN])


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 4.4))
    grid = figure.add_gridspec(2, 3, height_ratios=(1, 1.15))
    maps = [figure.add_subplot(grid[0, column]) for column in range(3)]
    gains = figure.add_subplot(grid[1, :])
    for colour, axes, (index, part) in zip(COLOURS, maps, table.groupby("algorithm"), strict=False):
        measured = part[part.kind == "simulation"]
        axes.set_title(NAMES[int(index)])
        _draw_map(figure, axes, measured[measured.observable != "gain"])
        gain = part[part.observable == "gain"].sort_values("item")
        theory, marks = gain[gain.kind == "theory"], gain[(gain.kind == "simulation") & (gain.item % 3 == 1)]
        gains.plot(theory.item, theory.predicted, color=colour, label=NAMES[int(index)])
        draw_marks(gains, marks.item, marks, colour)
    maps[0].set_ylabel("answer")
    gains.set(xscale="log", yscale="log", xlabel="item, from frequent to rare", ylabel="margin gained by a step")
    gains.legend()
    return figure

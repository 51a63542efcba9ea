"""Left: what five iterations make of a singular value. Right: loss of each group against its own at the start."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.memories import NAMES
from paper_figures.drawing import COLOURS, draw_marks
from solvable import associative_memory as am

KEY = "right, lines: theory, markers: simulation; dashed: the cutoff"
SLOPE, CUBIC, FIFTH = am.Muon(1.0).coefficients
CUTOFF = SLOPE**-5  # where five iterations, each close to SLOPE x s, would reach 1


def _draw_map(axes: Axes) -> None:
    s = np.geomspace(1e-5, 1, 2000)
    value = s
    for _ in range(5):
        value = SLOPE * value + CUBIC * value**3 + FIFTH * value**5
    axes.plot(s, value, color=COLOURS[1], label="five iterations")
    axes.plot(s, s / CUTOFF, ":", color="0.5", label=f"{1 / CUTOFF:.0f} x singular value")
    axes.plot(s, np.ones_like(s), color=COLOURS[0], label="matrix sign")
    axes.set(xscale="log", yscale="log", ylim=(5e-3, 4), xlabel="singular value / norm", ylabel="becomes")


def _draw_groups(axes: Axes, rows: pd.DataFrame, style: str) -> None:
    groups = np.sort(rows.group.unique())
    weights = groups ** -rows.exponent.iloc[0]
    sizes = dict(zip(groups, weights / np.sqrt(rows.group_size.iloc[0] * np.sum(weights**2)), strict=True))
    for colour, name in zip(COLOURS, ("Muon", "Muon, Newton-Schulz"), strict=False):
        part = rows[rows.algorithm == NAMES.index(name)].sort_values("group")
        theory, measured = part[part.kind == "theory"], part[part.kind == "simulation"]
        label = f"{name}, frequencies $i^{{-{rows.exponent.iloc[0]:g}}}$"
        axes.plot(theory.group.map(sizes), theory.predicted, style, color=colour, lw=0.9, label=label)
        draw_marks(axes, measured.group.map(sizes), measured, colour)


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 3.0))
    left, right = figure.subplots(1, 2)
    _draw_map(left)
    rows = table[table.observable == "group_loss"]
    for style, (_, part) in zip(("-", ":"), rows.groupby("exponent"), strict=False):
        _draw_groups(right, part, style)
    right.set(xscale="log", yscale="log", xlabel="singular value / norm, at the start", ylim=(3e-4, 60))
    right.set_ylabel(f"loss of a group after {rows.steps.iloc[0]:.0f} steps")
    for axes in (left, right):
        axes.axvline(CUTOFF, color="0.6", lw=0.8, ls="--", zorder=0)
        axes.legend(fontsize=6.5)
    return figure

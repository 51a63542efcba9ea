"""Excess loss against steps. Left: gradient descent, its flow, law and runs. Right: Muon at rates for each length."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.memories import NAMES
from paper_figures.drawing import COLOURS, draw_marks

KEY = "left, solid: flow, dotted: closed-form law, dashed: smaller worlds, simulated; right: means over 16 lengths"


def _draw_descent(axes: Axes, rows: pd.DataFrame) -> None:
    for colour, (exponent, part) in zip(COLOURS, rows.groupby("exponent"), strict=False):
        theory, measured = part[part.kind == "theory"], part[part.kind == "simulation"]
        flow, law = theory[theory.is_law == 0], theory[(theory.is_law == 1) & (theory.predicted > 0)]
        slope = 1 / exponent - 1
        axes.plot(flow.steps, flow.predicted, color=colour, label=rf"exponent {exponent:g}: slope {slope:.2f}")
        within = law[(law.steps > 10) & np.isfinite(law.predicted)]
        axes.plot(within.steps, within.predicted, ":", color=colour)
        axes.plot(measured.steps, measured.predicted, "--", color=colour, lw=0.8)
        draw_marks(axes, measured.steps, measured, colour)


def _draw_horizons(axes: Axes, rows: pd.DataFrame) -> None:
    means = rows.groupby(["group_size", "exponent", "kind", "horizon"])[["predicted", "mean", "sem", "steps"]].mean()
    sizes = list(means.reset_index().groupby("group_size"))
    for style, (size, world) in zip(("--", "-"), sizes, strict=False):
        for colour, (exponent, part) in zip(COLOURS, world.groupby("exponent"), strict=False):
            theory, measured = part[part.kind == "theory"], part[part.kind == "simulation"]
            label = f"exponent {exponent:g}, groups of {size:.0f}"
            axes.plot(theory.steps, theory.predicted, style, color=colour, label=label)
            draw_marks(axes, measured.steps, measured, colour)
    first = sizes[-1][1].query("kind == 'theory'").sort_values("steps")
    guide = first.predicted.iloc[0] * 1.6 * (first.steps.iloc[0] / first.steps) ** 2
    axes.plot(first.steps, guide, ":", color="0.5", label="slope -2")


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 3.0))
    left, right = figure.subplots(1, 2)
    rows = table[table.observable == "excess_risk"].sort_values("steps")
    _draw_descent(left, rows[rows.algorithm == NAMES.index("gradient descent")])
    _draw_horizons(right, rows[rows.algorithm == NAMES.index("Muon")])
    left.set(xscale="log", yscale="log", xlabel="steps", ylabel="excess loss", title="gradient descent", ylim=(3e-3, 8))
    right.set(xscale="log", yscale="log", xlabel="steps of a run", ylabel="excess loss at its end", title="Muon")
    for axes in (left, right):
        axes.legend(fontsize=6, loc="lower left")
    return figure

"""Risk against n along two pairs of exponents: a line that bends, and the best one; bias dotted, variance dashed."""

from fractions import Fraction

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paper_figures.drawing import COLOURS


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 2.9))
    panels = figure.subplots(1, 2)
    for axes, (source, rows) in zip(panels, table.groupby("source"), strict=False):
        _draw_world(axes, rows)
        capacity = float(rows.capacity.iloc[0])
        axes.set(xscale="log", yscale="log", xlabel="samples, n", ylabel="risk")
        axes.set_title(f"capacity {capacity:g}, source {source:g}", fontsize=8)
        axes.set_ylim(bottom=0.04 * axes.get_ylim()[0])  # room for the legend below the variances
        axes.legend(fontsize=6.5, loc="lower left")
    return figure


def _draw_world(axes: Axes, rows: pd.DataFrame) -> None:
    chosen = rows[rows.observable.isin(("excess_risk", "bias", "variance"))]
    lines = sorted(chosen.groupby(["ridge_exponent", "width_exponent"]), key=lambda item: -item[0][0])
    for colour, ((ridge, width), line) in zip(COLOURS, lines, strict=False):
        theory = line[line.kind == "theory"].sort_values("n_samples")
        measured = line[(line.kind == "simulation") & (line.observable == "excess_risk")]
        label = f"ridge $n^{{{_short(1 - ridge)}}}$, features $n^{{{_short(width)}}}$"
        for name, style in (("excess_risk", "-"), ("bias", ":"), ("variance", "--")):
            part = theory[theory.observable == name]
            strength = {"lw": 1.4, "label": label} if name == "excess_risk" else {"lw": 0.7, "alpha": 0.7}
            axes.plot(part.n_samples, part.predicted, style, color=colour, **strength)
        axes.errorbar(measured.n_samples, measured["mean"], yerr=measured["sem"], fmt="o", color=colour, mew=0, lw=0.8)


def _short(value: float) -> str:
    fraction = Fraction(value).limit_denominator(20)
    return f"{value:.2g}" if abs(float(fraction) - value) > 1e-9 or fraction.denominator > 1 else str(fraction)

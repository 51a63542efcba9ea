"""Decay exponent of the risk as colour, borders of its dominant terms, measured slopes as circles, star: optimum."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

KEY = (
    "colour: law, circles: slope of the exact predictor between n = 1e9 and 1e10, star: best rate with fewest features"
)
TERMS = ("variance", "kernel_bias", "feature_bias")
BORDERS = {0: 0.0, 1: 1e-3}  # index of a term -> lead over the others; the two biases tie below a source of 1/2
LABELS = (("variance", (1.35, 1.19), 0), ("kernel bias", (0.36, 1.19), 90), ("feature bias", (1.35, 0.1), 0))


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(6.6, 3.1))
    panels = figure.subplots(1, 2, sharey=True)
    top = -table[table.observable == "risk_exponent"].predicted.min()
    sources = sorted(table.source.unique(), reverse=True)
    for axes, source in zip(panels, sources, strict=False):
        chosen = table[table.source == source]
        colours = _draw_plane(axes, chosen[chosen.kind == "theory"], top)
        _draw_measured(axes, chosen[chosen.kind == "simulation"], top)
        axes.set(title=f"source {source:g}", xlabel="ridge exponent", xlim=(0, 2.2), ylim=(0, 1.9))
    panels[0].set_ylabel("width exponent")
    figure.colorbar(colours, ax=panels, label="decay exponent of the risk", pad=0.02)
    return figure


def _draw_plane(axes: Axes, theory: pd.DataFrame, top: float) -> Any:
    risk = theory[theory.observable == "risk_exponent"]
    best = risk[risk.predicted < risk.predicted.min() + 1e-9].sort_values("width_exponent").iloc[0]
    planes = {name: _grid(theory[theory.observable == f"{name}_exponent"]) for name in TERMS}
    x, y, _ = next(iter(planes.values()))
    stacked = np.stack([values for _, _, values in planes.values()])
    colours = axes.pcolormesh(x, y, -stacked.max(axis=0), cmap="viridis", vmin=0, vmax=top, rasterized=True)
    for index, level in BORDERS.items():
        lead = stacked[index] - np.delete(stacked, index, axis=0).max(axis=0)
        axes.contour(x, y, lead, levels=[level], colors="white", linewidths=1)
    for label, place, rotation in LABELS:
        axes.annotate(label, place, color="white", rotation=rotation, ha="center", va="center", in_layout=False)
    axes.plot(best.ridge_exponent, best.width_exponent, "*", color="white", ms=11, mec="black", mew=0.6, zorder=4)
    return colours


def _draw_measured(axes: Axes, measured: pd.DataFrame, top: float) -> None:
    bias, variance = (measured[measured.observable == f"{name}_ratio"] for name in ("bias", "variance"))
    exponent = -np.log10(np.maximum(bias["mean"].to_numpy(), variance["mean"].to_numpy()))
    axes.scatter(
        bias.ridge_exponent, bias.width_exponent, c=exponent, cmap="viridis", vmin=0, vmax=top, s=22,
        edgecolors="black", linewidths=0.6, zorder=3,
    )  # fmt: skip


def _grid(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return axes and values of the regular part of the plane; the optimum stands alone in its row and is left out."""
    plane = rows.pivot_table(index="width_exponent", columns="ridge_exponent", values="predicted")
    full = plane.dropna(axis=1, thresh=2).dropna(axis=0)
    return full.columns.to_numpy(), full.index.to_numpy(), full.to_numpy()

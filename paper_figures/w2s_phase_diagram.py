"""Decay rates of teacher and best student in the plane of the teacher's exponents, and how much the student gains."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

KEY = "colour: law, circles: slope of the exact predictor between n = 1e9 and 1e10, above the white line: minimax rate"


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(7.0, 2.6))
    panels = figure.subplots(1, 3, sharey=True)
    theory, measured = table[table.kind == "theory"], table[table.kind == "simulation"]
    planes = {name: _plane(theory, f"{name}_exponent") for name in ("teacher", "student")}
    slopes = {name: _slopes(measured, f"{name}_ratio") for name in ("teacher", "student")}
    planes["gain"] = planes["student"] - planes["teacher"]
    slopes["gain"] = slopes["student"].assign(rate=slopes["student"].rate - slopes["teacher"].rate)
    margin = _plane(theory, "minimax_margin", sign=1)
    top = float(planes["student"].to_numpy().max())
    for axes, (name, plane) in zip(panels, planes.items(), strict=True):
        scale = {"cmap": "viridis", "vmin": 0, "vmax": top}
        colours = axes.pcolormesh(plane.columns, plane.index, plane.to_numpy(), rasterized=True, **scale)
        if margin.to_numpy().min() < 0 < margin.to_numpy().max():
            axes.contour(margin.columns, margin.index, margin.to_numpy(), [-1e-3], colors="white", linewidths=1)
        marks = slopes[name]
        axes.scatter(
            marks.ridge_exponent, marks.width_exponent, c=np.maximum(marks.rate, 0), s=20, edgecolors="black",
            linewidths=0.6, zorder=3, **scale,
        )  # fmt: skip
        axes.set(title=name, xlabel="teacher's ridge exponent", xlim=(0, 2.25), ylim=(0, 1.95))
    panels[0].set_ylabel("teacher's width exponent")
    figure.colorbar(colours, ax=panels, label="decay exponent", pad=0.02)
    return figure


def _plane(theory: pd.DataFrame, name: str, sign: int = -1) -> pd.DataFrame:
    """Return decay exponents, or margins, by width (rows) and ridge (columns)."""
    chosen = theory[theory.observable == name]
    return sign * chosen.pivot_table(index="width_exponent", columns="ridge_exponent", values="predicted")


def _slopes(measured: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return measured decay exponents with their coordinates."""
    rows = measured[measured.observable == name].sort_values(["width_exponent", "ridge_exponent"])
    return rows.assign(rate=-np.log10(rows["mean"])).reset_index(drop=True)

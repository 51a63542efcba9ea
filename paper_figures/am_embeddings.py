"""How much larger the loss is with Gaussian embeddings, against dimensions per item."""

import pandas as pd
from matplotlib.figure import Figure

from experiments.memories import NAMES
from paper_figures.drawing import COLOURS

KEY = "markers: simulation over orthonormal theory, minus 1; lines: order K/d"


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(4.2, 3.0))
    axes = figure.subplots()
    rows = table[(table.observable == "excess_risk") & (table.kind == "simulation") & (table.is_gaussian == 1)]
    for colour, (index, part) in zip(COLOURS, rows.groupby("algorithm"), strict=False):
        ratio = part.dimension / (part.n_groups * part.group_size)
        gap, error = part["mean"] / part.predicted - 1, part["sem"] / part.predicted
        first = ratio.to_numpy().argmin()
        axes.errorbar(ratio, gap, yerr=error, fmt="o", color=colour, mew=0, lw=0.8, label=NAMES[int(index)])
        axes.plot(ratio, gap.iloc[first] * ratio.iloc[first] / ratio, ":", color=colour, lw=0.8)
    axes.set(xscale="log", yscale="log", xlabel="dimensions per item, d/K", ylabel="relative rise of the loss")
    ratios = sorted({int(ratio) for ratio in rows.dimension / (rows.n_groups * rows.group_size)})
    axes.set_xticks(ratios, [str(ratio) for ratio in ratios])
    axes.minorticks_off()
    axes.legend()
    return figure

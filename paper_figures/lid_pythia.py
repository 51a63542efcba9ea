"""Failure rates of language models against attempts: above, fits to all attempts; below, fits to a hundred of them."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.lid_pythia import FAMILIES, FEW, MODELS
from paper_figures.drawing import COLOURS

KEY = "dots: unbiased, from all attempts; above: fits, bands of one standard error; below: held-out fits, mean of draws"


def _draw(axes: Axes, fitted: pd.DataFrame, observed: pd.DataFrame) -> None:
    for colour, (family, part) in zip(COLOURS, fitted.groupby("family"), strict=False):
        by_bound = {bound: rows.sort_values("k") for bound, rows in part.groupby("bound")}
        middle = by_bound[0.0]
        axes.plot(middle.k, middle.predicted, color=colour, lw=0.9, label=FAMILIES[int(family)].replace("_", " "))
        if len(by_bound) == 3:
            low, high = by_bound[-1.0].predicted, by_bound[1.0].predicted
            axes.fill_between(middle.k, low.to_numpy(), high.to_numpy(), color=colour, alpha=0.15, lw=0)
    once = observed.drop_duplicates("k")
    axes.plot(once.k, once["mean"], "o", color="black", ms=2.5, mew=0)
    axes.set(xscale="log", yscale="log")


def draw(table: pd.DataFrame) -> Figure:
    """Draw the figure from the experiment's table."""
    figure = Figure(figsize=(1.2 + 2.0 * table.model.nunique(), 4.6))
    models = np.sort(table.model.unique())
    panels = figure.subplots(2, len(models), squeeze=False, sharex="row", sharey="row")
    for column, model in zip(panels.T, models, strict=True):
        rows = table[table.model == model]
        observed = rows[rows.kind == "simulation"]
        _draw(column[0], rows[rows.kind == "theory"], observed)
        _draw(column[1], observed, observed)
        column[1].axvline(FEW, color="0.6", lw=0.8, ls="--", zorder=0)
        column[0].set_title(f"Pythia {MODELS[int(model)]}")
        column[1].set_xlabel("attempts k")
    for axes in panels[:, 0]:
        axes.set_ylabel("1 - pass@k")
    panels[0, 0].legend(fontsize=6.5)
    return figure

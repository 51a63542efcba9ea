"""Command line: `python -m solvable.latent_difficulty counts.csv --k 1,10,100,1e6 [--plot out.pdf]`."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from solvable.errors import SolvableError
from solvable.latent_difficulty.counts import Counts
from solvable.latent_difficulty.estimators import PROBLEMS, benchmark_pass_at_k
from solvable.latent_difficulty.fits import FAMILIES, Fit, compare_fits
from solvable.latent_difficulty.io import read_counts
from solvable.precision import Array


def main(arguments: Sequence[str] | None = None) -> int:
    """Print pass@k with errors and fitted extrapolations; status 2 for a file or argument that cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        attempts = _numbers(options.k)
        counts = read_counts(options.counts)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fits = compare_fits(counts, options.families.split(","))
        _print_table(counts, attempts, fits, options.problems)
        for warning in caught:
            print(f"note: {warning.message}")
        if options.plot:
            _plot(counts, fits, float(attempts.max()), options.plot)
    except (SolvableError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m solvable.latent_difficulty", description="Print pass@k with errors, and fits beyond the data."
    )
    parser.add_argument(
        "counts", type=Path, help="CSV, JSON lines or Parquet of (problem, attempts, correct), or outcomes"
    )
    parser.add_argument("--k", default="1,10,100", help="attempts allowed, separated by commas (default: %(default)s)")
    parser.add_argument("--families", default=",".join(FAMILIES), help="fits, separated by commas (default: all)")
    problems = "whether problems stand for more of their kind, or are the benchmark (default: random)"
    parser.add_argument("--problems", choices=PROBLEMS, default="random", help=problems)
    parser.add_argument("--plot", metavar="FILE", help="also draw the table (needs matplotlib)")
    return parser


def _numbers(text: str) -> Array:
    try:
        values = np.array([float(part) for part in text.split(",")])
    except ValueError:
        raise SolvableError(f"--k must be numbers separated by commas; got {text!r}") from None
    bad = ~((values >= 1) & (values == np.floor(values)))
    if bad.any():
        raise SolvableError(f"--k must be whole numbers >= 1; got {values[bad].tolist()}")
    return values


def _print_table(counts: Counts, attempts: Array, fits: Sequence[Fit], problems: str) -> None:
    least, most = int(counts.n_attempts.min()), int(counts.n_attempts.max())
    made = f"{least}" if least == most else f"{least} to {most}"
    print(f"{counts.n_problems} problems, {made} attempts each, {int(counts.n_correct.sum())} correct\n")
    header = ["k", "unbiased pass@k (sem)", *(f"{fit.family} fit (95%)" for fit in fits)]
    rows = [[f"{k:g}", _observed(counts, k, least, problems), *(_fitted(fit, k) for fit in fits)] for k in attempts]
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
    for row in [header, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print("\nfits, best first:")
    for fit in fits:
        print(fit)


def _observed(counts: Counts, k: float, least: int, problems: str) -> str:
    if k > least:
        return "beyond the data"
    mean, sem, *_ = benchmark_pass_at_k(counts, int(k), problems=problems)
    return f"{mean:.4g} ({sem:.2g})"


def _fitted(fit: Fit, k: float) -> str:
    band = fit.pass_at_k(k)
    return f"{band.estimate:.4g} ({band.lower:.4g}, {band.upper:.4g})"


def _plot(counts: Counts, fits: Sequence[Fit], most: float, path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 3.3), layout="constrained")
    axes = figure.subplots()
    least = int(counts.n_attempts.min())
    shown = np.unique(np.geomspace(1, least, 20).astype(int))
    mean, sem, *_ = benchmark_pass_at_k(counts, shown)
    axes.errorbar(shown, 1 - mean, yerr=sem, fmt="o", ms=3, color="black", label="unbiased, one standard error")
    k = np.geomspace(1, max(most, least), 100)
    for fit in fits:
        band = fit.pass_at_k(k)
        (line,) = axes.plot(k, 1 - band.estimate, label=fit.family)
        axes.fill_between(k, 1 - band.upper, 1 - band.lower, color=line.get_color(), alpha=0.15, lw=0)
    axes.set(xscale="log", yscale="log", xlabel="attempts k", ylabel="1 - pass@k")
    axes.legend(fontsize=7)
    figure.savefig(path)
    print(f"drew {path}")


if __name__ == "__main__":
    sys.exit(main())

"""Run experiments: `python -m experiments list | status | run [NAME...] [--preset quick|paper] [--executor local]`."""

import argparse
import importlib
import pkgutil
import sys
import time
from collections.abc import Callable, Sequence

import experiments
from experiments.executors import EXECUTORS
from experiments.sweep import Experiment, finished, run

PRESETS = ("quick", "paper")
INTERRUPTED = 130  # the shell's code for Ctrl-C


def all_experiments() -> dict[str, Experiment]:
    """Return the experiments: what modules of this package define as `EXPERIMENT`."""
    names = sorted(module.name for module in pkgutil.iter_modules(experiments.__path__) if module.name != "__main__")
    modules = [importlib.import_module(f"experiments.{name}") for name in names]
    found = [module.EXPERIMENT for module in modules if hasattr(module, "EXPERIMENT")]
    return {experiment.name: experiment for experiment in found}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 1 for a disagreement, 2 for a wrong call, 130 for Ctrl-C."""
    options = _parser().parse_args(arguments)
    known = all_experiments()
    if options.command == "list":
        return _list(known)
    unknown = [name for name in options.names if name not in known]
    if unknown:
        print(f"unknown experiment {', '.join(unknown)}; known are {', '.join(known)}", file=sys.stderr)
        return 2
    chosen = [known[name] for name in options.names or known]
    if options.command == "status":
        return _status(chosen)
    try:
        return _run(chosen, options.preset, options.executor)
    except KeyboardInterrupt:
        print("\ninterrupted: finished cells are kept, the same command computes the rest", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description="Run experiments into results/.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the experiments")
    for command, text in (("status", "count finished cells"), ("run", "compute what is missing, and judge it")):
        sub = commands.add_parser(command, help=text)
        sub.add_argument("names", nargs="*", metavar="NAME", help="experiments (default: all)")
    sub.add_argument("--preset", choices=PRESETS, default="quick")
    sub.add_argument("--executor", choices=sorted(EXECUTORS), default="local")
    return parser


def _list(known: dict[str, Experiment]) -> int:
    width = max(map(len, known), default=0)
    for name, experiment in known.items():
        print(f"{name:{width}}  {experiment.summary}")
    return 0


def _status(chosen: Sequence[Experiment]) -> int:
    for experiment in chosen:
        for preset in experiment.presets:
            done, total = finished(experiment, preset)
            store = experiment.store(preset)
            judged = done == total and store.verdict.exists()
            verdict = store.read_verdict()["verdict"] if judged else "not finished"
            print(f"{experiment.name} {preset}: {done}/{total} cells, {verdict}")
    return 0


def _run(chosen: Sequence[Experiment], preset: str, executor_name: str) -> int:
    verdicts = []
    with EXECUTORS[executor_name]() as executor:
        for experiment in chosen:
            start = time.perf_counter()
            agreement = run(experiment, preset, executor, progress_bar(experiment.name))
            print(f"{experiment.name} {preset} ({time.perf_counter() - start:.1f} s): {agreement!r}", flush=True)
            verdicts.append(agreement.verdict)
    return int("disagree" in verdicts)


def progress_bar(name: str, width: int = 30) -> Callable[[int, int], None]:
    """Return a function that draws a bar of finished cells on a terminal, and does nothing elsewhere."""

    def draw(done: int, total: int) -> None:
        filled = width * done // max(total, 1)
        end = "\r\033[K" if done == total else ""  # the verdict takes the bar's place
        print(f"\r{name} [{'#' * filled}{'.' * (width - filled)}] {done}/{total} cells{end}", end="", flush=True)

    return draw if sys.stdout.isatty() else _silent


def _silent(*_: int) -> None:
    """Show nothing: the verdict's line says that the experiment is done."""


if __name__ == "__main__":
    sys.exit(main())

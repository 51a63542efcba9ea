"""Command line of the figures: `python -m paper_figures [NAME...] [--preset quick|paper]`."""

import argparse
import importlib
import pkgutil
import sys

import paper_figures
from paper_figures.drawing import KEY, finish, read, styled


def names() -> list[str]:
    """List the figures: modules of this package that define `draw`."""
    modules = (module.name for module in pkgutil.iter_modules(paper_figures.__path__) if module.name != "__main__")
    return [name for name in modules if hasattr(importlib.import_module(f"paper_figures.{name}"), "draw")]


def make(name: str, preset: str) -> None:
    """Draw one figure from its saved table."""
    table, verdict = read(name, preset)
    with styled():
        module = importlib.import_module(f"paper_figures.{name}")
        finish(module.draw(table), name, verdict, key=getattr(module, "KEY", KEY))


def main(arguments: list[str] | None = None) -> int:
    """Draw the figures asked for, all by default; status 2 for an unknown name or a missing table."""
    parser = argparse.ArgumentParser(prog="python -m paper_figures", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures; all by default")
    parser.add_argument("--preset", choices=("quick", "paper"), default="quick")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        print(f"error: unknown figure {unknown[0]!r}; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    try:
        for name in options.names or names():
            make(name, options.preset)
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

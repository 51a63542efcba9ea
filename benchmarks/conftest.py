"""Tables of medians and ratios, printed after the run. Timings are reported, never asserted."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import pytest

collect_ignore = ["make_reference.py"]
_TABLES: list[str] = []


@pytest.fixture(scope="session", autouse=True)
def _double_precision() -> Iterator[None]:
    """Baselines in JAX run in float64, like the library's simulators."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def medians() -> dict[Any, float]:
    """Median seconds per call of what a file has timed so far, by name."""
    return {}


@pytest.fixture
def timed(benchmark: Any, medians: dict[Any, float]) -> Callable[..., Any]:
    """Return a function that times a call and returns its last result."""

    def measure(name: Any, function: Callable[[], Any], *, rounds: int, iterations: int = 1, warmup: int = 1) -> Any:
        result = benchmark.pedantic(function, rounds=rounds, iterations=iterations, warmup_rounds=warmup)
        medians[name] = benchmark.stats.stats.median
        return result

    return measure


@pytest.fixture(scope="session")
def add_table() -> Callable[[str, Sequence[Sequence[str]]], None]:
    """Return a function that keeps a table for the end of the run."""

    def add(title: str, rows: Sequence[Sequence[str]]) -> None:
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        _TABLES.append("\n".join([title, *(f"  {line.rstrip()}" for line in lines)]))

    return add


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the tables."""
    for table in _TABLES:
        terminalreporter.write_line("\n" + table)

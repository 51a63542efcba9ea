"""Reading counts: CSV, JSON lines and Parquet, one row per problem or one per attempt."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from solvable.errors import ArgumentError
from solvable.latent_difficulty.counts import Counts

PROBLEM = ("problem", "problem_id", "task", "task_id", "question", "id")
ATTEMPTS = ("attempts", "n_attempts", "samples", "n_samples", "n", "total")
CORRECT = ("correct", "n_correct", "successes", "c", "passed", "is_correct", "outcome", "outcomes")
SUFFIXES = (".csv", ".jsonl", ".ndjson", ".parquet")
_TRUTH = {"true": 1, "false": 0}


def read_counts(path: str | Path) -> Counts:
    """Read counts of correct attempts.

    Args:
        path: a file ending in .csv, .jsonl, .ndjson or .parquet (which needs pandas and pyarrow). Columns, by any usual
            name: (problem, attempts, correct), one row per problem; or (problem, correct) with 0 or 1, true or false,
            one row per attempt; or, in JSON lines and Parquet, (problem, correct) with a list of outcomes. Lines of a
            CSV that begin with # are skipped. Rows of one problem are added up.

    Returns:
        The counts, problems in the order in which they first appear.

    Raises:
        ArgumentError: naming the file and what is missing or wrong.
        FileNotFoundError: if there is no such file.
        ImportError: for Parquet without pandas.
    """
    place = Path(path)
    if place.suffix not in SUFFIXES:
        raise ArgumentError(f"path must end in one of {SUFFIXES}; got {str(path)!r}")
    if place.suffix == ".parquet":
        import pandas

        rows: list[Mapping[str, Any]] = pandas.read_parquet(place).to_dict("records")
    elif place.suffix == ".csv":
        with place.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    else:
        with place.open(encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.strip()]
    return _gathered(rows, place)


def _gathered(rows: Iterable[Mapping[str, Any]], place: Path) -> Counts:
    totals: dict[Any, list[int]] = {}
    for number, row in enumerate(rows, 1):
        columns = {str(name).strip().lower(): value for name, value in row.items()}
        problem, correct = (_found(columns, names, place) for names in (PROBLEM, CORRECT))
        attempts = next((columns[name] for name in ATTEMPTS if name in columns), None)
        try:
            made, solved = _row(attempts, correct)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{place}, row {number}: {error}") from None
        entry = totals.setdefault(problem, [0, 0])
        entry[0] += made
        entry[1] += solved
    if not totals:
        raise ArgumentError(f"{place} has no rows")
    made, solved = np.array(list(totals.values())).T
    return Counts(made, solved)


def _found(columns: Mapping[str, Any], names: tuple[str, ...], place: Path) -> Any:
    for name in names:
        if name in columns:
            return columns[name]
    raise ArgumentError(
        f"{place} needs a column named one of {names}; it has {tuple(columns)} (is the header missing?)"
    )


def _row(attempts: Any, correct: Any) -> tuple[int, int]:
    """Return attempts and successes of one row."""
    if attempts is not None:
        return _whole(attempts), _whole(correct)
    outcomes = correct if isinstance(correct, (list, tuple, np.ndarray)) else [correct]
    values = [_whole(outcome) for outcome in outcomes]
    if any(value not in (0, 1) for value in values):
        raise ValueError(f"outcomes must be 0 or 1 where there is no column of attempts; got {correct!r}")
    return len(values), sum(values)


def _whole(value: Any) -> int:
    text = str(value).strip().lower()
    number = float(_TRUTH.get(text, value))
    if number != int(number):
        raise ValueError(f"counts must be whole numbers; got {value!r}")
    return int(number)

"""Where results live: one finished cell is one immutable file, and one table gathers the cells of a preset.

    results/<experiment>/<preset>/cells/<hash>.json    parameters, values and provenance of one cell
    results/<experiment>/<preset>/table.parquet        tidy: one row per kind, combination of controls and observable
    results/<experiment>/<preset>/verdict.json         agreement of simulation and prediction, with numbers

The hash is of the cell's parameters, of the source code that computes it, and of the file format. It is not of a
commit: editing prose keeps results, editing a formula makes new ones. The root is `results/` in the current directory,
or `$SOLVABLE_RESULTS`.
"""

import hashlib
import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SCHEMA = 1  # raise it when the content of cell files changes its meaning


def results_root() -> Path:
    """Return the directory that holds all results."""
    return Path(os.environ.get("SOLVABLE_RESULTS", "results"))


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no blanks, floats to all digits, inf and nan as such.

    Integral floats are written as integers, so that n = 100 and n = 100.0 are one cell.

    Raises:
        TypeError: for values that JSON does not know.
    """
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def source_digest(files: Iterable[Path]) -> str:
    """Return a digest of source files: of their names and contents, not of where they lie or in which order."""
    parts = sorted((path.parent.name, path.name, digest(path.read_text(encoding="utf-8"))) for path in files)
    return digest(canonical(parts))


@dataclass(frozen=True)
class Store:
    """The results of one experiment and preset.

    Attributes:
        folder: where they lie, `results/<experiment>/<preset>`.
        code: digest of the source that computes them.
    """

    folder: Path
    code: str

    @property
    def table(self) -> Path:
        """Path of the gathered table."""
        return self.folder / "table.parquet"

    @property
    def verdict(self) -> Path:
        """Path of the verdict."""
        return self.folder / "verdict.json"

    def key(self, parameters: Mapping[str, Any]) -> str:
        """Return the hash that names a cell."""
        return digest(canonical({"parameters": parameters, "code": self.code, "schema": SCHEMA}))

    def path(self, parameters: Mapping[str, Any]) -> Path:
        """Return the file of a cell, whether it exists or not."""
        return self.folder / "cells" / f"{self.key(parameters)}.json"

    def load(self, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the values of a finished cell; None if it is missing or its file is damaged."""
        try:
            content = json.loads(self.path(parameters).read_text(encoding="utf-8"))
            payload = content["payload"]
            sound = content["checksum"] == digest(canonical(payload))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return dict(payload["values"]) if sound else None

    def save(
        self, parameters: Mapping[str, Any], values: Mapping[str, Any], provenance: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Keep a finished cell and return its values as `load` will; a sound file that is there stays as it is."""
        stored = self.load(parameters)
        if stored is not None:
            return stored
        payload = {"parameters": parameters, "values": values}
        checksum = digest(canonical(payload))
        content = {"schema": SCHEMA, "checksum": checksum, "payload": payload, "provenance": provenance}
        write_atomically(self.path(parameters), canonical(content).encode())
        return dict(json.loads(canonical(values)))

    def write_table(self, columns: Mapping[str, Any]) -> None:
        """Write the tidy table, whole or not at all."""
        import pandas

        write_atomically(self.table, pandas.DataFrame(dict(columns)).to_parquet(engine="pyarrow", index=False))

    def read_table(self) -> Any:
        """Return the tidy table as a pandas DataFrame.

        Raises:
            FileNotFoundError: if the experiment has not been run.
        """
        import pandas

        return pandas.read_parquet(self.table, engine="pyarrow")

    def write_verdict(self, verdict: Mapping[str, Any]) -> None:
        """Write the verdict, whole or not at all, in a form people can read."""
        write_atomically(self.verdict, (json.dumps(_plain(verdict), indent=2) + "\n").encode())

    def read_verdict(self) -> dict[str, Any]:
        """Return the verdict.

        Raises:
            FileNotFoundError: if the experiment has not been run.
        """
        return dict(json.loads(self.verdict.read_text(encoding="utf-8")))


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash at any moment, sees all of it or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _plain(value: Any) -> Any:
    """Turn mappings, sequences and NumPy numbers into what JSON writes."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float) and math.isfinite(value) and value.is_integer() and abs(value) < 2**53:
        return int(value) if value or math.copysign(1.0, value) > 0 else value
    return value

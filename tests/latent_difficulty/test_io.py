"""Files of counts in every layout, their errors, and the command line."""

import json

import pandas as pd
import pytest

from solvable import latent_difficulty as lid
from solvable.errors import ArgumentError
from solvable.latent_difficulty.__main__ import main

pytestmark = pytest.mark.x64_independent
ROWS = [("a", 4, 1), ("b", 4, 0), ("c", 4, 4)]
OUTCOMES = [("a", [0, 1, 0, 0]), ("b", [0, 0, 0, 0]), ("c", [1, 1, 1, 1])]


def assert_read(path):
    counts = lid.read_counts(path)
    assert counts.n_attempts.tolist() == [4, 4, 4]
    assert counts.n_correct.tolist() == [1, 0, 4]


def test_layouts(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("# made by hand\nTask_ID, n ,c\n" + "".join(f"{p},{n},{c}\n" for p, n, c in ROWS))
    lines = tmp_path / "lines.jsonl"
    lines.write_text("\n".join(json.dumps({"problem": p, "attempts": n, "correct": c}) for p, n, c in ROWS))
    raw = tmp_path / "raw.csv"
    raw.write_text("problem,passed\n" + "".join(f"{p},{bool(x)}\n" for p, xs in OUTCOMES for x in xs))
    lists = tmp_path / "lists.jsonl"
    lists.write_text("\n".join(json.dumps({"problem": p, "outcomes": xs}) for p, xs in OUTCOMES))
    frames = [tmp_path / "table.parquet", tmp_path / "lists.parquet"]
    pd.DataFrame(ROWS, columns=["problem", "samples", "successes"]).to_parquet(frames[0], engine="pyarrow")
    pd.DataFrame(OUTCOMES, columns=["problem", "outcome"]).to_parquet(frames[1], engine="pyarrow")
    for path in (table, lines, raw, lists, *frames):
        assert_read(path)


def test_rows_of_one_problem_add_up(tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text("problem,attempts,correct\n" + "a,2,1\nb,4,0\na,2,0\nc,4,4\n")
    assert_read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("problem,attempts\na,3\n", r"needs a column named one of \('correct'.*it has \('problem', 'attempts'\)"),
        ("problem,attempts,correct\na,3,x\n", "row 1: could not convert"),
        ("problem,attempts,correct\na,3,1.5\n", "row 1: counts must be whole numbers; got '1.5'"),
        ("problem,correct\na,3\n", "row 1: outcomes must be 0 or 1"),
        ("problem,attempts,correct\n", "has no rows"),
        ("problem,attempts,correct\na,3,4\n", "are the two swapped"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=message):
        lid.read_counts(path)


def test_other_suffixes(tmp_path):
    with pytest.raises(ArgumentError, match="path must end in one of"):
        lid.read_counts(tmp_path / "counts.txt")


def test_command_line(tmp_path, capsys):
    counts = lid.pythia_math()["1B"]
    path, plot = tmp_path / "counts.csv", tmp_path / "out.pdf"
    rows = enumerate(zip(counts.n_attempts, counts.n_correct, strict=True))
    path.write_text("problem,attempts,correct\n" + "".join(f"{i},{n},{c}\n" for i, (n, c) in rows))
    families = ["--families", "beta,kumaraswamy"]
    assert main([str(path), "--k", "1,100,1e6", *families, "--plot", str(plot)]) == 0
    out = capsys.readouterr().out
    assert "128 problems, 10000 attempts each, 10667 correct" in out
    assert "0.2745 (0.03)" in out
    assert "beyond the data" in out
    assert "0.8981 (0.8345, 0.9372)" in out
    assert plot.stat().st_size > 1000
    for arguments in (["--k", "0.5"], ["--k", "many"], ["--families", "gamma"]):
        assert main([str(path), *arguments]) == 2
        assert "error: " in capsys.readouterr().err
    assert main([str(tmp_path / "none.csv")]) == 2

"""Use the installed wheel as a new user would, from an empty folder: `python -I smoke.py WHEEL`."""

import sys
import time
import zipfile
from pathlib import Path


def check_contents(wheel: str) -> None:
    """Check that the wheel holds the package, its type marker, its licence, and nothing else."""
    names = zipfile.ZipFile(wheel).namelist()
    folders = {Path(name).parts[0] for name in names}
    assert all(folder == "solvable" or folder.endswith(".dist-info") for folder in folders), folders
    assert "solvable/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def check_use() -> None:
    """Import, predict, simulate, compare; nothing heavy may be loaded on the way."""
    start = time.perf_counter()
    import solvable

    imported = time.perf_counter() - start
    assert Path.cwd() not in Path(solvable.__file__).parents
    assert list(Path.cwd().iterdir()) == []
    from solvable import compare
    from solvable import random_features as rf

    problem = rf.Problem.power_law(capacity=1.5, source=0.4, noise_variance=0.01, n_modes=100)
    start = time.perf_counter()
    theory = rf.predict(problem, n_samples=20, n_features=30, ridge=0.1)
    predicted = time.perf_counter() - start
    measured = rf.simulate(problem, n_samples=20, n_features=30, ridge=0.1, seed=0, replicates=4)
    assert compare(theory, measured).verdict in {"agree", "inconclusive"}
    heavy = {"matplotlib", "sympy", "diffrax", "pandas"} & set(sys.modules)
    assert not heavy, heavy
    assert list(Path.cwd().iterdir()) == []
    print(f"solvable {solvable.__version__}: import {imported:.2f} s, first predict {1e3 * predicted:.1f} ms")


if __name__ == "__main__":
    check_contents(sys.argv[1])
    check_use()

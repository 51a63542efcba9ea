"""Development tasks: `python -m pip install nox && python -m nox` runs the tests; `python -m nox -l` lists the rest."""

import secrets
import tempfile
from pathlib import Path

import nox

nox.needs_version = ">=2024.10.9"
nox.options.default_venv_backend = "venv"  # Python and pip are all that a fresh machine needs
nox.options.error_on_external_run = True
nox.options.sessions = ["tests"]

STEADY = {"OPENBLAS_NUM_THREADS": "1"}  # two LAPACK threads on a busy machine wait for each other
ROOT = Path(__file__).parent
PROJECT = nox.project.load_toml(ROOT / "pyproject.toml")


def _install(session: nox.Session, *groups: str, project: bool = True) -> None:
    """Install dependency groups and, editable, the project (pip knows `--group` only since 25.1)."""
    requirements = nox.project.dependency_groups(PROJECT, *groups)
    session.install(*requirements, *(["--editable", "."] if project else []))


@nox.session
def tests(session: nox.Session) -> None:
    """Run the test suite twice: as users start JAX, and with 64-bit types switched on."""
    _install(session, "tests")
    parallel = ("-n", "auto")
    # The library computes in the same precision whatever the switch says: the second pass finds its work compiled.
    compiled = {"JAX_COMPILATION_CACHE_DIR": str(session.cache_dir / "compiled")}
    kept = {**STEADY, **compiled, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.3"}
    session.run("pytest", *parallel, *session.posargs, env={**kept, "JAX_ENABLE_X64": "0"})
    remaining = ("-m", "not slow and not x64_independent")
    nothing_left = 5  # pytest's exit code where a selection holds x64-independent tests only
    again = {**kept, "JAX_ENABLE_X64": "1"}
    session.run("pytest", *parallel, *remaining, *session.posargs, env=again, success_codes=[0, nothing_left])


@nox.session
def slow(session: nox.Session) -> None:
    """Run the long statistical tests with a seed nobody has seen; set SOLVABLE_TEST_SEED to repeat a run."""
    _install(session, "tests")
    seed = session.env.get("SOLVABLE_TEST_SEED") or str(secrets.randbelow(2**31))
    session.log(f"SOLVABLE_TEST_SEED={seed}")
    session.run("pytest", "-m", "slow", "-s", *session.posargs, env={"SOLVABLE_TEST_SEED": seed})


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting."""
    _install(session, "lint", project=False)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types."""
    _install(session, "types")
    session.run("mypy", "--strict", "solvable", "experiments", "paper_figures", "noxfile.py")


@nox.session
def figures(session: nox.Session) -> None:
    """Run every experiment's quick preset, or the preset given, and draw the figures."""
    _install(session, "experiments")
    preset = session.posargs or ["quick"]
    session.run("python", "-m", "experiments", "run", "--preset", *preset, env=STEADY)
    session.run("python", "-m", "paper_figures", "--preset", *preset)


@nox.session
def benchmark(session: nox.Session) -> None:
    """Time predictions, simulations and imports; the tables come last."""
    _install(session, "benchmark")
    session.run("pytest", "benchmarks", *session.posargs, env=STEADY)


@nox.session
def package(session: nox.Session) -> None:
    """Build the distributions, install the wheel alone, and use it far from the repository."""
    session.install("build")
    with tempfile.TemporaryDirectory() as dist, tempfile.TemporaryDirectory() as elsewhere:
        session.run("python", "-m", "build", "--outdir", dist, ".")
        wheel = next(Path(dist).glob("*.whl"))
        session.install(str(wheel))
        with session.chdir(elsewhere):
            session.run("python", "-I", "-W", "error", str(ROOT / ".ci" / "smoke.py"), str(wheel))

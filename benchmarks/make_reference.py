"""Make reference.json, 40 digits at the checked points: `python -m benchmarks.make_reference` (needs mpmath).

Independent of the library: the two equations are solved in their published form, with explicit sums over all modes.
"""

import json
from pathlib import Path

from mpmath import mp, mpf

from benchmarks.grid import CAPACITY, CHECKED, N_MODES, N_SAMPLES, NOISE, RIDGES, SOURCE, WIDTHS

DIGITS = 40


def solve(x: list, n: mpf, p: mpf, ridge: mpf) -> tuple[mpf, mpf]:
    """Return (nu1, nu2) with n - ridge/nu1 = df1(nu2) and p - p nu1/nu2 = df1(nu2), by bisection, then Newton."""

    def mismatch(u: mpf) -> mpf:
        nu = mp.exp(u)
        df1 = mp.fsum(v / (v + nu) for v in x)
        return mpf(-1) if df1 >= min(n, p) else n - ridge / (nu * (1 - df1 / p)) - df1

    low, high = mpf(-100), mpf(20)
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if mismatch(middle) < 0 else (low, middle)
    u = mp.findroot(mismatch, (low, high), solver="anderson", tol=mpf(10) ** (-2 * mp.dps + 30), maxsteps=100)
    nu = mp.exp(u)
    return nu * (1 - mp.fsum(v / (v + nu) for v in x) / p), nu


def risks(x: list, power: list, n: mpf, p: mpf, ridge: mpf) -> dict[str, mpf]:
    """Bias and variance in the form of arXiv:2405.15699."""
    nu1, nu = solve(x, n, p, ridge)
    s = [v / (v + nu) for v in x]
    df2 = mp.fsum(v * v for v in s)
    chi = mp.fsum(v / (v + nu) ** 2 for v in x) / (p - df2)
    upsilon = p / n * ((1 - nu1 / nu) ** 2 + (nu1 / nu) ** 2 * df2 / (p - df2))
    missed = mp.fsum(b * (1 - v) ** 2 for b, v in zip(power, s, strict=True))
    learned = mp.fsum(b * v / (w + nu) for b, v, w in zip(power, s, x, strict=True))
    return {"bias": (missed + nu * nu * chi * learned) / (1 - upsilon), "variance": NOISE * upsilon / (1 - upsilon)}


def main() -> None:
    """Compute every point with 60 and with 80 digits, check that they agree to 40, and write the file."""
    rows = []
    for width, ridge in CHECKED:
        passes = []
        for mp.dps in (60, 80):
            k = [mpf(i) for i in range(1, N_MODES + 1)]
            x = [i ** -mpf(CAPACITY) for i in k]
            power = [i ** -(1 + 2 * mpf(CAPACITY) * mpf(SOURCE)) for i in k]
            passes.append(risks(x, power, mpf(N_SAMPLES), mpf(float(WIDTHS[width])), mpf(float(RIDGES[ridge]))))
        for name, value in passes[0].items():
            assert abs(value - passes[1][name]) < mpf(10) ** -DIGITS * abs(value), name
        rows.append({"width": width, "ridge": ridge} | {name: mp.nstr(v, DIGITS) for name, v in passes[1].items()})
    Path(__file__).with_name("reference.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

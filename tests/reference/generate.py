"""Make the 50-digit reference values, independently of the library: `python tests/reference/generate.py`.

Everything is computed twice, the second time with 50 digits more, and must agree to 50. Infinite sums use
Euler-Maclaurin with a hypergeometric integral; the ridge equations are solved in their original two-equation form,
and risks use the published forms of arXiv:2405.15699 and arXiv:2502.01585 rather than those of the library.
"""

import json
from pathlib import Path

from mpmath import mp, mpf

HERE = Path(__file__).parent
CAPACITIES = (1.02, 1.05, 1.1, 1.5, 2.0, 4.0, 8.0)
DECADES = (0, 1, 4, 9, 15)  # nu = 10^(-decade capacity): the mode at the threshold is 10^decade
SOURCE = 0.4
START = 64  # Euler-Maclaurin from here
# name -> (uses target power, j, m): the summand is (nu k^a)^j / (1 + nu k^a)^m, times k^-(1 + 2 a r) or 1
SUMS = {
    "df1": (False, 0, 1),
    "df2": (False, 0, 2),
    "delta": (False, 1, 2),
    "missed": (True, 1, 1),
    "missed_squared": (True, 2, 2),
    "nu_learned": (True, 1, 2),
}
INFINITE = "infinite"
# (capacity, source, modes, noise_variance, n_samples, n_features or None for inf, ridge)
PROBLEMS = [
    (1.5, 0.4, INFINITE, 0.01, 100.0, 200.0, 0.01),
    (1.5, 0.4, INFINITE, 0.01, 1e4, 100.0, 0.0),
    (1.05, 0.25, INFINITE, 0.01, 100.0, 200.0, 0.01),
    (2.0, 1.2, INFINITE, 0.01, 1000.0, 1e5, 0.0),
    (1.2, 0.7, INFINITE, 0.25, 1e6, 1e6, 1.0),
    (1.5, 0.4, INFINITE, 0.01, 512.0, None, 1e-9),
    (4.0, 0.9, INFINITE, 1e-4, 37.5, 20.25, 1e-12),
    (1.5, 0.4, INFINITE, 0.01, 300.0, 300.0, 1e-12),
    (1.5, 0.4, INFINITE, 0.01, 1e9, 3e7, 1e3),
    (1.5, 0.4, 60, 0.01, 25.0, 40.0, 0.0),
    (1.5, 0.4, 60, 0.01, 25.0, 25.0, 1e-14),
    (1.5, 0.4, 60, 0.01, 59.0, None, 1e-6),
    (1.5, 0.4, 60, 0.01, 60.0, None, 1e-20),
    (1.5, 0.4, 60, 0.01, 60.0, 60.0, 1e-20),
    (1.5, 0.4, 60, 0.01, 61.0, 60.0, 1e-9),
    (1.5, 0.4, 60, 0.01, 500.0, 80.0, 1e-300),
    (1.5, 0.4, 60, 0.01, 20.0, 1e6, 1e8),
    (1.5, 0.4, 60, 0.01, 20.0, 15.0, 1e20),
    (0.0, 0.4, 50, 0.3, 20.0, None, 0.5),
    (8.0, 0.4, 60, 0.01, 12.0, 30.0, 1e-9),
]


def power_sum(name, a, r, nu, modes):
    """Sum of one of the SUMS over k = 1 ... modes."""
    powered, j, m = SUMS[name]
    q = 1 + 2 * a * r if powered else mpf(0)

    def term(x):
        y = nu * x**a
        return x**-q * y**j / (1 + y) ** m

    if modes != INFINITE:
        return mp.fsum(term(mpf(k)) for k in range(1, modes + 1))
    total = mp.fsum(term(mpf(k)) for k in range(1, START))
    return total + euler_maclaurin(term(mpf(START)), q, a, nu, j, m)


def product(one, other):
    """Coefficients of the product of two truncated power series."""
    return [mp.fdot(one[: i + 1], other[i::-1]) for i in range(len(one))]


def taylor_series(q, a, nu, j, m, length):
    """Taylor coefficients of the summand about START: those of x^-q times y^j (1 + y)^-m with y = nu x^a."""
    x = mpf(START)

    def power(exponent):
        return [x**exponent * mp.binomial(exponent, i) / x**i for i in range(length)]

    y = [nu * c for c in power(a)]
    denominator = [1 + y[0], *y[1:]]
    inverse = [1 / denominator[0]]
    for i in range(1, length):
        inverse.append(-mp.fdot(denominator[1 : i + 1], inverse[::-1]) / denominator[0])
    series = power(-q)
    for factor in [y] * j + [inverse] * m:
        series = product(series, factor)
    return series


def euler_maclaurin(first, q, a, nu, j, m):
    """Sum from START to infinity, whose first term is given."""
    x = mpf(START)
    shape = (q - 1) / a + m - j
    integral = x ** (1 - q) * (nu * x**a) ** (j - m) / (a * shape)
    integral *= mp.hyp2f1(m, shape, shape + 1, -1 / (nu * x**a))
    # |term^(i)/i!| falls like (0.38 x)^-i, the Bernoulli factor like (2 pi)^-i: 153^-i at x = 64
    orders = int(mp.dps / 4.2) + 4
    taylor = taylor_series(q, a, nu, j, m, 2 * orders)
    ends = (mp.bernoulli(2 * i) / (2 * i) * taylor[2 * i - 1] for i in range(1, orders + 1))
    return integral + first / 2 - mp.fsum(ends)


def solve_nu2(df1, n, p, ridge):
    """Root of n - ridge/nu1 = df1, p - p nu1/nu2 = df1, eliminating nu1; bisection in log nu2, then secant."""
    least = n if p is None else min(n, p)

    def balance(u):
        nu = mp.exp(u)
        d = df1(nu)
        if d >= least or ridge == 0:
            return least - d
        nu1 = nu if p is None else nu * (1 - d / p)
        return n - ridge / nu1 - d

    low, high = mpf(-800), mpf(100)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if balance(middle) < 0 else (low, middle)
    return mp.exp(mp.findroot(balance, (low, high), solver="secant", tol=mpf(10) ** (-2 * mp.dps + 20)))


def observables(case):
    """Published forms at the root."""
    a, r, modes, noise, n, p, ridge = (v if v is None or isinstance(v, (str, int)) else mpf(v) for v in case)

    def at(name, nu):
        return power_sum(name, a, r, nu, modes)

    nu2 = solve_nu2(lambda nu: at("df1", nu), n, p, ridge)
    df1, df2, delta = (at(name, nu2) for name in ("df1", "df2", "delta"))
    missed, missed2, learned = at("missed", nu2), at("missed_squared", nu2), at("nu_learned", nu2) / nu2
    narrow = p is not None and p < n
    share = mpf(1) if p is None else mpf(0) if ridge == 0 and narrow else 1 - df1 / p  # nu1/nu2
    kept = mpf(0) if ridge == 0 and not narrow else 1 - df1 / n  # ridge/(n nu1)
    per_feature = mpf(0) if p is None else 1 / (p - df2)
    upsilon = df2 / n if p is None else p / n * ((1 - share) ** 2 + share**2 * df2 / (p - df2))
    chi = delta / nu2 * per_feature
    p_chi = delta / nu2 if p is None else p * chi
    missed_model = missed2 + nu2**2 * chi * learned
    bias = missed_model / (1 - upsilon)
    variance = noise * upsilon / (1 - upsilon)
    test = bias + variance + noise
    values = {}
    if share != 0:  # the published norm is 0/0 where nu1 = 0
        norm = missed / nu2 / share - kept * missed_model / (nu2 * share * (1 - upsilon))
        values["squared_norm"] = norm + noise * p_chi / n / (1 - upsilon)
    return values | {
        "nu1": share * nu2,
        "nu2": nu2,
        "bias": bias,
        "variance": variance,
        "train_error": kept**2 * test,
        "degrees_of_freedom": df1,
    }


def confirmed(compute, digits):
    """Values at a working precision, checked against a higher one to 50 digits."""
    results = []
    for mp.dps in (digits, digits + 50):
        results.append(compute())
    for name, value in results[0].items():
        other = results[1][name]
        assert abs(value - other) <= mpf(10) ** -50 * abs(other), (name, value, other)
    return {name: mp.nstr(value, 50) for name, value in results[1].items()}


def spectral_sums(capacity, nu):
    """All SUMS of an infinite power law."""
    a, r, nu = mpf(capacity), mpf(SOURCE), mpf(nu)
    return {name: power_sum(name, a, r, nu, INFINITE) for name in SUMS}


def main():
    """Write the two files of values."""
    sums = []
    for capacity in CAPACITIES:
        for decade in DECADES:
            nu = (10.0**-decade) ** capacity
            values = confirmed(lambda capacity=capacity, nu=nu: spectral_sums(capacity, nu), 80)
            sums.append({"capacity": capacity, "source": SOURCE, "nu": nu, "values": values})
    (HERE / "spectral_sums.json").write_text(json.dumps(sums, indent=1) + "\n")
    names = ("capacity", "source", "n_modes", "noise_variance", "n_samples", "n_features", "ridge")
    rows = []
    for case in PROBLEMS:
        digits = 80 if case[2] == INFINITE else 460  # a ridge of 1e-300 costs 300 digits in the published forms
        values = confirmed(lambda case=case: observables(case), digits)
        rows.append(dict(zip(names, case, strict=True)) | {"values": values})
    (HERE / "random_features.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Make reference failure rates, independently of the library: `python tests/reference/latent_difficulty.py`.

Ball arithmetic of 40 digits (python-flint, for its fast erfc), success probabilities as differences of erfc at that
precision, and Gauss-Legendre rules of higher order on narrower panels than the library's, first in the precision and
then in the bias. Every fifth setting is computed again on still narrower panels; the digits that agree are stored too.
"""

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
from flint import arb, ctx
from mpmath import mp

ctx.prec = 140
mp.dps = 45
HERE = Path(__file__).parent
N_SETTINGS = 30
LEAST = -40 * math.log(10)  # log failure rate


def rule(order):
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    nodes = []
    for i in range(order):
        x = mp.mpf(math.cos(math.pi * (i + 0.75) / (order + 0.5)))
        for _ in range(60):
            p, q = mp.mpf(1), x
            for n in range(2, order + 1):
                p, q = q, ((2 * n - 1) * x * q - (n - 1) * p) / n
            slope = order * (x * q - p) / (x * x - 1)
            step = q / slope
            x -= step
            if abs(step) < mp.mpf(10) ** -43:
                break
        nodes.append((arb(mp.nstr(x, 44)), arb(mp.nstr(2 / ((1 - x * x) * slope * slope), 44))))
    return nodes


def on_panels(edges, nodes):
    """Nodes and weights between consecutive edges."""
    for low, high in pairwise(edges):
        middle, half = arb(low + high) / 2, arb(high - low) / 2
        for x, w in nodes:
            yield middle + half * x, half * w


def of_bias(b, t, k, precisions):
    """Average of (1 - p)^k over the precisions."""
    total = arb(0)
    root2 = arb(2).sqrt()
    for root, weight in precisions:
        x, h = b * root / root2, t * root / root2
        inner = h - x
        failing = (inner.erfc() + (h + x).erfc()) / 2
        total += weight * (k * failing.log()).exp()
    return total


def failure_rate(beta, t, v, k, refine=1):
    """Failure rate of one setting."""
    a, log_k = beta / 2, math.log(max(k, 2.0))
    first = -2 * math.log1p(k * t) - 2 - 80 / a
    spread = math.sqrt(v)
    last_b = t + (4 * v * log_k) ** (1 / 3) + (4 * v * log_k) ** 0.25 + 12 * spread
    turn = min(-2 * math.log(max(last_b, 1e-3)) - 3, math.log(100 + a))
    edges, width = [first], min(0.4, 5 / log_k)
    while edges[-1] < math.log(800 + a):
        edges.append(edges[-1] + (1.0 if edges[-1] < turn else width) / refine)
    nodes = rule(32)
    shape, scale = arb(a), arb(a).gamma()
    precisions = [((u / 2).exp(), w * (shape * u - u.exp()).exp() / scale) for u, w in on_panels(edges, nodes)]
    below = arb(first).exp().gamma_lower(shape, True)
    if v == 0:
        return below + of_bias(arb(0), arb(t), arb(k), precisions)
    b_edges = [0.0, 1e-2 * min(spread, t, 1.0)]
    while b_edges[-1] < last_b:
        b_edges.append(b_edges[-1] + min(0.5 * b_edges[-1], 1.2 * spread) / refine)
    b_edges = sorted({*b_edges, t})
    variance, total = arb(v), arb(0)
    for b, w in on_panels(b_edges, rule(24)):
        density = (2 / (arb.pi() * variance)).sqrt() * (-b * b / (2 * variance)).exp()
        total += w * density * of_bias(b, arb(t), arb(k), precisions)
    return below + total


def digits(value, again):
    """Number of digits to which two values agree."""
    gap = abs((value - again) / value)
    return 35 if gap == 0 else min(35, math.floor(-float(gap.mid().log()) / math.log(10)))


def main():
    """Draw settings, compute, and write."""
    chance, cases = np.random.default_rng(0), []
    while len(cases) < N_SETTINGS:
        number = len(cases)
        beta, t = (
            round(math.exp(chance.uniform(math.log(0.3), math.log(6))), 3),
            round(10 ** chance.uniform(-1.3, 0.3), 4),
        )
        v = 0.0 if number % 6 == 5 else round(10 ** chance.uniform(-3, 2), 5)
        k = float(round(10 ** chance.uniform(0, 12)))
        value = failure_rate(beta, t, v, k)
        if value.log() < LEAST:
            continue
        case = {"difficulty_exponent": beta, "tolerance_ratio": t, "bias_variance_ratio": v, "k": k}
        case["failure_rate"] = value.mid().str(30, radius=False)
        if number % 5 == 0:
            case["digits"] = digits(value, failure_rate(beta, t, v, k, refine=1.5))
        cases.append(case)
        print(len(cases), case, flush=True)
        (HERE / "failure_rates.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()

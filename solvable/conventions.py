"""The symbols of other papers: converters to and from the names used here.

The loss here is |y - Za|^2 + ridge |a|^2, with Z_ij = phi(x_i, w_j) / sqrt(p). Papers differ in names and in powers of
the number of samples, which is all that the tables below hold.
"""

from typing import Any, NamedTuple

import numpy as np

from solvable.errors import require


class Symbol(NamedTuple):
    """A paper's symbol: `ours` times n_samples^power."""

    ours: str
    power: int = 0


PAPERS: dict[str, dict[str, Symbol]] = {
    "2405.15699": {  # Defilippis, Loureiro, Misiakiewicz: lambda = n^(1 - ell), p = n^q
        "n": Symbol("n_samples"), "p": Symbol("n_features"), "lambda_": Symbol("ridge"),
        "sigma_squared": Symbol("noise_variance"), "alpha": Symbol("capacity"), "r": Symbol("source"),
        "nu_1": Symbol("nu1"), "nu_2": Symbol("nu2"), "ell": Symbol("ridge_exponent"), "q": Symbol("width_exponent"),
    },
    "2311.14646": {  # Simon, Karkada, Ghosh, Belkin
        "n": Symbol("n_samples"), "k": Symbol("n_features"), "delta": Symbol("ridge"),
        "kappa": Symbol("nu1"), "gamma": Symbol("nu2"),
    },
    "2405.00592": {  # Atanasov, Zavatone-Veth, Pehlevan: the loss is divided by n
        "lambda_": Symbol("ridge", -1), "kappa_1": Symbol("nu1"), "kappa_2": Symbol("nu2"),
    },
    "2002.02561": {  # Bordelon, Canatar, Pehlevan: kernel limit, p is the number of samples
        "p": Symbol("n_samples"), "lambda_": Symbol("ridge"), "kappa": Symbol("nu2", 1),
    },
    "loss divided by n": {"ridge_per_sample": Symbol("ridge", -1)},
}  # fmt: skip
"""ArXiv id -> symbol of that paper -> what it is here; names that Python reserves end in an underscore."""


def to_paper(paper: str, **ours: Any) -> dict[str, Any]:
    """Translate values from the names used here into a paper's symbols.

    Args:
        paper: a key of `PAPERS`, e.g. the arXiv id "2311.14646".
        **ours: values by name, e.g. n_samples, ridge, nu2; `n_samples` has to be there where the paper divides by it.

    Returns:
        Symbol -> value, of those given that the paper has.

    Raises:
        ArgumentError: for an unknown paper, a name the paper has no symbol for, or missing `n_samples`.

    Example:
        >>> from solvable import conventions
        >>> conventions.to_paper("2405.00592", n_samples=100, ridge=2.0, nu2=0.3)
        {'lambda_': 0.02, 'kappa_2': 0.3}
    """
    symbols = {entry.ours: (symbol, entry.power) for symbol, entry in _table(paper).items()}
    unknown = [name for name in ours if name not in symbols and name != "n_samples"]
    require(not unknown, "names", f"among {sorted({*symbols, 'n_samples'})} for {paper}", unknown)
    known = {name: value for name, value in ours.items() if name in symbols}
    return {
        symbols[name][0]: _scaled(value, symbols[name][1], ours.get("n_samples"), paper)
        for name, value in known.items()
    }


def from_paper(paper: str, *, n_samples: Any = None, **symbols: Any) -> dict[str, Any]:
    """Translate values from a paper's symbols into the names used here.

    Args:
        paper: a key of `PAPERS`.
        n_samples: number of samples, needed where the paper divides by it but has no symbol for it here.
        **symbols: values by the paper's symbols.

    Returns:
        Name -> value.

    Raises:
        ArgumentError: for an unknown paper or symbol, or a missing number of samples.

    Example:
        >>> from solvable import conventions
        >>> conventions.from_paper("2311.14646", n=100, k=200, delta=0.01)
        {'n_samples': 100, 'n_features': 200, 'ridge': 0.01}
    """
    table = _table(paper)
    unknown = [symbol for symbol in symbols if symbol not in table]
    require(not unknown, "symbols", f"among {sorted(table)} for {paper}", unknown)
    given = {table[symbol].ours: value for symbol, value in symbols.items()}
    n = given.get("n_samples", n_samples)
    return {table[symbol].ours: _scaled(value, -table[symbol].power, n, paper) for symbol, value in symbols.items()}


def _table(paper: str) -> dict[str, Symbol]:
    require(paper in PAPERS, "paper", f"one of {sorted(PAPERS)}", paper)
    return PAPERS[paper]


def _scaled(value: Any, power: int, n_samples: Any, paper: str) -> Any:
    if power == 0:
        return value
    require(n_samples is not None, "n_samples", f"given, because {paper} scales with it", n_samples)
    n = n_samples if np.ndim(n_samples) == 0 else np.asarray(n_samples)
    factor = value if np.ndim(value) == 0 else np.asarray(value)
    return factor * n if power > 0 else factor / n

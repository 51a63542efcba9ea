"""Where the results come from: citations for each model."""

from typing import NamedTuple

from solvable.errors import require


class Reference(NamedTuple):
    """A paper, and what of it the library uses."""

    authors: str
    title: str
    arxiv: str
    used_for: str

    def __str__(self) -> str:
        return f"{self.authors}, {self.title}, arXiv:{self.arxiv} ({self.used_for})"


REFERENCES: dict[str, tuple[Reference, ...]] = {
    "random_features": (
        Reference(
            "L. Defilippis, B. Loureiro, T. Misiakiewicz",
            "Dimension-free deterministic equivalents and scaling laws for random feature regression",
            "2405.15699",
            "model, fixed point, bias and variance",
        ),
        Reference(
            "J. B. Simon, D. Karkada, N. Ghosh, M. Belkin",
            "More is better in modern machine learning: when infinite overparameterization is optimal and overfitting "
            "is obligatory",
            "2311.14646",
            "the same fixed point from the eigenframework",
        ),
        Reference(
            "A. Atanasov, J. A. Zavatone-Veth, C. Pehlevan",
            "Scaling and renormalization in high-dimensional regression",
            "2405.00592",
            "S-transform form of the effective ridges",
        ),
        Reference(
            "Y. Wang, Y. Chen, L. Rosasco, F. Liu",
            "Re-examining double descent and scaling laws under norm-based capacity via deterministic equivalence",
            "2502.01585",
            "norm of the estimator",
        ),
    ),
    "weak_to_strong": (
        Reference(
            "D. Wu, L. Chen, T. Misiakiewicz, M. Mondelli",
            "Improved scaling laws via weak-to-strong generalization in random feature ridge regression",
            "2603.05691",
            "the setting of a teacher and a student",
        ),
        Reference(
            "L. Defilippis, B. Loureiro, T. Misiakiewicz",
            "Dimension-free deterministic equivalents and scaling laws for random feature regression",
            "2405.15699",
            "risk and rates of one model",
        ),
        Reference(
            "A. Atanasov, J. A. Zavatone-Veth, C. Pehlevan",
            "Scaling and renormalization in high-dimensional regression",
            "2405.00592",
            "products of two resolvents",
        ),
        Reference(
            "B. Moniri, H. Hassani",
            "On the mechanisms of weak-to-strong generalization: a theoretical perspective",
            "2505.18346",
            "students that make up for a teacher's regularisation",
        ),
    ),
    "associative_memory": (
        Reference(
            "B. Li, K. Wang, H. Zhong, P. Lu, L. Wang",
            "Muon in associative memory learning: training dynamics and scaling laws",
            "2602.05725",
            "model, exponents, symmetry of the groups",
        ),
        Reference(
            "J. Kim, E. Nichani, D. Wu, A. Bietti, J. D. Lee",
            "Sharp capacity scaling of spectral optimizers in learning associative memory",
            "2603.26554",
            "regularised matrix sign",
        ),
    ),
    "latent_difficulty": (
        Reference(
            "N. Levi",
            "Learning shrinks the hard tail",
            "2601.03764",
            "model, exponents of the two tails",
        ),
        Reference(
            "M. Chen et al.",
            "Evaluating large language models trained on code",
            "2107.03374",
            "unbiased pass@k",
        ),
        Reference(
            "R. Schaeffer et al.",
            "How do large language monkeys get their power (laws)?",
            "2502.17578",
            "Beta and Kumaraswamy fits, tail theorem",
        ),
        Reference(
            "B. Brown et al.",
            "Large language monkeys: scaling inference compute with repeated sampling",
            "2407.21787",
            "counts of seven Pythia models",
        ),
    ),
}


def cite(model: str) -> tuple[Reference, ...]:
    """Return the papers to cite when using a model.

    Args:
        model: the model's sub-package name, e.g. "random_features".

    Raises:
        ArgumentError: for an unknown model.

    Example:
        >>> from solvable import cite
        >>> cite("random_features")[0].arxiv
        '2405.15699'
    """
    require(model in REFERENCES, "model", f"one of {sorted(REFERENCES)}", model)
    return REFERENCES[model]

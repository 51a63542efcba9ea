"""One step of every optimiser, on whatever arrays stand for the gradient: a full matrix, or a reduction of it.

A gradient is a tuple of arrays; a `Geometry` says what a norm, a sign and a matrix sign of it are. The same few lines
thus run the theory, in NumPy or under a trace, and the simulation of the full matrix.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from solvable.associative_memory.polar import matrix_sign, newton_schulz
from solvable.precision import Array, namespace, trailing
from solvable.training import Adam, GradientDescent, Muon, NormalizedGradientDescent, SignDescent

Gradient: TypeAlias = tuple[Array, ...]
Memory: TypeAlias = tuple[Gradient, ...]
Algorithm: TypeAlias = GradientDescent | NormalizedGradientDescent | SignDescent | Adam | Muon


class Geometry(NamedTuple):
    """What a tuple of arrays stands for.

    Attributes:
        norm: gradient -> its Frobenius norm, without axes of the arrays' own.
        sign: gradient -> the sign of the entries, in the basis in which the optimiser acts.
        polar: (gradient, regularization) -> the matrix sign.
        quintic: (gradient, coefficients, iterations) -> the Newton-Schulz iteration.
    """

    norm: Callable[[Gradient], Array]
    sign: Callable[[Gradient], Gradient]
    polar: Callable[[Gradient, Array], Gradient]
    quintic: Callable[[Gradient, tuple[float, float, float], int], Gradient]


def full_geometry(polar: Callable[[Array, Array], Array] = matrix_sign) -> Geometry:
    """Return the geometry of a matrix itself."""
    return Geometry(
        norm=lambda g: namespace(g).sqrt(namespace(g).sum(g[0] * g[0], axis=(-2, -1))),
        sign=lambda g: (namespace(g).sign(g[0]),),
        polar=lambda g, regularization: (polar(g[0], regularization),),
        quintic=lambda g, coefficients, iterations: (newton_schulz(g[0], coefficients, iterations),),
    )


def memory_of(algorithm: Algorithm, zeros: Gradient) -> Memory:
    """Return what an optimiser remembers before its first step."""
    return (zeros,) * {Adam: 2, Muon: 1}.get(type(algorithm), 0)


def direction(
    algorithm: Algorithm, geometry: Geometry, memory: Memory, gradient: Gradient, number: Any
) -> tuple[Memory, Gradient]:
    """Return the new memory and the direction of one step.

    Args:
        algorithm: what trains.
        geometry: of the gradient.
        memory: from the step before.
        gradient: minus the gradient of the loss.
        number: of the step, from 1.
    """
    if isinstance(algorithm, GradientDescent):
        return (), gradient
    if isinstance(algorithm, NormalizedGradientDescent):
        return (), _divided(gradient, geometry.norm(gradient))
    if isinstance(algorithm, SignDescent):
        return (), geometry.sign(gradient)
    if isinstance(algorithm, Adam):
        return _adam(algorithm, memory, gradient, number)
    buffer, ahead = _averaged(algorithm, memory[0], gradient, number)
    return (buffer,), _orthogonalised(algorithm, geometry, ahead)


def kept_share(algorithm: Algorithm, rate: Any) -> Any:
    """Return what is left of the weights after the decay of one step."""
    return 1 - rate * algorithm.weight_decay if isinstance(algorithm, Muon) else 1.0


def _adam(algorithm: Adam, memory: Memory, gradient: Gradient, number: Any) -> tuple[Memory, Gradient]:
    mean = _blend(algorithm.b1, memory[0], gradient)
    square = _blend(algorithm.b2, memory[1], tuple(g * g for g in gradient))
    corrected = _times(1 / (1 - algorithm.b1**number), mean), _times(1 / (1 - algorithm.b2**number), square)
    xp = namespace(gradient, algorithm)
    # The root of 0 has no derivative; where nothing has ever moved, nothing moves.
    still = tuple(s == 0 for s in corrected[1])
    sizes = tuple(
        xp.where(none, 0.0, xp.sqrt(xp.where(none, 1.0, s))) for none, s in zip(still, corrected[1], strict=True)
    )
    sizes = tuple(size + trailing(xp.asarray(algorithm.eps), size.ndim) for size in sizes)
    return (mean, square), tuple(
        m / xp.where(size == 0, 1.0, size) for m, size in zip(corrected[0], sizes, strict=True)
    )


def _averaged(algorithm: Muon, buffer: Gradient, gradient: Gradient, number: Any) -> tuple[Gradient, Gradient]:
    """Return the new buffer and the direction whose sign is taken."""
    mu = algorithm.momentum
    if algorithm.convention == "heavy_ball":
        new = _plus(_times(mu, buffer), gradient)
        return new, _plus(gradient, _times(mu, new)) if algorithm.nesterov else new
    new = _blend(mu, buffer, gradient)
    if not algorithm.nesterov:
        return new, _times(1 / (1 - mu**number), new)
    return new, _plus(_times(mu / (1 - mu ** (number + 1)), new), _times((1 - mu) / (1 - mu**number), gradient))


def _orthogonalised(algorithm: Muon, geometry: Geometry, ahead: Gradient) -> Gradient:
    if algorithm.polar == "exact":
        return geometry.polar(ahead, algorithm.regularization)
    norm = geometry.norm(ahead) + algorithm.eps
    return geometry.quintic(_divided(ahead, norm), algorithm.coefficients, algorithm.iterations)


def _plus(left: Gradient, right: Gradient) -> Gradient:
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _times(factor: Any, gradient: Gradient) -> Gradient:
    """Multiply by a number per run; gradients have axes of their own after those of the runs."""
    xp = namespace(factor, gradient)
    return tuple(trailing(xp.asarray(factor), g.ndim) * g for g in gradient)


def _blend(decay: Any, old: Gradient, new: Gradient) -> Gradient:
    return _plus(_times(decay, old), _times(1 - decay, new))


def _divided(gradient: Gradient, norm: Array) -> Gradient:
    xp = namespace(gradient, norm)
    return _times(1 / xp.where(norm == 0, 1.0, norm), gradient)


def elementwise_quintic(x: Array, coefficients: tuple[float, float, float], iterations: int) -> Array:
    """Apply the Newton-Schulz polynomial to numbers."""
    a, b, c = coefficients
    for _ in range(iterations):
        x = a * x + b * x**3 + c * x**5
    return x


def soft_sign(x: Array, regularization: Any) -> Array:
    """Return x/sqrt(x^2 + lambda^2), 0 at 0."""
    xp = namespace(x, regularization)
    softness = trailing(xp.asarray(regularization), x.ndim)
    size = xp.hypot(xp.where(x == 0, 1.0, x), softness)
    return x / size

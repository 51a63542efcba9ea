"""Levels that several kernels share: every stage has its own eigenvalues on the same eigenfunctions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from solvable.errors import ArgumentError, require
from solvable.modes import Modes, PowerLawModes
from solvable.precision import Array, as_leaf, is_traced
from solvable.quadrature import Nodes
from solvable.random_features.problem import Problem
from solvable.training import Stage


class World(NamedTuple):
    """What all stages share.

    Attributes:
        multiplicities: modes per level, shape (levels,).
        target_power: of each level.
        null_power: power that no kernel learns, which acts as noise where labels are true.
    """

    multiplicities: Array
    target_power: Array
    null_power: Array


class Kernel(NamedTuple):
    """One stage's kernel.

    Attributes:
        nodes: its spectrum in decreasing order, for the fixed point.
        eigenvalues: on the world's levels, shape (levels,); possibly 0.
    """

    nodes: Nodes
    eigenvalues: Array


def lay_out(problem: Problem, stages: Sequence[Stage], *, by_mode: bool, xp: Any) -> tuple[World, tuple[Kernel, ...]]:
    """Return the world and one kernel per stage, on nodes where they will do and else on the levels of the problem.

    Args:
        problem: the world.
        stages: they may bring kernels of their own.
        by_mode: write out the modes of a finite world.
        xp: `numpy` or `jax.numpy`.
    """
    modes = problem.modes
    plain = all(stage.capacity is None and stage.eigenvalues is None for stage in stages)
    finite = modes.n_modes != np.inf if isinstance(modes, PowerLawModes) else True
    if any(stage.eigenvalues is not None for stage in stages) or (by_mode and finite):
        return _on_levels(modes, stages, xp)
    if plain:
        nodes = modes.nodes(xp)
        world = World(nodes.multiplicities, nodes.target_power, nodes.null_power)
        return world, (Kernel(nodes, nodes.eigenvalues),) * len(stages)
    return _on_positions(_power_law(modes), stages, xp)


def kernels_of(stages: Iterable[Stage]) -> list[Stage]:
    """Return the stages with nothing but their kernels, which all lanes share and which may be traced."""
    return [Stage(0.0, capacity=_leaf(stage.capacity), eigenvalues=_leaf(stage.eigenvalues)) for stage in stages]


def unresolved(kernel: Kernel, nu2: Array) -> Array:
    """Tell where an effective ridge is below what the nodes resolve; at exactly 0 all is learned, and nothing open."""
    return (nu2 < kernel.nodes.resolution) & (nu2 > 0)


def _leaf(values: Any) -> Array | None:
    return None if values is None else as_leaf(values)


def own_eigenvalues(problem: Problem, stage: Stage) -> Array:
    """Return the stage's eigenvalues on the explicit modes of a finite world, as simulators need them."""
    _, kernels = _on_levels(problem.modes, [stage], np)
    levels = problem.modes if isinstance(problem.modes, Modes) else problem.modes.explicit()
    return np.repeat(kernels[0].eigenvalues, np.asarray(levels.multiplicities, dtype=np.int64))


def _on_levels(modes: Modes | PowerLawModes, stages: Sequence[Stage], xp: Any) -> tuple[World, tuple[Kernel, ...]]:
    levels = modes if isinstance(modes, Modes) else modes.explicit()
    kernels = []
    for stage in stages:
        x = _eigenvalues(modes, levels, stage)
        own = Modes(x, levels.multiplicities, levels.target_power)
        kernels.append(Kernel(own.nodes(xp), xp.asarray(x)))
    zero = xp.asarray(0.0)  # levels of eigenvalue 0 are among the others here
    return World(xp.asarray(levels.multiplicities), xp.asarray(levels.target_power), zero), tuple(kernels)


def _eigenvalues(modes: Modes | PowerLawModes, levels: Modes, stage: Stage) -> Array:
    if stage.eigenvalues is None:
        if stage.capacity is None:
            return levels.eigenvalues
        return np.arange(1.0, _power_law(modes).n_modes + 1) ** -as_leaf(stage.capacity)
    own = as_leaf(stage.eigenvalues)
    shape = np.shape(levels.eigenvalues)
    require(np.shape(own) == shape, "eigenvalues", f"one for each of the {shape[0]} levels", np.shape(own))
    if not is_traced(own):
        good = np.isfinite(own) & (own >= 0)
        require(bool(good.all() and own.any()), "eigenvalues", "finite, >= 0 and not all 0", own[~good][:3].tolist())
    return own


def _power_law(modes: Modes | PowerLawModes) -> PowerLawModes:
    if not isinstance(modes, PowerLawModes):
        raise ArgumentError("capacity of a stage needs the modes of a power law; give its eigenvalues instead")
    return modes


def _on_positions(modes: PowerLawModes, stages: Sequence[Stage], xp: Any) -> tuple[World, tuple[Kernel, ...]]:
    """Kernels of several capacities on one grid; each has a tail node of its own, which the others do not see."""
    capacities = [modes.capacity, *(stage.capacity for stage in stages if stage.capacity is not None)]
    built = [PowerLawModes.build(capacity, modes.source, modes.n_modes) for capacity in capacities]
    order, last = max(own.order for own in built), max(own.last for own in built)
    spectra = [replace(own, order=order, last=last).nodes(xp) for own in built]
    tails = len(built) if modes.n_modes == np.inf else 0
    inner = len(spectra[0].eigenvalues) - min(tails, 1)

    def extended(values: Array, tail: Sequence[Any]) -> Array:
        return xp.concatenate([values[:inner], *(xp.reshape(xp.asarray(v), (1,)) for v in tail[:tails])])

    counts = extended(spectra[0].multiplicities, [own.multiplicities[-1] for own in spectra])
    beyond = [spectra[0].target_power[-1], *[0.0] * (len(spectra) - 1)]
    world = World(counts, extended(spectra[0].target_power, beyond), spectra[0].null_power)
    kernels = [
        Kernel(own, extended(own.eigenvalues, [own.eigenvalues[-1] if i == j else 0.0 for i in range(len(spectra))]))
        for j, own in enumerate(spectra)
    ]
    others = iter(kernels[1:])
    return world, tuple(kernels[0] if stage.capacity is None else next(others) for stage in stages)

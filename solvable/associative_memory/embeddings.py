"""Embeddings of questions and answers in the simulator."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from solvable.precision import Array

EMBEDDINGS = ("orthonormal", "gaussian")


def embedded(key: Array, kind: str, dimension: int, kept: int, items: int, dtype: Any) -> Array:
    """Draw one embedding per column.

    Args:
        key: JAX random key.
        kind: "orthonormal", a uniformly random frame, or "gaussian", independent entries of variance 1/dimension.
        dimension: d, of the space they are drawn in.
        kept: d, or the number of items: then in the coordinates of an orthonormal basis of their span.
        items: K.
        dtype: of the entries.

    Returns:
        Shape (kept, K).
    """
    entries = jax.random.normal(key, (dimension, items), dtype)
    if kind == "gaussian":
        scaled = entries / np.sqrt(dimension).astype(dtype)
        return scaled if kept == dimension else jnp.linalg.qr(scaled, mode="r")
    frame, triangle = jnp.linalg.qr(entries)
    return frame * jnp.sign(jnp.diagonal(triangle))[None, :]

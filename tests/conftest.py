"""Settings for all tests: strict JAX promotion, and no test may leave a global default changed."""

import os

# Compilation is most of the suite's time, and less optimised code does the same arithmetic.
os.environ.setdefault("XLA_FLAGS", "--xla_llvm_disable_expensive_passes=true")

import jax
import numpy as np
import pytest

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

collect_ignore = ["reference"]  # scripts that make references: minutes, and run by hand

try:
    from hypothesis import settings
except ModuleNotFoundError:  # the wheel's smoke test runs without it
    pass
else:
    settings.register_profile("suite", deadline=None, derandomize=True, max_examples=30)
    settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _global_state_is_untouched():
    """Fail a test that changes JAX's precision or NumPy's error handling behind the caller's back."""
    before = _global_state()
    yield
    assert _global_state() == before


def _global_state():
    config = jax.config
    return (
        config.jax_enable_x64,
        config.jax_default_matmul_precision,
        config.jax_default_device,
        tuple(np.geterr().items()),
    )


@pytest.fixture
def test_seed():
    """Seed of statistical tests: fixed, unless the slow session asks for a fresh one."""
    return int(os.environ.get("SOLVABLE_TEST_SEED", "20240601"))

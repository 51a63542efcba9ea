"""Reproducibility and honesty of sampling: prefix, chunks, devices, stopping rule, failures, memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from solvable.errors import ArgumentError, MemoryLimitError, ReplicateWarning
from solvable.observables import Observables
from solvable.replicates import Sampling, run

TOY = Observables(("value",))
WATCHED = Observables(("value",), {"excess_risk": lambda base, constants: base["value"]})


def draw_toy(key, *, offset):
    return {"value": offset + jax.random.normal(key, (), offset.dtype)}


def draw_fragile(key, *, offset):
    value = jax.random.normal(key, (), offset.dtype)
    return {"value": jnp.where(value > 1, jnp.full_like(offset, jnp.nan), value)}


def sample(draw=draw_toy, declared=TOY, **keywords):
    plan = Sampling(**{"seed": 5, **keywords})
    return run(draw, {"offset": np.asarray(1.0)}, {}, plan, declared=declared, constants={}, bytes_per_replicate=100.0)


def test_more_replicates_continue_the_same_sequence():
    few, many = sample(replicates=7), sample(replicates=100)
    rest = 100 * float(many.mean.value) - 7 * float(few.mean.value)
    fresh = sample(replicates=100, seed=6)
    assert float(fresh.mean.value) != float(many.mean.value)
    with jax.enable_x64(True):
        keys = [jax.random.fold_in(jax.random.key(5), i) for i in range(7, 100)]
        expected = sum(float(draw_toy(key, offset=jnp.asarray(1.0, jnp.float64))["value"]) for key in keys)
    assert rest == pytest.approx(expected, rel=1e-12)


def test_results_do_not_depend_on_memory():
    assert float(sample(replicates=100, max_bytes=101).mean.value) == float(sample(replicates=100).mean.value)


def test_stops_at_the_target_error():
    estimate = sample(declared=WATCHED, relative_error=0.05)
    assert estimate.sem.excess_risk <= 0.05 * estimate.mean.excess_risk
    assert 300 < estimate.count < 600  # (1/0.05)^2 = 400
    assert estimate.count % 32 == 0
    limited = sample(declared=WATCHED, relative_error=1e-9, max_replicates=50)
    assert limited.count == 50


def test_non_finite_replicates_are_counted_and_reported():
    with pytest.warns(ReplicateWarning, match="not finite"):
        estimate = sample(draw=draw_fragile, replicates=200)
    assert estimate.failed + estimate.count == 200
    assert 15 < estimate.failed < 50  # 16% expected
    assert np.isfinite(estimate.mean.value)


def test_precision_is_honoured_and_restored():
    before = jax.config.jax_enable_x64
    single, double = sample(replicates=3, dtype="float32"), sample(replicates=3)
    assert jax.config.jax_enable_x64 == before
    assert float(np.float32(single.mean.value)) != float(double.mean.value)


def test_device_by_name():
    assert float(sample(replicates=3, device="cpu").mean.value) == float(sample(replicates=3).mean.value)


def test_too_little_memory_states_the_bytes():
    with pytest.raises(MemoryLimitError, match="needs about 100 bytes, max_bytes is 99"):
        sample(replicates=3, max_bytes=99)


@pytest.mark.parametrize(
    ("keywords", "named"),
    [
        ({"replicates": 0}, "replicates"),
        ({"replicates": 2.5}, "replicates"),
        ({"replicates": 3, "seed": -1}, "seed"),
        ({"relative_error": 0.0}, "relative_error"),
        ({"replicates": 3, "dtype": "float16"}, "dtype"),
        ({}, "give exactly one"),
        ({"replicates": 3, "relative_error": 0.1}, "give exactly one"),
    ],
)
def test_bad_sampling_is_named(keywords, named):
    with pytest.raises(ArgumentError, match=f"^{named}"):
        sample(**keywords)


DEVICE_SCRIPT = """
import json, jax
from solvable import random_features as rf
problem = rf.Problem.power_law(1.5, 0.4, 0.01, n_modes=60)
controls = dict(n_samples=12, n_features=9, ridge=1e-3, seed=3, replicates=22)
runs = [rf.simulate(problem, **controls, device=jax.devices()[:count]) for count in (1, 2, 4)]
print(json.dumps([[run.mean.bias.tolist(), run.sem.excess_risk.tolist()] for run in runs]))
"""


def test_device_count_changes_nothing():
    flags = "--xla_force_host_platform_device_count=4 --xla_llvm_disable_expensive_passes=true"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", DEVICE_SCRIPT], env=environment, cwd=root, capture_output=True, text=True, check=True
    )
    one, two, four = json.loads(done.stdout)
    assert np.asarray(two) == pytest.approx(np.asarray(one), rel=1e-12)
    assert np.asarray(four) == pytest.approx(np.asarray(one), rel=1e-12)

"""Importing is light and changes nothing; the public face is complete."""

import json
import subprocess
import sys

import pytest

import solvable

pytestmark = pytest.mark.x64_independent

PROBE = """
import sys, json
import solvable
light = [name for name in ("jax", "scipy", "matplotlib", "sympy", "diffrax", "pandas") if name in sys.modules]
from solvable import random_features as rf
problem = rf.Problem.power_law(1.5, 0.4, 0.01)
import jax
compilations = []
jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compilations.append(event))
rf.predict(problem, n_samples=[100, 1e5], n_features=200, ridge=1e-2)
heavy = [name for name in ("matplotlib", "sympy", "diffrax", "pandas") if name in sys.modules]
print(json.dumps([light, heavy, compilations, bool(jax.config.jax_enable_x64)]))
"""


def test_import_is_light_and_concrete_predictions_compile_nothing():
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    light, heavy, compilations, x64 = json.loads(done.stdout)
    assert light == []
    assert heavy == []
    assert compilations == []
    assert x64 is bool(int(__import__("os").environ.get("JAX_ENABLE_X64", "0")))


def test_every_public_name_resolves():
    for name in solvable.__all__:
        assert getattr(solvable, name) is not None
        assert name in dir(solvable)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = solvable.nonsense


@pytest.mark.parametrize("model", solvable.MODELS)
def test_every_model_has_references(model):
    references = solvable.cite(model)
    assert all(len(reference.arxiv.split(".")[1]) == 5 for reference in references)
    assert references[0].arxiv in str(references[0])


def test_citing_an_unknown_model_names_the_known_ones():
    with pytest.raises(solvable.SolvableError, match="random_features"):
        solvable.cite("astrology")

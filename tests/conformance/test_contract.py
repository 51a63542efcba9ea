"""The contract every model keeps, run over all of `solvable.MODELS`."""

import inspect
import re

import jax
import numpy as np
import pytest
from conformance.cases import CASES

import solvable

MODELS = pytest.mark.parametrize("name", solvable.MODELS)
SAMPLING = ("seed", "replicates")


def simulate(case, controls, **sampling):
    return case.module.simulate(case.problem, **case.keywords(controls), **{"seed": 1, "replicates": 3, **sampling})


def predict(case, controls):
    return case.module.predict(case.problem, **case.keywords(controls))


def test_every_model_has_a_case():
    assert set(CASES) == set(solvable.MODELS)


@MODELS
def test_predict_and_draw_have_the_same_base_observables(name):
    case = CASES[name]
    base = set(case.module.OBSERVABLES.base)
    drawn = case.module.draw(jax.random.key(0), case.problem, **case.keywords(case.controls))
    assert set(drawn) == base
    assert base <= set(predict(case, case.controls).observables)


@MODELS
def test_prediction_and_measurement_share_names_and_shape(name):
    case = CASES[name]
    theory, measured = predict(case, case.arrays), simulate(case, case.arrays)
    assert list(theory.observables) == list(measured.mean) == list(measured.sem)
    axes = len(case.shape)
    for record in (theory.observables, theory.diagnostics, measured.mean, measured.sem):
        assert {np.shape(value)[:axes] for value in record.values()} == {case.shape}
    for observable, value in theory.observables.items():
        assert np.shape(value) == np.shape(measured.mean[observable]) == np.shape(measured.sem[observable])
    assert {np.asarray(value).dtype for value in theory.observables.values()} == {np.dtype("float64")}


@MODELS
def test_cells_equal_scalar_calls(name):
    case = CASES[name]
    theory = predict(case, case.arrays)
    shaped = np.broadcast_arrays(*case.arrays.values())
    for index in np.ndindex(*case.shape):
        cell = {key: value[index] for key, value in zip(case.arrays, shaped, strict=True)}
        alone = predict(case, cell)
        for observable, value in alone.observables.items():
            np.testing.assert_allclose(value, theory.observables[observable][index], rtol=1e-13)


@MODELS
def test_declarations_are_complete(name):
    declared = CASES[name].module.OBSERVABLES
    assert declared.validity in ("exact", "equivalent", "approximation")
    assert declared.validity == "exact" or set(declared.finite_size) == set(declared.names)


@MODELS
def test_gradients_are_finite_in_the_declared_mode(name):
    case = CASES[name]
    first = next(iter(case.controls))
    rest = {key: float(value) for key, value in case.controls.items() if key != first}

    def risk(numbers, control):
        problem = case.problem_from(*numbers)
        return getattr(case.module.predict(problem, **case.keywords({first: control, **rest})), case.risk).sum()

    differentiate = {"reverse": jax.grad, "forward": jax.jacfwd}.get(case.gradient)
    if differentiate is None:
        pytest.skip("declared not differentiable")
    slopes = differentiate(risk, argnums=(0, 1))(case.numbers, float(case.controls[first]))
    assert all(np.isfinite(float(slope)) and float(slope) != 0 for slope in jax.tree.leaves(slopes))


@MODELS
def test_traced_calls_leave_the_callers_arrays_alone(name):
    """A float64 operand that reaches an inner compilation unconverted would break later float32 use of the array."""
    case = CASES[name]
    leaf = np.asarray(0.25)
    wide = {key: np.asarray(float(value)) for key, value in case.controls.items()}
    last = list(wide)[-1]
    jax.jit(lambda value: getattr(predict(case, {**wide, last: value}), case.risk))(leaf)
    for array in (leaf, *wide.values(), *jax.tree.leaves(case.problem)):
        assert jax.numpy.asarray(array).dtype == jax.dtypes.canonicalize_dtype(array.dtype)
        assert jax.jit(lambda x: x + 1)(array).dtype == jax.dtypes.canonicalize_dtype(array.dtype)


@MODELS
def test_traced_results_have_the_callers_precision(name):
    case = CASES[name]
    last, value = list(case.controls.items())[-1]
    rest = {key: v for key, v in case.controls.items() if key != last}
    result = jax.jit(lambda v: predict(case, {**rest, last: v}))(float(value))
    assert {v.dtype for v in result.observables.values()} == {jax.dtypes.canonicalize_dtype(np.float64)}
    concrete = predict(case, case.controls)
    for observable, v in concrete.observables.items():
        np.testing.assert_allclose(result.observables[observable], v, rtol=1e-6)


@MODELS
def test_precision_and_device_switches_are_honoured(name):
    case = CASES[name]
    double, single = simulate(case, case.controls), simulate(case, case.controls, dtype="float32", device="cpu")
    assert all(np.isfinite(value).all() for value in (*double.mean.values(), *single.mean.values()))
    assert not np.array_equal(double.mean[case.risk], single.mean[case.risk])


@MODELS
def test_seeds_reproduce(name):
    case = CASES[name]
    runs = (simulate(case, case.controls, seed=seed, **case.random) for seed in (1, 1, 2))
    one, again, other = (run.mean[case.risk] for run in runs)
    np.testing.assert_array_equal(one, again)
    np.testing.assert_array_less(1e-6, np.abs(other / one - 1))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.infinite is not None])
def test_infinite_worlds_name_the_way_out(name):
    case = CASES[name]
    with pytest.raises(solvable.SolvableError, match="truncate"):
        case.module.simulate(case.infinite, **case.keywords(case.controls), seed=0, replicates=2)


@MODELS
def test_errors_name_argument_and_value(name):
    case = CASES[name]
    for argument, value in case.bad.items():
        for call in (case.module.predict, simulate_with(case)):
            with pytest.raises(ValueError, match=rf"^{re.escape(argument)} must be .*got \[{float(value)}\]"):
                call(case.problem, **case.keywords({**case.controls, argument: value}))


def simulate_with(case):
    return lambda problem, **controls: case.module.simulate(problem, **controls, seed=0, replicates=2)


@MODELS
def test_docstrings_are_complete(name):
    module = CASES[name].module
    for public in module.__all__:
        item = getattr(module, public)
        if callable(item):
            assert len(inspect.getdoc(item) or "") > 40, public
    for function in (module.predict, module.draw, module.simulate):
        text = inspect.getdoc(function)
        for argument in inspect.signature(function).parameters:
            assert argument in text, (function.__name__, argument)
        assert all(section in text for section in ("Args:", "Returns:", "Example:")), function.__name__

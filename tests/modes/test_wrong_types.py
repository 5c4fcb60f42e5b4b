"""Every public function names itself and the expected type if an argument has a wrong type."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from public_calls import INTEGERS, MATRIX, VECTOR, call, parameters_of, public_functions, squares

import stride0 as xp

FUNCTIONS = dict(public_functions())


class Thing:
    """An object that no function takes."""

    def __repr__(self) -> str:
        return "Thing()"


WRONG: list[object] = ["a", 1.5, (1,), [1], None, Thing(), {}, b"a", 1j, True, squares]
CALLING = ("linear_transpose", "linearize", "vjp")
SPARSE = ("hessian_sparsity", "jacobian_sparsity", "sparse_plan")
WITH_AUX = ("hvp", "jvp", "linearize", "vhp", "vjp")
# They raise the error of the standard, of Python or of the user's function, or name another function.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("from_dlpack", "x"): "AttributeError: the standard asks for it",
    **{(f"autograd.{name}", "xs"): "f is called with them" for name in CALLING},
    ("testing.check_grad", "xs"): "f is called with them",
    ("autograd.checkpoint_loop", "state"): "step is called with it",
    **{(name, "state"): "body is called with it" for name in ("loop", "scan")},
    **{(name, "body"): "it is called" for name in ("loop", "scan")},
    **{(f"autograd.{name}", "has_aux"): "has_aux: names the argument" for name in WITH_AUX},
    ("autograd.linear_transpose", "f"): "it is called",
    **{(f"autograd.{name}", "args"): "f is called with them" for name in SPARSE},
    ("special.psi", "x"): "it is digamma",
}
# Messages of Python, NumPy and Cython.
FOREIGN = re.compile(
    r"Argument '|has incorrect type|an integer is required|cannot be interpreted|object is not "
    r"|can't multiply|has no attribute|unsupported operand|could not convert"
    r"|not supported between|can only concat"
)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_valid_calls(name: str) -> None:
    call(name, FUNCTIONS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_types(name: str) -> None:
    function, wrong = FUNCTIONS[name], []
    names = {parameter.name for parameter in parameters_of(function)}
    for parameter in names:
        if (name, parameter) in EXCEPTIONS:
            continue
        for value in WRONG:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(name, function, parameter, value)
            except (xp.Stride0Error, TypeError, ValueError) as error:
                text = str(error)
                operation, _, problem = text.partition(": ")
                subject = re.match(r"(\w+)(?:\[\d+\])? (?:must be|is of type)", problem)
                if (
                    operation not in (name, name.rpartition(".")[2])
                    or FOREIGN.search(text)
                    or isinstance(error, AttributeError)
                    or (
                        subject
                        and subject[1] in names - {parameter}
                        and name not in ("einsum", "einsum_path")
                    )
                ):
                    wrong.append(f"{parameter}={value!r}: {type(error).__name__}: {text.splitlines()[0]}")
            except Exception as error:
                wrong.append(f"{parameter}={value!r}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join([name, *wrong])


def test_exceptions_are_needed() -> None:
    for name, parameter in EXCEPTIONS:
        assert parameter in {each.name for each in parameters_of(FUNCTIONS[name])}


X = xp.asarray([[1.0, 2.0], [3.0, float("nan")]])
NAN = [name for name in xp.__all__ if name.startswith("nan") and name not in ("nan", "nan_to_num")]


@pytest.mark.parametrize("name", NAN)
def test_axes_of_functions_that_skip_nan(name: str) -> None:
    with pytest.raises(xp.AxisError, match=f"^{name}: axis 5 is out of bounds"):
        getattr(xp, name)(X, axis=5)
    with pytest.raises(xp.ArgumentTypeError, match=f"^{name}: axis must be an integer, not str"):
        getattr(xp, name)(X, axis="a")
    # Within a transformation too.
    with pytest.raises(xp.AxisError, match=f"^{name}: axis 5 is out of bounds"):
        xp.autograd.vmap(lambda x: getattr(xp, name)(x, axis=5))(X)
    with pytest.raises(xp.AxisError, match=f"^{name}: axis 5 is out of bounds"):
        xp.autograd.grad(lambda x: xp.sum(xp.astype(getattr(xp, name)(x, axis=5), xp.float64)))(X)


# Calls that the sweep does not make.
MESSAGES: list[tuple[str, Callable[[], Any]]] = [
    ("fused: <function squares at", lambda: xp.fused(squares)),
    ("fused: size must be an integer, not str", lambda: xp.fused("a")),
    ("fused: size must be an integer, not bool", lambda: xp.fused.set_default(True)),
    ("fused: size is -1", lambda: xp.fused(-1)),
    ("fused: size is 1000", lambda: xp.fused(10**30)),
    ("strict: <function squares at", lambda: xp.strict(squares)),
    ("broadcasting: <function squares at", lambda: xp.broadcasting(squares)),
    ("reproducible: <function squares at", lambda: xp.reproducible(squares)),
    ("reproducible: on is 1", lambda: xp.reproducible.set_default(1)),
    ("broadcasting: mode is ['exact']", lambda: xp.broadcasting(["exact"])),
    ("broadcasting: mode is 1", lambda: xp.broadcasting.set_default(1)),
    ("diag: k must be an integer, not str", lambda: xp.diag(VECTOR, k="1")),
    ("nanstd: ddof must be a real number, not str", lambda: xp.nanstd(VECTOR, ddof="a")),
    ("nanvar: ddof must be a real number, not complex", lambda: xp.nanvar(VECTOR, ddof=1j)),
    ("strides: x must be a stride0 array, not list", lambda: xp.strided.strides([1])),
    (
        "as_strided: offset must be an integer, not tuple",
        lambda: xp.strided.as_strided(VECTOR, (1,), (1,), (1,)),
    ),
    (
        "as_strided: strides must be a tuple or a list of integers",
        lambda: xp.strided.as_strided(VECTOR, (1,), 1),
    ),
    (
        "as_strided: strides must be an integer, not float",
        lambda: xp.strided.as_strided(VECTOR, (1,), (1.5,)),
    ),
    ("histogram: range must be a tuple or a list of two numbers", lambda: xp.histogram(VECTOR, range=5)),
    ("histogram: range must be a pair of edges", lambda: xp.histogram(VECTOR, range=(1, 2, 3))),
    ("histogram: range must be a real number, not str", lambda: xp.histogram(VECTOR, range=("a", 2))),
    ("histogram: range must be a tuple or", lambda: xp.histogram(VECTOR, "auto", range=5)),
    ("interp: period must be a real number, not str", lambda: xp.interp(VECTOR, VECTOR, VECTOR, period="a")),
    ("grad: f must be a function, not str", lambda: xp.autograd.grad("a")),
    ("hessian: f must be a function, not Array", lambda: xp.autograd.hessian(VECTOR)),
    ("vmap: f must be a function, not NoneType", lambda: xp.autograd.vmap(None)),
    ("custom_vjp: f must be a function, not int", lambda: xp.autograd.custom_vjp(1)),
    ("adam: learning_rate must be a real number, not str", lambda: xp.optim.adam("a")),
    ("check_grad: an argument is of type object", lambda: xp.testing.check_grad(squares, object())),
    ("set_num_threads: ", lambda: xp.set_num_threads("a")),
    ("set_limit: ", lambda: xp.memory.set_limit("a")),
]


@pytest.mark.parametrize("text, wrong", MESSAGES, ids=[text for text, _ in MESSAGES])
def test_messages(text: str, wrong: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        wrong()
    found = str(caught.value)
    assert found.startswith(text) or text.replace("not Array", "not stride0") in found


@pytest.mark.parametrize(
    "name, line",
    [
        *(("fused", "@fused()"), ("strict", "@strict()"), ("reproducible", "@reproducible()")),
        ("broadcasting", "@broadcasting("),
    ],
)
def test_decorators_without_parentheses(name: str, line: str) -> None:
    with pytest.raises(xp.ArgumentTypeError, match=re.escape(f"write {line}")):

        @getattr(xp, name)
        def f() -> None: ...


def test_what_is_taken_as_before() -> None:
    assert xp.fused(np.int64(3))._value == 3
    assert xp.strided.as_strided(MATRIX, [2, np.int64(2)], iter((3, 1)), np.int64(1)).shape == (2, 2)
    assert xp.strided.as_strided(VECTOR, 2, (1,)).shape == (2,)
    for ddof in (1, 0.5, np.float32(1), xp.asarray(1)):
        assert float(xp.nanvar(VECTOR, ddof=ddof)) == pytest.approx(
            np.nanvar(np.asarray(VECTOR), ddof=float(ddof))
        )
    for ends in ((0, 1), [0.0, 1], np.asarray([0.0, 1.0]), xp.asarray([0.0, 1.0])):
        counts, _ = xp.histogram(VECTOR, 2, range=ends)
        assert counts.tolist() == [1, 2]
    assert xp.allclose(VECTOR, VECTOR, rtol=xp.asarray(1e-3), atol=np.float64(0.0))
    assert xp.diag(VECTOR, k=np.int8(1)).shape == (4, 4) and INTEGERS.dtype == xp.int64

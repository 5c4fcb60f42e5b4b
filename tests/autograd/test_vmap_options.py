"""Batched options (`axis`, `k`, `num`) are refused by name; errors name the axes of an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_vmap_namespace import FUNCTIONS, resolve

import stride0 as xp
from stride0.autograd import grad, vmap

MATRIX = np.asarray([[2.0, 1.0, 0.5], [0.25, 3.0, 1.0], [1.0, 0.5, 4.0]])
ROW = np.asarray([1.0, 2.0, 4.0])
OPERANDS = ("Array", "Operand", "Any")

# Arguments for required parameters that take neither a matrix nor 1.
GIVEN: dict[str, dict[str, Any]] = {
    "bincount": {"x": np.asarray([0, 1, 1])},
    "diag": {"x": ROW},
    "interp": {"x": ROW, "xp": ROW, "fp": ROW},
    "partition": {"x": ROW},
    "permute_dims": {"axes": (1, 0)},
    "reshape": {"shape": (9,)},
    "take": {"indices": np.asarray([0, 2])},
    "take_along_axis": {"indices": np.asarray([[0, 2, 1]])},
    "put_along_axis": {"indices": np.asarray([[0, 2, 1]])},
}

# Parameters that are annotated as numbers, but take a batched array.
TAKEN = {
    *(f"{name}.{end}" for name in ("linspace", "logspace") for end in ("start", "stop")),
    *("full.fill_value", "full_like.fill_value", "logspace.base", "roll.shift"),
    *("nan_to_num.nan", "nan_to_num.posinf", "nan_to_num.neginf", "interp.left", "interp.right"),
    "broadcast_shapes.shapes",
}


def is_whole(parameter: inspect.Parameter) -> bool:
    words = str(parameter.annotation)
    return any(word in words for word in ("int", "Axis", "Sizes", "ShapeLike")) and not any(
        word in words for word in OPERANDS
    )


OPTIONS = [
    (name, parameter.name)
    for name in FUNCTIONS
    if name not in ("set_num_threads", "finfo", "iinfo", "loop", "replay")
    for parameter in inspect.signature(resolve(name)).parameters.values()
    if is_whole(parameter)
]


def call_with(name: str, option: str, value: Any) -> Any:
    """Call a function with a value of one parameter, and with valid required arguments."""
    given: dict[str, Any] = {}
    for p in inspect.signature(resolve(name)).parameters.values():
        words = str(p.annotation)
        if p.name == option:
            given[p.name] = value
        elif p.default is p.empty and p.kind is not p.VAR_POSITIONAL:
            made = GIVEN.get(name, {}).get(p.name)
            if made is None:
                many = "Sequence[Array" in words or "list[Array" in words or "tuple[Array" in words
                made = [MATRIX, MATRIX] if many else MATRIX if any(w in words for w in OPERANDS) else 1
            if isinstance(made, list):
                made = [xp.asarray(x) for x in made]
            given[p.name] = xp.asarray(made) if isinstance(made, np.ndarray) else made
    parameters = inspect.signature(resolve(name)).parameters
    positional = [given.pop(p.name) for p in parameters.values() if p.name in given and p.kind == 0]
    return resolve(name)(*positional, **given)


def test_the_table_holds_the_options() -> None:
    assert len(OPTIONS) > 100
    assert {"tril.k", "linspace.num", "linalg.trace.offset"} <= {".".join(option) for option in OPTIONS}


@pytest.mark.parametrize(
    "name, option", [(name, option) for name, option in OPTIONS if f"{name}.{option}" not in TAKEN]
)
def test_batched_option_is_refused_by_name(name: str, option: str) -> None:
    with pytest.raises(xp.BatchingError) as caught:
        vmap(lambda k: call_with(name, option, k))(xp.asarray([0, 1]))
    assert caught.value.operation in (name, name.rpartition(".")[2])


@pytest.mark.parametrize(
    "call, operation, option",
    [
        (lambda x, k: xp.tril(x, k=k), "tril", "k"),
        (lambda x, k: xp.triu(x, k=k), "triu", "k"),
        (lambda x, k: xp.linspace(0, 1, k), "linspace", "num"),
        (lambda x, k: xp.logspace(0, 1, k), "logspace", "num"),
        (xp.linalg.matrix_power, "linalg.matrix_power", "n"),
        (lambda x, k: xp.linalg.trace(x, offset=k), "linalg.trace", "offset"),
        (lambda x, k: xp.linalg.diagonal(x, offset=k), "linalg.diagonal", "offset"),
        (lambda x, k: xp.std(x, correction=k), "std", "correction"),
        (lambda x, k: xp.var(x, correction=k), "var", "correction"),
        (lambda x, k: xp.linalg.vector_norm(x, ord=k), "linalg.vector_norm", "ord"),
        (lambda x, k: xp.fft.fft(x, n=k), "fft.fft", "n"),
        (lambda x, k: xp.fft.fftn(x, s=(k, 2), axes=(0, 1)), "fft.fftn", "s"),
        (lambda x, k: xp.diff(x, n=k), "diff", "n"),
        (lambda x, k: xp.histogram(x, bins=k), "histogram", "bins"),
        (xp.top_k, "top_k", "k"),
        (xp.partition, "partition", "kth"),
        (lambda x, k: xp.partition(x[0], (k, 0)), "partition", "kth"),
        (xp.pad, "pad", "pad_width"),
        (lambda x, k: xp.pad(x, ((k, 1), (0, 0))), "pad", "pad_width"),
        (lambda x, k: xp.diag(x, k=k), "diag", "k"),
        (lambda x, k: xp.sort(x, axis=k), "sort", "axis"),
        (lambda x, k: xp.sum(x, axis=(k,)), "sum", "axis"),
        (lambda x, k: xp.moveaxis(x, k, 0), "moveaxis", "source"),
        (lambda x, k: xp.reshape(x, (k, -1)), "reshape", "shape"),
        (lambda x, k: xp.isin(x, x, invert=k), "isin", "invert"),
        (lambda x, k: xp.roll(x, k, axis=k), "roll", "axis"),
    ],
)
@pytest.mark.parametrize("wrap", ["plain", "batched", "grad", "nested"])
def test_error_names_function_and_option(
    call: Callable[..., Any], operation: str, option: str, wrap: str
) -> None:
    x, k = xp.asarray(MATRIX), xp.asarray([1, 2])
    with pytest.raises(xp.BatchingError, match=f"{option} must be the same for all examples") as caught:
        if wrap == "plain":
            vmap(lambda k: call(x, k))(k)
        elif wrap == "batched":
            vmap(call)(xp.stack([x, x]), k)
        elif wrap == "grad":
            vmap(lambda k: grad(lambda y: xp.sum(call(y, k)))(x))(k)
        else:
            vmap(lambda k: vmap(lambda y: call(y, k))(xp.stack([x, x])))(k)
    assert caught.value.operation == operation


def test_constant_option_is_taken() -> None:
    x = xp.asarray(np.stack([MATRIX, MATRIX.T]))
    found = vmap(lambda y, k: xp.tril(y, k=k), (0, None))(x, xp.asarray(1))
    np.testing.assert_array_equal(np.asarray(found), np.tril(np.asarray(x), 1))


def test_histogram_takes_a_0d_array_as_the_number_of_bins() -> None:
    found, edges = xp.histogram(xp.asarray(ROW), xp.asarray(3))
    wanted = np.histogram(ROW, np.asarray(3))
    np.testing.assert_array_equal(np.asarray(found), wanted[0])
    np.testing.assert_array_equal(np.asarray(edges), wanted[1])


def put_along(x: Any, indices: Any) -> None:
    xp.put_along_axis(xp.asarray(x, copy=True), xp.reshape(indices, (1,)), 1.0, None)


def assign(x: Any, k: Any) -> None:
    xp.asarray(x, copy=True)[:, k] = 1.0


@pytest.mark.parametrize(
    "f",
    [
        put_along,
        assign,
        lambda x, k: x[k],
        lambda x, k: x[:, k],
        lambda x, k: x[1, xp.reshape(k, (1,))],
        lambda x, k: xp.take(x, xp.reshape(k, (1,)), axis=1),
        lambda x, k: xp.take_along_axis(x, xp.reshape(k, (1, 1)), axis=1),
        lambda x, k: xp.at(x)[k].add(1.0),
    ],
)
@pytest.mark.parametrize("bad", [25, -25])
def test_error_names_the_axis_of_an_example(f: Callable[..., Any], bad: int) -> None:
    x, k = xp.zeros((2, 4, 3)), xp.asarray([0, bad])
    with pytest.raises(xp.OutOfBoundsError) as wanted:
        f(x[1], k[1])
    for batched, given in (
        (vmap(f), (x, k)),
        (vmap(f, (0, None)), (x, k[1])),
        (vmap(vmap(f)), (xp.stack([x, x]), xp.stack([k, k]))),
    ):
        with pytest.raises(xp.OutOfBoundsError) as caught:
            batched(*given)
        assert caught.value.problem == wanted.value.problem
        assert str(caught.value) == str(wanted.value)


@pytest.mark.parametrize(
    ("lane", "options"),
    [
        ((4,), {"side": "middle"}),
        ((2, 2), {}),
        ((4,), {"sorter": [0, 1]}),
    ],
)
def test_searchsorted_refuses_in_batches_what_it_refuses_in_examples(
    lane: tuple[int, ...], options: dict[str, Any]
) -> None:
    lanes = xp.reshape(xp.arange(12.0), (3, *lane))
    given = {name: xp.asarray(v) if name == "sorter" else v for name, v in options.items()}

    def search(lane: Any) -> Any:
        return xp.searchsorted(lane, xp.asarray([1.5]), **given)

    with pytest.raises(xp.Stride0Error) as of_example:
        search(lanes[0, ...])
    with pytest.raises(type(of_example.value), match="searchsorted"):
        vmap(search)(lanes)

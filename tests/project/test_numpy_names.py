"""The tables of NumPy's names: both calls of a row agree, errors name the new call, the page is current."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from conformance import numpy_names
from stride0._tables.numpy_methods import METHODS, Row
from stride0._tables.numpy_names import NAMES

RNG = np.random.default_rng(0)
SAMPLES = {
    "a": RNG.uniform(0.2, 3, (3, 4)),
    "b": RNG.uniform(0.5, 2, (3, 4)),
    "v": np.asarray([1.0, 2.0, 3.0, 4.0]),
    "w": np.asarray([0.5, 1.0, 2.5, -1.0]),
    "s": RNG.standard_normal((3, 3)) + 3 * np.eye(3),
    "i": np.asarray([3, 1, 2, 1]),
    "c": np.asarray([1 + 2j, 3 - 1j]),
    "m": np.asarray([[True, False, True, False]] * 3),
}
TABLES = {**NAMES, "Array": METHODS}
ROWS = [(module, name, row) for module, table in TABLES.items() for name, row in table.items()]
CALLS = [(f"{module}.{name}", row) for module, name, row in ROWS if row.ours]


def holder(module: str) -> Any:
    return xp.ones((2, 2)) if module == "Array" else getattr(xp, module) if module else xp


def compare(theirs: Any, ours: Any) -> None:
    if isinstance(theirs, (tuple, list)):
        assert len(theirs) == len(ours)
        for one, other in zip(theirs, ours, strict=True):
            compare(one, other)
    elif isinstance(ours, xp.DType):
        assert np.dtype(theirs).name == ours.name
    elif isinstance(theirs, type):
        assert (theirs, ours) == (np.ndarray, xp.Array)
    elif isinstance(theirs, (str, bytes)):
        assert theirs == ours
    else:
        found, wanted = np.asarray(ours), np.asarray(theirs)
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("name", "row"), CALLS, ids=[name for name, _ in CALLS])
def test_both_calls_give_the_same(name: str, row: Row) -> None:
    if "scipy" in row.ours:
        pytest.importorskip("scipy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # NumPy deprecates names from time to time
        theirs = eval(row.theirs, {"np": np, **SAMPLES})
    ours = eval(row.ours, {"xp": xp, "np": np, **{name: xp.asarray(a) for name, a in SAMPLES.items()}})
    compare(theirs, ours)


@pytest.mark.parametrize(
    ("module", "name", "row"), ROWS, ids=[f"{module}.{name}" for module, name, _ in ROWS]
)
def test_errors_say_what_to_write(module: str, name: str, row: Row) -> None:
    assert row.ours or row.remark
    with pytest.raises(AttributeError) as error:
        getattr(holder(module), name)
    assert row.ours.replace("xp.", "stride0.") in str(error.value)
    assert row.remark in str(error.value)
    assert not hasattr(holder(module), name)
    assert name not in dir(holder(module))


def test_all_of_numpy_is_there_or_in_a_table() -> None:
    apart = {
        *("array_split", "busday_count", "busday_offset", "busdaycalendar", "character", "core", "ctypeslib"),
        *("dtypes", "emath", "exceptions", "f2py", "flexible", "format_float_positional", "record", "lib"),
        *("format_float_scientific", "get_include", "getbufsize", "info", "is_busday", "isnat", "iterable"),
        *("little_endian", "mintypecode", "base_repr", "binary_repr", "common_type", "datetime_as_string"),
        *(
            "datetime_data",
            "polydiv",
            "polysub",
            "require",
            "setbufsize",
            "show_config",
            "show_runtime",
            "test",
        ),
        *("typecodes", "typename", "typing", "ScalarType", "sctypeDict"),
    }
    lacking = {name for name in np.__all__ if not name.startswith("_") and not hasattr(xp, name)}
    assert lacking - {*NAMES[""]} <= apart, sorted(lacking - {*NAMES[""]} - apart)
    lacking = {
        name for name in dir(np.ndarray) if not name.startswith("_") and not hasattr(xp.ones((1, 1)), name)
    }
    assert lacking <= {*METHODS}, sorted(lacking - {*METHODS})


def test_other_names_and_protocols() -> None:
    with pytest.raises(AttributeError, match=r"^module 'stride0' has no attribute 'nothing'$"):
        xp.nothing  # type: ignore[attr-defined]  # noqa: B018
    for name in ("__nothing__", "__wrapped__", "__array_interface__"):
        assert not hasattr(xp, name)
    with pytest.raises(ImportError, match="cannot import name 'concatenate'"):
        from stride0 import concatenate  # type: ignore[attr-defined]  # noqa: F401
    x = xp.ones(3)
    assert np.array_equal(pickle.loads(pickle.dumps(x)), x)
    assert np.array_equal(copy.deepcopy(x), x)
    assert {"sum", "T", "shape"} <= {*dir(x)}


def test_arguments_that_are_given_by_name() -> None:
    x = xp.ones((2, 2))
    for call, named in (
        (lambda: xp.sum(x, 0), "axis=..."),  # type: ignore[misc]
        (lambda: xp.concat([x], 0), "axis=..."),  # type: ignore[misc]
        (lambda: xp.argmax(x, 0, True), "axis=..., keepdims=..."),  # type: ignore[misc]
        (lambda: xp.sort(x, 0), "axis=..."),  # type: ignore[misc]
    ):
        with pytest.raises(TypeError) as error:
            call()
        assert str(error.value).endswith(f"; by name: {named}")
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'$"):
        xp.sum()  # type: ignore[call-overload]


def test_page() -> None:
    assert numpy_names.PAGE.read_text(encoding="utf-8") == numpy_names.page()

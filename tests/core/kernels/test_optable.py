"""The operation table, the table of data types, and the functions and the namespace made from them."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._chapters import counting as _counting
from stride0._chapters import quantiles as _quantiles
from stride0._chapters import selection as _selection
from stride0._chapters import updates as _updates
from stride0._compat import comparing as _comparing
from stride0._compat import extras as _extras
from stride0._core.elementwise import functions, special
from stride0._tables import dtypes as dtype_table
from stride0._tables import operations, standard
from stride0._tables.operations import OPS, REDUCTIONS, SCANS, Domain, Op, Reduction, Scan, check

ROWS = {row.name: row for row in OPS}
PUBLIC = [row.name for row in OPS if row.public and not row.namespace]
SPECIAL = [row for row in OPS if row.namespace == "special"]

# Copied from the chapter "Element-wise Functions" of the standard, 2025.12: the required dtypes of operands.
UNARY = {
    "numeric": [
        "abs",
        "conj",
        "isfinite",
        "isinf",
        "isnan",
        "negative",
        "positive",
        "round",
        "sign",
        "square",
    ],
    "real-valued": ["ceil", "floor", "trunc"],
    "real-valued floating-point": ["signbit"],
    "floating-point": [
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log10"),
        *("log1p", "log2", "reciprocal", "sin", "sinh", "sqrt", "tan", "tanh"),
    ],
    "boolean": ["logical_not"],
    "integer or boolean": ["bitwise_invert"],
}
BINARY = {
    "any": ["equal", "not_equal"],
    "numeric": ["add", "divide", "multiply", "pow", "subtract"],
    "real-valued": [
        *(
            "floor_divide",
            "greater",
            "greater_equal",
            "less",
            "less_equal",
            "maximum",
            "minimum",
            "remainder",
        ),
    ],
    "real-valued floating-point": ["atan2", "copysign", "hypot", "logaddexp", "nextafter"],
    "boolean": ["logical_and", "logical_or", "logical_xor"],
    "integer or boolean": ["bitwise_and", "bitwise_or", "bitwise_xor"],
    "integer": ["bitwise_left_shift", "bitwise_right_shift"],
}
SINCE = {
    "2022.12": {"conj"},
    "2023.12": {"copysign", "hypot", "maximum", "minimum", "signbit"},
    "2024.12": {"nextafter", "reciprocal"},
}
TO_BOOL = {"isfinite", "isinf", "isnan", "signbit", "logical_not", *BINARY["any"], *BINARY["boolean"]}
TO_BOOL |= {"less", "less_equal", "greater", "greater_equal"}
OPERATORS = {
    **{"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder"},
    **{"**": "pow", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "bitwise_left_shift"},
    **{">>": "bitwise_right_shift", "==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal"},
    **{">": "greater", ">=": "greater_equal"},
    **{"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"},
}
COMPOSED = ["clip", "real", "imag"]  # functions of that chapter that are not one row
ELEMENTWISE = sorted([*itertools.chain(*UNARY.values(), *BINARY.values()), *COMPOSED])


# -- the table against the standard --------------------------------------------------------------------------


def test_the_rows_are_the_standards() -> None:
    assert len(ELEMENTWISE) == 67
    assert sorted([*PUBLIC, *COMPOSED]) == ELEMENTWISE
    for nin, table in ((1, UNARY), (2, BINARY)):
        for kind, names in table.items():
            for name in names:
                assert (ROWS[name].nin, ROWS[name].on) == (nin, kind), name


def test_results() -> None:
    for name in PUBLIC:
        assert ROWS[name].out == ("bool" if name in TO_BOOL else "real" if name == "abs" else "same"), name


@pytest.mark.parametrize("name", PUBLIC)
def test_since(name: str) -> None:
    expected = next((version for version, names in SINCE.items() if name in names), "2021.12")
    assert ROWS[name].since == expected


def test_operators() -> None:
    assert {row.operator: row.name for row in OPS if row.operator} == OPERATORS


def test_rows_are_sane() -> None:
    names = {row.name for row in dtype_table.ROWS}
    for row in OPS:
        assert row.otherwise in {*names, ""}, row.name
        assert row.ulp >= 0.5 and row.samples.low < row.samples.high, row.name
        assert row.doc[0].isupper() or row.doc[0] == "`", row.name
        placeholders = set(re.findall(r"\{(\w+)\}", "".join(row.body.values())))
        assert placeholders <= {"t", "T", "U", "W"}, row.name
    for red in REDUCTIONS:
        for letter, name in red.accumulator.items():
            assert name in {*names, "same"}, red.name
            acc = letter if name == "same" else next(r.letter for r in dtype_table.ROWS if r.name == name)
            assert operations.body_for(red.fold, acc), (red.name, letter)
            assert any(acc in key for key in red.identity), (red.name, letter)


def test_body_for() -> None:
    bodies = {"b": "1", "iu": "2", "f": "3"}
    assert operations.body_for(bodies, "b") == ("1", False)
    assert operations.body_for(bodies, "i") == operations.body_for(bodies, "u") == ("2", True)
    assert operations.body_for(bodies, "c") is None
    assert operations.body_for({"i": "signed", "iu": "either"}, "i") == ("signed", False)


# -- a broken table does not load ----------------------------------------------------------------------------

GOOD = Op("cube", 1, "numeric", {"iu": "x * x * x", "f": "x * x * x", "c": "cube_c(x)"}, "Third power.")
FOLD = Reduction(
    "total",
    1,
    {"iu": "x", "f": "x"},
    {"iu": "a + b", "f": "a + b"},
    dict.fromkeys("iuf", "same"),
    {"iuf": "0"},
)


@pytest.mark.parametrize("table", [operations, dtype_table, standard])
def test_the_tables_are_right(table: Any) -> None:
    table.check()


def test_a_good_row_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "OPS", (*OPS, GOOD))
    monkeypatch.setattr(operations, "REDUCTIONS", (*REDUCTIONS, FOLD))
    monkeypatch.setattr(operations, "SCANS", (*SCANS, Scan("running_total", "total")))
    check()


@pytest.mark.parametrize(
    "row",
    [
        GOOD._replace(name="add"),
        GOOD._replace(on="numbers"),
        GOOD._replace(out="int"),
        GOOD._replace(nin=0),
        GOOD._replace(nin=4),
        GOOD._replace(doc="Third power"),
        GOOD._replace(body={"iu": "x", "f": "x"}),
        GOOD._replace(body={"f": "x", "c": "x"}),
        GOOD._replace(on="any"),
        GOOD._replace(body={**GOOD.body, "z": "x"}),
        GOOD._replace(operator="+"),
        GOOD._replace(operator="@@"),
        GOOD._replace(samples=Domain(1.0, -1.0)),
        GOOD._replace(ulp=0.0),
        GOOD._replace(body={**GOOD.body, "f": "{Q}(x)"}),
        GOOD._replace(namespace="elsewhere", since=""),
        GOOD._replace(namespace="special"),
    ],
    ids=[
        *("a name twice", "unknown kinds", "unknown result", "no operand", "four operands", "no full stop"),
        *("no body for complex", "no body for integers", "no body for bool", "unknown letter"),
        *("an operator twice", "unknown operator", "empty domain", "no accuracy"),
        *("unknown placeholder", "unknown namespace", "in the standard and elsewhere"),
    ],
)
def test_a_broken_row_fails(monkeypatch: pytest.MonkeyPatch, row: Op) -> None:
    monkeypatch.setattr(operations, "OPS", (*OPS, row))
    with pytest.raises(AssertionError):
        check()


@pytest.mark.parametrize(
    "row",
    [
        FOLD._replace(name="sum"),
        FOLD._replace(accumulator={"i": "same"}),
        FOLD._replace(accumulator={**FOLD.accumulator, "c": "same"}),
        FOLD._replace(fold={"iu": "a + b"}),
        FOLD._replace(identity={"iu": "0"}),
    ],
    ids=["a name twice", "no accumulator", "one too many", "no fold", "no identity"],
)
def test_a_broken_reduction_fails(monkeypatch: pytest.MonkeyPatch, row: Reduction) -> None:
    monkeypatch.setattr(operations, "REDUCTIONS", (*REDUCTIONS, row))
    with pytest.raises(AssertionError):
        check()


def test_a_broken_scan_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "SCANS", (*SCANS, Scan("running", "nothing")))
    with pytest.raises(AssertionError):
        check()


@pytest.mark.parametrize("change", [{"itemsize": 4}, {"name": "int32"}, {"name": "uint16"}])
def test_a_broken_dtype_fails(monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]) -> None:
    rows = [row._replace(**change) if row.name == "int16" else row for row in dtype_table.ROWS]
    monkeypatch.setattr(dtype_table, "ROWS", tuple(rows))
    with pytest.raises((AssertionError, KeyError)):
        dtype_table.check()


def test_the_dtypes() -> None:
    """Sizes, buffer formats and the promotion table, against NumPy's."""
    kinds = {"b": "bool", "i": "signed integer", "u": "unsigned integer", "f": "real floating"}
    assert len(dtype_table.KERNEL_ROWS) == 13
    for row in dtype_table.KERNEL_ROWS:
        dtype = np.dtype(row.name)
        assert row.itemsize == dtype.itemsize
        assert row.letter == dtype.kind
        assert row.kind == kinds.get(dtype.kind, "complex floating")
        view = memoryview(np.zeros(1, dtype))
        assert view.format is not None
        assert row.format == view.format  # "l", not "q", is what NumPy calls int64
        for other in dtype_table.KERNEL_ROWS:
            promoted = np.promote_types(row.name, other.name).name
            assert dtype_table.promote(row.name, other.name) == promoted, (row.name, other.name)


# -- the functions -------------------------------------------------------------------------------------------


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """Sections of a numpydoc docstring by their titles; the summary is ""."""
    text = inspect.getdoc(function) or ""
    parts = re.split(r"^(\w+)\n-+$", text, flags=re.MULTILINE)
    return {"": parts[0].strip(), **{t: b.strip("\n") for t, b in zip(parts[1::2], parts[2::2], strict=True)}}


def documented(section: str) -> list[str]:
    """Names that a section of parameters describes."""
    found = re.findall(r"^(\w[\w, ]*?) : \S", section, re.MULTILINE)
    return [name for group in found for name in group.split(", ")]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_docstrings(name: str) -> None:
    function = getattr(xp, name)
    found = sections(function)
    assert list(found) == ["", "Parameters", "Returns", "Raises", "References", "Examples"]
    summary = found[""]
    assert summary.endswith(".") and "\n" not in summary
    if name in PUBLIC:
        assert summary == ROWS[name].doc
    assert documented(found["Parameters"]) == list(inspect.signature(function).parameters)
    assert re.search(r"^\w+\n    \S", found["Returns"], re.MULTILINE)
    assert "view" in found["Returns"].lower() or name == "clip", "says whether the result is a view"
    for error in re.findall(r"^(\w+)$", found["Raises"], re.MULTILINE):
        assert issubclass(getattr(xp, error), xp.Stride0Error), error
    assert re.search(rf"``{name}`` \(since \d{{4}}\.12\)", found["References"])


@pytest.mark.parametrize("row", SPECIAL, ids=lambda row: row.name)
def test_special_functions(row: Op) -> None:
    """Like the functions of the standard, but in a separate namespace, and not methods."""
    function = getattr(special, row.name)
    found = sections(function)
    assert list(found) == ["", "Parameters", "Returns", "Raises", "References", "Examples"]
    assert found[""] == row.doc and "\n" not in found[""]
    names = ["x"] if row.nin == 1 else ["x1", "x2"]
    assert documented(found["Parameters"]) == list(inspect.signature(function).parameters) == names
    assert f"``scipy.special.{row.name}``" in found["References"]
    assert not row.since and row.otherwise == "float64" and row.name not in standard.ROWS
    assert not hasattr(xp, row.name) and not hasattr(xp.Array, row.name)
    with xp.strict(), pytest.raises(xp.StrictError, match=f"special.{row.name}: the function is called"):
        function(*[xp.ones(2)] * row.nin)


def test_special_functions_are_all_there() -> None:
    assert sorted(special.__all__) == sorted(row.name for row in SPECIAL)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_signatures(name: str) -> None:
    function = getattr(xp, name)
    assert function.__name__ == name
    parameters = list(inspect.signature(function).parameters.values())
    expected = {"clip": ["x", "min", "max"], "real": ["x"], "imag": ["x"]}.get(name) or (
        ["x"] if ROWS[name].nin == 1 else ["x1", "x2"]
    )
    positional = [p for p in parameters if p.kind is p.POSITIONAL_ONLY]
    rest = [(p.name, p.kind.name, p.default) for p in parameters if p not in positional]
    if name == "clip":
        bounds = [(bound, "POSITIONAL_OR_KEYWORD", None) for bound in ("min", "max")]
        assert ([p.name for p in positional], rest) == (["x"], bounds)
        return
    assert [p.name for p in positional] == expected
    assert all(p.default is p.empty for p in positional)
    assert rest == ([("alpha", "KEYWORD_ONLY", 1)] if name == "add" else [])
    arguments = {p.name: xp.ones(2) for p in positional}
    with pytest.raises(TypeError, match=name):
        function(**arguments)
    with pytest.raises(TypeError, match=name):
        function()


def test_operators_are_in_the_class() -> None:
    for text, name in OPERATORS.items():
        short = {
            **{"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow"},
            **{"&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift", "==": "eq", "!=": "ne"},
            **{"<": "lt", "<=": "le", ">": "gt", ">=": "ge"},
        }.get(text, text)
        assert f"__{short}__" in vars(xp.Array), name
        if text in OPERATORS and ROWS[name].nin == 2 and name not in TO_BOOL:
            assert {f"__r{short}__", f"__i{short}__"} <= set(vars(xp.Array)), name


# -- the namespace -------------------------------------------------------------------------------------------

STANDARD = {
    *ELEMENTWISE,
    *("e", "inf", "nan", "newaxis", "pi"),
    *("arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace"),
    *("meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like"),
    *("astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"),
    *("take", "take_along_axis"),
    *("matmul", "matrix_transpose", "tensordot", "vecdot"),
    *("broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis"),
    *("permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack"),
    *("argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"),
    *("isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    *("argsort", "sort"),
    *("cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"),
    *("all", "any", "diff"),
    *(row.name for row in dtype_table.ROWS),
    *("linalg", "fft"),
}
STANDARD |= {
    *("matmul", "matrix_transpose", "tensordot", "vecdot", "searchsorted", "argsort", "sort"),
    *("isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
}
# Names of our own: the types, the introspection, and the errors.
OWN = {
    "Array",
    "DType",
    "Device",
    "strided",
    "autograd",
    "memory",
    "optim",
    "random",
    "einsum",
    "einsum_path",
    "special",
    "testing",
    "broadcasting",
    "fused",
    "reproducible",
    "explain",
    "loop",
    "replay",
    "scan",
    "strict",
    *_extras.__all__,
    *_comparing.__all__,
    *_counting.__all__,
    *_quantiles.__all__,
    *_selection.__all__,
    *_updates.__all__,
    "get_num_threads",
    "set_num_threads",
    "BroadcastWarning",
}
OWN |= {
    name for name, value in vars(xp).items() if isinstance(value, type) and issubclass(value, xp.Stride0Error)
}


def test_the_namespace_holds_the_standard() -> None:
    missing = STANDARD - set(dir(xp))
    assert not missing, sorted(missing)


def test_the_namespace_holds_little_else() -> None:
    public = {name for name in dir(xp) if not name.startswith("_")}
    assert not (strays := public - STANDARD - OWN), sorted(strays)
    assert xp.__array_api_version__ == "2025.12"
    assert callable(xp.__array_namespace_info__)


def test_functions_are_the_cores_own() -> None:
    """No Python function runs between a call and its loop."""
    for name in [*ELEMENTWISE, "where"]:
        assert getattr(xp, name) is getattr(functions, name)
    for name in [*ELEMENTWISE, "where", "asarray"]:
        assert not inspect.isfunction(getattr(xp, name)), name

"""The statements of `rows`: every public function and method that NumPy has, too.

A statement is written in the standard's words, as in `compare/cases.py`, and has the public name that it
measures. Letters in it are operands, which `operands.py` makes for each size, dtype and layout; `{n}`, `{q}`
and `{dtype}` are filled in. `EXCEPTIONS` names what is not measured, with reasons.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.compare.cases import Row
from benchmarks.rows.operands import operand

SIZES: Final = (10, 1_000, 100_000)
LAYOUTS: Final = ("contiguous", "transposed", "sliced")
DTYPES: Final = ("float32", "float64", "complex128", "int64", "bool")

F: Final = ("float32", "float64")
C: Final = ("complex128",)
INT: Final = ("int64",)
B: Final = ("bool",)
FC, FI, N, IB, ALL = F + C, F + INT, F + C + INT, INT + B, F + C + INT + B


def of(names: str, form: str, dtypes: tuple[str, ...], **more: Any) -> Iterator[Case]:
    """Return cases of several functions in one form, in which `_` is the function."""
    for name in names.split():
        for statement in form.split("; "):
            yield Case(name, statement.replace("_", name, 1), dtypes, **more)


@dataclass(frozen=True)
class Case:
    """A statement that measures a public name, for some dtypes.

    `compared`: see `compare_worker.difference_of`. `python`: the builtin names of Python in the statement.
    """

    name: str
    statement: str
    dtypes: tuple[str, ...] = ("float64",)
    compared: str = "values"
    python: tuple[str, ...] = ()


def cases() -> Iterator[Case]:
    """Every case."""
    yield from elementwise()
    yield from reductions()
    yield from creation()
    yield from manipulation()
    yield from linear_algebra()
    yield from methods()
    yield from operators()


def elementwise() -> Iterator[Case]:
    yield from of("acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2", "_(x)", FC)
    yield from of("reciprocal sin sinh sqrt tan tanh", "_(x)", FC)
    yield from of("ceil floor trunc", "_(x)", FI)
    yield from of("abs conj isfinite isinf isnan negative positive real round sign square", "_(x)", N)
    yield from of("imag", "_(x)", C)
    yield from of("signbit", "_(x)", F)
    yield from of("bitwise_invert", "_(x)", IB)
    yield from of("logical_not", "_(x)", ALL)
    yield from of("add multiply subtract", "_(x, y); _(x, 2)", N)
    yield from of("divide", "_(x, y); _(x, 2)", FC)
    yield from of("pow", "_(x, y); _(x, 2)", N)
    yield from of("floor_divide remainder", "_(x, y); _(x, 3)", FI)
    yield from of("maximum minimum", "_(x, y)", FI)
    yield from of("greater greater_equal less less_equal", "_(x, y)", FI)
    yield from of("equal not_equal", "_(x, y)", ALL)
    yield from of("atan2 copysign hypot logaddexp nextafter", "_(x, y)", F)
    yield from of("bitwise_and bitwise_or bitwise_xor", "_(x, y)", IB)
    yield from of("bitwise_left_shift bitwise_right_shift", "_(x, y)", INT)
    yield from of("logical_and logical_or logical_xor", "_(x, y)", B)
    yield from of("clip", "_(x, 20, 80)", FI)
    yield from of("where", "_(m, x, y)", ALL)
    yield from of("astype", "_(x, float32); _(x, float64)", F + INT + B)
    yield from of("astype", "_(x, int64); _(x, bool)", F + INT + B)
    yield from of("astype", "_(x, complex128)", ALL)


def reductions() -> Iterator[Case]:
    axes = "_(x); _(a, axis=0); _(a, axis=1)"
    yield from of("sum prod", axes, N)
    yield from of("max min argmax argmin", axes, FI)
    yield from of("mean", axes, FC)
    yield from of("std var", axes, F)
    yield from of("all any count_nonzero", axes, ALL)
    yield from of("cumulative_sum cumulative_prod", "_(v, axis=0); _(a, axis=0); _(a, axis=1)", N)
    yield from of("nansum nanprod nancumsum nancumprod", "_(x); _(a, axis=0)", FC)
    yield from of(
        "nanmax nanmin nanmean nanstd nanvar nanmedian nanargmax nanargmin", "_(x); _(a, axis=0)", F
    )
    yield from of("median", axes, F)
    yield from of("quantile percentile", "_(x, 0.3); _(a, 0.3, axis=1)", F)
    # The order within the parts is free.
    yield from of("partition argpartition", "_(v, {q}); _(a, 1, axis=1)", FI, compared="shapes")
    yield from of("bincount", "_(i)", INT)
    yield from of("histogram", "_(x); _(x, 50)", F)
    yield from of("interp", "_(y, o, v)", ("float64",))
    yield from of("isclose allclose", "_(x, y)", FC)
    yield from of("nan_to_num", "_(x)", FC)
    yield from of("cov corrcoef", "_(a)", F)
    yield from of("sort argsort", "_(v); _(a, axis=0); _(a, axis=1)", FI)
    yield from of("searchsorted", "_(o, y)", FI)
    yield from of("unique_all unique_counts unique_inverse unique_values", "_(x)", FI)
    yield from of("isin", "_(x, w)", FI)
    yield from of("nonzero", "_(x)", FI + B)
    yield from of("diff", "_(v); _(a, axis=0)", N)


def creation() -> Iterator[Case]:
    yield from of("arange", "_({n}, dtype={dtype}); _(2, {n}, 0.5, dtype={dtype})", F)
    yield from of("arange", "_({n})", INT)
    yield from of("linspace", "_(0.0, 1.0, {n}, dtype={dtype})", FC)
    yield from of("logspace", "_(0.0, 1.0, {n}, dtype={dtype})", F)
    yield from of("ones zeros", "_({n}, dtype={dtype})", ALL)
    yield from of("empty", "_({n}, dtype={dtype})", ALL, compared="shapes")
    yield from of("full", "_({n}, 1, dtype={dtype})", ALL)
    yield from of("eye", "_({q}, dtype={dtype})", ALL)
    yield from of("ones_like zeros_like", "_(x)", ALL)
    yield from of("empty_like", "_(x)", ALL, compared="shapes")
    yield from of("full_like", "_(x, 1)", ALL)
    yield from of("meshgrid", "_(f, f)", N)
    yield from of("tril triu", "_(a)", N)
    yield from of("diag", "_(f); _(s)", N)
    yield from of("asarray", "_(l); _(x); _(x, copy=True)", ALL)
    yield from of("from_dlpack", "_(x)", N)
    yield Case("result_type", "result_type({dtype}, float32)", N, compared="nothing")
    yield Case("result_type", "result_type(x, {dtype})", N, compared="nothing")
    yield Case("can_cast", "can_cast({dtype}, float64)", N)
    yield Case("isdtype", "isdtype(x.dtype, 'numeric')", N, compared="nothing")
    yield Case("finfo", "finfo({dtype})", F, compared="nothing")
    yield Case("iinfo", "iinfo({dtype})", INT, compared="nothing")


def manipulation() -> Iterator[Case]:
    yield from of("broadcast_arrays", "_(a, w)", N)
    yield from of("broadcast_shapes", "_((8, 1, 6, 1), (7, 1, 5))", F)
    yield from of("broadcast_to", "_(f, (3, {q}))", ALL)
    yield from of("concat stack", "_([a, b]); _([a, b], axis=1)", ALL)
    yield from of("expand_dims", "_(x, axis=0)", ALL)
    yield from of("squeeze", "_(a[None], axis=0)", ALL)
    yield from of("flip", "_(x); _(a, axis=1)", ALL)
    yield from of("moveaxis", "_(a, 0, 1)", ALL)
    yield from of("permute_dims", "_(a, (1, 0))", ALL)
    yield from of("matrix_transpose", "_(a)", ALL)
    yield from of("repeat", "_(x, 2); _(a, 2, axis=0); _(a, 2, axis=1)", ALL)
    yield from of("reshape", "_(a, (-1,))", ALL)
    yield from of("roll", "_(x, 3); _(a, 3, axis=0)", ALL)
    yield from of("tile", "_(x, (3,)); _(a, (2, 2))", ALL)
    yield from of("unstack", "_(a)", ALL)
    yield from of("take", "_(v, i, axis=0); _(a, j, axis=0); _(a, k, axis=1)", ALL)
    yield from of("take_along_axis", "_(a, h, axis=1)", ALL)
    yield from of("put_along_axis", "_(a, h, 1, axis=1)", N, compared="nothing")
    yield from of("pad", "_(v, 3); _(a, 1)", N)
    yield from of("strided.contiguous", "contiguous(a)", ALL)


def linear_algebra() -> Iterator[Case]:
    def of_linalg(names: str, form: str, dtypes: tuple[str, ...], **more: Any) -> Iterator[Case]:
        for name in names.split():
            yield from of(f"linalg.{name}", form, dtypes, **more)

    yield from of("matmul", "_(s, t); _(s, s.T); _(s, f); _(v, u); _(g, g)", N)
    yield from of("vecdot", "_(v, u); _(a, b)", N)
    yield from of("tensordot", "_(s, t, axes=1)", N)
    yield from of("kron", "_(f, f)", N)
    yield from of("einsum", "_('ij,jk->ik', s, t); _('ij,ij->i', a, b); _('ij->ji', s); _('i,i->', v, u)", N)
    yield from of_linalg("matmul", "_(s, t)", N)
    yield from of_linalg("tensordot", "_(s, t, axes=1)", N)
    yield from of_linalg("vecdot", "_(a, b)", N)
    yield from of_linalg("cholesky", "_(p); _(g)", F)
    yield from of_linalg("det inv slogdet", "_(p); _(g)", FC)
    yield from of_linalg("solve", "_(p, t); _(p, f); _(g, g)", FC)
    yield from of_linalg("eigvalsh svdvals", "_(p); _(g)", F)
    yield from of_linalg("eigh svd qr", "_(p); _(g)", F, compared="magnitudes")
    yield from of_linalg("eig eigvals", "_(p); _(g)", F, compared="nothing")  # complex here
    yield from of_linalg("pinv", "_(p); _(g)", F)
    yield from of_linalg("matrix_rank", "_(p); _(g)", F)
    yield from of_linalg("lstsq", "_(p, f, rcond=None)[0]", F)
    yield from of_linalg("matrix_norm", "_(a)", FC)
    yield from of_linalg("vector_norm", "_(v); _(a, axis=0); _(a, axis=1)", FC)
    yield from of_linalg("matrix_power", "_(p, 3)", FC)
    yield from of_linalg("cross", "_(d, d)", N)
    yield from of_linalg("diagonal trace", "_(s); _(g)", N)
    yield from of_linalg("matrix_transpose", "_(g)", N)
    yield from of_linalg("outer", "_(f, f)", N)
    fft = "_(v); _(a)"
    yield from of("fft.fft fft.ifft", fft, FC)
    yield from of("fft.fftn fft.ifftn", "_(a)", FC)
    yield from of("fft.rfft fft.ihfft", fft, F)
    yield from of("fft.rfftn", "_(a)", F)
    yield from of("fft.irfft fft.hfft", fft, C)
    yield from of("fft.irfftn", "_(a)", C)
    yield from of("fft.fftshift fft.ifftshift", "_(x)", FC)
    yield from of("fft.fftfreq fft.rfftfreq", "_({n})", ("float64",))


def methods() -> Iterator[Case]:
    def method(names: str, form: str, dtypes: tuple[str, ...], **more: Any) -> Iterator[Case]:
        for name in names.split():
            for statement in form.split("; "):
                yield Case(f"Array.{name}", statement.replace("_", name, 1), dtypes, **more)

    yield from method("all any", "x._(); a._(0)", B)
    yield from method("argmax argmin argsort max min", "x._(); a._(0)", FI)
    yield from method("conj conjugate prod sum", "x._()", N)
    yield from method("cumprod cumsum", "v._(0)", N)
    yield from method("mean", "x._(); a._(0)", FC)
    yield from method("std var", "x._(); a._(0)", F)
    yield from method("copy flatten nonzero ravel squeeze transpose view", "x._()", ALL)
    yield from method("astype", "x._(float32)", F + INT + B)
    yield from method("clip", "x._(20, 80)", FI)
    yield from method("item", "e._()", ALL)
    yield from method("repeat", "x._(2)", ALL)
    yield from method("reshape", "a._(-1)", ALL)
    yield from method("round", "x._()", F)
    yield from method("searchsorted", "o._(y)", FI)
    yield from method("take", "v._(i, 0)", ALL)
    yield from method("to_device", "x._('cpu')", F)
    yield from method("tolist", "x._()", ALL)
    yield from method("T", "a._", ALL)
    yield from method("mT", "a._", ALL)
    yield from method("real", "x._", FC)
    yield from method("imag", "x._", C)
    yield from method("dtype device itemsize nbytes ndim shape size", "x._", F, compared="nothing")


OPERATORS: Final = {
    **{"add": ("+", N), "sub": ("-", N), "mul": ("*", N), "truediv": ("/", FC), "floordiv": ("//", FI)},
    **{"mod": ("%", FI), "pow": ("**", N), "and": ("&", IB), "or": ("|", IB), "xor": ("^", IB)},
    **{"lshift": ("<<", INT), "rshift": (">>", INT)},
}
COMPARISONS: Final = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def operators() -> Iterator[Case]:
    for name, (sign, dtypes) in OPERATORS.items():
        numbers = tuple(dtype for dtype in dtypes if dtype != "bool")
        yield Case(f"Array.__{name}__", f"x {sign} y", dtypes)
        yield Case(f"Array.__{name}__", f"x {sign} 3", numbers)
        yield Case(f"Array.__r{name}__", f"3 {sign} x", numbers)
        yield Case(f"Array.__i{name}__", f"x {sign}= y", dtypes)
    for name, sign in COMPARISONS.items():
        yield Case(f"Array.__{name}__", f"x {sign} y", FI)
        yield Case(f"Array.__{name}__", f"x {sign} 3", FI)
    yield Case("Array.__matmul__", "s @ t", N)
    yield Case("Array.__matmul__", "v @ u", N)
    yield Case("Array.__rmatmul__", "s.__rmatmul__(t)", N)
    yield Case("Array.__imatmul__", "s @= r", N)
    yield Case("Array.__neg__", "-x", N)
    yield Case("Array.__pos__", "+x", N)
    yield Case("Array.__invert__", "~x", IB)
    yield Case("Array.__abs__", "abs(x)", N, python=("abs",))
    yield Case("Array.__divmod__", "divmod(x, 3)", FI, python=("divmod",))
    yield Case("Array.__rdivmod__", "divmod(3, x)", FI, python=("divmod",))
    yield Case("Array.__bool__", "bool(e)", ALL, python=("bool",))
    yield Case("Array.__int__", "int(e)", FI, python=("int",))
    yield Case("Array.__float__", "float(e)", FI, python=("float",))
    yield Case("Array.__complex__", "complex(e)", N, python=("complex",))
    yield Case("Array.__index__", "range(e)", INT, compared="nothing", python=("range",))
    yield Case("Array.__len__", "len(x)", F, python=("len",))
    yield Case("Array.__iter__", "for z in v: pass", ALL)
    yield Case("Array.__contains__", "5 in x", FI)
    for statement in ("v[3]", "a[1]", "a[:, 1]", "a[1, 2]", "v[2:-2]", "v[::-1]", "x[m]", "v[i]", "a[j]"):
        yield Case("Array.__getitem__", statement, ALL)
    for statement in (
        "v[3] = 1",
        "v[2:-2] = 1",
        "x[m] = 1",
        "v[i] = u",
        "v[:] = u",
        "x[m] = x[m]",
        "a[1] = w",
    ):
        yield Case("Array.__setitem__", statement, ALL)
    yield Case("Array.__copy__", "x.__copy__()", F)
    yield Case("Array.__deepcopy__", "x.__deepcopy__({{}})", F)
    yield Case("Array.__str__", "str(x)", F, compared="nothing", python=("str",))
    yield Case("Array.__repr__", "repr(x)", F, compared="nothing", python=("repr",))
    yield Case("Array.__format__", "format(e, '.3f')", F, compared="nothing", python=("format",))
    yield Case("Array.__array__", "x.__array__()", ALL)
    yield Case("Array.__array_namespace__", "x.__array_namespace__()", F, compared="nothing")
    yield Case("Array.__dlpack__", "x.__dlpack__()", N, compared="nothing")
    yield Case("Array.__dlpack_device__", "x.__dlpack_device__()", F, compared="nothing")
    yield Case("Array.__reduce_ex__", "x.__reduce_ex__(5)", F, compared="nothing")
    yield Case("Array.__dir__", "dir(x)", F, compared="nothing", python=("dir",))
    yield Case("Array.__bytes__", "bytes(x)", F, compared="nothing", python=("bytes",))


# Public names that are not measured, and why.
NOT_FUNCTIONS: Final = "not a function"
SCIPY: Final = "compared with SciPy by `python -m benchmarks special`"
OWN: Final = "NumPy has no counterpart"
EXCEPTIONS: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("e", "inf", "nan", "newaxis", "pi", "__version__", "__array_api_version__"), NOT_FUNCTIONS
    ),
    **dict.fromkeys(("Array", "DType", "Device"), NOT_FUNCTIONS),
    "special": SCIPY,
    "random": "NumPy draws the numbers",
    "einsum_path": "it returns NumPy's result",
    **dict.fromkeys(("linalg.expm", "linalg.solve_triangular"), "its counterpart is in SciPy"),
    **dict.fromkeys(("linalg.LstsqResult", "linalg.LinAlgError"), NOT_FUNCTIONS),
    **dict.fromkeys(("autograd", "optim", "memory", "testing", "fused", "strict", "at", "top_k"), OWN),
    **dict.fromkeys(("broadcasting", "explain", "get_num_threads", "set_num_threads"), OWN),
    **dict.fromkeys(("loop", "replay", "reproducible", "scan"), OWN),
    **dict.fromkeys(
        ("strided.is_contiguous", "strided.is_writable", "strided.strides"), "attributes in NumPy"
    ),
    **dict.fromkeys(("strided.offset", "strided.memory_statistics", "strided.storage_nbytes"), OWN),
    "strided.as_strided": "NumPy's function, in `numpy.lib.stride_tricks`, takes bytes and checks nothing",
    "strided.shares_storage": "NumPy's function tests for common elements, not for common storage",
    "__array_namespace_info__": "it creates the standard's inspection object",
    "Array.__array_ufunc__": "only NumPy calls it",
    "Array.__array_priority__": NOT_FUNCTIONS,
    "Array.__pandas_priority__": NOT_FUNCTIONS,
    **dict.fromkeys(("Array.__hash__", "Array.__delitem__"), "it raises, as in NumPy"),
    "Array.__round__": "NumPy arrays have no such method",
}


def layouts_of(statement: str) -> tuple[str, ...]:
    """Return the layouts that the operands of a statement can have."""
    letters = letters_of(statement)
    if letters & set("xyabstpg"):
        return LAYOUTS
    return ("contiguous", "sliced") if letters & set("vuwfo") else ("contiguous",)


def letters_of(statement: str) -> set[str]:
    names = {node.id for node in ast.walk(ast.parse(statement)) if isinstance(node, ast.Name)}
    return {name for name in names if len(name) == 1}


def rows(
    sizes: tuple[int, ...] = SIZES, dtypes: tuple[str, ...] = DTYPES, layouts: tuple[str, ...] = LAYOUTS
) -> Iterator[Row]:
    """Every row: a case for a dtype, a layout and a size."""
    for case in cases():
        for dtype in DTYPES:
            if dtype not in case.dtypes or dtype not in dtypes:
                continue
            for layout in LAYOUTS:
                for n in sizes:
                    statement = case.statement.format(n=n, q=math.isqrt(n), dtype=dtype)
                    if layout not in layouts or layout not in layouts_of(statement):
                        continue
                    operands = {
                        letter: operand(letter, case.name, n, dtype, layout)
                        for letter in sorted(letters_of(statement))
                    }
                    name = f"{statement_name(case.statement)} {dtype} {layout} {n}"
                    yield Row(case.name, name, statement, operands, True, case.compared, case.python)


def statement_name(statement: str) -> str:
    """A statement without the filled-in parts, as tables show it."""
    return statement.replace(", dtype={dtype}", "").replace("{dtype}", "dtype").format(n="n", q="q")

"""The standard's rules for the arguments of its functions: one row per function.

For strict mode and for older versions of the standard. Rows of elementwise functions follow from the table of
operations; if the standard defines a function for fewer dtypes than that table, there is a row here.
"""

# No annotations from `__future__` here: `NamedTuple` compiles annotations that are strings, at every import.
from collections.abc import Iterable
from typing import Final, NamedTuple

from stride0._tables.operations import KINDS, OPS

VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
NEWEST: Final = VERSIONS[-1]
DRAFT: Final = "draft"
"""The draft of the next version, as a version: it compares greater than all others."""


class Row(NamedTuple):
    """One function of the standard."""

    chapter: str
    # The dtypes of array parameters, in the standard's words; "" is any dtype.
    arrays: dict[str, str]
    # Array parameters that may be Python scalars, and since when.
    scalars: tuple[str, ...] = ()
    scalars_since: str = "2021.12"
    # Parameters that must promote to a common dtype.
    together: tuple[str, ...] = ()
    # Parameters that must have the dtype of the first parameter in `together`.
    equal: tuple[str, ...] = ()
    # Other positional parameters, at their positions.
    order: tuple[str, ...] = ()
    # Parameters that must be tuples, although stride0 also accepts an integer.
    tuples: tuple[str, ...] = ()
    since: str = "2021.12"
    # Parameters that were added later than the function.
    later: dict[str, str] = {}  # noqa: RUF012 - never written to
    # Parameters that accept other forms from some version on: the form, as named in
    # `_modes.configurations.FORMS`, and the version.
    wider: dict[str, tuple[str, str]] = {}  # noqa: RUF012 - never written to

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the positional parameters."""
        return self.order or tuple(self.arrays)


# Where the table of operations accepts more than the standard.
NARROWER: Final = {"divide": "floating-point"}

ELEMENTWISE: Final = "Element-wise Functions"

# Functions that accept more from some version on.
WIDER: Final = {
    "conj": {"x": ("is of a real dtype", "2024.12")},
    "expand_dims": {"axis": ("is a tuple", "2025.12")},
    "mean": {"x": ("is of a complex dtype", "2024.12")},
    "permute_dims": {"axes": ("holds a negative axis", "2025.12")},
    "real": {"x": ("is of a real dtype", "2024.12")},
}


def _elementwise() -> Iterable[tuple[str, Row]]:
    for op in OPS:
        if not op.public or not op.since:
            continue
        on = NARROWER.get(op.name, op.on)
        kind = "" if on == "any" else on
        if op.nin == 1:
            yield op.name, Row(ELEMENTWISE, {"x": kind}, since=op.since, wider=WIDER.get(op.name, {}))
        else:
            names = ("x1", "x2")
            row = Row(ELEMENTWISE, dict.fromkeys(names, kind), scalars=names, together=names, since=op.since)
            yield op.name, row._replace(scalars_since="2024.12")


def _rows(chapter: str, kind: str, names: str, since: str = "2021.12", prefix: str = "") -> dict[str, Row]:
    """Rows of functions of one array."""
    return {prefix + name: Row(chapter, {"x": kind}, since=since) for name in names.split()}


def _pairs(chapter: str, kind: str, names: str, prefix: str = "") -> dict[str, Row]:
    """Rows of functions of two arrays."""
    pair = ("x1", "x2")
    row = Row(chapter, dict.fromkeys(pair, kind), together=pair)
    return {prefix + name: row for name in names.split()}


_CREATION, _DATA_TYPES, _INDEXING = "Creation Functions", "Data Type Functions", "Indexing Functions"
_MANIPULATION, _SEARCHING, _SET = "Manipulation Functions", "Searching Functions", "Set Functions"
_SORTING, _STATISTICAL, _UTILITY = "Sorting Functions", "Statistical Functions", "Utility Functions"
_LINEAR_ALGEBRA, _LINALG, _FFT = "Linear Algebra Functions", "Linear Algebra Extension", "FFT Extension"

ROWS: Final[dict[str, Row]] = {
    **dict(_elementwise()),
    "clip": Row(
        ELEMENTWISE,
        {"x": "real-valued", "min": "real-valued", "max": "real-valued"},
        scalars=("min", "max"),
        together=("x", "min", "max"),
        equal=("min", "max"),
        since="2023.12",
    ),
    "real": Row(ELEMENTWISE, {"x": "numeric"}, since="2022.12", wider=WIDER["real"]),
    "imag": Row(ELEMENTWISE, {"x": "complex floating-point"}, since="2022.12"),
    # --- creation
    **{
        name: Row(_CREATION, {}, order=order)
        for name, order in {
            "arange": ("start", "stop", "step"),
            "asarray": ("obj",),
            "empty": ("shape",),
            "eye": ("n_rows", "n_cols"),
            "full": ("shape", "fill_value"),
            "linspace": ("start", "stop", "num"),
            "ones": ("shape",),
            "zeros": ("shape",),
        }.items()
    },
    **_rows(_CREATION, "", "empty_like ones_like tril triu zeros_like"),
    "full_like": Row(_CREATION, {"x": ""}, order=("x", "fill_value")),
    "from_dlpack": Row(_CREATION, {}, order=("x",), later={"device": "2023.12", "copy": "2023.12"}),
    "meshgrid": Row(_CREATION, {"arrays": "numeric"}, together=("arrays",), equal=("arrays",)),
    # --- data types
    "astype": Row(_DATA_TYPES, {"x": ""}, order=("x", "dtype"), later={"device": "2023.12"}),
    "can_cast": Row(_DATA_TYPES, {}, order=("from_", "to")),
    "finfo": Row(_DATA_TYPES, {}, order=("type",)),
    "iinfo": Row(_DATA_TYPES, {}, order=("type",)),
    "isdtype": Row(_DATA_TYPES, {}, order=("dtype", "kind"), since="2022.12"),
    "result_type": Row(_DATA_TYPES, {}, wider={"": ("is a Python scalar", "2024.12")}),
    "__array_namespace_info__": Row("Inspection", {}, since="2023.12"),
    # --- indexing
    "take": Row(_INDEXING, {"x": "", "indices": "integer"}, since="2022.12"),
    "take_along_axis": Row(_INDEXING, {"x": "", "indices": "integer"}, since="2024.12"),
    # --- manipulation
    **{
        name: Row(
            _MANIPULATION,
            {"x": ""},
            order=("x", *order),
            tuples=tuples,
            since=since,
            wider=WIDER.get(name, {}),
        )
        for name, order, tuples, since in (
            ("broadcast_to", ("shape",), ("shape",), "2021.12"),
            ("expand_dims", ("axis",), (), "2021.12"),
            ("flip", (), (), "2021.12"),
            ("moveaxis", ("source", "destination"), (), "2023.12"),
            ("permute_dims", ("axes",), ("axes",), "2021.12"),
            ("reshape", ("shape",), ("shape",), "2021.12"),
            ("roll", ("shift",), (), "2021.12"),
            ("squeeze", ("axis",), (), "2021.12"),
            ("tile", ("repetitions",), ("repetitions",), "2023.12"),
            ("unstack", (), (), "2023.12"),
        )
    },
    "broadcast_arrays": Row(_MANIPULATION, {"arrays": ""}),
    "broadcast_shapes": Row(_MANIPULATION, {}, since="2025.12"),
    "concat": Row(_MANIPULATION, {"arrays": ""}, together=("arrays",)),
    "stack": Row(_MANIPULATION, {"arrays": ""}, together=("arrays",)),
    "repeat": Row(_MANIPULATION, {"x": "", "repeats": "integer"}, scalars=("repeats",), since="2023.12"),
    # --- searching
    **_rows(_SEARCHING, "real-valued", "argmax argmin"),
    "nonzero": Row(_SEARCHING, {"x": ""}),
    "count_nonzero": Row(_SEARCHING, {"x": ""}, since="2024.12"),
    "searchsorted": Row(
        _SEARCHING,
        {"x1": "real-valued", "x2": "real-valued", "sorter": "integer"},
        scalars=("x2",),
        scalars_since="2025.12",
        together=("x1", "x2"),
        order=("x1", "x2"),
        since="2023.12",
    ),
    "top_k": Row(_SEARCHING, {"x": "real-valued"}, order=("x", "k"), since=DRAFT),
    "where": Row(
        _SEARCHING,
        {"condition": "boolean", "x1": "", "x2": ""},
        scalars=("x1", "x2"),
        scalars_since="2024.12",
        together=("x1", "x2"),
    ),
    # --- sets and sorting
    "isin": Row(
        _SET, {"x1": "integer", "x2": "integer"}, scalars=("x1", "x2"), together=("x1", "x2"), since="2025.12"
    ),
    **_rows(_SET, "", "unique_all unique_counts unique_inverse unique_values"),
    **_rows(_SORTING, "real-valued", "argsort sort"),
    # --- statistics and utilities
    **_rows(_STATISTICAL, "numeric", "sum prod"),
    **_rows(_STATISTICAL, "numeric", "cumulative_sum", "2023.12"),
    **_rows(_STATISTICAL, "numeric", "cumulative_prod", "2024.12"),
    **_rows(_STATISTICAL, "real-valued", "max min"),
    "mean": Row(_STATISTICAL, {"x": "floating-point"}, wider=WIDER["mean"]),
    **_rows(_STATISTICAL, "real-valued floating-point", "std var"),
    **_rows(_UTILITY, "", "all any"),
    "diff": Row(
        _UTILITY,
        {"x": "numeric", "prepend": "numeric", "append": "numeric"},
        together=("x", "prepend", "append"),
        equal=("prepend", "append"),
        order=("x",),
        since="2024.12",
    ),
    # --- linear algebra
    **_pairs(_LINEAR_ALGEBRA, "numeric", "matmul tensordot vecdot"),
    "matrix_transpose": Row(_LINEAR_ALGEBRA, {"x": ""}),
    **_rows(
        _LINALG,
        "floating-point",
        "cholesky det eigh eigvalsh inv matrix_norm qr slogdet svd svdvals vector_norm",
        prefix="linalg.",
    ),
    **_rows(_LINALG, "floating-point", "eig eigvals", "2025.12", "linalg."),
    "linalg.matrix_power": Row(_LINALG, {"x": "floating-point"}, order=("x", "n")),
    **{
        f"linalg.{name}": Row(
            _LINALG,
            {"x": "floating-point", "rtol": "real-valued floating-point"},
            scalars=("rtol",),
            order=("x",),
        )
        for name in ("matrix_rank", "pinv")
    },
    "linalg.diagonal": Row(_LINALG, {"x": ""}),
    "linalg.trace": Row(_LINALG, {"x": "numeric"}, later={"dtype": "2022.12"}),
    **_pairs(_LINALG, "numeric", "cross outer", "linalg."),
    **_pairs(_LINALG, "floating-point", "solve", "linalg."),
    # --- Fourier transforms
    **_rows(_FFT, "complex floating-point", "fft fftn ifft ifftn irfft irfftn hfft", "2022.12", "fft."),
    **_rows(_FFT, "real-valued floating-point", "rfft rfftn ihfft", "2022.12", "fft."),
    **_rows(_FFT, "floating-point", "fftshift ifftshift", "2022.12", "fft."),
    **{
        f"fft.{name}": Row(_FFT, {}, order=("n",), since="2022.12", later={"dtype": "2024.12"})
        for name in ("fftfreq", "rfftfreq")
    },
}

EXTENSIONS: Final = {"linalg": "2021.12", "fft": "2022.12"}
"""The extensions of the standard, and the version that added them."""

METHODS_LATER: Final = {"__dlpack__": dict.fromkeys(("max_version", "dl_device", "copy"), "2023.12")}
"""Parameters of array methods that were added later than the method, and their version."""

COMPLEX_SINCE: Final = "2022.12"
"""The version that added complex dtypes."""

# Functions of the main namespace that are also in `linalg`.
SHARED: Final = ("matmul", "matrix_transpose", "tensordot", "vecdot")

DATA_DEPENDENT: Final = frozenset(
    {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
)
"""Functions whose result shape depends on values; `repeat` with an array does too."""

CONSTANTS: Final = frozenset({"e", "inf", "nan", "newaxis", "pi"})
DTYPES: Final = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float32", "float64", "complex64", "complex128"),
    }
)


def row_of(name: str, version: str = NEWEST) -> Row | None:
    """Return the row of a function; functions of the draft exist only in that version."""
    row = ROWS.get(name)
    return None if row is not None and row.since == DRAFT != version else row


def names_of(version: str = NEWEST, extensions: Iterable[str] = tuple(EXTENSIONS)) -> frozenset[str]:
    """Return the names that the main namespace has in a version of the standard."""
    functions = {name for name, row in ROWS.items() if "." not in name and row.since <= version}
    dtypes = {name for name in DTYPES if version >= COMPLEX_SINCE or not name.startswith("complex")}
    wanted = {name for name in extensions if EXTENSIONS[name] <= version}
    return frozenset({*functions, *dtypes, *wanted, *CONSTANTS, "__array_api_version__"})


def check() -> None:
    """Check the table for contradictions."""
    for name, row in ROWS.items():
        assert row.since in (*VERSIONS, DRAFT) and row.scalars_since in VERSIONS, name
        assert all(kind in KINDS or kind == "" for kind in row.arrays.values()), name
        assert {*row.scalars, *row.together, *row.equal} <= row.arrays.keys(), name
        if row.together == row.parameters and len(row.together) == 2:
            assert len({row.arrays[parameter] for parameter in row.together}) == 1, name
        assert set(row.equal) <= set(row.together) and set(row.tuples) <= set(row.order), name
        assert all(version in VERSIONS for version in row.later.values()), name
        assert {*row.wider} <= {"", *row.parameters}, name
    assert ROWS.keys() >= {*SHARED, *DATA_DEPENDENT}

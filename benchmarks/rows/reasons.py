"""Why rows of `rows` stay below NumPy's speed, and what it would cost to change that.

Each reason was found by measurement. `unexplained` lists the slow rows without a reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

NOISE: Final = 0.95  # rows from here to 1.0 may be above or below 1.0 in the next run


@dataclass(frozen=True)
class Reason:
    """Why rows of some functions are slower than NumPy. An empty field matches every row."""

    names: str
    why: str
    kernels: str = ""
    dtypes: str = ""
    layouts: str = ""
    sizes: tuple[int, ...] = ()
    least: float = 0.0  # slowest row that the reason explains, relative to NumPy's speed

    def covers(self, row: dict[str, Any], kernels: str) -> bool:
        """Whether the reason explains a row of a report, measured on some kernels."""
        return (
            row["function"] in self.names.split()
            and self.kernels in ("", kernels)
            and row["dtype"] in (self.dtypes or row["dtype"]).split()
            and row["layout"] in (self.layouts or row["layout"]).split()
            and row["size"] in (self.sizes or (row["size"],))
            and row["speedups"]["numpy"] >= self.least
        )

    def scope(self) -> str:
        """The rows that the reason explains, in words."""
        sizes = ", ".join(f"{size:,}" for size in self.sizes)
        least = f"down to {self.least:.2g}" if self.least else ""
        parts = [self.kernels, self.dtypes.replace(" ", ", "), self.layouts.replace(" ", ", "), sizes, least]
        return "; ".join(filter(None, parts))


REASONS: Final = (
    Reason(
        "Array.squeeze Array.view Array.item Array.tolist",
        "about 4 ns: the interpreter has fast instructions only for methods of builtin types",
    ),
    Reason(
        "asarray strided.contiguous",
        "NumPy's call takes 10 ns if it returns its argument, because the interpreter has an instruction"
        " for builtin functions only",
    ),
    Reason(
        "Array.dtype Array.itemsize Array.nbytes Array.ndim Array.shape Array.size Array.real",
        "1 ns of 19 ns: Cython calls one more function, and a flag is read to test strict mode",
    ),
    Reason(
        "Array.__len__ Array.__int__ Array.__float__ Array.__index__ Array.__bool__",
        "1 to 4 ns: flags are read to test whether strict mode or a tape refuses the call",
    ),
    Reason("Array.__dlpack__", "20 ns: it binds keywords, tests modes and counts exports"),
    Reason(
        "Array.__getitem__",
        "NumPy returns one of two constant bool objects; stride0 creates a 0-d array",
        dtypes="bool",
    ),
    Reason(
        "Array.__array__",
        "a NumPy array returns itself; stride0 creates a NumPy array that shares its memory",
    ),
    Reason(
        "acos acosh asin asinh atan atanh atan2 cosh log10 log1p log2 pow sinh tan tanh"
        " Array.__pow__ Array.__ipow__ Array.__rpow__",
        "NumPy has Intel's loops for AVX-512. In float32 their error is 1.2 to 3 units in the last place;"
        " stride0's is below 1 (docs/evidence/accuracy.md). In float64 they look up coefficients with an"
        " instruction that other processors lack, so results would differ between processors",
        kernels="v4",
        dtypes="float32 float64",
    ),
    Reason(
        "pow Array.__pow__ Array.__ipow__ Array.__rpow__",
        "logarithms have 96 bits; without them the error is thousands of units in the last place, as in"
        " NumPy (docs/evidence/accuracy.md)",
        dtypes="complex128",
    ),
    Reason(
        "vecdot linalg.vecdot einsum",
        "products are added in float64, half as many per cycle as BLAS adds in float32",
        dtypes="float32",
    ),
    Reason(
        "matmul Array.__matmul__ vecdot linalg.vecdot",
        "stride0 multiplies a matrix by a vector with its own kernel, whose bits are equal on all processors,"
        " layouts and thread counts; strided vectors are packed; large vectors are bound by memory",
        dtypes="float32 float64 complex128",
    ),
    Reason(
        "pow Array.__pow__ Array.__ipow__",
        "all exponents are checked first, so that an error changes nothing; and NumPy returns at once if the"
        " exponent is 1",
        dtypes="int64",
    ),
    Reason(
        "Array.__setitem__",
        "5 ns of about 65 ns test for strict mode, a tape and shared memory; with many elements both"
        " libraries store one element per cycle",
    ),
    Reason("Array.nonzero", "about 10 ns more if the array is not contiguous", sizes=(10,), layouts="sliced"),
    Reason(
        "Array.__str__ Array.__repr__",
        "NumPy prints the elements, and first checks the options of the call: 2 to 4 of 54 us",
    ),
    Reason(
        "Array.argmax Array.argmin argmax argmin",
        "runs of 9 and more elements are read twice: for the extreme, then for its index. A single pass with"
        " an index per lane is 1.1 times as fast for 8-byte elements, 0.6 to 1.0 times for 4-byte elements",
        layouts="transposed",
    ),
    Reason(
        "maximum minimum",
        "the compiler loads 64-bit operands twice, to compare and to select; avoiding it needs loops written"
        " by hand",
        kernels="v3",
        dtypes="int64",
        sizes=(100_000,),
    ),
    Reason(
        "abs Array.__abs__",
        "the hypotenuse neither overflows nor loses digits, and AVX2 has only four lanes",
        kernels="v3",
        dtypes="complex128",
    ),
    Reason(
        "equal greater greater_equal less less_equal bitwise_right_shift Array.__rshift__ Array.__rrshift__"
        " Array.__irshift__ Array.__ge__ Array.__gt__ Array.__le__ Array.__lt__",
        "elements are read one by one; vector loops over every second element, as in arithmetic, would cost"
        " 2.5 kB per operation and dtype",
        layouts="sliced",
        dtypes="int64 float64",
    ),
    Reason(
        "Array.conj Array.conjugate conj prod tril triu Array.flatten Array.__itruediv__",
        "reading every second element takes the time: 90 % of it in `conj`",
        layouts="sliced",
        sizes=(1_000, 100_000),
        least=0.85,
    ),
    Reason(
        "add subtract multiply divide square abs floor ceil isnan isfinite diff astype nan_to_num concat tile"
        " roll Array.__add__ Array.__sub__ Array.__mul__ Array.__truediv__ Array.__iadd__ Array.__itruediv__"
        " Array.flatten Array.repeat",
        "bound by memory: the operands exceed the L2 cache, and the position of blocks changes a run by 33 %,"
        " by 50 % for complex numbers; measured without other rows, both libraries are equally fast",
        sizes=(100_000,),
        least=0.5,
    ),
    Reason("zeros", "NumPy gets zeroed pages from the system; stride0 clears a block that was used before"),
    Reason(
        "linalg.eigh",
        "both call NumPy's LAPACK; stride0 also copies operands and results",
        sizes=(100_000,),
        least=0.85,
    ),
    Reason(
        "fft.ihfft",
        "stride0 computes float32 in float64 and rounds once, as in all transforms; NumPy computes this"
        " transform in float32",
        dtypes="float32",
        sizes=(100_000,),
    ),
)


def unexplained(rows: list[dict[str, Any]], kernels: str) -> list[dict[str, Any]]:
    """The rows below NOISE without a reason."""
    return [
        row
        for row in rows
        if row["speedups"]["numpy"] < NOISE and not any(reason.covers(row, kernels) for reason in REASONS)
    ]

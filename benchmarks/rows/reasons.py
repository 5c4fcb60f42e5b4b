"""Why rows of `rows` stay below NumPy's speed, and what it would cost to change that.

A reason is for rows that were measured and looked into: `unexplained` lists those that no reason is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

NOISE: Final = 0.95  # rows from here to 1.0 may come out on either side


@dataclass(frozen=True)
class Reason:
    """What keeps rows of some functions below NumPy's speed; of any part that it does not name."""

    names: str
    why: str
    kernels: str = ""
    dtypes: str = ""
    layouts: str = ""
    sizes: tuple[int, ...] = ()
    least: float = 0.0  # of NumPy's speed: what is slower has another reason

    def covers(self, row: dict[str, Any], kernels: str) -> bool:
        """Whether the reason is one for a row of a report, measured on some kernels."""
        return (
            row["function"] in self.names.split()
            and self.kernels in ("", kernels)
            and row["dtype"] in (self.dtypes or row["dtype"]).split()
            and row["layout"] in (self.layouts or row["layout"]).split()
            and row["size"] in (self.sizes or (row["size"],))
            and row["speedups"]["numpy"] >= self.least
        )

    def scope(self) -> str:
        """The rows that it is for, in words."""
        sizes = ", ".join(f"{size:,}" for size in self.sizes)
        least = f"down to {self.least:.2g}" if self.least else ""
        parts = [self.kernels, self.dtypes.replace(" ", ", "), self.layouts.replace(" ", ", "), sizes, least]
        return "; ".join(filter(None, parts))


REASONS: Final = (
    Reason(
        "Array.squeeze Array.view Array.item Array.tolist",
        "about 4 ns: the interpreter has instructions only for methods of builtin types",
    ),
    Reason(
        "asarray strided.contiguous",
        "NumPy's call takes 10 ns if it returns its argument, because the interpreter has an instruction"
        " for builtin functions only",
    ),
    Reason(
        "Array.dtype Array.itemsize Array.nbytes Array.ndim Array.shape Array.size Array.real",
        "1 ns of 19: Cython calls one more function, and a flag says whether strict mode is on",
    ),
    Reason(
        "Array.__len__ Array.__int__ Array.__float__ Array.__index__ Array.__bool__",
        "1 to 4 ns: flags tell whether strict mode or a tape refuses the call",
    ),
    Reason(
        "Array.__dlpack__", "20 ns: the binding of its keywords, tests of modes, and the count of exports"
    ),
    Reason(
        "Array.__getitem__",
        "NumPy has two objects for all bool elements; stride0 makes a new 0-d array",
        dtypes="bool",
    ),
    Reason("Array.__array__", "a NumPy array returns itself; stride0 makes a NumPy array on its memory"),
    Reason(
        "acos acosh asin asinh atan atanh atan2 cosh log10 log1p log2 pow sinh tan tanh"
        " Array.__pow__ Array.__ipow__ Array.__rpow__",
        "NumPy has Intel's loops for AVX-512: in float32 they are off by 1.2 to 3 units in the last place,"
        " ours by less than 1 (docs/evidence/accuracy.md); in float64 they look coefficients up by an"
        " instruction that other processors lack, and results would differ between processors",
        kernels="v4",
        dtypes="float32 float64",
    ),
    Reason(
        "pow Array.__pow__ Array.__ipow__ Array.__rpow__",
        "logarithms to 96 bits, without which a power is off by thousands of units in the last place, as"
        " NumPy's are (docs/evidence/accuracy.md)",
        dtypes="complex128",
    ),
    Reason(
        "vecdot linalg.vecdot einsum",
        "products are added up in float64, at half as many a cycle as BLAS adds in float32",
        dtypes="float32",
    ),
    Reason(
        "matmul Array.__matmul__ vecdot linalg.vecdot",
        "a matrix by a vector is a kernel of our own, whose bits depend on no processor and no number of"
        " threads; strided vectors are packed, so that BLAS gives the bits of contiguous ones; large vectors"
        " are bound by memory",
        dtypes="float32 float64 complex128",
    ),
    Reason(
        "pow Array.__pow__ Array.__ipow__",
        "whether all exponents are in range is checked first, so that an error changes nothing; and NumPy"
        " returns at once where an exponent is 1",
        dtypes="int64",
    ),
    Reason(
        "Array.__setitem__",
        "5 ns in front of some 60: whether strict mode is on, a tape records, operands share memory; of many"
        " elements one store a cycle, as NumPy has",
    ),
    Reason(
        "Array.nonzero", "some 10 ns of an array without contiguous elements", sizes=(10,), layouts="sliced"
    ),
    Reason(
        "Array.__str__ Array.__repr__",
        "NumPy prints the elements; it is called with options, which it checks first: 2 to 4 of 54 us",
    ),
    Reason(
        "Array.argmax Array.argmin argmax argmin",
        "of runs of 9 and more elements the extreme is found first, then its place; one pass, in which each"
        " lane of a vector keeps a place too, was tried: 1.1 times as fast for 8 bytes, .6 to 1.0 for 4",
        layouts="transposed",
    ),
    Reason(
        "maximum minimum",
        "the compiler loads operands of 64 bits that are compared and chosen from twice; loops would have to"
        " be written by hand",
        kernels="v3",
        dtypes="int64",
        sizes=(100_000,),
    ),
    Reason(
        "abs Array.__abs__",
        "hypotenuses that neither overflow nor lose digits, with AVX2 in vectors of four",
        kernels="v3",
        dtypes="complex128",
    ),
    Reason(
        "equal greater greater_equal less less_equal bitwise_right_shift Array.__rshift__ Array.__rrshift__"
        " Array.__irshift__ Array.__ge__ Array.__gt__ Array.__le__ Array.__lt__",
        "elements are read one by one: loops over every second one, as arithmetic has, would cost 2.5 kB for"
        " each operation and dtype",
        layouts="sliced",
        dtypes="int64 float64",
    ),
    Reason(
        "Array.conj Array.conjugate conj prod tril triu Array.flatten Array.__itruediv__",
        "of `conj` a mere copy of every second element takes nine tenths of the time",
        layouts="sliced",
        sizes=(1_000, 100_000),
        least=0.85,
    ),
    Reason(
        "add subtract multiply divide square abs floor ceil isnan isfinite diff astype nan_to_num concat tile"
        " roll Array.__add__ Array.__sub__ Array.__mul__ Array.__truediv__ Array.__iadd__ Array.__itruediv__"
        " Array.flatten Array.repeat",
        "bound by memory: more than the L2 cache holds, where runs differ by a third, those of complex"
        " numbers by a half, as blocks come to lie in the caches and in pages; alone, they are equally fast",
        sizes=(100_000,),
        least=0.5,
    ),
    Reason("zeros", "NumPy asks for pages that are zero; a block that was used before has to be cleared"),
    Reason(
        "linalg.qr linalg.inv linalg.eigh linalg.det",
        "the same loops of NumPy's LAPACK, and copies of operands and results around them",
        sizes=(100_000,),
        least=0.85,
    ),
    Reason(
        "fft.ihfft",
        "float32 is computed in float64 and rounded once, as in all other transforms; NumPy computes this one"
        " in float32",
        dtypes="float32",
        sizes=(100_000,),
    ),
)


def unexplained(rows: list[dict[str, Any]], kernels: str) -> list[dict[str, Any]]:
    """The rows below NOISE that no reason is for."""
    return [
        row
        for row in rows
        if row["speedups"]["numpy"] < NOISE and not any(reason.covers(row, kernels) for reason in REASONS)
    ]

"""Conversion to NumPy and back, for what NumPy computes: decompositions (LAPACK), FFT, some sorting.

NumPy is imported by the first function that needs it, not with the package: it would take most of the time of
``import stride0``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import Context
from functools import cache
from types import ModuleType
from typing import Any, Final, NamedTuple

from stride0._core.array.array import Array
from stride0._core.exchange.convert import asarray
from stride0._core.memory.dtype import STANDARD_DTYPES
from stride0._core.ops.blas import set_blas
from stride0._core.ops.gufuncs import set_gufuncs

__all__ = ["call_quietly", "from_numpy", "numpy", "quiet", "quiet_context", "to_numpy"]


@cache
def numpy() -> ModuleType:
    """Return the module ``numpy``."""
    import numpy as module

    return module


def to_numpy(x: Array) -> Any:
    """Return an ndarray that is a view of `x`."""
    return numpy().asarray(x)


def from_numpy(a: Any) -> Array:
    """Return an array that is a view of the ndarray (or a copy of the NumPy scalar) `a`."""
    return asarray(a)


def quiet() -> Any:
    """Return a context in which NumPy does not warn of overflow and the like: stride0 never does."""
    return numpy().errstate(all="ignore")


@cache
def quiet_context() -> Context:
    """Return a context of context variables in which NumPy does not warn; copies of it can be entered."""
    context = Context()
    context.run(numpy().seterr, all="ignore")
    return context


def call_quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function of NumPy in such a context, which is faster than `quiet` for one call."""
    # Only one thread at a time can enter a context; a copy is cheap.
    return quiet_context().copy().run(function, *args, **kwargs)


def load_blas() -> tuple[Any, ...]:
    """Return the objects of NumPy by which the core multiplies matrices."""
    module = numpy()
    dtypes = tuple([module.dtype(d.name) for d in STANDARD_DTYPES])
    return module.matmul, dtypes, quiet_context(), functions_of_blas(), to_numpy, module.ndarray


def functions_of_blas() -> tuple[int, ...]:
    """Return the addresses of sgemm and dgemm in the BLAS that NumPy's wheels contain; zeros elsewhere.

    The suffix of the names means that sizes have 64 bits. A name is also found in the libraries that a
    library is linked with.
    """
    try:
        import ctypes

        library = ctypes.CDLL(numpy()._core._multiarray_umath.__file__)
        found = [library[f"scipy_cblas_{letter}gemm64_"] for letter in "sd"]
        return tuple([ctypes.cast(function, ctypes.c_void_p).value or 0 for function in found])
    except (ImportError, OSError, AttributeError):
        return 0, 0


class Routine(NamedTuple):
    """A computation of NumPy's, by its ufunc or, where that is not what is expected, by a public function."""

    package: str
    names: tuple[str, ...]
    """Of the ufunc, in releases of NumPy from 2.0 on."""
    signature: str
    types: tuple[str, ...]
    function: Callable[..., Any] | None = None
    """Takes the operands, and of transforms the length; returns the result or a tuple of them."""


def _linalg(name: str, **options: Any) -> Callable[..., Any]:
    return lambda *operands: getattr(numpy().linalg, name)(*operands, **options)


def _fft(name: str, **options: Any) -> Callable[..., Any]:
    return lambda x, length: getattr(numpy().fft, name)(x, length, **options)


_LINALG, _FFT = "linalg", "fft"
_MODULES: Final = {_LINALG: "_umath_linalg", _FFT: "_pocketfft_umath"}
_ONE, _TWO = ("d->d", "D->D"), ("dd->d", "DD->D")
_COMPLEX, _REAL = ("Ff->F", "Dd->D"), ("ff->F", "dd->D")

ROUTINES: Final = (
    Routine(_LINALG, ("cholesky_lo",), "(m,m)->(m,m)", _ONE, _linalg("cholesky")),
    Routine(_LINALG, ("cholesky_up",), "(m,m)->(m,m)", _ONE, _linalg("cholesky", upper=True)),
    Routine(_LINALG, ("det",), "(m,m)->()", _ONE, _linalg("det")),
    Routine(_LINALG, ("eig",), "(m,m)->(m),(m,m)", ("d->DD", "D->DD"), _linalg("eig")),
    Routine(_LINALG, ("eigh_lo",), "(m,m)->(m),(m,m)", ("d->dd", "D->dD"), _linalg("eigh")),
    Routine(_LINALG, ("eigvals",), "(m,m)->(m)", ("d->D", "D->D"), _linalg("eigvals")),
    Routine(_LINALG, ("eigvalsh_lo",), "(m,m)->(m)", ("d->d", "D->d"), _linalg("eigvalsh")),
    Routine(_LINALG, ("inv",), "(m,m)->(m,m)", _ONE, _linalg("inv")),
    Routine(_LINALG, ("qr_r_raw", "qr_r_raw_m"), "(m,n)->(p)", _ONE),
    Routine(_LINALG, ("qr_reduced",), "(m,n),(k)->(m,k)", _TWO),
    Routine(_LINALG, ("qr_complete",), "(m,n),(n)->(m,m)", _TWO),
    Routine(_LINALG, ("slogdet",), "(m,m)->(),()", ("d->dd", "D->Dd"), _linalg("slogdet")),
    Routine(_LINALG, ("solve",), "(m,m),(m,n)->(m,n)", _TWO, _linalg("solve")),
    Routine(_LINALG, ("svd", "svd_m"), "(m,n)->(p)", ("d->d", "D->d"), _linalg("svd", compute_uv=False)),
    Routine(
        _LINALG,
        ("svd_s", "svd_m_s"),
        "(m,n)->(m,p),(p),(p,n)",
        ("d->ddd", "D->DdD"),
        _linalg("svd", full_matrices=False),
    ),
    Routine(
        _LINALG, ("svd_f", "svd_m_f"), "(m,n)->(m,m),(p),(n,n)", ("d->ddd", "D->DdD"), _linalg("svd")
    ),
    Routine(_FFT, ("fft",), "(n),()->(m)", _COMPLEX, _fft("fft")),
    Routine(_FFT, ("ifft",), "(n),()->(m)", _COMPLEX, _fft("ifft", norm="forward")),
    Routine(_FFT, ("rfft_n_even",), "(n),()->(m)", _REAL, _fft("rfft")),
    Routine(_FFT, ("rfft_n_odd",), "(n),()->(m)", _REAL, _fft("rfft")),
    Routine(_FFT, ("irfft",), "(n),()->(m)", ("Ff->f", "Dd->d"), _fft("irfft", norm="forward")),
)
"""In the order of the enumeration in `ops/gufuncs.pxd`."""


def _axes(signature: str) -> tuple[tuple[int, ...], ...]:
    """Return which of the sizes that a signature names each of its operands has; the first one is 0."""
    operands = [re.findall(r"\w+", names) for names in re.findall(r"\(([^)]*)\)", signature)]
    seen = list(dict.fromkeys(name for names in operands for name in names))
    return tuple(tuple(seen.index(name) for name in names) for names in operands)


def load_gufuncs() -> list[tuple[Any, tuple[tuple[int, ...], ...], tuple[str, ...]] | None]:
    """Return the ufuncs of the routines with what their loops are expected to take, or None: Note [Loops of NumPy]."""
    out: list[tuple[Any, tuple[tuple[int, ...], ...], tuple[str, ...]] | None] = []
    for routine in ROUTINES:
        out.append(None)
        module = getattr(getattr(numpy(), routine.package), _MODULES[routine.package], None)
        for name in routine.names:
            ufunc = getattr(module, name, None)
            # In releases before 2.2 the name of a size says which one is the smaller, and the loop is the same.
            axes = _axes(routine.signature)
            if type(ufunc) is numpy().ufunc and [len(part) for part in _axes(ufunc.signature)] == [
                len(part) for part in axes
            ]:
                out[-1] = ufunc, axes, routine.types
                break
    return out


def compute(number: int, arrays: list[Array], factor: float) -> bool:
    """Compute what a routine does by a public function of NumPy; return whether LAPACK failed.

    The last of the arrays are the results.
    """
    routine = ROUTINES[number]
    assert routine.function is not None
    views = [to_numpy(x) for x in arrays]
    count = routine.signature.partition("->")[0].count("(")
    with quiet():
        if routine.package == _FFT:
            lane = views[1].shape[-1]
            length = {"rfft_n_even": 2 * lane - 2, "rfft_n_odd": 2 * lane - 1}.get(routine.names[0], lane)
            numpy().multiply(routine.function(views[0], length), factor, out=views[1])
            return False
        try:
            found = routine.function(*views[:count])
        except numpy().linalg.LinAlgError:
            return True
    for view, result in zip(views[count:], found if isinstance(found, tuple) else (found,), strict=True):
        view[...] = result
    return False


set_blas(load_blas)
set_gufuncs(load_gufuncs, compute)

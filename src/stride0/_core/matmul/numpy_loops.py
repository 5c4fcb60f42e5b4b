"""NumPy's linear algebra: inner loops of ufuncs, and the threads of its BLAS.

`matmul.pyx` calls both from C, and asks for them when it first needs one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, NamedTuple

from stride0._core.array.array import Array
from stride0._core.array.modes import refuse_library
from stride0._core.exchange.numpy_calls import numpy, quiet, to_numpy


def functions_of_blas() -> tuple[int, ...]:
    """Return the addresses of functions of the BLAS that NumPy's wheels contain; zeros elsewhere.

    The functions return and set the number of threads. The suffix of their names means that sizes have 64
    bits. A name is also found in the libraries that a library is linked with.
    """
    names = ("get_num_threads", "set_num_threads")
    try:
        import ctypes

        library = ctypes.CDLL(numpy()._core._multiarray_umath.__file__)
        found = [library[f"scipy_openblas_{name}64_"] for name in names]
        return tuple([ctypes.cast(function, ctypes.c_void_p).value or 0 for function in found])
    except (ImportError, OSError, AttributeError):
        return (0,) * len(names)


class Routine(NamedTuple):
    """A computation by a NumPy ufunc or, if the ufunc is not as expected, by a public NumPy function.

    Within `reproducible`, stride0 kernels replace every routine. Delete a routine that they always replace.
    """

    operation: str
    """The function of ours that calls it."""
    ufuncs: tuple[str, ...]
    """The ufunc in `numpy`, by its names in releases from 2.0 on."""
    signature: str
    types: tuple[str, ...]
    function: Callable[..., Any] | None = None
    """Takes the operands; returns the result or a tuple of results."""


def _linalg(*names: str) -> tuple[str, ...]:
    return tuple(f"linalg._umath_linalg.{name}" for name in names)


def _public(name: str, **options: Any) -> Callable[..., Any]:
    """Return a function that calls a NumPy function, which is looked up at each call."""
    return lambda *operands: attrgetter(name)(numpy())(*operands, **options)


_ONE, _TWO = ("d->d", "D->D"), ("dd->d", "DD->D")
_SVD = ("d->ddd", "D->DdD")
_LSTSQ = ("fff->ffif", "ddd->ddid", "FFf->Ffif", "DDd->Ddid")

ROUTINES: Final = (
    Routine("eig", _linalg("eig"), "(m,m)->(m),(m,m)", ("d->DD", "D->DD"), _public("linalg.eig")),
    Routine("eigh", _linalg("eigh_lo"), "(m,m)->(m),(m,m)", ("d->dd", "D->dD"), _public("linalg.eigh")),
    Routine("eigvals", _linalg("eigvals"), "(m,m)->(m)", ("d->D", "D->D"), _public("linalg.eigvals")),
    Routine("eigvalsh", _linalg("eigvalsh_lo"), "(m,m)->(m)", ("d->d", "D->d"), _public("linalg.eigvalsh")),
    Routine("lstsq", _linalg("lstsq"), "(m,n),(m,k),()->(n,k),(k),(),(p)", _LSTSQ),
    Routine("qr", _linalg("qr_r_raw", "qr_r_raw_m"), "(m,n)->(p)", _ONE),
    Routine("qr", _linalg("qr_reduced"), "(m,n),(k)->(m,k)", _TWO),
    Routine("qr", _linalg("qr_complete"), "(m,n),(n)->(m,m)", _TWO),
    Routine(
        "svd",
        _linalg("svd", "svd_m"),
        "(m,n)->(p)",
        ("d->d", "D->d"),
        _public("linalg.svd", compute_uv=False),
    ),
    Routine(
        "svd",
        _linalg("svd_s", "svd_m_s"),
        "(m,n)->(m,p),(p),(p,n)",
        _SVD,
        _public("linalg.svd", full_matrices=False),
    ),
    Routine("svd", _linalg("svd_f", "svd_m_f"), "(m,n)->(m,m),(p),(n,n)", _SVD, _public("linalg.svd")),
)
"""In the order of the enumeration in `matmul/matmul.pxd`."""


def _axes(signature: str) -> tuple[tuple[int, ...], ...]:
    """Return which of the sizes that a signature names each of its operands has; the first one is 0."""
    operands = [re.findall(r"\w+", names) for names in re.findall(r"\(([^)]*)\)", signature)]
    seen = list(dict.fromkeys(name for names in operands for name in names))
    return tuple(tuple(seen.index(name) for name in names) for names in operands)


def load_gufuncs() -> list[tuple[Any, tuple[tuple[int, ...], ...], tuple[str, ...]] | None]:
    """Return the ufuncs of the routines with what their loops should take, or None: Note [Loops of NumPy]."""
    return [_loaded(routine) for routine in ROUTINES]


def _loaded(routine: Routine) -> tuple[Any, tuple[tuple[int, ...], ...], tuple[str, ...]] | None:
    axes = _axes(routine.signature)
    for name in routine.ufuncs:
        try:
            ufunc = attrgetter(name)(numpy())
        except AttributeError:
            continue
        # The signature of `svd_m`, before NumPy 2.1, says which size is the smaller; the loop takes any.
        if isinstance(ufunc, numpy().ufunc) and [*map(len, _axes(ufunc.signature))] == [*map(len, axes)]:
            return ufunc, axes, routine.types
    return None


def refuse(number: int) -> None:
    """Raise ReproducibilityError if the function of a routine has no kernel for `reproducible`."""
    refuse_library(ROUTINES[number].operation, "LAPACK")


def compute(number: int, arrays: list[Array]) -> bool:
    """Compute what a routine does by a public function of NumPy; return whether LAPACK failed.

    The last of the arrays are the results.
    """
    routine = ROUTINES[number]
    function = routine.function
    assert function is not None
    views = [to_numpy(x) for x in arrays]
    count = routine.signature.partition("->")[0].count("(")
    with quiet():
        try:
            found = function(*views[:count])
        except numpy().linalg.LinAlgError:
            return True
    for view, result in zip(views[count:], found if isinstance(found, tuple) else (found,), strict=True):
        view[...] = result
    return False

"""Calls of SciPy functions on views of our memory, without copies.

SciPy is imported by the first call that needs it, never by the package itself, because SciPy is optional.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from stride0._core.array.array import Array
from stride0._core.array.modes import check_broadcasting, refuse_library
from stride0._core.call.binding import primitive_in
from stride0._core.call.checks import component_dtype, promote_all, refuse_dtype
from stride0._core.elementwise.elementwise import as_array, copy, new_result
from stride0._core.exchange.numpy_calls import call_quietly, to_numpy
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType, arithmetic_dtype

if TYPE_CHECKING:
    from stride0._core.array.array import Operand

__all__ = ["by_scipy", "declared_ufunc", "floating_operands", "several_by_scipy"]

Declared = TypeVar("Declared", bound=Callable[..., Array])

# Letters of NumPy's loops, by the dtype of the result: for real and for complex operands.
_REAL_LETTER = {dt.float32: "f", dt.float64: "d", dt.complex64: "f", dt.complex128: "d"}
_COMPLEX_LETTER = {"f": "F", "d": "D"}
_DTYPES = {"f": dt.float32, "d": dt.float64, "F": dt.complex64, "D": dt.complex128}
# Ufuncs behind public SciPy functions that are not ufuncs themselves.
_INNER = {"zeta": "_zeta", "zeta of one argument": "_riemann_zeta", "lambertw": "_lambertw"} | {
    f"spherical_{kind}n": f"_spherical_{kind}n" for kind in "jyik"
}
_INTEGERS = ("signed integer", "unsigned integer", "bool")


@cache
def scipy_function(name: str) -> Any:
    """Return a function of ``scipy.special``: a ufunc, if it is one."""
    try:
        from scipy import special
    except ImportError as error:
        raise ImportError(
            f"special.{name} calls scipy.special.{name}, and SciPy cannot be imported: {error}. "
            "To install it: pip install scipy",
            name="scipy",
        ) from error
    function = (
        getattr(special._ufuncs, _INNER[name], None) if name in _INNER else getattr(special, name, None)
    )
    if function is None:
        import scipy

        raise ImportError(f"special.{name}: SciPy {scipy.__version__} has no such function", name="scipy")
    # If SciPy dispatches by namespaces, the ufunc is wrapped.
    wrapped = getattr(function, "__wrapped__", None)
    return wrapped if hasattr(wrapped, "types") else function


def floating_operands(
    op: str, operands: tuple[Operand, ...], names: tuple[str, ...] = ()
) -> tuple[tuple[Array, ...], DType]:
    """Return operands as arrays, and the floating-point dtype to which they promote.

    Python scalars do not influence the precision; integers count as float64.
    """
    arrays = [x.dtype for x in operands if type(x) is Array]
    target = promote_all(arrays) if arrays else dt.float64
    if "floating" not in target.kind:
        target = dt.float64
    # Python integers stay integers for loops that take integers.
    found = tuple(
        x
        if type(x) is Array
        else as_array(x, op, None, name)
        if type(x) is int
        else as_array(x, op, target if isinstance(x, complex) else component_dtype(target), name)
        for name, x in zip(names or ("an operand",) * len(operands), operands, strict=True)
    )
    floating = [x.dtype for x, given in zip(found, operands, strict=True) if type(given) is not int]
    return found, promote_all([target, *(d for d in floating if "floating" in d.kind)])


@cache
def _loop(name: str, kinds: tuple[str, ...], target: DType) -> str:
    """Return the loop of a ufunc for operands of these kinds, "" if the ufunc has no such loop.

    Loops with integers are preferred if the operands are integers, because they need no conversion; complex
    loops are a last resort.
    """
    real = _REAL_LETTER[target]
    found = []
    for loop in scipy_function(name).types:
        letters, results = loop.split("->")
        wanted = _COMPLEX_LETTER[real] if target.kind == "complex floating" else real
        if results[0] == wanted and all(
            (letter in (real, _COMPLEX_LETTER[real]) and (letter != real or kind != "complex floating"))
            or (letter == "l" and kind in _INTEGERS)
            for letter, kind in zip(letters, kinds, strict=True)
        ):
            found.append((sum(letter in "FD" for letter in letters), -letters.count("l"), loop))
    return min(found)[2] if found else ""


def by_scipy(op: str, names: tuple[str, ...], *operands: Operand, ufunc: str = "") -> Array:
    """Call a SciPy ufunc, for example of the operation ``"special.betainc"``, on operands that broadcast.

    Returns
    -------
    Array
        New array of the promoted floating-point dtype; storage dtypes are computed in float32.
    """
    return several_by_scipy(op, names, *operands, ufunc=ufunc)[0]


def several_by_scipy(
    op: str, names: tuple[str, ...], *operands: Operand, ufunc: str = ""
) -> tuple[Array, ...]:
    """Call a ufunc that may have several results.

    Refused within `reproducible`, because SciPy computes with the C library, which differs between machines.
    """
    refuse_library(op, "SciPy")
    arrays, target = floating_operands(op, operands, names)
    computed = arithmetic_dtype(target)
    arrays = tuple(
        x if arithmetic_dtype(x.dtype) is x.dtype else copy(x, arithmetic_dtype(x.dtype)) for x in arrays
    )
    name = ufunc or op.partition(".")[2]
    function = scipy_function(name)
    kinds = tuple([x.dtype.kind for x in arrays])
    loop = _loop(name, kinds, computed)
    if computed is dt.float32 and not set(_INTEGERS).isdisjoint(kinds):
        # Loops that take integers exist only for float64.
        whole = _loop(name, kinds, dt.float64)
        if "l" in whole:
            loop, computed = whole, dt.float64
    if not loop:
        refuse_dtype(op, computed, "real-valued dtypes here", "")
    results = loop.partition("->")[2]
    outs = tuple([new_result(op, names, arrays, _DTYPES[letter]) for letter in results])
    if len(arrays) > 1:
        pairs = [
            (label, x.shape) for label, x, given in zip(names, arrays, operands, strict=True) if x is given
        ]
        check_broadcasting(op, pairs, outs[0].shape)
    call_quietly(
        function,
        *[to_numpy(x) for x in arrays],
        out=tuple([to_numpy(out) for out in outs]),
        signature=loop,
        casting="same_kind",
    )
    if computed is not target:
        outs = tuple([copy(out, target) for out in outs])
    return outs


def declared_ufunc(declaration: Declared) -> Declared:
    """Implement a declared function of `stride0.special` by SciPy's ufunc of the same name.

    A declaration has a signature of positional parameters and a docstring, and no body.
    """
    op = f"special.{declaration.__name__}"
    names = tuple(declaration.__annotations__)[:-1]

    @wraps(declaration)
    def function(*operands: Operand) -> Array:
        if len(operands) != len(names):
            declaration(*operands)  # raises Python's TypeError
        return by_scipy(op, names, *operands)

    return cast("Declared", primitive_in("special")(function))

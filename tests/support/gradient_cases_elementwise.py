"""Gradient cases of the elementwise functions: operands of every kind, broadcast, empty and without axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gradient_cases import Call, Case, Singular

NumPyArray = np.ndarray[Any, Any]
Args = Callable[[np.random.Generator], tuple[NumPyArray, ...]]
Shape = tuple[int, ...]
Range = tuple[float, float]

inf, nan = float("inf"), float("nan")


def real(*shapes: Shape, low: float = 0.2, high: float = 0.8) -> Args:
    return lambda rng: tuple(rng.uniform(low, high, shape) for shape in shapes)


def complex_(*shapes: Shape, low: float = 0.2, high: float = 0.8) -> Args:
    """Return numbers whose components are in a range, with imaginary parts of both signs."""

    def make(rng: np.random.Generator) -> tuple[NumPyArray, ...]:
        parts = [
            (rng.uniform(low, high, s), rng.uniform(low, high, s), rng.integers(0, 2, s)) for s in shapes
        ]
        return tuple(np.asarray(a + 1j * b * (1 - 2 * sign)) for a, b, sign in parts)

    return make


def kinds(*members: Args) -> Args:
    """Return the arrays of several makers of one array."""
    return lambda rng: tuple(make(rng)[0] for make in members)


def signed(*shapes: Shape, low: float = 0.2, high: float = 0.8) -> Args:
    """Return numbers of both signs and a magnitude in a range."""
    return lambda rng: tuple(
        np.asarray(rng.uniform(low, high, s) * (1 - 2 * rng.integers(0, 2, s))) for s in shapes
    )


def unary(name: str) -> Call:
    return lambda xp, x: getattr(xp, name)(x)


def binary(name: str) -> Call:
    return lambda xp, x1, x2: getattr(xp, name)(x1, x2)


def with_right(name: str, number: complex) -> Call:
    return lambda xp, x: getattr(xp, name)(x, number)


def with_left(name: str, number: complex) -> Call:
    return lambda xp, x: getattr(xp, name)(number, x)


BOTH_SIGNS = (-1.5, 1.5)
POSITIVE = (0.3, 3.0)

# Functions of one array: where real operands are drawn from, and whether complex ones are taken.
UNARY: dict[str, tuple[Range, bool]] = {
    "acos": ((-0.8, 0.8), True),
    "acosh": ((1.3, 3.0), True),
    "asin": ((-0.8, 0.8), True),
    "asinh": (BOTH_SIGNS, True),
    "atan": (BOTH_SIGNS, True),
    "atanh": ((-0.8, 0.8), True),
    "conj": (BOTH_SIGNS, True),
    "cos": (BOTH_SIGNS, True),
    "cosh": (BOTH_SIGNS, True),
    "exp": (BOTH_SIGNS, True),
    "expm1": (BOTH_SIGNS, True),
    "log": (POSITIVE, True),
    "log10": (POSITIVE, True),
    "log1p": ((-0.7, 2.0), True),
    "log2": (POSITIVE, True),
    "negative": (BOTH_SIGNS, True),
    "positive": (BOTH_SIGNS, True),
    "real": (BOTH_SIGNS, True),
    "reciprocal": (POSITIVE, True),
    "sign": (POSITIVE, True),
    "abs": (POSITIVE, True),
    "sin": (BOTH_SIGNS, True),
    "sinh": (BOTH_SIGNS, True),
    "sqrt": (POSITIVE, True),
    "square": (BOTH_SIGNS, True),
    "tan": ((-1.0, 1.0), True),
    "tanh": (BOTH_SIGNS, True),
}

# JAX treats the sign of complex numbers as constant, and PyTorch has no real part of real numbers.
UNARY_PEERS: dict[str, dict[str, Any]] = {"sign": {"jax": False}, "real": {"torch": False}}

# Functions of two arrays: ranges of real operands, and whether complex ones are taken.
BINARY: dict[str, tuple[Range, Range, bool]] = {
    "add": (BOTH_SIGNS, BOTH_SIGNS, True),
    "subtract": (BOTH_SIGNS, BOTH_SIGNS, True),
    "multiply": (BOTH_SIGNS, BOTH_SIGNS, True),
    "divide": (BOTH_SIGNS, POSITIVE, True),
    "pow": (POSITIVE, BOTH_SIGNS, True),
    "hypot": (BOTH_SIGNS, POSITIVE, False),
    "atan2": (BOTH_SIGNS, POSITIVE, False),
    "logaddexp": (BOTH_SIGNS, BOTH_SIGNS, False),
    "copysign": (POSITIVE, POSITIVE, False),
    "remainder": ((2.1, 2.4), (0.8, 1.0), False),
    "nextafter": (BOTH_SIGNS, POSITIVE, False),
    # The two ranges do not overlap, so one operand is always chosen. Mixed cases are below.
    "maximum": ((0.2, 0.5), (0.6, 0.9), False),
    "minimum": ((0.2, 0.5), (0.6, 0.9), False),
}

# PyTorch refuses this function; JAX treats it as constant.
BINARY_PEERS: dict[str, dict[str, Any]] = {"nextafter": {"torch": False, "jax": False}}

BROADCASTS: tuple[tuple[Shape, Shape], ...] = (
    ((3,), (1,)),
    ((2, 1), (1, 3)),
    ((2, 3), (3,)),
    ((), (2, 2)),
    ((2, 1, 2), ()),
    ((0, 3), (1, 3)),
    ((2, 0), (1,)),
    ((), ()),
)

SCALED = "add-alpha"


def scaled(alpha: complex) -> dict[str, Any]:
    """Return the call of each library for a sum with a factor of the second array."""
    return {
        "call": lambda xp, x1, x2: xp.add(x1, x2, alpha=alpha),
        "torch": lambda xp, x1, x2: x1 + alpha * x2,
        "jax": lambda xp, x1, x2: x1 + alpha * x2,
    }


def _interleaved(rng: np.random.Generator) -> tuple[NumPyArray, ...]:
    """Return two arrays, either of which has larger elements at some positions; no two are nearly equal."""
    x = rng.permutation(np.linspace(-1.0, 1.0, 12))
    return x[:6].reshape(2, 3), x[6:].reshape(2, 3)


def _clipped(rng: np.random.Generator) -> tuple[NumPyArray, ...]:
    """Return arrays of elements below, between and above two bounds, and the bounds."""
    x = np.asarray([[-1.0, -0.4, 0.1], [0.3, 0.9, 1.5]]) + rng.uniform(-0.05, 0.05, (2, 3))
    return x, np.asarray([-0.6, -0.1, 0.2]), np.asarray([[0.6], [1.1]])


def _only_x(rng: np.random.Generator) -> tuple[NumPyArray, ...]:
    return _clipped(rng)[:1]


def chosen(xp: Any, x1: Any, x2: Any) -> Any:
    return xp.where(xp.asarray([[True, False, True], [False, False, True]]), x1, x2)


def _pow_by(number: complex, args: Args, id: str, **peers: Any) -> Case:
    return Case("pow", with_right("pow", number), args, f"pow-{id}", **peers)


CASES: list[Case] = [
    *(
        Case(
            name,
            unary(name),
            real(shape, low=low, high=high),
            f"{name}-{shape}",
            **(UNARY_PEERS[name] if name == "real" else {}),
        )
        for name, ((low, high), _) in UNARY.items()
        for shape in ((2, 3), (), (0, 2))
    ),
    *(
        Case(name, unary(name), complex_(shape), f"{name}-{shape}-complex", **UNARY_PEERS.get(name, {}))
        for name, (_, takes_complex) in UNARY.items()
        if takes_complex
        for shape in ((3,), ())
    ),
    *(Case("imag", unary("imag"), complex_(shape), f"imag-{shape}") for shape in ((2, 3), (), (0,))),
    *(
        Case(
            "view",
            lambda xp, x, t=dtype: x.view(t) ** 2,
            make((2, 4)),
            f"{make.__name__}{dtype.__name__}",
            False,
            False,
            layout_matters=True,
        )
        for make in (real, complex_)
        for dtype in (float, complex)
    ),
    # Left of the imaginary axis, where the square root of a product is not the product of square roots.
    *(
        Case(
            name,
            unary(name),
            kinds(lambda rng: (-complex_((3,))(rng)[0],)),
            f"{name}-left-half-complex",
            # JAX's derivative of acosh has the wrong sign there.
            **UNARY_PEERS.get(name, {"jax": False} if name == "acosh" else {}),
        )
        for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "log", "sqrt", "abs", "sign")
    ),
    *(
        Case(name, unary(name), signed((4,)), f"{name}-both-signs")
        for name in ("abs", "sign", "square", "reciprocal")
    ),
    *(
        Case(
            name,
            binary(name),
            kinds(real(a, low=first[0], high=first[1]), real(b, low=second[0], high=second[1])),
            f"{name}-{a}-{b}",
            **BINARY_PEERS.get(name, {}),
        )
        for name, (first, second, _) in BINARY.items()
        for a, b in BROADCASTS
    ),
    *(
        Case(name, binary(name), kinds(one((2, 1)), other((3,))), f"{name}-{kind}")
        for name, (_, _, takes_complex) in BINARY.items()
        if takes_complex
        for one, other, kind in (
            (complex_, complex_, "complex"),
            (real, complex_, "real-complex"),
            (complex_, real, "complex-real"),
        )
    ),
    *(
        Case(name, call(name, number), make((2, 2)), f"{name}-{call.__name__}-{number}", **peers)
        for name in ("add", "subtract", "multiply", "divide")
        for call in (with_right, with_left)
        for make, number, peers in (
            (real, 3, {}),
            (real, -0.5, {}),
            (real, 2 - 1j, {}),
            (complex_, 0.5, {}),
            (complex_, 1 + 2j, {}),
        )
    ),
    *(
        Case(name, call(name, 0.7), real((3,), low=1.1, high=1.3), f"{name}-{call.__name__}", **peers)
        for name, peers in (
            ("hypot", {"torch": False}),
            ("atan2", {"torch": False}),
            ("logaddexp", {"torch": False}),
            ("copysign", {"torch": False}),
            ("remainder", {"torch": False}),
            ("maximum", {"torch": False}),
            ("minimum", {"torch": False}),
        )
        for call in (with_right, with_left)
    ),
    *(
        Case("add", args=args, id=f"{SCALED}-{alpha}{kind}", **scaled(alpha))
        for args, kind in ((real((2, 1), (3,)), ""), (complex_((2, 1), (3,)), "-complex"))
        for alpha in (2, -0.5, 1 - 2j, 1.0, 0)
    ),
    *(
        Case(
            "add",
            lambda xp, x1, x2, alpha: xp.add(x1, x2, alpha=alpha),
            args,
            f"{SCALED}-array{kind}",
            lambda xp, x1, x2, alpha: x1 + alpha * x2,
            lambda xp, x1, x2, alpha: x1 + alpha * x2,
        )
        for args, kind in ((real((2, 1), (3,), (1, 3)), ""), (complex_((3,), (2, 1), ()), "-complex"))
    ),
    Case("copysign", binary("copysign"), signed((6,), (6,)), "copysign-both-signs"),
    Case("atan2", binary("atan2"), signed((6,), (6,)), "atan2-quadrants"),
    Case("hypot", binary("hypot"), signed((6,), (6,)), "hypot-both-signs"),
    Case("divide", binary("divide"), signed((6,), (6,)), "divide-both-signs"),
    Case(
        "remainder",
        binary("remainder"),
        lambda rng: (
            np.asarray([2.3, -2.3, 2.3, -2.3]) + rng.uniform(-0.05, 0.05, 4),
            np.asarray([0.9, 0.9, -0.9, -0.9]),
        ),
        "remainder-signs",
    ),
    Case("maximum", binary("maximum"), _interleaved, "maximum-interleaved"),
    Case("minimum", binary("minimum"), _interleaved, "minimum-interleaved"),
    # --- powers
    *(_pow_by(n, signed((2, 2)), f"{n}") for n in (0, 1, 2, 3, -1, -2, 2.0)),
    *(_pow_by(n, real((2, 2)), f"{n}") for n in (0.5, -1.5, 0.0)),
    *(_pow_by(n, complex_((3,)), f"{n}-complex") for n in (0, 1, 2, 3, -2, 0.5, 1 - 0.5j)),
    _pow_by(0.5 + 1j, real((3,)), "real-to-complex"),
    *(
        Case("pow", with_left("pow", n), make((3,)), f"pow-of-{n}-{make.__name__}")
        for n in (2, 0.5, 1)
        for make in (signed, complex_)
    ),
    Case("pow", with_left("pow", 0), real((3,)), "pow-of-0"),
    Case("pow", with_left("pow", -0.5 + 1j), real((3,)), "pow-of-complex"),
    Case(
        "pow",
        lambda xp, x: xp.pow(x, xp.asarray([0, 1, 2, 3])),
        signed((2, 4)),
        "pow-integers",
    ),
    Case(
        "pow",
        lambda xp, x: xp.pow(x, xp.asarray([0, 1, 2, 3], dtype=xp.uint8)),
        signed((2, 4)),
        "pow-unsigned-integers",
    ),
    Case("pow", lambda xp, x: xp.pow(xp.asarray([1, 2, 3]), x), signed((2, 3)), "pow-of-integers"),
    # --- clip and where
    Case("clip", lambda xp, x: xp.clip(x, -0.5, 0.5), _only_x, "clip"),
    Case("clip", lambda xp, x: xp.clip(x, min=-0.5), _only_x, "clip-min"),
    Case("clip", lambda xp, x: xp.clip(x, max=0.5), _only_x, "clip-max"),
    # PyTorch refuses a call without bounds.
    Case("clip", lambda xp, x: xp.clip(x), _only_x, "clip-free", False),
    Case("clip", lambda xp, x: xp.clip(x, 0.5, -0.5), _only_x, "clip-crossed"),
    Case("clip", lambda xp, x, low, high: xp.clip(x, low, high), _clipped, "clip-arrays"),
    Case("clip", lambda xp, x, low: xp.clip(x, min=low), lambda rng: _clipped(rng)[:2], "clip-array-min"),
    Case("clip", lambda xp, x, high: xp.clip(x, max=high), lambda rng: _clipped(rng)[::2], "clip-array-max"),
    Case(
        "clip",
        lambda xp, x, high: xp.clip(x, -0.5, high),
        lambda rng: _clipped(rng)[::2],
        "clip-mixed",
        False,
    ),
    Case(
        "clip",
        lambda xp, x, high, low: xp.clip(x, low, high),
        _clipped,
        "clip-arrays-crossed",
        False,
    ),
    Case("clip", lambda xp, x: xp.clip(x, 0.0, 1.0), real((0, 2)), "clip-empty"),
    Case("clip", lambda xp, x: xp.clip(x, 0.0, 0.1), real(()), "clip-0d"),
    *(
        Case("where", chosen, make(a, b), f"where-{a}-{b}-{make.__name__}")
        for make in (real, complex_)
        for a, b in (((2, 3), (2, 3)), ((3,), (2, 1)), ((), (2, 3)))
    ),
    # PyTorch warns because it takes the real part of the gradient.
    Case("where", chosen, kinds(real((2, 3)), complex_((3,))), "where-real-complex", False),
    Case("where", lambda xp, x: chosen(xp, x, 1.0), real((2, 3)), "where-number"),
    Case("where", lambda xp, x: chosen(xp, 1j, x), real((3,)), "where-complex-number", False),
    Case(
        "where",
        lambda xp, x1, x2: xp.where(xp.asarray([[True], [False]]), x1, x2),
        real((3,), ()),
        "where-broadcast",
    ),
]


def _at(*points: Any) -> tuple[NumPyArray, ...]:
    return tuple(np.asarray(p, dtype=complex if np.iscomplexobj(p) else float) for p in points)


def _guarded(function: Callable[[Any, Any], Any], other: Callable[[Any], Any]) -> Call:
    """Return a call that uses one function for positive elements and another for other elements."""
    return lambda xp, x: xp.where(x > 0, function(xp, x), other(x))


TIES = _at([1.0, 2.0, 3.0], [1.0, 3.0, 2.0])

SINGULAR: list[Singular] = [
    Singular("abs-0", unary("abs"), _at([0.0, -0.0, 2.0, -3.0]), ([0, 0, 1, -1],), ([0, 0, 0, 0],)),
    Singular("abs-0-complex", unary("abs"), _at([0j, 3 + 4j]), ([0, 0.6 + 0.8j],), None),
    Singular("sign-0-complex", lambda xp, x: xp.real(xp.sign(x)), _at([0j, 2j]), ([0, 0.5],), None),
    Singular(
        "hypot-0",
        binary("hypot"),
        _at([0.0, 3.0], [0.0, 4.0]),
        ([0, 0.6], [0, 0.8]),
        ([0, 0.032], [0, -0.024]),
    ),
    Singular("hypot-0-one", with_right("hypot", 0), _at([0.0, 2.0, -2.0]), ([0, 1, -1],), ([0, 0, 0],)),
    Singular("atan2-0", binary("atan2"), _at([0.0], [0.0]), ([0], [0]), ([0], [0])),
    Singular(
        "copysign-0", binary("copysign"), _at([0.0, 2.0], [1.0, -1.0]), ([0, -1], [0, 0]), ([0, 0], [0, 0])
    ),
    Singular("maximum-ties", binary("maximum"), TIES, ([0.5, 0, 1], [0.5, 1, 0]), ([0, 0, 0], [0, 0, 0])),
    Singular("minimum-ties", binary("minimum"), TIES, ([0.5, 1, 0], [0.5, 0, 1]), ([0, 0, 0], [0, 0, 0])),
    Singular("maximum-itself", lambda xp, x: xp.maximum(x, x), _at([1.0, -2.0]), ([1, 1],), ([0, 0],)),
    Singular("maximum-inf", binary("maximum"), _at([inf, inf], [inf, 1.0]), ([0.5, 1], [0.5, 0]), None),
    Singular(
        "maximum-square",
        lambda xp, x: xp.maximum(x, 0) ** 2,
        _at([0.0, 3.0, -1.0]),
        ([0, 6, 0],),
        ([0.5, 2, 0],),
    ),
    Singular(
        "clip-bounds", lambda xp, x: xp.clip(x, 0, 1), _at([-1.0, 0.0, 1.0, 2.0]), ([0, 1, 1, 0],), ([0] * 4,)
    ),
    Singular(
        "clip-equal-bounds",
        lambda xp, x, low, high: xp.clip(x, low, high),
        _at([0.0, 1.0, 2.0], [1.0] * 3, [1.0] * 3),
        ([0, 1, 0], [1, 0, 0], [0, 0, 1]),
        ([0, 0, 0], [0, 0, 0], [0, 0, 0]),
    ),
    Singular(
        "clip-crossed-bounds",
        lambda xp, x, low, high: xp.clip(x, low, high),
        _at([0.0, 1.5, 3.0], [2.0] * 3, [1.0] * 3),
        ([0, 0, 0], [0, 0, 0], [1, 1, 1]),
        ([0, 0, 0], [0, 0, 0], [0, 0, 0]),
    ),
    Singular(
        "logaddexp-inf",
        binary("logaddexp"),
        _at([-inf, -inf, 1.0, inf], [-inf, 1.0, -inf, 0.0]),
        ([0.5, 0, 1, 1], [0.5, 1, 0, 0]),
        ([0, 0, 0, 0], [0, 0, 0, 0]),
    ),
    Singular("logaddexp-equal", binary("logaddexp"), _at([1.0], [1.0]), ([0.5], [0.5]), ([0], [0])),
    # --- powers of 0
    *(
        Singular(f"pow-0-{n}", with_right("pow", n), _at([0.0]), ([first],), ([second],))
        for n, first, second in ((0, 0, 0), (1, 1, 0), (2, 0, 2), (3, 0, 0), (2.5, 0, 0), (0.0, 0, 0))
    ),
    *(
        Singular(f"pow-0-{n}-complex", with_right("pow", n), _at([0j]), ([first],), None)
        for n, first in ((0, 0), (1, 1), (2, 0), (3, 0))
    ),
    Singular(
        "pow-0-array",
        binary("pow"),
        _at([0.0, 0.0, 0.0, 0.0], [0.0, 2.0, 3.0, 2.5]),
        ([0, 0, 0, 0], [0, 0, 0, 0]),
        ([0, 2, 0, 0], [0, 0, 0, 0]),
    ),
    Singular("pow-of-0", with_left("pow", 0.0), _at([0.0, 1.0, 2.0]), ([0, 0, 0],), ([0, 0, 0],)),
    # For nonzero bases the exponent 0 is not singular: second derivatives contain log(2) and similar terms.
    Singular(
        "pow-2-0",
        binary("pow"),
        _at([2.0], [0.0]),
        ([0], [float(np.log(2))]),
        ([0.5], [0.5 + float(np.log(2)) ** 2]),
    ),
    # --- branches that are not taken, and cotangents of 0, contribute nothing
    Singular(
        "where-sqrt",
        _guarded(lambda xp, x: xp.sqrt(x), lambda x: 0.0),
        _at([-1.0, 0.0, 4.0]),
        ([0, 0, 0.25],),
        ([0, 0, -1 / 32],),
    ),
    Singular(
        "where-log",
        _guarded(lambda xp, x: xp.log(x), lambda x: x),
        _at([-1.0, 0.0, 2.0]),
        ([1, 1, 0.5],),
        ([0, 0, -0.25],),
    ),
    Singular(
        "where-divide",
        _guarded(lambda xp, x: 1 / x, lambda x: x),
        _at([-1.0, 0.0, 2.0]),
        ([1, 1, -0.25],),
        ([0, 0, 0.25],),
    ),
    Singular(
        "where-quotient",
        lambda xp, x1, x2: xp.where(x2 != 0, x1 / x2, x1),
        _at([0.0, 3.0], [0.0, 2.0]),
        ([1, 0.5], [0, -0.75]),
        ([0, -0.25], [0, 0.5]),
    ),
    Singular(
        "where-exp",
        lambda xp, x: xp.where(x < 700, xp.exp(x), x),
        _at([0.0, 1000.0]),
        ([1, 1],),
        ([1, 0],),
    ),
    Singular(
        "where-pow",
        _guarded(lambda xp, x: x**-1.5, lambda x: x),
        _at([-1.0, 0.0, 1.0]),
        ([1, 1, -1.5],),
        ([0, 0, 3.75],),
    ),
    Singular("where-nan", lambda xp, x: xp.where(x == x, x * x, 0.0), _at([nan, 3.0]), ([0, 6],), ([0, 2],)),
    Singular("sqrt-unused", lambda xp, x: 0 * xp.sqrt(x), _at([0.0, 4.0]), ([0, 0],), ([0, 0],)),
    Singular(
        "sqrt-of-maximum",
        lambda xp, x: xp.sqrt(xp.maximum(x, 0)),
        _at([-1.0, 4.0]),
        ([0, 0.25],),
        ([0, -1 / 32],),
    ),
    Singular(
        "sqrt-of-clip",
        lambda xp, x: xp.sqrt(xp.clip(x, 0, 9)),
        _at([-1.0, 4.0]),
        ([0, 0.25],),
        ([0, -1 / 32],),
    ),
    Singular("divide-by-0", lambda xp, x: xp.where(x > 5, x / 0, x), _at([1.0, 2.0]), ([1, 1],), ([0, 0],)),
]

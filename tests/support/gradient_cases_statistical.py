"""Gradient cases of the statistical functions, of sorting, sets and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gradient_cases import Call, Case, Singular
from gradient_cases_elementwise import Args, NumPyArray, Shape, complex_, inf, nan, signed

# Shape, axis and whether the reduced axes stay.
REDUCED: list[tuple[Shape, int | tuple[int, ...] | None, bool]] = [
    ((4,), None, False),
    ((2, 3), None, False),
    ((2, 3), None, True),
    ((2, 3), 0, False),
    ((2, 3), -1, True),
    ((2, 3), 1, False),
    ((2, 3, 2), (0, -1), False),
    ((2, 3, 2), (2, 1), True),
    ((2, 3), (), False),
    ((3, 1), 1, False),
    ((), None, False),
]

# For functions that also accept empty arrays.
EMPTY: list[tuple[Shape, int | tuple[int, ...] | None, bool]] = [
    ((0,), None, False),
    ((2, 0), 1, False),
    ((2, 0), 0, True),
    ((0, 3), (0, 1), True),
]

# For cumulative functions: shape, axis and `include_initial`.
LINES: list[tuple[Shape, int | None, bool]] = [
    ((5,), None, False),
    ((5,), None, True),
    ((2, 3), 0, False),
    ((2, 3), -1, True),
    ((2, 3, 2), 1, True),
    ((2, 3, 2), -3, False),
    ((1,), 0, True),
    ((0,), 0, False),
    ((0,), 0, True),
    ((2, 0), 1, True),
    ((0, 2), 1, False),
    ((), None, False),
    ((), 0, True),
]


def apart(shape: Shape) -> Args:
    """Return elements in any order, no two of them nearly equal."""
    size = int(np.prod(shape))
    return lambda rng: (rng.permutation(np.linspace(-1.0, 1.5, size)).reshape(shape),)


def complex_apart(shape: Shape) -> Args:
    return lambda rng: (apart(shape)(rng)[0] + 1j * rng.uniform(-0.5, 0.5, shape),)


def call(name: str, **options: Any) -> Call:
    return lambda xp, x: getattr(xp, name)(x, **options)


def to_dtype(name: str, dtype: str, **options: Any) -> Call:
    return lambda xp, x: getattr(xp, name)(x, dtype=getattr(xp, dtype), **options)


def first(name: str) -> Call:
    """Return a call that returns only the first of several results."""
    return lambda xp, x: getattr(xp, name)(x)[0]


def with_zeros(*zeros: int, make: Callable[..., Args] = signed, shape: Shape = (5,)) -> Args:
    """Return elements of which the given ones, counted in C order, are 0."""

    def with_them(rng: np.random.Generator) -> tuple[NumPyArray, ...]:
        (x,) = make(shape, low=0.5, high=1.5)(rng)
        x.reshape(-1)[list(zeros)] = 0
        return (x,)

    return with_them


def diff(args: Args, id: str, **options: Any) -> Case:
    return Case("diff", call("diff", **options), args, f"diff-{id}")


# In PyTorch an empty tuple means all axes, and standard deviations accept only integer corrections.
def _reduction(
    name: str, shape: Shape, axis: Any, keepdims: bool, make: Callable[[Shape], Args], **options: Any
) -> Case:
    text = "-".join(f"{key}={value}" for key, value in options.items())
    return Case(
        name,
        call(name, axis=axis, keepdims=keepdims, **options),
        make(shape),
        "-".join(filter(None, (name, f"{shape}", f"{axis}", "kept" * keepdims, text, make.__name__))),
        torch=False if axis == () or (name == "std" and options["correction"] == 0.5) else None,
    )


CASES: list[Case] = [
    # --- reductions
    *(
        _reduction(name, *row, make)
        for name in ("sum", "mean", "prod")
        for make in (signed, complex_)
        for row in REDUCED
    ),
    *(_reduction(name, *row, signed) for name in ("sum", "prod") for row in EMPTY),
    _reduction("mean", (2, 0), 0, True, signed),
    *(
        # PyTorch warns because it takes the real part of the gradient.
        Case(name, to_dtype(name, "complex128", axis=axis), signed((2, 3)), f"{name}-dtype-{axis}", False)
        for name, axis in (("sum", None), ("sum", 0), ("prod", None), ("prod", 0))
    ),
    *(_reduction(name, *row, apart) for name in ("max", "min") for row in REDUCED),
    *(
        _reduction(name, *row, make, correction=correction)
        for name in ("var", "std")
        for make, correction in ((apart, 0.0), (complex_apart, 1), (apart, 0.5))
        for row in REDUCED
        if np.prod(row[0]) > 3 and row[1] != ()
    ),
    *(_reduction("var", (2, 3), (), False, make) for make in (signed, complex_)),
    # --- products with zeros
    *(
        Case("prod", call("prod"), with_zeros(*zeros, make=make), f"prod-zeros-{zeros}-{make.__name__}")
        for make in (signed, complex_)
        for zeros in ((0,), (2,), (1, 4), (0, 2, 3))
    ),
    *(
        Case(
            "prod",
            call("prod", axis=axis, keepdims=keepdims),
            with_zeros(0, 4, 5, 11, shape=(2, 3, 2)),
            f"prod-zeros-{axis}-{keepdims}",
        )
        for axis, keepdims in ((0, True), (1, False), (-1, False), ((0, 2), False), ((2, 1), True))
    ),
    *(
        Case(
            "cumulative_prod",
            call("cumulative_prod", include_initial=initial),
            with_zeros(*zeros, make=make),
            f"cumulative_prod-zeros-{zeros}-{initial}-{make.__name__}",
        )
        for make, initial in ((signed, False), (complex_, True))
        for zeros in ((0,), (2,), (4,), (1, 3), (0, 1, 4), (0, 1, 2, 3, 4))
    ),
    *(
        Case(
            "cumulative_prod",
            call("cumulative_prod", axis=axis, include_initial=initial),
            with_zeros(0, 4, 5, 11, shape=(2, 3, 2)),
            f"cumulative_prod-zeros-axis-{axis}-{initial}",
        )
        for axis, initial in ((0, False), (1, True), (-1, False))
    ),
    # --- cumulative functions
    *(
        Case(
            name,
            call(name, axis=axis, include_initial=initial),
            make(shape),
            f"{name}-{shape}-{axis}-{initial}-{make.__name__}",
            # The libraries differ for 0-d arrays.
            *(() if shape else (False, False)),
        )
        for name in ("cumulative_sum", "cumulative_prod")
        for make in (signed, complex_)
        for shape, axis, initial in LINES
    ),
    *(
        Case(name, to_dtype(name, "complex128", axis=1), signed((2, 3)), f"{name}-dtype", False)
        for name in ("cumulative_sum", "cumulative_prod")
    ),
    # --- sorting and set functions
    *(
        Case(
            "sort",
            call("sort", axis=axis, descending=descending, stable=stable),
            apart(shape),
            f"sort-{shape}-{axis}-{descending}-{stable}",
        )
        for shape, axis, descending, stable in (
            ((6,), -1, False, True),
            ((6,), 0, True, True),
            ((3, 4), 0, True, False),
            ((3, 4), 1, False, False),
            ((2, 3, 2), -2, False, True),
            ((2, 0), 1, False, True),
        )
    ),
    *(
        Case(
            "unique_values",
            call("unique_values"),
            make(shape),
            f"unique_values-{shape}-{make.__name__}",
            False,
            False,
        )
        for make in (apart, complex_)
        for shape in ((5,), (2, 3), (), (0,))
    ),
    *(
        Case(name, first(name), make((2, 3)), f"{name}-{make.__name__}", False, False)
        for name in ("unique_all", "unique_counts", "unique_inverse")
        for make in (apart, complex_)
    ),
    # --- differences
    diff(signed((5,)), "line"),
    diff(complex_((5,)), "complex"),
    diff(signed((5,)), "twice", n=2),
    diff(signed((5,)), "three-times", n=3),
    diff(signed((5,)), "not-at-all", n=0),
    diff(signed((3,)), "nothing-left", n=3),
    diff(signed((3,)), "more-than-all", n=7),
    diff(signed((2, 4)), "rows", axis=0),
    diff(signed((2, 4, 2)), "axis", axis=-2, n=2),
    Case(
        "diff",
        lambda xp, x, before: xp.diff(x, prepend=before),
        signed((2, 3), (2, 1)),
        "diff-prepend",
    ),
    Case(
        "diff",
        lambda xp, x, behind: xp.diff(x, axis=0, append=behind, n=2),
        signed((2, 3), (2, 3)),
        "diff-append",
    ),
    Case(
        "diff",
        lambda xp, before, x, behind: xp.diff(x, axis=-2, prepend=before, append=behind, n=3),
        complex_((1, 2), (3, 2), (2, 2)),
        "diff-both",
    ),
]


def _array(values: Any) -> NumPyArray:
    return np.asarray(values, dtype=complex if np.iscomplexobj(values) else float)


def singular(id: str, call: Call, x: Any, gradient: Any, second: Any) -> Singular:
    return Singular(id, call, (_array(x),), (gradient,), None if second is None else (second,))


SINGULAR: list[Singular] = [
    singular("max-ties", call("max"), [3, 1, 3, 3], [1 / 3, 0, 1 / 3, 1 / 3], [0, 0, 0, 0]),
    singular("min-ties", call("min"), [3, 1, 1, 3], [0, 0.5, 0.5, 0], [0, 0, 0, 0]),
    singular("max-all-ties", call("max", axis=0), [[2, 1], [2, 0]], [[0.5, 1], [0.5, 0]], [[0, 0], [0, 0]]),
    singular("min-inf-ties", call("min"), [inf, inf], [0.5, 0.5], [0, 0]),
    singular("max-square", lambda xp, x: xp.max(x) ** 2, [2, 2, 0], [2, 2, 0], [1, 1, 0]),
    singular("std-0", call("std"), [2, 2, 2], [0, 0, 0], [0, 0, 0]),
    singular("std-0-one", call("std", axis=1), [[2.0], [-1.0]], [[0], [0]], [[0], [0]]),
    singular("std-0-complex", call("std"), [1j, 1j], [0, 0], [0, 0]),
    singular("var-0", call("var"), [2, 2, 2, 2], [0, 0, 0, 0], [0, 0, 0, 0]),
    singular(
        "var-not-taken",
        lambda xp, x: xp.where(x < 9, xp.sum(x), xp.var(x, correction=5)),
        [1, 2],
        [2, 2],
        [0, 0],
    ),
    singular("prod-0-0", call("prod"), [0, 3, 0], [0, 0, 0], [3, 0, 3]),
    singular("prod-0", call("prod"), [0, 3, 2], [6, 0, 0], [5, 2, 3]),
    singular("prod-0-0-0", call("prod"), [0, 0, 0], [0, 0, 0], [0, 0, 0]),
    # The product is 0 although no element is.
    singular("prod-tiny", call("prod"), [1e-200, 1e-200], [1e-200, 1e-200], [1, 1]),
    singular("cumulative_prod-0-0", call("cumulative_prod"), [0, 3, 0], [4, 0, 0], [4, 1, 3]),
    singular("cumulative_prod-all-0", call("cumulative_prod"), [0, 0], [1, 0], [1, 1]),
    # The equal elements stay in order.
    singular(
        "sort-ties",
        lambda xp, x: xp.sum(xp.sort(x) * xp.asarray([1.0, 2.0, 3.0])),
        [5, 1, 5],
        [2, 1, 3],
        [0, 0, 0],
    ),
    singular(
        "sort-ties-descending",
        lambda xp, x: xp.sum(xp.sort(x, descending=True) * xp.asarray([1.0, 2.0, 3.0])),
        [5, 1, 5],
        [1, 3, 2],
        [0, 0, 0],
    ),
    singular("unique_values-ties", call("unique_values"), [5, 1, 5], [0.5, 1, 0.5], [0, 0, 0]),
    *(
        singular(f"{name}-ties", first(name), [5, 1, 5], [0.5, 1, 0.5], [0, 0, 0])
        for name in ("unique_all", "unique_counts", "unique_inverse")
    ),
    singular("unique_values-nan", call("unique_values"), [nan, 1, nan], [1, 1, 1], [0, 0, 0]),
]

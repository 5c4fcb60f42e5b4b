"""Cotangents at repeated eigenvalues and singular values.

Note [Repeated values]
    A rule of a decomposition divides numerators, which it computes from the cotangents of the vectors, by
    differences or sums of values. If values repeat, numerator and denominator are 0 if the loss does not
    depend on the choice of vectors. The quotient then has a limit, but the cotangents do not determine it: if
    all values are equal, V f(w) V^H is a multiple of the identity. The gradient depends on the slope of f,
    which the cotangents do not contain.

    So let the values separate: w + t d, with the same vectors and a different d for each value. The loss is
    smooth in the matrix, so its gradient at t = 0 is the limit for t -> 0. The quotient becomes

        numerator / (t slope)  ->  numerator' / slope,

    where `slope` is the derivative of the denominator. The derivative of the numerator is the derivative of
    the backward pass up to the rule, and so of every operation that follows the decomposition:
    Note [Recorded passes] in `tape.pyx`.

    For a derivative of the gradient, the quotient must be known for denominators other than 0, too. The
    numerator n(t) and the denominator d(t) are functions of t; d(t) is linear, and 0 at t = -d(0) / slope.
    Taylor's theorem gives

        n(0) / d(0) = sum of (-d(0))^(k - 1) n^(k)(0) / (k! slope^k)  for k = 1, 2, ...

    The derivative of order m needs m terms.

    Values that differ by rounding errors count as repeated. Values that differ by more, but agree in half of
    the digits (a third, if second derivatives may follow), have a quotient with few right digits. The sum
    then replaces the quotient, if both agree within the errors of the quotient, which they do if the loss
    does not depend on the choice of vectors. If second derivatives may follow, their derivatives must agree
    as well: a loss that depends on the choice can have a numerator that is 0 at one matrix, but not next to
    it. If the loss does not depend on the choice, the numerator and the product of denominator and sum are
    the same function of values and vectors, so one irregular direction is a sufficient test.

    If the numerator is not 0 at repeated values, or does not stay 0 as the vectors of a block rotate, then
    the loss depends on the choice of vectors, and has no gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from stride0._chapters.creation import arange, zeros_like
from stride0._chapters.data_types import astype, finfo
from stride0._chapters.elementwise import abs, equal, greater, less_equal, logical_and, logical_or
from stride0._chapters.manipulation import expand_dims
from stride0._chapters.statistical import max
from stride0._chapters.utility import any
from stride0._core.array.array import Array
from stride0._core.elementwise.functions import where
from stride0._core.memory.dtype import DType
from stride0.autograd._rules.inverses import diagonal_mask, differences, reciprocals, slack_of
from stride0.autograd._rules.parts import product, some
from stride0.autograd._tape.opaque import hide_derivatives
from stride0.autograd._tape.tape import derivatives_along, detach_all, orders_of, terms_of
from stride0.linalg._decompositions import LinAlgError


def largest_of(values: Array) -> Array:
    """Return the largest absolute value of each matrix, with two axes of size 1 for the matrix axes."""
    return expand_dims(max(abs(values), axis=-1, keepdims=True), axis=-1)


def near_of(values: Array) -> Array:
    """Return the difference below which quotients, or their derivatives, have lost half of the digits."""
    hide_derivatives()
    digits = 1 / 3 if orders_of([values]) else 1 / 2
    found: Array = finfo(values.dtype).eps ** digits * largest_of(detach_all(values))
    return found


def repeated(values: Array, zeros: bool = False) -> Array:
    """Return a mask of values that are close to another value or, with `zeros`, close to 0."""
    near = near_of(values)
    values = detach_all(values)
    close = logical_and(less_equal(abs(differences(values)), near), ~diagonal_mask(values.shape[-1]))
    found = any(close, axis=-1)
    return logical_or(found, less_equal(abs(values), near[..., 0])) if zeros else found


def has_repeated(values: Array, zeros: bool = False) -> bool:
    return values.size > 0 and some(repeated(values, zeros))


def some_of(conditions: Sequence[Array]) -> bool:
    return bool(sum(some(x) for x in conditions))


class Quotient(NamedTuple):
    """A numerator and a denominator, and the slope of the denominator as values separate."""

    numerator: Array
    denominator: Array
    slope: Array


class Separation:
    """The change of a call's results as its repeated values separate: Note [Repeated values].

    `place` gives different numbers to values that may be close; `order` is the size of the matrix.
    """

    def __init__(
        self,
        operation: str,
        out: tuple[Array, ...],
        at: int,
        cotangents: Sequence[Array | None],
        order: int,
        place: Array | None = None,
    ) -> None:
        self.operation, self.out, self.at, self.order = operation, out, at, order
        self.cotangents = [g for g in cotangents if g is not None]
        # Steps and thresholds are constants.
        hide_derivatives()
        values = detach_all(out[at])
        largest = max(abs(values), axis=-1, keepdims=True)
        n = values.shape[-1]
        self.place = arange(n, dtype=largest.dtype) if place is None else place
        steps = (self.place + 1.0) / n * where(equal(largest, 0), 1, largest)
        self.all_steps = steps
        self.steps = where(repeated(out[at], operation == "svd"), steps, 0)
        self.near = near_of(out[at])
        self.slack = slack_of(values, order, order)
        self.block = less_equal(abs(differences(values)), self.near)

    def generator(self, dtype: DType, whole: bool = False) -> Array:
        """Return an irregular, strictly upper triangular matrix; 0 outside of near blocks if not `whole`."""
        place = arange(self.block.shape[-1], dtype=self.steps.dtype)
        mixed = (expand_dims(place, axis=-1) * 0.6180339887498949 + place * 0.4142135623730951) % 1 + 0.5
        upper = greater(expand_dims(place, axis=-2), expand_dims(place, axis=-1))
        found = astype(where(upper if whole else logical_and(self.block, upper), mixed, 0), dtype)
        return found * (1 + 0.7j) if dtype.kind == "complex floating" else found

    def quotients(
        self,
        parts: Sequence[Quotient],
        x_moved: Array,
        rotations: Sequence[tuple[Array | None, ...]],
        together: bool,
        direction: Callable[[], tuple[tuple[Array | None, ...], Array]],
    ) -> list[Array]:
        """Return quotients, or their limits if denominators count as 0.

        `rotations` are two changes of vectors. A loss that does not depend on the choice of vectors stays the
        same along their difference (`together`) or along each of them. `direction` returns a change of all
        values and vectors, and the change of the matrix.
        """
        eps = float(finfo(self.steps.dtype).eps)
        near, slack = self.near, self.slack
        numerators = [part.numerator for part in parts]
        count = len(numerators)
        moved: tuple[Array | None, ...] = tuple(
            astype(self.steps, x.dtype) if k == self.at else None for k, x in enumerate(self.out)
        )

        several = [*numerators, *self.cotangents]
        first = self._derivatives(several, moved, x_moved)
        rotated = [self._derivatives(several, r, None) for r in rotations]
        # A zero cotangent still has the rounding errors of its terms, or of its derivatives.
        scale: Any = 0
        for g in [
            *terms_of(self.out, self.at),
            *self.cotangents,
            *(d for found in (first, *rotated) for d in found[count:]),
        ]:
            scale = scale + max(abs(g), axis=(-2, -1), keepdims=True)

        first = first[:count]
        inexact = [
            logical_and(greater(abs(part.denominator), slack), less_equal(abs(part.denominator), near))
            for part in parts
        ]
        orders = orders_of([*numerators, *first])
        uncertain = some_of(inexact)
        terms = 1 + orders + uncertain
        limits = []
        slopes = []
        for part, d in zip(parts, first, strict=True):
            slopes.append(where(equal(part.slope, 0), 1, part.slope))
            limits.append(d / slopes[-1])
        higher = first
        for k in range(2, terms + 1):
            higher = self._derivatives(higher, moved, x_moved)
            for i, part in enumerate(parts):
                close = where(less_equal(abs(part.denominator), near), part.denominator, 0)
                factor = (-close / slopes[i]) ** (k - 1) / (math.factorial(k) * slopes[i])
                limits[i] = limits[i] + higher[i] * factor

        errors = [p.numerator - p.denominator * limit for p, limit in zip(parts, limits, strict=True)]
        bound = 32 * self.order * eps * scale
        agreements = [less_equal(abs(error), bound) for error in errors]
        if uncertain and orders:
            along = direction()
            derived = [*errors, *self.cotangents]
            for _ in range(orders):
                derived = self._derivatives(derived, *along)
                for g in derived[count:]:
                    bound = bound + 32 * self.order * eps * max(abs(g), axis=(-2, -1), keepdims=True)
                agreements = [
                    logical_and(a, less_equal(abs(d), bound))
                    for a, d in zip(agreements, derived[:count], strict=True)
                ]

        found = []
        for i, part in enumerate(parts):
            size = abs(part.denominator)
            equals = less_equal(size, slack)
            noise = math.sqrt(eps) * scale
            turns = [abs(rotated[0][i] - rotated[1][i])] if together else [abs(t[i]) for t in rotated]
            excess: Any = greater(abs(part.numerator), noise + slack * abs(limits[i]))
            for turn in turns:
                excess = logical_or(excess, greater(turn, noise))
            if some(logical_and(equals, excess)):
                self._refuse()
            limit = logical_or(equals, logical_and(less_equal(size, near), agreements[i]))
            quotient = product(part.numerator, reciprocals(part.denominator, slack))
            found.append(where(limit, limits[i], quotient))
        return found

    def _derivatives(
        self, xs: list[Array], moved: tuple[Array | None, ...], x_moved: Array | None
    ) -> list[Array]:
        found = derivatives_along(xs, self.out, moved, x_moved)
        return [zeros_like(x) if d is None else d for x, d in zip(xs, found, strict=True)]

    def _refuse(self) -> NoReturn:
        svd = self.operation == "svd"
        name = "singular values" if svd else "eigenvalues"
        raise LinAlgError(
            self.operation,
            f"there is no gradient: {name} repeat{' or are 0' if svd else ''}, their vectors are a matter of "
            "choice, and the result depends on it, or its gradient does: it is not differentiable here",
            [(name, str(self.out[self.at].shape))],
            "use the values only, or V @ V.mT over all vectors of a repeated value; "
            "write stop_gradient(vectors) to drop their gradient",
        )

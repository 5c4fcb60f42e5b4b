"""HIPS/autograd's way of defining derivatives: `primitive`, then `defvjp` or `defjvp`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from stride0._base.errors import GradientError
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function
from stride0.autograd import custom_jvp, stop_gradient
from stride0.autograd._parts import FLOATING
from stride0.autograd._tape.tape import is_tracked, is_tracked_below
from stride0.autograd._tape.trees import flatten
from stride0.autograd.hips._operators import arrays, conjugate

__all__ = ["defjvp", "defvjp", "primitive"]


def _has(test: Callable[[Array], bool], tree: Any) -> bool:
    return any(isinstance(x, Array) and test(x) for x in flatten(tree)[0])


class primitive:
    """A function whose derivatives `defvjp` and `defjvp` define; a decorator.

    Parameters
    ----------
    fun : callable
        Takes arrays that are not tracked, so that it may call any library, and returns arrays.

    Raises
    ------
    GradientError
        If a tracked array is passed for an argument that has no rule.

    Notes
    -----
    If there are only rules of `defjvp`, reverse mode transposes them.

    Examples
    --------
    >>> from stride0.autograd import hips
    >>> @hips.primitive
    ... def square(x):
    ...     return np.square(np.asarray(x))
    >>> hips.defvjp(square, lambda ans, x: lambda g: 2 * x * g)
    >>> hips.grad(square)(3.0), hips.grad(hips.grad(square))(3.0)
    (Array(6., dtype=float64), Array(2., dtype=float64))
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        check_function("primitive", fun)
        self.fun = fun
        self.rules: dict[str, dict[int, Any]] = {"defvjp": {}, "defjvp": {}}
        functools.update_wrapper(self, fun)

    def _refuse(self, k: int, *_: Any, **__: Any) -> NoReturn:
        name = getattr(self.fun, "__name__", "the function")
        raise GradientError(
            "primitive", f"argument {k} of {name} has no rule", accepts="define one with defvjp or defjvp"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        pulls, pushes = self.rules["defvjp"], self.rules["defjvp"]
        tracked = [k for k, x in enumerate(args) if _has(lambda x: is_tracked(x) or is_tracked_below(x), x)]
        for k in tracked:
            if k not in (pulls or pushes):
                self._refuse(k)
        whole = custom_jvp(lambda *given: arrays(self.fun(*map(stop_gradient, given), **kwargs)))
        call = whole._reverse
        call.operation = "primitive"
        if not pulls and not pushes:
            return call.f(*args)

        def forward(*given: Any) -> Any:
            answer = call(*given)
            return answer, (answer, given)

        def backward(kept: Any, g: Any) -> tuple[Any, ...]:
            answer, given = kept
            makers = [
                pulls.get(k) if _has(lambda x: x.dtype.kind in FLOATING, x) else None
                for k, x in enumerate(given)
            ]
            return tuple(
                None if make is None else conjugate(arrays(make(answer, *given, **kwargs)(conjugate(g))))
                for make in makers
            )

        if pushes:
            # Forward mode raises an error for arguments that only `defvjp` has a rule for.
            missing = {k: functools.partial(self._refuse, k) for k in tracked}
            rules = [(missing | pushes).get(k) for k in range(len(args))]
            whole.defjvps(*[rule and functools.partial(rule, **kwargs) for rule in rules])
        if pulls:
            call.defvjp(forward, backward)
            if derivative := call.derivative:
                call.derivative = lambda fixed, kept, *facts: derivative(fixed, kept[1], *facts)
        return call(*args)


def _define(kind: str, fun: primitive, rules: Sequence[Any], argnums: Sequence[int] | None) -> None:
    fun.rules[kind] = dict(zip(range(len(rules)) if argnums is None else argnums, rules, strict=False))


def defvjp(fun: primitive, *makers: Any, argnums: Sequence[int] | None = None) -> None:
    """Define the gradient of a `primitive`.

    Parameters
    ----------
    fun : primitive
        The function.
    *makers : callable or None
        For each argument a function of the result and all arguments, which returns a function that maps the
        cotangent of the result to the cotangent of the argument. None stands for zero.
    argnums : sequence of int, optional
        The arguments that `makers` belong to; by default the first ones.

    Notes
    -----
    Complex cotangents are in HIPS's convention, the conjugates of stride0's.

    Examples
    --------
    >>> from stride0.autograd import hips
    >>> product = hips.primitive(lambda x, y: x * y)
    >>> hips.defvjp(product, lambda ans, x, y: lambda g: g * y, lambda ans, x, y: lambda g: g * x)
    >>> hips.grad(product, (0, 1))(2.0, 5.0)
    (Array(5., dtype=float64), Array(2., dtype=float64))
    """
    _define("defvjp", fun, makers, argnums)


def defjvp(fun: primitive, *rules: Any, argnums: Sequence[int] | None = None) -> None:
    """Define the derivative of a `primitive` in a direction.

    Parameters
    ----------
    fun : primitive
        The function.
    *rules : callable or None
        For each argument a function of its direction, the result and all arguments, which returns its term
        of the derivative. None stands for zero.
    argnums : sequence of int, optional
        The arguments that `rules` belong to; by default the first ones.

    Examples
    --------
    >>> from stride0.autograd import hips
    >>> sine = hips.primitive(lambda x: xp.sin(x))
    >>> hips.defjvp(sine, lambda g, ans, x: g * xp.cos(x))
    >>> hips.deriv(sine)(0.0)
    Array(1., dtype=float64)
    """
    _define("defjvp", fun, rules, argnums)

"""`custom_jvp`: functions whose directional derivative the caller defines."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, GradientError, counted
from stride0._chapters.creation import zeros
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function, check_sequence
from stride0.autograd._custom import custom_vjp
from stride0.autograd._parts import FLOATING, matched, numbers_of
from stride0.autograd._tape.trees import Structure, flatten
from stride0.autograd._transforms import stop_gradient, vjp

__all__ = ["custom_jvp"]

Rule = Callable[..., tuple[Any, Any]]


class custom_jvp:
    """Decorator for a function whose directional derivative the caller defines.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or nested structures of arrays.
    nondiff_argnums : sequence of int
        Arguments that are not arrays, or by which the function is not differentiated.

    Notes
    -----
    The derivative is linear in the direction. `jvp` calls the rule. Reverse mode (`grad`, `vjp` and others)
    transposes it: it computes the pullback of the rule as a function of the direction. So the rule need not
    define a transpose. For higher derivatives, the rule itself is differentiated.

    Examples
    --------
    >>> @xp.autograd.custom_jvp
    ... def log1pexp(x):
    ...     return xp.log(1 + xp.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (v,) = primals, tangents
    ...     return log1pexp(x), v * (1 - 1 / (1 + xp.exp(x)))
    >>> xp.autograd.grad(log1pexp)(xp.asarray(100.0))
    Array(1., dtype=float64)
    """

    def __init__(self, f: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        check_function("custom_jvp", f)
        numbers = check_sequence("custom_jvp", "nondiff_argnums", nondiff_argnums, "integers")
        self.nondiff_argnums = tuple(numbers)
        self.rule: Rule | None = None
        self._reverse = custom_vjp(f, numbers)
        self._reverse.operation = "custom_jvp"
        functools.update_wrapper(self, f)

    def defjvp(self, rule: Rule) -> Rule:
        """Define the derivative.

        Parameters
        ----------
        rule : callable
            Takes the arguments of `nondiff_argnums`, a tuple of the other arguments, and a tuple of their
            directions, which are structured like them, with None for leaves without a derivative. Returns a
            pair: the result, and the derivative, which is structured like the result and linear in the
            directions; None in it means zero.

        Returns
        -------
        callable
            The rule, so that `defjvp` can be used as a decorator.

        Examples
        --------
        >>> @xp.autograd.custom_jvp
        ... def f(x):
        ...     return xp.sin(x)
        >>> @f.defjvp
        ... def rule(primals, tangents):
        ...     return f(*primals), tangents[0] * xp.cos(primals[0])
        >>> xp.autograd.jvp(f, (xp.asarray(0.0),), (xp.asarray(2.0),))
        (Array(0., dtype=float64), Array(2., dtype=float64))
        """
        self.rule = rule
        self._reverse.defvjp(self._forward, functools.partial(_transposed, rule))
        self._reverse.derivative = functools.partial(_derivative, rule)
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """Define the derivative by one rule for each argument.

        Parameters
        ----------
        *rules : callable or None
            Takes the direction of its argument, the result, and all arguments; returns this argument's term
            of the derivative. None if the function does not depend on the argument.

        Examples
        --------
        >>> @xp.autograd.custom_jvp
        ... def product(x, y):
        ...     return x * y
        >>> product.defjvps(lambda v, result, x, y: v * y, lambda v, result, x, y: x * v)
        >>> xp.autograd.grad(product, argnums=(0, 1))(xp.asarray(2.0), xp.asarray(5.0))
        (Array(5., dtype=float64), Array(2., dtype=float64))
        """
        if self.nondiff_argnums:
            raise ArgumentValueError(
                "custom_jvp", "defjvps is for functions without nondiff_argnums", (), "call defjvp(rule)"
            )

        def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
            if len(rules) != len(primals):
                problem = f"{counted(len(rules), 'rule')} for {counted(len(primals), 'argument')}"
                raise ArgumentValueError(
                    "custom_jvp", f"defjvps has {problem}", accepts="pass one rule per argument, or None"
                )
            result = self(*primals)
            terms = [
                one(v, result, *primals)
                for one, v in zip(rules, tangents, strict=True)
                if one is not None and v is not None
            ]
            leaves, structure = flatten(result)
            what = "the result and a term of its derivative"
            parts = [matched("custom_jvp", structure, term, what) for term in terms]
            sums = [functools.reduce(_sum, column) for column in zip(*parts, strict=True)]
            return result, structure.rebuild(sums or [None] * len(leaves))

        self.defjvp(rule)

    def _forward(self, *args: Any) -> tuple[Any, Any]:
        """Return the result, which does not depend on tracked arrays, and the arguments for the rule."""
        fixed = numbers_of("custom_jvp", self.nondiff_argnums, len(args), "nondiff_argnums")
        constants = [x if k in fixed else stop_gradient(x) for k, x in enumerate(args)]
        return self._reverse.f(*constants), [x for k, x in enumerate(args) if k not in fixed]

    def __call__(self, *args: Any) -> Any:
        """Call the function; the rule gives its derivative."""
        if self.rule is None:
            raise GradientError("custom_jvp", "the function has no derivative", (), "call defjvp(rule) first")
        return self._reverse(*args)


def _sum(one: Any, other: Any) -> Any:
    """Return the sum of two terms of a derivative; None is zero."""
    return other if one is None else one if other is None else one + other


def _is_floating(x: Any) -> bool:
    return isinstance(x, Array) and x.dtype.kind in FLOATING


def _derivative(
    rule: Rule, fixed: Sequence[Any], primals: Any, directions: Any, shape: Structure, facts: Sequence[Any]
) -> list[Any]:
    """Return the derivative of each result by the rule; None for zero and for other results than arrays."""
    found = rule(*fixed, tuple(primals), tuple(directions))
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise ArgumentTypeError("custom_jvp", "the rule must return a pair: the result and the derivative")
    parts = matched("custom_jvp", shape, found[1], "the result and the derivative of the rule")
    for part, fact in zip(parts, facts, strict=True):
        if fact is not None and fact[1].kind in FLOATING and not isinstance(part, Array) and part is not None:
            raise ArgumentTypeError(
                "custom_jvp",
                f"a derivative of the rule is of type {type(part).__name__}",
                accepts="return an array for each array of the result, or None for zero",
            )
    return [part if isinstance(part, Array) else None for part in parts]


def _transposed(rule: Rule, *given: Any) -> tuple[Any, ...]:
    """Return the cotangents of the arguments: the pullback of the rule as a function of the directions."""
    *fixed, primals, cotangent = given
    leaves, structure = flatten(tuple(primals))
    at = [k for k, x in enumerate(leaves) if _is_floating(x)]
    results, shape = flatten(cotangent)
    facts = [(g.shape, g.dtype) if isinstance(g, Array) else None for g in results]
    wanted = [k for k, g in enumerate(results) if _is_floating(g)]

    def directions(found: Sequence[Any]) -> Any:
        placed: list[Any] = [None] * len(leaves)
        for k, v in zip(at, found, strict=True):
            placed[k] = v
        return structure.rebuild(placed)

    def linear(*tangents: Array) -> list[Array]:
        parts = _derivative(rule, fixed, primals, directions(tangents), shape, facts)
        return [
            zeros(results[k].shape, dtype=results[k].dtype) if parts[k] is None else parts[k] for k in wanted
        ]

    _, pull = vjp(linear, *[zeros(leaves[k].shape, dtype=leaves[k].dtype) for k in at])
    return tuple(directions(pull([results[k] for k in wanted])))

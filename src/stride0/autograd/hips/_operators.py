"""HIPS/autograd's operators. Each takes a function and `argnum`; see Note [HIPS's convention].

Note [HIPS's convention]
    HIPS's gradient with respect to a complex argument ``x + iy`` is ``df/dx - i df/dy``. Its rules take
    and return cotangents in this form. stride0 uses the conjugates. `pulled` takes and returns HIPS's form.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._base.errors import ArgumentTypeError
from stride0._core.array.array import Array
from stride0._core.call.checks import check_function
from stride0._core.exchange.numpy_calls import numpy
from stride0.autograd import jvp, linearize, value_and_jacobian, vjp
from stride0.autograd._parts import numbers_of
from stride0.autograd._tape.trees import flatten, tree_map

__all__ = [
    *("deriv", "elementwise_grad", "grad", "grad_and_aux", "grad_named", "hessian", "hessian_tensor_product"),
    *(
        "hessian_vector_product",
        "holomorphic_grad",
        "jacobian",
        "make_ggnvp",
        "make_hvp",
        "make_jvp",
        "make_vjp",
    ),
    *("multigrad_dict", "tensor_jacobian_product", "value_and_grad", "vector_jacobian_product"),
]

Operator = Callable[..., Callable[..., Any]]


def is_complex(tree: Any) -> bool:
    return any(isinstance(x, Array) and x.dtype.kind == "complex floating" for x in flatten(tree)[0])


def conjugate(tree: Any) -> Any:
    return tree_map(xp.conj, tree) if is_complex(tree) else tree


def arrays(tree: Any, scalars: tuple[type, ...] = (float, complex)) -> Any:
    """Return a structure in which stride0 arrays replace numeric NumPy arrays and Python scalars."""
    np = numpy()

    def converted(x: Any) -> Any:
        is_foreign = isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufc"
        return xp.asarray(x) if is_foreign or isinstance(x, scalars) else x

    return tree_map(converted, tree)


def pulled(fun: Callable[..., Any], x: Any) -> tuple[Callable[[Any], Any], Any]:
    """Return the function that pulls cotangents back, and the value: Note [HIPS's convention]."""
    value, pull = vjp(fun, x)
    return lambda g: conjugate(pull(conjugate(arrays(g)))[0]), value


DOCUMENT = """{}

    Parameters
    ----------
    fun : callable
        Returns arrays, or nested structures of arrays.
    argnum : int or sequence of int
        The argument to differentiate by: an array, a float, or a nested structure of them. A sequence stands
        for the tuple of these arguments.

    Returns
    -------
    callable
        Takes the arguments of `fun`, returns {}

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ShapeError
        If `argnum`, the argument or the result of `fun` does not fit.

    Examples
    --------
    >>> from stride0.autograd import hips
    >>> {}
    """


def _document(*parts: str) -> str:
    """Fill the template; Python 3.13 removes the indentation of docstrings, older versions keep it."""
    return inspect.cleandoc(DOCUMENT).format(*map(inspect.cleandoc, parts))


def _operator(unary: Callable[..., Any]) -> Operator:
    """Return an operator from a function of ``(fun, x)``; its docstring is a template's three parts."""
    name = unary.__name__

    def operator(fun: Callable[..., Any], argnum: Any = 0) -> Callable[..., Any]:
        check_function(name, fun)

        def of_arguments(*args: Any, **kwargs: Any) -> Any:
            numbers = numbers_of(name, argnum, len(args))
            single = not isinstance(argnum, (tuple, list))
            given = arrays(args[numbers[0]] if single else tuple(args[n] for n in numbers))

            def of_chosen(x: Any) -> Any:
                changed = list(arrays(args, ()))
                for n, item in zip(numbers, (x,) if single else x, strict=True):
                    changed[n] = item
                return arrays(fun(*changed, **arrays(kwargs, ())))

            return unary(of_chosen, given)

        of_arguments.__name__ = f"{name}_of_{getattr(fun, '__name__', 'function')}_wrt_argnum_{argnum}"
        return of_arguments

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = _document(*(unary.__doc__ or "").split("\n\n"))
    return operator


@_operator
def make_vjp(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that returns the vector-Jacobian product of `fun`, and its value.

    a pair: a function that multiplies a cotangent by the Jacobian, and the value.

    hips.make_vjp(lambda x: x**2)(3.0)[0](1.0)
    Array(6., dtype=float64)"""
    return pulled(fun, x)


@_operator
def make_jvp(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that differentiates a function in directions.

    a function of a direction that returns a pair: the value and the derivative.

    hips.make_jvp(lambda x: x**2)(3.0)(1.0)
    (Array(9., dtype=float64), Array(6., dtype=float64))"""
    return lambda v: jvp(fun, (x,), (arrays(v),))


def _value_and_grad(name: str, fun: Callable[..., Any], x: Any) -> Any:
    pull, value = pulled(fun, x)
    if not isinstance(value, Array) or value.size != 1 or is_complex(value):
        raise ArgumentTypeError(
            name, "the result is not a real number", (), "call jacobian or elementwise_grad"
        )
    return value, pull(xp.ones_like(value))


@_operator
def value_and_grad(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that returns the value and the gradient of a function with one real result.

    a pair: the value and the gradient.

    hips.value_and_grad(lambda x: x**2)(3.0)
    (Array(9., dtype=float64), Array(6., dtype=float64))"""
    return _value_and_grad("value_and_grad", fun, x)


@_operator
def grad(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that returns the gradient of a function with one real result.

    the gradient, structured like the argument.

    hips.grad(lambda x: x**2)(3.0)
    Array(6., dtype=float64)"""
    return _value_and_grad("grad", fun, x)[1]


@_operator
def grad_and_aux(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that returns the gradient of the first of two results, and the second result.

    a pair: the gradient, and the second result.

    hips.grad_and_aux(lambda x: (x**2, x + 1))(3.0)
    (Array(6., dtype=float64), Array(4., dtype=float64))"""
    value, pull, aux = vjp(fun, x, has_aux=True)
    return conjugate(pull(tree_map(xp.ones_like, value))[0]), aux


@_operator
def elementwise_grad(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that sums the rows of the Jacobian: the derivative of an elementwise function.

    the sum, structured like the argument.

    hips.elementwise_grad(lambda x: x**2)(xp.asarray([1.0, 3.0]))
    Array([2., 6.], dtype=float64)"""
    pull, value = pulled(fun, x)
    if is_complex(value):
        raise ArgumentTypeError("elementwise_grad", "the result is complex", accepts="call holomorphic_grad")
    return pull(tree_map(xp.ones_like, value))


@_operator
def deriv(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that returns the derivative in the direction of ones, by forward mode.

    the derivative, structured like the result of `fun`.

    hips.deriv(lambda x: x**2)(3.0)
    Array(6., dtype=float64)"""
    return jvp(fun, (x,), (tree_map(xp.ones_like, x),))[1]


@_operator
def jacobian(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that returns the Jacobian of a function with real results.

    an array of shape ``(*y.shape, *x.shape)``.

    hips.jacobian(lambda x: x**2)(xp.asarray([1.0, 3.0]))
    Array([[2., 0.],
           [0., 6.]], dtype=float64)"""
    value, matrix = value_and_jacobian(fun)(x)
    if is_complex(value):
        raise ArgumentTypeError(
            "jacobian", "the result is complex", accepts="call stride0.autograd.jacobian if f is holomorphic"
        )
    return conjugate(matrix)


@_operator
def hessian(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that returns the Jacobian of the Jacobian.

    an array of shape ``(*y.shape, *x.shape, *x.shape)``.

    hips.hessian(lambda x: x[0] * x[1])(xp.asarray([1.0, 3.0]))
    Array([[0., 1.],
           [1., 0.]], dtype=float64)"""
    return jacobian(jacobian(fun))(x)


@_operator
def holomorphic_grad(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that returns the derivative of a holomorphic function.

    the derivative. Warns if the argument is not complex.

    hips.holomorphic_grad(lambda z: z**2)(1 + 2j)
    Array(2.+4.j, dtype=complex128)"""
    if not is_complex(x):
        warnings.warn("holomorphic_grad: the argument is not complex", stacklevel=3)
    return grad(lambda x: xp.real(fun(x)))(x)


@_operator
def make_hvp(fun: Callable[..., Any], x: Any) -> Any:
    """Make a function that multiplies vectors by the Hessian of a function.

    a pair: a function that multiplies a vector by the Hessian, and the gradient.

    hips.make_hvp(lambda x: x**3)(2.0)[0](1.0)
    Array(12., dtype=float64)"""
    return pulled(grad(fun), x)


def _with_tensor(name: str, product: Callable[..., Any]) -> Operator:
    """Return an operator whose function takes a tensor after the arguments of `fun`."""

    def operator(fun: Callable[..., Any], argnum: Any = 0) -> Callable[..., Any]:
        check_function(name, fun)
        return lambda *args, **kwargs: product(fun, argnum, args[:-1], arrays(args[-1]), kwargs)

    operator.__name__ = operator.__qualname__ = name
    return operator


hessian_tensor_product = _with_tensor(
    "hessian_tensor_product", lambda f, n, args, v, named: make_hvp(f, n)(*args, **named)[0](v)
)
hessian_tensor_product.__doc__ = _document(
    "Make a function that multiplies a tensor by the Hessian of a function.",
    "the product. The tensor, of the argument's shape, is the last argument.",
    "hips.hessian_tensor_product(lambda x: x**3)(2.0, 1.0)\n    Array(12., dtype=float64)",
)
tensor_jacobian_product = _with_tensor(
    "tensor_jacobian_product",
    lambda f, n, args, v, named: jacobian(lambda *a: xp.tensordot(v, arrays(f(*a, **named)), axes=v.ndim), n)(
        *args
    ),
)
tensor_jacobian_product.__doc__ = _document(
    "Make a function that multiplies the first axes of the Jacobian by a tensor.",
    "the product. The tensor is the last argument.",
    "hips.tensor_jacobian_product(lambda x: x**2)(xp.asarray([1.0, 3.0]), xp.asarray([1.0, 1.0]))\n"
    "    Array([2., 6.], dtype=float64)",
)
hessian_vector_product, vector_jacobian_product = hessian_tensor_product, tensor_jacobian_product


def make_ggnvp(
    f: Callable[..., Any],
    g: Callable[..., Any] = lambda x: 0.5 * xp.sum(x**2, axis=-1),
    f_argnum: int = 0,
) -> Callable[..., Any]:
    """Make a function that multiplies vectors by the generalized Gauss-Newton matrix of ``g(f(x))``.

    Parameters
    ----------
    f : callable
        Returns an array.
    g : callable
        The loss: takes the result of `f`, returns one real number.
    f_argnum : int
        The argument of `f` to differentiate by, which is real.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns a function of a vector.

    Examples
    --------
    >>> from stride0.autograd import hips
    >>> hips.make_ggnvp(lambda x: 3 * x)(xp.asarray([1.0, 2.0]))(xp.asarray([1.0, 0.0]))
    Array([9., 0.], dtype=float64)
    """

    def unary(fun: Callable[..., Any], x: Any) -> Any:
        if is_complex(x):
            raise ArgumentTypeError("make_ggnvp", "the argument is complex", accepts="pass a real array")
        value, push = linearize(fun, x)
        product, _ = make_hvp(g)(value)
        return lambda v: push.transpose(product(push(arrays(v))))[0]

    unary.__name__, unary.__doc__ = "make_ggnvp", "\n\n\n\n"
    return _operator(unary)(f, f_argnum)


def grad_named(fun: Callable[..., Any], argname: str) -> Callable[..., Any]:
    """Make a function that returns the gradient with respect to a positional argument, given its name.

    Parameters
    ----------
    fun : callable
        Returns one real number.
    argname : str
        The name of an argument, which is passed by position.

    Returns
    -------
    callable
        Takes the arguments of `fun`, returns the gradient.

    Examples
    --------
    >>> from stride0.autograd import hips
    >>> hips.grad_named(lambda x, w: x * w**2, "w")(1.0, 3.0)
    Array(6., dtype=float64)
    """
    return grad(fun, list(inspect.signature(fun).parameters).index(argname))


def multigrad_dict(fun: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Make a function that returns the gradients with respect to all arguments, by their names.

    Parameters
    ----------
    fun : callable
        Returns one real number.

    Returns
    -------
    callable
        Takes the arguments of `fun`, returns a dict. Defaults are arguments, too; the gradient of an
        integer or a text is None.

    Examples
    --------
    >>> from stride0.autograd import hips
    >>> hips.multigrad_dict(lambda x, w=2.0: x * w)(3.0)
    {'x': Array(2., dtype=float64), 'w': Array(3., dtype=float64)}
    """
    check_function("multigrad_dict", fun)
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def of_values(values: Any) -> Any:
            call = inspect.BoundArguments(signature, values)
            return fun(*call.args, **call.kwargs)

        found: dict[str, Any] = grad(of_values)(dict(bound.arguments))
        return found

    return gradients

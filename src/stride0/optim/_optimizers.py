"""Gradient descent with momentum, Adam, and L-BFGS by SciPy.

References
----------
Names and design follow Optax; steps are the same as in PyTorch's optimisers. Kingma, Ba: Adam, ICLR 2015.
Byrd, Lu, Nocedal, Zhu: A limited memory algorithm for bound constrained optimization, SIAM J. Sci. Comput. 16
(1995).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

from stride0._base.errors import ArgumentTypeError, ArgumentValueError
from stride0._chapters.creation import zeros_like
from stride0._chapters.data_types import astype
from stride0._chapters.manipulation import concat, reshape, stack
from stride0._core.array.array import Array
from stride0._core.call.checks import as_real, check_array, check_function
from stride0._core.elementwise.elementwise import as_array, check_cast
from stride0._core.elementwise.functions import add, divide, imag, multiply, real, sqrt
from stride0._core.exchange.numpy_calls import from_numpy, to_numpy
from stride0._core.memory.dtype import float64, promote
from stride0.autograd._numpy import on_numpy
from stride0.autograd._parts import matched
from stride0.autograd._tape.trees import flatten
from stride0.autograd._transforms import value_and_grad

__all__ = ["Minimum", "Optimizer", "adam", "apply_updates", "minimize_lbfgs", "sgd"]

# A number, or a function that takes the number of updates so far and returns a number.
Rate = float | Callable[[int], float]


class Optimizer(NamedTuple):
    """A pair of functions.

    Attributes
    ----------
    init : callable
        Takes parameters, a nested structure of arrays, and returns the first state.
    update : callable
        Takes gradients structured like the parameters, a state and, unused, the parameters; returns updates
        structured like them, and the next state.

    Examples
    --------
    >>> optimizer = xp.optim.sgd(0.1, momentum=0.9)
    >>> state = optimizer.init([xp.zeros(2)])
    >>> updates, state = optimizer.update([xp.ones(2)], state)
    >>> updates
    [Array([-0.1, -0.1], dtype=float64)]
    """

    init: Callable[[Any], Any]
    update: Callable[..., tuple[Any, Any]]


class _State(NamedTuple):
    """The number of updates so far, and moving averages, each structured like the parameters."""

    steps: int
    averages: tuple[Any, ...]


def _each(
    operation: str, function: Callable[..., Array], tree: Any, *others: Any, constants: bool = False
) -> Any:
    """Apply a function to each leaf of a tree and the corresponding leaves of other trees.

    Integers, strings, dtypes and functions are not leaves: they stay, or are replaced by None.
    """
    leaves, structure = flatten(tree, 1)
    columns = [matched(operation, structure, other, "the trees") for other in others]
    return structure.rebuild([function(*row) for row in zip(leaves, *columns, strict=True)], constants)


def _by_parts(function: Callable[..., Array]) -> Callable[..., Array]:
    """Return a function of real arrays that takes complex arrays as pairs of reals, as PyTorch does."""

    def applied(*operands: Any) -> Array:
        complexes = [x for x in operands if isinstance(x, Array) and x.dtype.kind == "complex floating"]
        if not complexes:
            return function(*operands)
        dtype = reduce(promote, [x.dtype for x in complexes])
        zeros = zeros_like(complexes[0], dtype=dtype)
        whole = [x if any(x is each for each in complexes) else add(x, zeros) for x in operands]
        parts = stack((function(*map(real, whole)), function(*map(imag, whole))), axis=-1)
        return parts.view(dtype)[..., 0]

    return applied


def _at(rate: Rate, count: int) -> float:
    return float(rate(count) if callable(rate) else rate)


def _check_rate(operation: str, rate: object) -> None:
    if not callable(rate):
        as_real(operation, "learning_rate", rate)


def _between(operation: str, name: str, value: float) -> float:
    number = as_real(operation, name, value)
    if not 0 <= number < 1:
        raise ArgumentValueError(operation, f"{name} is {value!r}", (), "pass a number from 0 to less than 1")
    return number


def apply_updates(parameters: Any, updates: Any) -> Any:
    """Add updates to parameters.

    Parameters
    ----------
    parameters, updates : nested structures of arrays
        Both of the same structure. Integers, strings, dtypes and functions within the parameters do not
        change, here and in all optimisers; their gradients and updates are None.

    Returns
    -------
    nested structure of arrays
        New arrays of the dtypes of the parameters.

    Raises
    ------
    ArgumentTypeError
        If a parameter is not an array.
    ArgumentValueError
        If the structures differ.

    Examples
    --------
    >>> parameters = {"w": xp.asarray([1.0, 2.0]), "b": xp.asarray(0.0)}
    >>> xp.optim.apply_updates(parameters, {"w": xp.asarray([0.5, -0.5]), "b": xp.asarray(1.0)})
    {'w': Array([1.5, 1.5], dtype=float64), 'b': Array(1., dtype=float64)}
    """

    def step(p: Any, u: Any) -> Array:
        p = check_array("apply_updates", p, "parameters")
        u = as_array(u, "apply_updates", p.dtype, "updates")
        check_cast("apply_updates", u.dtype, p.dtype)
        return astype(add(p, u), p.dtype, copy=False)

    return _each("apply_updates", step, parameters, updates, constants=True)


def sgd(learning_rate: Rate, momentum: float = 0.0, nesterov: bool = False) -> Optimizer:
    """Make an optimiser: gradient descent, with momentum.

    Parameters
    ----------
    learning_rate : float or callable
        The factor of the gradient in an update; or a function that takes the number of updates so far.
    momentum : float
        The factor of the previous direction in each direction, from 0 to 1 (excluded).
    nesterov : bool
        Whether to use Nesterov momentum.

    Returns
    -------
    Optimizer
        It takes the same steps as ``torch.optim.SGD``.

    Raises
    ------
    ArgumentValueError
        If `momentum` is negative, or 1 or more.

    Examples
    --------
    >>> optimizer = xp.optim.sgd(lambda step: 0.5 / (1 + step))
    >>> gradient = xp.autograd.grad(lambda x: xp.sum((x - 3) ** 2))
    >>> x = xp.zeros(2)
    >>> state = optimizer.init(x)
    >>> for _ in range(2):
    ...     updates, state = optimizer.update(gradient(x), state)
    ...     x = xp.optim.apply_updates(x, updates)
    >>> x
    Array([3., 3.], dtype=float64)
    """
    _check_rate("sgd", learning_rate)
    kept = _between("sgd", "momentum", momentum)

    def init(parameters: Any) -> _State:
        return _State(0, (_each("init", zeros_like, parameters),) if kept else ())

    def update(gradients: Any, state: _State, parameters: Any = None) -> tuple[Any, _State]:
        rate = _at(learning_rate, state.steps)
        directions, averages = gradients, state.averages
        if kept:
            directions = _each("update", lambda g, v: add(multiply(v, kept), g), gradients, state.averages[0])
            averages = (directions,)
            if nesterov:
                directions = _each("update", lambda g, v: add(multiply(v, kept), g), gradients, directions)
        updates = _each("update", lambda d: multiply(d, -rate), directions)
        return updates, _State(state.steps + 1, averages)

    return Optimizer(init, update)


def adam(learning_rate: Rate, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Optimizer:
    """Make an optimiser: Adam, which scales each element's step by the size of its gradients.

    Real and imaginary parts of a complex parameter are scaled separately.

    Parameters
    ----------
    learning_rate : float or callable
        The size of a step; or a function that takes the number of updates so far.
    b1, b2 : float
        Decay factors of the moving averages of gradients and of their squares, from 0 to 1 (excluded).
    eps : float
        Number added to the square root of the average of squares.

    Returns
    -------
    Optimizer
        It takes the same steps as ``torch.optim.Adam``.

    Raises
    ------
    ArgumentValueError
        If `b1` or `b2` is negative, or 1 or more.

    Examples
    --------
    >>> optimizer = xp.optim.adam(0.1)
    >>> x = xp.asarray([1.0, 2.0])
    >>> updates, state = optimizer.update(xp.asarray([1e-3, 1e3]), optimizer.init(x))
    >>> xp.optim.apply_updates(x, updates).round(3)
    Array([0.9, 1.9], dtype=float64)
    """
    _check_rate("adam", learning_rate)
    as_real("adam", "eps", eps)
    first, second = _between("adam", "b1", b1), _between("adam", "b2", b2)

    def init(parameters: Any) -> _State:
        zeros = _each("init", zeros_like, parameters)
        return _State(0, (zeros, zeros))

    def update(gradients: Any, state: _State, parameters: Any = None) -> tuple[Any, _State]:
        rate, count = _at(learning_rate, state.steps), state.steps + 1

        def mean(g: Array, m: Array) -> Array:
            return add(multiply(m, first), multiply(g, 1 - first))

        def square(g: Array, v: Array) -> Array:
            return add(multiply(v, second), multiply(multiply(g, g), 1 - second))

        def step(m: Array, v: Array) -> Array:
            size = add(sqrt(divide(v, 1 - second**count)), eps)
            return divide(multiply(m, -rate / (1 - first**count)), size)

        means = _each("update", _by_parts(mean), gradients, state.averages[0])
        squares = _each("update", _by_parts(square), gradients, state.averages[1])
        return _each("update", _by_parts(step), means, squares), _State(count, (means, squares))

    return Optimizer(init, update)


class Minimum(NamedTuple):
    """The result of `minimize_lbfgs`.

    Attributes
    ----------
    parameters : nested structure of arrays
        The parameters at the minimum.
    value : float
        Value of the function there.
    iterations, evaluations : int
        The numbers of steps, and of calls of the function with its gradient.
    success : bool
        Whether the method has converged.
    message : str
        Why the method ended.

    Examples
    --------
    >>> found = xp.optim.minimize_lbfgs(lambda x: (x - 3) ** 2, xp.asarray(0.0))
    >>> found.success, round(found.value, 6)
    (True, 0.0)
    """

    parameters: Any
    value: float
    iterations: int
    evaluations: int
    success: bool
    message: str


def minimize_lbfgs(
    f: Callable[..., Any], parameters: Any, *args: Any, options: dict[str, Any] | None = None
) -> Minimum:
    """Minimise a function of a nested structure of arrays by L-BFGS, as SciPy implements it.

    Parameters
    ----------
    f : callable
        Takes the parameters and `args`, returns a real floating-point 0-d array.
    parameters : nested structure of arrays
        The initial guess, of real floating-point dtypes.
    *args
        Further arguments of `f`.
    options : dict, optional
        Options of ``scipy.optimize.minimize(method="L-BFGS-B")``: ``maxiter``, ``ftol``, ``gtol``,
        ``maxcor``, ...

    Returns
    -------
    Minimum
        The parameters are new arrays of the same shapes and dtypes.

    Raises
    ------
    ArgumentTypeError
        If a parameter has another dtype, or `options` is not a dict.
    ImportError
        If SciPy cannot be imported.

    Examples
    --------
    >>> def loss(point, scale):
    ...     return (point["x"] - 1) ** 2 + scale * (point["y"] - point["x"] ** 2) ** 2
    >>> found = xp.optim.minimize_lbfgs(loss, {"x": xp.asarray(-1.0), "y": xp.asarray(1.0)}, 10.0)
    >>> found.parameters["x"].round(3), found.parameters["y"].round(3)
    (Array(1., dtype=float64), Array(1., dtype=float64))
    """
    try:
        optimize = importlib.import_module("scipy.optimize")
    except ImportError as error:
        raise ImportError(
            "minimize_lbfgs calls SciPy, which cannot be imported: pip install scipy"
        ) from error
    if options is not None and not isinstance(options, dict):
        raise ArgumentTypeError(
            "minimize_lbfgs", f"options is {type(options).__name__}", (), "pass a dict of options, or None"
        )
    check_function("minimize_lbfgs", f)
    leaves, structure = flatten(parameters, 1)
    if not leaves:
        raise ArgumentValueError("minimize_lbfgs", "parameters holds no array", (), "pass at least one array")
    for leaf in leaves:
        if not isinstance(leaf, Array) or leaf.dtype.kind != "real floating":
            raise ArgumentTypeError(
                "minimize_lbfgs",
                f"a parameter is {type(leaf).__name__}",
                (),
                "pass real floating-point arrays",
            )

    def apart(x: Array) -> Any:
        found, first = [], 0
        for leaf in leaves:
            part = reshape(x[first : first + leaf.size], leaf.shape)
            found.append(astype(part, leaf.dtype))
            first += leaf.size
        return structure.rebuild(found)

    start = concat([astype(reshape(leaf, (-1,)), float64) for leaf in leaves])
    objective = on_numpy(value_and_grad(lambda x: astype(f(apart(x), *args), float64)))
    # SciPy copies the initial guess.
    found = optimize.minimize(objective, to_numpy(start), jac=True, method="L-BFGS-B", options=options or {})
    place = apart(from_numpy(found.x))
    return Minimum(
        place, float(found.fun), int(found.nit), int(found.nfev), bool(found.success), str(found.message)
    )

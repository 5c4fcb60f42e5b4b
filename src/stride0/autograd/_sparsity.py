"""Sparse derivatives: patterns, sparse Jacobians and Hessians, and plans. They import SciPy when called."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stride0._core.call.checks import check_function
from stride0.autograd._parts import Argnums

if TYPE_CHECKING:
    from stride0.autograd._sparse.plans import Plan

__all__ = [
    "SparsePlan",
    "hessian_sparsity",
    "jacobian_sparsity",
    "sparse_hessian",
    "sparse_jacobian",
    "sparse_plan",
]


class SparsePlan:
    """
    Computes sparse derivatives of one function; returned by `sparse_plan`.

    Attributes
    ----------
    jacobian_sparsity, hessian_sparsity : scipy.sparse.csr_array
        The patterns, of dtype bool; `hessian_sparsity` is None unless the function returns a real
        0-d array.
    jacobian_colors, hessian_colors : int
        The number of products with the matrix in a call; they run as one batch.

    Examples
    --------
    >>> plan = xp.autograd.sparse_plan(lambda x: x[1:] * x[:-1], xp.ones(5))
    >>> plan.jacobian_colors
    2
    >>> plan.jacobian(xp.asarray([1.0, 2.0, 3.0, 4.0, 5.0])).toarray()
    array([[2., 1., 0., 0., 0.],
           [0., 3., 2., 0., 0.],
           [0., 0., 4., 3., 0.],
           [0., 0., 0., 5., 4.]])
    """

    __slots__ = ("_plan",)

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    @property
    def jacobian_sparsity(self) -> Any:
        """The pattern of the Jacobian."""
        return self._plan.patterns[0].copy()

    @property
    def hessian_sparsity(self) -> Any:
        """The pattern of the Hessian; None if the function has none."""
        pattern = self._plan.patterns[1]
        return None if pattern is None else pattern.copy()

    @property
    def jacobian_colors(self) -> int:
        """The number of products that the Jacobian takes."""
        return self._plan.of_jacobian.colors

    @property
    def hessian_colors(self) -> int:
        """The number of products that the Hessian takes."""
        self._plan.check_scalar("hessian_colors")
        return self._plan.of_hessian.colors

    def jacobian(self, *args: Any, **kwargs: Any) -> Any:
        """
        Compute the Jacobian.

        Parameters
        ----------
        *args, **kwargs
            Arguments of the function: arrays of the shapes that the plan was made for.

        Returns
        -------
        scipy.sparse.csr_array
            Of shape ``(m, n)``: rows are the elements of the result, columns the elements of the arguments.

        Raises
        ------
        ArgumentTypeError
            If an argument or a result is not of a real floating-point dtype.
        ShapeError
            If arguments or results have other numbers of elements than the pattern.
        GradientError
            If an argument is tracked: sparse matrices of SciPy have no gradients.

        Examples
        --------
        >>> plan = xp.autograd.sparse_plan(lambda x: x**2, xp.ones(2))
        >>> plan.jacobian(xp.asarray([1.0, 3.0])).toarray()
        array([[2., 0.],
               [0., 6.]])
        """
        return self._plan.jacobian("jacobian", args, kwargs)

    def hessian(self, *args: Any, **kwargs: Any) -> Any:
        """
        Compute the Hessian.

        Parameters
        ----------
        *args, **kwargs
            Arguments of the function: arrays of the shapes that the plan was made for.

        Returns
        -------
        scipy.sparse.csr_array
            Of shape ``(n, n)``: rows and columns are the elements of the arguments.

        Raises
        ------
        ArgumentTypeError, ShapeError, GradientError
            As for `jacobian`, and if the function does not return a real 0-d array.

        Examples
        --------
        >>> plan = xp.autograd.sparse_plan(lambda x: xp.sum((x[1:] - x[:-1]) ** 2), xp.ones(3))
        >>> plan.hessian(xp.ones(3)).toarray()
        array([[ 2., -2.,  0.],
               [-2.,  4., -2.],
               [ 0., -2.,  2.]])
        """
        return self._plan.hessian("hessian", args, kwargs)

    def check(self, *args: Any, **kwargs: Any) -> None:
        """
        Check that the patterns hold at a point: compare products with a vector of irregular numbers.

        Parameters
        ----------
        *args, **kwargs
            Arguments of the function.

        Raises
        ------
        GradientError
            If a derivative outside of a pattern is not 0.

        Notes
        -----
        Use it once for each new kind of input if you passed your own pattern, or if the function selects its
        operations by values.

        Examples
        --------
        >>> plan = xp.autograd.sparse_plan(lambda x: x[::-1] * 2, xp.ones(3), sparsity=np.eye(3))
        >>> plan.check(xp.ones(3))
        Traceback (most recent call last):
            ...
        stride0.GradientError: check: the pattern of the Jacobian leaves out a derivative that is not 0
        ...
        """
        self._plan.check(args, kwargs)


def _module(operation: str, name: str) -> Any:
    """Import a module that needs SciPy."""
    try:
        importlib.import_module("scipy.sparse")
    except ImportError as error:
        problem = f"stride0.autograd.{operation} returns SciPy sparse arrays, and SciPy cannot be imported"
        raise ImportError(f"{problem}: pip install scipy") from error
    return importlib.import_module(f"stride0.autograd._sparse.{name}")


def jacobian_sparsity(f: Callable[..., Any], *args: Any, argnums: Argnums = 0) -> Any:
    """
    Find which elements of the result of a function depend on which elements of its arguments.

    Parameters
    ----------
    f : callable
        Returns an array of a floating-point dtype, or a nested structure of such arrays.
    *args : nested structures of arrays
        The arguments of `f`.
    argnums : int or sequence of int
        The arguments to differentiate by, as for `value_and_grad`.

    Returns
    -------
    scipy.sparse.csr_array
        Of dtype bool and shape ``(m, n)``: rows are the elements of the result, columns the elements of the
        arguments, each in C order. The arrays of a structure are concatenated.

    Raises
    ------
    ArgumentTypeError
        If an argument to differentiate by, or a result, is not of a floating-point dtype.
    ImportError
        If SciPy cannot be imported.

    Notes
    -----
    `f` is called once. The pattern also holds for other values of the arguments if `f` makes the same calls:
    both branches of `where` count, and so do all elements that a sort or a computed index may select.
    Functions for which stride0 has no pattern, and gradients that `f` computes, depend on all elements of
    their operands. Functions within `vmap` are traced example by example.

    Examples
    --------
    >>> pattern = xp.autograd.jacobian_sparsity(lambda x: x[1:] * x[:-1], xp.ones(4))
    >>> pattern.toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    check_function("jacobian_sparsity", f)
    patterns = _module("jacobian_sparsity", "patterns")
    return patterns.Patterns(patterns.Arguments("jacobian_sparsity", f, argnums, args, {})).jacobian()


def hessian_sparsity(f: Callable[..., Any], *args: Any, argnums: Argnums = 0) -> Any:
    """
    Find the pairs of elements of the arguments for which a function may have a second derivative.

    Parameters
    ----------
    f : callable
        Returns a real floating-point 0-d array.
    *args : nested structures of arrays
        The arguments of `f`.
    argnums : int or sequence of int
        The arguments to differentiate by, as for `value_and_grad`.

    Returns
    -------
    scipy.sparse.csr_array
        Symmetric, of dtype bool and shape ``(n, n)``: n is the number of elements of the arguments.

    Raises
    ------
    ArgumentTypeError, ImportError
        As for `jacobian_sparsity`.
    ShapeError
        If `f` does not return a real 0-d array.

    Notes
    -----
    `f` is called once, as in `jacobian_sparsity`; no gradient is computed.

    Examples
    --------
    >>> pattern = xp.autograd.hessian_sparsity(lambda x: xp.sum((x[1:] - x[:-1]) ** 2), xp.ones(4))
    >>> pattern.toarray().astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 1, 0],
           [0, 1, 1, 1],
           [0, 0, 1, 1]])
    """
    check_function("hessian_sparsity", f)
    patterns = _module("hessian_sparsity", "patterns")
    found = patterns.Patterns(patterns.Arguments("hessian_sparsity", f, argnums, args, {}))
    return found.hessian("hessian_sparsity")


def sparse_jacobian(
    f: Callable[..., Any], argnums: Argnums = 0, sparsity: Any = None, mode: str = "auto"
) -> Callable[..., Any]:
    """
    Make a function that returns the Jacobian of a function as a sparse matrix.

    Parameters
    ----------
    f : callable
        Returns an array of a real floating-point dtype, or a nested structure of such arrays.
    argnums : int or sequence of int
        The arguments to differentiate by, as for `value_and_grad`.
    sparsity : scipy.sparse array or matrix, optional
        The pattern: the entries that are not 0. By default each call finds it.
    mode : {"auto", "forward", "reverse", "both"}
        "forward" colours columns, "reverse" colours rows, "both" computes the fullest rows (or columns) by
        the other mode. "auto" chooses the mode with the fewest products.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns a ``scipy.sparse.csr_array`` of shape ``(m, n)``: rows are the
        elements of the result, columns the elements of the arguments, each in C order.

    Raises
    ------
    ArgumentTypeError
        If an argument to differentiate by, or a result, is not of a real floating-point dtype.
    ArgumentValueError, ShapeError
        If `mode` is unknown, or if the pattern and the matrix have different shapes.
    GradientError
        If an argument is tracked: sparse matrices of SciPy have no gradients.
    ImportError
        If SciPy cannot be imported.

    Notes
    -----
    Columns of one colour have no row in common, so one product gives all of them; all products run as one
    batch. If your own pattern omits a nonzero entry, other entries are wrong: `SparsePlan.check` detects
    that. `sparse_plan` keeps pattern and colouring for further calls.

    Examples
    --------
    >>> x = xp.asarray([1.0, 2.0, 3.0])
    >>> xp.autograd.sparse_jacobian(lambda x: x[1:] * x[:-1])(x).toarray()
    array([[2., 1., 0.],
           [0., 3., 2.]])
    """
    return _matrix("sparse_jacobian", f, argnums, sparsity, mode, False)


def sparse_hessian(f: Callable[..., Any], argnums: Argnums = 0, sparsity: Any = None) -> Callable[..., Any]:
    """
    Make a function that returns the Hessian of a function as a sparse matrix.

    Parameters
    ----------
    f : callable
        Returns a real floating-point 0-d array.
    argnums : int or sequence of int
        The arguments to differentiate by, as for `value_and_grad`.
    sparsity : scipy.sparse array or matrix, optional
        The (symmetric) pattern: the entries that are not 0. By default each call finds it.

    Returns
    -------
    callable
        Takes the arguments of `f`, returns a ``scipy.sparse.csr_array`` of shape ``(n, n)``.

    Raises
    ------
    ArgumentTypeError, ShapeError, GradientError, ImportError
        As for `sparse_jacobian`, and if `f` does not return a real 0-d array.

    Notes
    -----
    The colouring is a star colouring: an arrow matrix of any size takes two products with the Hessian.

    Examples
    --------
    >>> x = xp.asarray([1.0, 2.0, 3.0])
    >>> xp.autograd.sparse_hessian(lambda x: xp.sum(x**3) + x[0] * x[2])(x).toarray()
    array([[ 6.,  0.,  1.],
           [ 0., 12.,  0.],
           [ 1.,  0., 18.]])
    """
    return _matrix("sparse_hessian", f, argnums, sparsity, "auto", True)


def _matrix(
    operation: str, f: Callable[..., Any], argnums: Argnums, sparsity: Any, mode: str, of_gradient: bool
) -> Callable[..., Any]:
    check_function(operation, f)
    made = _module(operation, "plans").matrix_of(operation, f, argnums, mode, sparsity, of_gradient)
    return functools.wraps(f)(made)


def sparse_plan(
    f: Callable[..., Any],
    *args: Any,
    argnums: Argnums = 0,
    sparsity: Any = None,
    mode: str = "auto",
    replay: bool = False,
) -> SparsePlan:
    """
    Find pattern and colouring of the derivatives of a function, for many calls.

    Parameters
    ----------
    f : callable
        Returns an array of a real floating-point dtype, or a nested structure of such arrays.
    *args : nested structures of arrays
        Arguments of `f`, of the shapes of later calls.
    argnums : int or sequence of int
        The arguments to differentiate by, as for `value_and_grad`.
    sparsity : scipy.sparse array or matrix, optional
        The pattern of the Jacobian (of the Hessian, if the result is a 0-d array), instead of the pattern
        that is determined automatically.
    mode : {"auto", "forward", "reverse", "both"}
        As for `sparse_jacobian`.
    replay : bool
        Whether the second call of ``plan.jacobian`` or ``plan.hessian`` is recorded by `stride0.replay`, and
        later calls run the recording. This saves Python's overhead.

    Returns
    -------
    SparsePlan
        ``plan.jacobian(*args)`` and ``plan.hessian(*args)`` compute matrices at other points.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ShapeError, ImportError
        As for `sparse_jacobian`.

    Notes
    -----
    A plan holds for points at which `f` makes the same calls. ``plan.check(*args)`` tests that. With
    `replay`, the second call raises a `ReplayError` if `f` reads values of arrays.

    Examples
    --------
    >>> plan = xp.autograd.sparse_plan(lambda x: xp.sin(x) * x[0], xp.ones(4))
    >>> plan.jacobian(xp.zeros(4)).nnz, plan.jacobian_colors
    (7, 2)
    """
    check_function("sparse_plan", f)
    plans = _module("sparse_plan", "plans")
    # The namespace is imported already.
    made = importlib.import_module("stride0").replay if replay else None
    return SparsePlan(plans.plan_for("sparse_plan", f, argnums, mode, sparsity, args, made))

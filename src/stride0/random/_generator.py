"""The class `Generator`: the methods of NumPy's generator, on stride0 arrays."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from types import FunctionType, MethodType
from typing import Any

from stride0._base.errors import ArgumentTypeError, ArgumentValueError, DTypeError, ShapeError, hide_frames
from stride0._base.shapes import normalize_shape
from stride0._core.array.array import Array, empty
from stride0._core.call.binding import intercepted_in
from stride0._core.exchange.exchange import asarray, dtype_argument, may_be_filled
from stride0._core.exchange.numpy_calls import from_numpy, numpy, to_numpy
from stride0._core.memory.dtype import DType, DTypeLike, float64, int64

__all__ = ["Generator", "default_rng"]

Parameter = Any  # a number, an array, or an array-like
Size = int | Sequence[int] | None


class Generator:
    """A stream of random numbers: NumPy's `Generator`, with stride0 arrays.

    Parameters
    ----------
    bit_generator : numpy.random.BitGenerator
        The source of the stream, such as ``PCG64(1)``. The generator and the caller share it.

    Notes
    -----
    Methods and parameters are the same as NumPy's. Parameters of a distribution are numbers or arrays, which
    broadcast; `size` is the shape of the result, by default the broadcast shape of the parameters. Results
    are new arrays (0-d instead of NumPy's numbers). `dtype` is a dtype of the namespace. `out` is an array of
    the shape and dtype of the result; it is filled and returned. Draws are constants: parameters must not be
    tracked; for a gradient write ``loc + scale * rng.standard_normal(size)``. NumPy's errors are raised
    unchanged.

    Several threads may use a generator; they take turns. A generator from `spawn` for each thread is faster,
    and gives the same numbers whatever the threads do. Generators can be pickled and copied.

    Examples
    --------
    >>> rng = xp.random.default_rng(1)
    >>> rng.integers(0, 10, 5)
    Array([4, 5, 7, 9, 0], dtype=int64)
    """

    __slots__ = ("__weakref__", "_generator")

    def __init__(self, bit_generator: Any) -> None:
        self._generator = numpy().random.Generator(bit_generator)

    def __repr__(self) -> str:
        return f"Generator({type(self.bit_generator).__name__})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Generator, (self.bit_generator,)

    @property
    def bit_generator(self) -> Any:
        """The source of the stream, a NumPy bit generator."""
        return self._generator.bit_generator

    def spawn(self, n_children: int) -> list[Generator]:
        """Return generators of independent streams, determined by the seed and the number of these calls.

        Examples
        --------
        >>> streams = xp.random.default_rng(1).spawn(2)
        >>> xp.any(streams[0].random(3) == streams[1].random(3))
        Array(False, dtype=bool)
        """
        return [Generator(child.bit_generator) for child in self._generator.spawn(n_children)]

    def bytes(self, length: int) -> bytes:
        """Return `length` random bytes.

        Examples
        --------
        >>> len(xp.random.default_rng(1).bytes(5))
        5
        """
        return self._generator.bytes(length)  # type: ignore[no-any-return]

    # --- drawn from the stream into stride0's memory

    def random(self, size: Size = None, dtype: DTypeLike = float64, out: Array | None = None) -> Array:
        """Draw floats from 0 (included) to 1 (excluded), in float64 or float32.

        Examples
        --------
        >>> rng = xp.random.default_rng(1)
        >>> rng.random((2, 3), dtype=xp.float32).dtype
        stride0.float32
        >>> x = xp.empty(4)
        >>> rng.random(out=x) is x
        True
        """
        return self._fill("random", size, dtype, out)

    def standard_normal(
        self, size: Size = None, dtype: DTypeLike = float64, out: Array | None = None
    ) -> Array:
        """Draw from the normal distribution with mean 0 and variance 1, in float64 or float32."""
        return self._fill("standard_normal", size, dtype, out)

    def standard_exponential(
        self, size: Size = None, dtype: DTypeLike = float64, method: str = "zig", out: Array | None = None
    ) -> Array:
        """Draw from the exponential distribution with mean 1, by the ziggurat ("zig") or inverse ("inv")."""
        return self._fill("standard_exponential", size, dtype, out, method=method)

    def standard_gamma(
        self, shape: Parameter, size: Size = None, dtype: DTypeLike = float64, out: Array | None = None
    ) -> Array:
        """Draw from the gamma distribution with a given shape and scale 1, in float64 or float32."""
        if out is None and size is None:
            return self._draw("standard_gamma", shape, dtype=_numpy_dtype(dtype))
        return self._fill("standard_gamma", size, dtype, out, given=(shape,))

    def integers(
        self,
        low: Parameter,
        high: Parameter = None,
        size: Size = None,
        dtype: DTypeLike = int64,
        endpoint: bool = False,
    ) -> Array:
        """Draw integers from `low` to `high` (included if `endpoint`); without `high`, from 0 to `low`.

        Examples
        --------
        >>> rng = xp.random.default_rng(1)
        >>> xp.max(rng.integers(6, size=1000)), xp.max(rng.integers(1, 6, size=1000, endpoint=True))
        (Array(5, dtype=int64), Array(6, dtype=int64))
        >>> rng.integers(xp.asarray([0, 100]), xp.asarray([1, 101]))
        Array([  0, 100], dtype=int64)
        """
        return self._draw("integers", low, high, size=size, dtype=_numpy_dtype(dtype), endpoint=endpoint)

    # --- drawn from given elements

    def choice(
        self,
        a: Parameter,
        size: Size = None,
        replace: bool = True,
        p: Parameter = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Array:
        """Draw slices along an axis of an array, or integers below `a`, with probabilities `p`.

        Examples
        --------
        >>> rng = xp.random.default_rng(1)
        >>> xp.sort(rng.choice(5, size=5, replace=False))
        Array([0, 1, 2, 3, 4], dtype=int64)
        >>> rng.choice(xp.asarray([10, 20, 30]), size=3, p=[0.0, 1.0, 0.0])
        Array([20, 20, 20], dtype=int64)
        >>> rng.choice(xp.ones((5, 2)), size=3).shape
        (3, 2)
        """

    def permutation(self, x: Parameter, axis: int = 0) -> Array:
        """Return an array with its slices along an axis in random order, or the integers below `x`.

        Examples
        --------
        >>> rng, x = xp.random.default_rng(1), xp.asarray([[1, 2], [3, 4], [5, 6]])
        >>> y = rng.permutation(x)

        Whole rows move, and `x` does not change:

        >>> y[:, 1] - y[:, 0], x[0]
        (Array([1, 1, 1], dtype=int64), Array([1, 2], dtype=int64))
        """

    def permuted(self, x: Parameter, *, axis: int | None = None, out: Array | None = None) -> Array:
        """Return an array with the elements along an axis, or all elements, in random order.

        Examples
        --------
        >>> rng, x = xp.random.default_rng(1), xp.reshape(xp.arange(6), (2, 3))
        >>> xp.sort(rng.permuted(x, axis=1))
        Array([[0, 1, 2],
               [3, 4, 5]], dtype=int64)

        Each row keeps its elements, in a different order.
        """
        drawn = self._draw("permuted", x, axis=axis)
        if out is None:
            return drawn
        _check_out("permuted", out, drawn.shape, drawn.dtype)
        return _stored(out, drawn)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Put the slices of an array along an axis, or the items of a list, in random order, in place.

        Examples
        --------
        >>> rng, x = xp.random.default_rng(1), xp.arange(5)
        >>> rng.shuffle(x)
        >>> xp.sort(x)
        Array([0, 1, 2, 3, 4], dtype=int64)
        """
        if not isinstance(x, Array):
            self._generator.shuffle(x, axis=axis)
            return
        drawn = asarray(x, copy=True)
        self._generator.shuffle(to_numpy(drawn), axis=axis)
        _stored(x, drawn)

    # --- distributions

    def beta(self, a: Parameter, b: Parameter, size: Size = None) -> Array:
        """Draw from beta distributions."""

    def binomial(self, n: Parameter, p: Parameter, size: Size = None) -> Array:
        """Draw the number of successes in `n` trials, each with probability `p`."""

    def chisquare(self, df: Parameter, size: Size = None) -> Array:
        """Draw from chi-square distributions with `df` degrees of freedom."""

    def dirichlet(self, alpha: Parameter, size: Size = None) -> Array:
        """Draw from a Dirichlet distribution; the last axis has the size of `alpha`."""

    def exponential(self, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Draw from exponential distributions with mean `scale`."""

    def f(self, dfnum: Parameter, dfden: Parameter, size: Size = None) -> Array:
        """Draw from F distributions."""

    def gamma(self, shape: Parameter, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Draw from gamma distributions."""

    def geometric(self, p: Parameter, size: Size = None) -> Array:
        """Draw the number of trials until the first success, each with probability `p`."""

    def gumbel(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Draw from Gumbel distributions."""

    def hypergeometric(
        self, ngood: Parameter, nbad: Parameter, nsample: Parameter, size: Size = None
    ) -> Array:
        """Draw the number of good items among `nsample` items drawn without replacement."""

    def laplace(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Draw from Laplace distributions."""

    def logistic(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Draw from logistic distributions."""

    def lognormal(self, mean: Parameter = 0.0, sigma: Parameter = 1.0, size: Size = None) -> Array:
        """Draw numbers whose logarithms are normal with mean `mean` and standard deviation `sigma`."""

    def logseries(self, p: Parameter, size: Size = None) -> Array:
        """Draw from logarithmic series distributions."""

    def multinomial(self, n: Parameter, pvals: Parameter, size: Size = None) -> Array:
        """Draw the count of each outcome in `n` trials; the last axis has the size of `pvals`.

        Examples
        --------
        >>> rng = xp.random.default_rng(1)
        >>> xp.sum(rng.multinomial(10, [0.2, 0.3, 0.5], size=4), axis=-1)
        Array([10, 10, 10, 10], dtype=int64)
        """

    def multivariate_hypergeometric(
        self, colors: Parameter, nsample: int, size: Size = None, method: str = "marginals"
    ) -> Array:
        """Draw the number of items of each colour among `nsample` items drawn without replacement."""

    def multivariate_normal(
        self,
        mean: Parameter,
        cov: Parameter,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> Array:
        """Draw vectors from a normal distribution with a given mean and covariance matrix.

        Examples
        --------
        >>> rng = xp.random.default_rng(1)
        >>> rng.multivariate_normal(xp.zeros(2), xp.eye(2), size=5).shape
        (5, 2)
        """

    def negative_binomial(self, n: Parameter, p: Parameter, size: Size = None) -> Array:
        """Draw the number of failures before `n` successes, each with probability `p`."""

    def noncentral_chisquare(self, df: Parameter, nonc: Parameter, size: Size = None) -> Array:
        """Draw from noncentral chi-square distributions."""

    def noncentral_f(self, dfnum: Parameter, dfden: Parameter, nonc: Parameter, size: Size = None) -> Array:
        """Draw from noncentral F distributions."""

    def normal(self, loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Draw from normal distributions with mean `loc` and standard deviation `scale`.

        Examples
        --------
        >>> rng = xp.random.default_rng(1)
        >>> rng.normal(xp.zeros((3, 1)), xp.ones(4)).shape
        (3, 4)
        >>> rng.normal(xp.asarray([5.0, -5.0]), 0.0, size=(2, 2))
        Array([[ 5., -5.],
               [ 5., -5.]], dtype=float64)
        """

    def pareto(self, a: Parameter, size: Size = None) -> Array:
        """Draw from Pareto II (Lomax) distributions."""

    def poisson(self, lam: Parameter = 1.0, size: Size = None) -> Array:
        """Draw from Poisson distributions with mean `lam`."""

    def power(self, a: Parameter, size: Size = None) -> Array:
        """Draw numbers from 0 to 1 with density ``a * x**(a - 1)``."""

    def rayleigh(self, scale: Parameter = 1.0, size: Size = None) -> Array:
        """Draw from Rayleigh distributions."""

    def standard_cauchy(self, size: Size = None) -> Array:
        """Draw from the standard Cauchy distribution (mode 0)."""

    def standard_t(self, df: Parameter, size: Size = None) -> Array:
        """Draw from Student's t distributions with `df` degrees of freedom."""

    def triangular(self, left: Parameter, mode: Parameter, right: Parameter, size: Size = None) -> Array:
        """Draw from triangular distributions."""

    def uniform(self, low: Parameter = 0.0, high: Parameter = 1.0, size: Size = None) -> Array:
        """Draw floats from `low` to `high`."""

    def vonmises(self, mu: Parameter, kappa: Parameter, size: Size = None) -> Array:
        """Draw angles, in radians from -pi to pi, from von Mises distributions."""

    def wald(self, mean: Parameter, scale: Parameter, size: Size = None) -> Array:
        """Draw from Wald (inverse Gaussian) distributions."""

    def weibull(self, a: Parameter, size: Size = None) -> Array:
        """Draw from Weibull distributions with scale 1."""

    def zipf(self, a: Parameter, size: Size = None) -> Array:
        """Draw from Zipf distributions."""

    def _draw(self, name: str, *given: Any, **more: Any) -> Array:
        """An array on the memory that a method of NumPy's generator returns."""
        parameters = {key: _given(value) for key, value in more.items()}
        return from_numpy(getattr(self._generator, name)(*map(_given, given), **parameters))

    def _fill(
        self,
        name: str,
        size: Size,
        dtype: DTypeLike,
        out: Array | None,
        given: tuple[Any, ...] = (),
        **more: Any,
    ) -> Array:
        """The array that such a method fills: `out`, or a new array in stride0's memory."""
        kind = dtype_argument(f"random.{name}", dtype)
        shape = () if size is None else normalize_shape(f"random.{name}", size)
        if out is not None:
            _check_out(name, out, out.shape if size is None and isinstance(out, Array) else shape, kind)
            shape = out.shape
        drawn = out if out is not None and may_be_filled(out) else empty(shape, kind)
        memory, numpy_kind = to_numpy(drawn), numpy().dtype(kind.name)
        getattr(self._generator, name)(*map(_given, given), dtype=numpy_kind, out=memory, **more)
        return drawn if out is None or drawn is out else _stored(out, drawn)


def _given(value: Any) -> Any:
    """A parameter for NumPy: an array becomes a view."""
    return to_numpy(value) if isinstance(value, Array) else value


def _check_depth(seed: Any, levels: int = 64) -> None:
    """Refuse a sequence that contains itself: NumPy before 2.5 recurses until the stack ends."""
    if isinstance(seed, (list, tuple)):
        if levels == 0:
            raise ArgumentValueError(
                "random.default_rng", "the seed is nested too deeply", (), "pass integers: [1, 2, 3]"
            )
        for item in seed:
            _check_depth(item, levels - 1)


def _numpy_dtype(dtype: DTypeLike) -> Any:
    kind: DType = dtype_argument("random", dtype)
    return numpy().dtype(kind.name)


def _check_out(name: str, out: Any, shape: tuple[int, ...], dtype: DType) -> None:
    if not isinstance(out, Array):
        raise ArgumentTypeError(f"random.{name}", f"out must be an array, not {type(out).__name__}")
    if out.shape != shape:
        raise ShapeError(
            f"random.{name}", "out has the wrong shape", [("result", str(shape)), ("out", str(out.shape))]
        )
    if out.dtype is not dtype:
        raise DTypeError(
            f"random.{name}", "out has the wrong dtype", [("result", dtype.name), ("out", out.dtype.name)]
        )


def _stored(out: Array, drawn: Array) -> Array:
    """Assign the drawn numbers to the caller's array, so that tapes and deferred results see the write."""
    out[...] = drawn
    return out


def _is_declared(function: FunctionType) -> bool:
    """Whether a method has no body except its docstring: NumPy's method of the same name draws."""
    return not function.__code__.co_names


def _drawing(function: FunctionType) -> Callable[..., Array]:
    @functools.wraps(function)
    def draw(self: Generator, *args: Any, **kwargs: Any) -> Array:
        return self._draw(function.__name__, *args, **kwargs)

    return draw


class _Method:
    """A method whose calls are intercepted, so that strict mode and flags apply to it."""

    def __init__(self, function: FunctionType) -> None:
        self._function = intercepted_in("random")(_drawing(function) if _is_declared(function) else function)

    def __get__(self, instance: Generator | None, owner: type) -> Any:
        return self._function if instance is None else MethodType(self._function, instance)


for _name, _function in list(vars(Generator).items()):
    if isinstance(_function, FunctionType) and not _name.startswith("_") and _name not in ("bytes", "spawn"):
        setattr(Generator, _name, _Method(_function))


@intercepted_in("random")
def default_rng(seed: Any = None) -> Generator:
    """Return a generator of a new stream.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence, BitGenerator or Generator, optional
        Determines the stream; by default entropy of the operating system. A bit generator or a NumPy
        generator is wrapped; a stride0 generator is returned unchanged.

    Returns
    -------
    Generator
        A generator with the same numbers as ``numpy.random.default_rng(seed)``.

    Raises
    ------
    TypeError, ValueError
        As for NumPy. A seed that contains itself raises ArgumentValueError.
    """
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, Array) and seed.ndim == 0:
        seed = operator.index(seed)
    _check_depth(seed)
    return Generator(numpy().random.default_rng(_given(seed)).bit_generator)


hide_frames()

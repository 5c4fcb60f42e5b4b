"""`numpy.random` on stride0 arrays: NumPy draws the numbers, with its global state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import stride0 as xp
from stride0._core.array.array import Array
from stride0._core.exchange.numpy_calls import from_numpy, numpy, to_numpy
from stride0.numpy._names import missing as _missing
from stride0.numpy._names import words as _words
from stride0.numpy._parts import named
from stride0.random import Generator, default_rng

# The legacy functions that return numbers.
DRAWS = _words(
    "beta binomial chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric laplace "
    "logistic lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare "
    "noncentral_f normal pareto permutation poisson power rand randint randn random random_integers "
    "random_sample rayleigh standard_cauchy standard_exponential standard_gamma standard_normal "
    "standard_t triangular uniform vonmises wald weibull zipf"
)
STATE = ("get_state", "seed", "set_state")
BITS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "BitGenerator", "SeedSequence")
SAME = ("ranf", "sample")
__all__ = [*DRAWS, *STATE, *BITS, *SAME, "Generator", "RandomState", "default_rng", "shuffle"]


def _given(x: Any) -> Any:
    if isinstance(x, Array):
        return to_numpy(x)
    return (
        [_given(item) for item in x]
        if isinstance(x, (list, tuple)) and any(isinstance(item, Array) for item in x)
        else x
    )


def _draw(owner: Any, name: str, args: Any, kwargs: Any) -> Any:
    found = getattr(owner, name)(*map(_given, args), **{key: _given(x) for key, x in kwargs.items()})
    # Choices among strings and objects return NumPy's result.
    return from_numpy(found) if isinstance(found, numpy().ndarray) and found.dtype.kind in "biufc" else found


def _shuffle(owner: Any, x: Any) -> None:
    if not isinstance(x, Array):
        owner.shuffle(x)
        return
    # Shuffling a sequence of this length makes the same swaps.
    order = numpy().arange(x.shape[0])
    owner.shuffle(order)
    x[...] = xp.take(x, xp.asarray(order), axis=0)


def _legacy(name: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        return _draw(numpy().random, name, args, kwargs)

    return named(name, function)


def shuffle(x: Any) -> None:
    """Shuffle in place along the first axis."""
    _shuffle(numpy().random, x)


class RandomState:
    """NumPy's legacy generator: the same seed gives the same numbers, in stride0 arrays."""

    def __init__(self, seed: Any = None) -> None:
        self._state = numpy().random.RandomState(_given(seed))

    def __getattr__(self, name: str) -> Any:
        if name in STATE:
            return getattr(self._state, name)
        if name not in DRAWS:
            raise AttributeError(f"'RandomState' object has no attribute {name!r}")
        return lambda *args, **kwargs: _draw(self._state, name, args, kwargs)

    def shuffle(self, x: Any) -> None:
        """Shuffle in place along the first axis."""
        _shuffle(self._state, x)


def __getattr__(name: str) -> Any:
    if name in DRAWS or name in SAME:
        found = globals()[name] = _legacy("random_sample" if name in SAME else name)
        return found
    if name in (*STATE, *BITS):
        return getattr(numpy().random, name)
    raise _missing("random", name)

"""Calls of public functions within `reproducible`, and hashes of their results, printed as JSON.

python tests/support/machine_bits.py 40 7    # matrices of 40 rows, seed 7
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import public_calls

import stride0 as xp
from stride0.autograd import grad

REFUSED = "refused"
# They depend on the process, or describe the machine.
LEFT_OUT = {
    "broadcasting",
    "explain",
    "fused",
    "get_num_threads",
    "reproducible",
    "strict",
    "empty",
    "empty_like",
}

MODULES_LEFT_OUT = {"autograd", "memory", "optim", "strided", "testing"}


def spread(x: Any, rng: np.random.Generator) -> xp.Array:
    """The elements of an array in a random layout."""
    a = np.asarray(x)
    if a.ndim > 1 and rng.integers(2):
        a = np.asfortranarray(a)
    gaps = tuple(slice(None, None, int(rng.choice([-2, -1, 1, 2, 3]))) for _ in a.shape)
    room = np.zeros([n * abs(gap.step) for n, gap in zip(a.shape, gaps, strict=True)], a.dtype)
    places = room[gaps]
    places[...] = a
    return xp.asarray(places)


def operands(rows: int, seed: int) -> dict[int, Any]:
    """Larger arrays in random layouts for the arrays of `public_calls`, by their identity."""
    rng = np.random.default_rng(seed)
    # Built by exact operations, so that every machine has these bits.
    matrix = rng.integers(-512, 512, (rows, rows)) / 64.0
    matrix = (matrix + matrix.T) / 2 + 64.0 * rows * np.eye(rows)
    return {
        id(public_calls.MATRIX): spread(matrix, rng),
        id(public_calls.VECTOR): spread(rng.integers(1, 512, rows) / 512.0, rng),
        id(public_calls.INTEGERS): spread(rng.permutation(rows), rng),
        id(public_calls.BOOLS): spread(rng.integers(0, 2, rows).astype(bool), rng),
    }


def replaced(value: Any, by: dict[int, Any]) -> Any:
    """An argument with the larger arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(replaced(item, by) for item in value)
    return by.get(id(value), value)


def leaves(result: Any) -> Iterator[bytes]:
    """The bytes of a result, with one NaN for all NaNs."""
    if isinstance(result, xp.Array):
        a = np.array(result)
        if a.dtype.kind in "fc":
            parts = a.reshape(-1).view(a.real.dtype)
            parts[np.isnan(parts)] = np.nan
        yield f"{a.dtype}{a.shape}".encode() + a.tobytes()
    elif isinstance(result, (list, tuple)):
        for item in result:
            yield from leaves(item)
    else:
        yield repr(result).encode() if isinstance(result, (bool, int, float, complex, str)) else b""


def digest(call: Callable[[], Any]) -> str:
    """The hash of a result, "refused", or the error."""
    try:
        with xp.reproducible():
            result = call()
    except xp.ReproducibilityError:
        return REFUSED
    except Exception as error:
        return type(error).__name__
    total = hashlib.blake2b(digest_size=8)
    for leaf in leaves(result):
        total.update(leaf)
    return total.hexdigest()


def total_of(result: Any) -> Any:
    """A real number that depends on every floating-point element of a result."""
    if isinstance(result, xp.Array):
        parts = [xp.real(result), xp.imag(result)] if "complex" in result.dtype.name else [result]
        return sum(xp.sum(part * part) for part in parts)
    return sum(total_of(item) for item in result if isinstance(item, (xp.Array, tuple, list)))


def called(name: str, function: Callable[..., Any], by: dict[int, Any], *first: Any) -> Any:
    """Call a function with the arguments of `public_calls`, after some given ones, with the larger arrays."""
    positional, named = list(first), {}
    for parameter in public_calls.parameters_of(function)[len(first) :]:
        given = replaced(public_calls.valid(name, parameter.name), by)
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = given
        else:
            positional.append(given)
    return function(*positional, **named)


def report(rows: int, seed: int) -> dict[str, str]:
    by = operands(rows, seed)
    found = {}
    for name, function in public_calls.public_functions():
        # The result of `kron` has rows**4 elements.
        if name in LEFT_OUT or name.partition(".")[0] in MODULES_LEFT_OUT or (name == "kron" and rows > 50):
            continue

        call = partial(called, name, function, by)
        found[name] = digest(call)
        parameters = public_calls.parameters_of(function)
        x = replaced(public_calls.valid(name, parameters[0].name), by) if parameters else None
        if isinstance(x, xp.Array) and x.dtype is xp.float64:
            found[f"grad {name}"] = digest(partial(grad(lambda x, call=call: total_of(call(x))), x))
            for dtype in (xp.float32, xp.complex64, xp.complex128):
                found[f"{name} {dtype.name}"] = digest(partial(call, xp.astype(x, dtype)))
    return found


if __name__ == "__main__":
    json.dump(report(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)

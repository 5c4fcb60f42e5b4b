"""Random programs for the gradient tests, and an independent way to run them.

A program is a list of numbers; `run` executes it with one of two machines. `Stride` uses stride0. `Dual` uses
NumPy on hyper-dual numbers: every array has four components along a leading axis, which are the value, its
derivatives along two directions, and the mixed second derivative. A view of such an array is a view of all
four components, and a write is a write to all four, so that NumPy handles aliasing without a tape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import stride0 as xp
from stride0.autograd import checkpoint, custom_vjp, grad, stop_gradient

Shape = tuple[int, ...]

# Keys, by the shape of the arrays that they fit.
KEYS: dict[Shape, list[Any]] = {
    (4,): [
        0,
        -1,
        slice(1, 3),
        slice(None, None, 2),
        slice(1, None, 2),
        slice(None, None, -1),
        ...,
        np.asarray([True, False, True, True]),
        np.asarray([2, 0]),
        np.asarray([1, 1, 3]),
        (None, slice(1, None)),
    ],
    (3, 4): [
        1,
        (slice(None), 2),
        (slice(None, None, 2), slice(1, 3)),
        (1, slice(None, None, -2)),
        ...,
        (2, 3),
        np.asarray([0, 2]),
        (np.asarray([0, 2, 0]), np.asarray([1, 3, 1])),
        (slice(None), np.asarray([3, 1])),
        np.asarray([[True, False, True, False]] * 3),
        np.asarray([True, False, True]),
    ],
    (2,): [0, 1, slice(None, None, -1), ..., np.asarray([1, 1])],
    (3,): [0, slice(1, None), slice(None, None, 2), np.asarray([2, 0, 2])],
    (): [...],
}


def is_basic(key: Any) -> bool:
    return not any(isinstance(k, np.ndarray) for k in (key if isinstance(key, tuple) else (key,)))


class Stride:
    """Runs a program with stride0."""

    def constant(self, value: np.ndarray[Any, Any]) -> Any:
        return xp.asarray(value, copy=True)

    def key(self, key: Any) -> Any:
        def one(item: Any) -> Any:
            return xp.asarray(item) if isinstance(item, np.ndarray) else item

        return tuple(one(k) for k in key) if isinstance(key, tuple) else one(key)

    def get(self, x: Any, key: Any) -> Any:
        return x[self.key(key)]

    def set(self, x: Any, key: Any, value: Any) -> None:
        x[self.key(key)] = value

    def unary(self, name: str, x: Any) -> Any:
        return {"sin": xp.sin, "tanh": xp.tanh, "square": xp.square, "negative": xp.negative}[name](x)

    def binary(self, name: str, x: Any, y: Any) -> Any:
        return getattr(xp, name)(x, y)

    def write(self, name: str, x: Any, y: Any) -> None:
        if name == "add":
            x += y
        elif name == "subtract":
            x -= y
        else:
            x *= y

    def transpose(self, x: Any) -> Any:
        return xp.permute_dims(x, tuple(range(x.ndim))[::-1])

    def stretch(self, x: Any) -> Any:
        return xp.broadcast_to(x, (2, *x.shape))

    def flat(self, x: Any) -> Any:
        return xp.reshape(x, (-1,), copy=True)

    def rows(self, x: Any) -> list[Any]:
        return list(x)

    def total(self, x: Any) -> Any:
        return xp.sum(x, axis=0)

    def stop(self, x: Any) -> Any:
        # A copy, because the reference does not know that two results share memory.
        return xp.asarray(stop_gradient(x), copy=True)

    def component(self, x: Any, name: str) -> Any:
        return getattr(x, name)

    def choose(self, mask: np.ndarray[Any, Any], x: Any, y: Any) -> Any:
        return xp.where(xp.asarray(mask), x, y)

    def call(self, which: int, x: Any, y: Any) -> Any:
        if which == 0:
            return checkpoint(lambda u, v: xp.sin(u) * v)(x, y)
        if which == 1:
            return _product(x, y)
        # The product 2 u v, computed as a gradient within the gradient.
        return grad(lambda u: xp.sum(xp.real(u * u * xp.conj(y))))(x)


@custom_vjp
def _product(x: Any, y: Any) -> Any:
    return xp.sin(x) * y


_product.defvjp(
    lambda x, y: (xp.sin(x) * y, (x, y)),
    lambda kept, g: (g * xp.conj(xp.cos(kept[0]) * kept[1]), g * xp.conj(xp.sin(kept[0]))),
)


class Dual:
    """Runs a program in NumPy, with derivatives along two directions."""

    def constant(self, value: np.ndarray[Any, Any]) -> Any:
        out = np.zeros((4, *value.shape), value.dtype)
        out[0] = value
        return out

    def key(self, key: Any) -> Any:
        return (slice(None), *key) if isinstance(key, tuple) else (slice(None), key)

    def get(self, x: Any, key: Any) -> Any:
        if not is_basic(key) and isinstance(key, tuple):
            return np.stack([x[n, ...][key] for n in range(4)])
        return x[self.key(key)]

    def set(self, x: Any, key: Any, value: Any) -> None:
        value = np.array(value)
        for n in range(4):
            x[n, ...][key] = value[n]

    def unary(self, name: str, x: Any) -> Any:
        v = x[0]
        f, first, second = {
            "sin": lambda: (np.sin(v), np.cos(v), -np.sin(v)),
            "tanh": lambda: (
                np.tanh(v),
                1 - np.tanh(v) ** 2,
                -2 * np.tanh(v) * (1 - np.tanh(v) ** 2),
            ),
            "square": lambda: (v * v, 2 * v, 2 + 0 * v),
            "negative": lambda: (-v, -1 + 0 * v, 0 * v),
        }[name]()
        return np.stack([f, first * x[1], first * x[2], first * x[3] + second * x[1] * x[2]])

    def binary(self, name: str, x: Any, y: Any) -> Any:
        ndim = max(x.ndim, y.ndim)
        x, y = (z.reshape((4,) + (1,) * (ndim - z.ndim) + z.shape[1:]) for z in (x, y))
        if name == "add":
            return x + y
        if name == "subtract":
            return x - y
        return np.stack(
            [
                x[0] * y[0],
                x[0] * y[1] + x[1] * y[0],
                x[0] * y[2] + x[2] * y[0],
                x[0] * y[3] + x[1] * y[2] + x[2] * y[1] + x[3] * y[0],
            ]
        )

    def write(self, name: str, x: Any, y: Any) -> None:
        x[...] = self.binary(name, np.array(x), np.array(y))

    def transpose(self, x: Any) -> Any:
        return np.transpose(x, (0, *range(x.ndim - 1, 0, -1)))

    def stretch(self, x: Any) -> Any:
        return np.broadcast_to(x[:, None], (4, 2, *x.shape[1:]))

    def flat(self, x: Any) -> Any:
        return np.array(x).reshape(4, -1)

    def rows(self, x: Any) -> list[Any]:
        return [x[:, k] for k in range(x.shape[1])]

    def total(self, x: Any) -> Any:
        return np.sum(x, axis=1)

    def stop(self, x: Any) -> Any:
        return self.constant(np.array(x[0]))

    def component(self, x: Any, name: str) -> Any:
        return getattr(x, name)

    def choose(self, mask: np.ndarray[Any, Any], x: Any, y: Any) -> Any:
        return np.where(mask, x, y.reshape((4,) + (1,) * (x.ndim - y.ndim) + y.shape[1:]))

    def call(self, which: int, x: Any, y: Any) -> Any:
        if which == 2:
            return self.binary("multiply", x, self.binary("add", y, y))
        return self.binary("multiply", self.unary("sin", x), y)


def shape_in(machine: Any, x: Any) -> Shape:
    return tuple(x.shape) if isinstance(machine, Stride) else tuple(x.shape[1:])


def is_complex(x: Any) -> bool:
    return "complex" in str(x.dtype)


OPERATIONS = ("add", "subtract", "multiply")
STEPS = 17


def run(
    machine: Any, program: list[tuple[int, ...]], arrays: list[Any], calls: bool = True
) -> tuple[list[Any], int]:
    """Run a program on arrays; return the arrays at its end and the number of writes."""
    pool = list(arrays)
    writes = 0

    def fits(x: Any, into: Any) -> bool:
        """Whether an array can be written into another one."""
        a, b = shape_in(machine, x), shape_in(machine, into)
        return (
            len(a) <= len(b)
            and all(m in (1, n) for m, n in zip(a[::-1], b[::-1], strict=False))
            and (is_complex(into) or not is_complex(x))
        )

    def matching(x: Any, number: int) -> Any:
        found = [y for y in pool if fits(y, x)]
        return found[number % len(found)]

    readonly: list[Any] = []
    for step in program:
        what, i, j, k = step
        x = pool[i % len(pool)]
        shape = shape_in(machine, x)
        what %= STEPS if calls else STEPS - 1
        new = None
        if what in (0, 1):
            new = machine.unary(("sin", "tanh", "square", "negative")[j % 4], x)
            if j % 4 == 2:
                new = machine.unary("tanh" if not is_complex(new) else "sin", new)
        elif what in (2, 3):
            new = machine.binary(OPERATIONS[k % 3], x, matching(x, j))
        elif what in (4, 5, 6):
            keys = KEYS.get(shape)
            if keys:
                new = machine.get(x, keys[k % len(keys)])
        elif what in (7, 8):
            if not any(x is y for y in readonly):
                machine.write(OPERATIONS[k % 3], x, matching(x, j))
                writes += 1
        elif what in (9, 10, 11):
            keys = KEYS.get(shape)
            if keys and not any(x is y for y in readonly):
                key = keys[k % len(keys)]
                old = machine.get(x, key)
                value = matching(old, j)
                writes += 1
                if what < 11:
                    machine.set(x, key, value)
                else:
                    # x[key] op= value, as Python does it.
                    machine.write(OPERATIONS[(j + k) % 3], old, value)
                    machine.set(x, key, old)
        elif what == 12:
            new = machine.transpose(x) if k % 2 else machine.flat(x)
        elif what == 13:
            if k % 4 == 0 and len(shape) <= 1:
                new = machine.stretch(x)
                # Read-only, as its views are.
                readonly.append(new)
            elif shape:
                new = machine.rows(x)[j % shape[0]] if k % 2 else machine.total(x)
        elif what == 14:
            if is_complex(x):
                new = machine.component(x, "real" if k % 2 else "imag")
            elif k % 5 == 0:
                new = machine.stop(x)
        elif what == 15:
            if shape == (4,):
                new = machine.choose(np.asarray([True, False, False, True]), x, matching(x, j))
        elif not is_complex(x):
            y = matching(x, j)
            if shape_in(machine, y) == shape:
                new = machine.call(k % 3, x, y)
        if new is not None:
            if any(x is y for y in readonly):
                readonly.append(new)
            pool.append(new)
    return pool, writes


def loss_of(machine: Any, pool: list[Any], weights: Callable[[Shape], np.ndarray[Any, Any]]) -> list[Any]:
    """The last arrays of a pool, each times weights."""
    return [machine.binary("multiply", x, machine.constant(weights(shape_in(machine, x)))) for x in pool[-4:]]

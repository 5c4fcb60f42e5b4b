"""Gradients, forward and backward together: stride0, PyTorch and `jax.jit`, on the same data.

Ratios are to PyTorch's time. A second table has matrices of derivatives and gradients per example, which
batched passes compute, compared with `torch.func` and `jax.jit`; a third one has products with Jacobians and
Hessians. The last one has small calls: each recorded many times and differentiated in one backward pass, per
call, compared with the same call of which nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.common.machine import installed, limit_threads
from benchmarks.common.tables import compare, parser, write_json

YARDSTICK = "torch"
RECORDED = 100  # small calls per backward pass
Loss = Callable[..., Any]  # takes the namespace, then the arrays; written as the standard has it


def polynomial(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return xp.sum((a * b + c) ** 2)


def waves(xp: Any, x: Any) -> Any:
    for _ in range(50):
        x = xp.sin(x)
    return xp.sum(x)


def outer(xp: Any, a: Any, b: Any) -> Any:
    return xp.sum(a * b)


def chain(xp: Any, x: Any, row: Any, column: Any) -> Any:
    return xp.sum((x * row + column) * row - x / column)


def network(xp: Any, w1: Any, b1: Any, w2: Any, b2: Any, x: Any, labels: Any) -> Any:
    hidden = xp.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    # The logarithm of the softmax, and of it what the labels (one-hot) pick.
    shifted = scores - xp.max(scores, axis=1, keepdims=True)
    logarithms = shifted - xp.log(xp.sum(xp.exp(shifted), axis=1, keepdims=True))
    return -xp.mean(xp.sum(logarithms * labels, axis=1))


def cases() -> dict[str, tuple[Loss, list[Any], int]]:
    """Name to loss, arrays, and how many of those are differentiated by."""
    import numpy

    rng = numpy.random.default_rng(0)

    def normal(*shape: int, dtype: str = "float64") -> Any:
        return rng.standard_normal(shape).astype(dtype)

    labels = numpy.eye(10, dtype="float32")[rng.integers(0, 10, 256)]
    weights = [normal(784, 256, dtype="float32") / 28, normal(256, dtype="float32") / 28]
    weights += [normal(256, 10, dtype="float32") / 16, normal(10, dtype="float32") / 16]
    return {
        "sum((a*b+c)**2), 10 elements": (polynomial, [normal(10), normal(10), normal(10)], 3),
        "50 times sin, 10 elements": (waves, [normal(10)], 1),
        "sum(a*b), (2000,1) and (1,2000)": (outer, [normal(2000, 1), normal(1, 2000)], 2),
        "chain of broadcasts, 1000x1000 float32": (
            chain,
            [
                normal(1000, 1000, dtype="float32"),
                normal(1000, dtype="float32"),
                normal(1000, 1, dtype="float32"),
            ],
            3,
        ),
        "784-256-10 network, batch of 256, float32": (
            network,
            [*weights, normal(256, 784, dtype="float32"), labels],
            4,
        ),
    }


def ours(loss: Loss, arrays: list[Any], count: int) -> Callable[[], Any]:
    import stride0 as xp
    from stride0.autograd import value_and_grad

    values = [xp.asarray(a, copy=True) for a in arrays]
    both = value_and_grad(lambda *given: loss(xp, *given), argnums=tuple(range(count)))
    return lambda: both(*values)


def torchs(loss: Loss, arrays: list[Any], count: int) -> Callable[[], Any]:
    import array_api_compat.torch as namespace
    import torch

    values = [torch.tensor(a, requires_grad=k < count) for k, a in enumerate(arrays)]
    # Without the wrappers of array_api_compat, where they would add to PyTorch's time.
    plain = torch if loss is not network else namespace

    def run() -> Any:
        return torch.autograd.grad(loss(plain, *values), values[:count])

    return run


def jaxs(loss: Loss, arrays: list[Any], count: int) -> Callable[[], Any]:
    import jax

    values = [jax.numpy.asarray(a) for a in arrays]
    both = jax.jit(jax.value_and_grad(lambda *given: loss(jax.numpy, *given), argnums=tuple(range(count))))
    return lambda: jax.block_until_ready(both(*values))


def squares(xp: Any, b: Any, x: Any) -> Any:
    return xp.sum(xp.tanh(b @ x) ** 2)


def layer(xp: Any, a: Any, x: Any) -> Any:
    return xp.tanh(a @ x)


def squared_error(xp: Any, w1: Any, w2: Any, x: Any, y: Any) -> Any:
    return (xp.tanh(x @ w1) @ w2 - y) ** 2


def sines(xp: Any, x: Any) -> Any:
    return xp.exp(xp.sin(x) * x) / (1 + x * x)


def two_layers(xp: Any, w1: Any, w2: Any, x: Any) -> Any:
    return xp.tanh(xp.tanh(x @ w1) @ w2)


def energy(xp: Any, b: Any, x: Any) -> Any:
    return xp.sum(xp.tanh(b @ x) ** 2)


def directional() -> dict[str, tuple[Loss, str, list[Any]]]:
    """Name to function, transformation, and arrays, by the last of which the function is differentiated."""
    import numpy

    rng = numpy.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return rng.standard_normal(shape)

    weights = [normal(64, 64) / 8, normal(64, 64) / 8]
    return {
        "jvp of an elementwise chain, 10 elements": (sines, "jvp", [normal(10)]),
        "jvp of an elementwise chain, 1e6 elements": (sines, "jvp", [normal(1000000)]),
        "jvp of 50 times sin, 10 elements": (waves, "jvp", [normal(10)]),
        "jvp of two layers, batch of 4, 64-64-64": (two_layers, "jvp", [*weights, normal(4, 64)]),
        "jvp of two layers, batch of 512, 64-64-64": (two_layers, "jvp", [*weights, normal(512, 64)]),
        "hvp of sum(tanh(B @ x)**2), 10 parameters": (energy, "hvp", [normal(10, 10), normal(10)]),
        "hvp of sum(tanh(B @ x)**2), 500 parameters": (energy, "hvp", [normal(500, 500), normal(500)]),
        "hvp of sum(exp(sin(x) * x) / (1 + x * x)), 1e5 parameters": (
            lambda xp, x: xp.sum(sines(xp, x)),
            "hvp",
            [normal(100000)],
        ),
    }


def transformed() -> dict[str, tuple[Loss, str, list[Any]]]:
    """Name to function, transformation, and arrays."""
    import numpy

    rng = numpy.random.default_rng(0)
    matrix, point = rng.standard_normal((200, 200)), rng.standard_normal(200)
    weights = [rng.standard_normal((64, 64)) / 8, rng.standard_normal(64) / 8]
    examples = [rng.standard_normal((500, 64)), rng.standard_normal(500)]
    return {
        "Hessian of sum(tanh(B @ x)**2), 200 parameters": (squares, "hessian", [matrix, point]),
        "Jacobian of tanh(A @ x), 200x200": (layer, "jacobian", [matrix, point]),
        "Jacobian of tanh(A @ x), 5000x4": (
            layer,
            "jacobian, forward",
            [rng.standard_normal((5000, 4)), rng.standard_normal(4)],
        ),
        "500 gradients per example, 64-64-1 network": (squared_error, "per example", [*weights, *examples]),
    }


def our_transform(function: Loss, kind: str, arrays: list[Any]) -> Callable[[], Any]:
    import stride0 as xp
    from stride0.autograd import grad, hessian, jacobian, vmap

    values = [xp.asarray(a, copy=True) for a in arrays]

    def f(*given: Any) -> Any:
        return function(xp, *given)

    if kind == "per example":
        whole = vmap(grad(f, argnums=(0, 1)), in_axes=(None, None, 0, 0))
    else:
        whole = (hessian if kind == "hessian" else jacobian)(f, argnums=1)
    return lambda: whole(*values)


def torchs_transform(function: Loss, kind: str, arrays: list[Any]) -> Callable[[], Any]:
    import torch
    from torch.func import grad, hessian, jacfwd, jacrev, vmap

    values = [torch.tensor(a) for a in arrays]

    def f(*given: Any) -> Any:
        return function(torch, *given)

    if kind == "per example":
        whole = vmap(grad(f, argnums=(0, 1)), in_dims=(None, None, 0, 0))
    else:
        whole = {"hessian": hessian, "jacobian": jacrev}.get(kind, jacfwd)(f, argnums=1)
    return lambda: whole(*values)


def jaxs_transform(function: Loss, kind: str, arrays: list[Any]) -> Callable[[], Any]:
    import jax

    values = [jax.numpy.asarray(a) for a in arrays]

    def f(*given: Any) -> Any:
        return function(jax.numpy, *given)

    if kind == "per example":
        whole = jax.jit(jax.vmap(jax.grad(f, argnums=(0, 1)), in_axes=(None, None, 0, 0)))
    else:
        made = {"hessian": jax.hessian, "jacobian": jax.jacrev}.get(kind, jax.jacfwd)
        whole = jax.jit(made(f, argnums=1))
    return lambda: jax.block_until_ready(whole(*values))


def our_direction(function: Loss, kind: str, arrays: list[Any]) -> Callable[[], Any]:
    import stride0 as xp
    from stride0.autograd import hvp, jvp

    *fixed, x = [xp.asarray(a, copy=True) for a in arrays]

    def f(x: Any) -> Any:
        return function(xp, *fixed, x)

    v = xp.ones_like(x)
    return (lambda: hvp(f, x, v)) if kind == "hvp" else lambda: jvp(f, (x,), (v,))


def torchs_direction(function: Loss, kind: str, arrays: list[Any]) -> Callable[[], Any]:
    import torch
    from torch.func import grad, jvp

    *fixed, x = [torch.tensor(a) for a in arrays]

    def f(x: Any) -> Any:
        return function(torch, *fixed, x)

    v, whole = torch.ones_like(x), grad(f) if kind == "hvp" else f
    return lambda: jvp(whole, (x,), (v,))


def jaxs_direction(function: Loss, kind: str, arrays: list[Any]) -> Callable[[], Any]:
    import jax

    *fixed, x = [jax.numpy.asarray(a) for a in arrays]

    def f(x: Any) -> Any:
        return function(jax.numpy, *fixed, x)

    v, whole = jax.numpy.ones_like(x), jax.grad(f) if kind == "hvp" else f
    run = jax.jit(lambda x, v: jax.jvp(whole, (x,), (v,)))
    return lambda: jax.block_until_ready(run(x, v))


TRANSFORMS = {"stride0": our_transform, "torch": torchs_transform, "jax.jit": jaxs_transform}


def small_calls() -> dict[str, tuple[Loss, list[Any]]]:
    """Name to call and arrays, all of which are differentiated by."""
    import numpy

    matrix, square = numpy.arange(6.0).reshape(2, 3), numpy.asarray([[0.5, 0.2], [0.1, 0.7]])
    two, five, one = numpy.asarray([1.0, 2.0]), numpy.arange(5.0), numpy.asarray(1.5)
    return {
        "x * y, 5 elements": (lambda xp, x, y: x * y, [five, five + 1]),
        "A @ v, 2x2": (lambda xp, x, y: x @ y, [square, two]),
        "A @ B, 2x2": (lambda xp, x, y: x @ y, [square, square + 1]),
        "reshape, (2,3) to (6,)": (lambda xp, x: xp.reshape(x, (6,)), [matrix]),
        "stack([x, y])[0], no axes": (lambda xp, x, y: xp.stack([x, y])[0], [one, one + 1]),
        "concat([x, y])[1:], 2 and 5 elements": (lambda xp, x, y: xp.concat([x, y])[1:], [two, five]),
        "x.T, (2,3)": (lambda xp, x: x.T, [matrix]),
        "sum(x, axis=0), (2,3)": (lambda xp, x: xp.sum(x, axis=0), [matrix]),
        "x[1:], 5 elements": (lambda xp, x: x[1:], [five]),
    }


def our_calls(call: Loss, arrays: list[Any], recorded: bool) -> Callable[[], Any]:
    import stride0 as xp
    from stride0.autograd import vjp

    values = [xp.asarray(a, copy=True) for a in arrays]

    def repeated(*given: Any) -> list[Any]:
        return [call(xp, *given) for _ in range(RECORDED)]

    cotangents = [xp.ones_like(y) for y in repeated(*values)]
    return (lambda: vjp(repeated, *values)[1](cotangents)) if recorded else (lambda: repeated(*values))


def torchs_calls(call: Loss, arrays: list[Any]) -> Callable[[], Any]:
    import torch

    values = [torch.tensor(a, requires_grad=True) for a in arrays]

    def repeated() -> list[Any]:
        return [call(torch, *values) for _ in range(RECORDED)]

    cotangents = [torch.ones_like(y) for y in repeated()]
    return lambda: torch.autograd.grad(repeated(), values, cotangents, allow_unused=True)


DIRECTIONS = {"stride0": our_direction, "torch": torchs_direction, "jax.jit": jaxs_direction}
LIBRARIES = {"stride0": ours, "torch": torchs, "jax.jit": jaxs}


def main() -> None:
    options = parser(__doc__, rounds=25, only="cases", without=LIBRARIES).parse_args()
    limit_threads(options.threads)
    names = installed([*LIBRARIES], options.without)
    rows = []
    for title, found, makers in (
        ("case", cases, LIBRARIES),
        ("batched passes", transformed, TRANSFORMS),
        ("derivatives in a direction", directional, DIRECTIONS),
    ):
        calls = (
            (case, {name: makers[name](*facts) for name in names})
            for case, facts in found().items()
            if options.k in case
        )
        rows += compare(title, calls, names, YARDSTICK, options.rounds)
    small = (
        (
            case,
            {
                "plain": our_calls(call, arrays, False),
                "stride0": our_calls(call, arrays, True),
                **({YARDSTICK: torchs_calls(call, arrays)} if YARDSTICK in names else {}),
            },
        )
        for case, (call, arrays) in small_calls().items()
        if options.k in case
    )
    columns = ["plain", "stride0", *[YARDSTICK] * (YARDSTICK in names)]
    title = "small call, forward and backward"
    rows += compare(title, small, columns, YARDSTICK, options.rounds, repeated=RECORDED)
    write_json(options.json, {"title": "Gradients", "threads": options.threads, "rows": rows})

"""Gradients, forward and backward together: stride0, PyTorch and `jax.jit`, on the same data.

Ratios are to PyTorch's time. A second table has matrices of derivatives and gradients per example, which
batched passes compute, compared with `torch.func` and `jax.jit`; a third one has products with Jacobians and
Hessians. The last one has the time per small call, recorded many times and differentiated in one backward
pass, compared with the same call without recording.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.common.machine import installed, limit_threads
from benchmarks.common.tables import compare, parser, write_json
from benchmarks.common.timing import Call

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
    # The logarithm of the softmax, selected by the one-hot labels.
    shifted = scores - xp.max(scores, axis=1, keepdims=True)
    logarithms = shifted - xp.log(xp.sum(xp.exp(shifted), axis=1, keepdims=True))
    return -xp.mean(xp.sum(logarithms * labels, axis=1))


def cases() -> dict[str, tuple[Loss, int, list[Any]]]:
    """By name: loss, number of arrays to differentiate by, and the arrays."""
    import numpy

    rng = numpy.random.default_rng(0)

    def normal(*shape: int, dtype: str = "float64") -> Any:
        return rng.standard_normal(shape).astype(dtype)

    labels = numpy.eye(10, dtype="float32")[rng.integers(0, 10, 256)]
    weights = [normal(784, 256, dtype="float32") / 28, normal(256, dtype="float32") / 28]
    weights += [normal(256, 10, dtype="float32") / 16, normal(10, dtype="float32") / 16]
    return {
        "sum((a*b+c)**2), 10 elements": (polynomial, 3, [normal(10), normal(10), normal(10)]),
        "50 times sin, 10 elements": (waves, 1, [normal(10)]),
        "sum(a*b), (2000,1) and (1,2000)": (outer, 2, [normal(2000, 1), normal(1, 2000)]),
        "chain of broadcasts, 1000x1000 float32": (
            chain,
            3,
            [normal(*shape, dtype="float32") for shape in ((1000, 1000), (1000,), (1000, 1))],
        ),
        "784-256-10 network, batch of 256, float32": (
            network,
            4,
            [*weights, normal(256, 784, dtype="float32"), labels],
        ),
    }


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


def directional() -> dict[str, tuple[Loss, str, list[Any]]]:
    """By name: function, transformation, and arrays; the function is differentiated by the last array."""
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
        "hvp of sum(tanh(B @ x)**2), 10 parameters": (squares, "hvp", [normal(10, 10), normal(10)]),
        "hvp of sum(tanh(B @ x)**2), 500 parameters": (squares, "hvp", [normal(500, 500), normal(500)]),
        "hvp of sum(exp(sin(x) * x) / (1 + x * x)), 1e5 parameters": (
            lambda xp, x: xp.sum(sines(xp, x)),
            "hvp",
            [normal(100000)],
        ),
    }


def transformed() -> dict[str, tuple[Loss, str, list[Any]]]:
    """By name: function, transformation, and arrays."""
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


def ours(function: Loss, kind: Any, arrays: list[Any]) -> Call:
    import stride0 as xp
    from stride0.autograd import grad, hessian, hvp, jacobian, jvp, value_and_grad, vmap

    values = [xp.asarray(a, copy=True) for a in arrays]
    f, last, x = partial(function, xp), partial(function, xp, *values[:-1]), values[-1]
    v = xp.ones_like(x)
    if kind == "hvp":
        return lambda: hvp(last, x, v)
    if kind == "jvp":
        return lambda: jvp(last, (x,), (v,))
    if kind == "per example":
        whole = vmap(grad(f, argnums=(0, 1)), in_axes=(None, None, 0, 0))
    elif kind == "hessian":
        whole = hessian(f, argnums=1)
    elif isinstance(kind, str):
        whole = jacobian(f, argnums=1)
    else:
        whole = value_and_grad(f, argnums=tuple(range(kind)))
    return lambda: whole(*values)


def torchs(function: Loss, kind: Any, arrays: list[Any]) -> Call:
    import array_api_compat.torch as namespace
    import torch
    from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

    # The wrappers of array_api_compat would add to PyTorch's time; only the network needs them.
    f = partial(function, torch if function is not network else namespace)
    if isinstance(kind, int):
        given = [torch.tensor(a, requires_grad=k < kind) for k, a in enumerate(arrays)]
        return lambda: torch.autograd.grad(f(*given), given[:kind])
    values = [torch.tensor(a) for a in arrays]
    last, x = partial(f, *values[:-1]), values[-1]
    v = torch.ones_like(x)
    if kind in ("jvp", "hvp"):
        whole = grad(last) if kind == "hvp" else last
        return lambda: jvp(whole, (x,), (v,))
    if kind == "per example":
        whole = vmap(grad(f, argnums=(0, 1)), in_dims=(None, None, 0, 0))
    else:
        whole = {"hessian": hessian, "jacobian": jacrev}.get(kind, jacfwd)(f, argnums=1)
    return lambda: whole(*values)


def jaxs(function: Loss, kind: Any, arrays: list[Any]) -> Call:
    import jax

    values = [jax.numpy.asarray(a) for a in arrays]
    f = partial(function, jax.numpy)
    whole: Any
    if kind in ("jvp", "hvp"):
        last = partial(f, *values[:-1])
        derived, values = jax.grad(last) if kind == "hvp" else last, [values[-1]]
        values.append(jax.numpy.ones_like(values[0]))
        whole = lambda x, v: jax.jvp(derived, (x,), (v,))  # noqa: E731
    elif kind == "per example":
        whole = jax.vmap(jax.grad(f, argnums=(0, 1)), in_axes=(None, None, 0, 0))
    elif isinstance(kind, str):
        whole = {"hessian": jax.hessian, "jacobian": jax.jacrev}.get(kind, jax.jacfwd)(f, argnums=1)
    else:
        whole = jax.value_and_grad(f, argnums=tuple(range(kind)))
    compiled = jax.jit(whole)
    return lambda: jax.block_until_ready(compiled(*values))


def small_calls() -> dict[str, tuple[Loss, list[Any]]]:
    """By name: call and arrays; it is differentiated by all of them."""
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


def our_calls(call: Loss, arrays: list[Any], recorded: bool) -> Call:
    import stride0 as xp
    from stride0.autograd import vjp

    values = [xp.asarray(a, copy=True) for a in arrays]

    def repeated(*given: Any) -> list[Any]:
        return [call(xp, *given) for _ in range(RECORDED)]

    cotangents = [xp.ones_like(y) for y in repeated(*values)]
    return (lambda: vjp(repeated, *values)[1](cotangents)) if recorded else (lambda: repeated(*values))


def torchs_calls(call: Loss, arrays: list[Any]) -> Call:
    import torch

    values = [torch.tensor(a, requires_grad=True) for a in arrays]

    def repeated() -> list[Any]:
        return [call(torch, *values) for _ in range(RECORDED)]

    cotangents = [torch.ones_like(y) for y in repeated()]
    return lambda: torch.autograd.grad(repeated(), values, cotangents, allow_unused=True)


LIBRARIES = {"stride0": ours, "torch": torchs, "jax.jit": jaxs}


def main() -> None:
    options = parser(__doc__, rounds=25, only="cases", without=LIBRARIES).parse_args()
    limit_threads(options.threads)
    names = installed([*LIBRARIES], options.without)
    rows = []
    for title, found in (
        ("case", cases),
        ("batched passes", transformed),
        ("derivatives in a direction", directional),
    ):
        calls = (
            (case, {name: LIBRARIES[name](*facts) for name in names})
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

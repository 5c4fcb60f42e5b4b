"""Forward and backward passes defer their results: Note [Deferred passes]."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from free_threading import ONE_THREAD_FOR_A_TAPE, only_with_the_lock
from numpy.testing import assert_allclose, assert_array_equal
from program_helpers import in_thread, live, same

import stride0 as xp
from stride0.autograd import (
    Tape,
    checkpoint,
    custom_vjp,
    grad,
    hvp,
    jvp,
    value_and_grad,
    vjp,
)
from stride0.strided import memory_statistics

N = 120  # (N, N) is deferred, (N,) is not


def arrays(*shapes: tuple[int, ...], dtype: str = "float32", low: float = 0.5) -> list[Any]:
    rng = np.random.default_rng(5)
    return [xp.asarray(rng.uniform(low, 2.0, shape).astype(dtype), copy=True) for shape in shapes]


def polynomial(x: Any, row: Any, column: Any) -> Any:
    return xp.sum((x * row + column) * row - x / column)


def activation(x: Any, row: Any, column: Any) -> Any:
    return xp.mean(0.5 * x * (1 + xp.tanh(row * (x + 0.044715 * x**3))) * column)


def softmax(x: Any, row: Any, column: Any) -> Any:
    shifted = x - xp.max(x, axis=1, keepdims=True)
    scores = shifted - xp.log(xp.sum(xp.exp(shifted), axis=1, keepdims=True))
    return -xp.mean(xp.sum(scores * row, axis=1) * column[:, 0])


def normalized(x: Any, row: Any, column: Any) -> Any:
    centred = (x - xp.mean(x, axis=0)) / xp.sqrt(xp.var(x, axis=0) + 1e-3)
    return xp.sum(xp.where(centred > 0, centred * row, 0.1 * centred) ** 2 * column)


def outer(x: Any, row: Any, column: Any) -> Any:
    return xp.sum(row * column) + xp.max(x.T @ x) + xp.sum(xp.maximum(row, column))


def written(x: Any, row: Any, column: Any) -> Any:
    y = x * row
    y += column
    y[3:5] = row * 2
    y *= y + 1
    return xp.sum(xp.sin(y)) + xp.sum(y[::2, 1:] * x[::2, 1:])


PROGRAMS = [polynomial, activation, softmax, normalized, outer, written]

# Modes that the caller may have chosen.
SCOPES: dict[str, Callable[[], Any]] = {
    "never": lambda: xp.fused(size=0),
    "any size": lambda: xp.fused(size=1),
    "usual": xp.fused,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_bits_do_not_depend_on_what_is_deferred(program: Callable[..., Any], dtype: str) -> None:
    given = arrays((N, N), (N,), (N, 1), dtype=dtype)
    both = value_and_grad(program, argnums=(0, 1, 2))
    value, gradients = both(*given)
    for name, scope in SCOPES.items():
        with scope():
            again, others = both(*given)
        assert same(again, np.array(value)), name
        for g, other in zip(gradients, others, strict=True):
            assert same(other, np.array(g)), name


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_bits_do_not_depend_on_threads(program: Callable[..., Any]) -> None:
    given = arrays((700, 700), (700,), (700, 1))
    both, threads = value_and_grad(program, argnums=(0, 1, 2)), xp.get_num_threads()
    try:
        xp.set_num_threads(1)
        value, gradients = both(*given)
        xp.set_num_threads(3)
        again, others = both(*given)
    finally:
        xp.set_num_threads(threads)
    assert same(again, np.array(value))
    for g, other in zip(gradients, others, strict=True):
        assert same(other, np.array(g))


@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives_of_higher_order_and_other_transformations(program: Callable[..., Any]) -> None:
    x, row, column = arrays((N, N), (N,), (N, 1), dtype="float64")
    (v,) = arrays((N, N), dtype="float64", low=-1.0)

    def f(x: Any) -> Any:
        return program(x, row, column)

    def found() -> list[Any]:
        value, pullback = vjp(lambda x: checkpoint(f)(x * 1.5), x)
        with Tape() as tape:
            watched = tape.watch(x)
            y = f(watched)
        return [
            value,
            pullback(xp.asarray(2.0))[0],
            pullback(xp.asarray(-1.0))[0],
            *jvp(f, (x,), (v,)),
            hvp(f, x, v),
            tape.gradient(y, watched),
        ]

    results = found()
    with xp.fused(size=0):
        for one, other in zip(results, found(), strict=True):
            assert same(one, np.array(other))


def test_a_chain_of_broadcasts_against_jax() -> None:
    jax = pytest.importorskip("jax", reason="JAX is the judge")
    shapes = ((N, 2 * N), (2 * N,), (N, 1))
    given = arrays(*shapes)
    others = [jax.numpy.asarray(np.array(x)) for x in given]

    def theirs(x: Any, row: Any, column: Any) -> Any:
        return jax.numpy.sum((x * row + column) * row - x / column)

    value, gradients = value_and_grad(polynomial, argnums=(0, 1, 2))(*given)
    expected, wanted = jax.value_and_grad(theirs, argnums=(0, 1, 2))(*others)
    assert_allclose(np.array(value), np.asarray(expected), rtol=1e-5)
    for g, other in zip(gradients, wanted, strict=True):
        assert_allclose(np.array(g), np.asarray(other), rtol=2e-5)


def by_torch(program: Callable[..., Any], torch: Any) -> Callable[..., Any]:
    """The same program, written for PyTorch."""

    def their_softmax(x: Any, row: Any, column: Any) -> Any:
        return -(torch.log_softmax(x, 1) * row).sum(1).mul(column[:, 0]).mean()

    def their_normalized(x: Any, row: Any, column: Any) -> Any:
        centred = (x - x.mean(0)) / torch.sqrt(x.var(0, correction=0) + 1e-3)
        return (torch.where(centred > 0, centred * row, 0.1 * centred) ** 2 * column).sum()

    return {
        polynomial: lambda x, row, column: ((x * row + column) * row - x / column).sum(),
        activation: lambda x, row, column: (
            0.5 * x * (1 + torch.tanh(row * (x + 0.044715 * x**3))) * column
        ).mean(),
        softmax: their_softmax,
        normalized: their_normalized,
    }[program]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("program", [polynomial, activation, softmax, normalized])
def test_deferred_gradients_against_torch(program: Callable[..., Any], scope: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is the judge")
    given = arrays((N, 2 * N), (2 * N,), (N, 1), dtype="float64")
    others = [torch.tensor(np.array(x), requires_grad=True) for x in given]
    expected = by_torch(program, torch)(*others)
    expected.backward()
    with SCOPES[scope]():
        value, gradients = value_and_grad(program, argnums=(0, 1, 2))(*given)
    assert_allclose(np.array(value), expected.detach().numpy(), rtol=1e-12)
    for g, other in zip(gradients, others, strict=True):
        assert_allclose(np.array(g), other.grad.numpy(), rtol=1e-9, atol=1e-12)


# --- memory and passes


def peak_of(call: Callable[[], Any]) -> int:
    """The peak of allocated bytes during a call, above the bytes before it."""
    memory_statistics(reset_peak=True)
    before = live()
    call()
    return int(memory_statistics()["peak_bytes"]) - before


def passes_of(call: Callable[[], Any]) -> int:
    before = xp.fused.stats()["passes"]
    call()
    return xp.fused.stats()["passes"] - before


def test_the_memory_of_a_chain_is_its_results() -> None:
    x, row, column = arrays((1000, 1000), (1000,), (1000, 1))
    both = value_and_grad(polynomial, argnums=(0, 1, 2))
    # The gradient of x and small arrays: no saved value of this size is written.
    assert peak_of(lambda: both(x, row, column)) < x.nbytes * 1.1
    with xp.fused(size=0):
        assert peak_of(lambda: both(x, row, column)) > x.nbytes * 2.9


def test_the_gradients_of_an_outer_product_are_sums_of_its_factors() -> None:
    a, b = arrays((2000, 1), (1, 2000), dtype="float64")
    both = value_and_grad(lambda a, b: xp.sum(a * b), argnums=(0, 1))
    assert peak_of(lambda: both(a, b)) < 200_000  # the product has 32 MB
    _, gradients = both(a, b)
    assert_allclose(np.array(gradients[0]), np.full((2000, 1), np.array(b).sum()), rtol=1e-14)
    assert_allclose(np.array(gradients[1]), np.full((1, 2000), np.array(a).sum()), rtol=1e-14)


def test_cotangents_that_repeat_are_multiplied_once() -> None:
    """If nothing varies along the first axis of a product, one row is computed."""
    row, scale = arrays((3000,), (3000,), dtype="float64")

    def loss(row: Any) -> Any:
        return xp.sum(xp.broadcast_to(row, (2000, 3000)) * scale * 3.0)

    gradient = grad(loss)(row)
    assert_allclose(np.array(gradient), 6000 * np.array(scale), rtol=1e-14)
    with xp.fused(size=0):
        _, pullback = vjp(loss, row)
        assert peak_of(lambda: pullback(xp.asarray(1.0))) < 200_000


def test_an_elementwise_loss_takes_one_pass() -> None:
    (x,) = arrays((N, N))
    # One more pass makes the loss of a mean from its sum.
    assert passes_of(lambda: grad(lambda x: xp.sum(xp.sin(x * 2 + 1) * x))(x)) <= 2


def test_elements_of_a_deferred_cotangent_are_added_in_place() -> None:
    """The cost of an element does not grow with the array."""
    (x,) = arrays((300_000,), dtype="float64")

    def loss(x: Any) -> Any:
        total = xp.sum(xp.sin(x))
        for k in range(200):
            total = total + x[k]
        return total

    gradient = np.array(grad(loss)(x))
    assert_array_equal(gradient[200:], np.array(xp.cos(x))[200:])
    assert peak_of(lambda: grad(loss)(x)) < 4 * x.nbytes
    assert passes_of(lambda: grad(loss)(x)) < 20


# --- scope


@pytest.fixture(autouse=True)
def nothing_stays_switched_on() -> Iterator[None]:
    """Nothing is deferred by default, and passes leave it so."""
    before = xp.fused.set_default(0)
    try:
        yield
        assert xp.fused.current() == 0
        assert xp.fused.stats()["pending"] == 0
    finally:
        xp.fused.set_default(before)


def test_results_are_computed_when_the_pass_ends() -> None:
    (x,) = arrays((N, N))
    kept: list[Any] = []

    def f(x: Any) -> tuple[Any, Any]:
        assert xp.fused.current() > 0
        kept.append(x * 3)
        return xp.sum(x * x), {"aux": x + 1}

    (_, aux), _ = value_and_grad(f, has_aux=True)(x)
    assert xp.fused.stats()["pending"] == 0
    assert_array_equal(np.array(aux["aux"]), np.array(x) + 1)
    y, pullback = vjp(lambda x: x * x + 1, x)
    assert xp.fused.stats()["pending"] == 0
    (g,) = pullback(y)
    assert xp.fused.stats()["pending"] == 0
    assert_allclose(np.array(g), 2 * np.array(x) * (np.array(x) ** 2 + 1), rtol=1e-6)


def test_within_fused_results_stay_deferred() -> None:
    (x,) = arrays((N, N))
    with xp.fused(size=N):
        gradient = grad(lambda x: xp.sum(xp.sin(x) * x))(x)
        assert xp.fused.stats()["pending"] > 0
        half = gradient * 0.5
    a = np.array(x)
    assert_allclose(np.array(half), (np.cos(a) * a + np.sin(a)) / 2, rtol=1e-5)


def test_fused_within_a_function_that_is_differentiated() -> None:
    (x,) = arrays((N, N))

    def f(x: Any) -> Any:
        with xp.fused(size=1):
            y = xp.exp(x) * x
        assert xp.fused.current() > 1
        with xp.fused(size=0):
            y = y + x
        return xp.sum(y * y)

    def plain(x: Any) -> Any:
        y = xp.exp(x) * x + x
        return xp.sum(y * y)

    assert same(grad(f)(x), np.array(grad(plain)(x)))


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_an_exception_switches_it_off(where: str) -> None:
    (x,) = arrays((N, N))
    escaped: list[Any] = []

    @custom_vjp
    def probe(x: Any) -> Any:
        return x * 2

    def backward(_: None, g: Any) -> tuple[Any]:
        escaped.append(g * 3)
        raise RuntimeError(where)

    probe.defvjp(lambda x: (x * 2, None), backward)

    def f(x: Any) -> Any:
        y = probe(xp.sin(x) * x)
        escaped.append(y + 1)
        if where == "forward":
            raise RuntimeError(where)
        return xp.sum(y * y)

    with pytest.raises(RuntimeError, match=where):
        grad(f)(x)
    assert xp.fused.current() == 0
    assert xp.fused.stats()["pending"] == 0
    y = 2 * np.sin(np.array(x)) * np.array(x)
    assert_allclose(np.array(xp.real(xp.astype(escaped[0], xp.float32))), y + 1, rtol=1e-5)


@only_with_the_lock(ONE_THREAD_FOR_A_TAPE)
def test_generators_and_threads_within_a_function() -> None:
    (x,) = arrays((N, N))

    def powers(x: Any) -> Iterator[Any]:
        y = x
        for _ in range(4):
            with xp.fused(size=1):
                y = y * x
                yield y

    def f(x: Any) -> Any:
        total = xp.sum(x)
        found = powers(x)
        for y in found:
            total = total + xp.sum(y)
        doubled = in_thread(lambda: x * 2)
        return total + xp.sum(doubled)

    a = np.array(x, dtype="float64")
    expected = 3 + 2 * a + 3 * a**2 + 4 * a**3 + 5 * a**4
    assert_allclose(np.array(grad(f)(x)), expected, rtol=1e-5)


def test_gradients_in_several_threads_at_once() -> None:
    given = arrays((N, N), (N,), (N, 1))
    expected = [np.array(g) for g in grad(polynomial, argnums=(0, 1, 2))(*given)]

    def one() -> None:
        for _ in range(10):
            with xp.fused(size=1):
                found = grad(polynomial, argnums=(0, 1, 2))(*given)
            for g, other in zip(found, expected, strict=True):
                assert same(g, other)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(one) for _ in range(4)]:
            done.result()


# --- writes


def test_a_deferred_saved_value_is_copied_before_it_is_overwritten() -> None:
    (x,) = arrays((N, N))

    def f(x: Any) -> Any:
        y = xp.exp(x)
        z = y * x
        y += 1
        return xp.sum(z)

    expected = np.exp(np.array(x)) * (1 + np.array(x))
    assert_allclose(np.array(grad(f)(x)), expected, rtol=1e-5)


def test_writes_to_an_argument_come_after_what_reads_it() -> None:
    x, row = arrays((N, N), (N,))
    before = np.array(x)

    def f(row: Any) -> Any:
        y = x * row
        x[...] = 0
        return xp.sum(y * y)

    gradient = grad(lambda row: xp.sum((x * 1) * row * row))(row)
    assert_allclose(np.array(gradient), 2 * (before * np.array(row)).sum(axis=0), rtol=1e-5)
    expected = 2 * (before**2 * np.array(row)).sum(axis=0)
    assert_allclose(np.array(grad(f)(row)), expected, rtol=1e-5)
    assert not xp.any(x)


def test_two_arrays_on_one_deferred_memory_see_writes_of_each_other() -> None:
    (x,) = arrays((N, N))
    with xp.fused():
        y = x * 2
        z = y.view(y.dtype)
        y += 1
        w = z + 0
        z *= 2
        v = y + 0
    assert_array_equal(np.array(w), np.array(x) * 2 + 1)
    assert_array_equal(np.array(v), (np.array(x) * 2 + 1) * 2)

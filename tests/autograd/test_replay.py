"""`stride0.replay`: what is recorded, compared, refused and repeated."""

from __future__ import annotations

import gc
import threading
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from replayed import Function, check, facts, matrix, numbers, vector

import stride0 as xp
from stride0.autograd import grad, jacobian, jvp, value_and_grad, vmap

WEIGHTS = numbers(5, seed=100)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: xp.sin(x) * 2 + x,
        lambda x: (x, x + 1, {"a": [x[1:], x[::-1]]}),
        lambda x: xp.concat([x, WEIGHTS, x * 2]),
        lambda x: xp.where(x > 0, x, -x),
        lambda x: xp.stack(xp.meshgrid(x, WEIGHTS)),
        lambda x: xp.sort(x)[xp.argsort(-x)],
        lambda x: x[xp.asarray([0, 3])] + WEIGHTS[2:4],
        lambda x: (x.T if x.ndim == 2 else x).copy().reshape((1, 5)).mT,
        lambda x: [row * 2 for row in x],
        lambda x: xp.astype(x, xp.float32) * 2.5,
        lambda x: xp.sum(x, axis=0, keepdims=True) @ xp.ones((1, 2)),
    ],
)
def test_calls(f: Function) -> None:
    check(f, vector)


@pytest.mark.parametrize(
    "f", [xp.linalg.inv, xp.linalg.qr, xp.linalg.svdvals, lambda a: a @ a.mT, xp.fft.fftn]
)
def test_functions_of_matrices(f: Function) -> None:
    check(lambda a: f(xp.astype(a, xp.complex128) if f is xp.fft.fftn else a), matrix)


def loss(x: xp.Array) -> xp.Array:
    return xp.sum(xp.tanh(x * WEIGHTS[: x.shape[0]]) ** 2) * xp.var(x)


@pytest.mark.parametrize(
    "f",
    [
        grad(loss),
        value_and_grad(loss),
        vmap(lambda x: xp.sum(x * WEIGHTS)),
        jacobian(lambda x: xp.exp(x) * x),
        lambda x: grad(lambda y: xp.sum(grad(loss)(y) ** 2))(x),
        lambda x: jvp(loss, (x,), (WEIGHTS,)),
        lambda x: grad(lambda w: xp.sum(w * x))(WEIGHTS),
        lambda x: jvp(lambda y: y + y, (x,), (WEIGHTS,))[1] + WEIGHTS,
        grad(lambda x: xp.sum(xp.stack([x, WEIGHTS, xp.sin(x)])[::2] * xp.concat([x, x * 2])[:5])),
    ],
)
def test_transformations_within(f: Function) -> None:
    check(
        f, (lambda seed: numbers(4, 5, seed=seed)) if "vmap" in str(getattr(f, "__module__", "")) else vector
    )


def test_transformations_around() -> None:
    replayed = xp.replay(loss)
    x = vector(1)
    replayed(x)
    assert facts(grad(replayed)(x)) == facts(grad(loss)(x))
    assert facts(vmap(replayed)(matrix(0))) == facts(vmap(loss)(matrix(0)))
    assert replayed.recordings == 1
    outer = xp.replay(lambda x: replayed(x) + 1)
    assert facts(outer(x)) == facts(loss(x) + 1) == facts(outer(x))


def test_numbers_are_arguments() -> None:
    replayed = check(
        lambda x, h: x + h * x / (h + 1), lambda seed: numbers(3, dtype=xp.float32), lambda seed: 0.1 * seed
    )
    assert replayed(numbers(3, dtype=xp.float32), 0.7).dtype is xp.float32
    check(lambda x, k: (x**k, xp.full(3, k), x[k]), vector, lambda seed: seed)
    check(lambda h: grad(lambda t: t * t)(h), lambda seed: float(seed))

    def scaled(x: Any, h: Any) -> Any:
        h *= 2
        h += 1
        return x * h, h

    check(scaled, vector, lambda seed: 0.5 * seed)
    assert xp.replay(lambda h: h)(3.0) == 3.0


def test_static_arguments() -> None:
    @xp.replay(static=("n", "flag"))
    def power(x: Any, n: int, flag: bool = False) -> Any:
        for _ in range(n):
            x = x * x
        return -x if flag else x

    x = xp.asarray([2.0])
    assert [float(power(x, n)[0]) for n in (1, 2, 1, 3)] == [4.0, 16.0, 4.0, 256.0]
    assert float(power(x, 1, flag=True)[0]) == -4.0
    assert power.recordings == 4
    power.clear()
    assert power.recordings == 0
    with pytest.raises(xp.ArgumentValueError, match="static names 'm'"):
        xp.replay(lambda n: n, static="m")


def test_new_signatures_record_again() -> None:
    replayed = xp.replay(lambda x: xp.sin(x))
    base = numbers(4, 6)
    for x in (base, base, base.mT, base[::2], xp.astype(base, xp.float32), base[0]):
        assert facts(replayed(x)) == facts(xp.sin(x))
    assert replayed.recordings == 5
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(40):
            replayed(xp.ones(n))
    assert len(caught) == 1 and "recorded 17 times" in str(caught[0].message)


def test_arrays_from_outside_are_read_at_each_call() -> None:
    outside = numbers(5)
    replayed = xp.replay(lambda x: x * outside + grad(lambda y: xp.sum(y**3 * outside))(x))
    for k in range(3):
        outside *= k + 1
        assert facts(replayed(vector(k))) == facts(replayed._function(vector(k)))
    outside = numbers(5, seed=9)
    assert facts(replayed(vector(5))) == facts(replayed._function(vector(5)))
    assert replayed.recordings == 2


def test_variables_that_are_numbers_and_functions() -> None:
    scale, helper = 2.0, xp.sin
    model = SimpleNamespace(weights=[numbers(5)], bias=1.0)
    replayed = xp.replay(lambda x: helper(x) * scale + model.weights[0] * model.bias)
    x = vector(0)
    for change in ("", "scale", "helper", "weights", "bias"):
        if change == "scale":
            scale = 3.0
        elif change == "helper":
            helper = xp.cos
        elif change == "weights":
            model.weights[0] = numbers(5, seed=4)
        elif change == "bias":
            model.bias = -1.0
        assert facts(replayed(x)) == facts(replayed._function(x))
    assert replayed.recordings == 5


def test_writes_are_repeated_in_order() -> None:
    def f(x: Any, y: Any) -> Any:
        before = x * 1
        x += y
        x[1:3] = before[2:4]
        y[xp.asarray([True, False, False, True, True])] = 0.0
        made = xp.zeros(5)
        made[0] = x[0]
        made[1:] = y[1:] * 2
        return before, made, x[0]

    check(f, vector, lambda seed: numbers(5, seed=seed + 50))
    both = xp.replay(f)
    for k in range(5):
        a, b = numbers(8, seed=k), numbers(8, seed=k)
        places = (slice(0, 5), slice(1, 6)) if k % 2 else (slice(1, 6), slice(1, 6))
        if k == 4:
            assert facts(both(vector(0), vector(1))) == facts(f(vector(0), vector(1)))
        assert facts(both(a[places[0]], a[places[1]])) == facts(f(b[places[0]], b[places[1]]))
        assert facts(a) == facts(b)
    pairs = xp.replay(lambda x, y: [2 * z for z in xp.broadcast_arrays(x, y)])
    x, y = vector(0), vector(1)
    for given in ((x, x), (x, y), (y, x)):
        assert facts(pairs(*given)) == facts(pairs._function(*given))


def test_matrix_product_in_place_from_outside() -> None:
    state, factor = xp.eye(2), xp.asarray([[1.0, 2.0], [0.0, 3.0]])

    def f(x: Any) -> Any:
        nonlocal state
        state @= factor
        return x + state

    replayed = xp.replay(f)
    for k in range(1, 4):
        power = xp.linalg.matrix_power(factor, k)
        assert xp.all(replayed(xp.asarray(5.0)) == power + 5.0)
        assert xp.all(state == power)


def test_writes_to_arrays_from_outside() -> None:
    state = xp.zeros(5)

    def f(x: Any) -> Any:
        nonlocal state
        state += x
        state[0] = 1.0
        total = state * 2
        state *= 0.5
        return total

    replayed = xp.replay(f)
    found = [facts((replayed(vector(k)), state)) for k in range(4)]
    state[...] = 0.0
    assert found == [facts((f(vector(k)), state)) for k in range(4)]


def test_random_generators_draw_anew() -> None:
    rng, twin = xp.random.default_rng(3), xp.random.default_rng(3)
    replayed = xp.replay(lambda x: x + rng.standard_normal(5) * rng.random())
    for k in range(3):
        assert facts(replayed(vector(k))) == facts(vector(k) + twin.standard_normal(5) * twin.random())
    seeded = xp.replay(lambda x: x + xp.random.default_rng(1).random(5))
    assert facts(seeded(vector(0))) == facts(seeded(vector(0)))
    given = xp.replay(lambda x, rng: x + rng.random(5))
    rng, twin = xp.random.default_rng(4), xp.random.default_rng(4)
    assert [facts(given(vector(0), rng)) for _ in range(3)] == [
        facts(vector(0) + twin.random(5)) for _ in range(3)
    ]


def test_results_are_new_arrays() -> None:
    replayed = xp.replay(lambda x: (x * 2, xp.zeros(3), grad(lambda y: xp.sum(xp.ones(2)))(x)))
    first = replayed(vector(0))
    replayed(vector(0))
    for array in first:
        array += 7
    assert facts(replayed(vector(1))) == facts(replayed._function(vector(1)))


REFUSED: dict[str, Function] = {
    "float": lambda x: float(x[0]) * x,
    "bool": lambda x: x if x[0] > 0 else -x,
    "index": lambda x: x[: xp.argmax(x)],
    "int": lambda x: x * int(x[0]),
    "item": lambda x: x * x[0].item(),
    "tolist": lambda x: xp.asarray(x.tolist()),
    "mask": lambda x: x[x > 0],
    "nonzero": lambda x: xp.nonzero(x)[0],
    "unique": lambda x: xp.unique_values(x),
    "repeat": lambda x: xp.repeat(x, xp.astype(x > 0, xp.int64)),
    "numpy": lambda x: xp.asarray(np.asarray(x) * 2),
    "numpy function": lambda x: np.linalg.norm(x),
    "buffer": lambda x: xp.asarray(memoryview(x)),
    "dlpack": lambda x: xp.from_dlpack(np.from_dlpack(x)),
    "format": lambda x: x * len(f"{x[0]:.3f}"),
    "contains": lambda x: x if 1.0 in x else -x,
    "allclose": lambda x: x if xp.allclose(x, x) else -x,
    "outside": lambda x: x * float(WEIGHTS[0]),
    "outside mask": lambda x: WEIGHTS[WEIGHTS > 0],
    "outside numpy": lambda x: x * xp.asarray(np.asarray(WEIGHTS)),
    "outside bool": lambda x: x if bool(WEIGHTS[0] > 0) else -x,
    "foreign": lambda x: x * np.float64(x[0]),
    "strides": lambda x: x * xp.strided.strides(x)[0],
    "scalar": lambda x: x * -(x[0] if x.ndim == 0 else 1) if xp.sum(x) else x,
}


@pytest.mark.parametrize("name", REFUSED)
def test_reads_are_refused(name: str) -> None:
    replayed = xp.replay(REFUSED[name])
    with pytest.raises(xp.ReplayError) as caught:
        replayed(vector(0))
    assert ("line", f"{__file__}:") == (
        caught.value.facts[0][0],
        caught.value.facts[0][1].rstrip("0123456789"),
    )
    assert caught.value.accepts and replayed.recordings == 0
    # The failed recording leaves nothing behind.
    assert xp.replay(lambda x: x + 1)(WEIGHTS).shape == (5,)
    assert float(WEIGHTS[0]) == float(WEIGHTS[0])


def test_arguments_that_are_numbers_are_not_read() -> None:
    for f in (lambda x, n: x if n > 0 else -x, lambda x, n: [x for _ in range(n)], lambda x, n: x * float(n)):
        with pytest.raises(xp.ReplayError, match=r"static|where"):
            xp.replay(f)(vector(0), 3)
    with pytest.raises(xp.ReplayError, match=r"-1 \* x"):
        xp.replay(lambda x, n: x * -n)(vector(0), 3.0)


def test_changes_of_variables_are_refused() -> None:
    count, kept = 0, SimpleNamespace(step=0, last=None)

    def counting(x: Any) -> Any:
        nonlocal count
        count += 1
        return x

    def storing(x: Any) -> Any:
        kept.step += 1
        return x

    for f in (counting, storing):
        with pytest.raises(xp.ReplayError, match="the function changes"):
            xp.replay(f)(vector(0))


def test_arrays_that_escape_are_dead() -> None:
    kept: list[Any] = []
    xp.replay(lambda x: kept.append(x * 2) or x)(vector(0))
    with pytest.raises(xp.ReplayError, match="that has returned"):
        kept[0] + 1
    with pytest.raises(xp.ReplayError):
        float(kept[0][0])


def test_hidden_arrays_are_refused() -> None:
    class Hidden:
        __slots__ = ("array",)

    hidden = Hidden()
    hidden.array = vector(0)
    with pytest.raises(xp.ReplayError, match="pass the array as an argument"):
        xp.replay(lambda x: x * hidden.array)(vector(0))


def test_arrays_of_other_libraries_are_refused() -> None:
    with pytest.raises(xp.ReplayError, match="asarray"):
        xp.replay(lambda x: xp.asarray(x))(np.ones(3))


def test_errors_of_the_function() -> None:
    replayed = xp.replay(lambda a: xp.linalg.inv(a))
    replayed(matrix(0))
    with pytest.raises(xp.linalg.LinAlgError) as eager:
        xp.linalg.inv(xp.zeros((3, 3)))
    with pytest.raises(xp.linalg.LinAlgError) as caught:
        replayed(xp.zeros((3, 3)))
    assert str(eager.value).split("\n")[0] == str(caught.value).split("\n")[0]
    assert any(label == "recorded at" and __file__ in text for label, text in caught.value.facts)
    with pytest.raises(xp.BroadcastError):
        xp.replay(lambda x: x + xp.ones(4))(vector(0))
    index = xp.replay(lambda x, k: x[k])
    index(vector(0), 1)
    with pytest.raises(xp.OutOfBoundsError):
        index(vector(0), 7)
    replayed = xp.replay(lambda x, k: xp.zeros(k) + xp.sum(x))
    replayed(vector(0), 3)
    with pytest.raises(xp.ReplayError, match="another shape"):
        replayed(vector(0), 4)


def test_tracked_and_guarded_calls_run_the_function() -> None:
    calls = []
    replayed = xp.replay(lambda x: calls.append(1) or x * 2)
    x = vector(0)
    replayed(x), replayed(x)
    assert len(calls) == 1
    with xp.autograd.Tape() as tape:
        y = tape.watch(x)
        z = xp.sum(replayed(y))
    assert facts(tape.gradient(z, y)) == facts(xp.full(5, 2.0))
    with xp.strict():
        replayed(x)
    assert len(calls) == 3
    w = tape.watch(x) if False else WEIGHTS
    assert facts(replayed(w)) == facts(w * 2) and len(calls) == 3


def test_methods_and_closures() -> None:
    class Model:
        def __init__(self) -> None:
            self.weights = vector(3)

        @xp.replay
        def step(self, x: Any) -> Any:
            return x * self.weights

    model = Model()
    for k in range(3):
        model.weights *= 2
        assert facts(model.step(vector(k))) == facts(vector(k) * model.weights)
    model.weights = vector(8)
    assert facts(model.step(vector(1))) == facts(vector(1) * model.weights)


def test_threads_share_a_recording() -> None:
    replayed = xp.replay(lambda x, h: xp.sum(xp.sin(x * h)) + grad(loss)(x))
    expected = [facts(replayed._function(vector(k), 0.1 * k)) for k in range(8)]
    failed: list[int] = []

    def work() -> None:
        for _ in range(50):
            for k in range(8):
                if facts(replayed(vector(k), 0.1 * k)) != expected[k]:
                    failed.append(k)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_dropped_recordings_free_their_memory() -> None:
    replayed = xp.replay(lambda x: xp.sum(xp.sin(x) * xp.ones(1000)))
    replayed(xp.ones(1000))
    gc.collect()
    before = xp.memory.stats()["live_bytes"]
    for _ in range(10):
        replayed.clear()
        replayed(xp.ones(1000))
    gc.collect()
    assert xp.memory.stats()["live_bytes"] == before


def test_explain() -> None:
    replayed = xp.replay(lambda x: xp.sin(x) * 2)
    assert replayed.explain() == ""
    replayed(vector(0))
    lines = replayed.explain().splitlines()
    assert lines[0] == "recording 1: 2 steps, 1 argument, 64 bytes for results between steps"
    assert "sin($0)  (5,) float64" in lines[1] and __file__ in lines[1]


def test_outside_arrays_that_become_tracked() -> None:
    outside = vector(3)
    replayed = xp.replay(lambda x: xp.sum(x * outside * 2))
    plain = facts(replayed(vector(0)))
    assert facts(replayed(vector(0))) == plain

    def through(y: Any) -> Any:
        outside[...] = y
        return replayed(vector(0))

    assert facts(grad(through)(vector(3))) == facts(vector(0) * 2)
    assert facts(replayed(vector(0))) == plain


@pytest.mark.filterwarnings("ignore:replay")
def test_threads_record_and_clear_at_the_same_time() -> None:
    replayed = xp.replay(lambda x, h: grad(loss)(x) * h)
    expected = {n: facts(replayed._function(vector(n)[:n], 0.5 * n)) for n in range(2, 6)}
    failed: list[Any] = []

    def work(k: int) -> None:
        try:
            for i in range(100):
                n = 2 + (i + k) % 4
                if facts(replayed(vector(n)[:n], 0.5 * n)) != expected[n]:
                    failed.append(n)
                if i % 25 == k:
                    replayed.clear()
        except Exception as error:  # reported by the main thread
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and replayed.recordings <= 16

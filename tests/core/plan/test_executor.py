"""The executor: casts, transposed operands, streamed outputs, reductions and threads can be combined.

Every combination is compared with its steps run one by one, byte for byte. Counters check that it took the
path after which it is named.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from helpers import function_of

import stride0 as xp
from stride0._core.index.index import dot_into
from stride0._core.memory.dtype import STANDARD_DTYPES
from stride0._core.plan import plan
from stride0._core.plan import threads as pool
from stride0._core.plan.plan import run_steps
from stride0._core.reduce.reduce import reduce, reduce2
from stride0._tables.operations import OPS, REDUCTIONS, body_for

THREADS = (1, 3)


@pytest.fixture(autouse=True)
def low_thresholds() -> Iterator[None]:
    before, threads, backs_off = plan.tune(transposed_elements=0), xp.get_num_threads(), pool.back_off(False)
    yield
    plan.tune(**before)
    pool.back_off(backs_off)
    xp.set_num_threads(threads)


def values(name: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if name == "bool":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if "int" in name:
        return np.asarray(rng.integers(0 if "uint" in name else -100, 100, shape)).astype(name)
    # Without axes NumPy returns a scalar, whose memory would be freed too early.
    return np.asarray(
        rng.normal(size=shape) + (1j * rng.normal(size=shape) if "complex" in name else 0)
    ).astype(name)


def did(call: Callable[[], Any], *counters: str, threads: int = 1, streams: bool = False) -> Any:
    """The result of a call, which must change these counters."""
    xp.set_num_threads(threads)
    now = plan.tune(
        threads_ns=0 if threads > 1 else 1 << 62,
        wake_ns=0,
        per_thread_ns=1,
        streamed_copy_bytes=1 if streams else 1 << 62,
        streamed_bytes=1 if streams else 1 << 62,
        streamed_steps=1 << 30,
    )
    before = plan.counts()
    try:
        result = call()
    finally:
        plan.tune(**now)
    after = plan.counts()
    for name in counters:
        assert after[name] > before[name], f"{name}: nothing"
    return result


def same(result: Any, expected: Any) -> None:
    result, expected = np.asarray(result), np.asarray(expected)
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert np.ascontiguousarray(result).tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("int32", "float64"),
        ("float32", "float64"),
        ("int8", "int32"),
        ("float64", "complex64"),
        ("uint16", "int64"),
    ],
)
def test_a_cast_operand_with_a_transposed_one(name: str, other: str, threads: int) -> None:
    for shape in ((8, 8), (130, 77), (77, 300), (9, 1031)):
        a, b = values(name, shape), values(other, shape[::-1], 1)
        x, y = xp.asarray(a), xp.asarray(b)
        target = getattr(xp, str(np.result_type(a, b)))
        for first, second in ((x, y.T), (y.T, x), (x.T, y), (y, x.T)):
            expected = xp.astype(first, target) + xp.astype(second, target)
            same(did(lambda p=first, q=second: p + q, "cast", "transposed", threads=threads), expected)


@pytest.mark.parametrize("threads", THREADS)
def test_an_operand_that_is_both_transposed_and_cast_in_place(threads: int) -> None:
    a, b = values("float32", (150, 131)), values("float64", (131, 150), 1)
    y = xp.asarray(b)

    def call() -> Any:
        x = xp.asarray(a, copy=True)
        x += y.T
        return x

    expected = xp.astype(xp.astype(xp.asarray(a), xp.float64) + y.T, xp.float32)
    same(did(call, "cast", "transposed", threads=threads), expected)


@pytest.mark.parametrize("threads", THREADS)
def test_a_streamed_output_with_casts(threads: int) -> None:
    for n in (8192, 8193, 20_001):
        a, b = values("int32", (n,)), values("float64", (n,), 1)
        x, y = xp.asarray(a), xp.asarray(b)
        for start in (0, 1, 3):
            given = x[start:], y[start:]
            same(
                did(lambda g=given: g[0] * g[1], "cast", "streamed", threads=threads, streams=True),
                a[start:] * b[start:],
            )
    row = xp.asarray(values("float32", (1, 1031)))
    c = values("float64", (40, 1031), 2)
    same(
        did(lambda: xp.asarray(c) - row, "cast", "streamed", threads=threads, streams=True),
        c - np.asarray(row),
    )


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("name", ["float32", "float64", "int64", "complex64", "complex128"])
def test_a_streamed_output_with_a_transposed_operand(name: str, threads: int) -> None:
    for shape in ((300, 300), (131, 1031), (1031, 300)):
        a, b = values(name, shape), values(name, shape[::-1], 1)
        x, y = xp.asarray(a), xp.asarray(b)
        same(did(lambda x=x, y=y: x + y.T, "transposed", "streamed", threads=threads, streams=True), a + b.T)
        c = values("int16", shape[::-1], 2)
        z = xp.asarray(c)
        call = lambda x=x, z=z: x - z.T  # noqa: E731
        same(did(call, "transposed", "streamed", "cast", threads=threads, streams=True), a - c.T.astype(name))


@pytest.mark.parametrize("threads", THREADS)
def test_where_casts_in_tiles(threads: int) -> None:
    for shape in ((3, 5), (97, 131)):
        a, b = values("int16", shape), values("float32", shape[::-1], 1)
        mask = values("bool", shape, 2)
        x, y, m = xp.asarray(a), xp.asarray(b), xp.asarray(mask)
        expected = np.where(mask, a.astype("float32"), b.T)
        same(did(lambda x=x, y=y, m=m: xp.where(m, x, y.T), "cast", threads=threads), expected)
        same(
            did(lambda x=x, m=m: xp.where(m, x[:1, :], 2.5), "cast", threads=threads),
            np.where(mask, a[:1].astype("float64"), 2.5),
        )


# --- reductions in tiles


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("threads", THREADS)
def test_kernels_of_several_operands_cast_in_tiles(threads: int) -> None:
    """Operands of another dtype give the same results as operands that are cast first, also if transposed."""
    n = 300
    x, y = xp.asarray(values("float64", (n, n), 1)), xp.asarray(values("float32", (n, n), 2))
    wide, turned = xp.astype(y, xp.float64), xp.asarray(xp.astype(y.T, xp.float64), copy=True)
    same(did(lambda: xp.add(x, y, alpha=2.5), "cast", threads=threads), x + wide * 2.5)
    same(did(lambda: xp.add(x, y.T, alpha=2.5), "cast", "transposed", threads=threads), x + turned * 2.5)
    for shape in ((n,), (n, 1), (1, 1)):
        found = did(lambda s=shape: dot_into(x, y, s), "cast", threads=threads)
        same(found, dot_into(x, wide, shape))
    for axis in (None, 0, 1):
        found = did(lambda k=axis: xp.var(y, axis=k), "cast", threads=threads)
        same(found, xp.astype(xp.var(wide, axis=axis), xp.float32))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("name", "other"), [("float64", "float64"), ("float32", "float64"), ("int16", "int64")]
)
def test_a_reduction_of_a_transposed_and_cast_operand(name: str, other: str, threads: int) -> None:
    """Sums of products of operands in different memory orders have the bits of strided loops on casts."""
    for shape in ((40, 300), (300, 40), (9, 5000), (130, 130)):
        a, b = values(other, shape), values(name, shape[::-1], 1)
        x, y = xp.asarray(a), xp.asarray(b)
        turned = xp.asarray(b.astype(other)).T
        for axes in ((0,), (1,), (0, 1)):
            tuned = plan.tune(transposed_elements=1 << 62)
            expected = reduce2("dot", x, turned, axes, False)
            plan.tune(**tuned)
            # One accumulator takes runs one after the other, also beyond the block that is folded; rows are
            # added in their memory order.
            turns = axes != (0,) and not (axes == (0, 1) and shape[1] > 4096)
            counters = (["transposed"] if turns else []) + (["cast"] if name != other else [])
            call = lambda x=x, y=y, axes=axes: reduce2("dot", x, y.T, axes, False)  # noqa: E731
            same(did(call, *counters, threads=threads), expected)


# --- chains of several steps


def view(a: Any) -> tuple[int, str, tuple[int, ...], tuple[int, ...]]:
    return (a.__array_interface__["data"][0], a.dtype.name, a.shape, a.strides)


def eager(leaves: list[Any], steps: list[Any]) -> list[Any]:
    """The values of a chain, computed one by one by the library; NumPy only holds the arrays."""
    found = [xp.asarray(leaf) for leaf in leaves]
    for name, dtype, inputs in steps:
        given = [
            xp.astype(found[k], getattr(xp, dtype)) if not (name == "where" and k == inputs[0]) else found[k]
            for k in inputs
        ]
        function = {"where": xp.where, "multiply": xp.multiply}.get(name) or getattr(xp, name)
        found.append(function(*given))
    return found


def check(
    leaves: list[Any],
    steps: list[Any],
    stored: list[int],
    *counters: str,
    dtypes: dict[int, str] | None = None,
    threads: int = 1,
    streams: bool = False,
) -> None:
    """A chain's outputs against its steps, into memory in C order."""
    expected = [np.asarray(eager(leaves, steps)[k]) for k in stored]
    shape = np.broadcast_shapes(*(leaf.shape for leaf in leaves))
    targets = [
        np.empty(shape, (dtypes or {}).get(k, e.dtype.name)) for k, e in zip(stored, expected, strict=True)
    ]
    outputs = [(view(t), k) for t, k in zip(targets, stored, strict=True)]
    did(
        lambda: run_steps([view(leaf) for leaf in leaves], steps, outputs),
        *(["tiled"] if steps else []),
        *counters,
        threads=threads,
        streams=streams,
    )
    for target, found in zip(targets, expected, strict=True):
        cast = xp.astype(xp.asarray(np.broadcast_to(found, shape)), getattr(xp, target.dtype.name))
        same(target, cast)


SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (1023,), (5000,), (3, 5), (130, 77), (9, 1031), (4, 3, 130)]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_chains_of_elementwise_steps(shape: tuple[int, ...], threads: int) -> None:
    a, b = values("float64", shape), values("float32", shape, 1)
    i = values("int32", shape, 2)
    steps = [
        ("subtract", "float64", (0, 1)),  # 3
        ("multiply", "float64", (3, 3)),  # 4
        ("exp", "float32", (1,)),  # 5
        ("add", "float64", (4, 5)),  # 6: a cast of a step's result
        ("multiply", "float64", (6, 2)),  # 7: an integer leaf
        ("less", "float64", (7, 0)),  # 8
        ("where", "float64", (8, 3, 7)),  # 9
    ]
    check([a, b, i], steps, [9], threads=threads)
    check([a, b, i], steps, [3, 8, 9, 5], threads=threads)
    check([a, b, i], steps, [7, 9], "cast", dtypes={7: "float32", 9: "complex128"}, threads=threads)


@pytest.mark.parametrize("threads", THREADS)
def test_chains_with_broadcasts_and_transposed_leaves(threads: int) -> None:
    for m, n in ((130, 77), (33, 4100), (8, 9)):
        a, row, column, t = (
            values("float64", (m, n)),
            values("float64", (n,), 1),
            values("float32", (m, 1), 2),
            values("float32", (n, m), 3).T,
        )
        one = values("float64", (1, 1), 4)
        steps = [
            ("multiply", "float64", (1, 1)),  # 5: varies along rows alone
            ("exp", "float64", (2,)),  # 6: along columns alone
            ("sqrt", "float64", (4,)),  # 7: not at all
            ("add", "float64", (0, 5)),  # 8
            ("multiply", "float64", (8, 6)),  # 9
            ("subtract", "float64", (9, 3)),  # 10
            ("multiply", "float64", (10, 7)),  # 11
            ("add", "float64", (5, 6)),  # 12
        ]
        leaves = [a, row, column, t, np.abs(one)]
        check(leaves, steps, [11], "transposed", "cast", threads=threads)
        check(leaves, steps, [11, 12, 7, 5], "transposed", "cast", threads=threads)
        check(
            leaves,
            steps,
            [11, 10],
            "transposed",
            "cast",
            "streamed" if n > 200 else "tiled",
            threads=threads,
            streams=True,
        )


def test_a_chain_without_steps_copies() -> None:
    a = values("float32", (60, 70))
    for leaf in (a, a.T, a[::2, 1:], a[:, ::-1]):
        check([leaf], [], [0])
        check([leaf], [], [0], dtypes={0: "complex64"})


def test_a_long_chain_uses_slots_again() -> None:
    a = values("float64", (5000,))
    steps = [("add" if k % 2 else "multiply", "float64", (k, max(k - 3, 0))) for k in range(96)]
    with np.errstate(all="ignore"):
        check([a / 4], steps, [96])
        check([a / 4], steps, [96, 7, 20, 1])
    one = (view(a)[0], "float64")
    for leaves, count, constants in ((25, 1, 0), (1, 97, 0), (1, 1, 33)):
        with pytest.raises(ValueError, match="limits"):
            run_steps([view(a)] * leaves, [steps[0]] * count, [], [one] * constants)
    deep = np.ones((1,) * 15 + (2, 3))
    with pytest.raises(ValueError, match="limits"):
        run_steps([view(deep)], [("negative", "float64", (0,))], [(view(deep), 1)])


@pytest.mark.parametrize("threads", THREADS)
def test_every_step_casts_every_operand(threads: int) -> None:
    """A chain of the maximum length, whose values are read in two dtypes alternately."""
    a, b, mask = (
        values("float32", (130, 77)),
        values("float64", (77, 130), 1).T,
        values("bool", (130, 77), 2),
    )
    steps: list[Any] = []
    for k in range(95):
        dtype, last = ("float64", "float32")[k % 2], 2 + len(steps)
        steps.append(("where", dtype, (2, last, k % 2)) if k % 3 else ("subtract", dtype, (last, 1 - k % 2)))
    check([a, b, mask], steps, [97], "cast", "transposed", threads=threads)


@pytest.mark.parametrize("threads", THREADS)
def test_constants_are_operands(threads: int) -> None:
    for shape in ((), (5000,), (130, 77)):
        a, b = values("float64", shape), values("float32", shape, 1)
        ones = [values(name, (1,), 3 + k) for k, name in enumerate(["float64", "int16"] * 16)]
        steps: list[Any] = [("add", "float64", (0, 2))]
        steps += [("maximum", "float64", (33 + k, 2 + k)) for k in range(1, 32)]
        steps += [("add", "float64", (2, 3)), ("multiply", "float64", (65, 66)), ("add", "float64", (67, 1))]
        expected = [np.asarray(e) for e in eager([a, b, *(one.reshape(()) for one in ones)], steps)]
        targets = [np.empty(shape), np.empty(shape, "float32"), np.empty(shape)]
        leaves, constants = [view(a), view(b)], [view(one)[:2] for one in ones]
        outputs = [(view(t), number) for t, number in zip(targets, (68, 67, 3), strict=True)]
        call = functools.partial(run_steps, leaves, steps, outputs, constants)
        did(call, "tiled", "cast", threads=threads)
        same(targets[0], expected[68])
        same(targets[1], xp.astype(xp.asarray(expected[67]), xp.float32))
        same(targets[2], xp.astype(xp.asarray(np.broadcast_to(expected[3], shape)), xp.float64))
        # A reduction of values computed from them.
        if shape:
            total = np.zeros(())
            reduced = [*steps, ("sum", "float64", (68,))]
            outputs = [(view(np.broadcast_to(total, shape)), 69)]
            call = functools.partial(run_steps, leaves, reduced, outputs, constants)
            did(call, "computed", threads=threads)
            same(total, xp.sum(xp.asarray(expected[68])))


@pytest.mark.parametrize("threads", THREADS)
def test_large_leaves_and_outputs_are_prefetched(threads: int) -> None:
    steps = [("subtract", "float32", (0, 1)), ("multiply", "float32", (3, 2)), ("less", "float32", (3, 4))]
    rows = values("float32", (300, 1)), values("float32", (500,), 1)
    before = plan.tune(prefetched_bytes=1)
    try:
        for shape in ((300, 500), (300, 1), (2, 300, 500)):
            check([values("float32", shape, 2), *rows], steps, [4, 5], "prefetched", threads=threads)
        check([rows[1]] * 3, steps, [5, 3], "prefetched", threads=threads)
        check([values("float32", (500, 300)).T, *rows], steps, [5, 3], "prefetched", threads=threads)
    finally:
        plan.tune(**before)
    counted = plan.counts()
    check([values("float32", (300, 500)), *rows], steps, [4])
    assert plan.counts()["prefetched"] == counted["prefetched"]


def test_kernels_that_do_not_exist_are_refused() -> None:
    a = values("float64", (5,))
    for name, dtype in (("bitwise_and", "float64"), ("max", "complex64"), ("no such", "float64")):
        with pytest.raises(ValueError, match="no kernel"):
            run_steps([view(a)], [(name, dtype, (0, 0))], [(view(a), 1)])


def test_in_place_chains() -> None:
    """The last value is written over a leaf."""
    a, b = values("float64", (70, 90)), values("float32", (70, 90), 1)
    steps = [("multiply", "float64", (0, 1)), ("add", "float64", (2, 0))]
    expected = eager([a, b], steps)[-1]
    run_steps([view(a), view(b)], steps, [(view(a), 3)])
    same(a, expected)


# --- chains with a reduction at the end


def starts(name: str, kept: tuple[int, ...], dtype: Any, first: Any) -> Any:
    if name in ("max", "min"):
        return np.array(np.broadcast_to(first, kept), dtype)
    return np.full(
        kept,
        {"sum": -0.0 if np.dtype(dtype).kind == "f" else 0, "prod": 1, "any": 0, "all": 1}.get(name, 0),
        dtype,
    )


def check_reduction(
    leaves: list[Any],
    steps: list[Any],
    name: str,
    axes: tuple[int, ...],
    *counters: str,
    threads: int = 1,
    more: list[int] | None = None,
) -> None:
    found = eager(leaves, steps)
    last = found[-1]
    shape = np.broadcast_shapes(*(leaf.shape for leaf in leaves))
    assert last.shape == shape
    number = next(red for red in REDUCTIONS if red.name == name)
    kept = tuple(1 if k in axes else s for k, s in enumerate(shape))
    accumulator = number.accumulator[np.asarray(last).dtype.kind]
    dtype = np.asarray(last).dtype.name if accumulator == "same" else accumulator
    expected = reduce(name, last, axes, True, None)
    first = np.asarray(last)[tuple(slice(0, 1) if k in axes else slice(None) for k in range(len(shape)))]
    target = starts(name, kept, dtype, first)
    others = [np.empty(shape, np.asarray(found[k]).dtype) for k in more or []]
    chain = [*steps, (name, np.asarray(last).dtype.name, (len(found) - 1,))]
    outputs = [*((view(o), k) for o, k in zip(others, more or [], strict=True)), (view(target), len(found))]
    did(
        lambda: run_steps([view(leaf) for leaf in leaves], chain, outputs),
        "computed",
        *counters,
        threads=threads,
    )
    same(xp.astype(xp.asarray(target), expected.dtype), expected)
    for other, k in zip(others, more or [], strict=True):
        same(other, found[k])


CASES: dict[str, Callable[[], list[Any]]] = {
    "contiguous": lambda: [values("float64", (60, 500)), values("float64", (60, 500), 1)],
    "with a row": lambda: [values("float64", (60, 500)), values("float64", (500,), 1)],
    "with a column": lambda: [values("float64", (60, 500)), values("float64", (60, 1), 1)],
    "cut rows": lambda: [values("float64", (60, 510))[:, 3:503], values("float32", (60, 510), 1)[:, :500]],
    "every second": lambda: [values("float64", (60, 1000))[:, ::2], values("int16", (60, 500), 1)],
    "transposed": lambda: [values("float64", (60, 500)), values("float64", (500, 60), 1).T],
    "both transposed": lambda: [values("float64", (500, 60)).T, values("float32", (500, 60), 1).T],
    "narrow": lambda: [values("float64", (20_000, 4))[:, :3], values("float64", (3,), 1)],
    "short rows": lambda: [values("float64", (20_000, 3)), values("float32", (3,), 1)],
    "three axes": lambda: [values("float64", (7, 40, 50))[:, :33], values("float32", (7, 1, 50), 1)],
    "permuted": lambda: [values("float64", (40, 7, 50)).transpose(1, 2, 0), values("float32", (50, 40), 1)],
    "long": lambda: [values("float64", (3, 100_000)), values("float32", (100_000,), 1)],
    "one": lambda: [values("float64", (1, 1)), values("float64", (1, 1), 1)],
    "vectors": lambda: [values("float64", (70_000,)), values("float64", (1,), 1)],
}


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("case", CASES)
def test_a_chain_of_two_kernels_with_a_reduction_at_the_end(case: str, threads: int) -> None:
    leaves = CASES[case]()
    steps = [("subtract", "float64", (0, 1)), ("multiply", "float64", (2, 2))]
    ndim = leaves[0].ndim
    for name in ("sum", "max", "prod", "count_nonzero"):
        for count in range(ndim + 1):
            for axes in itertools.combinations(range(ndim), count):
                check_reduction(leaves, steps, name, axes, threads=threads)
    flags = [("less", "float64", (0, 1))]
    for name in ("any", "all"):
        check_reduction(leaves, flags, name, tuple(range(ndim)), threads=threads)


@pytest.mark.parametrize("threads", THREADS)
def test_a_reduction_of_a_computed_operand_that_is_cast(threads: int) -> None:
    """The last step and the reduction have different dtypes, and other outputs are written too."""
    for case in ("contiguous", "transposed", "cut rows", "narrow"):
        leaves = CASES[case]()
        steps = [("exp", "float32", (0,)), ("add", "float32", (2, 1))]
        for axes in ((), (0,), (1,), (0, 1)):
            check_reduction(leaves, steps, "sum", axes, "cast", threads=threads)
            check_reduction(leaves, steps, "sum", axes, threads=threads, more=[3, 2])


@pytest.mark.parametrize("threads", THREADS)
def test_a_reduction_alone_is_a_chain_of_one_step(threads: int) -> None:
    a, b = values("float64", (40, 3000)), values("float32", (40, 3000), 1)
    for name, leaves in (("sum", [a]), ("dot", [a, b]), ("sum_squared_deviation", [a, b])):
        for axes in ((0,), (1,), (0, 1)):
            kept = tuple(1 if k in axes else s for k, s in enumerate(a.shape))
            target = starts(name, kept, "float64", None)
            if name == "dot":
                target[...] = -0.0
            steps = [(name, "float64", tuple(range(len(leaves))))]
            call = lambda s=steps, t=target, v=leaves: run_steps(  # noqa: E731
                [view(leaf) for leaf in v], s, [(view(t), len(v))]
            )
            did(call, threads=threads)
            given = [xp.asarray(leaf) for leaf in leaves]
            expected = (
                reduce(name, *given, axes, True) if name == "sum" else reduce2(name, *given, axes, True)
            )
            same(target, expected)


def test_the_order_of_axes_decides_the_bits() -> None:
    """This shows that the tests above can fail: rows folded one by one differ from one contiguous run."""
    found = 0
    for seed in range(9):
        a = values("float64", (60, 510), seed)[:, 3:503]
        found += float(xp.sum(xp.asarray(a.copy()))) != float(xp.sum(xp.asarray(a)))
    assert found


# --- single steps


def test_plain_calls_run_without_tiles() -> None:
    a = xp.asarray(values("float64", (40, 30)))
    i = xp.asarray(values("int32", (40, 30)))
    before = plan.counts()
    plan.tune(transposed_elements=1 << 20)
    for call in (
        lambda: a + a,
        lambda: a + a[0, :],
        lambda: a.T * 2.0,
        lambda: xp.sum(a, axis=0),
        lambda: xp.sum(i),
        lambda: xp.exp(a[:, ::2]),
    ):
        call()
    assert plan.counts() == before


def test_every_kernel_is_known_by_its_id() -> None:
    """A single step by its name gives what the function of that name does."""
    done = 0
    for op, dtype in itertools.product(OPS, STANDARD_DTYPES):
        if not op.public or "shift" in op.name or op.name in ("pow", "floor_divide", "remainder"):
            continue
        given = [values(dtype.name, (50,), k) for k in range(op.nin)]
        if body_for(op.body, given[0].dtype.kind) is None:
            continue
        try:
            expected = function_of(op)(*map(xp.asarray, given))
        except TypeError:  # a body that the standard does not require
            continue
        target = np.empty(50, np.asarray(expected).dtype)
        run_steps(
            [view(g) for g in given], [(op.name, dtype.name, tuple(range(op.nin)))], [(view(target), op.nin)]
        )
        same(
            np.nan_to_num(target) if target.dtype.kind in "fc" else target,
            np.nan_to_num(np.asarray(expected)) if target.dtype.kind in "fc" else expected,
        )
        done += 1
    assert done > 250

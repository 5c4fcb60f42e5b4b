"""Pairs of steps: one loop gives the bits of two loops, and runs only if it may replace them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0._core.plan import plan
from stride0._core.plan.plan import run_steps
from stride0._tables.operations import OPS, PAIRS, Pair

NIN = {op.name: op.nin for op in OPS}
REALS = ("float32", "float64")
# Loops that the baseline omits.
spare = pytest.mark.skipif(plan.instruction_set == "baseline", reason="only contiguous pairs are built")


def view(a: Any) -> tuple[int, str, tuple[int, ...], tuple[int, ...]]:
    return (a.__array_interface__["data"][0], a.dtype.name, a.shape, a.strides)


def values(dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    """Ordinary and special numbers of both signs, including zeros and NaN."""
    rng = np.random.default_rng(seed)
    out = rng.normal(0, 3, shape).astype(dtype)
    special = np.asarray([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 3e38], dtype)
    return np.where(rng.random(shape) < 0.1, rng.choice(special, shape), out)


def alike(a: Any) -> bytes:
    """The bytes, with one NaN for all: their sign and payload are unspecified (Note [Same bits])."""
    a = np.array(a)
    a[np.isnan(a)] = np.nan
    return a.tobytes()


def run(leaves: list[Any], steps: list[Any], stored: list[int], targets: list[Any] | None = None) -> Any:
    """The outputs of a chain, and the number of its paired steps."""
    shape = np.broadcast_shapes(*(a.shape for a in leaves))
    if targets is None:
        targets = [np.empty(shape, steps[-1][1]) for _ in stored]
    before = plan.counts()["paired"]
    outputs = [(view(t), value) for t, value in zip(targets, stored, strict=True)]
    run_steps([view(a) for a in leaves], steps, outputs)
    return targets, plan.counts()["paired"] - before


def chain_of(pair: Pair, dtype: str, order: tuple[int, ...], twice: bool) -> list[Any]:
    """Two steps that read the leaves in the given order."""
    first, second = NIN[pair.first], NIN[pair.second]
    leaves = first + second - 1
    other = iter(range(first, leaves))
    inputs = [leaves if k == pair.at else next(other) for k in range(second)]
    if twice:
        return [(pair.first, dtype, order[:first]), ("multiply", dtype, (leaves, leaves))]
    return [
        (pair.first, dtype, order[:first]),
        (pair.second, dtype, tuple(k if k == leaves else order[k] for k in inputs)),
    ]


@spare
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.first}-{pair.second}-{pair.at}")
def test_bits_of_two_steps(pair: Pair, dtype: str, streams: bool) -> None:
    """For any broadcast operands, the bits equal the two steps with a stored first result."""
    nin, found = NIN[pair.first] + NIN[pair.second] - 1, set()
    tuned = plan.tune(streamed_bytes=1) if streams else {}
    try:
        for kinds in itertools.product(["full", "column", "one", "row"], repeat=nin):
            shapes = {"full": (37, 531), "column": (37, 1), "one": (), "row": (531,)}
            leaves = [values(dtype, shapes[kind], k) for k, kind in enumerate(kinds)]
            if np.broadcast_shapes(*(a.shape for a in leaves)) != (37, 531):
                continue
            for order, twice in itertools.product(
                itertools.permutations(range(nin)), (False, True) if pair.second == "square" else (False,)
            ):
                steps = chain_of(pair, dtype, order, twice)
                (result,), count = run(leaves, steps, [nin + 1])
                (expected, _), none = run(leaves, steps, [nin + 1, nin])
                assert none == 0 and alike(result) == alike(expected)
                if count:
                    found.add((kinds, order))
                inputs = {kinds[k] for k in order[: NIN[pair.first]]}
                if "full" not in inputs and inputs != {"row", "column"}:
                    assert count == 0, "what is computed once for many rows is not computed for each"
    finally:
        plan.tune(**tuned)
    full = ("full",) * nin
    assert (full, tuple(range(nin))) in found and len(found) > (3 if nin == 2 else 12)


@pytest.mark.parametrize("dtype", REALS)
def test_what_is_no_pair(dtype: str) -> None:
    a, b = values(dtype, (40, 300), 1), values(dtype, (40, 300), 2)
    product: Any = ("multiply", dtype, (0, 1))
    other = next(name for name in REALS if name != dtype)
    wide = values(dtype, (40, 600), 3)[:, ::2]
    for leaves, steps, stored in [
        # The first result is stored, or read by two steps.
        ([a, b], [product, ("add", dtype, (2, 1))], [3, 2]),
        ([a, b], [product, ("add", dtype, (2, 1)), ("subtract", dtype, (2, 3))], [4]),
        # Steps or dtypes without a pair in the table.
        ([a, b], [product, ("maximum", dtype, (2, 1))], [3]),
        ([a, b], [("maximum", dtype, (0, 1)), ("add", dtype, (2, 1))], [3]),
        ([a, b], [product, ("add", other, (2, 1))], [3]),
        # There are no loops over any strides.
        ([wide, b], [product, ("add", dtype, (2, 1))], [3]),
        ([a, np.flip(b)], [product, ("add", dtype, (2, 0))], [3]),
        # One element.
        ([a[:1, :1], b[:1, :1]], [product, ("add", dtype, (2, 1))], [3]),
    ]:
        shape = np.broadcast_shapes(*(leaf.shape for leaf in leaves))
        targets, count = run(leaves, steps, stored, [np.empty(shape, dtype) for _ in stored])
        assert count == 0
        names = {"multiply": xp.multiply, "add": xp.add, "subtract": xp.subtract, "maximum": xp.maximum}
        found = [xp.asarray(leaf) for leaf in leaves]
        for name, kind, inputs in steps:
            found.append(names[name](*(xp.astype(found[k], getattr(xp, kind)) for k in inputs)))
        for target, value in zip(targets, stored, strict=True):
            cast = xp.astype(xp.broadcast_to(found[value], target.shape), getattr(xp, dtype))
            assert alike(target) == alike(cast)
    # An operand that is an output of other strides.
    stored = [np.empty((300, 40), dtype).T, np.empty((40, 300), dtype)]
    steps = [("negative", dtype, (1,)), product, ("add", dtype, (3, 2))]
    (first, second), count = run([a, b], steps, [2, 4], stored)
    with np.errstate(all="ignore"):
        assert count == 0 and alike(first) == alike(-b) and alike(second) == alike(a * b + -b)
    # Into every second element.
    target = np.zeros((40, 600), dtype)
    _, count = run([a, b], [product, ("add", dtype, (2, 1))], [3], [target[:, ::2]])
    with np.errstate(all="ignore"):
        assert count == 0 and alike(target[:, ::2]) == alike(a * b + b) and not target[:, 1::2].any()


@pytest.mark.parametrize("dtype", REALS)
def test_a_leaf_that_is_written_in_between_is_read_before(dtype: str) -> None:
    a, b = values(dtype, (40, 300), 1), values(dtype, (40, 300), 2)
    x = a.copy()
    steps: list[Any] = [
        ("multiply", dtype, (0, 1)),
        ("subtract", dtype, (1, 0)),
        ("add", dtype, (2, 3)),
    ]
    with np.errstate(all="ignore"):
        difference, expected = b - a, a * b + (b - a)
    # The difference overwrites x, which the product, if paired with the sum, would read later.
    (result, _), count = run([x, b], steps, [4, 3], [np.empty_like(a), x])
    assert count == 0 and alike(result) == alike(expected) and alike(x) == alike(difference)
    # The pair reads x before it overwrites it.
    x = a.copy()
    (_,), count = run([x, b], [("multiply", dtype, (0, 1)), ("add", dtype, (2, 0))], [3], [x])
    with np.errstate(all="ignore"):
        assert count == 1 and alike(x) == alike(a * b + a)


@pytest.mark.parametrize("dtype", REALS)
def test_long_chains_and_casts(dtype: str) -> None:
    """A step belongs to at most one pair; operands of other dtypes are cast first."""
    other = next(name for name in REALS if name != dtype)
    leaves = [values(dtype, (30, 400), 1), values(other, (30, 400), 2), np.arange(400, dtype="int16")]
    steps: list[Any] = [("multiply", dtype, (0, 1))]
    value = 3
    for k in range(20):
        steps.append((("add", "multiply", "subtract")[k % 3], dtype, (value, k % 3)))
        value += 1
    (result,), count = run(leaves, steps, [value])
    assert 1 < count <= 11
    for k in range(3, value):
        # If one more result is stored, other steps are paired.
        (expected, _), _ = run(leaves, steps, [value, k])
        assert alike(result) == alike(expected)

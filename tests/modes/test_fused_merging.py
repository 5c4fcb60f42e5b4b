"""`stride0.fused`: chains that are merged, and chains that read results of other chains, without cycles."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from program_helpers import numbers, same

import stride0 as xp

Both = tuple[list[Any], list[Any]]


def both_ways(program: Callable[[], list[Any]]) -> Both:
    """The results of a program, eager and within fused, where nothing is read before its end."""
    expected = program()
    with xp.fused(size=1):
        found = program()
    return expected, found


def assert_same(both: Both) -> None:
    for expected, found in zip(*both, strict=True):
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert same(found, expected)


def passes() -> int:
    return xp.fused.stats()["passes"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_merged_chain_has_the_number_of_the_older_one(turned: bool) -> None:
    """Otherwise it could read a chain that reads it."""
    x, y, z = numbers(5, 6), numbers(5, 6, seed=4), numbers(4, 5, 6, seed=5)

    def program() -> list[Any]:
        old = x + 1
        between = old + z  # a chain of another shape, which reads the first
        young = y * 2
        merged = young + old if turned else old + young
        return [merged + xp.sum(between, axis=0)]

    assert_same(both_ways(program))


def test_a_chain_reads_results_of_older_ones_without_a_pass_of_their_own() -> None:
    """Chains are numbered in the order of dependence, so that no cycle of waiting chains arises."""
    x = numbers(40, 60)
    expected = (x + 1) - xp.max(x * 2, axis=0)
    with xp.fused(size=1):
        before = passes()
        most = xp.max(x * 2, axis=0)
        found = (x + 1) - most
        assert passes() == before
    assert same(found, expected)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_chains_that_read_results_of_others_are_not_merged(first: bool, second: bool, turned: bool) -> None:
    x, y, z = numbers(5, 6), numbers(5, 6, seed=4), numbers(6, seed=5)

    def program() -> list[Any]:
        row = z * 3
        left = x + (row if first else 1)
        other = z - 5
        right = y * (other if second else 2)
        together = right - left if turned else left - right
        # Chains of the shape of a row, between the two in age.
        return [together, xp.sum(together, axis=0) + other, xp.sum(right, axis=0) * row, row]

    assert_same(both_ways(program))


def test_a_chain_does_not_read_its_own_reductions() -> None:
    x = numbers(8, 9)

    def program() -> list[Any]:
        y = xp.sin(x) + 1
        return [y - xp.max(y, axis=0), y / xp.sum(y), y * xp.mean(y, axis=1, keepdims=True)]

    assert_same(both_ways(program))


def test_reductions_of_a_merged_chain() -> None:
    """Then results and operands are renumbered; some results are not referenced any more."""
    x, y = numbers(7, 9), numbers(7, 9, seed=4)

    def program() -> list[Any]:
        left, right = xp.sin(x) + 1, xp.cos(y) * 2 - 1
        sums = [xp.sum(left, axis=0), xp.sum(right, axis=1), xp.max(right), xp.min(left, axis=1)]
        del sums[0]
        together = left * right
        sums.append(together - 1)
        return [*sums, xp.sum(together + right, axis=0)]

    assert_same(both_ways(program))


def test_a_merged_chain_is_forgotten_in_parts() -> None:
    x, y = numbers(7, 9), numbers(7, 9, seed=4)

    def program() -> list[Any]:
        left, right = xp.sin(x) + 1, xp.cos(y) * 2 - 1
        kept, total, most = xp.min(left), xp.sum(right), xp.max(right, axis=0)
        together = left * right
        del total, right
        other = y * 5 - x
        together = together / other
        del other, left
        return [together, kept, most]

    assert_same(both_ways(program))


@pytest.mark.parametrize("counts", [(2, 2), (1, 3), (3, 2), (4, 1), (4, 4)])
def test_merging_keeps_to_the_number_of_reductions(counts: tuple[int, int]) -> None:
    x, y = numbers(7, 9), numbers(7, 9, seed=4)

    def program() -> list[Any]:
        left, right = x + 1, y * 2
        sums = [xp.sum(left, axis=k % 2) for k in range(counts[0])]
        sums += [xp.max(right, axis=k % 2) for k in range(counts[1])]
        return [left - right, *sums]

    assert_same(both_ways(program))


@pytest.mark.parametrize("counts", [(4, 4), (7, 7), (10, 6), (6, 10), *[(k, 36 - k) for k in range(1, 36)]])
def test_merging_keeps_to_the_number_of_leaves(counts: tuple[int, int]) -> None:
    leaves = [numbers(30, seed=k) for k in range(sum(counts))]

    def program() -> list[Any]:
        left, right = leaves[: counts[0]], leaves[counts[0] :]
        return [sum(left[1:], left[0]) * sum(right[1:], right[0])]

    assert_same(both_ways(program))


@pytest.mark.parametrize("counts", [(20, 20), (40, 3), (3, 40), *[(k, 66 - k) for k in range(1, 66, 4)]])
def test_merging_keeps_to_the_number_of_constants(counts: tuple[int, int]) -> None:
    x, y = numbers(30), numbers(30, seed=4)

    def program() -> list[Any]:
        left, right = x, y
        for k in range(counts[0]):
            left = left + (k + 0.5)
        for k in range(counts[1]):
            right = right * (1 + k / 64)
        return [left - right, xp.sum(right - left)]

    assert_same(both_ways(program))


@pytest.mark.parametrize("left", range(10, 110, 4))
def test_merging_keeps_to_the_number_of_steps(left: int) -> None:
    x, y = numbers(30), numbers(30, seed=4)

    def program() -> list[Any]:
        out = []
        for right in range(1, 60, 4):
            a, b = x, y
            for _ in range(left):
                a = xp.negative(a)
            for _ in range(right):
                b = b + x
            out += [a * b, a - b]
        return out

    assert_same(both_ways(program))


def test_results_of_merged_chains_of_several_layouts() -> None:
    x, y = numbers(8, 6), numbers(6, 8, seed=4)

    def program() -> list[Any]:
        rows, columns = x + 1, y.T * 2
        across = numbers(8, 6, seed=5)[::-1, :] - 3
        return [rows + columns, columns + across, columns, across, rows]

    expected, found = both_ways(program)
    assert_same((expected, found))
    strides = [xp.strided.strides(a) for a in expected]
    assert [xp.strided.strides(a) for a in found] == strides and len(set(strides)) == 2


def test_chains_own_the_names_of_their_operations() -> None:
    """After many merges and releases, a name has the same number of references as before."""
    x, y = numbers(20), numbers(20, seed=4)
    name = sys.intern("multiply")

    def rounds(count: int) -> int:
        before = sys.getrefcount(name)
        for _ in range(count):
            with xp.fused(size=1):
                total = xp.sum(x * y + y * x)
                (x * 2) * (y * 3)
                float(total)
        return sys.getrefcount(name) - before

    rounds(3)
    assert rounds(300) == 0

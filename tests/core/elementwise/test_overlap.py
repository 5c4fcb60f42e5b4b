"""Operands that share memory give the result of a copy; read-only memory is never written."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from helpers import DTYPES, INTEGERS, assert_same, both, values
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import examples

import stride0 as xp
from stride0 import strided

SETTINGS = examples(250)

SMALL = 24  # number of elements of the buffer that windows are drawn from


@st.composite
def windows(draw, shape=None):
    """A window into SMALL elements: shape, strides and offset, in elements; it never reaches outside."""
    if shape is None:
        shape = draw(st.sampled_from([(), (4,), (7,), (3, 4), (2, 3), (3, 3), (2, 2, 3), (0, 2), (1, 5)]))
    strides, low, high = [], 0, 0
    for size in shape:
        room = SMALL - 1 - (high - low)
        reach = room // (size - 1) if size > 1 else 5
        step = draw(st.integers(-min(reach, 8), min(reach, 8)))
        strides.append(step)
        low += min(0, step * (size - 1)) if size else 0
        high += max(0, step * (size - 1)) if size else 0
    return tuple(shape), tuple(strides), draw(st.integers(-low, SMALL - 1 - high))


def places(window):
    """Offsets of a window's elements, as NumPy array of its shape."""
    shape, strides, offset = window
    found = np.full(shape, offset)
    for axis, step in enumerate(strides):
        found += step * np.indices(shape)[axis]
    return found


def numpy_window(memory, window, writeable=True):
    shape, strides, offset = window
    steps = [step * memory.itemsize for step in strides]
    return np.lib.stride_tricks.as_strided(memory[offset:], shape, steps, writeable=writeable)


def whole(dtype, shape):
    """Return integral values: their products are exact in every order of computation."""
    return np.round(values(dtype, shape)) if np.dtype(dtype).kind in "fc" else values(dtype, shape)


class Memory:
    """One buffer, and windows into it by the ways that stride0 knows."""

    def __init__(self, dtype, foreign):
        self.expected = whole(dtype, (SMALL,))
        self.buffer = self.expected.copy()
        self.foreign = foreign
        # Without `foreign` all windows are views of one storage; with it each is a storage of its own.
        self.own = xp.asarray(self.buffer, copy=not foreign)

    def window(self, window):
        if self.foreign:
            return xp.asarray(numpy_window(self.buffer, window))
        shape, strides, offset = window
        return strided.as_strided(self.own, shape, strides, offset)

    def assert_as_expected(self):
        assert_same(self.own, self.expected)


def broadcastable(draw, shape):
    """Shapes that broadcast to `shape`, itself most of the time."""
    own = tuple(draw(st.sampled_from([n, n, n, 1])) for n in shape)
    return own[draw(st.sampled_from([0, 0, 0, *range(len(shape) + 1)])) :]


@st.composite
def overlapping(draw):
    """A target and a source in one buffer: (memory, window written to, window read from)."""
    memory = Memory(draw(st.sampled_from(["int8", "int64", "float32", "complex128"])), draw(st.booleans()))
    target = draw(windows())
    return memory, target, draw(windows(broadcastable(draw, target[0])))


def distinct(window):
    found = places(window)
    return np.unique(found).size == found.size


def nested(window):
    """Whether each axis steps past all elements of the faster axes, as in every view of a plain array."""
    reach = 1
    for step, size in sorted(
        (abs(step), size) for step, size in zip(window[1], window[0], strict=True) if size != 1
    ):
        if step < reach:
            return False
        reach += (size - 1) * step
    return True


def write(memory, target, x_write, a_write):
    """Write by both; where elements of the target share memory, the write must be refused."""
    x = memory.window(target)
    if distinct(target) and nested(target):
        x_write(x)
    else:
        try:
            x_write(x)
        except ValueError as error:
            assert "share one memory location" in str(error)
            memory.assert_as_expected()
            assert not strided.is_writable(x)
            return
        assert distinct(target), f"{target} was written to although elements of it share memory"
    a_write(numpy_window(memory.expected, target))
    memory.assert_as_expected()


@SETTINGS
@given(overlapping())
def test_assignment(drawn):
    memory, target, source = drawn
    y, b = memory.window(source), numpy_window(memory.expected, source).copy()
    write(memory, target, lambda x: operator.setitem(x, ..., y), lambda a: operator.setitem(a, ..., b))


IN_PLACE = [operator.iadd, operator.isub, operator.imul]


@SETTINGS
@given(overlapping(), st.sampled_from(IN_PLACE))
def test_in_place_operators(drawn, op):
    memory, target, source = drawn
    y, b = memory.window(source), numpy_window(memory.expected, source).copy()
    write(memory, target, lambda x: op(x, y), lambda a: op(a, b))


@SETTINGS
@given(overlapping(), st.data())
def test_assignment_through_index_arrays(drawn, data):
    memory, target, source = drawn
    assume(distinct(target) and target[0] and 0 not in target[0] and nested(target))
    order = np.asarray(data.draw(st.permutations(range(target[0][0]))))
    y, b = memory.window(source), numpy_window(memory.expected, source).copy()
    x, a = memory.window(target), numpy_window(memory.expected, target)
    x[xp.asarray(order)] = y
    a[order] = b
    memory.assert_as_expected()
    mask = a > b if a.dtype.kind != "c" else a.real > b.real
    x[xp.asarray(mask)] = xp.broadcast_to(y, a.shape)[xp.asarray(mask)]
    a[mask] = np.broadcast_to(numpy_window(memory.expected, source), a.shape)[mask].copy()
    memory.assert_as_expected()


@SETTINGS
@given(overlapping(), st.sampled_from(["add", "multiply", "equal"]))
def test_results_are_new_memory(drawn, name):
    memory, first, second = drawn
    x, y = memory.window(first), memory.window(second)
    a, b = (numpy_window(memory.expected, w, writeable=False) for w in (first, second))
    out = getattr(xp, name)(x, y)
    assert_same(out, getattr(np, name)(a, b))
    assert not strided.shares_storage(out, x)
    memory.assert_as_expected()


# --- the cases that people meet


def grid(dtype="float64", n=5):
    return both(whole(dtype, (n, n)))


OVERLAPS = {
    "a column from all": lambda ns, x: operator.isub(x, x[:, :1]),
    "a row from all": lambda ns, x: operator.isub(x, x[2]),
    "an element from all": lambda ns, x: operator.isub(x, x[1, 1, ...]),
    "the transpose": lambda ns, x: operator.iadd(x, x.T),
    "the transpose, reversed": lambda ns, x: operator.iadd(x, x.T[::-1]),
    "itself": lambda ns, x: operator.iadd(x, x),
    "itself, reversed": lambda ns, x: operator.iadd(x, x[::-1, ::-1]),
    "shifted up": lambda ns, x: operator.setitem(x, slice(1, None), x[:-1]),
    "shifted down": lambda ns, x: operator.setitem(x, slice(None, -1), x[1:]),
    "shifted aside": lambda ns, x: operator.setitem(x, (slice(None), slice(1, None)), x[:, :-1]),
    "shifted back": lambda ns, x: operator.setitem(x, (slice(None), slice(None, -1)), x[:, 1:]),
    "reversed": lambda ns, x: operator.setitem(x, slice(None), x[::-1]),
    "into its reverse": lambda ns, x: operator.setitem(x, (slice(None, None, -1), slice(None)), x),
    "transposed": lambda ns, x: operator.setitem(x, ..., x.T),
    "turned by a quarter": lambda ns, x: operator.setitem(x, ..., x.T[:, ::-1]),
    "a broadcast row": lambda ns, x: operator.setitem(x, ..., ns.broadcast_to(x[3], x.shape)),
    "a broadcast column": lambda ns, x: operator.setitem(x, ..., ns.broadcast_to(x[:, 3:4], x.shape)),
    "even from odd": lambda ns, x: operator.iadd(x[:, ::2], x[:, :3]),
    "odd from even": lambda ns, x: operator.setitem(x, (slice(None), slice(1, None, 2)), x[:, ::2][:, :2]),
    "rows of a permutation": lambda ns, x: operator.setitem(x, ns.asarray([1, 2, 3, 4, 0]), x),
    "columns of a permutation": lambda ns, x: operator.setitem(
        x, (slice(None), ns.asarray([4, 0, 1, 2, 3])), x
    ),
    "a row into masked rows": lambda ns, x: operator.setitem(
        x, ns.asarray([True, False, True, True, False]), x[2]
    ),
    "an element into masked ones": lambda ns, x: operator.setitem(x, x == x, x[2, 2, ...]),
    "the diagonal block": lambda ns, x: operator.imul(x[1:4, 1:4], x[:3, 2:]),
}


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "complex128"])
@pytest.mark.parametrize("name", OVERLAPS)
def test_what_a_copy_would_have_given(name, dtype):
    x, a = grid(dtype)
    OVERLAPS[name](xp, x)
    # NumPy also handles overlap; the tests below do not rely on that.
    OVERLAPS[name](np, a)
    assert_same(x, a, what=name)


def test_against_explicit_copies():
    x, a = grid()
    x -= x[:, :1]
    assert_same(x, a - a[:, :1].copy())
    x, a = grid()
    x[1:] = x[:-1]
    assert_same(x, np.concatenate([a[:1], a[:-1]]))
    x, a = grid()
    x += x.T
    assert_same(x, a + a.T)
    x, a = grid()
    x[...] = x[::-1]
    assert_same(x, a[::-1].copy())
    x, a = both(np.arange(10))
    x[2:] += x[:-2]
    assert_same(x, a + np.concatenate([[0, 0], a[:-2]]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [3, 1023, 1025, 5000, 70000])
def test_sizes_around_those_of_blocks(dtype, size):
    for cut in (1, 2, 64):
        if cut >= size:
            continue
        x, a = both(values(dtype, (size,)))
        x[cut:] = x[:-cut]
        assert_same(x, np.concatenate([a[:cut], a[:-cut]]))
        x, a = both(values(dtype, (size,)))
        x[:-cut] = x[cut:]
        assert_same(x, np.concatenate([a[cut:], a[-cut:]]))
        x[::-1] = x
        assert_same(x, np.concatenate([a[cut:], a[-cut:]])[::-1])


@pytest.mark.parametrize("shift", [-8, -3, -1, 0, 1, 3, 8])
@pytest.mark.parametrize(
    ("wide", "narrow"), [("int64", "int8"), ("float64", "float32"), ("float64", "int16")]
)
def test_operands_of_other_dtypes_in_the_same_bytes(wide, narrow, shift):
    # The source is cast in blocks while the target is written: no block may read new elements.
    count = 3000
    for target_dtype, source_dtype in ((wide, narrow), (narrow, wide)):
        buffer = values("int8", (count * 8 + 64,)).copy()
        expected = buffer.copy()
        size = count if target_dtype == wide else count - 8
        source_bytes = np.dtype(source_dtype).itemsize

        def views(memory, size=size, source_bytes=source_bytes, target=target_dtype, source=source_dtype):
            begin = 32 + shift * source_bytes
            t = memory[32 : 32 + size * np.dtype(target).itemsize].view(target)
            return t, memory[begin:][: size * source_bytes].view(source)[: t.size]

        if views(buffer)[1].size < size:
            continue
        t, s = views(expected)
        with np.errstate(all="ignore"):
            s = np.nan_to_num(s.copy(), nan=1, posinf=2, neginf=3) if s.dtype.kind == "f" else s.copy()
            if s.dtype.kind == "f" and t.dtype.kind == "i":
                continue
            views(buffer)[1][...] = s
            views(expected)[1][...] = s
            t[...] = s
        x, y = (xp.asarray(v, copy=False) for v in views(buffer))
        x[...] = y
        assert buffer.tobytes() == expected.tobytes()


def test_parts_of_complex_numbers():
    x, a = both(values("complex128", (4, 4)))
    real, imag = xp.real(x), xp.imag(x)
    real += imag
    a.real += a.imag
    assert_same(x, a)
    imag[...] = real.T
    a.imag[...] = a.real.T.copy()
    assert_same(x, a)
    x[...] = real
    a[...] = a.real.copy()
    assert_same(x, a)
    x += imag[::-1]
    a += a.imag[::-1].copy()
    assert_same(x, a)


def test_keys_that_lie_in_the_array_they_index():
    x, a = both(np.asarray([3, 1, 0, 2, 4]))
    x[x] = x[::-1]
    a[a.copy()] = a[::-1].copy()
    assert_same(x, a)
    x[x[1:]] = 0
    a[a[1:].copy()] = 0
    assert_same(x, a)
    m, n = both(np.asarray([True, False, True, True]))
    m[m] = m[[1, 0, 2]]
    n[n.copy()] = n[[1, 0, 2]]
    assert_same(m, n)
    m[...] = ~m[::-1]
    n[...] = ~n[::-1]
    assert_same(m, n)


# --- memory that must not be written to

WRITES = {
    "+=": lambda x: operator.iadd(x, 1),
    "*= itself": lambda x: operator.imul(x, x),
    "[...]": lambda x: operator.setitem(x, ..., 1),
    "[:]": lambda x: operator.setitem(x, slice(None), x),
    "[0]": lambda x: operator.setitem(x, 0, 1),
    "[index array]": lambda x: operator.setitem(x, [0], 1),
    "[mask]": lambda x: operator.setitem(x, x == x, 1),
    "[0-d mask]": lambda x: operator.setitem(x, True, 1),
}


@pytest.mark.parametrize("name", WRITES)
def test_broadcast_arrays_are_not_written_to(name):
    row = xp.asarray([1.0, 2.0, 3.0])
    for broadcast in (
        xp.broadcast_to(row, (4, 3)),
        xp.broadcast_to(row[:1], (3,)),
        xp.broadcast_to(row[:, None], (3, 2)),
        xp.broadcast_to(row, (4, 3))[1:, ::2],
        xp.broadcast_to(row, (4, 3)).T,
        xp.broadcast_arrays(row, xp.zeros((4, 1)))[0],
        strided.as_strided(row, (2, 2), (1, 1)),
        strided.as_strided(row, (2, 2), (-1, 1), offset=1),
    ):
        assert not strided.is_writable(broadcast)
        with pytest.raises(xp.WriteError, match="copy it first"):
            WRITES[name](broadcast)
        assert_same(row, np.asarray([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("name", WRITES)
def test_read_only_arrays_are_not_written_to(name):
    a = np.arange(3.0)
    a.flags.writeable = False
    for x in (xp.asarray(a), xp.asarray(a)[::-1], xp.asarray(a)[:2]):
        assert not strided.is_writable(x)
        with pytest.raises(xp.WriteError, match="read-only"):
            WRITES[name](x)
    assert a.tolist() == [0, 1, 2]


def test_one_element_of_a_broadcast_array_may_be_written():
    # No two elements of one row share memory: the rule is about the view that is written to.
    row = xp.asarray([1.0, 2.0, 3.0])
    broadcast = xp.broadcast_to(row, (4, 3))
    view = broadcast[2]
    view += 1
    assert_same(row, np.asarray([2.0, 3.0, 4.0]))
    assert_same(broadcast, np.full((4, 3), [2.0, 3.0, 4.0]))


def test_axes_of_one_element_stretch_nothing():
    x = xp.broadcast_to(xp.arange(3), (1, 3))
    x += 1
    assert_same(x, np.asarray([[1, 2, 3]]))
    empty = xp.broadcast_to(xp.zeros((1, 0)), (4, 0))
    empty += 1
    assert empty.shape == (4, 0)


def test_windows_that_do_not_meet_themselves_are_written_to():
    x, a = both(np.arange(12))
    window = strided.as_strided(x, (3, 2), (4, 1), offset=1)
    window *= 10
    a.reshape(3, 4)[:, 1:3] *= 10
    assert_same(x, a)
    window[...] = strided.as_strided(x, (3, 2), (4, 1), offset=0)
    a.reshape(3, 4)[:, 1:3] = a.reshape(3, 4)[:, 0:2].copy()
    assert_same(x, a)
    diagonal = strided.as_strided(xp.reshape(x, (3, 4)), (3,), (5,), offset=0)
    diagonal[...] = -1
    a[::5] = -1
    assert_same(x, a)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_failed_write_changes_nothing(dtype):
    x, a = both(values(dtype, (4, 6)))
    before = a.copy()
    failures = [
        (OverflowError, lambda: operator.iadd(x, 2**70)),
        (OverflowError, lambda: operator.setitem(x, ..., 2**70)),
        (OverflowError, lambda: operator.setitem(x, (0, 0), -(2**70))),
        (TypeError, lambda: operator.iadd(x, 1.5)),
        (TypeError, lambda: operator.itruediv(x, 2)),
        (TypeError, lambda: operator.iadd(x, xp.asarray(1.5))),
        (TypeError, lambda: operator.setitem(x, ..., 1j)),
        (TypeError, lambda: operator.setitem(x, ..., xp.full((4, 6), 1j))),
        (TypeError, lambda: operator.iadd(x, a)),
        (ValueError, lambda: operator.iadd(x, xp.ones((2, 4, 6), dtype=x.dtype))),
        (ValueError, lambda: operator.iadd(x[:1], x)),
        (ValueError, lambda: operator.setitem(x, ..., xp.ones((4, 5)))),
        (ValueError, lambda: operator.setitem(x, ([0, 1],), xp.ones((3, 6)))),
        (IndexError, lambda: operator.setitem(x, [0, 1, 4], 1)),
        (IndexError, lambda: operator.setitem(x, (slice(None), [0, -7]), 1)),
        (IndexError, lambda: operator.setitem(x, (0, 6), 1)),
        (IndexError, lambda: operator.setitem(x, xp.ones((4, 5), dtype=xp.bool), 1)),
    ]
    for error, call in failures:
        with pytest.raises(error):
            call()
        assert_same(x, before)

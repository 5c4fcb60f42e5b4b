"""The sparsity pattern of a function's derivatives, determined while the function runs.

The pattern tells which elements of the results depend on which elements of the arguments.

Note [Patterns]
    The function runs once, on tracked copies of its arguments, and an interceptor sees each of its calls
    (Note [Interceptors]). Each array element has a set: the elements of the arguments on which it may depend.
    For each call, a rule computes the sets of the results from the sets of the operands. Sets belong to
    memory, not to arrays. So a view has the sets of the memory that it shows, and a write through a view
    changes the sets of all other arrays that share this memory.

    The tape tells whether a result depends on the arguments at all. If the tape tracks a result, but no rule
    has seen its memory, the result depends on everything. So an operation that has no rule, or that the
    interceptor does not see, counts as dense, never as empty. All memory that has sets is kept until the
    function ends, so no address is used twice.

    Untracked results that were computed from tracked operands (comparisons, positions, `stop_gradient`) are
    recorded as well: they are constants of this call, but their values differ in the next call. So zeros in
    these results do not make the pattern sparser.

Note [Curvature]
    An operation that is not linear adds second derivatives: they come from the pairs of sets that the
    operation multiplies. The pattern of a Hessian is the union of these pairs. So the single pass through the
    function also finds the pattern of the Hessian; no pass through the gradient is needed.
"""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np

from stride0._chapters.creation import arange
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array, is_writable, shares_storage
from stride0._core.exchange.numpy_calls import to_numpy
from stride0._modes.configurations import Configuration, _arrays, _writes, current_configuration
from stride0._modes.simulated import Simulated
from stride0.autograd._sparse.rules import CREATION, RULES, Call, spread
from stride0.autograd._sparse.sets import ALL, EMPTY, Sets, distinct
from stride0.autograd._tape.tape import detach, is_batched_array, is_tracked

__all__ = ["Trace", "Tracing", "tracing"]

# The set number of memory that no rule has seen.
UNSEEN = -1


class Block:
    """A range of memory, with a set number for each unit of `unit` bytes."""

    def __init__(self, start: int, end: int, unit: int, keep: Any) -> None:
        self.start, self.end, self.unit, self.keep = start, end, unit, [keep]
        self.numbers = np.full((end - start) // unit, UNSEEN, dtype=np.int64)
        # Units that are no longer distinguished, with their common set.
        self.weak: list[tuple[Any, int]] = []

    def view(self, place: Place) -> Any:
        """Return the set numbers of an array's elements as a view, or None if elements are not units."""
        if place.itemsize != self.unit or any(stride % self.unit for stride in place.strides):
            return None
        return np.ndarray(
            place.shape,
            np.int64,
            self.numbers,
            (place.address - self.start) // self.unit * 8,
            tuple(stride // self.unit * 8 for stride in place.strides),
        )


class Place:
    """The location of an array's elements in memory."""

    def __init__(self, x: Array) -> None:
        self.memory = to_numpy(detach(x))
        self.address: int = self.memory.__array_interface__["data"][0]
        self.shape, self.strides, self.itemsize = self.memory.shape, self.memory.strides, self.memory.itemsize
        steps = [stride * (n - 1) for stride, n in zip(self.strides, self.shape, strict=True)]
        self.low = self.address + sum(step for step in steps if step < 0)
        self.high = self.address + sum(step for step in steps if step > 0) + self.itemsize

    def addresses(self) -> Any:
        """Return the address of each element."""
        found = np.full(self.shape, self.address, dtype=np.int64)
        for axis, (n, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            found += (np.arange(n) * stride).reshape(-1, *[1] * (len(self.shape) - axis - 1))
        return found

    def common(self, other: Place) -> tuple[Any, Any, int] | None:
        """Return the flat indices, in this array and in `other`, of the elements that both arrays contain.

        If the elements of this array are components of the elements of `other`, the third item is the number
        of the component. Return None if the elements do not fit.
        """
        here, there = (place.addresses().ravel() for place in (self, other))
        part = (here - other.address) % other.itemsize
        order = np.argsort(there)
        found = order[np.minimum(np.searchsorted(there[order], here - part), len(order) - 1)]
        same = there[found] == here - part
        if self.low >= other.high or other.low >= self.high:
            return np.flatnonzero(same), found[same], 0
        if other.itemsize not in (self.itemsize, 2 * self.itemsize) or (part != part[0]).any():
            return None
        return np.flatnonzero(same), found[same], int(part[0]) // self.itemsize


class Trace:
    """The sets of all memory that a function uses."""

    def __init__(self, size: int) -> None:
        self.sets = Sets(size)
        self.blocks: list[Block] = []
        self.starts: list[int] = []
        # Pairs of sets, each pair packed into one integer.
        self.bent: list[Any] = []
        # True after a write that was not seen: then nothing is known any more.
        self.lost = False

    # --- memory

    def _seen(self, numbers: Any) -> Any:
        """Return the numbers of the sets of a tracked array; unseen elements depend on everything."""
        unseen = numbers == UNSEEN
        if unseen.any():
            self.bend(np.asarray(ALL))
        return np.where(unseen, ALL, numbers)

    def _overlapping(self, place: Place) -> list[int]:
        """Return the positions of the blocks that an array touches."""
        first = max(bisect.bisect_right(self.starts, place.low) - 1, 0)
        last = bisect.bisect_left(self.starts, place.high)
        return [k for k in range(first, last) if self.blocks[k].end > place.low]

    def read(self, x: Array) -> tuple[Any, bool]:
        """Return an array's set numbers (None if it is constant) and whether its memory is known."""
        if x.size == 0:
            return None, False
        place = Place(x)
        near = self._overlapping(place)
        if not is_tracked(x):
            return None, bool(near)
        if self.lost or not near:
            return self._seen(np.full(x.shape, UNSEEN, dtype=np.int64)), True
        block = self.blocks[near[0]]
        inside = block.start <= place.low and place.high <= block.end
        view = block.view(place) if inside else None
        if view is not None:
            return self._seen(view), True
        found = np.full(x.shape, UNSEEN, dtype=np.int64)
        addresses = place.addresses()
        for k in near:
            block = self.blocks[k]
            for offset in range(0, place.itemsize, min(block.unit, place.itemsize)):
                at = addresses + offset
                within = (at >= block.start) & (at < block.end)
                numbers = self._seen(block.numbers[(at[within] - block.start) // block.unit])
                old = found[within]
                found[within] = np.where(
                    old == UNSEEN, numbers, self.sets.either(np.maximum(old, 0), numbers)
                )
        return self._seen(found), True

    def write(self, x: Array, numbers: Any) -> None:
        """Set the numbers of the sets of an array."""
        if x.size == 0:
            return
        place = Place(x)
        block = self._block(place)
        if block is None:
            return
        self._put(block, place, numbers)
        for k, (units, number) in enumerate(block.weak):
            # The next call may write to other elements, so these units also keep their previous sets.
            union = self.sets.union(self._seen(block.numbers[units]), np.asarray(number))
            block.weak[k] = units, union
            block.numbers[units] = union

    def _put(self, block: Block, place: Place, numbers: Any) -> None:
        view = block.view(place)
        if view is not None:
            view[...] = numbers
            return
        numbers, addresses = np.broadcast_to(numbers, place.shape), place.addresses()
        if place.itemsize < block.unit:
            # A component of a complex number.
            at = (addresses - block.start) // block.unit
            block.numbers[at] = self.sets.either(self._seen(block.numbers[at]), numbers)
            return
        for offset in range(0, place.itemsize, block.unit):
            block.numbers[(addresses + offset - block.start) // block.unit] = numbers

    def _block(self, place: Place) -> Block | None:
        """Return the block of an array, creating it if necessary; overlapping blocks are merged."""
        near = self._overlapping(place)
        if near:
            block = self.blocks[near[0]]
            if block.start <= place.low and place.high <= block.end:
                return block
        old = [self.blocks[k] for k in near]
        low, high = min([place.low, *(b.start for b in old)]), max([place.high, *(b.end for b in old)])
        unit = old[0].unit if old else place.itemsize
        if any(b.unit != unit or (b.start - low) % unit for b in old) or (high - low) % unit:
            self.lost = True
            return None
        block = Block(low, high, unit, place.memory)
        for b in old:
            block.numbers[(b.start - low) // unit : (b.end - low) // unit] = b.numbers
            block.keep += b.keep
            block.weak += [(units + (b.start - low) // unit, number) for units, number in b.weak]
        for k in reversed(near):
            del self.blocks[k], self.starts[k]
        at = bisect.bisect_left(self.starts, low)
        self.blocks.insert(at, block)
        self.starts.insert(at, low)
        return block

    def _weaken(self, x: Array) -> None:
        """Give all elements of an array one common set; later writes only enlarge it."""
        place = Place(x)
        block = self._block(place)
        if block is not None:
            units = np.unique((place.addresses() - block.start) // block.unit)
            block.weak.append((units, EMPTY))
            self._put(block, place, self.sets.union(self._seen(block.numbers[units])))

    def is_known(self, x: Array) -> bool:
        """Return whether all memory of an array has sets."""
        place = Place(x)
        near = self._overlapping(place)
        block = self.blocks[near[0]] if near else None
        return block is not None and block.start <= place.low and place.high <= block.end

    # --- calls

    def enter(self, kind: str, name: str, args: Any, kwargs: Any) -> Call | None:
        """Return a call with the sets of its operands; None if `leave` has nothing to do."""
        arrays = list(_arrays((args, kwargs)))
        writes = _writes(kind, name, args, kwargs)
        if any(is_batched_array(x) for x in arrays):
            # No rule takes batched arrays: the results have no sets and are dense; writes are not seen.
            self.lost = self.lost or writes
            return None
        call = Call(self, kind, name, args, kwargs)
        call.writes = writes
        for x in arrays:
            call.read(x)
        if kind in ("setitem", "in-place"):
            # The interceptor is not called at the end of such a call.
            if is_writable(args[0]):
                (self._assign if kind == "setitem" else self._update)(call)
            return None
        if name in CREATION or writes or call.is_varying:
            return call
        return None

    def leave(self, call: Call, out: Any) -> None:
        """Find the sets of the results of a call."""
        if call.chooses and isinstance(out, Array) and call.is_active(call.args[0]) and self.is_known(out):
            # The result is a view, which may show other elements in the next call.
            self._weaken(call.args[0])
        if call.writes and not isinstance(call.kwargs.get("out"), Array):
            target = next(_arrays((call.args, call.kwargs)))
            self.write(target, self.sets.union(*call.active.values()))
            self.bend(self.read(target)[0])
            return
        results = [x for x in _arrays(out) if x.size and not is_batched_array(x)]
        if not call.writes:
            results = [x for x in results if not self.is_known(x)]
        found = self._found(call, results) if any(is_tracked(x) for x in results) else None
        for k, x in enumerate(results):
            self.write(x, found[k] if found is not None and (call.writes or is_tracked(x)) else EMPTY)

    def _found(self, call: Call, results: list[Array]) -> Any:
        """Return the sets of the results, computed by the rule of a call; None if no operand is tracked."""
        if not call.active:
            return None
        rule = RULES.get(call.name)
        found = None if rule is None else rule(call, results)
        return spread(call, results) if found is None else found

    def _update(self, call: Call) -> None:
        """Find the sets of an array that an operator is about to overwrite."""
        x = call.args[0]
        if call.name == "matmul" and not call.active and call.varying:
            # This is the second half of `x @= y`. The tape calls it with operands that have no history.
            return
        found = self._found(call, [x])
        self.write(x, EMPTY if found is None else found[0])

    def _assign(self, call: Call) -> None:
        """Find the sets of the array `x` before `x[key] = value` runs."""
        x, key, value = call.args
        if x.size == 0:
            return
        if not call.is_active(x) and not self._overlapping(Place(x)):
            # The elements have been constants until now.
            self.write(x, EMPTY)
        numbers = call.numbers(value)
        if any(id(item) in call.varying for item in _arrays((key,))):
            self.write(x, self.sets.either(call.numbers(x), self.sets.union(numbers)))
            return
        plain = detach(x)[key]
        if not isinstance(plain, Array) or plain.size == 0:
            return
        if shares_storage(plain, x):
            self.write(plain, numbers)
            return
        places = to_numpy(reshape(arange(x.size), x.shape)[key])
        found, numbers = call.numbers(x).copy(), np.broadcast_to(numbers, places.shape)
        used, inverse = np.unique(places, return_inverse=True)
        # An element that is selected twice gets one of the values: use the union of the sets of these values.
        found.flat[used] = self.sets.groups(numbers.ravel(), inverse.ravel(), len(used))
        self.write(x, found)

    def bend(self, a: Any, b: Any = None) -> None:
        """Add the pairs of sets from `a` and `b` (by default, from `a` and `a`) to the second derivatives."""
        if a is None:
            return
        a, b = np.broadcast_arrays(a, a if b is None else b)
        chosen = (a != EMPTY) & (b != EMPTY)
        low, high = np.minimum(a, b)[chosen], np.maximum(a, b)[chosen]
        if low.size:
            self.bent.append(distinct(low << 32 | high))

    def opaque(self, operands: list[Any], results: list[Any]) -> None:
        """Let results depend on all elements of operands, for a function with a user-defined derivative."""
        operands, results = ([x for x in xs if isinstance(x, Array)] for xs in (operands, results))
        if any(is_batched_array(x) for x in (*operands, *results)):
            return
        known = [numbers for numbers, _ in map(self.read, operands) if numbers is not None]
        union = self.sets.union(*known)
        for x in results:
            # Overwrite known sets, too: the result may share memory with an operand.
            self.write(x, union)
        self.bend(np.asarray(union))


class Tracing(Configuration):
    """A test configuration that traces calls, and otherwise acts like the configuration `around`."""

    trace: Trace
    around: Configuration | None

    def enter(self, call_kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Find the sets of the operands."""
        entered = None if self.around is None else self.around.enter(call_kind, name, args, kwargs)
        return entered, self.trace.enter(call_kind, name, args, kwargs)

    def leave(self, call: Any, out: Any) -> Any:
        """Find the sets of the result."""
        entered, traced = call
        if entered is not None and self.around is not None:
            out = self.around.leave(entered, out)
        if traced is not None:
            self.trace.leave(traced, out)
        return out


def tracing(trace: Trace) -> Tracing:
    """Return a configuration that traces calls within the configuration of this context."""
    around = current_configuration()
    fields = around or Configuration(devices=("cpu",), simulated={0: Simulated()})
    found = Tracing(*fields)
    found.trace, found.around = trace, around
    return found

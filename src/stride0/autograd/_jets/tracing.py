"""Runs a function on arrays that have Taylor series.

Note [Jets]
    A configuration sees each call of the function (Note [Interceptors]), and the rule of the called function
    computes the series of its results. Series belong to array objects. The arguments are tracked by a tape,
    too: a tracked array without a series was computed by a call that the configuration did not see, and is
    refused. So a missing rule is an error, never a constant.

    Coefficients of a view are views of coefficients if the rule made them so; coefficients of other arrays
    share no memory. So a write to an array writes to its coefficients as well. If another array shares the
    memory and its coefficients do not, they are written to by their places in memory.
"""

from __future__ import annotations

import weakref
from typing import Any, NoReturn

from stride0._base.errors import GradientError
from stride0._chapters.creation import zeros, zeros_like
from stride0._chapters.data_types import astype
from stride0._chapters.elementwise import imag, real
from stride0._chapters.indexing import take
from stride0._chapters.manipulation import reshape
from stride0._core.array.array import Array, shares_storage
from stride0._core.array.modes import BROADCASTING, CONFIGURATION, STRICT
from stride0._core.exchange.exchange import asarray
from stride0._modes.configurations import Configuration, _arrays, _writes, current_configuration
from stride0._modes.simulated import Simulated
from stride0._modes.switches import Setting
from stride0.autograd._jets import arrays, elementwise, matrices, special
from stride0.autograd._jets.series import MADE, Series
from stride0.autograd._rules.elementwise import is_complex
from stride0.autograd._sparse.tracing import Place
from stride0.autograd._tape.tape import (
    Tape,
    current_node,
    detach,
    frontier,
    is_batched_array,
    is_tracked,
    newest_level,
)
from stride0.strided import as_strided, storage_nbytes

__all__ = ["Jets", "jets"]

OF_CALLS = arrays.RULES | matrices.RULES
ELEMENTWISE = {**elementwise.RULES, **{f"special.{name}": rule for name, rule in special.RULES.items()}}


def refuse(problem: str, accepts: str = "") -> NoReturn:
    raise GradientError("jet", problem, (), accepts or "write stop_gradient(x) for an array that is constant")


def first_example(x: Array) -> Array:
    """Return the array, or the first example of a batched array."""
    while (level := newest_level([x])) is not None:
        x = level.value(x)[0]
    return x


def shares(x: Array, y: Array) -> bool:
    return shares_storage(first_example(x), first_example(y))


class Entry:
    """The coefficients of an array from the first order on (None is zero), and the array."""

    def __init__(self, x: weakref.ref[Array], terms: list[Any], is_outer: bool) -> None:
        self.x, self.terms = x, terms
        # Whether a tape of the caller may track the array.
        self.is_outer = is_outer

    @property
    def is_constant(self) -> bool:
        return all(term is None for term in self.terms)

    def series(self, x: Array) -> Series:
        found = Series(x if self.is_outer else detach(x))
        found.known += self.terms
        return found


class Jets(Configuration):
    """A test configuration that computes series, and otherwise acts as the configuration around it."""

    around: Configuration | None
    order: int
    tape: Tape
    known: dict[int, Entry]
    whole: list[Array]

    def enter(self, call_kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Find the series of the operands."""
        entered = None if self.around is None else self.around.enter(call_kind, name, args, kwargs)
        return entered, self._enter(call_kind, name, args, kwargs)

    def leave(self, call: Any, out: Any) -> Any:
        """Compute the series of the results."""
        entered, traced = call
        if entered is not None and self.around is not None:
            out = self.around.leave(entered, out)
        if traced is not None:
            self._leave(traced[0], traced[1], out)
        return out

    def copied(self, view: Array) -> Array:
        """Find the series of a view that a property returned."""
        if self.around is not None and not self.around.views:
            view = self.around.copied(view)
        with Setting(CONFIGURATION, self.around):
            self.entry("a view", view)
        return view

    # --- series of arrays

    def put(self, x: Array, terms: list[Any], is_outer: bool) -> Entry:
        key, known = id(x), self.known
        found = known[key] = Entry(weakref.ref(x, lambda _: known.pop(key, None)), terms, is_outer)
        return found

    def entry(self, name: str, x: Array) -> Entry | None:
        """Return the series of an array, None if it is constant."""
        found = self.known.get(id(x))
        if found is not None:
            return found
        is_outer, y = False, x
        while True:
            node = current_node(y)
            if node is not None and is_tracked(y):
                if frontier([node], self.tape) != [node]:
                    return self._recovered(x) or refuse(
                        f"an operand of {name} has no Taylor series: a function of autograd computed it, or "
                        "it was written to through a view",
                        "write to the array itself, or pass stop_gradient(x) if it is constant",
                    )
                is_outer = True
            level = newest_level([y])
            if level is None:
                return self.put(x, [None] * self.order, True) if is_outer else None
            y = level.value(y)

    def _recovered(self, x: Array) -> Entry | None:
        """Find the series of a view by its memory."""
        if not x.size:
            return self.put(x, [None] * self.order, False)
        for other in list(self.known.values()):
            y = other.x()
            if y is None or newest_level([x]) is not newest_level([y]) or not shares(x, y):
                continue
            places = Place(first_example(x)).common(Place(first_example(y)))
            if places is not None and len(places[0]) == x.size:
                terms = [
                    None if c is None else reshape(_taken(c, places[1:], x), x.shape) for c in other.terms
                ]
                return self.put(x, terms, other.is_outer)
        return None

    # --- calls

    def _enter(self, kind: str, name: str, args: Any, kwargs: Any) -> Any:
        found = {id(x): (x, self.entry(name, x)) for x in _arrays((args, kwargs))}
        active = {key: (x, entry) for key, (x, entry) in found.items() if entry is not None}
        if kind in ("setitem", "in-place"):
            self._write(kind, name, args, active)
        elif active:
            if _writes(kind, name, args, kwargs):
                refuse(f"{name} writes into an array", f"call {name} without out")
            return (name, args, kwargs), active
        return None

    def _leave(self, call: Any, active: Any, out: Any) -> None:
        results = list(_arrays(out))
        is_constant = all(entry.is_constant for _, entry in active.values())
        new = [id(x) not in self.known and (is_constant or is_tracked(x)) for x in results]
        if not any(new):
            return
        is_outer = any(entry.is_outer for _, entry in active.values())
        found = self._terms(call[0], call[1], call[2], active, results)
        for x, terms, is_new in zip(results, found, new, strict=True):
            if is_new:
                self.put(x, self._own(x, terms, active), is_outer)

    def _terms(self, name: str, args: Any, kwargs: Any, active: Any, outs: list[Array]) -> list[list[Any]]:
        """Return the coefficients of the results of a call by its rule."""
        if all(entry.is_constant for _, entry in active.values()):
            return [[None] * self.order for _ in outs]
        token = MADE.set([])
        try:
            with Setting(STRICT, False), Setting(BROADCASTING, 0):
                call = arrays.Call(name, args, kwargs)
                call.series = {key: entry.series(x) for key, (x, entry) in active.items()}
                # Rules read the results without the tape.
                plain = outs if any(e.is_outer for _, e in active.values()) else [detach(x) for x in outs]
                found = self._series(call, plain)
                return [
                    [_fitted(s[k], out) for k in range(1, self.order + 1)]
                    for s, out in zip(found, plain, strict=True)
                ]
        finally:
            for series in MADE.get():
                series.rule = None
            MADE.reset(token)

    def _series(self, call: arrays.Call, outs: list[Array]) -> list[Series]:
        name = call.name
        if name in OF_CALLS:
            found = OF_CALLS[name](call, outs)
            return found if found is not None else refuse(f"{name} has no rule for these arguments")
        if name not in ELEMENTWISE:
            refuse(f"{name} has no rule for Taylor series")
        if call.kwargs:
            refuse(f"{name} has no rule for the argument {next(iter(call.kwargs))}")
        operands = [_operand(call, x, outs[0]) for x in call.args]
        for k in special.PARAMETERS.get(name.removeprefix("special."), ()):
            if any(operands[k][j] is not None for j in range(1, self.order + 1)):
                refuse(f"{name} has no rule for its argument {k + 1}, which depends on the arguments")
        return [ELEMENTWISE[name](*operands, outs[0])]

    def _own(self, x: Array, terms: list[Any], active: Any) -> list[Any]:
        """Return coefficients that share memory with coefficients of an operand only if the arrays do."""
        others = [entry.terms for y, entry in active.values() if not shares(x, y)]
        return [
            asarray(c, copy=True)
            if c is not None and any(o[k] is not None and (o[k] is c or shares(o[k], c)) for o in others)
            else c
            for k, c in enumerate(terms)
        ]

    # --- writes

    def _write(self, kind: str, name: str, args: Any, active: Any) -> None:
        x, key = args[0], args[1] if kind == "setitem" else ...
        entry = active.get(id(x), (x, None))[1]
        alive = [(other, y) for other in list(self.known.values()) if (y := other.x()) is not None]
        near = [(other, y) for other, y in alive if y is not x and shares(y, x)]
        if not active and (not near or name == "matmul"):
            # The second half of `x @= y` is a call with untracked operands.
            return
        if is_batched_array(x) and (near or kind == "setitem"):
            refuse(f"{name} writes into an array", "build a new array instead")
        if kind == "setitem":
            others = active.keys() - {id(x), id(args[2])}
            if any(not active[i][1].is_constant for i in others):
                refuse("setitem has no rule for a sequence of arrays", "assign stack(arrays)")
            new = active[id(args[2])][1].terms if id(args[2]) in active else [None] * self.order
        else:
            is_outer = any(e.is_outer for _, e in active.values())
            given = [y if is_outer or not isinstance(y, Array) else detach(y) for y in args]
            out = arrays.function_of(name)(*given)
            (new,) = self._terms(name, args, {}, active, [out])
            new = [None if c is None else asarray(c, copy=True) for c in new]
        if entry is None:
            entry = self.put(x, [None] * self.order, False)
            if not near and not is_batched_array(x) and x.nbytes != storage_nbytes(x):
                # Other views of the memory may be used later; this view shows all of the memory.
                with Setting(STRICT, False):
                    count = storage_nbytes(x) // x.itemsize
                    self.whole.append(as_strided(detach(x), (count,), (1,), 0))
                near = [(self.put(self.whole[-1], [None] * self.order, False), self.whole[-1])]
        for e in (entry, *(other for other, _ in near)):
            e.is_outer = e.is_outer or any(source.is_outer for _, source in active.values())
        for k, (old, value) in enumerate(zip(list(entry.terms), new, strict=True)):
            if kind == "in-place" and not near:
                entry.terms[k] = _fitted(value, x)
                continue
            if old is None and value is None and all(other.terms[k] is None for other, _ in near):
                continue
            apart = [
                (o, y) for o, y in near if old is None or (c := o.terms[k]) is None or not shares(c, old)
            ]
            if old is None:
                old = entry.terms[k] = zeros(x.shape, dtype=x.dtype)
            old[key] = 0 if value is None else _fitted(value, old) if kind == "in-place" else value
            for other, y in apart:
                _follow(other.terms, y, k, x, old)


def _follow(terms: list[Any], y: Array, k: int, x: Array, term: Array) -> None:
    """Write a coefficient of an array to coefficients of another array that shares its memory."""
    places = Place(y).common(Place(x))
    if places is None:
        refuse("a view of components is written to, and the array is in use", "write to a copy of the view")
    if len(places[0]):
        old = terms[k]
        flat = zeros(y.size, dtype=y.dtype) if old is None else reshape(asarray(old, copy=True), (-1,))
        flat[asarray(places[0])] = _taken(term, places[1:], y)
        terms[k] = reshape(flat, y.shape)


def _taken(term: Array, places: tuple[Any, int], out: Array) -> Any:
    """Return elements of a coefficient, or components of them, by their flat indices."""
    found = take(reshape(term, (-1,)), asarray(places[0]), axis=0)
    return (real, imag)[places[1]](found) if is_complex(term) and not is_complex(out) else found


def _operand(call: arrays.Call, x: Any, out: Array) -> Series:
    """Return the series of an operand of an elementwise function; numbers become arrays."""
    if not isinstance(x, Array) or x.dtype.kind in ("signed integer", "unsigned integer", "bool"):
        x = asarray(x, dtype=out.dtype)
    return call.of(x)


def _fitted(term: Any, out: Array) -> Any:
    """Return a coefficient with the shape and the dtype of its array."""
    if term is None:
        return None
    if term.dtype != out.dtype:
        term = astype(real(term) if is_complex(term) and not is_complex(out) else term, out.dtype)
    return term if term.shape == out.shape else zeros_like(out) + term


def jets(order: int, tape: Tape) -> Jets:
    """Return a configuration that computes series up to an order."""
    around = current_configuration()
    fields = around or Configuration(devices=("cpu",), simulated={0: Simulated()})
    found = Jets(*fields._replace(views=False))
    found.around, found.order, found.tape, found.known, found.whole = around, order, tape, {}, []
    return found

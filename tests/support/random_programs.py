"""Random programs, run with and without `stride0.fused`: all their outputs must be the same, bit for bit.

A program is a list of Python statements. `write` draws one. It runs each statement eagerly, so that later
statements can use the shapes and dtypes of earlier results. `run` runs it and returns all outputs, and
`differences` runs it both ways. ``python random_programs.py FIRST LAST [SIZES]`` does so for many seeds.
"""

from __future__ import annotations

import contextlib
import contextvars
import random
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import program_helpers

import stride0 as xp
from stride0 import strided

Shape = tuple[int, ...]
Scope = Callable[..., Any]

SHAPES: dict[int, list[Shape]] = {
    1: [(), (1,), (1, 1)],
    7: [(7,), (7, 1), (1, 7)],
    60: [(3, 4, 5), (6, 10), (60,)],
    1000: [(1000,), (10, 100), (100, 10), (8, 5, 25)],
    5000: [(5000,), (50, 100), (4, 25, 50), (1, 5000)],
    70000: [(70000,), (250, 280), (7, 100, 100), (2, 35000), (35000, 2)],
    300000: [(300000,), (500, 600), (3, 100, 1000)],
}
FLOATS = ["float64", "float32"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int32", "int64", "uint8", "int16", "uint32"]
DTYPES = [*FLOATS, *FLOATS, *INTEGERS, "bool", *COMPLEX]
LAYOUTS = ["C", "C", "C", "T", "sliced", "negative", "broadcast"]

ARITHMETIC = ["+", "-", "*", "/", "+", "-", "*"]
COMPARISONS = ["<", "<=", "==", "!=", ">", ">="]
BITWISE = ["&", "|", "^"]
UNARY = {
    "f": "abs negative square sqrt exp tanh sin floor ceil trunc round sign isnan isfinite log1p reciprocal "
    "positive signbit logical_not atan expm1 log2",
    "c": "abs negative square sqrt exp conj isnan positive sign tanh",
    "i": "abs negative square sign positive bitwise_invert logical_not floor isfinite",
    "b": "logical_not bitwise_invert isnan",
}
BINARY = """maximum minimum atan2 hypot logaddexp nextafter logical_and logical_or logical_xor floor_divide
    remainder add multiply subtract divide equal less greater_equal"""
REDUCTIONS = "sum mean max min prod any all var std argmax count_nonzero cumulative_sum"
SCALARS = ["2", "-1", "0.5", "3", "0", "1e300", "float('nan')", "True", "1j", "255", "-0.0", "10**30", "7"]


class Writer:
    """Draws the statements of a program."""

    def __init__(self, rng: random.Random, space: dict[str, Any], size: int) -> None:
        self.rng, self.space, self.size = rng, space, size
        self.base = rng.choice(SHAPES[size])
        self.most = 3 * max(size, 60)
        self.count = 0

    # --- the variables

    def named(self, letters: str) -> list[str]:
        return [name for name in self.space if name[0] in letters and name[1:].isdigit()]

    def arrays(self) -> list[str]:
        return [name for name in self.named("v") if type(self.space[name]) is xp.Array]

    def pick(self) -> str:
        name = self.rng.choice(self.arrays())
        self.span: Shape = self.space[name].shape
        return name

    def other(self, name: str, wild: float = 0.06) -> str:
        """An array that mostly broadcasts with those picked before it."""
        fitting, refused = [name], []
        for found in self.arrays():
            try:
                shape = np.broadcast_shapes(self.span, self.space[found].shape)
            except ValueError:
                refused.append(found)
            else:
                if np.prod(shape) <= self.most:
                    fitting.append(found)
        if refused and self.rng.random() < wild:
            return self.rng.choice(refused)
        found = self.rng.choice(fitting)
        self.span = np.broadcast_shapes(self.span, self.space[found].shape)
        return found

    def operand(self, name: str) -> str:
        return self.rng.choice(SCALARS) if self.rng.random() < 0.3 else self.other(name)

    def new(self) -> str:
        if len(self.arrays()) > 9 or (self.arrays() and self.rng.random() < 0.2):
            return self.pick()
        self.count += 1
        return f"v{self.count}"

    def kind(self, name: str) -> str:
        kind = np.dtype(self.space[name].dtype.name).kind
        return {"u": "i"}.get(kind, kind)

    def shape(self) -> Shape:
        """The shape of the program, or one that broadcasts to it."""
        turn = self.rng.random()
        if turn < 0.65 or not self.base:
            return self.base
        if turn < 0.85:
            return tuple(self.rng.choice([n, 1]) for n in self.base)
        return self.base[self.rng.randrange(len(self.base) + 1) :]

    def key(self, name: str) -> str:
        parts = []
        for n in self.space[name].shape:
            parts.append(self.rng.choice([":", ":", "::-1", "::2", "1:", f":{max(n - 1, 1)}", "::-2", "0:1"]))
        if parts and self.rng.random() < 0.2:
            parts[-1] = str(self.rng.choice([0, -1, 5]))
        if self.rng.random() < 0.15:
            parts.insert(0, "None")
        return ", ".join(parts) or "..."

    # --- statements

    def make(self) -> str:
        layout, dtype = self.rng.choice(LAYOUTS), self.rng.choice(DTYPES)
        return f"{self.new()} = make({self.rng.randrange(1000)}, {self.shape()}, {dtype!r}, {layout!r})"

    def operator(self) -> str:
        a = self.pick()
        kind, turn, b = self.kind(a), self.rng.random(), self.operand(a)
        if turn < 0.15:
            sign = self.rng.choice(COMPARISONS)
        elif kind in "bi" and turn < 0.4:
            sign = self.rng.choice(BITWISE)
        elif turn < 0.47:
            sign = self.rng.choice(["//", "%", "**"])
            b = self.rng.choice(["2", "3", b]) if sign == "**" else b
        else:
            sign = self.rng.choice(ARITHMETIC)
        pair = [a, b]
        if self.rng.random() < 0.3:
            pair.reverse()
        return f"{self.new()} = {pair[0]} {sign} {pair[1]}"

    def chain(self) -> str:
        a = self.pick()
        terms = [self.other(a, 0) for _ in range(self.rng.choice([2, 3, 6]))]
        text = a
        for term in terms:
            text = f"({text} {self.rng.choice(ARITHMETIC)} {term})"
            if self.rng.random() < 0.3:
                text = f"xp.{self.rng.choice(['sin', 'square', 'abs', 'negative', 'tanh'])}({text})"
        return f"{self.new()} = {text}"

    def arithmetic(self) -> str:
        """Sums and products of arrays, rows, columns and scalars: steps that fusion pairs."""
        a = self.pick()
        terms = [a, *(self.other(a, 0) for _ in range(self.rng.choice([1, 2, 4])))]
        text = self.rng.choice(terms)
        for _ in range(self.rng.choice([2, 3, 5, 8])):
            term = self.rng.choice([*terms, "2", "0.5", "-3"])
            if self.rng.random() < 0.2:
                term = f"({self.rng.choice(terms)} {self.rng.choice('+-*')} {term})"
            pair = [text, term]
            if self.rng.random() < 0.4:
                pair.reverse()
            text = f"({pair[0]} {self.rng.choice('+-*+-*/')} {pair[1]})"
            if self.rng.random() < 0.15:
                text = self.rng.choice([f"xp.square({text})", f"({text}) ** 2", f"xp.sqrt({text})"])
        return f"{self.new()} = {text}"

    def normalised(self) -> str:
        """Reductions of arrays that are used again."""
        a, d = self.pick(), self.new()
        ndim = self.space[a].ndim
        axis = f", axis={self.rng.randrange(-ndim, ndim)}" if ndim and self.rng.random() < 0.7 else ""
        first, second = (self.rng.choice(["sum", "mean", "max", "min"]) for _ in range(2))
        lines = [f"{d} = {a} - xp.{first}({a}{axis}, keepdims=True)"]
        if self.rng.random() < 0.3:
            lines.append(f"{self.new()} = xp.sum({d})")
        scale = f"xp.{second}({d} * {d}{axis}, keepdims=True)"
        return "\n".join([*lines, f"{self.new()} = {d} {self.rng.choice('/*-+')} ({scale} + 1)"])

    def unary(self) -> str:
        a = self.pick()
        name = self.rng.choice(UNARY[self.kind(a)].split())
        if name == "signbit":
            a = f"xp.where({a} == {a}, {a}, 1)"
        return f"{self.new()} = xp.{name}({a})"

    def binary(self) -> str:
        a = self.pick()
        pair = [a, self.operand(a)]
        if self.rng.random() < 0.3:
            pair.reverse()
        return f"{self.new()} = xp.{self.rng.choice(BINARY.split())}({pair[0]}, {pair[1]})"

    def ternary(self) -> str:
        a = self.pick()
        b, c = self.operand(a), self.operand(a)
        if self.rng.random() < 0.6:
            mask = f"{a} {self.rng.choice(['>', '!='])} {self.rng.choice([b, '0'])}"
            return f"{self.new()} = xp.where({mask}, {b}, {c})"
        return f"{self.new()} = xp.clip({a}, {self.rng.choice(['None', b])}, {c})"

    def cast(self) -> str:
        a, copy = self.pick(), self.rng.choice(["", ", copy=False"])
        return f"{self.new()} = xp.astype({a}, xp.{self.rng.choice(DTYPES)}{copy})"

    def reduction(self) -> str:
        a, name = self.pick(), self.rng.choice(REDUCTIONS.split())
        ndim = self.space[a].ndim
        options = []
        if self.rng.random() < 0.6 and ndim:
            options.append(f"axis={self.rng.randrange(-ndim, ndim)}")
        if self.rng.random() < 0.5 and name != "cumulative_sum":
            options.append("keepdims=True")
        inner = a if self.rng.random() < 0.5 else f"{a} {self.rng.choice(ARITHMETIC)} {self.operand(a)}"
        turn = self.rng.random()
        if turn < 0.15:
            # Several reductions in one chain; the reduced array has a name.
            t = self.new()
            more = self.rng.choice(["sum", "max", "mean", "any", "prod"])
            lines = [f"{t} = {inner}", f"{self.new()} = xp.{more}({', '.join([t, *options])})"]
            return "\n".join([*lines, f"{self.new()} = xp.{name}({', '.join([t, *options])})"])
        if turn < 0.3:
            b = self.other(a)
            axis = f", axis={self.rng.randrange(-ndim, 0)}" if ndim else ""
            pair = [
                f"{a} {self.rng.choice('+-*')} {self.operand(a)}",
                self.rng.choice([b, f"{b} * 2", f"{a} - {b}"]),
            ]
            self.rng.shuffle(pair)
            return f"{self.new()} = xp.vecdot({pair[0]}, {pair[1]}{axis})"
        return f"{self.new()} = xp.{name}({', '.join([inner, *options])})"

    def in_place(self) -> str:
        a = self.pick()
        signs = (
            [*ARITHMETIC, *ARITHMETIC, "//", "**"] if self.kind(a) in "fc" else ["+", "-", "*", "|", "^", "%"]
        )
        sign, b = self.rng.choice(signs), self.operand(a)
        turn = self.rng.random()
        if turn < 0.3:
            b = f"({b} {self.rng.choice('+-*')} {self.operand(a)})"
        elif turn < 0.4:
            key = self.key(a)
            return f"{a}[{key}] {sign}= ({a}[{key}] * {self.rng.choice(SCALARS)})"
        elif turn < 0.5:
            # An array that is computed is updated by a pending array that has a name.
            b, t = self.new(), b
            return f"{b} = {a} * {t}\nshow({a})\n{a} {sign}= {b}"
        return f"{a} {sign}= {b}"

    def assign(self) -> str:
        a = self.pick()
        key = self.rng.choice(["...", self.key(a), self.key(a), f"{a} > 0", f"({a} != {a})"])
        values = ["0", "1", self.operand(a), f"{a}[{self.key(a)}]", f"({a} + {self.operand(a)})"]
        b = self.other(a)
        values += [f"({b} * 2 - {self.operand(a)})", f"({b}[{key}] * 3 + 1)" if key != "..." else f"-{b}"]
        return f"{a}[{key}] = {self.rng.choice(values)}"

    def view(self) -> str:
        a = self.pick()
        ndim = self.space[a].ndim
        axes = list(range(ndim))
        self.rng.shuffle(axes)
        forms = [
            f"{a}[{self.key(a)}]",
            f"{a}[{self.key(a)}]",
            f"xp.permute_dims({a}, {tuple(axes)})",
            f"xp.reshape({a}, (-1,))",
            f"xp.reshape({a}, {self.base})",
            f"xp.broadcast_to({a}, {self.base})",
            f"xp.expand_dims({a}, axis=0)",
            f"xp.flip({a})",
            f"xp.real({a})" if self.kind(a) == "c" else f"{a}.T",
            f"{a}.mT",
        ]
        return f"{self.new()} = {self.rng.choice(forms)}"

    def function(self) -> str:
        a = self.pick()
        b = self.other(a)
        forms = [
            f"xp.sort({a})",
            f"xp.concat([{a}, {b}])",
            f"xp.stack([{a}, {a} + {b}])",
            f"xp.roll({a}, 1)",
            f"xp.zeros_like({a})",
            f"xp.full_like({a}, 1) + {b}",
            f"xp.tril({a} + {b})",
            f"xp.take({a}, xp.asarray([0, 0]), axis=0)",
            f"xp.repeat({a} * {b}, 2)",
            f"xp.diff({a} + 1)",
            f"xp.searchsorted(xp.sort(xp.reshape({a}, (-1,))), {b})",
            f"{a} @ {b}" if self.size <= 1000 else f"xp.unique_values({a} * {b})",
            f"xp.vecdot({a}, {b})",
            f"xp.asarray({a}, copy=True)",
            f"copy.copy({a})",
            f"copy.deepcopy({a} + {b})",
            f"pickle.loads(pickle.dumps({a} - {b}))",
            f"strided.contiguous({a})",
        ]
        return f"{self.new()} = {self.rng.choice(forms)}"

    def look(self) -> str:
        a = self.pick()
        forms = [
            f"show({a})",
            f"show(repr({a}))",
            f"show(repr({a} + 1))",
            f"show(float({a}[{', '.join(['-1'] * self.space[a].ndim) or '...'}]))",
            f"show(bool(xp.any({a} == {self.operand(a)})))",
            f"show(bool({a}))",
            f"show(int(xp.sum({a} != 0)))",
            f"show('here' if xp.all({a} == {a}) else 'there')",
            f"show([str(row) for row in {a}][:3])",
            f"show({a}.__dlpack_device__(), {a}.size, {a}.ndim)",
        ]
        return self.rng.choice(forms)

    def export(self) -> str:
        """Memory shared with NumPy: ours, written through the export, and NumPy's, written by NumPy."""
        a, k = self.pick(), self.rng.randrange(3)
        shared = self.named("en")
        turn = self.rng.random()
        if shared and turn < 0.5:
            e = self.rng.choice(shared)
            forms = [f"{e}[...] = {self.rng.choice(['0', '1', '3'])}", f"{e} += 1", f"show({e})", f"del {e}"]
            return self.rng.choice(forms)
        forms = [
            f"e{k} = np.asarray({a})",
            f"e{k} = np.from_dlpack({a})",
            f"e{k} = np.asarray(memoryview({a}))",
            f"e{k} = np.asarray({a} + {self.operand(a)})",
            f"e{k} = np.asarray(memoryview({a} * 2))\n{a} = {a} - 1",
            f"with memoryview({a}) as m:\n    {self.new()} = {a} + {a}\n    show(m.nbytes)\n{a} += 1",
            f"e{k} = np.from_dlpack({a} + 1)\ne{k} = None\n{a} = {a} + 1",
            f"capsule = {a}.__dlpack__()\n{self.new()} = {a} * 3\ndel capsule\n{a} += 2",
            f"{self.new()} = xp.from_dlpack({a}, copy=True)\n{a} *= 2",
            f"n{k} = np.array({a})\n{self.new()} = xp.asarray(n{k}, copy=False)",
            f"n{k} = np.array({a})\n{self.new()} = xp.from_dlpack(n{k})",
            f"{self.new()} = xp.from_dlpack({a})",
        ]
        return self.rng.choice(forms)

    def special(self) -> str:
        """Generators, coroutines, threads, signals, scopes, weak references, deletions, long chains."""
        a = self.pick()
        b, k = self.other(a), self.rng.randrange(3)
        size, after = self.rng.choice([0, 1, 10, 100, 5000]), self.rng.choice([1e-5, 5e-5, 2e-4, 1e-3])
        calls = [f"{a} * 2 + {b}", f"repr({a} + {b})", f"xp.sum({a} - 1)", f"({a} + 1)[...]", f"{a} @ {b}"]
        handlers = [*calls, f"{a}[...]", f"np.asarray({a} + 0)"]
        call, handle = self.rng.choice(calls), self.rng.choice(handlers)
        several = ", ".join(f"lambda: {self.rng.choice(calls)}" for _ in range(self.rng.choice([2, 3, 4])))
        forms = [
            f"g{k} = nested({a}, {b})",
            *[f"{self.new()} = {name}.throw(KeyError())" for name in self.named("g")],
            f"l{k} = at_once({several})",
            f"l{k} = at_once({several})",
            f"l{k} = during(lambda: {call}, lambda: {handle}, {after})",
            f"l{k} = during(lambda: {call}, lambda: {handle}, {after})",
            # A handler runs anywhere in a call. It may write to arrays that chains read.
            f"o = {a} * 1\nt = o + {b}\nl{k} = during(lambda: {call}, lambda: o.__iadd__(1), {after}) + [t]",
            f"o = {a} * 1\nt = o[:1] + {b}\nl{k} = during(lambda: {call}, lambda: np.asarray(o), {after})",
            f"with scope({size}):\n    {self.new()} = {a} * {b} - 1\n    with scope(1):\n        {a} += {b}",
            f"with contextlib.suppress(ValueError), scope({size}):\n    {a} -= {b}\n    {a}.nothing",
            f"{a}[1:] = {a}[:-1] + {b}[1:]",
            f"{a}[::-1] += {a}",
            f"{a}[...] = {a}[::-1] * 2 - {a}",
            f"{a}.T[...] = {a}[...].T + {b}",
            f"g{k} = stream({a}, {b})",
            *[f"{self.new()} = next({name})" for name in self.named("g")],
            *[f"{name}.close()" for name in self.named("g")],
            f"{self.new()} = together({a}, {b})",
            f"{self.new()} = in_thread(lambda: {a} * 2 + {b})",
            f"show(in_thread(lambda: repr({a} + {b})))",
            f"with scope():\n    {self.new()} = {a} + {b}\n    {self.new()} = {a} * 2",
            f"with scope(0):\n    {self.new()} = {a} + {b}",
            f"with scope():\n    {self.new()} = {a} + {b}\n    raise KeyError({a}.size)",
            f"r{k} = weakref.ref({a})",
            *[f"show({name}() is None)" for name in self.named("r")],
            *([f"show(in_child(lambda: repr({a} * 2 + {b})))"] if self.rng.random() < 0.2 else []),
            *([f"del {a}", f"del {a}, {b}", f"del {a}"] if len(self.arrays()) > 5 else []),
            f"for _ in range(40):\n    {a} = {a} * 0.5 + 1",
            f"l{k} = [{a} + i for i in range(20)]",
            f"l{k} = [{a}[:i + 1] * 2 + {a}[i:i + 1] for i in range(70)]",
            *[f"{self.new()} = sum({name}[1:], {name}[0])" for name in self.named("l")],
            f"{self.new()} = ({a} + {b}) * missing",
            f"{self.new()} = ({a} + {b}) * xp.reshape({a}, (3, 5, 7, 11))",
            f"{self.new()} = xp.sqrt({a} * 'text')",
            f"l{k} = ({a} + {b},)\nl{k}[0][...] = 1",
            f"{a} = {a} + (lambda t: t * 2)({b} - 1)",
            f"{self.new()} = decorated({a}, {b})",
        ]
        return self.rng.choice(forms)

    def statement(self) -> str:
        kinds = {
            self.operator: 6, self.chain: 4, self.arithmetic: 4, self.normalised: 1, self.unary: 2,
            self.binary: 2, self.ternary: 2, self.cast: 1,
            self.reduction: 3, self.in_place: 4, self.assign: 3, self.view: 4, self.function: 1, self.look: 2,
            self.export: 2, self.special: 2, self.make: 1,
        }  # fmt: skip
        return self.rng.choices(list(kinds), list(kinds.values()))[0]()


def eager(size: int | None = None) -> Any:
    return contextlib.nullcontext()


def fused(size: int | None = None) -> Any:
    return xp.fused(size=1 if size is None else size)


def shown(value: Any) -> Any:
    """All observable properties of a value."""
    if isinstance(value, xp.Array):
        return (value.dtype.name, value.shape, strided.strides(value), alike(np.array(value)).tobytes())
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.strides, alike(np.array(value)).tobytes())
    return repr(value)


def alike(copied: Any) -> Any:
    """All NaNs replaced by one: their signs and payloads are unspecified (docs/design/kernels.md)."""
    kind = copied.dtype.kind
    for part in (copied.real, copied.imag) if kind == "c" else (copied,) if kind == "f" else ():
        part[np.isnan(part)] = np.nan
    return copied


class Machine:
    """Runs the statements of a program one by one, and records their outputs."""

    def __init__(self, scope: Scope) -> None:
        self.seen: list[Any] = []
        self.line = 1
        self.space: dict[str, Any] = {**program_helpers.namespace(scope), "show": self.show}

    def show(self, *values: Any) -> None:
        self.seen.extend((self.line, shown(value)) for value in values)

    def step(self, statement: str) -> bool:
        """Run a statement; return whether it raised no error."""
        line, found = self.line, True
        code = compile("\n" * (line - 1) + statement, "<program>", "exec")
        try:
            exec(code, self.space)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            where = [frame.lineno for frame in frames if frame.filename == "<program>"]
            self.seen.append((line, type(error).__name__, str(error), where))
            found = False
        target = statement.partition(" ")[0]
        if type(self.space.get(target)) is xp.Array:
            x = self.space[target]
            self.seen.append((line, target, x.dtype.name, x.shape, strided.strides(x), x.size))
        self.line += statement.count("\n") + 1
        return found

    def show_all(self, names: list[str]) -> None:
        for name in names:
            if name in self.space:
                self.seen.append((name, shown(self.space[name]) if name[0] in "vne" else None))
                if name[0] == "l":
                    self.seen.extend((name, shown(item)) for item in self.space[name])


def write(seed: int, sizes: list[int], count: int = 30) -> tuple[list[str], list[str]]:
    """Draw a program; return its statements, and the order in which its variables are finally read."""
    rng = random.Random(seed)
    machine = Machine(eager)
    writer = Writer(rng, machine.space, rng.choice(sizes))
    statements: list[str] = []
    for number in range(count):
        statements.append(writer.make() if number < 3 else writer.statement())
        machine.step(statements[-1])
    names = sorted(writer.named("vnelr"))
    rng.shuffle(names)
    machine.space.clear()
    return statements, names


def run(statements: list[str], names: list[str], scope: Scope) -> list[Any]:
    """Run a program in a scope; half of the variables are read in it, the others after it."""
    machine = Machine(scope)
    with scope():
        for statement in statements:
            machine.step(statement)
        machine.show_all(names[::2])
    machine.show_all(names[1::2])
    machine.space.clear()  # the functions and the scope refer to each other
    return machine.seen


def first_difference(statements: list[str], names: list[str]) -> str:
    """Run a program both ways; returns the first output that differs, or an empty text."""
    expected = contextvars.copy_context().run(run, statements, names, eager)
    found = contextvars.copy_context().run(run, statements, names, fused)
    if expected == found:
        return ""
    return next((described(a, b) for a, b in zip(expected, found, strict=False) if a != b), "one shows more")


def described(a: Any, b: Any) -> str:
    """Describe two outputs that differ; for arrays, the first element that differs."""
    x, y = a[-1], b[-1]
    if type(x) is tuple and type(y) is tuple and x[:3] == y[:3] and isinstance(x[-1], bytes):
        width = np.dtype(x[0]).itemsize
        at = next(k for k in range(0, len(x[-1]), width) if x[-1][k : k + width] != y[-1][k : k + width])
        both = [np.frombuffer(text[at : at + width], x[0])[0] for text in (x[-1], y[-1])]
        return f"{a[0]} {x[:3]} element {at // width}: eager {both[0]!r}, fused {both[1]!r}"
    return f"eager {a!r:.600}\nfused {b!r:.600}"


def smaller(statements: list[str], names: list[str]) -> list[str]:
    """A smaller program that still differs, found by leaving out statements one at a time."""
    k = len(statements) - 1
    while k >= 0:
        fewer = statements[:k] + statements[k + 1 :]
        if first_difference(fewer, names):
            statements = fewer
        k -= 1
    return statements


def differences(seed: int, sizes: list[int]) -> str:
    """Run the program of a seed both ways; returns a small one and how they differ, or an empty text."""
    statements, names = write(seed, sizes)
    if not first_difference(statements, names):
        return ""
    statements = smaller(statements, names)
    found = first_difference(statements, names)
    return "\n".join([f"seed {seed}, sizes {sizes}:", *statements, f"# names {names}", found])


def report(first: int, last: int, sizes: list[int]) -> Iterator[str]:
    for seed in range(first, last):
        found = differences(seed, sizes)
        if found:
            yield found


def main() -> int:
    import faulthandler

    faulthandler.enable()
    sizes = [int(size) for size in sys.argv[3:]] or [1, 7, 60, 1000, 5000, 70000]
    wrong = 0
    for text in report(int(sys.argv[1]), int(sys.argv[2]), sizes):
        wrong += 1
        print(text, flush=True)
        if wrong > 5:
            break
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Calls of every public function with objects that claim another type; see `core/call/test_lying_types.py`.

``python liars.py LOG`` makes the calls in a separate process and logs each one first.
"""

from __future__ import annotations

import contextlib
import faulthandler
import inspect
import itertools
import operator
import os
import sys
import types
import warnings
from unittest.mock import Mock

from fuzz import ALLOWED, functions
from fuzz_values import Fate, plausible

import stride0 as xp

# Modules of the namespace that are imported when they are first asked for.
MODULES = [xp.autograd, xp.memory, xp.optim, xp.random, xp.special, xp.testing]
# Errors of a liar's own code, and of NumPy and SciPy, which some functions call.
REFUSALS = (*ALLOWED, AttributeError, BufferError, RuntimeError, NotImplementedError)
# They print, change warnings of the whole process, or need a file.
LEFT_OUT = {"patched", "patch", "unpatch", "flags"}


def liar_of(claimed):
    """Return an object whose `__class__` says that it is of a type."""

    class Liar:
        @property
        def __class__(self):
            return claimed

        def __repr__(self):
            return f"<claims to be {claimed.__name__}>"

    return Liar()


def compiled_types():
    """Return the types of the compiled modules, the public ones first."""
    public = [xp.Array, xp.DType, xp.Device, type(xp.sum)]
    found = {}
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == "stride0":
            for value in vars(module).values():
                # Types of extension modules are not on the heap.
                if isinstance(value, type) and value.__module__ == name and not value.__flags__ & 1 << 9:
                    found[value] = None
    return [*public, *(value for value in found if value not in public)]


def mock_of(claimed):
    with contextlib.suppress(Exception):
        mock = Mock(spec=claimed)
        # Attributes that code reads if it believes a mock's type.
        for name, value in {"dtype": xp.float32, "shape": (2,), "ndim": 1, "size": 2}.items():
            with contextlib.suppress(AttributeError):
                setattr(mock, name, value)
        return mock
    return liar_of(claimed)


# Calls that must fail whatever type the liar claims.
ERRORS = {
    "result_type": lambda liar: xp.result_type(liar, xp.float32),
    "result_type, second": lambda liar: xp.result_type(xp.float32, liar),
    "result_type, third": lambda liar: xp.result_type(xp.float32, xp.float64, xp.complex64, liar),
    "result_type, alone": lambda liar: xp.result_type(liar),
    "result_type, with a number": lambda liar: xp.result_type(liar, 1.0),
    "can_cast": lambda liar: xp.can_cast(liar, xp.float64),
    "can_cast, to": lambda liar: xp.can_cast(xp.float32, liar),
    "finfo": lambda liar: xp.finfo(liar),
    "iinfo": lambda liar: xp.iinfo(liar),
    "isdtype": lambda liar: xp.isdtype(liar, "numeric"),
    "isdtype, kind": lambda liar: xp.isdtype(xp.float32, liar),
    "astype": lambda liar: xp.astype(xp.ones(2), liar),
    "zeros": lambda liar: xp.zeros(2, dtype=liar),
    "sum": lambda liar: xp.sum(xp.ones(2), dtype=liar),
    "add": lambda liar: xp.add(liar, xp.ones(2)),
    "where": lambda liar: xp.where(xp.asarray([True]), liar, xp.ones(1)),
    "concat": lambda liar: xp.concat([xp.ones(2), liar]),
    "einsum": lambda liar: xp.einsum("i,i->i", xp.ones(2), liar),
    "matmul": lambda liar: xp.matmul(liar, xp.ones((2, 2))),
    "fft": lambda liar: xp.fft.fft(liar),
    "qr": lambda liar: xp.linalg.qr(liar),
    "gradient": lambda liar: xp.autograd.grad(lambda x: liar)(xp.ones(2)),
}


def errors():
    """Yield (description, callable) of calls that have to raise."""
    for claimed in (xp.DType, xp.Array):
        for liar in (Mock(spec=claimed), liar_of(claimed)):
            for name, call in ERRORS.items():
                yield f"{name} of {liar!r}", lambda call=call, liar=liar: call(liar)


def all_calls():
    """Yield (description, callable): one for each parameter of each function, with each liar."""
    liars = [mock_of(claimed) for claimed in (xp.Array, xp.DType, xp.Device)]
    liars += [liar_of(claimed) for claimed in compiled_types()]
    liars += [
        liar_of(claimed) for claimed in (tuple, list, dict, str, int, float, bool, slice, types.FunctionType)
    ]
    few = [*liars[:6], *liars[-9:]]
    rng = Fate(38)
    table = [*functions(), *functions_of_modules()]
    for name, function, parameters in table:
        if name in LEFT_OUT:
            continue
        for at, parameter in enumerate(parameters):
            # Every liar in the first two places, where arrays and dtypes are expected.
            for liar in liars if at < 2 else few:
                rng.turn()
                yield f"{name}({parameter.name}={liar!r})", call_of(function, parameters, at, liar, rng)
    x = xp.ones((2, 2))
    for liar in liars:
        for call in (operator.add, operator.matmul, operator.eq, operator.iadd, operator.getitem):
            yield f"{call.__name__}(x, {liar!r})", lambda call=call, liar=liar: call(x, liar)
            yield f"{call.__name__}({liar!r}, x)", lambda call=call, liar=liar: call(liar, x)
        yield f"x[{liar!r}] = 1", lambda liar=liar: operator.setitem(x, liar, 1)
        yield f"x[0] = {liar!r}", lambda liar=liar: operator.setitem(x, 0, liar)
        yield f"x[0, {liar!r}]", lambda liar=liar: x[0, liar]
        yield f"[{liar!r}, x]", lambda liar=liar: xp.asarray([liar, x])
        # Functions that return them, and rules that do.
        for transform in (
            xp.autograd.grad,
            xp.autograd.value_and_grad,
            xp.autograd.jacobian,
            xp.autograd.vmap,
            xp.fused,
        ):
            with contextlib.suppress(*REFUSALS):
                made = transform(lambda y, liar=liar: liar)
                yield f"{transform} of a function that returns {liar!r}", lambda made=made: made(x)
        for name in inspect.signature(xp.Array.reshape).parameters:
            yield f"x.reshape({name}={liar!r})", lambda name=name, liar=liar: x.reshape(**{name: liar})
        for method in (
            "astype",
            "sum",
            "mean",
            "to_device",
            "view",
            "item",
            "take",
            "transpose",
            "__dlpack__",
        ):
            yield f"x.{method}({liar!r})", lambda method=method, liar=liar: getattr(x, method)(liar)


def functions_of_modules():
    found = []
    for module in MODULES:
        for name in sorted(getattr(module, "__all__", vars(module))):
            function = getattr(module, name)
            if callable(function) and name[0] != "_" and name != "as_array_api_strict":
                with contextlib.suppress(ValueError, TypeError):
                    parameters = list(inspect.signature(function).parameters.values())
                    found.append((f"{module.__name__}.{name}", function, parameters))
    return found


def call_of(function, parameters, at, liar, rng):
    positional, keywords = [], {}
    for k, parameter in enumerate(parameters):
        needed = parameter.default is parameter.empty
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        value = liar if k == at else plausible_of(parameter.name, rng)
        if parameter.kind is parameter.VAR_POSITIONAL:
            others = [plausible_of("x", rng) for _ in range(rng.randrange(3))]
            positional += [value, *others] if rng.randrange(2) else [*others, value]
        elif parameter.kind is parameter.KEYWORD_ONLY:
            if k == at or needed:
                keywords[parameter.name] = value
        elif k <= at or needed:
            positional.append(value)
    return lambda: function(*positional, **keywords)


def plausible_of(name, rng):
    if name in ("f", "fun", "function", "forward"):
        return lambda x, *others: xp.sum(x)
    return plausible(name, rng)


def run(log):
    """Make the calls; return the errors as texts, and the number of calls."""
    wrong, count = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        must_raise = len(list(errors()))
        for count, (described, call) in enumerate(itertools.chain(errors(), all_calls()), 1):
            os.pwrite(log, described.encode().ljust(1000)[:1000], 0)
            try:
                found = call()
                if count <= must_raise:
                    wrong.append(f"{described}\n    returned {found!r}")
            except REFUSALS:
                pass
            except BaseException as error:
                wrong.append(f"{described}\n    {type(error).__name__}: {error}")
    return wrong, count


if __name__ == "__main__":
    faulthandler.enable()
    wrong, count = run(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT))
    print("\n".join(wrong[:20]))
    print(count, "calls")
    sys.exit(1 if wrong else 0)

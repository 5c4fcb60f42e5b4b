"""Differentiate calls of SciPy's functions on stride0; compare with finite differences on NumPy.

    python -m conformance scipy-gradients                     all calls; writes the record and the page
    python -m conformance scipy-gradients signal special.erf  those whose names begin so; writes nothing

The calls are in conformance/gradients/calls: every function that SciPy marks as supporting the array API,
unless it has nothing to differentiate, and some unmarked ones. Fixed random weights make a scalar of all
results of a call. Each call is one of

    right     the gradient is that of differences (zero, where the result does not move with the arguments)
    refused   GradientError, when the call is made or when the gradient is taken
    wrong     another gradient, or zero instead of one; or results that are arrays of another library
    fails     the call itself raises on stride0, or has other values than on NumPy

Where an error names a function of stride0 to call instead, that call is made and judged as well. Every other
call than a right one is judged again within `stride0.autograd.scipy.patched`. The exit code is 0 where no
call is wrong, and no call is worse than the record says. Requirements: pip install -r
conformance/downstream/requirements.txt
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import itertools
import operator
import os
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads it when it is imported

import numpy as np

from conformance import records
from conformance.gradients.calls import CALLS, NOT_CALLED
from conformance.gradients.calls.parts import Call
from conformance.gradients.operands import numbers

RECORD = records.RESULTS / "scipy-gradients.json"
PAGE = records.EVIDENCE / "scipy-gradients.md"
OUTCOMES = ("right", "refused", "wrong", "fails")
FORM, PATCHED = "form right", "patched right"

# Public modules with functions that SciPy marks.
MODULES = (
    *("cluster.hierarchy", "cluster.vq", "constants", "differentiate", "fft", "integrate", "interpolate"),
    *("linalg", "ndimage", "optimize", "optimize.elementwise", "signal", "signal.windows"),
    *("spatial.distance", "special", "stats"),
)
# Differences at this distance, a half and a quarter of it, extrapolated: errors of its sixth power.
STEP = 1e-2


class Found(NamedTuple):
    outcome: str
    message: str = ""
    instead: str = ""  # a function of stride0 that has a gradient, where the error names one
    form: str = ""  # the outcome of the same call of that function
    patched: str = ""  # the outcome with stride0.autograd.scipy patched in, if it is not right without
    why: str = ""  # the message there, if it is not right


# --- a call as a scalar


def floating(y: Any) -> list[np.ndarray]:
    found = [np.asarray(x) for x in numbers(y)]
    return [x for x in found if x.dtype.kind in "fc"]


def weights(values: list[np.ndarray]) -> list[np.ndarray]:
    """Fixed random numbers for each result: complex for a complex one, zero where it is not finite."""
    rng = np.random.default_rng(0)
    found = []
    for y in values:
        w = rng.uniform(1, 2, y.shape) + 1j * rng.uniform(1, 2, y.shape)
        w = w if y.dtype.kind == "c" else w.real
        found.append(np.where(np.isfinite(y), w, 0))
    return found


def weighed(values: list[np.ndarray], by: list[np.ndarray]) -> float:
    """The real inner product."""
    total = 0.0
    for y, w in zip(values, by, strict=True):
        total += float(np.sum(np.where(w == 0, 0, np.real(y * np.conj(w)))))
    return total


# --- finite differences on NumPy


def differences(call: Call, by: list[np.ndarray]) -> tuple[list[np.ndarray], float]:
    """The gradient with respect to each array, and its possible error."""
    arrays = [np.array(a) for a in call.arrays]

    def value() -> float:
        return weighed(floating(call.call(np, *(a.copy() for a in arrays))), by)

    gradients, error = [], 0.0
    for a in arrays:
        g = np.zeros(a.shape, dtype=a.dtype)
        for place in np.ndindex(a.shape):
            for unit in (1.0, 1j) if a.dtype.kind == "c" else (1.0,):
                slope, off = extrapolated(functools.partial(moved, value, a, place, unit))
                g[place] += unit * slope
                error = max(error, off)
        gradients.append(g)
    return gradients, error


def moved(value: Callable[[], float], a: Any, place: tuple[int, ...], unit: complex, step: float) -> float:
    before = a[place]
    a[place] = before + unit * step
    try:
        return value()
    finally:
        a[place] = before


def extrapolated(f: Callable[[float], float]) -> tuple[float, float]:
    """The derivative at 0 by Richardson's extrapolation, and the difference of its last two values."""
    first = [(f(h) - f(-h)) / (2 * h) for h in (STEP, STEP / 2, STEP / 4)]
    second = [(4 * fine - rough) / 3 for rough, fine in itertools.pairwise(first)]
    third = (16 * second[1] - second[0]) / 15
    return third, abs(third - second[1])


# --- the same on stride0


def quietly(f: Callable[..., Any], *args: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(*args)


def first_line(error: BaseException) -> str:
    return records.one_line(str(error).strip().partition("\n")[0] or type(error).__name__)


def examine(call: Call, form: Any = None) -> Found:
    """Make a call, on stride0 perhaps with another function than SciPy's; differentiate it, and judge."""
    import stride0 as xp
    from stride0.autograd import GradientError, value_and_grad

    expected = quietly(lambda: floating(call.call(np, *(np.array(a) for a in call.arrays))))
    if not expected:
        raise ValueError(f"{call.name}: the result has no floating-point number in it")
    by = weights(expected)

    def own() -> list[Any]:
        return [xp.asarray(a, copy=True) for a in call.arrays]

    try:
        plain = quietly(lambda: numbers(call.call(xp, *own(), form=form)))
    except Exception as error:
        return Found("fails", f"{type(error).__name__}: {first_line(error)}")
    foreign = sorted({type(y).__name__ for y in plain} - {"Array"})
    plain = floating(plain)
    if [y.shape for y in plain] != [y.shape for y in expected]:
        return Found("fails", "results of other shapes than on NumPy")
    rough = max(1e-6, call.rough)
    if not all(np.allclose(x, y, rough, 1e-8, True) for x, y in zip(plain, expected, strict=True)):
        return Found("fails", "other values than on NumPy")

    def scalar(*xs: Any) -> Any:
        found = [
            y
            for y in numbers(call.call(xp, *xs, form=form))
            if not isinstance(y, xp.Array) or "floating" in y.dtype.kind
        ]
        found = [y for y in found if isinstance(y, xp.Array) or np.asarray(y).dtype.kind in "fc"]
        total = xp.asarray(0.0)
        for y, w in zip(found, by, strict=True):
            if isinstance(y, xp.Array):
                given = xp.asarray(w)
                part = xp.real(xp.conj(given) * y) if y.dtype.kind == "complex floating" else given * y
                total = total + xp.sum(xp.where(given == 0, 0.0, part))
        return total

    try:
        _, gradients = quietly(value_and_grad(scalar, argnums=tuple(range(len(call.arrays)))), *own())
    except GradientError as error:
        # The page names SciPy's function anyway, so leave it out of the error.
        named = error.operation == f"scipy.{call.function}"
        instead = error.accepts.partition(", which has a gradient")
        return Found(
            "refused", error.problem if named else first_line(error), instead[0] if instead[1] else ""
        )
    except Exception as error:
        return Found("fails", f"tracked, {type(error).__name__}: {first_line(error)}")
    gradients = [np.asarray(g) for g in gradients]
    slopes, uncertain = quietly(differences, call, by)
    size = max([1.0, *(float(np.max(np.abs(s), initial=0)) for s in slopes)])
    if not uncertain <= 1e-4 * size:
        raise ValueError(f"{call.name}: differences do not converge, they are off by {uncertain:.1e}")
    off = max(float(np.max(np.abs(g - s), initial=0)) for g, s in zip(gradients, slopes, strict=True))
    if off <= 3 * uncertain + call.rough * size:
        still = not any(np.any(np.abs(s) > call.rough * size) for s in slopes)
        return Found("right", "the result does not move with the arguments" if still else "")
    what = "zero" if not any(np.any(g) for g in gradients) else f"off by {off / size:.1g} of the largest"
    return Found("wrong", what + (f"; returned {', '.join(foreign)}" if foreign else ""))


def examine_all(call: Call, xp: Any) -> Found:
    """Judge a call; if not right, also the form that its error names, and the call with SciPy patched."""
    found = examine(call)
    if found.instead:
        form = operator.attrgetter(found.instead.removeprefix("stride0."))(xp)
        found = found._replace(form=examine(call, form).outcome)
    if found.outcome != "right":
        with xp.autograd.scipy.patched():
            again = examine(call)
        found = found._replace(patched=again.outcome, why=again.message if again.outcome != "right" else "")
    return found


# --- SciPy's own list


def marked_functions() -> set[str]:
    """The functions that SciPy marks as working on arrays of other libraries than NumPy."""
    table = importlib.import_module("scipy._lib._array_api").xp_capabilities_table

    found: dict[Any, str] = {}
    for name in MODULES:
        module = importlib.import_module(f"scipy.{name}")
        for member in sorted(vars(module)):
            function = getattr(module, member)
            if member.startswith("_") or not callable(function) or function not in table:
                continue
            if not table[function]["np_only"] and not table[function]["out_of_scope"]:
                found.setdefault(function, f"{name}.{member}")
    return set(found.values())


# --- the record and the page


def record_of(found: dict[str, Found]) -> dict[str, Any]:
    import stride0

    marked = marked_functions()
    unlisted = sorted(marked - {call.function for call in CALLS} - NOT_CALLED.keys())
    if unlisted:
        raise ValueError(f"neither called nor on the list of what is not: {', '.join(unlisted)}")
    return {
        "scipy": importlib.metadata.version("scipy"),
        "module_version": stride0.__version__,
        "total": dict(Counter(each.outcome for each in found.values())),
        "patched": dict(Counter(each.patched or each.outcome for each in found.values())),
        "marked": len(marked),
        "calls": {
            call.name: {
                "marked": call.function in marked,
                "outcome": found[call.name].outcome,
                **{
                    key: text
                    for key, text in zip(Found._fields[1:], found[call.name][1:], strict=True)
                    if text
                },
            }
            for call in CALLS
        },
        "source_hash": records.hash_of("stride0", Path(stride0.__file__).parent),
    }


def read_record() -> dict[str, Any]:
    """Read the record; a line of the file has the names of all calls with the same facts."""
    found: dict[str, Any] = records.read(RECORD)
    facts = {name: group for group in found["calls"] for name in group["names"]}
    found["calls"] = {
        call.name: {key: value for key, value in facts[call.name].items() if key != "names"}
        for call in CALLS
        if call.name in facts
    }
    return found


def write_record(record: dict[str, Any]) -> None:
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name, facts in record["calls"].items():
        groups.setdefault(tuple(facts.items()), []).append(name)
    calls = [{**dict(facts), "names": names} for facts, names in groups.items()]
    records.write(RECORD, {**record, "calls": calls})


HEAD = """\
# Gradients through SciPy, call by call

Written by `python -m conformance scipy-gradients`. Do not edit it by hand.
[Gradients through SciPy](../guides/scipy.md) is the guide.

SciPy {scipy} is called with stride0 arrays and `SCIPY_ARRAY_API=1`. Each call below is differentiated by
stride0, and by finite differences on NumPy.

* Right: both gradients are the same.
* Refused: an error says so, and names the function of stride0 to call instead if there is one.
* Wrong: another gradient, for example zero, or results in arrays of another library.
* Fails: the call does not work on stride0, with or without a gradient.
* Form right: the call was refused, and the form in stride0 has the right gradient.
* Patched right: the call has the right gradient within `stride0.autograd.scipy.patched`.

A name followed by words is a call with other arguments. SciPy marks {marked} functions as supporting
the array API; {called} of them are called here, and [the others](#not-called) are listed at the end. "NumPy
alone" counts calls of functions that SciPy does not mark.
"""


def rows_of(record: dict[str, Any]) -> dict[str, Counter[str]]:
    rows: dict[str, Counter[str]] = {}
    for name, found in record["calls"].items():
        module = name.partition(".")[0] if found["marked"] else "NumPy alone"
        rows.setdefault(module, Counter())[found["outcome"]] += 1
        rows[module][FORM] += found.get("form") == "right"
        rows[module][PATCHED] += "right" in (found["outcome"], found.get("patched"))
    return dict(sorted(rows.items(), key=lambda row: (row[0] == "NumPy alone", row[0])))


def bullet(item: tuple[tuple[str, str], list[str]]) -> str:
    """One line: a part of SciPy, the outcome of its functions, and their names."""
    (module, message), names = item
    return f"* {module}{', ' if message else ''}{message}: {', '.join(f'`{name}`' for name in names)}\n"


def page(record: dict[str, Any]) -> str:
    calls = record["calls"]
    called = {name.partition(" ")[0] for name, found in calls.items() if found["marked"]}
    parts = [HEAD.format(scipy=record["scipy"], marked=record["marked"], called=len(called))]
    rows = rows_of(record)
    rows["**all**"] = sum(rows.values(), Counter())
    columns = (*OUTCOMES, FORM, PATCHED)
    lines = [[name, *(counts[column] for column in columns)] for name, counts in rows.items()]
    parts.append(records.table(["calls", *columns], lines))
    for outcome in OUTCOMES:
        listed: dict[tuple[str, str], list[str]] = {}
        for name, found in calls.items():
            if found["outcome"] == outcome:
                message = found.get("message", "")
                if "instead" in found:
                    state = "" if found["form"] == "right" else ", but not for this call"
                    message += f"; `{found['instead'].rpartition('.')[0]}` has the function{state}"
                group = (name.partition(".")[0], message)
                listed.setdefault(group, []).append(name.partition(".")[2])
        if listed:
            parts.append(f"## {outcome.capitalize()}\n")
            parts.append("".join(map(bullet, listed.items())))
    parts.append("## Not called\n")
    left: dict[tuple[str, str], list[str]] = {}
    for name, reason in NOT_CALLED.items():
        left.setdefault((name.partition(".")[0], reason), []).append(name.partition(".")[2])
    parts.append("".join(map(bullet, left.items())))
    return "\n".join(parts)


def worse(found: dict[str, Found], record: dict[str, Any]) -> list[str]:
    """The calls that the record has as right, unpatched or patched, and that are not right now."""
    calls = record["calls"]
    return [
        name
        for name, each in found.items()
        for key in ("outcome", "patched")
        if calls.get(name, {}).get(key) == "right" and "right" not in (each.outcome, getattr(each, key))
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="beginnings of names of calls (default: all)"
    )
    parser.add_argument("--page", action="store_true", help="write the page from the record, and run nothing")
    options = parser.parse_args(arguments)
    if options.page:
        PAGE.write_text(page(read_record()), encoding="utf-8")
        return 0
    twice = [name for name, count in Counter(call.name for call in CALLS).items() if count > 1]
    if twice:
        parser.error(f"calls of one name: {', '.join(twice)}")
    chosen = [call for call in CALLS if not options.names or call.name.startswith(tuple(options.names))]
    # Not while SciPy is patched: a module that is imported then keeps the functions that it finds.
    for part in [
        "signal",
        "ndimage",
        "interpolate",
        "stats",
        "optimize",
        "integrate",
        "sparse.linalg",
        "spatial",
        "cluster.vq",
    ]:
        importlib.import_module(f"scipy.{part}")
    found: dict[str, Found] = {}
    xp = importlib.import_module("stride0")
    unfit = []
    for call in chosen:
        try:
            found[call.name] = each = examine_all(call, xp)
        except ValueError as error:
            print(f"no call to judge by: {error}", flush=True)
            unfit.append(call.name)
            continue
        if each.outcome != "right" or options.names:
            text = f"; patched {each.patched}{': ' if each.why else ''}{each.why}" if each.patched else ""
            print(
                f"{each.outcome:>8}  {call.name}{': ' if each.message else ''}{each.message}{text}",
                flush=True,
            )
    print({outcome: sum(each.outcome == outcome for each in found.values()) for outcome in OUTCOMES})
    patched = Counter(each.patched or each.outcome for each in found.values())
    print("patched", {outcome: patched[outcome] for outcome in OUTCOMES})
    lost = worse(found, read_record())
    if lost:
        print(f"right in the record, and no longer: {', '.join(lost)}")
    if unfit:
        return 2
    if not options.names:
        record = record_of(found)
        write_record(record)
        PAGE.write_text(page(record), encoding="utf-8")
    return (
        1 if lost or any("wrong" in (each.outcome, each.form, each.patched) for each in found.values()) else 0
    )

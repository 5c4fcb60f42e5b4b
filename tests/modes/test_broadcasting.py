"""`stride0.broadcasting`: which broadcasts are accepted, and whose calls are checked."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from free_threading import INHERITS_CONTEXT

import stride0 as xp
from stride0.autograd import grad

COLUMN, LINE, ROW = xp.ones((4, 1)), xp.ones(4), xp.ones((1, 4))
SQUARE, SCALAR = xp.ones((4, 4)), xp.asarray(2.0)
MASK = xp.ones((4, 1), dtype=xp.bool)
STACK = xp.ones((3, 2, 2))
REGULAR = xp.eye(2) + STACK

# The call; the modes that warn of it; the modes that refuse it.
CASES: dict[str, tuple[Callable[[], Any], set[str], set[str]]] = {
    "same shape": (lambda: SQUARE + SQUARE, set(), set()),
    "Python scalar": (lambda: SQUARE + 1, set(), set()),
    "Python scalar, strided": (lambda: SQUARE[:, ::2] * 2.5, set(), set()),
    "Python scalar in front": (lambda: 1.0 - SQUARE.T, set(), set()),
    "0-d array": (lambda: SQUARE + SCALAR, set(), {"exact"}),
    "column and line": (lambda: COLUMN - LINE, {"pointwise", "warn"}, {"explicit", "exact"}),
    "column and row": (lambda: COLUMN * ROW, {"pointwise", "warn"}, {"exact"}),
    "matrix and line": (lambda: SQUARE / LINE, {"warn"}, {"explicit", "exact"}),
    "matrix and row": (lambda: SQUARE < ROW, {"warn"}, {"exact"}),
    "where": (lambda: xp.where(MASK, SQUARE, 0.0), {"warn"}, {"exact"}),
    "where, line": (lambda: xp.where(MASK, LINE, 0.0), {"pointwise", "warn"}, {"explicit", "exact"}),
    "clip": (lambda: xp.clip(SQUARE, LINE, 2.0), {"warn"}, {"explicit", "exact"}),
    "clip by numbers": (lambda: xp.clip(SQUARE, 0.0, 2.0), set(), set()),
    "add, alpha": (lambda: xp.add(SQUARE, ROW, alpha=2), {"warn"}, {"exact"}),
    "matmul batches": (lambda: STACK @ STACK[:1, ...][None], {"warn"}, {"explicit", "exact"}),
    # One matrix for a stack has no axes that could be stretched by accident.
    "matmul, one matrix": (lambda: STACK @ STACK[0, ...], set(), {"exact"}),
    "matmul, same batches": (lambda: STACK @ STACK, set(), set()),
    "matmul, one stack of one": (lambda: STACK @ STACK[:1, ...], {"warn"}, {"exact"}),
    "vecdot": (lambda: xp.vecdot(SQUARE, LINE), {"warn"}, {"explicit", "exact"}),
    "solve": (lambda: xp.linalg.solve(REGULAR, STACK[:1, ...]), {"warn"}, {"exact"}),
    "cross": (lambda: xp.linalg.cross(xp.ones((2, 3)), xp.ones(3)), {"warn"}, {"explicit", "exact"}),
    "take_along_axis": (
        lambda: xp.take_along_axis(SQUARE, xp.zeros((1, 2), dtype=xp.int64), axis=1),
        {"warn"},
        {"exact"},
    ),
    "broadcast_to": (lambda: xp.broadcast_to(LINE, (4, 4)) + SQUARE, set(), set()),
    "broadcast_arrays": (lambda: xp.broadcast_arrays(COLUMN, LINE), set(), set()),
    # Broadcasts within functions of the package are not checked.
    "mean and std": (lambda: (xp.mean(SQUARE, axis=0), xp.std(SQUARE, axis=1)), set(), set()),
    "norms": (lambda: xp.linalg.matrix_norm(SQUARE, ord=2), set(), set()),
    "inv": (lambda: xp.linalg.pinv(STACK), set(), set()),
    "linspace": (lambda: xp.linspace(0, 1, 5), set(), set()),
    "meshgrid": (lambda: xp.meshgrid(LINE, LINE), set(), set()),
    "outer": (lambda: xp.linalg.outer(LINE, LINE), set(), set()),
    "searchsorted": (lambda: xp.searchsorted(LINE, SQUARE), set(), set()),
    "unique": (lambda: xp.unique_all(SQUARE), set(), set()),
    "concat": (lambda: xp.concat([SQUARE, COLUMN], axis=1), set(), set()),
    "gradient": (lambda: grad(lambda x: xp.sum(xp.mean(x, axis=0)))(SQUARE), set(), set()),
    "gradient of a stretch": (
        lambda: grad(lambda x: xp.sum(x + SQUARE))(ROW),
        {"warn"},
        {"exact"},
    ),
}


@pytest.mark.parametrize("mode", ["standard", "pointwise", "warn", "explicit", "exact"])
@pytest.mark.parametrize("name", CASES)
def test_modes(name: str, mode: Any) -> None:
    call, warned, refused = CASES[name]
    with xp.broadcasting(mode), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if mode in refused:
            with pytest.raises(xp.StretchError, match=f'stride0.broadcasting\\("{mode}"\\) is on'):
                call()
        else:
            call()
    assert bool(caught) == (mode in warned), [str(w.message) for w in caught]
    for warning in caught:
        assert warning.category is xp.BroadcastWarning
        assert warning.filename == __file__


def in_place_add(x: Any, y: Any) -> None:
    x += y


def assign(x: Any, y: Any) -> None:
    x[...] = y


@pytest.mark.parametrize("write", [in_place_add, assign])
def test_writes_obey(write: Callable[[Any, Any], None]) -> None:
    for mode, value in (("exact", ROW), ("explicit", LINE)):
        x = xp.zeros((4, 4))
        with xp.broadcasting(mode), pytest.raises(xp.BroadcastError):  # type: ignore[arg-type]
            write(x, value)
        assert not xp.any(x)
    x = xp.zeros((4, 4))
    with xp.broadcasting("exact"):
        write(x, SQUARE)
        write(x, 1)
        write(x[1:, :], 1.0)
    with xp.broadcasting("warn"), pytest.warns(xp.BroadcastWarning):
        write(x, ROW)


MEANT = "if the broadcast is meant, "


@pytest.mark.parametrize(
    ("mode", "call", "remedies"),
    [
        ("explicit", lambda: COLUMN - LINE, [f"{MEANT}write x2[None, :]", "reshape(x1, (4,))"]),
        ("explicit", lambda: xp.where(LINE > 0, COLUMN, LINE), ["condition[None, :] and x2[None, :]"]),
        ("explicit", lambda: SQUARE - ROW[0, :], [f"{MEANT}write x2[None, :]"]),
        ("exact", lambda: SQUARE - ROW, [f"{MEANT}write broadcast_to(x2, (4, 4))"]),
        ("exact", lambda: COLUMN - xp.asarray(1.0), ["broadcast_to(x2, (4, 1))"]),
        (
            "exact",
            lambda: COLUMN - LINE,
            ["broadcast_to(x1, (4, 4)) and broadcast_to(x2, (4, 4))", "reshape(x1, (4,))"],
        ),
        ("explicit", lambda: xp.ones((2, 1, 3, 3)) @ xp.ones((2, 3, 3)), [f"{MEANT}insert the missing axes"]),
    ],
)
def test_the_remedies_work(mode: Any, call: Callable[[], xp.Array], remedies: list[str]) -> None:
    with xp.broadcasting(mode), pytest.raises(xp.StretchError) as caught:
        call()
    hint = caught.value.hint()
    assert str(caught.value).endswith("\n".join(f"    {line}" for line in hint.splitlines()))
    for remedy in remedies:
        assert remedy in hint
    for line in hint.splitlines():
        for code in re.findall(r"\bx[12]\[[^]]*\]|broadcast_to\(\w+, \([^)]*\)\)", line):
            operands = dict(caught.value.operands)
            names = {name: xp.ones(shape) for name, shape in operands.items() if name.isidentifier()}
            assert eval(code, {**names, "broadcast_to": xp.broadcast_to}).ndim > 0


def test_a_written_remedy_passes() -> None:
    """Each remedy gives the result of the standard mode, or the pointwise result."""
    with xp.broadcasting("explicit"):
        assert xp.all(COLUMN - LINE[None, :] == xp.subtract(COLUMN, LINE[None, :]))
        assert (xp.reshape(COLUMN, (4,)) - LINE).shape == (4,)
    with xp.broadcasting("exact"):
        assert (SQUARE - xp.broadcast_to(ROW, (4, 4))).shape == (4, 4)


def test_once_per_line() -> None:
    with xp.broadcasting("warn"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            SQUARE + ROW
        SQUARE + ROW
    assert len(caught) == 2 and caught[1].lineno == caught[0].lineno + 1


def test_the_text() -> None:
    with xp.broadcasting("explicit"), pytest.raises(xp.BroadcastError) as caught:
        COLUMN - LINE
    assert str(caught.value) == (
        "subtract: operands have different numbers of axes\n"
        "\n"
        "    x1   (4, 1)\n"
        "    x2      (4,)\n"
        "\n"
        '    stride0.broadcasting("explicit") is on.\n'
        "    if the broadcast is meant, write x2[None, :]\n"
        "    to combine elements at equal positions, write reshape(x1, (4,))"
    )
    error = caught.value
    assert isinstance(error, xp.StretchError) and error.mode == "explicit"
    assert error.operands == (("x1", (4, 1)), ("x2", (4,)))


def test_contexts_nest_and_end() -> None:
    assert xp.broadcasting.current() == "standard"
    with xp.broadcasting("exact"):
        with xp.broadcasting("standard"):
            SQUARE + ROW
        assert xp.broadcasting.current() == "exact"
        with pytest.raises(ZeroDivisionError), xp.broadcasting("standard"):
            raise ZeroDivisionError
        with pytest.raises(xp.BroadcastError):
            SQUARE + ROW
    SQUARE + ROW
    with pytest.raises(ValueError, match="mode is 'loud'"), xp.broadcasting("loud"):  # type: ignore[arg-type]
        pass
    guard = xp.broadcasting("exact")
    with guard, guard:
        pass
    assert xp.broadcasting.current() == "standard"


def test_decorator() -> None:
    @xp.broadcasting("explicit")
    def careful() -> Any:
        return SQUARE + LINE

    with pytest.raises(xp.BroadcastError):
        careful()
    SQUARE + LINE


def test_shapes_that_do_not_broadcast_get_their_own_error() -> None:
    with xp.broadcasting("exact"), pytest.raises(xp.BroadcastError) as caught:
        xp.ones((2, 3)) + xp.ones((2, 4))
    assert not isinstance(caught.value, xp.StretchError) and caught.value.axis == -1


def test_other_threads_are_not_concerned() -> None:
    found: list[Any] = []

    def run() -> None:
        go_on.wait(30)
        found.append((xp.broadcasting.current(), (SQUARE + ROW).shape))

    go_on = threading.Event()
    thread = threading.Thread(target=run)
    thread.start()
    with xp.broadcasting("exact"):
        go_on.set()
        thread.join()
    assert found == [("standard", (4, 4))]


def test_a_thread_begins_with_the_context_that_the_interpreter_gives_it() -> None:
    found: list[str] = []
    with xp.broadcasting("exact"):
        thread = threading.Thread(target=lambda: found.append(xp.broadcasting.current()))
        thread.start()
        thread.join()
    assert found == ["exact" if INHERITS_CONTEXT else xp.broadcasting.current()]


def test_tasks_have_their_own() -> None:
    async def careful(started: asyncio.Event, go_on: asyncio.Event) -> str:
        with xp.broadcasting("exact"):
            started.set()
            await go_on.wait()
            return xp.broadcasting.current()

    async def both() -> tuple[str, str]:
        started, go_on = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(careful(started, go_on))
        await started.wait()
        mine = xp.broadcasting.current()
        go_on.set()
        return mine, await task

    assert asyncio.run(both()) == ("standard", "exact")


def test_the_default_of_the_process() -> None:
    try:
        assert xp.broadcasting.set_default("explicit") == "standard"
        with pytest.raises(xp.BroadcastError):
            SQUARE + LINE
        with xp.broadcasting("standard"):
            SQUARE + LINE
        found = []
        thread = threading.Thread(target=lambda: found.append(xp.broadcasting.current()))
        thread.start()
        thread.join()
        assert found == ["explicit"]
    finally:
        assert xp.broadcasting.set_default("standard") == "explicit"
    SQUARE + LINE


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIDE0_BROADCASTING", "exact")
    script = "import stride0 as xp; print(xp.broadcasting.current())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "exact"

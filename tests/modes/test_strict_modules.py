"""`stride0.strict` for modules by name: the code whose frame calls into the package decides."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import stride0 as xp
from stride0.testing import flags

X = xp.asarray([1.0, 2.0, 3.0])
SQUARE = xp.reshape(xp.arange(9.0), (3, 3))


def function_of(module: str, text: str = "lambda: x.sum()", **names: Any) -> Callable[..., Any]:
    """A function whose code belongs to a module of this name."""
    made: Callable[..., Any] = eval(text, {"__name__": module, "x": X, "xp": xp, "np": np, **names})
    return made


def is_refused(call: Callable[[], Any]) -> bool:
    try:
        call()
    except xp.StrictError:
        return True
    return False


def refused_of(*modules: str) -> list[bool]:
    return [is_refused(function_of(module)) for module in modules]


def test_modules() -> None:
    with xp.strict(modules=("mylib", "other.part")):
        assert refused_of("mylib", "mylib.sub.sub", "other.part", "other.part.sub") == [True] * 4
        assert refused_of("mylibrary", "my", "other", "other.parts", "scipy.mylib", "__main__") == [False] * 6
        X.sum()  # this module is another one
    with xp.strict(modules=[__name__]):
        assert is_refused(lambda: X.sum()) and not is_refused(function_of("mylib"))


def test_exempt() -> None:
    with xp.strict(exempt=("scipy", "sklearn")):
        assert refused_of("scipy", "scipy.stats._stats_py", "sklearn.cluster") == [False] * 3
        assert refused_of("scipyx", "mylib", "__main__") == [True] * 3
        assert is_refused(lambda: X.sum())


def test_both() -> None:
    with xp.strict(modules=("mylib",), exempt=("mylib.vendored",)):
        assert refused_of("mylib", "mylib.core", "mylib.vendored", "mylib.vendored.part", "other") == [
            *(True, True, False, False, False)
        ]


CALLS = {
    "method": "lambda: x.sum()",
    "attribute": "lambda: x.nbytes",
    "operator": "lambda: x + np.float64(1)",
    "in-place operator": "lambda: x.__iadd__(np.float64(0))",
    "comparison": "lambda: x == [1.0, 2.0, 3.0]",
    "function in Python": "lambda: xp.mean(x, axis=[0])",
    "compiled function": "lambda: xp.where(x > 0, 1, 2)",
    "key": "lambda: x[[0, 1]]",
    "assignment": "lambda: xp.asarray(x, copy=True).__setitem__(0, np.float64(1))",
    "length": "lambda: len(x)",
    "dtype": "lambda: xp.zeros(3, dtype=float)",
    "kind of a dtype": "lambda: x.dtype.kind",
    "name of a device": "lambda: x.device.name",
    "dtype compared": "lambda: x.dtype == float",
    "format": "lambda: f'{x[0]:.2f}'",
    "ufunc": "lambda: np.sqrt(x)",
    "function of NumPy's": "lambda: np.sum(x)",
}


@pytest.mark.parametrize("text", CALLS.values(), ids=CALLS)
def test_every_kind_of_call(text: str) -> None:
    strict, lenient = function_of("mylib.part", text), function_of("other", text)
    strict()
    for setting in (xp.strict(modules=("mylib",)), xp.strict(exempt=("other",))):
        with setting:
            lenient()
            assert is_refused(strict)


def test_can_cast_asks_for_the_caller() -> None:
    cast = "lambda: xp.can_cast(xp.int64, xp.float64)"
    with xp.strict(modules=("mylib",)):
        assert function_of("other", cast)() is True and function_of("mylib", cast)() is False


def test_the_nearest_frame_decides() -> None:
    """Only the innermost caller counts: a library between the user and the package is checked by its name."""
    helper = function_of("array_api_extra", "lambda f=None: x.sum() if f is None else f()")
    outer = function_of("mylib", "lambda: helper()", helper=helper)
    back = function_of("scipy.optimize", "lambda f: f()")
    with xp.strict(modules=("mylib",)):
        assert not is_refused(outer) and is_refused(lambda: back(function_of("mylib")))
    with xp.strict(exempt=("scipy",)):
        assert is_refused(outer) and is_refused(lambda: back(function_of("mylib")))
    with xp.strict(exempt=("scipy", "array_api_extra")):
        assert not is_refused(outer)


def test_code_in_c_has_no_frame() -> None:
    with xp.strict(modules=("mylib",)):
        assert is_refused(function_of("mylib", "lambda: list(map(len, [x]))"))
        assert not is_refused(function_of("other", "lambda: list(map(len, [x]))"))


def test_functions_of_numpy_are_passed_over() -> None:
    total, root = "lambda: np.sum(x)", "lambda: np.sqrt(x)"
    with xp.strict(exempt=("scipy",)):
        for text in (total, root):
            assert not is_refused(function_of("scipy.stats", text)) and is_refused(function_of("mylib", text))
    with xp.strict(exempt=("numpy",)):
        assert not is_refused(function_of("mylib", total)) and is_refused(function_of("mylib"))
    with xp.strict(modules=("numpy",)):
        assert is_refused(function_of("mylib", total)) and not is_refused(function_of("mylib"))


def test_current() -> None:
    here = "lambda: xp.strict.current()"
    with xp.strict(modules=("mylib",)):
        assert function_of("mylib.a", here)() is True and function_of("other", here)() is False
        assert xp.strict.current() is False
        with xp.strict():
            assert xp.strict.current() is True
        with xp.strict(False):
            assert function_of("mylib", here)() is False
    assert function_of("mylib", here)() is False


def test_decorator() -> None:
    @xp.strict(exempt=("scipy",))
    def work() -> list[bool]:
        return refused_of("scipy", "mylib")

    @xp.strict(modules=("mylib",))
    def steps() -> Iterator[list[bool]]:
        yield refused_of("scipy", "mylib")

    @xp.strict(modules=("mylib",))
    async def task() -> list[bool]:
        await asyncio.sleep(0)
        return refused_of("scipy", "mylib")

    assert work() == work() == next(steps()) == asyncio.run(task()) == [False, True]
    assert refused_of("scipy", "mylib") == [False, False]


def test_default_of_the_process() -> None:
    assert xp.strict.set_default(True, exempt=("scipy",)) is False
    try:
        found: list[list[bool]] = []
        thread = threading.Thread(target=lambda: found.append(refused_of("scipy", "mylib")))
        thread.start()
        thread.join(30)
        assert found == [[False, True]]
        before = xp.strict.set_default(True)
        assert isinstance(before, xp.strict) and refused_of("scipy", "mylib") == [True, True]
        assert xp.strict.set_default(before) is True
        assert refused_of("scipy", "mylib") == [False, True]
    finally:
        xp.strict.set_default(False)
    assert refused_of("scipy", "mylib") == [False, False]


def test_flags() -> None:
    with flags(devices=("gpu", "cpu"), strict=xp.strict(modules=("mylib",))):
        assert refused_of("scipy", "mylib") == [False, True]
        x = xp.ones(3)
        assert function_of("other", "lambda: y.sum()", y=x)().device == x.device
        with pytest.raises(xp.DeviceError):
            function_of("other", "lambda: y + z", y=x, z=X)()
    with pytest.raises(xp.ArgumentTypeError):
        flags(strict=("mylib",))  # type: ignore[arg-type]


def test_gradients() -> None:
    """Calls of exempt code and of other code."""
    loss = "lambda y: (y * y).sum()"
    with xp.strict(exempt=("scipy",)):
        slope = xp.autograd.grad(function_of("scipy", loss))(X)
        with pytest.raises(xp.StrictError):
            xp.autograd.grad(function_of("mylib", loss))(X)
    assert slope.tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ({"modules": "mylib"}, "modules is 'mylib'"),
        ({"exempt": "scipy"}, "exempt is 'scipy'"),
        ({"modules": 1}, "modules is 1"),
        ({"exempt": (np,)}, "exempt holds"),
        ({"exempt": ("scipy.",)}, "exempt holds 'scipy.'"),
        ({"exempt": ("scipy, sklearn",)}, "exempt holds"),
        ({"modules": ()}, "modules is empty"),
        ({"on": False, "exempt": ("scipy",)}, "on is False, and modules are named"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], problem: str) -> None:
    for call in (xp.strict, lambda on=True, **more: xp.strict.set_default(on, **more)):
        with pytest.raises(xp.Stride0Error, match=problem):
            call(**arguments)
    assert not xp.strict.current()


# --- in separate processes


def run(program: str, **variables: str) -> tuple[str, str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("STRIDE0_STRICT")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env={**environment, **variables},
        check=False,
    )
    return done.stdout.strip(), done.stderr


WHO = """
import stride0 as xp
x = xp.ones(3)
found = ""
for module in ("mylib.part", "scipy.stats", "__main__"):
    try:
        eval("x.sum()", {"__name__": module, "x": x})
        found += "-"
    except xp.StrictError:
        found += "s"
print(found)
"""


@pytest.mark.parametrize(
    "variables, found",
    [
        ({}, "---"),
        ({"STRIDE0_STRICT": "1"}, "sss"),
        ({"STRIDE0_STRICT_MODULES": "mylib"}, "s--"),
        ({"STRIDE0_STRICT_MODULES": "mylib, __main__", "STRIDE0_STRICT": "1"}, "s-s"),
        ({"STRIDE0_STRICT_EXEMPT": "scipy,sklearn"}, "s-s"),
        ({"STRIDE0_STRICT_EXEMPT": "scipy", "STRIDE0_STRICT": "0"}, "---"),
        ({"STRIDE0_STRICT_MODULES": "", "STRIDE0_STRICT_EXEMPT": ""}, "---"),
    ],
)
def test_environment(variables: dict[str, str], found: str) -> None:
    assert run(WHO, **variables) == (found, "")


# Functions that use more than the standard, and their arguments.
SCIPY = """
import numpy as np
import stride0 as xp
from scipy import cluster, ndimage, signal, special, stats

x = xp.asarray([1.0, 2.0, 4.0, 8.0, 3.0, 7.0, 5.0, 6.0])
grid = xp.reshape(xp.arange(24.0), (4, 6))
CALLS = {
    "zscore": lambda: stats.zscore(x),
    "ttest": lambda: stats.ttest_ind(x, x[::-1] + 1.0).pvalue,
    "skew": lambda: stats.skew(x),
    "hilbert": lambda: signal.hilbert(x),
    "detrend": lambda: signal.detrend(x),
    "sosfilt": lambda: signal.sosfilt(xp.asarray(signal.butter(2, 0.25, output="sos")), x),
    "convolve": lambda: signal.fftconvolve(grid, grid[:2, :3], mode="same"),
    "gaussian": lambda: ndimage.gaussian_filter(grid, 1.0),
    "whiten": lambda: cluster.vq.whiten(grid),
    "logsumexp": lambda: special.logsumexp(grid, axis=1),
}

refused = []
for name, call in CALLS.items():
    plain = call()
    try:
        with xp.strict():
            call()
    except xp.StrictError:
        refused.append(name)
    with xp.strict(exempt=("scipy",)):
        found = call()
        assert type(found) is type(plain), name
        try:
            x.sum()
        except xp.StrictAttributeError:
            pass
        else:
            raise AssertionError("the caller's own code")
    assert np.array_equal(np.asarray(found), np.asarray(plain)), name
    with xp.strict(modules=("mylib",)):
        call()
print(len(refused), *refused)
"""


def test_scipy_is_exempt() -> None:
    """SciPy's code uses more than the standard; if exempt, it runs; the caller's code is still checked."""
    pytest.importorskip("scipy")
    output, errors = run(SCIPY, SCIPY_ARRAY_API="1")
    assert output and int(output.split()[0]) >= 2, errors or output

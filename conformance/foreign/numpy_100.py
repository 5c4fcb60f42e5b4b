"""The answers of numpy-100 as tests: `stride0.numpy` and NumPy must compute the same values.

The working directory is a clone of https://github.com/rougier/numpy-100.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy
import pytest

import stride0
import stride0.numpy

TEXT: Final = Path("source/exercises100.ktx").read_text(encoding="utf-8")
ANSWERS: Final = dict(re.findall(r"^< a(\d+)\n(.*?)(?=^< |\Z)", TEXT, re.DOTALL | re.MULTILINE))
# Answers that continue an earlier answer, with the code that they need first.
CONTINUED: Final = {"27": "Z = np.arange(1, 11)\n"}


def variables(np: Any, code: str) -> dict[str, Any]:
    """Run an answer; return its variables. Random numbers come from one seed."""
    names = {"np": np, "__name__": "answer", "stride_tricks": np.lib.stride_tricks}
    names["sliding_window_view"] = np.lib.stride_tricks.sliding_window_view
    numpy.random.seed(1)
    package = np.__name__
    exec(re.sub(r"^(import|from) numpy\b", rf"\1 {package}", code, flags=re.MULTILINE), names)
    values = {name: x for name, x in names.items() if not callable(x) and not isinstance(x, ModuleType)}
    return {name: x for name, x in values.items() if name[0] != "_"}


def leaves(value: Any) -> Iterator[Any]:
    """Yield the arrays and numbers in nested sequences."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, (stride0.Array, numpy.ndarray, numpy.generic, bool, int, float, complex)):
        yield numpy.asarray(value)


@pytest.mark.parametrize("number", ANSWERS)
@pytest.mark.filterwarnings("ignore")
def test_answer(number: str) -> None:
    code = CONTINUED.get(number, "") + ANSWERS[number]
    try:
        wanted = variables(numpy, code)
    except Exception as error:
        pytest.skip(f"with NumPy it raises {error!r}")
    found = variables(stride0.numpy, code)
    # `from numpy import *` gives all of NumPy's names.
    assert wanted.keys() - found.keys() <= {*numpy.__all__}
    for name, value in wanted.items():
        if name not in found:
            continue
        ours, theirs = list(leaves(found[name])), list(leaves(value))
        assert len(ours) == len(theirs), name
        for x, y in zip(ours, theirs, strict=True):
            if y.dtype.kind in "fc":
                numpy.testing.assert_allclose(x, y, rtol=1e-10, err_msg=name)
            else:
                numpy.testing.assert_array_equal(x, y, err_msg=name)

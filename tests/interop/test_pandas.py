"""pandas: its types hold the elements of arrays; its operators with an array raise a clear error."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stride0 as xp

pd = pytest.importorskip("pandas", reason="the tests of pandas need it: pip install pandas")

X = xp.asarray([1.0, 2.0, 3.0])
M = xp.reshape(xp.arange(6.0), (3, 2))
ONE = xp.asarray(1)
MASK = xp.asarray([True, False, True])


def series() -> Any:
    return pd.Series([10.0, 20.0, 30.0])


def frame() -> Any:
    return pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})


# --- pandas objects from arrays


def test_series_and_frames_of_arrays() -> None:
    for made in (pd.Series(X), pd.Index(X), pd.DataFrame({"a": X})["a"], pd.DataFrame(M.T).T[0] + 1):
        assert made.dtype == np.float64 and len(made) == 3
    assert pd.Series(X).tolist() == [1.0, 2.0, 3.0]
    assert pd.DataFrame(M).equals(pd.DataFrame(np.asarray(M)))
    assert pd.array(X).dtype == "Float64"
    table = frame()
    table["c"] = X
    table.insert(0, "z", X)
    assert table.dtypes.tolist() == [np.float64] * 4 and table["c"].tolist() == [1.0, 2.0, 3.0]


def test_arrays_of_series_and_frames() -> None:
    assert np.array_equal(xp.asarray(series()), [10.0, 20.0, 30.0])
    assert np.array_equal(xp.asarray(frame()), np.asarray(frame()))
    assert X[pd.Series([True, False, True])].tolist() == [1.0, 3.0]
    assert X[pd.Series([2, 0])].tolist() == [3.0, 1.0]


def test_a_list_of_0d_arrays_is_a_series_of_objects() -> None:
    """pandas looks for a dtype among the scalars that it knows: its own, Python's and NumPy's."""
    found = pd.Series([X[0], X[1]])
    assert found.dtype == object and all(type(item) is xp.Array for item in found)
    assert float(found.sum()) == 3.0 and (found * 2).tolist() == [2.0, 4.0]
    for made in (xp.stack([X[0], X[1]]), [float(X[0]), float(X[1])], X[:2]):
        assert pd.Series(made).dtype == np.float64


# --- keys


def test_keys() -> None:
    s, table = series(), frame()
    places = xp.asarray([2, 0])
    assert s.iloc[places].tolist() == s.loc[places].tolist() == s.take(places).tolist() == [30.0, 10.0]
    assert table.iloc[places].index.tolist() == [2, 0]
    # A 0-d key has `__index__` and so counts as an integer; pandas tests the type instead.
    for key in (int(ONE), ONE.item(), operator.index(ONE)):
        assert s.iloc[key] == 20.0 and table.iloc[key, key] == 5.0
    with pytest.raises(TypeError, match="non-integer key"):
        s.iloc[ONE]
    # pandas accepts only an ndarray as a mask.
    mask = np.asarray(MASK)
    assert s[mask].tolist() == s.iloc[mask].tolist() == s.loc[mask].tolist() == [10.0, 30.0]
    assert table[mask].index.tolist() == [0, 2]
    assert s.where(MASK, 0.0).tolist() == [10.0, 0.0, 30.0]
    with pytest.raises(KeyError):
        s.loc[MASK]


def test_assignments() -> None:
    s, table = series(), frame()
    s.iloc[int(ONE)] = float(X[0])
    s[np.asarray(MASK)] = np.asarray(X)[:2]
    assert s.tolist() == [1.0, 1.0, 2.0]
    table.loc[:, "a"] = np.asarray(X) * 2
    assert table["a"].tolist() == [2.0, 4.0, 6.0]


# --- operators

ARITHMETIC: list[Callable[[Any, Any], Any]] = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.pow, divmod),
]
COMPARISONS: list[Callable[[Any, Any], Any]] = [
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
]


@pytest.mark.parametrize("call", [*ARITHMETIC, *COMPARISONS], ids=lambda call: call.__name__)
def test_operators_name_both_ways_out(call: Callable[[Any, Any], Any]) -> None:
    for theirs, kind in (
        (series(), "Series"),
        (frame(), "DataFrame"),
        (pd.Index([1.0, 2.0, 3.0]), "Index"),
    ):
        for ours in (X, M, X[0]):
            for pair in ((theirs, ours), (ours, theirs)):
                text = rf"is of type pandas\.(\w+\.)*{kind}\n.*\n.*stride0\.asarray\(x\d\) converts"
                with pytest.raises(xp.ForeignArrayError, match=text):
                    call(*pair)
    assert call(series(), np.asarray(X)) is not None
    assert call(xp.asarray(series()), X) is not None


@pytest.mark.parametrize("call", [operator.and_, operator.or_, operator.xor], ids=lambda call: call.__name__)
def test_logical_operators(call: Callable[[Any, Any], Any]) -> None:
    for pair in ((pd.Series(MASK), MASK), (MASK, pd.Series(MASK))):
        with pytest.raises(xp.ForeignArrayError, match=r"pandas\.Series"):
            call(*pair)
    assert call(pd.Series(MASK), np.asarray(MASK)).dtype == bool


def test_operators_in_place() -> None:
    for call in (operator.iadd, operator.imul, operator.isub):
        x, s = xp.asarray(X, copy=True), series()
        with pytest.raises(xp.ForeignArrayError, match=r"pandas\.Series"):
            call(x, s)
        # pandas uses NotImplemented from its operator as a result.
        with pytest.raises((xp.ForeignArrayError, AttributeError, TypeError)):
            call(s, x)
        assert x.tolist() == X.tolist() and s.tolist() == series().tolist()


def test_products_of_matrices() -> None:
    """`series @ x` is a method of pandas, which converts the array."""
    for pair in ((X, series()), (M.T, frame())):
        with pytest.raises(xp.ForeignArrayError, match=r"pandas\."):
            operator.matmul(*pair)
    assert series() @ X == series().dot(X) == 140.0


def test_functions() -> None:
    with pytest.raises(xp.ForeignArrayError, match=r"pandas\.Series"):
        xp.sin(series())
    with pytest.raises(xp.ForeignArrayError, match=r"pandas\.Series"):
        xp.add(X, series())
    assert isinstance(np.sin(series()), pd.Series)

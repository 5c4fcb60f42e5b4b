"""NumPy's ufuncs on stride0 arrays: our function if it exists, otherwise NumPy's on our memory."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import stride0 as xp
from stride0 import autograd
from stride0._compat import ufuncs as _ufuncs

MAPPED = sorted(_ufuncs.functions(), key=lambda ufunc: ufunc.__name__)
INTEGER = {"bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"}
INSIDE = {"arccos", "arcsin", "arctanh"}


def operands(ufunc: np.ufunc) -> list[np.ndarray]:
    if ufunc.__name__ in INTEGER:
        values = [np.asarray([3, 1, 5]), np.asarray([1, 2, 3])]
    elif ufunc.__name__ in INSIDE:
        values = [np.asarray([0.25, -0.5, 0.75])]
    else:
        values = [np.asarray([1.25, 2.0, 4.5]), np.asarray([2.0, 0.5, 3.0])]
    return values[: ufunc.nin]


@pytest.mark.parametrize("ufunc", MAPPED)
def test_ours(ufunc: np.ufunc) -> None:
    given = operands(ufunc)
    wanted = np.asarray(ufunc(*given))
    found = ufunc(*map(xp.asarray, given))
    assert isinstance(found, xp.Array)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-15, strict=True)
    if ufunc.nin == 2 and ufunc.signature is None:
        scalar = given[1][0]
        for left, right in (
            (given[0], scalar),
            (scalar, given[0]),
            (given[0], scalar.item()),
            (scalar.item(), given[0]),
        ):
            ours = [xp.asarray(v) if isinstance(v, np.ndarray) else v for v in (left, right)]
            found = ufunc(*ours)
            assert isinstance(found, xp.Array)
            np.testing.assert_allclose(np.asarray(found), ufunc(left, right), rtol=1e-15, strict=True)


def test_all_that_have_a_ufunc_are_mapped() -> None:
    found = {function.__name__ for function, _ in _ufuncs.functions().values()}
    assert {*_ufuncs.RENAMED.values(), "add", "exp", "matmul", "isnan", "hypot", "logaddexp"} <= found
    assert all(isinstance(getattr(np, name), np.ufunc) for name in _ufuncs.RENAMED)


def test_ufuncs_of_others_are_not_taken_for_numpys() -> None:
    special = pytest.importorskip("scipy.special", reason="SciPy has ufuncs of the same names")
    assert isinstance(special.expm1(xp.ones(3)), np.ndarray)


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.cbrt(a),
        lambda a: np.modf(a)[1],
        lambda a: np.add.reduce(a),
        lambda a: np.add.outer(a, a),
        lambda a: np.maximum.accumulate(a),
        lambda a: np.add(a, 1, out=np.zeros(3)),
        lambda a: np.add(a, 1, where=a > 2, out=np.zeros(3)),
        lambda a: np.add(a, 1, dtype=np.float32, casting="same_kind"),
    ],
)
def test_what_numpy_does_on_our_memory(call) -> None:
    values = np.asarray([1.0, 2.5, 4.0])
    found, wanted = call(xp.asarray(values)), call(values)
    assert type(found) is type(wanted)
    np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, a: np.add(x, a),
        lambda x, a: np.multiply(a, x),
        lambda x, a: np.fmod(a, x),
        lambda x, a: a + x,
        lambda x, a: divmod(a, x),
        lambda x, a: np.add(a, x, out=a),
        lambda x, a: operator.iadd(a, x),
        lambda x, a: np.add(a, a, out=x),
        lambda x, a: np.ma.masked_array(a) + x,
        lambda x, a: x * np.ma.masked_array(a),
    ],
)
def test_no_library_is_chosen(call) -> None:
    with pytest.raises(xp.ForeignArrayError):
        call(xp.ones(3), np.ones(3))


def test_arrays_without_axes_are_scalars_in_comparisons() -> None:
    # NumPy's scalars are compared as 0-d arrays.
    for two in (np.float64(2), np.int8(2), np.asarray(2)):
        found = two > xp.asarray([1.0, 3.0])
        assert isinstance(found, xp.Array) and found.tolist() == [True, False]
    with pytest.raises(xp.ForeignArrayError):
        np.asarray(2) * xp.asarray([1.0, 3.0])


def test_gradients_go_through() -> None:
    gradient = autograd.grad(lambda x: xp.sum(np.sqrt(x) * np.float64(2)))(xp.asarray([1.0, 4.0]))
    assert gradient.tolist() == [1.0, 0.5]


def test_strict_mode_looks_at_them() -> None:
    x = xp.asarray([1, 2])
    with xp.strict():
        with pytest.raises(xp.StrictError, match="a function of NumPy"):
            np.exp(xp.ones(2))
        with pytest.raises(xp.StrictError):
            np.exp(x)
        with pytest.raises(xp.StrictError):
            np.float64(2) * xp.ones(2)

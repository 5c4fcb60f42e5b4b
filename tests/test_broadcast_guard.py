"""The guard against accidental broadcasts: silent, warn or refuse."""

from __future__ import annotations

import operator
import warnings

import pytest

import stride0 as xp
from stride0.strided import broadcast_guard

ACCIDENTS = [((4, 1), (4,)), ((4,), (4, 1)), ((3, 1, 2), (1, 6, 1)), ((1, 3), (3, 1))]
MEANT = [
    ((4, 1), (3,)),
    ((4,), ()),
    ((1, 1), (1,)),
    ((4, 1), (1, 4, 1)),
    ((3, 4), (4,)),
    ((0, 1), (0,)),
    ((2, 2), (2, 2)),
]


@pytest.mark.parametrize("shapes", ACCIDENTS)
def test_refuses(shapes):
    x, y = map(xp.ones, shapes)
    expected = (x + y).shape
    with broadcast_guard("refuse"):
        for call in (
            operator.add,
            xp.less,
            lambda a, b: xp.where(a > 0, a, b),
            lambda a, b: xp.add(a, b, alpha=2),
        ):
            with pytest.raises(xp.AccidentalBroadcastError, match=r"looks like an accident") as caught:
                call(x, y)
        assert caught.value.operands[0] == ("x1", shapes[0])
    assert (x + y).shape == expected


@pytest.mark.parametrize("shapes", ACCIDENTS)
def test_warns(shapes):
    x, y = map(xp.ones, shapes)
    with broadcast_guard("warn"), pytest.warns(xp.AccidentalBroadcastWarning, match="subtract"):
        assert (x - y).shape == xp.broadcast_shapes(*shapes)


@pytest.mark.parametrize("mode", ["warn", "refuse"])
@pytest.mark.parametrize("shapes", MEANT)
def test_lets_pass_what_is_meant(shapes, mode):
    x, y = map(xp.ones, shapes)
    with broadcast_guard(mode), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (x * y).shape == xp.broadcast_shapes(*shapes)
        assert (x * 2.0).shape == x.shape


def test_modes_nest_and_are_restored_after_errors():
    x, y = xp.ones((4, 1)), xp.ones(4)
    with broadcast_guard("refuse"):
        with broadcast_guard("silent"):
            x + y
        with pytest.raises(ZeroDivisionError), broadcast_guard("silent"):
            raise ZeroDivisionError
        with pytest.raises(xp.AccidentalBroadcastError):
            x + y
    x + y
    with pytest.raises(ValueError, match="no mode 'loud'"), broadcast_guard("loud"):  # type: ignore[arg-type]
        pass


def test_a_refused_operation_changes_nothing():
    x, y = xp.ones((2, 2)), xp.ones((4, 1))
    with broadcast_guard("refuse"), pytest.raises(ValueError):
        x += xp.ones((1, 4))
    assert xp.all(x == 1) and y.shape == (4, 1)

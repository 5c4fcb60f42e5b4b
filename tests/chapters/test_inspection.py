"""Inspection."""

from __future__ import annotations

import pytest
from helpers import COMPLEX_FLOATING, DTYPES, INTEGERS, NUMERIC, REAL_FLOATING

import stride0 as xp

info = xp.__array_namespace_info__()


def test_capabilities():
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    assert xp.zeros((1,) * 64).ndim == 64
    with pytest.raises(ValueError, match="too many"):
        xp.zeros((1,) * 65)


def test_devices():
    assert isinstance(info.devices(), tuple)
    assert info.default_device() in info.devices()
    for device in info.devices():
        assert xp.zeros(1, device=device).device == device


def test_default_dtypes():
    for device in (None, *info.devices()):
        assert info.default_dtypes(device=device) == {
            "real floating": xp.float64,
            "complex floating": xp.complex128,
            "integral": xp.int64,
            "indexing": xp.int64,
        }
    assert xp.zeros(1).dtype is xp.float64
    assert xp.arange(1).dtype is xp.int64


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (None, DTYPES),
        ("bool", ["bool"]),
        ("signed integer", INTEGERS[:4]),
        ("unsigned integer", INTEGERS[4:]),
        ("integral", INTEGERS),
        ("real floating", REAL_FLOATING),
        ("complex floating", COMPLEX_FLOATING),
        ("numeric", NUMERIC),
        (("bool", "real floating"), ["bool", *REAL_FLOATING]),
        (("integral", "signed integer"), INTEGERS),
        ((), []),
    ],
)
def test_dtypes(kind, names):
    assert info.dtypes(kind=kind) == {name: getattr(xp, name) for name in names}
    assert info.dtypes(kind=kind, device=info.default_device()) == info.dtypes(kind=kind)


def test_refuses():
    with pytest.raises(ValueError, match="unknown kind"):
        info.dtypes(kind="integer")
    with pytest.raises(TypeError):
        info.dtypes(kind=3)
    for call in (info.dtypes, info.default_dtypes):
        with pytest.raises(ValueError, match="unknown device"):
            call(device="gpu")


def test_what_is_returned_can_be_changed():
    info.capabilities().clear()
    info.dtypes().clear()
    info.default_dtypes().clear()
    assert info.capabilities()
    assert info.dtypes()
    assert info.default_dtypes()

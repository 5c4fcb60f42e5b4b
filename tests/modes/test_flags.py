"""`stride0.testing.flags`: test configurations."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from free_threading import INHERITS_CONTEXT

import stride0 as xp
from stride0.testing import flags

# --- writing, shapes, versions, names


def test_read_only_arrays() -> None:
    with flags(writable=False):
        x = xp.ones(3)
        for call in (
            lambda: x.__iadd__(1),
            lambda: x.__setitem__(0, 1.0),
            lambda: x.__setitem__(x > 0, 1.0),
            lambda: xp.ones((2, 2)).__imatmul__(xp.ones((2, 2))),
            lambda: xp.put_along_axis(x, xp.asarray([0]), 1.0, 0),
        ):
            with pytest.raises(xp.WriteError, match="read-only"):
                call()
        # Functions write to their new arrays.
        assert float(xp.sum(xp.tril(xp.ones((2, 2))))) == 3.0 and float(xp.linspace(0, 1, 3)[1]) == 0.5
    x += 1
    assert float(x[0]) == 2.0


def test_memory_of_read_only_arrays() -> None:
    """Consumers of an export cannot write to it either; a copy may be written to."""
    x = xp.ones(3)
    with flags(writable=False):
        for lent in (np.asarray(x), x.__array__(), np.asarray(memoryview(x)), np.from_dlpack(x)):
            assert not lent.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                lent[0] = 5.0
        assert memoryview(x).readonly and not xp.strided.is_writable(x)
        with pytest.raises(BufferError):
            x.__dlpack__()  # the layout before 1.0 has no read-only flag
        with pytest.raises((BufferError, TypeError)):
            io.BytesIO(bytes(24)).readinto(x)
        for own in (np.array(x), np.asarray(x, copy=True), np.from_dlpack(x, copy=True)):
            own[0] = 5.0
        for protocol in (4, 5):
            y = pickle.loads(pickle.dumps(x, protocol))
            assert not xp.strided.is_writable(y)
        # pickle (Python from 3.14 on) may ask the exported buffer for its memory again.
        lent = x.__reduce_ex__(5)[1][3]
        assert not memoryview(lent).readonly
    assert float(x[0]) == 1.0
    # After the block the arrays are writable again.
    y[0] = 2.0
    np.asarray(x)[0] = 3.0
    assert float(x[0]) == 3.0 and xp.strided.is_writable(x) and not memoryview(x).readonly


def test_functions_may_write_inside_to_read_only_arrays() -> None:
    with flags(writable=False):
        x = xp.asarray([3.0, 1.0, 2.0])
        assert xp.sort(x).tolist() == [1.0, 2.0, 3.0]
        assert xp.from_dlpack(x).shape == (3,) and float(xp.linalg.inv(xp.eye(2))[0, 0]) == 1.0
        assert [float(value) for value in xp.fft.rfft(x).real] and x.tolist() == [3.0, 1.0, 2.0]


def test_no_data_dependent_shapes() -> None:
    x = xp.asarray([1.0, 0.0])
    with flags(data_dependent_shapes=False):
        for call in (
            lambda: xp.nonzero(x),
            lambda: xp.unique_all(x),
            lambda: xp.unique_counts(x),
            lambda: xp.unique_inverse(x),
            lambda: xp.unique_values(x),
            lambda: xp.repeat(x, xp.asarray([1, 2])),
            lambda: x[x > 0],
            lambda: x[(x > 0,)],
        ):
            with pytest.raises(xp.StrictError, match="data_dependent_shapes=False"):
                call()
        assert xp.repeat(x, 2).shape == (4,)
        y = xp.asarray(x, copy=True)
        y[y > 0] = 5.0
        assert float(y[0]) == 5.0
        assert not xp.__array_namespace_info__().capabilities()["data-dependent shapes"]
    with flags(boolean_indexing=False):
        for call in (lambda: x[x > 0], lambda: y.__setitem__(y > 0, 1.0)):
            with pytest.raises(xp.StrictError, match="boolean_indexing=False"):
                call()
        assert len(xp.nonzero(x)) == 1
        assert not xp.__array_namespace_info__().capabilities()["boolean indexing"]


MASKS: dict[str, Any] = {
    "array": xp.asarray([True, False, True]),
    "array in a tuple": (xp.asarray([True, False, True]),),
    "array without axes": xp.asarray(True),
    "array beside an index": (xp.asarray([True, False, True]), ...),
    "list": [True, False, True],
    "tuple in a tuple": ((True, False, True),),
    "list beside dots": ([True, False, True], ...),
    "list of arrays": [xp.asarray(True), xp.asarray(False), xp.asarray(True)],
    "list of NumPy's bools": [np.True_, np.False_, np.True_],
    "NumPy array": np.asarray([True, False, True]),
    "bool": True,
    "NumPy's bool": np.False_,
}
NO_MASKS: dict[str, Any] = {
    "integers": [0, 2],
    "an integer among bools": [True, 2, 0],
    "no index": [],
    "NumPy's integers": np.asarray([0, 1]),
    "slice and None": (None, slice(0, 2)),
}


@pytest.mark.parametrize("key", MASKS.values(), ids=MASKS)
def test_masks_of_all_sorts(key: Any) -> None:
    x = xp.ones(3)
    expected = x[key]
    for name in ("data_dependent_shapes", "boolean_indexing"):
        with flags(**{name: False}), pytest.raises(xp.StrictError, match=f"{name}=False"):
            x[key]
    with flags(boolean_indexing=False), pytest.raises(xp.StrictError, match="boolean_indexing=False"):
        x[key] = 0.0
    assert bool(xp.all(x == 1.0)) and x[key].shape == expected.shape
    with flags(data_dependent_shapes=False):
        x[key] = 0.0
    assert not bool(xp.any(x[key] > 0.0))


@pytest.mark.parametrize("key", NO_MASKS.values(), ids=NO_MASKS)
def test_keys_without_masks(key: Any) -> None:
    x = xp.ones(3)
    with flags(boolean_indexing=False, data_dependent_shapes=False):
        x[key] = x[key]


NEW = {
    "isdtype": "2022.12", "take": "2022.12", "real": "2022.12", "fft": "2022.12", "complex64": "2022.12",
    "clip": "2023.12", "hypot": "2023.12", "cumulative_sum": "2023.12", "unstack": "2023.12",
    "__array_namespace_info__": "2023.12", "count_nonzero": "2024.12", "diff": "2024.12",
    "nextafter": "2024.12", "take_along_axis": "2024.12", "isin": "2025.12", "broadcast_shapes": "2025.12",
}  # fmt: skip
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_version(version: str) -> None:
    with flags(api_version=version):
        assert xp.__array_api_version__ == version
        for name, since in NEW.items():
            assert hasattr(xp, name) is (since <= version), name
            assert (name in dir(xp)) is (since <= version), name
        assert xp.ones(1).__array_namespace__(api_version=version) is xp
        if version < "2025.12":
            with pytest.raises(ValueError, match="newer"):
                xp.ones(1).__array_namespace__(api_version="2025.12")
    assert xp.__array_api_version__ == "2025.12" and all(hasattr(xp, name) for name in NEW)


def test_what_came_later_is_refused_where_it_is_called() -> None:
    isin, diff, eig = xp.isin, xp.diff, xp.linalg.eig
    x = xp.ones(2)
    with flags(api_version="2023.12"):
        for call in (
            lambda: isin(xp.ones(2, dtype=xp.int64), 1),
            lambda: diff(x),
            lambda: eig(xp.eye(2)),
            lambda: xp.add(x, 1.0),
            lambda: xp.where(x > 0, x, 0.0),
            lambda: x[xp.asarray([0])],
            lambda: xp.fft.fftfreq(4, dtype=xp.float32),
        ):
            with pytest.raises(xp.StrictError, match="since version"):
                call()
        assert float((x + 1.0)[0]) == 2.0 and float(xp.sum(xp.clip(x, 0, 0.5))) == 1.0
    with flags(api_version="2022.12"):
        with pytest.raises(xp.StrictError):
            xp.astype(x, xp.float32, device=x.device)
        with pytest.raises(xp.StrictAttributeError):
            xp.clip  # noqa: B018
    assert float(diff(x)[0]) == 0.0


LATER: dict[str, tuple[str, Callable[[], Any], Callable[[], Any]]] = {
    "several new axes": (
        "2025.12",
        lambda: xp.expand_dims(xp.ones(2), axis=(0, 1)),
        lambda: xp.expand_dims(xp.ones(2), axis=-1),
    ),
    "negative axes permuted": (
        "2025.12",
        lambda: xp.permute_dims(xp.eye(2), (-1, 0)),
        lambda: xp.permute_dims(xp.eye(2), (1, 0)),
    ),
    "result_type with scalars": (
        "2024.12",
        lambda: xp.result_type(xp.float32, 1.0),
        lambda: xp.result_type(xp.float32, xp.ones(2)),
    ),
    "copy by DLPack": (
        "2023.12",
        lambda: xp.ones(2).__dlpack__(copy=True),
        lambda: xp.ones(2).__dlpack__(stream=None),
    ),
    "version of DLPack": ("2023.12", lambda: xp.ones(2).__dlpack__(max_version=(1, 0)), lambda: None),
    "device of DLPack": ("2023.12", lambda: xp.ones(2).__dlpack__(dl_device=(1, 0)), lambda: None),
    "complex scalar": ("2024.12", lambda: 1j - xp.ones(2), lambda: xp.ones(2) * 2),
    "complex results": ("2022.12", lambda: xp.asarray([1j]) * 1j, lambda: xp.asarray([1.0])),
    "complex dtype": ("2022.12", lambda: xp.zeros(2, dtype=COMPLEX), lambda: xp.zeros(2)),
    "complex operands": ("2022.12", lambda: abs(COMPLEX_ARRAY), lambda: abs(xp.ones(2))),
}
COMPLEX = xp.complex64
COMPLEX_ARRAY = xp.zeros(2, dtype=COMPLEX)


@pytest.mark.parametrize("name, later", [("mean", "complex"), ("conj", "real"), ("real", "real")])
def test_dtypes_of_arguments_that_came_later(name: str, later: str) -> None:
    """Complex numbers came with 2022.12; these functions accept them completely since 2024.12."""
    function = getattr(xp, name)
    arrays = {"real": xp.ones(2), "complex": xp.ones(2, dtype=xp.complex64)}
    before = arrays["real" if later == "complex" else "complex"]
    for version in VERSIONS[1:]:
        with flags(api_version=version):
            function(before)
            if version >= "2024.12":
                function(arrays[later])
            else:
                with pytest.raises(xp.StrictError, match=f"{name}: x is of a {later} dtype") as caught:
                    function(arrays[later])
                assert caught.value.sentence == "in it since version 2024.12"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("since, call, before", LATER.values(), ids=LATER)
def test_forms_of_arguments_that_came_later(
    version: str, since: str, call: Callable[[], Any], before: Callable[[], Any]
) -> None:
    with flags(api_version=version):
        before()
        if version >= since:
            call()
        else:
            with pytest.raises(xp.StrictError, match=f"since version {since}"):
                call()


def test_other_libraries_manage_with_an_older_dlpack() -> None:
    with flags(api_version="2022.12"):
        x = xp.ones(2)
        assert np.from_dlpack(x).tolist() == [1.0, 1.0] and xp.from_dlpack(x).shape == (2,)


def test_extensions() -> None:
    inverse = xp.linalg.inv
    with flags(extensions=("fft",)):
        assert not hasattr(xp, "linalg") and hasattr(xp, "fft")
        with pytest.raises(xp.StrictError, match="extension"):
            inverse(xp.eye(2))
        assert (xp.eye(2) @ xp.ones(2)).shape == (2,)
    assert inverse(xp.eye(2)).shape == (2, 2)


def test_strict_names() -> None:
    with flags(strict_names=True):
        shown = {name for name in dir(xp) if not name.startswith("_")}
        assert {"add", "linalg", "float32", "pi", "newaxis"} <= shown
        assert not {"strided", "autograd", "explain", "Array", "StrictError", "testing"} & shown
        for name in ("strided", "autograd", "broadcasting", "Array"):
            with pytest.raises(AttributeError):
                getattr(xp, name)
        assert not hasattr(xp.linalg, "LinAlgError") and hasattr(xp.linalg, "inv")
        assert all(hasattr(xp, name) for name in shown)
    assert hasattr(xp, "strided")


def test_strict_as_a_flag() -> None:
    x = xp.ones(3, dtype=xp.int64)
    with flags(strict=True):
        with pytest.raises(xp.StrictError):
            x + 1.5
        with xp.strict(False):
            x + 1.5
    with xp.strict(), flags(strict=False):
        x + 1.5
    x + 1.5


# --- the block itself


def test_blocks_replace_each_other() -> None:
    with flags(float64=False):
        with flags(writable=False):
            assert xp.ones(2).dtype is xp.float64
        assert xp.ones(2).dtype is xp.float32
    assert xp.ones(2).dtype is xp.float64


def test_left_by_an_exception() -> None:
    with pytest.raises(KeyError), flags(float64=False, api_version="2022.12", strict=True):
        raise KeyError
    assert xp.ones(2).dtype is xp.float64 and hasattr(xp, "clip") and not xp.strict.current()
    assert type(xp) is type(sys)


def test_decorator_and_threads() -> None:
    barrier = threading.Barrier(3)
    found = []

    @flags(default_float="float32", strict=True)
    def work() -> None:
        barrier.wait(30)
        found.append((xp.ones(2).dtype, xp.strict.current()))
        barrier.wait(30)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [(xp.float32, True)] * 3
    assert xp.ones(2).dtype is xp.float64 and type(xp) is type(sys)


@pytest.mark.parametrize("everywhere", [False, True])
def test_other_threads(everywhere: bool) -> None:
    found = []
    with flags(float64=False, strict=True, everywhere=everywhere):
        thread = threading.Thread(target=lambda: found.append((xp.ones(2).dtype, xp.strict.current())))
        thread.start()
        thread.join(30)
        assert xp.ones(2).dtype is xp.float32
    assert found == [(xp.float32, True) if everywhere or INHERITS_CONTEXT else (xp.float64, False)]
    assert xp.ones(2).dtype is xp.float64 and not xp.strict.current()


@pytest.mark.parametrize(
    "given",
    [
        {"devices": ()},
        {"devices": "cpu"},
        {"devices": ("",)},
        {"devices": ("cpu", "cpu")},
        {"default_float": "float16"},
        {"default_int": xp.int8},
        {"default_complex": xp.float32},
        {"float64": False, "default_float": "float64"},
        {"api_version": "2020.12"},
        {"extensions": ("random",)},
        {"writable": None},
        {"strict": "yes"},
        {"everywhere": 1},
    ],
    ids=str,
)
def test_flags_that_are_none(given: dict[str, Any]) -> None:
    with pytest.raises((xp.ArgumentValueError, xp.ArgumentTypeError), match="flags"):
        flags(**given)


def test_a_configuration_costs_nothing_before_it_is_used() -> None:
    """Its modules are not imported, and the namespace is a plain module."""
    program = (
        "import sys, stride0 as xp; assert type(xp) is type(sys); "
        "assert 'stride0.testing._flags' not in sys.modules; print(xp.ones(2).device.name)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "cpu"

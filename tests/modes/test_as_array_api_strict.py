"""`stride0.testing.as_array_api_strict`: the interface of array-api-strict, in separate processes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

pytest_plugins = ["pytester"]

BEGIN = """
from stride0.testing import as_array_api_strict
as_array_api_strict()
import array_api_strict as xp
def raises(error, call):
    try:
        call()
    except error:
        return
    except Exception as other:
        raise AssertionError(f"{other!r}") from None
    raise AssertionError("nothing was raised")
"""


def run(text: str, begin: str = BEGIN, **variables: str) -> str:
    """The output of a program in a separate process."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("STRIDE0_")}
    done = subprocess.run(
        [sys.executable, "-c", begin + textwrap.dedent(text)],
        env={**environment, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_example() -> None:
    run(
        """
    import doctest, stride0
    found = doctest.DocTestFinder().find(
        stride0.testing.as_array_api_strict, "example", globs={"xp": stride0})
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert found[0].examples and not runner.run(found[0]).failed
    """,
        begin="",
    )


def test_names() -> None:
    run("""
    import stride0, importlib.util
    from stride0._tables.standard import names_of
    assert names_of() <= {*dir(xp)} and names_of() <= {*xp.__all__}
    assert not hasattr(xp, "strided") and not hasattr(xp, "nansum") and not hasattr(xp.linalg, "lstsq")
    assert xp.Array is stride0.Array and xp.__name__ == "array_api_strict"
    assert xp.__version__[0].isdigit() and importlib.util.find_spec("array_api_strict") is xp.__spec__
    from array_api_strict._devices import ALL_DEVICES, CPU_DEVICE, Device
    from array_api_strict._array_object import Array
    assert ALL_DEVICES == xp.ALL_DEVICES and len(ALL_DEVICES) == 5 and CPU_DEVICE == Device()
    space = {}
    exec("from array_api_strict import *", space)
    assert space["linalg"].inv(xp.eye(2)).__array_namespace__() is xp
    """)


def test_metadata() -> None:
    """The release that the module has, whether or not array-api-strict is installed."""
    run("""
    import importlib.metadata as metadata, sys
    for name in ("array_api_strict", "array-api-strict"):
        assert metadata.version(name) == xp.__version__
    assert "array-api-strict" in {found.name for found in metadata.distributions()}
    assert metadata.version("numpy").startswith("2.") and metadata.metadata("array_api_strict")["Name"]
    finders = len(sys.meta_path)
    as_array_api_strict()
    assert len(sys.meta_path) == finders
    as_array_api_strict(False)
    assert len(sys.meta_path) == finders - 1
    """)


def test_devices() -> None:
    run("""
    assert xp.ones(2).device == xp.Device() == xp.Device("CPU_DEVICE")
    assert isinstance(xp.ones(2).device, xp.Device)
    raises(ValueError, lambda: xp.Device("cpu"))
    raises(ValueError, lambda: xp.ones(2, device="cpu"))
    raises(ValueError, lambda: xp.ones(2, dtype=float))
    raises(ValueError, lambda: xp.ones(2).to_device("device1"))
    raises(ValueError, lambda: xp.ones(2) + xp.ones(2, device=xp.Device("device1")))
    raises(ValueError, lambda: xp.ones(2, device=xp.Device("no_float64"), dtype=xp.float64))
    found = [(x.dtype.__str__(), xp.arange(2, device=x.device).dtype.__str__())
             for x in (xp.ones(2, device=device) for device in xp.ALL_DEVICES)]
    assert found == [("float64", "int64"), ("float64", "int64"), ("float32", "int64"),
                     ("float32", "int64"), ("float32", "int32")], found
    """)


def test_types_of_errors() -> None:
    run("""
    import numpy as np
    x = xp.ones((2, 3))
    for key in (0, slice(0, 4), [0], None, True, "a", (..., xp.asarray([True, False, True]))):
        raises(IndexError, lambda: x[key])
    for call in (lambda: xp.exp(xp.asarray(1)), lambda: xp.asarray(1) + xp.asarray(1.0),
                 lambda: x + np.float64(1), lambda: xp.asarray([1]) + 1.0, lambda: x.sum(),
                 lambda: iter(x), lambda: xp.sum(x, axis=[0])):
        raises(TypeError, call)
    def assign(value):
        xp.ones(2, dtype=xp.int64)[0] = value
    for value in (1.5, xp.asarray(1.5), np.float64(1)):
        raises(TypeError, lambda: assign(value))
        try:
            assign(value)
        except Exception as error:
            assert not isinstance(error, IndexError)
    raises(OverflowError, lambda: xp.asarray([1], dtype=xp.int8) + 300)
    """)


def test_flags() -> None:
    run("""
    import warnings
    before = {"api_version": "2025.12", "boolean_indexing": True, "data_dependent_shapes": True,
              "enabled_extensions": ("linalg", "fft")}
    x = xp.asarray([0, 1])
    assert xp.get_array_api_strict_flags() == before
    with xp.ArrayAPIStrictFlags(data_dependent_shapes=False):
        raises(RuntimeError, lambda: xp.unique_values(x))
        raises(RuntimeError, lambda: xp.nonzero(x))
        assert x[x == 0].shape == (1,)
        with xp.ArrayAPIStrictFlags(boolean_indexing=False, enabled_extensions=("fft",)):
            raises(RuntimeError, lambda: x[x == 0])
            raises(AttributeError, lambda: xp.linalg)
            assert "linalg" not in xp.__all__ and xp.fft
        assert x[x == 0].shape == (1,) and "linalg" in xp.__all__
    assert xp.get_array_api_strict_flags() == before
    info = xp.__array_namespace_info__()
    assert info.devices() == xp.ALL_DEVICES and info.capabilities()["boolean indexing"] is True
    xp.set_array_api_strict_flags(api_version="2024.12")
    assert info.devices() == list(xp.ALL_DEVICES)
    xp.set_array_api_strict_flags(api_version="2022.12")
    raises(RuntimeError, xp.__array_namespace_info__)
    assert xp.__array_api_version__ == "2022.12" == xp.get_array_api_strict_flags()["api_version"]
    raises(RuntimeError, lambda: xp.diff(x))
    raises(RuntimeError, lambda: xp.maximum(x, x))
    assert x.__array_namespace__(api_version="2023.12") is xp and xp.__array_api_version__ == "2023.12"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        xp.set_array_api_strict_flags(api_version="2021.12")
    assert len(said) == 1 and not hasattr(xp, "fft") and hasattr(xp, "linalg")
    for wrong in ({"api_version": "2020.12"}, {"enabled_extensions": ("linalg", "dft")},
                  {"enabled_extensions": ("fft",)}):
        raises(ValueError, lambda: xp.set_array_api_strict_flags(**wrong))
    xp.reset_array_api_strict_flags()
    assert xp.get_array_api_strict_flags() == before
    """)


def test_versions_one_after_the_other() -> None:
    """Blocks over all versions, objects used twice, and settings within a block leave the first flags."""
    run("""
    import warnings
    warnings.simplefilter("ignore")
    before = xp.get_array_api_strict_flags()
    versions = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12", "2026.12")
    for flags in [xp.ArrayAPIStrictFlags(api_version=version) for version in versions]:
        with flags:
            with flags:
                pass
            assert xp.get_array_api_strict_flags() == before
        for version in versions:
            with flags:
                xp.set_array_api_strict_flags(api_version=version, boolean_indexing=False)
                assert xp.__array_api_version__ == version and xp.__all__ == sorted(xp.__all__)
            assert xp.get_array_api_strict_flags() == before
    info = xp.__array_namespace_info__()
    for version in versions:
        with xp.ArrayAPIStrictFlags(api_version=version):
            if version < "2023.12":
                for call in (info.capabilities, info.devices, info.default_device, info.dtypes):
                    raises(RuntimeError, call)
            else:
                assert ("max dimensions" in info.capabilities()) == (version >= "2024.12")
            # As the warning says, 2021.12 is 2022.12 without the extension fft.
            assert xp.ones(2, dtype=xp.complex64).shape == (2,)
    raises(TypeError, lambda: xp.ArrayAPIStrictFlags(version="2023.12"))
    raises(TypeError, lambda: xp.ArrayAPIStrictFlags("2023.12"))
    """)


def test_variables_of_array_api_strict() -> None:
    text = "print(xp.get_array_api_strict_flags())"
    found = run(
        text,
        ARRAY_API_STRICT_API_VERSION="2023.12",
        ARRAY_API_STRICT_ENABLED_EXTENSIONS="linalg",
        ARRAY_API_STRICT_BOOLEAN_INDEXING="false",
    )
    assert found == str(
        {
            "api_version": "2023.12",
            "boolean_indexing": False,
            "data_dependent_shapes": True,
            "enabled_extensions": ("linalg",),
        }
    )


def test_only_modules_under_test_are_judged() -> None:
    """By names of modules, and by the variable; calls of a library may be exempt."""
    text = """
    x = xp.ones((2, 3))
    other = eval("lambda x: x[0]", {"__name__": "scipy.stats"})
    mine = eval("lambda x: x[0]", {"__name__": "mylib.part"})
    assert other(x).shape == (3,)
    raises(IndexError, lambda: mine(x))
    """
    run(text, STRIDE0_STRICT_MODULES="mylib")
    run(text, STRIDE0_STRICT_EXEMPT="scipy")
    run(text, BEGIN.replace("strict()", 'strict(modules=("mylib",))'))


def test_taking_it_back() -> None:
    run("""
    import sys, stride0
    module = as_array_api_strict(False)
    assert module is xp and not [name for name in sys.modules if name.startswith("array_api_strict")]
    x = stride0.ones((2, 3))
    assert x.__array_namespace__() is stride0 and x[0].shape == (3,) and x.device == stride0.Device("cpu")
    with stride0.strict():
        try:
            x[0]
        except stride0.StrictError as error:
            assert type(error) is stride0.StrictError
    assert as_array_api_strict() is as_array_api_strict.__globals__["sys"].modules["array_api_strict"]
    """)


def test_after_the_original() -> None:
    pytest.importorskip("array_api_strict")
    run(
        """
    import array_api_strict
    import stride0
    try:
        stride0.testing.as_array_api_strict()
    except ValueError as error:
        assert "is already imported" in str(error)
    else:
        raise AssertionError
    assert stride0.ones(1).__array_namespace__() is stride0
    """,
        begin="",
    )


def test_array_api_compat_knows_it() -> None:
    pytest.importorskip("array_api_compat")
    run("""
    import array_api_compat as compat
    x = xp.ones((2, 3), device=xp.Device("device1"))
    assert compat.array_namespace(x) is xp and compat.is_array_api_strict_namespace(xp)
    assert compat.device(x) == x.device and compat.to_device(x, xp.Device()).device == xp.Device()
    """)


@pytest.mark.parametrize(
    "options, variables",
    [
        (("-p", "stride0.strict"), {}),
        (("-p", "pytest_stride0"), {"STRIDE0_AS_ARRAY_API_STRICT": "1"}),
    ],
)
def test_in_pytest(pytester, monkeypatch, options: tuple[str, ...], variables: dict[str, str]) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    pytester.makeconftest("import array_api_strict")
    pytester.makepyfile("""
        import stride0
        import array_api_strict as xp

        def test_it():
            assert xp.Array is stride0.Array and isinstance(stride0.strict, type)

        def test_bad():
            xp.ones((2, 3))[0]
    """)
    result = pytester.runpytest_subprocess(*options, "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    assert "StrictIndexError" in "\n".join(result.outlines)


def test_import_of_the_package_alone() -> None:
    text = "import stride0, array_api_strict; print(array_api_strict.Array is stride0.Array)"
    assert run(text, begin="", STRIDE0_AS_ARRAY_API_STRICT="1") == "True"
    assert run("import stride0, sys; print('stride0.testing' in sys.modules)", begin="") == "False"

"""The pytest plugin, in a separate run of pytest."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

WHO = """
    import pytest

    def test_who(xp, xp_config):
        x = xp.ones(2)
        print(f" {xp_config}: {x.dtype} {x.device} {xp.__array_api_version__}")
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run the tests of a text with only this plugin."""
    # Only the plugin.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def runner(text: str, *options: str, ini: str = ""):
        pytester.makeini(f"[pytest]\n{ini}")
        pytester.makepyfile(text)
        return pytester.runpytest_subprocess("-p", "pytest_stride0", "-p", "no:cacheprovider", "-s", *options)

    return runner


def said(result) -> list[str]:
    """The output of `test_who`."""
    return sorted(re.findall(r"([\w.-]+: float\d+ \w+ \d+\.\d+)$", "\n".join(result.outlines), re.MULTILINE))


def test_configurations_by_default(run):
    result = run(WHO)
    result.assert_outcomes(passed=6)
    assert said(result) == [
        "default: float64 cpu 2025.12",
        "devices: float64 virtual 2025.12",
        "float32: float32 cpu 2025.12",
        "readonly: float64 cpu 2025.12",
        "static-shapes: float64 cpu 2025.12",
        "strict: float64 cpu 2025.12",
    ]


def test_command_line(run):
    result = run(WHO, "--xp-configs=float32, 2022.12")
    result.assert_outcomes(passed=2)
    assert said(result) == ["2022.12: float64 cpu 2022.12", "float32: float32 cpu 2025.12"]
    run(WHO, "--xp-configs=all").assert_outcomes(passed=15)


def test_ini_file(run):
    ini = 'xp_configs =\n    default\n    gpu: devices=("gpu", "cpu"), float64=False\n'
    result = run(WHO, ini=ini)
    result.assert_outcomes(passed=2)
    assert said(result) == ["default: float64 cpu 2025.12", "gpu: float32 gpu 2025.12"]
    # The command line chooses among the configurations of the file and of the plugin.
    result = run(WHO, "--xp-configs=gpu,readonly", ini=ini)
    assert said(result) == ["gpu: float32 gpu 2025.12", "readonly: float64 cpu 2025.12"]


@pytest.mark.parametrize(
    "options, ini, complaint",
    [
        (["--xp-configs=fast"], "", "there is no configuration 'fast'"),
        ([], "xp_configs = mine: writable", "is not of the form"),
        ([], "xp_configs = mine: writable=print()", "is not of the form"),
        ([], "xp_configs = mine: colour='red'", "mine: "),
        ([], "xp_configs = mine: colour='red'", "unexpected keyword argument 'colour'"),
        ([], "xp_configs = mine: writable=3", "mine: flags: writable is 3"),
        ([], "xp_configs = mine: devices=()", "mine: flags: devices is ()"),
        ([], "xp_configs = mine: default_float='float16'", "mine: flags: default_float is 'float16'"),
        (["--xp-configs=default"], "xp_configs = mine: api_version='1999'", "mine: flags: api_version is"),
    ],
)
def test_mistakes(run, options, ini, complaint):
    result = run(WHO, *options, ini=ini)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert complaint in "\n".join(result.errlines)


def test_markers(run):
    result = run(
        """
        import pytest

        @pytest.mark.xp_skip("readonly", "float32", reason="writes in place")
        def test_writes(xp):
            x = xp.ones(2)
            x += 1

        @pytest.mark.xp_only("default")
        def test_alone(xp):
            assert xp.ones(2).dtype == xp.float64

        def test_without(request):
            assert "xp" not in request.fixturenames
        """,
        "-rs",
        "--strict-markers",
    )
    result.assert_outcomes(passed=4 + 1 + 1, skipped=2 + 5)
    assert "xp_skip: writes in place" in "\n".join(result.outlines)
    result = run("import pytest\n@pytest.mark.xp_skip('typo')\ndef test(xp): pass", "--xp-configs=default")
    result.assert_outcomes(errors=1)
    assert "there is no configuration 'typo'" in "\n".join(result.outlines)


@pytest.mark.parametrize("mark", ["xp_skip()", "xp_only", "xp_skip(reason='of no configuration')"])
def test_markers_without_names(run, mark):
    result = run(f"import pytest\n@pytest.mark.{mark}\ndef test(xp): pass", "--xp-configs=default")
    result.assert_outcomes(errors=1)
    assert f"{mark.partition('(')[0]}: no configuration is named" in "\n".join(result.outlines)


def test_failures_are_those_of_the_configuration(run):
    result = run(
        """
        def test_mean_in_place(xp):
            x = xp.asarray([1.0, 2.0])
            x[0] = 3.0
            assert float(xp.sum(x)) == 5.0

        def test_mixed_kinds(xp):
            assert float(xp.sum(xp.asarray([1, 2]) * 0.5)) == 1.5
        """,
        "-rf",
    )
    result.assert_outcomes(passed=10, failed=2)
    text = "\n".join(result.outlines)
    assert "FAILED" in text and "test_mean_in_place[readonly]" in text and "test_mixed_kinds[strict]" in text


def test_every_thread_of_a_test(run):
    run(
        """
        import threading

        def test_thread(xp):
            found = []
            thread = threading.Thread(target=lambda: found.append(xp.ones(1).dtype))
            thread.start()
            thread.join()
            assert found == [xp.float32]
        """,
        "--xp-configs=float32",
    ).assert_outcomes(passed=1)


def test_nothing_is_left_behind(run):
    run(
        """
        import sys
        import stride0

        def test_inside(xp, xp_config):
            pass

        def test_after():
            assert type(stride0) is type(sys) and not stride0.strict.current()
            assert stride0.ones(1).dtype is stride0.float64 and hasattr(stride0, "clip")
        """,
        "--xp-configs=all",
    ).assert_outcomes(passed=16)


def test_marks_of_scipy(run):
    """Tests that are written for SciPy's fixture `xp` run with this one, with their marks."""
    result = run(
        """
        import pytest

        skip_xp_backends = pytest.mark.skip_xp_backends
        xfail_xp_backends = pytest.mark.xfail_xp_backends
        pytestmark = pytest.mark.array_api_backends

        @skip_xp_backends("dask.array", reason="no such function there")
        def test_elsewhere(xp):
            assert xp.ones(2).shape == (2,)

        @skip_xp_backends("stride0", reason="not here")
        def test_not_here(xp):
            raise AssertionError

        @skip_xp_backends(np_only=True, reason="compiled for NumPy")
        def test_numpy_only(xp):
            raise AssertionError

        @skip_xp_backends(np_only=True, exceptions=["stride0"])
        def test_numpy_and_this(xp):
            pass

        @skip_xp_backends(cpu_only=True)
        def test_cpu(xp):
            assert str(xp.ones(1).device) == "cpu"

        @skip_xp_backends(eager_only=True)
        def test_eager(xp):
            assert float(xp.asarray(1.5)) == 1.5

        @xfail_xp_backends(eager_only=True, reason="asks for the value")
        def test_value(xp):
            assert float(xp.asarray(1.5)) == 1.5

        @xfail_xp_backends("stride0")
        def test_fails(xp):
            raise AssertionError
        """,
        "--xp-configs=default,devices,lazy",
        "-rsx",
        "--strict-markers",
    )
    result.assert_outcomes(passed=3 + 3 + 2 + 2 + 2, skipped=3 + 3 + 1 + 1, xfailed=1 + 3)
    text = "\n".join(result.outlines)
    assert "compiled for NumPy" in text and "asks for the value" in text and "cpu_only" in text


def test_all_configurations_in_parallel(run):
    pytest.importorskip("xdist", reason="this needs pytest-xdist: pip install pytest-xdist")
    result = run(
        """
        import threading
        import pytest

        @pytest.mark.parametrize("count", [1, 2, 3])
        def test_sum(xp, xp_config, count):
            x = xp.arange(1.0, count + 1.0)
            total = xp.sum(x)
            if xp_config != "lazy":
                assert float(total) == count * (count + 1) / 2

        def test_threads(xp, xp_config):
            found = []
            threads = [threading.Thread(target=lambda: found.append(xp.ones(1).dtype)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == [xp.ones(1).dtype] * 2
        """,
        "-p",
        "xdist.plugin",
        "-n",
        "2",
        "--xp-configs=all",
    )
    result.assert_outcomes(passed=4 * 15)
    assert "2 workers" in "\n".join(result.outlines)


def test_the_configuration_for_those_who_move_from_array_api_strict(run):
    guide = Path(__file__).resolve().parents[2] / "docs" / "migrate" / "array-api-strict.md"
    blocks = re.findall(r"^```ini\n\[pytest\]\n(.*?)^```$", guide.read_text(), re.M | re.S)
    (ini,) = [block for block in blocks if "as-before" in block]
    result = run(
        """
        import pytest

        @pytest.mark.xp_only("as-before")
        def test_devices(xp):
            info = xp.__array_namespace_info__()
            assert [str(device) for device in info.devices()] == [
                "cpu", "device1", "device2", "no_float64", "no_x64",
            ]
            default, _, device2, no_float64, no_x64 = info.devices()
            assert xp.ones(1).device == default and xp.ones(1, device=device2).dtype == xp.float32
            assert "float64" not in info.dtypes(device=no_float64)
            assert "int64" not in info.dtypes(device=no_x64)
            with pytest.raises(TypeError):
                xp.ones(1, dtype=xp.int64) + 1.5
            assert not hasattr(xp, "strided")
        """,
        ini=ini,
    )
    result.assert_outcomes(passed=1, skipped=1)


def test_a_fixture_of_the_same_name_comes_first(run):
    run(
        """
        import pytest

        @pytest.fixture(params=[1, 2])
        def xp(request):
            return request.param

        def test_mine(xp):
            assert xp in (1, 2)

        @pytest.mark.parametrize("xp", [3])
        def test_parameter(xp):
            assert xp == 3
        """
    ).assert_outcomes(passed=3)


def test_pytest_starts_without_the_package():
    program = """
import sys, pytest, pytest_stride0
code = pytest.main(["-p", "no:cacheprovider", "--markers"], [pytest_stride0])
assert code == 0 and "stride0" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "xp_skip" in done.stdout, done.stderr

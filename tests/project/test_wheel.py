"""The requirements of a wheel on its machine, read from the libraries under test."""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

import pytest

from stride0._core.kernels import _cpu

FILES = sorted(Path(_cpu.__file__).parents[2].rglob("*.so"))
LIBRARIES = [file for file in FILES if file.read_bytes().startswith(b"\x7fELF")]
OLDEST = (2, 28)  # the glibc of manylinux_2_28, which the wheels require


def test_libraries_are_found() -> None:
    assert len(LIBRARIES) > 20 or sys.platform != "linux"


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="not a processor of the wheels")
@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.name.partition(".")[0])
def test_symbols_are_those_of_an_old_glibc(library: Path) -> None:
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)", library.read_bytes())
    newer = [version for version in versions if (int(version[0]), int(version[1])) > OLDEST]
    assert newer == []


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda path: path.name.partition(".")[0])
def test_no_library_of_threads_is_brought_along(library: Path) -> None:
    assert re.search(rb"\0lib(gomp|omp|iomp5|tbb)[-.\w]*\.so", library.read_bytes()) is None

"""``python -m stride0`` as a program: a closed pipe ends it without an error, as Unix tools do."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COMMANDS = [
    ("explain", "(5,6)", "(10,)"),
    ("explain", "(8,1,6,1)", "(7,1,5)"),
    ("explain", "(3,)", "(3,)", "--op", "add"),
    ("explain", "--help"),
    ("--help",),
    ("--version",),
]


def started(arguments: tuple[str, ...], stdout: int, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, "-m", "stride0", *arguments]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.skipif(os.name != "posix", reason="pipes as Unix has them")
@pytest.mark.parametrize("options", [(), ("-u",)], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_closed_pipe(arguments: tuple[str, ...], options: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = started(arguments, writer, *options)
    finally:
        os.close(writer)
    assert done.stderr == ""
    # argparse itself ignores that help cannot be written, if that fails at once.
    assert done.returncode == 141 or (done.returncode == 0 and arguments[-1] in ("--help", "--version"))


def test_open_pipe() -> None:
    done = started(COMMANDS[0], subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "") and "axis" in done.stdout
    assert started(("explain", "x"), subprocess.PIPE).returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device without space")
@pytest.mark.parametrize("options", [(), ("-u",)], ids=["buffered", "unbuffered"])
def test_full_device(options: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as device:
        done = started(COMMANDS[0], device.fileno(), *options)
    assert done.returncode == 1
    assert done.stderr == "python -m stride0: writing the output failed: No space left on device\n"

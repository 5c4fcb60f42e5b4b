"""The command line: ``explain "(5,6)" "(10,)"`` explains a broadcast, ``bench`` measures speed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from stride0._base.errors import Stride0Error
from stride0._base.shapes import Shape
from stride0._explain.explain import explain
from stride0._version import __version__

__all__ = ["main"]

# The exit status that a shell reports for a program ended by SIGPIPE.
CLOSED_PIPE = 128 + 13

_EXPLAIN = """\
Show how shapes broadcast: aligned, broadcast axes, strides, memory and loops; or the axis that fails and
every inserted axis that makes them fit. Shapes are those of float64 arrays in C order."""

_BENCH = """\
Time 25 calls of stride0, of NumPy, and of PyTorch and JAX if they are installed, in alternating rounds.
Compare them with loops that read, copy, add or multiply as fast as this processor can.
It takes less than a minute."""


def shape(text: str) -> Shape:
    """Read a shape: ``(5, 6)``, ``(10,)``, ``()``, or the same without parentheses."""
    inner = text.strip()
    if inner.startswith("(") and inner.endswith(")"):
        inner = inner[1:-1]
    elif not inner:
        raise argparse.ArgumentTypeError("the shape is empty; write () for the shape of a number")
    entries = inner.split(",")
    if not entries[-1].strip():
        entries.pop()  # the comma after a single size, or no sizes at all
    try:
        return tuple(int(entry) for entry in entries)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a shape; write it like (5, 6), (10,) or ()"
        ) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; SystemExit for invalid arguments."""
    parser = argparse.ArgumentParser(prog="python -m stride0", description="The Python Array API standard.")
    parser.add_argument("--version", action="version", version=f"stride0 {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    command = commands.add_parser("explain", help="how shapes broadcast, or why not", description=_EXPLAIN)
    command.add_argument("shapes", nargs="+", type=shape, metavar="shape", help='such as "(8, 1, 5)"')
    command.add_argument("--op", metavar="name", help="the operation: add, where, matmul, ...")
    command.add_argument("--svg", metavar="file", help="save the picture too")
    measure = commands.add_parser(
        "bench", help="times of stride0 and its peers on this machine", description=_BENCH
    )
    measure.add_argument("--threads", type=int, default=1, metavar="n", help="threads of each library (1)")
    given = parser.parse_args(arguments)
    if given.command == "bench":
        if given.threads < 1:
            measure.error(f"{given.threads} threads; type a number of at least 1")
        from stride0._bench.run import bench

        return bench(given.threads)
    try:
        explanation = explain(*given.shapes, op=given.op)
    except Stride0Error as error:
        command.error(f"{error.problem}{f' ({error.accepts})' if error.accepts else ''}")
    if given.svg is not None:
        try:
            explanation.svg(given.svg)
        except OSError as error:
            command.error(f"{given.svg}: {error.strerror}")
    print(explanation)
    return 0


def run() -> int:
    """Run the command line as a program; end quietly if the reader of its output is gone."""
    try:
        try:
            return main()
        finally:
            # Also after help, which ends in SystemExit: Python prints a traceback if its own flush fails.
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        # Python flushes the stream once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return CLOSED_PIPE
        print(f"python -m stride0: writing the output failed: {error.strerror}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(run())

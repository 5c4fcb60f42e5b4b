"""`python -m benchmarks NAME [options]` runs a program of README.md; `python -m benchmarks` lists them."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

ROW = re.compile(r"^\| \[`(.+?)`\]\((.+?)\.py\) \| (.*) \|$", re.MULTILINE)


def programs(package: str) -> dict[str, tuple[str, str]]:
    """Return the module and the description of every program in the table of a package's README.md."""
    folder = Path(__file__).parents[1] / package
    found = ROW.findall((folder / "README.md").read_text(encoding="utf-8"))
    return {name: (f"{package}.{path.replace('/', '.')}", text) for name, path, text in found}


def main(package: str = "benchmarks") -> int | str:
    """Run the program that the command line names, or list the programs."""
    known, name = programs(package), sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in known:
        for each, (_, text) in known.items():
            cells = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text).split("|")
            print(f"{each:16s} {'; '.join(filter(None, map(str.strip, cells)))}")
        wrong = f"\n{package} has no program {name}: type python -m {package} and a name of this list"
        return 0 if name in ("", "-h", "--help") else wrong
    sys.argv = [f"python -m {package} {name}", *sys.argv[2:]]
    code: int | None = importlib.import_module(known[name][0]).main()
    return code or 0


if __name__ == "__main__":
    sys.exit(main())

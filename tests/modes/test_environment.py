"""Environment variables: accepted values, and one form of error for all variables."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import stride0
from stride0._base import environment

# All in the same process: the functions that read the variables do not depend on when they run.
READERS = {
    "switch": environment.read_flag,
    "number of elements": lambda name: environment.read_number(
        name, "number of elements", 0, sys.maxsize, 16384
    ),
    "list of modules": environment.read_names,
}


MODES = ("fused", "broadcasting", "strict", "reproducible")


def imported(**variables: str) -> subprocess.CompletedProcess[str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith("STRIDE0_")}
    script = f"MODES = {MODES}; import stride0 as xp; print(*(getattr(xp, mode).current() for mode in MODES))"
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**own, **variables}, check=False
    )


# A wrong value of each variable, and the error.
WRONG = [
    ("STRIDE0_FUSED", "maybe", "'maybe' is not a switch; set it to 1 (on) or 0 (off)"),
    ("STRIDE0_FUSED", "-3", "'-3' is not a switch; set it to 1 (on) or 0 (off)"),
    (
        "STRIDE0_FUSED_SIZE",
        "abc",
        "'abc' is not a number of elements; set it to a whole number, for example 16384",
    ),
    (
        "STRIDE0_BROADCASTING",
        "nonsense",
        "'nonsense' is not a mode; set it to one of standard, pointwise, warn",
    ),
    ("STRIDE0_REPRODUCIBLE", "2", "'2' is not a switch; set it to 1 (on) or 0 (off)"),
    ("STRIDE0_STRICT", "maybe", "'maybe' is not a switch; set it to 1 (on) or 0 (off)"),
    (
        "STRIDE0_STRICT_MODULES",
        "a;b",
        "'a;b' is not a list of modules; set it to names with commas between them",
    ),
    (
        "STRIDE0_STRICT_EXEMPT",
        "scipy stats",
        "'scipy stats' is not a list of modules; set it to names with commas",
    ),
    ("STRIDE0_AS_ARRAY_API_STRICT", "maybe", "'maybe' is not a switch; set it to 1 (on) or 0 (off)"),
    ("STRIDE0_NUM_THREADS", "many", "'many' is not a number from 1 to"),
    ("STRIDE0_CACHE_LIMIT", "much", "'much' is not a number of bytes; set it to a whole number, for example"),
]


@pytest.mark.parametrize("variable, value, text", WRONG, ids=[f"{row[0]}={row[1]}" for row in WRONG])
def test_wrong_values(variable: str, value: str, text: str) -> None:
    done = imported(**{variable: value})
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith(f"ImportError: {variable}: {text}")


def test_every_variable_is_tried_here() -> None:
    """No variable is read in another way, except STRIDE0_ISA, which only the build can check."""
    folder = Path(stride0.__file__).parent
    sources = [path for kind in ("py", "pyx") for path in folder.rglob(f"*.{kind}")]
    readers = [path.name for path in sources if "os.environ" in path.read_text(encoding="utf-8")]
    # OMP_NUM_THREADS and array-api-strict's variables are not ours; `_bench` passes variables to its process.
    known = {"environment.py", "_dispatch.py", "threads.pyx", "_array_api_strict.py", "run.py"}
    assert set(readers) <= known
    assert {row[0] for row in WRONG} == {
        f"STRIDE0_{name}"
        for name in (
            *("AS_ARRAY_API_STRICT", "BROADCASTING", "CACHE_LIMIT", "FUSED", "FUSED_SIZE", "NUM_THREADS"),
            *("REPRODUCIBLE", "STRICT", "STRICT_EXEMPT", "STRICT_MODULES"),
        )
    }


@pytest.mark.parametrize("text", ["", " "])
def test_empty_means_unset(text: str) -> None:
    done = imported(**dict.fromkeys([row[0] for row in WRONG], text))
    assert (done.stdout.strip(), done.stderr) == ("0 standard False False", "")


def test_what_they_take() -> None:
    done = imported(
        STRIDE0_FUSED=" On ",
        STRIDE0_FUSED_SIZE="077",
        STRIDE0_BROADCASTING=" exact ",
        STRIDE0_REPRODUCIBLE="true",
        STRIDE0_STRICT="yes",
    )
    assert (done.stdout.strip(), done.stderr) == ("77 exact True True", "")


@pytest.mark.parametrize(
    "kind, text",
    [
        *(("switch", text) for text in ("2", "10", "1.0", "None", "oui")),
        *(
            ("number of elements", text)
            for text in ("-1", "+1", "1.5", "1e3", "1_000", "0x10", "²", "\uff19", "9" * 5000)
        ),
        *(("list of modules", text) for text in ("a b", "a;b", "a.", ".a", "a..b", "1a", "a-b", "a,*")),
    ],
)
def test_what_they_do_not_take(kind: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRIDE0_SAMPLE", text)
    with pytest.raises(ImportError, match=r"^STRIDE0_SAMPLE: ") as caught:
        READERS[kind]("STRIDE0_SAMPLE")
    assert f"is not a {kind}; set it to " in str(caught.value)


def test_names_of_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, names in ((" a , b.c ,", ("a", "b.c")), (",", ()), ("", ())):
        monkeypatch.setenv("STRIDE0_SAMPLE", text)
        assert environment.read_names("STRIDE0_SAMPLE") == names

"""docs/design/words.md: sources and docs use one word for each concept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Public names and texts.
PUBLIC = (
    r"StretchError",
    r"stretched_strides",
    r"\bstretched\b(?=[`\[:]| : tuple)",
    r"`stretched`",
    r"\"stretched: ",
    r"x1 stretched, x2 contiguous",
    r"layout.append\(\"stretched\"",
    r"an operand (is|would be) stretched",
    r"stretch each other",
    r"\bt(ape)?\.watch\(|`Tape\.watch`|\bwhat watch\(\)|def watch\(self|\"watch\"",
    r"devices=\(\"virtual\"",
    r"offered_bytes",
)
# A replaced word, the word to use, and a text that the pattern finds.
WORDS = (
    (r"\w*stretch\w*", "broadcast", "the operand is stretched"),
    (r"\bstands? still\b", "broadcast", "an axis that stands still"),
    (r"\btest.?bench\w*|\bbench\b", "test configuration", "in a test bench"),
    (r"\bvirtual (device|bench)\w*", "simulated device", "a virtual device"),
    (r"\b(doors?|gates?)\b", "dispatch hook, interceptor", "behind the door"),
    (r"\b(un)?watch(ed|es|ing)?\b", "tracked", "a watched array"),
    (r"\b(take\w*|an) interest\b", "tracked", "gradients take an interest"),
    (r"\bfollowed by (the )?(gradient|tape)\w*", "tracked", "arrays followed by the tape"),
    (r"\bsettled\b", "saved value; frozen", "a settled key"),
    (r"\bdying\b|\brecycl\w*|\b(temporar\w+|operands?) that dies?\b", "temporary elision", "a dying operand"),
    (r"\bpast the caches\b", "non-temporal store", "written past the caches"),
    (
        r"\b(soft|firm|warm) blocks?\b|\bblocks? that waits?\b",
        "cached, idle, reclaimable",
        "blocks that wait",
    ),
    (r"\boffer(s|ed)? to the system\b", "reclaimable", "offered to the system"),
    (r"\bwhere data begins?\b", "alignment, 4K aliasing", "Where data begin"),
    (r"\bshort ?(cuts?|paths?)\b|\bway in C\b", "fast path", "a way in C"),
    (r"\b(ways? of a matrix product)\b", "algorithm", "ways of a matrix product"),
    (r"\bteam\b", "thread pool", "a team of threads"),
    (r"\brun of memory\b", "contiguous run", "one run of memory"),
    (r"\b(sorted lines|lines (are )?sorted)\b", "lane", "sorted lines"),
    (r"\b(dis)?agree about the order\b", "memory order", "operands disagree about the order"),
    (r"\bexcuses?\b", "expected failure", "a list of excuses"),
    (r"\b(lends?|lent|lender|lending)\b", "export", "memory that is lent"),
    (r"\b(negative|zero|byte) steps?\b", "stride", "an axis of negative steps"),
    (r"\blies? beneath\b", "memory layout", "what lies beneath an array"),
    (r"\bsteps in (bytes|elements)\b", "stride", "steps in bytes"),
    (r"\blines? of (the )?cache\b", "cache line", "a line of cache"),
    (r"\b(first|second) cache\b", "L1 cache, L2 cache", "in the first cache"),
    (r"\bpatience\b|\bsoften\w*", "idle limit, reclaimable", "the patience of blocks"),
    (r"\bpieces?\b|\bcut\b", "chunk, tile, partition, truncate", "work cut into pieces"),
    (r"\bturned\b(?! (on|off|into))", "transposed, negated, rotated", "turned in registers"),
    (r"\bma(d|k)e ready\b", "prepare", "a chain made ready"),
    (r"\blooks? at signals\b", "check for signals", "between two looks at signals"),
    (r"\bthrown away\b", "discarded", "a result that is thrown away"),
    (r"\bloops? of our own\b", "kernel", "loops of our own"),
    (r"\bbusiness\b|\b(some|any|every)body\b", "say who does it", "it is NumPy's business"),
    (r"\boffence\b|\bby a hair\b", "plain English", "it takes no offence"),
    (r"\bknows? nothing of\b", "say what it does not do", "code that knows nothing of gradients"),
)
SUFFIXES = {".h", ".in", ".md", ".pxd", ".pxi", ".py", ".pyi", ".pyx"}
# It holds the replaced words; the results of conformance/run.py are written by other programs.
EXEMPT = {"docs/design/words.md", "docs/conformance.md"}

FILES = sorted(
    path
    for top in (*ROOT.glob("*.md"), ROOT / "docs", ROOT / "src")
    for path in ([top] if top.is_file() else top.rglob("*"))
    if path.is_file() and path.suffix in SUFFIXES and path.relative_to(ROOT).as_posix() not in EXEMPT
)


def findings(text: str) -> list[str]:
    """Return the replaced words in a text, with their lines and the words to use."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for allowed in PUBLIC:
            line = re.sub(allowed, "", line)
        found += [
            f"{number}: {match[0]!r}: say {word!r}"
            for pattern, word, _ in WORDS
            for match in re.finditer(pattern, line, re.IGNORECASE)
        ]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_replaced_words(path: Path) -> None:
    assert findings(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("pattern", "word", "example"), WORDS)
def test_patterns_find_their_examples(pattern: str, word: str, example: str) -> None:
    assert any(line.endswith(f"say {word!r}") for line in findings(example))

"""The pictures of the overview: the layers of the package, and the life of one call.

python docs/design/pictures/draw.py    # writes layers.svg and life-of-a-call.svg beside this file
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
LINE = 17  # pixels
CHARACTER = 6.7  # of the text, which has 12 pixels, at most

STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#1f2328}"
    ".title{font-weight:600}.quiet{fill:#59636e}.back{fill:#fff}"
    "rect.box{stroke-width:1.2;rx:6px}path{fill:none;stroke:#59636e;stroke-width:1.3}.head{fill:#59636e;stroke:none}"
    ".plain{fill:#f3f5f8;stroke:#8b949e}.python{fill:#ffe9d2;stroke:#a64b00}.compiled{fill:#dceaff;stroke:#1f66c7}"
    ".kernel{fill:#d9f3df;stroke:#1a7332}.side{fill:#ece3ff;stroke:#6f3fc0}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9198a1}.back{fill:#161b22}"
    "path{stroke:#9198a1}.head{fill:#9198a1}.plain{fill:#21262d;stroke:#6e7681}"
    ".python{fill:#3a2613;stroke:#d98a4b}.compiled{fill:#12294a;stroke:#6aa5f5}"
    ".kernel{fill:#12331c;stroke:#57b36d}.side{fill:#2b2145;stroke:#a98be8}}"
)


class Layer(NamedTuple):
    """A row of the picture of the layers: its folders under src/stride0, with their contents."""

    title: str
    kind: str
    folders: tuple[tuple[str, str], ...]


# From top to bottom: each layer imports layers below it.
LAYERS = (
    Layer(
        "transformations",
        "python",
        (
            ("autograd", "tape, rules, vmap, jvp"),
            ("optim", "optimisers"),
            ("testing", "check_grad, flags"),
            ("numpy", "NumPy names for scripts"),
            ("_replay", "recorded calls"),
            ("_bench", "times here"),
        ),
    ),
    Layer("namespace", "python", (("__init__.py", "import stride0 as xp"),)),
    Layer("beyond the standard", "python", (("_compat", "methods, NumPy's ufuncs, more names"),)),
    Layer(
        "extensions",
        "python",
        (
            ("linalg", "factors, systems"),
            ("fft", "transforms"),
            ("special", "functions"),
            ("random", "NumPy's streams"),
            ("strided", "layout"),
            ("memory", "cache"),
            ("_explain", "pictures"),
        ),
    ),
    Layer("settings", "python", (("_modes", "broadcasting, strict, fused, test configurations"),)),
    Layer("chapters", "python", (("_chapters", "a module for each chapter of the standard: declarations"),)),
    Layer(
        "functions",
        "compiled",
        (
            ("_core/fourier", "transforms"),
            ("_core/linalg", "decompositions"),
            ("_core/matmul", "products, einsum"),
            ("_core/order", "sort, search"),
            ("_core/replay", "recorded steps"),
            ("_core/manipulation", "create, join"),
        ),
    ),
    Layer(
        "calls",
        "compiled",
        (
            ("_core/index", "keys, gather"),
            ("_core/reduce", "reductions"),
            ("_core/call", "binding, methods"),
            ("_core/exchange", "DLPack, asarray"),
        ),
    ),
    Layer(
        "operations",
        "compiled",
        (
            ("_core/elementwise", "operands, the planned route, copies"),
            ("_core/program", "deferred chains"),
        ),
    ),
    Layer("array", "compiled", (("_core/array", "the type Array, views, hooks for modes and tape"),)),
    Layer("plan", "compiled", (("_core/plan", "iteration space, chains, executor, thread pool"),)),
    Layer("memory", "compiled", (("_core/memory", "dtypes, storage, cache of blocks"),)),
    Layer(
        "kernels",
        "kernel",
        (
            ("_core/kernels", "loops over elements, by instruction set"),
            ("_core/math", "bodies: scalars and vectors"),
        ),
    ),
    Layer("shapes", "plain", (("_base", "errors; axes, shapes and devices as tuples"),)),
    Layer(
        "tables",
        "plain",
        (
            ("_tables", "operations, dtypes, methods, standard"),
            ("_core/generators", "C and Cython from the tables"),
        ),
    ),
)


def text(x: float, y: float, words: str, style: str = "", anchor: str = "middle") -> str:
    """Return a line of text whose baseline is at y."""
    kind = f' class="{style}"' if style else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{kind}>{escape(words)}</text>'


def box(x: float, y: float, width: float, lines: tuple[str, ...], kind: str) -> str:
    """Return a box with a title and lines below it."""
    height = height_of(lines)
    parts = [f'<rect class="box {kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>']
    for k, words in enumerate(lines):
        parts.append(text(x + width / 2, y + 19 + k * LINE, words, "quiet" if k else "title"))
    return "".join(parts)


def height_of(lines: tuple[str, ...]) -> float:
    return 13 + LINE * len(lines)


def arrow(*points: tuple[float, float]) -> str:
    """Return a line through points, with a head at the last one."""
    (a, b), (x, y) = points[-2:]
    across, down = (x > a) - (x < a), (y > b) - (y < b)
    wings = [(x - 7 * across + 4 * side * down, y - 7 * down + 4 * side * across) for side in (1, -1)]
    head = " ".join(f"{p:g},{q:g}" for p, q in ((x, y), *wings))
    route = "L".join(f"{p:g} {q:g}" for p, q in points)
    return f'<path d="M{route}"/><polygon class="head" points="{head}"/>'


def picture(width: float, height: float, title: str, description: str, parts: list[str]) -> str:
    """Return an SVG document."""
    size = f'width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="t" aria-describedby="d" {size} '
        f'viewBox="0 0 {width:g} {height:g}" style="max-width:100%;height:auto">'
        f'<title id="t">{escape(title)}</title><desc id="d">{escape(description)}</desc>'
        f'<style>{STYLE}</style><rect class="back" {size}/>' + "\n".join(parts) + "</svg>\n"
    )


def upright(x: float, y: float, angle: int, words: str) -> str:
    """Return a line of text rotated by an angle in degrees."""
    place = f"translate({x:g} {y:g}) rotate({angle})"
    return f'<text class="quiet" text-anchor="middle" transform="{place}">{escape(words)}</text>'


def layers() -> str:
    """The layers of the package, the highest on top."""
    left, width, gap = 150.0, 690.0, 8.0
    y, parts = 14.0, []
    for layer in LAYERS:
        count = len(layer.folders)
        each = (width - gap * (count - 1)) / count
        lines = [
            (name, about) if len(about) * CHARACTER < each else (name, *halves(about))
            for name, about in layer.folders
        ]
        tallest = max(map(len, lines))
        parts.append(text(left - 14, y + height_of(lines[0]) / 2 + 4, layer.title, "", "end"))
        for k, words in enumerate(lines):
            filled = (*words, *[""] * (tallest - len(words)))
            parts.append(box(left + k * (each + gap), y, each, filled, layer.kind))
        y += height_of((*[""] * tallest,)) + gap
    parts.append(arrow((left + width + 22, 14), (left + width + 22, y - gap)))
    parts.append(upright(left + width + 42, y / 2, 90, "imports and calls"))
    x = left
    for kind, words in (
        ("python", "Python"),
        ("compiled", "Cython"),
        ("kernel", "C, mostly generated"),
        ("plain", "plain Python, without the core"),
    ):
        parts.append(f'<rect class="box {kind}" x="{x:g}" y="{y + 4:g}" width="16" height="16"/>')
        parts.append(text(x + 23, y + 17, words, "quiet", "start"))
        x += 50 + CHARACTER * len(words)
    listed = "; ".join(f"{layer.title}: {', '.join(name for name, _ in layer.folders)}" for layer in LAYERS)
    return picture(left + width + 60, y + 32, "The layers of stride0", f"From the top down: {listed}.", parts)


def halves(words: str) -> tuple[str, str]:
    """Return words on two lines of about the same length."""
    spaces = [k for k, letter in enumerate(words) if letter == " "]
    middle = min(spaces, key=lambda k: abs(k - len(words) / 2))
    return words[:middle], words[middle + 1 :]


def life_of_a_call() -> str:
    """The steps from `x + y` to its kernel, and the points where calls leave the usual path."""
    centre, width, side = 250.0, 300.0, 610.0
    steps = (
        (("x + y", "Array.__add__, by the generator"), "python", ()),
        (
            ("binary", "two tests of one flag or pointer each"),
            "compiled",
            (
                (("interceptor", "modes: strict, broadcasting, flags"), "a context asks for checks"),
                (("tape", "records the call, then runs it"), "an operand is tracked"),
            ),
        ),
        (("binary_raw", "dtype of the kernel, from the table"), "compiled", ()),
        (
            ("apply", "broadcast, set_strides, order_axes, coalesce"),
            "compiled",
            ((("pending chain", "evaluated in one pass, when read"), "within fused, or a large gradient"),),
        ),
        (
            ("run_kernel", "one chain of kernels: casts, transposes,", "the operation, the store"),
            "compiled",
            (),
        ),
        (("chunks", "claimed by caller and workers"), "compiled", ()),
        (("kernel", "of the dtype, the layout and the instruction set"), "kernel", ()),
    )
    y, parts, at = 14.0, [], {}
    for lines, kind, exits in steps:
        tall = max(height_of(lines), sum(height_of(words) + 20 for words, _ in exits) - 20)
        top = y + (tall - height_of(lines)) / 2
        at[lines[0]] = (top, height_of(lines))
        parts.append(box(centre - width / 2, top, width, lines, kind))
        place = y
        for words, condition in exits:
            height = height_of(words)
            parts.append(box(side, place, 260, words, "side"))
            middle, level = top + height_of(lines) / 2, place + height / 2
            bend = [] if level == middle else [(side - 130, middle), (side - 130, level)]
            parts.append(arrow((centre + width / 2, middle), *bend, (side, level)))
            parts.append(text(side + 6, place - 4, condition, "quiet", "start"))
            place += height + 20
        y += tall + 26
    names = list(at)
    for upper, lower in pairwise(names):
        parts.append(arrow((centre, sum(at[upper])), (centre, at[lower][0])))
    top, height = at["binary_raw"]
    kernel_top, kernel_height = at["kernel"]
    edge = centre - width / 2
    parts.append(
        arrow(
            (edge, top + height / 2),
            (46, top + height / 2),
            (46, kernel_top + kernel_height / 2),
            (edge, kernel_top + kernel_height / 2),
        )
    )
    words = "trivial case: one contiguous run"
    parts.append(upright(36, (top + kernel_top) / 2 + 20, -90, words))
    about = "From x + y by binary, apply and run_kernel to the kernel; the trivial case skips the planner."
    return picture(side + 280, y - 6, "The life of a call", about, parts)


PICTURES = {"layers": layers, "life-of-a-call": life_of_a_call}


def main() -> None:
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()

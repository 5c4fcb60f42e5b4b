"""The layers of the package: imports go downwards only (docs/design, "Layers").

The imports are read from the source tree, not from the imported package, so compiled modules are included and
nothing runs. A file that is in no layer fails the test, so a new file must be added here.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "stride0"

# The compiled modules of the core, in the order of their layers: no module needs a later module.
BUILD = (SOURCE / "_core" / "meson.build").read_text(encoding="utf-8")
LISTED = BUILD.partition("\nmodules = [")[2].partition("]")[0]
COMPILED = re.findall(r"'((?!kernels)[a-z]+\.[a-z_]+)'", LISTED)

# A module may import modules of the layers below, and of its own layer without cycles. A folder
# stands for all modules in it that are not listed themselves.
LAYERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("tables and errors", ("_version", "_tables", "_base.errors")),
    ("shapes and devices", ("_base",)),
    # Scalar bodies, then the kernels that use them: C code below Python.
    ("bodies", ("_core", "_core.math")),
    ("kernels", ("_core.kernels",)),
    ("numbers of operations and loops", ("_core.plan.operations", "_core.plan.loops", "_core.plan.kernel")),
    ("guards", ("_core.memory.guards",)),
    *((f"core: {name}", (f"_core.{name}",)) for name in COMPILED[: COMPILED.index("call.binding")]),
    ("NumPy", ("_core.exchange",)),
    ("checks of arguments", ("_core.call.checks",)),
    ("NumPy's loops", ("_core.matmul.numpy_loops",)),
    *((f"core: {name}", (f"_core.{name}",)) for name in COMPILED[COMPILED.index("call.binding") :]),
    ("chapters", ("_chapters",)),
    ("modes", ("_modes",)),
    (
        "extensions",
        (
            "_modes.broadcasting",
            "_modes.strict",
            "_explain",
            "linalg",
            "fft",
            "special",
            "random",
            "strided",
            "memory",
        ),
    ),
    ("beyond the standard", ("_compat",)),
    ("namespace", ("",)),
    ("tape", ("autograd._tape",)),
    ("gradient rules", ("autograd._rules",)),
    ("table of gradients", ("autograd._rules.table",)),
    ("batching rules", ("autograd._batching",)),
    ("table of batching rules", ("autograd._batching.table",)),
    (
        "transformations",
        tuple(
            f"autograd.{name}"
            for name in (
                "_parts",
                "_transforms",
                "_maps",
                "_matrices",
                "_imperative",
                "_custom",
                "_custom_jvp",
                "_vmap",
                "_numpy",
                "_sparse",
                "_sparsity",
                "_jet",
                "_jets",
                "_loops",
                "implicit",
            )
        ),
    ),
    ("forms of SciPy's functions", ("autograd.scipy",)),
    ("gradients", ("autograd",)),
    ("replay", ("_replay",)),
    ("optimisers", ("optim",)),
    ("testing", ("testing",)),
    ("a plugin of pytest", ("strict",)),
    ("NumPy's names", ("numpy._parts", "numpy._names")),
    ("NumPy's functions", ("numpy",)),
    ("HIPS/autograd's names", ("autograd.hips",)),
    ("measurements", ("_bench",)),
    ("command line", ("__main__",)),
)

# Scripts of the build whose text contains the imports of the modules that they write.
GENERATORS = {
    **{
        f"_core/generators/{name}.py": "_core.kernels"
        for name in ("common", "kernels", "loops", "reductions")
    },
    "_core/generators/methods.py": "_core.array.array",
    "_core/generators/operators.py": "_core.elementwise.functions",
}
SUFFIXES = (".py", ".pyi", ".pyx", ".pxd", ".pxi")  # a template's name ends in ".in" after these
NO_CODE = ("meson.build", "py.typed", ".h", ".c")  # ends of the names of files without imports
# Imports by names that are known only at run time: the build of the kernels that the processor can run, the
# first compiled module, and modules above the namespace, which it imports on request.
DYNAMIC = {
    "_core.kernels._dispatch": "stride0._core.kernels",
    "_core": "stride0._core.kernels",
    "": "stride0.autograd",
}


class Import(NamedTuple):
    """One import of a module of the package (`""` is the namespace itself) or of another package."""

    file: str
    line: int
    importer: str
    target: str
    inside_function: bool


def files() -> list[str]:
    return sorted(
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file()
        and path.suffix != ".so"
        and not any(part == "__pycache__" or part.startswith(".") for part in path.relative_to(SOURCE).parts)
    )


CODE = [file for file in files() if not file.endswith(NO_CODE)]
TEXT = {file: (SOURCE / file).read_text(encoding="utf-8") for file in CODE}


def suffix(file: str) -> str:
    return Path(file.removesuffix(".in")).suffix


def included() -> dict[str, str]:
    """Files that another file includes, and that file."""
    found = {}
    for file, text in TEXT.items():
        for name in re.findall(r'^include "(.*)"', text, re.MULTILINE):
            # Generated modules are not in the folder of the files that they include.
            beside = (Path(file).parent / name).as_posix()
            found[name.removeprefix("stride0/") if file.endswith(".in") else beside] = file
    return found


INCLUDED = included()


def module_of(file: str) -> str:
    """Name of the module that a file is, or belongs to, without the package's name."""
    if file in GENERATORS:
        return GENERATORS[file]
    file = INCLUDED.get(file, file)
    name = file.removesuffix(".in").removesuffix(suffix(file)).replace("/", ".")
    return "" if name == "__init__" else name.removesuffix(".__init__")


MODULES = {module_of(file) for file in CODE}


def rank(module: str) -> int | None:
    """Number of a module's layer; None if it is in no layer."""
    ranks = {name: number for number, (_, names) in enumerate(LAYERS) for name in names}
    parts = module.split(".") if module else []
    folders = [".".join(parts[:count]) for count in range(len(parts), 0, -1)] or [""]
    return next((ranks[name] for name in folders if name in ranks), None)


def targets(module: str, names: list[str]) -> Iterator[str]:
    """Modules that `from module import names` needs: the submodule of that name, or else the module."""
    if module != "stride0" and not module.startswith("stride0."):
        yield module
        return
    inner = module.removeprefix("stride0").removeprefix(".")
    longer = [f"{inner}.{name}".strip(".") for name in names]
    yield from dict.fromkeys("stride0." + (name if name in MODULES else inner) for name in longer)


def absolute(module: str | None, level: int, file: str) -> str:
    """Absolute form of a relative import."""
    if level == 0:
        return module or ""
    package = ["stride0", *file.split("/")[:-1]]
    return ".".join([*package[: len(package) - level + 1], *([module] if module else [])])


def python_imports(file: str, text: str) -> Iterator[Import]:
    tree = ast.parse(text, file)
    every = list(ast.walk(tree))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    inside = {id(node) for outer in every if isinstance(outer, functions) for node in ast.walk(outer)}
    # Programs do not run imports for type checkers.
    inside_checks = {
        id(node)
        for branch in every
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "_typing.TYPE_CHECKING"
        for statement in branch.body
        for node in ast.walk(statement)
    }
    importer = module_of(file)
    for node in every:
        found: list[str] = []
        if id(node) in inside_checks:
            continue
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            found = list(targets(absolute(node.module, node.level, file), names))
        for target in found:
            yield Import(file, node.lineno, importer, target, id(node) in inside)


CYTHON = re.compile(
    r"""^(?P<indent>[ ]*)(?:
    from[ ]+(?P<module>[\w.]+)[ ]+c?import[ ]+(?P<names>\([^)]*\)|[^\n(]*)
    |c?import[ ]+(?P<plain>[\w., ]+)
    )""",
    re.MULTILINE | re.VERBOSE,
)


def cython_imports(file: str, text: str) -> Iterator[Import]:
    """Imports of a Cython file; indented imports are inside a function."""
    importer = module_of(file)
    for match in CYTHON.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["plain"]:
            found = [name.split()[0] for name in match["plain"].split(",")]
        else:
            names = re.sub(r"#.*", "", match["names"]).strip("() \n").split(",")
            level = len(match["module"]) - len(match["module"].lstrip("."))
            module = absolute(match["module"].lstrip("."), level, file)
            found = list(targets(module, [name.split()[0] for name in names if name.strip()]))
        for target in found:
            yield Import(file, line, importer, target, bool(match["indent"]))


def imports() -> Iterator[Import]:
    for file, text in TEXT.items():
        python = suffix(file) in (".py", ".pyi")
        if python:
            yield from python_imports(file, text)
        if not python:
            yield from cython_imports(file, text)
        elif file in GENERATORS:  # only the modules that they write; the imports above belong to the script
            yield from (found for found in cython_imports(file, text) if found.target.startswith("stride0."))


ALL = list(imports())
INNER = [found for found in ALL if found.target == "stride0" or found.target.startswith("stride0.")]


def where(found: Import) -> str:
    return f"{found.file}:{found.line}: {found.importer or 'stride0'} imports {found.target}"


def inner(found: Import) -> str:
    return found.target.removeprefix("stride0").removeprefix(".")


def test_the_tree_is_here() -> None:
    some = {
        "",
        "_base.errors",
        "_tables.operations",
        "_core.array.array",
        "_core.kernels",
        "_chapters.sorting",
    }
    assert some <= MODULES
    assert len(INNER) > 60, "the parser finds imports"


def test_every_file_is_in_a_layer() -> None:
    strays = [file for file in CODE if suffix(file) not in SUFFIXES]
    strays += [file for file in CODE if suffix(file) == ".pxi" and file not in INCLUDED]
    assert not strays, f"files of no known kind: {strays}"
    strays = [module for module in sorted(MODULES) if rank(module) is None]
    assert not strays, f"modules in no layer: {strays}"
    names = [name for _, group in LAYERS for name in group]
    assert len(names) == len(set(names))


def back_edges(some: list[Import]) -> list[str]:
    wrong = []
    for found in some:
        source, target = rank(found.importer), rank(inner(found))
        if target is None:
            wrong.append(f"{where(found)}, which is in no layer")
        elif source is not None and target > source:
            wrong.append(f"{where(found)}, which lies above it")
    return wrong


def circles(some: list[Import]) -> list[str]:
    """Modules that remain when modules without dependencies are removed repeatedly."""
    left: dict[str, set[str]] = {module: set() for module in MODULES}
    for found in some:
        if inner(found) != found.importer:
            left.setdefault(found.importer, set()).add(inner(found))
    while free := [module for module, needs in left.items() if not needs & left.keys()]:
        for module in free:
            del left[module]
    return sorted(left)


def test_imports_go_downwards() -> None:
    assert not (wrong := back_edges(INNER)), "\n".join(wrong)


def test_nothing_goes_round_in_a_circle() -> None:
    at_import = [Import("", 0, *edge, False) for edge in DYNAMIC.items() if edge[0]]
    assert not circles([*INNER, *at_import])


def test_the_checks_find_what_they_are_for() -> None:
    for importer, target in (
        ("_core.plan.plan", "_core.array.array"),
        ("_core.array.array", "_chapters.manipulation"),
        ("_base.errors", "_base.shapes"),
        ("_chapters.creation", "linalg"),
        ("_core.array.array", "autograd._tape.tape"),
        ("_base.shapes", "nowhere"),
    ):
        assert back_edges([Import("file", 1, importer, f"stride0.{target}", False)])
    back = Import(
        "file", 1, "_chapters.manipulation", "stride0._chapters.utility", False
    )  # of one layer, but in a cycle
    assert not back_edges([back])
    assert {f"_chapters.{name}" for name in ("manipulation", "utility")} <= set(circles([*INNER, back]))


# Modules written with the functions of the namespace, like a user's program.
ABOVE = ("autograd.scipy.", "autograd.hips.", "numpy")


def test_nobody_imports_the_namespace() -> None:
    """Except for modules that use its functions as a user's program does."""
    wrong = [
        where(found)
        for found in INNER
        if inner(found) == "" and found.importer != "" and not found.importer.startswith(ABOVE)
    ]
    assert not wrong, "\n".join(wrong)


def test_few_imports_inside_functions() -> None:
    """Imports in functions are allowed to shorten the start; others would only hide a cycle."""
    late = [f for f in ALL if f.inside_function and f.target.partition(".")[0] != "numpy"]
    assert {(f.importer, f.target) for f in late} == {
        ("_compat.html", "html"),
        ("_core.matmul.numpy_loops", "ctypes"),
        ("_core.call.binding", "inspect"),
        *((f"_core.call.{module}", "stride0._tables.documents") for module in ("binding", "methods")),
        ("_modes.switches", "inspect"),
        *((module, "stride0._tables.numpy_names") for module in ("", "fft", "linalg", "random")),
        ("special._scipy", "scipy"),
        ("__main__", "stride0._bench.run"),
        ("testing", "stride0.testing._check_grad"),
    }, "\n".join(map(where, late))


def test_numpy_is_imported_when_needed_only() -> None:
    # Only type checkers read stubs; `_sparsity` imports this package when it is called.
    wrong = [
        where(f)
        for f in ALL
        if not f.inside_function
        and f.target.partition(".")[0] == "numpy"
        and ".pyi" not in f.file
        and not f.importer.startswith("autograd._sparse.")
    ]
    assert not wrong, "\n".join(wrong)


def test_dynamic_imports() -> None:
    def users(pattern: str) -> set[str]:
        return {module_of(f) for f, text in TEXT.items() if f not in GENERATORS and re.search(pattern, text)}

    # A row of the dtype table names the package that has its NumPy dtype; four modules call SciPy,
    # the rules of `jet` need NumPy, and `bench` measures the libraries that are installed.
    libraries = {
        "_bench.run",
        "_core.memory.dtype",
        "autograd._jet",
        "autograd._sparsity",
        "autograd.implicit._calls",
        "autograd.scipy._calls",
        "optim._optimizers",
    }
    assert users(r"\b(import_module|__import__|importlib\.util)\b") == {*DYNAMIC, *libraries}
    # These are not imports: `__array_namespace__` returns the namespace, which exists if there is an array; a
    # controller is registered with another library if that is imported; `hide_frames` marks imported modules;
    # an error finds the name of a running function; a module takes the place of another library.
    assert users(r"\bsys\.modules\b") <= {
        *("testing._array_api_strict", "strict"),
        *("_core.exchange.exchange", "_base.errors", "_base.callers", "_compat.threadpoolctl"),
    }


def test_generators_need_the_standard_library_only() -> None:
    """They run before the package exists; shared code is in their folder."""
    siblings = {Path(file).stem for file in GENERATORS}
    for found in ALL:
        if found.file in GENERATORS and not found.target.startswith("stride0."):
            assert found.target.partition(".")[0] in siblings | sys.stdlib_module_names, where(found)


def test_tables_need_the_standard_library_only() -> None:
    """The build loads them by path, before the package exists."""
    examples = ("_tables.examples.elementwise", "_tables.examples.special")
    for module in ("_tables.operations", "_tables.ufuncs", "_tables.dtypes", "_tables.methods", *examples):
        needs = {found.target for found in ALL if found.importer == module}
        assert needs <= {"__future__", "collections.abc", "typing"}


def test_the_core_knows_no_chapter_and_no_gradient() -> None:
    first_chapter = next(number for number, (name, _) in enumerate(LAYERS) if name == "chapters")
    for found in INNER:
        if found.importer.startswith("_core"):
            number = rank(inner(found))
            assert number is not None and number < first_chapter, where(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from stride0._core.plan.plan cimport Operand", ["stride0._core.plan.plan"]),
        ("from stride0._core.memory.dtype cimport *", ["stride0._core.memory.dtype"]),
        ("from stride0._tables import operations", ["stride0._tables.operations"]),
        (
            "from stride0._tables import (\n    operations,  # the table\n    Row,\n)",
            ["stride0._tables.operations", "stride0._tables"],
        ),
        ("import stride0", ["stride0"]),
        ("cimport cython, libc.math as m", ["cython", "libc.math"]),
        ("    import numpy", ["numpy"]),
        ("import_array()  # no import", []),
    ],
)
def test_the_parser(text: str, expected: list[str]) -> None:
    assert [found.target for found in cython_imports("_core/array/array.pyx.in", text)] == expected

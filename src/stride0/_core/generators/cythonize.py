"""Translates modules from Cython to C, all in one process. Run by the build.

Cython takes longer to start than to translate a module. A module is left alone if no file that it includes or
cimports, nor this one, is newer than its C, so that a change of one module costs the compilation of one.
"""

from __future__ import annotations

import gc
import os
import sys

from Cython.Build.Dependencies import create_dependency_tree
from Cython.Compiler.Code import UtilityCode
from Cython.Compiler.Main import CompilationOptions, Context, compile

# Of all modules; one that wants others says so in its first line.
DIRECTIVES = {
    # Classes that users can pickle have `__reduce__`. Cython's methods for others took 3 % of a wheel.
    "auto_pickle": False,
    "boundscheck": False,
    "cdivision": True,
    # A free-threaded interpreter stays one: docs/design/threads.md, "Python threads".
    "freethreading_compatible": True,
    "initializedcheck": False,
    "language_level": 3,
    "wraparound": False,
}
# Functions of Cython's that all modules have are in this one, once: they were a twelfth of a wheel.
SHARED = "stride0._core._shared"


def mend_cython() -> None:
    """Keep the item of a list comprehension if the list cannot grow.

    Cython 3.3 releases the item in the helper, and again where the comprehension fails. A MemoryError there
    would free an object that is still in use.
    """
    helper = UtilityCode.load_cached("ListCompAppendAndDecref", "Optimize.c")
    released = "Py_DECREF(x);\n    return result;"
    helper.impl = helper.impl.replace(released, f"if (likely(!result)) {released}")


def main(root: str, package: str, depfile: str, *paths: str) -> int:
    """Translate the first half of the paths to the second, which have the names of modules of the package."""
    # Cython keeps most of what it makes: the search for garbage takes a fifth of the time. It needs 0.5 GiB.
    gc.disable()
    mend_cython()
    options = CompilationOptions(
        include_path=[root],
        language_level=3,
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
    )
    tree = create_dependency_tree(Context.from_options(options))
    read: set[str] = set()
    failed = 0
    targets = paths[len(paths) // 2 :]
    for source, target in zip(paths, targets, strict=False):
        module = f"{package}.{os.path.basename(target).removesuffix('.c')}"
        # The declarations of a generated module are not beside it.
        files = [file for file in (source, tree.find_pxd(module)) if file]
        found = set().union(*map(tree.all_dependencies, files))
        read |= found
        newest = max(map(os.path.getmtime, [__file__, *found]))
        if not os.path.exists(target) or os.path.getmtime(target) < newest:
            failed += compile(source, options, module, output_file=target).num_errors
    escaped = (path.replace(" ", "\\ ") for path in (targets[0] + ":", *sorted(read)))
    with open(depfile, "w", encoding="utf-8") as written:
        written.write(" ".join(escaped) + "\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

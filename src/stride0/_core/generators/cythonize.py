"""Translates modules from Cython to C, all in one process. Run by the build.

Cython takes longer to start than to translate a module. A module is skipped if its C is newer than this file
and all files that it includes or cimports. So a change of one module costs one compilation.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

from Cython.Build.Dependencies import create_dependency_tree
from Cython.Compiler.Code import UtilityCode
from Cython.Compiler.Main import CompilationOptions, Context, compile_single

# For all modules; a module overrides them in its first line.
DIRECTIVES = {
    # Classes that users can pickle have `__reduce__`. Cython's pickle methods for other classes took 3 % of a
    # wheel.
    "auto_pickle": False,
    "boundscheck": False,
    "cdivision": True,
    # Copies of the source in comments of the C code would take 3 % of the compile time.
    "emit_code_comments": False,
    # The GIL stays off in a free-threaded interpreter: docs/design/threads.md, "Python threads".
    "freethreading_compatible": True,
    "initializedcheck": False,
    "language_level": 3,
    "wraparound": False,
}
# Cython's functions that all modules need are only in this module: they were a twelfth of a wheel.
SHARED = "stride0._core._shared"


class Files(Context):
    """Finds a declaration file once per source file that uses it, and does not search Python's modules.

    Cython caches an answer only for one source line. Its searches would take an eighth of the time.
    """

    def search_include_directories(
        self,
        name: str,
        suffix: str | None = None,
        source_pos: Any = None,
        include: bool = False,
        sys_path: bool = False,
        source_file_path: str | None = None,
    ) -> Any:
        asking = source_file_path or (source_pos and source_pos[0].filename)
        return super().search_include_directories(name, suffix, include=include, source_file_path=asking)


def mend_cython() -> None:
    """Keep the item of a list comprehension if the list cannot grow.

    Cython 3.3 releases the item in the helper, and again if the comprehension fails, so a MemoryError would
    free an object that is still in use.
    """
    helper = UtilityCode.load_cached("ListCompAppendAndDecref", "Optimize.c")
    released = "Py_DECREF(x);\n    return result;"
    helper.impl = helper.impl.replace(released, f"if (likely(!result)) {released}")


def main(root: str, package: str, depfile: str, *paths: str) -> int:
    """Translate sources, the first half of the paths, to C files named like modules, the second half."""
    # Cython keeps most of its objects, so garbage collection would take 20 % of the time. It needs 0.5 GiB.
    gc.disable()
    mend_cython()
    common = CompilationOptions(
        include_path=[root],
        language_level=3,
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
    )
    tree = create_dependency_tree(Files.from_options(common))
    read: set[str] = set()
    failed = 0
    targets = paths[len(paths) // 2 :]
    for source, target in zip(paths, targets, strict=False):
        module = f"{package}.{os.path.basename(target).removesuffix('.c')}"
        # The declarations of a generated module are in another folder.
        files = [file for file in (source, tree.find_pxd(module)) if file]
        found = set().union(*map(tree.all_dependencies, files))
        read |= found
        newest = max(map(os.path.getmtime, [__file__, *found]))
        if not os.path.exists(target) or os.path.getmtime(target) < newest:
            options = CompilationOptions(common, output_file=target)
            failed += compile_single(source, options, module, context=Files.from_options(options)).num_errors
    escaped = (path.replace(" ", "\\ ") for path in (targets[0] + ":", *sorted(read)))
    with open(depfile, "w", encoding="utf-8") as written:
        written.write(" ".join(escaped) + "\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

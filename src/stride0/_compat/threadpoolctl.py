"""A controller of stride0's thread pool for ``threadpoolctl``, registered when that is imported."""

from __future__ import annotations

import sys
from typing import Any

from stride0._core.plan import threads
from stride0._version import __version__

__all__: list[str] = []

NAME = "threadpoolctl"


def register(threadpoolctl: Any) -> None:
    """Register the controller; releases before 3.3 do not accept controllers."""
    if not hasattr(threadpoolctl, "register"):
        return

    class Controller(threadpoolctl.LibController):  # type: ignore[misc]
        """stride0's pool, limited by ``user_api="openmp"`` because its threads run kernels, not BLAS."""

        user_api = "openmp"
        internal_api = "stride0"
        filename_prefixes = ("threads.",)
        check_symbols = ("stride0_thread_pool",)

        def get_num_threads(self) -> int:
            return threads.get_limit()

        def set_num_threads(self, num_threads: int) -> None:
            threads.set_limit(num_threads)

        def get_version(self) -> str:
            return __version__

        def set_additional_attributes(self) -> None:
            pass

    threadpoolctl.register(Controller)


class Finder:
    """Finder in `sys.meta_path` that waits for the import of the module; until then it costs nothing."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != NAME:
            return None
        others = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next((found for found in others if found is not None), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                    register(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if NAME in sys.modules:
    register(sys.modules[NAME])
else:
    sys.meta_path.insert(0, Finder())

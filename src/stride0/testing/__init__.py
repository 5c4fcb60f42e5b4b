"""For tests: comparison of derivatives, test configurations, and a replacement for array-api-strict."""

import typing as _typing

from stride0._base.errors import hide_frames as _hide_frames
from stride0.testing._array_api_strict import as_array_api_strict
from stride0.testing._flags import flags

__all__ = ["as_array_api_strict", "check_grad", "flags"]

if _typing.TYPE_CHECKING:  # with a __getattr__ type checkers would accept every name
    from stride0.testing._check_grad import check_grad as check_grad
else:

    def __getattr__(name: str) -> _typing.Any:
        if name != "check_grad":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        # It imports the gradients, which take longer to import than the rest of the package.
        from stride0.testing._check_grad import check_grad

        _hide_frames()
        globals()[name] = check_grad
        return check_grad


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_hide_frames()

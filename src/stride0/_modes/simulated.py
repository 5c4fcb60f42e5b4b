"""Test configurations: simulated devices with their own dtypes and DLPack numbers."""

from __future__ import annotations

from typing import NamedTuple

from stride0._base.devices import DLDeviceType
from stride0._base.errors import DTypeError
from stride0._core.memory import dtype as dt
from stride0._core.memory.dtype import DType

__all__ = ["Simulated"]

UNSIGNED = {dt.int32: dt.uint32, dt.int64: dt.uint64}
INSPECTION = "Inspection: dtypes(device=...) has the dtypes of a device, default_dtypes the default ones"


class Simulated(NamedTuple):
    """A device of a test configuration: its dtypes, and its DLPack type and number."""

    real: DType = dt.float64
    integral: DType = dt.int64
    complex: DType = dt.complex128
    float64: bool = True
    int64: bool = True
    dlpack: tuple[int, int] | None = None

    @property
    def indexing(self) -> DType:
        """The default dtype of indices."""
        return dt.int64 if self.int64 else dt.int32

    @property
    def unsigned(self) -> DType:
        """The default dtype of sums of unsigned integers."""
        return UNSIGNED[self.integral]

    def default_dtypes(self) -> dict[str, DType]:
        """Return the default dtypes, as in the inspection API."""
        return {
            "real floating": self.real,
            "complex floating": self.complex,
            "integral": self.integral,
            "indexing": self.indexing,
        }

    def has(self, dtype: DType) -> bool:
        """Tell whether the device has a dtype."""
        if dtype is dt.float64 or dtype is dt.complex128:
            return self.float64
        return self.int64 or (dtype is not dt.int64 and dtype is not dt.uint64)

    def check(self, operation: str, dtype: DType, device: str) -> None:
        """Raise DTypeError if the device does not have the dtype of a result."""
        if self.has(dtype):
            return
        doubled = dtype is dt.float64 or dtype is dt.complex128
        flag, accepts = (
            ("float64", "pass dtype=float32 or complex64")
            if doubled
            else ("int64", "pass dtype=int32 or uint32")
        )
        problem = f"the result is of dtype {dtype.name}, which this test configuration does not have"
        facts = (
            ("device", repr(device)),
            ("standard", INSPECTION),
            ("setting", f"stride0.testing.flags({flag}=False) is on."),
        )
        raise DTypeError(operation, problem, facts, accepts)

    def dlpack_device(self, number: int) -> tuple[DLDeviceType, int]:
        """Return DLPack's type and number for a device number."""
        if self.dlpack is None:
            return DLDeviceType.EXT_DEV, number
        return DLDeviceType(self.dlpack[0]), self.dlpack[1]

import builtins
from typing import Any, Final, Literal, TypeAlias, final

from numpy import dtype as NumPyDType
from numpy import generic

@final
class DType:
    @property
    def name(self) -> str: ...
    @property
    def kind(
        self,
    ) -> Literal["bool", "signed integer", "unsigned integer", "real floating", "complex floating"]: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def __numpy_dtype__(self) -> Any: ...
    @property
    def type(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> builtins.bool: ...

DTypeLike: TypeAlias = (
    DType
    | str
    | type[builtins.bool]
    | type[int]
    | type[float]
    | type[complex]
    | type[generic]
    | NumPyDType[Any]
)

bool: Final[DType]
int8: Final[DType]
int16: Final[DType]
int32: Final[DType]
int64: Final[DType]
uint8: Final[DType]
uint16: Final[DType]
uint32: Final[DType]
uint64: Final[DType]
float32: Final[DType]
float64: Final[DType]
complex64: Final[DType]
complex128: Final[DType]
float16: Final[DType]
bfloat16: Final[DType]

DTYPES: Final[tuple[DType, ...]]
STANDARD_DTYPES: Final[tuple[DType, ...]]

def arithmetic_dtype(dtype: DType) -> DType: ...
def known_dtype(value: object) -> DType | None: ...
def numpy_dtype(dtype: DType) -> NumPyDType[Any]: ...
def promote(first: DType, second: DType) -> DType: ...
def weak(dtype: DType, value: complex) -> DType: ...
def default_for(value: complex) -> DType: ...

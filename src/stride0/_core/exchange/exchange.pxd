# See `exchange.pyx`.

cimport cython
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t, uint8_t

from stride0._core.array.array cimport Array

# DLPack: see `dlpack.pxi`.


cdef extern from "dlpack.h":
    enum:
        kDLCPU
        kDLExtDev
        kDLInt
        kDLUInt
        kDLFloat
        kDLComplex
        kDLBool
        DLPACK_READ_ONLY
        DLPACK_IS_COPIED
        DLPACK_MAJOR
        DLPACK_MINOR
    ctypedef struct DLDevice:
        int32_t device_type
        int32_t device_id
    ctypedef struct DLDataType:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct DLPackVersion:
        uint32_t major
        uint32_t minor
    ctypedef struct DLTensor:
        void* data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset
    ctypedef struct DLManagedTensor:
        DLTensor dl_tensor
        void* manager_ctx
        void (*deleter)(DLManagedTensor*) noexcept
    ctypedef struct DLManagedTensorVersioned:
        DLPackVersion version
        void* manager_ctx
        void (*deleter)(DLManagedTensorVersioned*) noexcept
        uint64_t flags
        DLTensor dl_tensor
    ctypedef struct DLPackExchangeHeader:
        DLPackVersion version
        void* prev_api
    ctypedef struct DLPackExchangeAPI:
        DLPackExchangeHeader header
        int (*managed_tensor_allocator)(
            DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
            void (*set_error)(void* error_ctx, const char* kind, const char* message) noexcept) noexcept
        int (*managed_tensor_from_py_object_no_sync)(void* object, DLManagedTensorVersioned** out) noexcept
        int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned* tensor, void** out) noexcept
        int (*dltensor_from_py_object_no_sync)(void* object, DLTensor* out) noexcept
        int (*current_work_stream)(int32_t device_type, int32_t device_id, void** out) noexcept


@cython.final
cdef class ImportedTensor:
    cdef DLManagedTensor* old
    cdef DLManagedTensorVersioned* new


# Conversions: see `convert.pxi`.

cdef object nested_lists(Array x)

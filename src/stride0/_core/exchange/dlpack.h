/* The structures of DLPack 1.3 (https://dmlc.github.io/dlpack/latest/c_api.html), as far as they are used here. */
#ifndef STRIDE0_DLPACK_H
#define STRIDE0_DLPACK_H

#include <stdint.h>

enum { kDLCPU = 1, kDLExtDev = 12 };
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLComplex = 5, kDLBool = 6 };
enum { DLPACK_READ_ONLY = 1, DLPACK_IS_COPIED = 2 };
enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 3 };

typedef struct { int32_t device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct { uint32_t major; uint32_t minor; } DLPackVersion;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

/* Functions for code in C. Each returns 0, or -1 with a Python exception set; the first one reports to `set_error`. */
typedef struct DLPackExchangeAPI {
    struct {
        DLPackVersion version;
        void *prev_api;
    } header;
    int (*managed_tensor_allocator)(DLTensor *prototype, DLManagedTensorVersioned **out, void *error_ctx,
                                    void (*set_error)(void *error_ctx, const char *kind, const char *message));
    int (*managed_tensor_from_py_object_no_sync)(void *object, DLManagedTensorVersioned **out);
    int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned *tensor, void **out);
    int (*dltensor_from_py_object_no_sync)(void *object, DLTensor *out);
    int (*current_work_stream)(int32_t device_type, int32_t device_id, void **out);
} DLPackExchangeAPI;

#endif

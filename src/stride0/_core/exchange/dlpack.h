/* The structures of DLPack 1.1 (https://dmlc.github.io/dlpack/latest/c_api.html), as far as they are used here. */
#ifndef STRIDE0_DLPACK_H
#define STRIDE0_DLPACK_H

#include <stdint.h>

enum { kDLCPU = 1, kDLExtDev = 12 };
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLComplex = 5, kDLBool = 6 };
enum { DLPACK_READ_ONLY = 1, DLPACK_IS_COPIED = 2 };
enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 1 };

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

#endif

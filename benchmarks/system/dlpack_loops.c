/* Loops over the functions of an array type for DLPack's exchange in C: see dlpack.py. */

#include <Python.h>
#include <time.h>

#include "dlpack.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int looked_up(PyObject *x, DLPackExchangeAPI **api)
{
    PyObject *capsule = PyObject_GetAttrString((PyObject *)Py_TYPE(x), "__dlpack_c_exchange_api__");
    if (capsule == NULL) {
        return -1;
    }
    *api = (DLPackExchangeAPI *)PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    Py_DECREF(capsule);
    return *api == NULL ? -1 : 0;
}

/* Seconds of one exchange: 0 a tensor is exported and deleted, 1 borrowed, 2 exported by x and imported by `to`. */
double exchange(PyObject *x, PyObject *to, int which, int count)
{
    DLPackExchangeAPI *from, *into;
    DLManagedTensorVersioned *managed;
    DLTensor tensor;
    void *out;
    double begin;
    int k;
    if (looked_up(x, &from) || looked_up(to, &into)) {
        return -1;
    }
    begin = now();
    for (k = 0; k < count; k++) {
        if (which == 1) {
            if (from->dltensor_from_py_object_no_sync(x, &tensor)) {
                return -1;
            }
            continue;
        }
        if (from->managed_tensor_from_py_object_no_sync(x, &managed)) {
            return -1;
        }
        if (which == 0) {
            managed->deleter(managed);
            continue;
        }
        if (into->managed_tensor_to_py_object_no_sync(managed, &out)) {
            return -1;
        }
        Py_DECREF((PyObject *)out);
    }
    return (now() - begin) / count;
}

/* What runs when a storage is freed. Only storage.pyx may include it. */
#ifndef STRIDE0_RELEASE_H
#define STRIDE0_RELEASE_H

#include <Python.h>

static destructor s0_clear_storage;
static void (*s0_release_memory)(PyObject *storage);

static void s0_dealloc_storage(PyObject *storage)
{
    s0_release_memory(storage);
    s0_clear_storage(storage);
}

/* Instead of __dealloc__, around which Cython saves and restores the current exception: that takes as long as the rest.
 * `release` raises nothing. */
static void s0_set_release(PyObject *type, void *release)
{
    s0_release_memory = (void (*)(PyObject *))release;
    s0_clear_storage = ((PyTypeObject *)type)->tp_dealloc;
    ((PyTypeObject *)type)->tp_dealloc = s0_dealloc_storage;
}

#endif

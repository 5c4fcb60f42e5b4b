/* A module of kernels: `fill(table)` writes the loops of its units to the table in a capsule.
 *
 * S0_MODULE is its name; S0_UNITS lists its units, as U(name) U(name) ... */
#include "kernels.h"

s0_kernels *s0_table;

#define U(name) void s0_fill_##name(s0_kernels *table);
S0_UNITS
#undef U

static PyObject *s0_fill(PyObject *module, PyObject *capsule)
{
    (void)module;
    s0_table = PyCapsule_GetPointer(capsule, "stride0.kernels");
    if (s0_table == NULL)
        return NULL;
#define U(name) s0_fill_##name(s0_table);
    S0_UNITS
#undef U
    Py_RETURN_NONE;
}

static PyMethodDef s0_methods[] = {
    {"fill", s0_fill, METH_O, "Put these loops into the table that the capsule holds."},
    {NULL, NULL, 0, NULL},
};

#define S0_TEXT_OF(name) #name
#define S0_TEXT(name) S0_TEXT_OF(name)

/* Cython modules belong to the interpreter that imports them first; no other interpreter can import them later. So a subinterpreter
 * must not import them first. The package imports a kernel module, with this check, before any Cython module. */
static int s0_check_interpreter(PyObject *module)
{
    (void)module;
    if (PyInterpreterState_Get() == PyInterpreterState_Main())
        return 0;
    PyErr_SetString(PyExc_ImportError, "stride0: a subinterpreter cannot import this package; use the main interpreter, "
                                       "with threads or processes");
    return -1;
}

static PyModuleDef_Slot s0_slots[] = {
    {Py_mod_exec, s0_check_interpreter},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef s0_module = {PyModuleDef_HEAD_INIT, .m_name = S0_TEXT(S0_MODULE), .m_size = 0,
                                       .m_methods = s0_methods, .m_slots = s0_slots};

#define S0_INIT_OF(name) PyInit_##name
#define S0_INIT(name) S0_INIT_OF(name)
PyMODINIT_FUNC S0_INIT(S0_MODULE)(void) { return PyModuleDef_Init(&s0_module); }

/* Whether an operand of a call is a temporary that nobody will see again: Note [Dying temporaries], recycling.pxi. */

#ifndef S0_TEMPORARIES_H
#define S0_TEMPORARIES_H

#include <Python.h>

#if defined(__linux__) && defined(__GLIBC__) && !defined(PYPY_VERSION) && !defined(Py_GIL_DISABLED)
#define S0_TRACES 1
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>
#else
#define S0_TRACES 0
#endif

#if S0_TRACES

typedef struct {
    uintptr_t inside; /* an address of the library that is looked for */
    uintptr_t begin, end;
} s0_span;

static int s0_find_span(struct dl_phdr_info *info, size_t size, void *data)
{
    s0_span *span = (s0_span *)data;
    (void)size;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[k].p_vaddr, end = begin + info->dlpi_phdr[k].p_memsz;
        if (info->dlpi_phdr[k].p_type == PT_LOAD && begin <= span->inside && span->inside < end) {
            span->begin = begin;
            span->end = end;
            return 1;
        }
    }
    return 0;
}

/* Whether a function of the interpreter's with this name, or whose name begins so, contains an address. */
static int s0_is_in(void *address, const char *name, int begins)
{
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_sname == NULL) {
        return 0;
    }
    return begins ? strncmp(info.dli_sname, name, strlen(name)) == 0 : strcmp(info.dli_sname, name) == 0;
}

/*
 * Whether the frames on the C stack are, from the innermost one: functions of this library; PyNumber_Add or the
 * like (perhaps with the one function in between that it has for all operators); the interpreter's loop.
 */
static int s0_called_by_loop(void)
{
    enum { DEPTH = 12, KNOWN = 16 };
    static s0_span own, python;
    static void *known[KNOWN][3]; /* three frames in a row that were found to be what they should be */
    static int count = 0, next = 0;
    void *frames[DEPTH];
    int n, k, j, has_middle;

    if (own.end == 0) {
        own.inside = (uintptr_t)&s0_called_by_loop;
        python.inside = (uintptr_t)&PyNumber_Add;
        if (!dl_iterate_phdr(s0_find_span, &own) || !dl_iterate_phdr(s0_find_span, &python)) {
            return 0;
        }
    }
    n = backtrace(frames, DEPTH);
    for (k = 0; k < n && own.begin <= (uintptr_t)frames[k] && (uintptr_t)frames[k] < own.end; k++) {
    }
    if (k + 2 >= n) {
        return 0;
    }
    for (j = 0; j < count; j++) {
        /* A chain of two frames ends where the third is NULL. */
        if (known[j][0] == frames[k] && known[j][1] == frames[k + 1] && (!known[j][2] || known[j][2] == frames[k + 2])) {
            return 1;
        }
    }
    for (j = 0; j < 2; j++) {
        if ((uintptr_t)frames[k + j] < python.begin || (uintptr_t)frames[k + j] >= python.end) {
            return 0;
        }
    }
    has_middle = !s0_is_in(frames[k], "PyNumber_", 1);
    if (has_middle) {
        Dl_info info;
        if (dladdr(frames[k], &info) == 0 || info.dli_sname != NULL || !s0_is_in(frames[k + 1], "PyNumber_", 1)) {
            return 0;
        }
    }
    if (!s0_is_in(frames[k + 1 + has_middle], "_PyEval_EvalFrameDefault", 0)) {
        return 0;
    }
    known[next][0] = frames[k];
    known[next][1] = frames[k + 1];
    known[next][2] = has_middle ? frames[k + 2] : NULL;
    next = (next + 1) % KNOWN;
    count = count < KNOWN ? count + 1 : KNOWN;
    return 1;
}

/* Whether the instruction that the current Python frame executes is this one. */
static int s0_executes(int opcode)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyCodeObject *code;
    PyObject *text;
    int at, found = 0;
    if (frame == NULL || opcode < 0) {
        return 0;
    }
    at = PyFrame_GetLasti(frame);
    code = PyFrame_GetCode(frame);
    text = PyCode_GetCode(code);
    if (text == NULL) {
        PyErr_Clear();
    }
    else {
        found = at >= 0 && at < PyBytes_GET_SIZE(text) && ((unsigned char *)PyBytes_AS_STRING(text))[at] == opcode;
        Py_DECREF(text);
    }
    Py_DECREF(code);
    return found;
}

#endif

/* Whether x, one of the operands, is referred to by the interpreter's stack alone, which drops it after this call. */
static int s0_is_dying(PyObject *x, int opcode)
{
#if S0_TRACES
    Py_ssize_t offset = Py_TYPE(x)->tp_weaklistoffset;
    if (Py_REFCNT(x) != 1 || (offset > 0 && *(PyObject **)((char *)x + offset) != NULL)) {
        return 0;
    }
#if PY_VERSION_HEX >= 0x030E0000
    if (!PyUnstable_Object_IsUniqueReferencedTemporary(x)) {
        return 0;
    }
#endif
    return s0_called_by_loop() && s0_executes(opcode);
#else
    (void)x, (void)opcode;
    return 0;
#endif
}

#endif

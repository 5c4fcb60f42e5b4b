/* Whether an operand of a call is a temporary that is freed after it: Note [Temporary elision], temporaries.pyx. */

#ifndef S0_TEMPORARIES_H
#define S0_TEMPORARIES_H

#include <Python.h>

#if defined(__linux__) && defined(__GLIBC__) && !defined(PYPY_VERSION) && !defined(Py_GIL_DISABLED)
#define S0_TRACES 1
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>
#include "glibc.h"
S0_FIRST_VERSION(dladdr)
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

/* Whether a function of the interpreter whose name begins so contains an address. */
static int s0_is_in(void *address, const char *name)
{
    Dl_info info;
    return dladdr(address, &info) != 0 && info.dli_sname != NULL && strncmp(info.dli_sname, name, strlen(name)) == 0;
}

/* A function of each library that an operator passes: this one, the array type's, and that of its implementation. */
enum { S0_PASSED = 3, S0_DEPTH = 12 };
static uintptr_t s0_passed[S0_PASSED];
static s0_span s0_python;

static int s0_is_in_python(void *address)
{
    return s0_python.begin <= (uintptr_t)address && (uintptr_t)address < s0_python.end;
}

/* The frames on the C stack, from the innermost one outside the libraries of the core on; returns how many. */
static int s0_outer_frames(void **frames, void ***outer)
{
    static s0_span passed[S0_PASSED];
    int n, k, j;
    if (s0_python.end == 0) {
        for (k = 0; k < S0_PASSED; k++) {
            passed[k].inside = s0_passed[k];
            if (!dl_iterate_phdr(s0_find_span, &passed[k])) {
                return 0;
            }
        }
        s0_python.inside = (uintptr_t)&PyNumber_Add;
        if (!dl_iterate_phdr(s0_find_span, &s0_python)) {
            return 0;
        }
    }
    n = backtrace(frames, S0_DEPTH);
    for (k = 0; k < n; k++) {
        uintptr_t frame = (uintptr_t)frames[k];
        for (j = 0; j < S0_PASSED && !(passed[j].begin <= frame && frame < passed[j].end); j++) {
        }
        if (j == S0_PASSED) {
            break;
        }
    }
    *outer = frames + k;
    return n - k;
}

/*
 * The caller of PyNumber_Add or the like, as the address where it goes on, if the frames on the C stack are, from the
 * innermost one: functions of the libraries of the core; PyNumber_Add or the like (perhaps with the one function in between that
 * it has for all operators); that caller, which is the interpreter's. NULL otherwise.
 */
static void *s0_caller_of_operator(void)
{
    enum { KNOWN = 16 };
    static void *known[KNOWN][3]; /* three frames in a row that were found to be what they should be; NULL: any */
    static int count = 0, next = 0;
    void *all[S0_DEPTH], **frames;
    int j, has_middle;

    if (s0_outer_frames(all, &frames) < 3) {
        return NULL;
    }
    for (j = 0; j < count; j++) {
        /* A chain of two frames ends where the third is NULL. */
        if (known[j][0] == frames[0] && known[j][1] == frames[1] && (!known[j][2] || known[j][2] == frames[2])) {
            return known[j][2] ? known[j][2] : known[j][1];
        }
    }
    has_middle = !s0_is_in(frames[0], "PyNumber_");
    if (has_middle) {
        Dl_info info;
        if (dladdr(frames[0], &info) == 0 || info.dli_sname != NULL || !s0_is_in(frames[1], "PyNumber_")) {
            return NULL;
        }
    }
    for (j = 0; j < 2 + has_middle; j++) {
        if (!s0_is_in_python(frames[j])) {
            return NULL;
        }
    }
    known[next][0] = frames[0];
    known[next][1] = frames[1];
    known[next][2] = has_middle ? frames[2] : NULL;
    next = (next + 1) % KNOWN;
    count = count < KNOWN ? count + 1 : KNOWN;
    return frames[1 + has_middle];
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

/*
 * Where the interpreter's loop goes on after an operator. Its function may have no name that one could look for (it need
 * not be exported, and there may be one for each instruction), so a probe is added by the loop: s0_learn_loop.
 */
static void *s0_resumes[4];
static int s0_loops = 0;

static int s0_called_by_loop(void)
{
    void *caller = s0_caller_of_operator();
    for (int k = 0; k < s0_loops; k++) {
        if (s0_resumes[k] == caller) {
            return 1;
        }
    }
    return 0;
}

/* Two frames in a row after a call of a function: PyObject_Vectorcall and the loop, or the loop that contains it and NULL. */
static void *s0_calls[8][2];
static int s0_call_count = 0;

static int s0_called_as_function(void)
{
    void *all[S0_DEPTH], **frames;
    if (s0_outer_frames(all, &frames) < 2) {
        return 0;
    }
    for (int k = 0; k < s0_call_count; k++) {
        if (s0_calls[k][0] == frames[0] && (!s0_calls[k][1] || s0_calls[k][1] == frames[1])) {
            return 1;
        }
    }
    return 0;
}

#endif

/* Set the array type and the function that its operators call, before any other call. */
static void s0_learn_operators(PyObject *type, void *implementation)
{
#if S0_TRACES
    s0_passed[0] = (uintptr_t)&s0_learn_operators;
    s0_passed[1] = (uintptr_t)((PyTypeObject *)type)->tp_as_number->nb_add;
    s0_passed[2] = (uintptr_t)implementation;
#else
    (void)type;
    (void)implementation;
#endif
}

/* Only an operator that the interpreter's loop executes may call this. */
static void s0_learn_loop(int opcode)
{
#if S0_TRACES
    void *caller = s0_caller_of_operator();
    if (caller != NULL && s0_executes(opcode) && s0_loops < 4 && !s0_called_by_loop()) {
        s0_resumes[s0_loops++] = caller;
    }
#else
    (void)opcode;
#endif
}

/*
 * A compiler may put PyObject_Vectorcall into the loop, whose functions have no names: then the frame after a call says nothing of
 * itself. So the loop is entered in two ways, and has the callers that these are; a function that it calls has the loop as its caller,
 * both times. Frames and their callers, for each way.
 */
enum { S0_ENTRIES = 2, S0_MOST_CALLERS = 8 };
#if S0_TRACES
static void *s0_callers[S0_ENTRIES][S0_MOST_CALLERS][2];
static int s0_caller_count[S0_ENTRIES] = {0, 0};

/* Whether a frame was seen, with this caller or, for NULL, any. */
static int s0_was_seen(int entry, void *frame, void *caller)
{
    for (int k = 0; k < s0_caller_count[entry] && k < S0_MOST_CALLERS; k++) {
        if (s0_callers[entry][k][0] == frame && (caller == NULL || s0_callers[entry][k][1] == caller)) {
            return 1;
        }
    }
    return 0;
}
#endif

/* Only a function that the interpreter's loop calls may call this, 20 times for each of the ways. */
static void s0_learn_call(int opcode, int entry)
{
#if S0_TRACES
    void *all[S0_DEPTH], **frames;
    Dl_info info;
    int inlined, k = s0_caller_count[entry];
    if (s0_outer_frames(all, &frames) < 2 || !s0_executes(opcode) || s0_call_count == 8 || s0_called_as_function() ||
        !s0_is_in_python(frames[0])) {
        return;
    }
    if (dladdr(frames[0], &info) == 0 || info.dli_sname == NULL) {
        if (s0_was_seen(entry, frames[0], frames[1])) {
            return;
        }
        if (k < S0_MOST_CALLERS) {
            s0_callers[entry][k][0] = frames[0];
            s0_callers[entry][k][1] = frames[1];
        }
        s0_caller_count[entry]++;
        return;
    }
    inlined = s0_is_in(frames[0], "_PyEval_EvalFrameDefault");
    if (inlined || (s0_is_in(frames[0], "PyObject_Vectorcall") && s0_is_in_python(frames[1]))) {
        s0_calls[s0_call_count][0] = frames[0];
        s0_calls[s0_call_count++][1] = inlined ? NULL : frames[1];
    }
#else
    (void)opcode, (void)entry;
#endif
}

/* After both: what was seen in both of them, never with the same caller, is the loop. */
static void s0_learn_unnamed(void)
{
#if S0_TRACES
    if (s0_caller_count[0] > S0_MOST_CALLERS || s0_caller_count[1] > S0_MOST_CALLERS) {
        return;
    }
    for (int k = 0; k < s0_caller_count[0] && s0_call_count < 8; k++) {
        void *frame = s0_callers[0][k][0];
        int is_loop = s0_was_seen(1, frame, NULL);
        for (int i = 0; i < s0_caller_count[0]; i++) {
            is_loop &= s0_callers[0][i][0] != frame || !s0_was_seen(1, frame, s0_callers[0][i][1]);
        }
        if (is_loop) {
            s0_calls[s0_call_count][0] = frame;
            s0_calls[s0_call_count++][1] = NULL;
        }
    }
#endif
}

/* Whether s0_is_temporary, or s0_is_temporary_argument, may return 1 here. */
static int s0_knows_loop(void)
{
#if S0_TRACES
    return s0_loops > 0;
#else
    return 0;
#endif
}

static int s0_knows_calls(void)
{
#if S0_TRACES
    return s0_call_count > 0;
#else
    return 0;
#endif
}

/* Whether there is one reference to x, and no weak one; from Python 3.14 on, whether the interpreter's stack owns it. */
static int s0_is_unique(PyObject *x)
{
    Py_ssize_t offset = Py_TYPE(x)->tp_weaklistoffset;
    if (Py_REFCNT(x) != 1 || (offset > 0 && *(PyObject **)((char *)x + offset) != NULL)) {
        return 0;
    }
#if PY_VERSION_HEX >= 0x030E0000
    return PyUnstable_Object_IsUniqueReferencedTemporary(x);
#else
    return 1;
#endif
}

/* Whether x, one of the operands, is referred to by the interpreter's stack alone, which drops it after this call. */
static int s0_is_temporary(PyObject *x, int opcode)
{
#if S0_TRACES
    return s0_is_unique(x) && s0_called_by_loop() && s0_executes(opcode);
#else
    (void)x, (void)opcode;
    return 0;
#endif
}

/* --- functions of one argument */

/* The argument of the function that this thread runs, where it is a temporary. */
static _Thread_local PyObject *s0_argument = NULL;
static vectorcallfunc s0_usual_call = NULL;
static int (*s0_may_take)(PyObject *x) = NULL; /* whether an argument is worth the inspection */
static int s0_call_opcode = -1;

/* The same of the argument of a function, which is the first of `args`. */
static int s0_is_temporary_argument(PyObject *const *args)
{
#if S0_TRACES
#if PY_VERSION_HEX < 0x030E0000
    /* The interpreter's stack owns its values. Another vector may hold borrowed ones. */
    PyThreadState *thread = PyThreadState_Get();
    uintptr_t at = (uintptr_t)args;
    if (thread->datastack_chunk == NULL || at < (uintptr_t)thread->datastack_chunk->data || at >= (uintptr_t)thread->datastack_top) {
        return 0;
    }
#endif
    return s0_is_unique(args[0]) && s0_called_as_function() && s0_executes(s0_call_opcode);
#else
    (void)args;
    return 0;
#endif
}

/* In the place of a function's vectorcall. */
static PyObject *s0_call(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *names)
{
    PyObject *before = s0_argument, *out;
    if (PyVectorcall_NARGS(nargsf) != 1 || names != NULL || !s0_may_take(args[0]) || !s0_is_temporary_argument(args)) {
        return s0_usual_call(function, args, nargsf, names);
    }
    s0_argument = args[0];
    out = s0_usual_call(function, args, nargsf, names);
    s0_argument = before;
    return out;
}

/* Have a function say what its argument is. All of these are called in one way. */
static void s0_watch_function(PyObject *function, int (*may_take)(PyObject *x), int opcode)
{
#if S0_TRACES
    Py_ssize_t offset = Py_TYPE(function)->tp_vectorcall_offset;
    vectorcallfunc *place = (vectorcallfunc *)((char *)function + offset);
    if (offset > 0 && PyVectorcall_Function(function) != NULL && (s0_usual_call == NULL || *place == s0_usual_call)) {
        s0_may_take = may_take;
        s0_call_opcode = opcode;
        s0_usual_call = *place;
        *place = s0_call;
    }
#else
    (void)function, (void)may_take, (void)opcode;
#endif
}

#endif

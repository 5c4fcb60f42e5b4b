/* Replacements for the interpreter's lock (GIL) in a free-threaded interpreter: docs/design/threads.md, "Python threads".
 *
 * With the GIL they cost nothing: a thread-local variable is a global one, locks are empty, and a reference count is
 * read directly. */
#ifndef STRIDE0_GUARDS_H
#define STRIDE0_GUARDS_H

#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef Py_GIL_DISABLED
#define S0_FREE_THREADED 1
#include <sched.h>
#else
#define S0_FREE_THREADED 0
#endif

/* A thread-local variable, with the GIL too: threads take turns while Python code runs, so one thread must not see what
 * another has set. The TLS model makes it as cheap as a global variable, but the space is limited: a few bytes. */
#if defined(__GLIBC__)
#define S0_PER_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define S0_PER_THREAD static _Thread_local
#endif

#if S0_FREE_THREADED

#define S0_OF_THREAD S0_PER_THREAD

#define s0_read(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define s0_write(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELEASE)
/* A variable that only this thread writes and others may read; no memory order. */
#define s0_peek(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define s0_put(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define s0_add_own(x, n) s0_put(x, s0_peek(x) + (n))

/* Variables that any thread reads and writes: flags, limits, counts. Reading one costs as much as an ordinary variable. */
typedef _Atomic int s0_shared_int;
typedef _Atomic int64_t s0_shared_long;
typedef _Atomic Py_ssize_t s0_shared_size;

/* --- locks for a few instructions without calls of Python: a waiting thread keeps its thread state. */

typedef char s0_lock;

static inline void s0_acquire(s0_lock *lock)
{
    int k = 0;
    while (__atomic_test_and_set(lock, __ATOMIC_ACQUIRE)) {
        if (++k > 100) {
            sched_yield();
            k = 0;
        }
    }
}

static inline void s0_leave(s0_lock *lock)
{
    __atomic_clear(lock, __ATOMIC_RELEASE);
}

/* --- a recursive lock whose holder may call Python. Waiting threads are detached from the interpreter. */

typedef struct {
    PyMutex mutex;
    unsigned long owner;
    int depth;
} s0_section;

static inline void s0_enter_section(s0_section *section)
{
    unsigned long self = PyThread_get_thread_ident();
    if (__atomic_load_n(&section->owner, __ATOMIC_RELAXED) == self) {
        section->depth++;
        return;
    }
    PyMutex_Lock(&section->mutex);
    __atomic_store_n(&section->owner, self, __ATOMIC_RELAXED);
    section->depth = 1;
}

static inline void s0_leave_section(s0_section *section)
{
    if (--section->depth == 0) {
        __atomic_store_n(&section->owner, 0, __ATOMIC_RELAXED);
        PyMutex_Unlock(&section->mutex);
    }
}

/* Whether the next `s0_leave_section` releases the section. */
#define s0_is_last_leave(section) ((section)->depth == 1)

/* Let other threads enter, where the GIL would be released; returns the argument of the function that resumes. */
static inline int s0_pause_section(s0_section *section)
{
    int depth = section->depth;
    section->depth = 0;
    __atomic_store_n(&section->owner, 0, __ATOMIC_RELAXED);
    PyMutex_Unlock(&section->mutex);
    return depth;
}

static inline void s0_resume_section(s0_section *section, int depth)
{
    PyMutex_Lock(&section->mutex);
    __atomic_store_n(&section->owner, PyThread_get_thread_ident(), __ATOMIC_RELAXED);
    section->depth = depth;
}

/* For a forked process, which has no other threads. */
static inline void s0_reset_section(s0_section *section)
{
    if (section->owner != PyThread_get_thread_ident()) {
        section->mutex = (PyMutex){0};
        section->owner = 0;
        section->depth = 0;
    }
}

/* --- references */

/* Whether there are exactly `count` references, all held by this thread. The count has two parts, between whose reads other
 * threads may change it: then the answer is no. */
static inline int s0_has_references(PyObject *x, Py_ssize_t count)
{
    return _Py_IsOwnedByCurrentThread(x) && __atomic_load_n(&x->ob_ref_local, __ATOMIC_RELAXED) == (uint32_t)count
        && __atomic_load_n(&x->ob_ref_shared, __ATOMIC_RELAXED) >> _Py_REF_SHARED_SHIFT == 0;
}

/* Allow `s0_try_incref` for an object that the calling thread has just created. */
static inline void s0_enable_try_incref(PyObject *x)
{
#if PY_VERSION_HEX >= 0x030E0000
    PyUnstable_EnableTryIncRef(x);
#else
    Py_ssize_t none = 0;
    __atomic_compare_exchange_n(&x->ob_ref_shared, &none, _Py_REF_MAYBE_WEAKREF, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/* Take a reference to an object that another thread may be about to free; 0 if it is being freed. */
static inline int s0_try_incref(PyObject *x)
{
#if PY_VERSION_HEX >= 0x030E0000
    return PyUnstable_TryIncRef(x);
#else
    uint32_t local = __atomic_load_n(&x->ob_ref_local, __ATOMIC_RELAXED);
    Py_ssize_t shared;
    if (local == _Py_IMMORTAL_REFCNT_LOCAL)
        return 1;
    if (_Py_IsOwnedByCurrentThread(x)) {
        /* 0 if this thread itself is freeing it. */
        if (local == 0)
            return 0;
        __atomic_store_n(&x->ob_ref_local, local + 1, __ATOMIC_RELAXED);
        return 1;
    }
    shared = __atomic_load_n(&x->ob_ref_shared, __ATOMIC_RELAXED);
    do {
        if (shared == 0 || shared == _Py_REF_MERGED)
            return 0;
    } while (!__atomic_compare_exchange_n(&x->ob_ref_shared, &shared, shared + ((Py_ssize_t)1 << _Py_REF_SHARED_SHIFT), 0,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return 1;
#endif
}

/* Never free an object, just created by the calling thread: all threads use it, and would contend for its count. */
static inline void s0_immortalize(PyObject *x)
{
#if PY_VERSION_HEX >= 0x030F0000
    PyUnstable_SetImmortal(x);
#else
    Py_SET_REFCNT(x, (Py_ssize_t)UINT32_MAX + 1);
#endif
}

#else /* with the interpreter's lock */

#define S0_OF_THREAD static
#define s0_read(x) (x)
#define s0_write(x, value) ((x) = (value))
#define s0_peek(x) (x)
#define s0_put(x, value) ((x) = (value))
#define s0_add_own(x, n) ((x) += (n))
typedef int s0_shared_int;
typedef int64_t s0_shared_long;
typedef Py_ssize_t s0_shared_size;
typedef char s0_lock;
#define s0_acquire(lock) ((void)(lock))
#define s0_leave(lock) ((void)(lock))
typedef char s0_section;
#define s0_enter_section(section) ((void)(section))
#define s0_leave_section(section) ((void)(section))
#define s0_pause_section(section) ((void)(section), 0)
#define s0_resume_section(section, depth) ((void)(section), (void)(depth))
#define s0_reset_section(section) ((void)(section))
#define s0_is_last_leave(section) ((void)(section), 0)
#define s0_has_references(x, count) (Py_REFCNT(x) == (count))
#define s0_enable_try_incref(x) ((void)(x))
#define s0_try_incref(x) (Py_INCREF(x), 1)
#define s0_immortalize(x) ((void)(x))

#endif

/* Add to a shared variable atomically; returns the new value. */
#define s0_add(x, n) ((x) += (n))

/* --- references that `s0_drop_all` drops later in this thread, so that destructors do not nest */

enum { S0_FEW_DROPS = 8 };

typedef struct {
    Py_ssize_t count, room;
    int dropping;
    PyObject **more;                /* the references beyond `few` */
    PyObject *few[S0_FEW_DROPS];
} s0_drops;

#define s0_has_drops(drops) ((drops)->count > 0)

static inline void s0_drop_later(s0_drops *drops, PyObject *x)
{
    Py_ssize_t at = drops->count - S0_FEW_DROPS;
    if (at < 0) {
        drops->few[drops->count++] = x;
        return;
    }
    if (at == drops->room) {
        Py_ssize_t room = 64 + 2 * drops->room;
        PyObject **more = (PyObject **)realloc(drops->more, (size_t)room * sizeof(PyObject *));
        if (more == NULL) {
            Py_DECREF(x);
            return;
        }
        drops->more = more;
        drops->room = room;
    }
    drops->more[at] = x;
    drops->count++;
}

static inline void s0_drop_all(s0_drops *drops)
{
    if (drops->dropping || drops->count == 0)
        return;
    drops->dropping = 1;
    while (drops->count > 0) {
        Py_ssize_t at = --drops->count - S0_FEW_DROPS;
        PyObject *x = at < 0 ? drops->few[drops->count] : drops->more[at];
        Py_DECREF(x);
    }
    if (drops->more != NULL) {
        free(drops->more);
        drops->more = NULL;
        drops->room = 0;
    }
    drops->dropping = 0;
}

#endif

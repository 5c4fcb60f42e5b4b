/* What a free-threaded interpreter needs where another one has its lock: docs/design/threads.md, "Python threads".
 *
 * With the interpreter's lock (the GIL) all of this is nothing: a variable of a thread is one of the process, a lock is not
 * there, and a reference count is what it says. */
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

/* A variable that each thread has one of, with the GIL too: threads take turns while code of Python runs, so what is set
 * meanwhile must not be seen by another one. The model makes it as cheap as another variable; it is for a few bytes. */
#if defined(__GLIBC__)
#define S0_PER_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define S0_PER_THREAD static _Thread_local
#endif

#if S0_FREE_THREADED

#define S0_OF_THREAD S0_PER_THREAD

#define s0_read(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define s0_write(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELEASE)
/* A variable that this thread alone writes, and others may read: it orders nothing else. */
#define s0_peek(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define s0_put(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define s0_add_own(x, n) s0_put(x, s0_peek(x) + (n))

/* Variables that threads read and write as they like: flags, limits, counts. Reading one costs what another one costs. */
typedef _Atomic int s0_shared_int;
typedef _Atomic int64_t s0_shared_long;
typedef _Atomic Py_ssize_t s0_shared_size;

/* --- locks for a few instructions, within which nothing of Python is called: whoever waits keeps its thread state. */

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

/* --- a lock that a thread may acquire again, and within which it may call Python. Whoever waits is detached. */

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

/* Whether the section is left by the next `s0_leave_section`. */
#define s0_is_last_leave(section) ((section)->depth == 1)

/* Let others enter, as an interpreter with a lock does where it releases that; what to resume with. */
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

/* In a forked process, whose other threads are gone. */
static inline void s0_reset_section(s0_section *section)
{
    if (section->owner != PyThread_get_thread_ident()) {
        section->mutex = (PyMutex){0};
        section->owner = 0;
        section->depth = 0;
    }
}

/* --- references */

/* Whether there are exactly `count` references, all of this thread's: others may have dropped or taken some in between
 * two reads of a count that has two parts, so any other answer is no. */
static inline int s0_has_references(PyObject *x, Py_ssize_t count)
{
    return _Py_IsOwnedByCurrentThread(x) && __atomic_load_n(&x->ob_ref_local, __ATOMIC_RELAXED) == (uint32_t)count
        && __atomic_load_n(&x->ob_ref_shared, __ATOMIC_RELAXED) >> _Py_REF_SHARED_SHIFT == 0;
}

/* From here on `s0_try_incref` serves for an object, which the calling thread has just made. */
static inline void s0_enable_try_incref(PyObject *x)
{
#if PY_VERSION_HEX >= 0x030E0000
    PyUnstable_EnableTryIncRef(x);
#else
    Py_ssize_t none = 0;
    __atomic_compare_exchange_n(&x->ob_ref_shared, &none, _Py_REF_MAYBE_WEAKREF, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/* Take a reference to an object that another thread may be about to free; 0 where it is. */
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
        /* 0 where this thread itself is freeing it. */
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

/* Never free an object, which the calling thread has just made: all threads use it, and would wait for its count. */
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

/* The new value of a shared variable, in one step. */
#define s0_add(x, n) ((x) += (n))

/* --- references that are dropped later, when `s0_drop_all` is called by this thread: not each within the one before */

enum { S0_FEW_DROPS = 8 };

typedef struct {
    Py_ssize_t count, room;
    int dropping;
    PyObject **more;                /* those after the first few */
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

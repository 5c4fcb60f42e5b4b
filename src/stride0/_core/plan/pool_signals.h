/* Calls of the pool, and their interruption by signals. Only pool.h may include it. */
#ifndef STRIDE0_POOL_SIGNALS_H
#define STRIDE0_POOL_SIGNALS_H

enum { S0_RAISED = 1, S0_FORKED };

typedef struct {
    s0_chunk body;
    void *context;
    int stop;           /* no more chunks start: a signal handler raised or forked */
    int64_t next_check; /* when the caller checks for signals next; 0 for never */
} s0_call;

/* The call whose chunk this thread runs, and whether this thread is a worker. */
static _Thread_local s0_call *s0_running = NULL;
static _Thread_local int s0_is_worker = 0;

/* Nanoseconds between two checks for signals, below a second; tests shorten them. */
static int s0_uninterrupted = 50000000;

/* Whether Python handles signals in this thread: Python's main thread, which is the main thread of the process unless
 * Python is embedded. Other threads need not acquire the GIL. */
static int s0_handles_signals(void)
{
#if defined(__linux__)
    return syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
    return pthread_main_np();
#else
    return 1;
#endif
}

#if PY_VERSION_HEX < 0x030C0000
/* In these releases PyThreadState_New dereferences a null pointer if it gets no memory. So we make its two calls here. */
PyAPI_FUNC(void) _PyThreadState_SetCurrent(PyThreadState *);
static inline PyThreadState *s0_new_thread_state(void)
{
    PyThreadState *state = _PyThreadState_Prealloc(PyInterpreterState_Main());
    if (state != NULL)
        _PyThreadState_SetCurrent(state);
    return state;
}
#else
#define s0_new_thread_state() PyThreadState_New(PyInterpreterState_Main())
#endif

/* Whether this thread can raise exceptions: Note [Thread states of workers]. It need not hold the interpreter's lock. */
static inline int s0_may_raise(void)
{
    return !s0_is_worker || PyGILState_GetThisThreadState() != NULL || s0_new_thread_state() != NULL;
}

/* Run the handlers of pending signals, in the caller's thread, if a check is due; if one raises, the call stops. */
static void s0_check_signals(s0_call *call)
{
    PyGILState_STATE state;
    s0_call *before;
    int64_t now;
    if (call->next_check == 0 || S0_LOAD(call->stop))
        return;
    now = s0_now();
    if (now < call->next_check)
        return;
    if (!s0_handles_signals()) {
        call->next_check = 0;
        return;
    }
    /* Calls that a handler makes are not part of this call. */
    before = s0_running;
    s0_running = NULL;
    state = PyGILState_Ensure();
    if (PyErr_CheckSignals() != 0)
        S0_STORE(call->stop, S0_RAISED);
    PyGILState_Release(state);
    s0_running = before;
    call->next_check = s0_now() + S0_LOAD(s0_uninterrupted);
}

/* Whether a long chunk should return early because the result is discarded. */
static int s0_is_stopped(void)
{
    s0_call *call = s0_running;
    if (call == NULL)
        return 0;
    if (!s0_is_worker)
        s0_check_signals(call);
    return S0_LOAD(call->stop);
}

#endif

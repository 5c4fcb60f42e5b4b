/* A pool of threads that run the chunks of a call: Note [Claims], Note [Back-off], Note [Bursts]. Only threads.pyx may
 * include it, so that its variables exist once. */
#ifndef STRIDE0_POOL_H
#define STRIDE0_POOL_H

#include <Python.h>
#include <stdint.h>

#if !defined(_WIN32)
#define S0_POOL 1
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include "glibc.h"
S0_FIRST_VERSION(pthread_attr_getstacksize)
S0_FIRST_VERSION(pthread_attr_setstacksize)
S0_FIRST_VERSION(pthread_create)
S0_FIRST_VERSION(pthread_sigmask)
#else
#define S0_POOL 0
#endif

/* Note [Claims]
       A call is a number of chunks, which may run in any order. Every thread has a range of chunks and claims from its
       front; if its range is empty, it claims from the back of other ranges. So in every call of the same size a thread
       runs the same chunks, whose data its cache still holds. No chunk waits for a thread that is not running: the caller
       claims all remaining chunks, and then waits for claimed chunks only, not for threads.

       A range is one word, so a claim is one compare-and-swap. If it succeeds, the call is not finished, because the caller
       returns only when no chunk is pending. A worker that was preempted between two instructions may claim a chunk of a
       later call with a word that it read in an earlier one. It then runs that chunk, as any other worker would. */

/* Note [Processors of workers]
       Linux may wake a thread on the processor of its waker although another processor is idle: in a virtual machine a
       halted processor counts as preempted by the host. The worker then waits for the end of the caller's time slice (1 to
       3 ms; a wake-up on another processor takes 0.2 ms). So the caller's processor is excluded from the affinity of a
       sleeping worker until the worker runs, and a worker does not spin on that processor. */

/* Note [Back-off]
       If a machine has more runnable threads than processors, a worker may get its time slice some milliseconds late, and
       finish its chunk as late. A late worker doubles the time in which calls use one thread; a worker in time halves it. */

/* Note [Bursts]
       Waking a worker costs the caller about 12 us, and the worker starts 50 us later. So sleeping workers are woken by a
       long call or in a burst: calls that follow each other closely. How long a burst will be is not known when it begins,
       but programs repeat themselves. If the last burst was long enough to pay for a wake-up, the first call of the next
       burst wakes the workers; otherwise the call with which the burst becomes long enough does. */

/* Note [Thread states of workers]
       A NumPy loop that gets no memory raises an exception in its thread. So a worker makes a Python thread state before
       its first NumPy loop, and keeps it. (PyGILState_Ensure would make a thread state for each chunk, and end the process
       if there is no memory.) A worker without a thread state leaves the chunk to the caller. */

typedef void (*s0_chunk)(void *context, int chunk);

enum {
    S0_MOST_THREADS = 512,
    S0_LEAST_STACK = 1 << 20    /* bytes of a worker's stack, as LAPACK needs; the default may be smaller */
};

/* Times in nanoseconds. */
enum {
    S0_SPIN = 200000,           /* a worker spins for this time before it sleeps: the cost of waking it */
    S0_CLOSE = 200000,          /* most time between the beginnings of two calls of a burst */
    S0_LATE = 1000000,          /* most time that a sleeping worker takes to start, unless it is late */
    S0_LATE_AWAKE = 5000,       /* the same for a spinning worker */
    S0_LATE_END = 100000,       /* the same for the end of a claimed chunk, beyond twice its usual time */
    S0_CALLER_SPINS = 20000,    /* the caller spins for this time before it sleeps */
    S0_LEAST_BACKOFF = 1000000,
    S0_MOST_BACKOFF = 128000000
};

#define S0_LOAD(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define S0_STORE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)

static int64_t s0_now(void)
{
#if S0_POOL
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
#else
    return 0;
#endif
}

/* --- calls, and their interruption by signals */

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

/* --- how many threads */

static int s0_chosen = 0;       /* by set_num_threads; 0: `s0_limit` */
static int s0_processors = 1;   /* what OMP_NUM_THREADS or the system allowed when the package was imported */
static int s0_limit = 1;        /* the limit of threadpoolctl, initially `s0_processors` */
static int s0_backs_off = 1;    /* tests turn it off */

/* A limit that was set after the import also limits set_num_threads. */
static int s0_threads_allowed(void)
{
    int limit = S0_LOAD(s0_limit), chosen = S0_LOAD(s0_chosen);
    if (!S0_POOL)
        return 1;
    return chosen > 0 && (limit >= s0_processors || chosen < limit) ? chosen : limit;
}

#if S0_POOL

/* --- workers */

enum { S0_ASLEEP, S0_CALLED, S0_AWAKE };

typedef struct {
    _Alignas(64) uint64_t range;    /* unclaimed chunks: the first, and in the upper half the end */
    _Alignas(64) int state;
    pthread_mutex_t lock;
    pthread_cond_t wake;
#if defined(__linux__)
    pid_t id;
    int kept_away;                  /* excluded from the processor of the thread that woke it; */
    cpu_set_t allowed;              /* the affinity to restore when it runs */
#endif
} s0_thread;

/* `published` holds the number of threads of the last call, and above these bits the number of calls. */
enum { S0_COUNT_SHIFT = 10 };

static struct {
    _Alignas(64) uint64_t published;
    s0_call *call;
    int processor;                  /* of the caller */
    _Alignas(64) int pending;       /* chunks that are not finished */
    int caller_sleeps;
    _Alignas(64) char busy;         /* a Python thread has the pool */
    int workers;                    /* number of started workers: the threads 1, 2, ... */
    int forks;                      /* number of forks between the first process and this one */
    int64_t called;                 /* when a sleeping worker was last woken */
    int64_t last_call;              /* time of the last call that found the workers asleep */
    int64_t burst, last_burst;      /* nanoseconds of work in this burst until now, and in the previous one */
    int64_t backoff, backoff_until;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    s0_thread threads[S0_MOST_THREADS];
} s0_pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER};

static inline void s0_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb");
#endif
}

/* The processor that runs this thread; -1 if the system does not tell. */
static inline int s0_processor(void)
{
#if defined(__linux__)
    return sched_getcpu();
#else
    return -1;
#endif
}

static void s0_note_late(int64_t now)
{
    int64_t longer = 2 * S0_LOAD(s0_pool.backoff);
    longer = longer < S0_LEAST_BACKOFF ? S0_LEAST_BACKOFF : longer > S0_MOST_BACKOFF ? S0_MOST_BACKOFF : longer;
    S0_STORE(s0_pool.backoff, longer);
    S0_STORE(s0_pool.backoff_until, now + longer);
}

static void s0_note_in_time(void)
{
    int64_t shorter = S0_LOAD(s0_pool.backoff) / 2;
    S0_STORE(s0_pool.backoff, shorter < S0_LEAST_BACKOFF ? 0 : shorter);
}

/* Claim a chunk from the front of a range, or from its back; -1 if it is empty. */
static int s0_claim(uint64_t *range, int back)
{
    uint64_t found = __atomic_load_n(range, __ATOMIC_ACQUIRE);
    for (;;) {
        uint32_t first = (uint32_t)found, end = (uint32_t)(found >> 32);
        uint64_t left = back ? found - ((uint64_t)1 << 32) : found + 1;
        if (first >= end)
            return -1;
        if (__atomic_compare_exchange_n(range, &found, left, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return (int)(back ? end - 1 : first);
    }
}

/* Claim and run chunks until no chunk is left; returns their number. */
static int s0_run_claims(int own, int threads)
{
    int k, chunk, count = 0;
    for (k = 0; k < threads;) {
        int whose = own + k < threads ? own + k : own + k - threads;
        s0_call *call;
        chunk = s0_claim(&s0_pool.threads[whose].range, k > 0);
        if (chunk < 0) {
            k++;
            continue;
        }
        call = s0_pool.call;
        if (s0_is_worker)
            s0_running = call;
        else
            s0_check_signals(call);
        if (!S0_LOAD(call->stop))
            call->body(call->context, chunk);
        count++;
        if (s0_is_worker) {
            s0_running = NULL;
            if (__atomic_sub_fetch(&s0_pool.pending, 1, __ATOMIC_SEQ_CST) == 0
                && __atomic_load_n(&s0_pool.caller_sleeps, __ATOMIC_SEQ_CST)) {
                pthread_mutex_lock(&s0_pool.lock);
                pthread_cond_signal(&s0_pool.finished);
                pthread_mutex_unlock(&s0_pool.lock);
            }
        }
    }
    return count;
}

/* Note [Processors of workers]: exclude a processor for a sleeping worker. The worker undoes this when it runs. */
static void s0_keep_away(s0_thread *worker, int processor)
{
#if defined(__linux__)
    cpu_set_t others;
    if (processor < 0 || processor >= CPU_SETSIZE || sched_getaffinity(worker->id, sizeof(others), &others) != 0)
        return;
    worker->allowed = others;
    CPU_CLR(processor, &others);
    worker->kept_away = CPU_COUNT(&others) > 0 && sched_setaffinity(worker->id, sizeof(others), &others) == 0;
#else
    (void)worker, (void)processor;
#endif
}

static void s0_let_back(s0_thread *own)
{
#if defined(__linux__)
    if (own->kept_away)
        sched_setaffinity(0, sizeof(own->allowed), &own->allowed);
    own->kept_away = 0;
#else
    (void)own;
#endif
}

/* Wake the workers 2 k and 2 k + 1 if they sleep; each wakes two more. */
static void s0_wake_next(int k, int threads)
{
    int next;
    for (next = k ? 2 * k : 1; next <= 2 * k + 1 && next < threads; next++) {
        s0_thread *worker = &s0_pool.threads[next];
        int asleep = S0_ASLEEP;
        if (__atomic_load_n(&worker->state, __ATOMIC_SEQ_CST) == S0_ASLEEP
            && __atomic_compare_exchange_n(&worker->state, &asleep, S0_CALLED, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            pthread_mutex_lock(&worker->lock);
            s0_keep_away(worker, s0_processor());
            pthread_cond_signal(&worker->wake);
            pthread_mutex_unlock(&worker->lock);
        }
    }
}

/* Wait for a call after `seen`: spin first, but not on the caller's processor. */
static uint64_t s0_wait_for_call(s0_thread *own, uint64_t seen, int64_t until)
{
    uint64_t found;
    int k;
    do {
        for (k = 0; k < 32; k++) {
            found = __atomic_load_n(&s0_pool.published, __ATOMIC_ACQUIRE);
            if (found != seen)
                return found;
            s0_pause();
        }
    } while (s0_now() < until && s0_processor() != S0_LOAD(s0_pool.processor));
    pthread_mutex_lock(&own->lock);
    for (;;) {
        /* Set in each iteration: a late wake-up for a finished call may have changed it. */
        __atomic_store_n(&own->state, S0_ASLEEP, __ATOMIC_SEQ_CST);
        found = __atomic_load_n(&s0_pool.published, __ATOMIC_SEQ_CST);
        if (found != seen)
            break;
        pthread_cond_wait(&own->wake, &own->lock);
        s0_let_back(own);
    }
    __atomic_store_n(&own->state, S0_AWAKE, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&own->lock);
    return found;
}

static void *s0_work(void *argument)
{
    int own = (int)(intptr_t)argument, threads;
    uint64_t seen = 0;
    int64_t until = s0_now() + S0_SPIN;
    s0_is_worker = 1;
#if defined(__linux__)
    s0_pool.threads[own].id = (pid_t)syscall(SYS_gettid);
#endif
    __atomic_store_n(&s0_pool.threads[own].state, S0_AWAKE, __ATOMIC_SEQ_CST);
    for (;;) {
        seen = s0_wait_for_call(&s0_pool.threads[own], seen, until);
        threads = (int)(seen & ((1 << S0_COUNT_SHIFT) - 1));
        if (own >= threads)
            continue;
        s0_wake_next(own, threads);
        s0_run_claims(own, threads);
        /* More threads than processors: spinning would delay the threads that compute. */
        until = own < s0_processors ? s0_now() + S0_SPIN : 0;
    }
    return NULL;
}

/* Start workers up to a number of threads, or as many as the system allows; returns how many threads there are. */
static int s0_start_workers(int threads)
{
    sigset_t all, before;
    size_t stack = 0;
    pthread_attr_t attributes;
    if (S0_LOAD(s0_pool.workers) >= threads - 1)
        return threads;
    /* Workers block all signals: Python's threads handle them. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_getstacksize(&attributes, &stack);
    if (stack < S0_LEAST_STACK)
        pthread_attr_setstacksize(&attributes, S0_LEAST_STACK);
    while (S0_LOAD(s0_pool.workers) < threads - 1) {
        int next = S0_LOAD(s0_pool.workers) + 1;
        s0_thread *worker = &s0_pool.threads[next];
        pthread_t id;
        pthread_mutex_init(&worker->lock, NULL);
        pthread_cond_init(&worker->wake, NULL);
        worker->range = 0;
        S0_STORE(worker->state, S0_CALLED);
        S0_STORE(s0_pool.called, s0_now());
        if (pthread_create(&id, &attributes, s0_work, (void *)(intptr_t)next) != 0)
            break;
        S0_STORE(s0_pool.workers, next);
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return S0_LOAD(s0_pool.workers) + 1;
}

/* In a forked child the workers are gone, and locks may be held by threads that are gone: the pool starts anew. If a signal
 * handler forked in the middle of a call, the child does not complete that call. */
static void s0_after_fork(void)
{
    int k;
    for (k = 0; k <= s0_pool.workers; k++) {
        s0_pool.threads[k].range = 0;
        s0_pool.threads[k].state = S0_CALLED;
    }
    s0_pool.forks++;
    s0_pool.published = 0;
    s0_pool.workers = 0;
    s0_pool.busy = 0;
    s0_pool.caller_sleeps = 0;
    s0_pool.backoff = s0_pool.backoff_until = 0;
    pthread_mutex_init(&s0_pool.lock, NULL);
    pthread_cond_init(&s0_pool.finished, NULL);
}

/* Whether a call, or its burst (Note [Bursts]), is worth the wake-up of workers that sleep. */
static int s0_is_worth_waking(int64_t work, int64_t wake_from, int64_t now)
{
    int64_t burst = work;
    if (now - __atomic_exchange_n(&s0_pool.last_call, now, __ATOMIC_RELAXED) < S0_CLOSE)
        burst += S0_LOAD(s0_pool.burst);
    else
        S0_STORE(s0_pool.last_burst, S0_LOAD(s0_pool.burst));
    S0_STORE(s0_pool.burst, burst);
    return burst >= wake_from || S0_LOAD(s0_pool.last_burst) >= wake_from;
}

/* Whether the workers take part in a call of `work` nanoseconds, by Note [Back-off] and the cost of waking them. */
static int s0_is_worth_calling(int64_t work, int64_t wake_from)
{
    int64_t now;
    int state = S0_LOAD(s0_pool.workers) ? S0_LOAD(s0_pool.threads[1].state) : S0_ASLEEP;
    if (state != S0_AWAKE || S0_LOAD(s0_pool.backoff_until)) {
        now = s0_now();
        if (S0_LOAD(s0_backs_off)) {
            if (state == S0_CALLED && now - S0_LOAD(s0_pool.called) > S0_LATE && now >= S0_LOAD(s0_pool.backoff_until))
                s0_note_late(now);
            if (now < S0_LOAD(s0_pool.backoff_until))
                return 0;
            S0_STORE(s0_pool.backoff_until, 0);
        }
        if (state != S0_AWAKE)
            return s0_is_worth_waking(work, wake_from, now) && (state == S0_ASLEEP || work >= wake_from);
    }
    S0_STORE(s0_pool.burst, S0_LOAD(s0_pool.burst) + work);
    return 1;
}

/* Wait until no chunk is pending. `usual`: nanoseconds that a chunk of this call takes on this thread. */
static void s0_wait_for_chunks(s0_call *call, int64_t began, int64_t usual)
{
    int64_t now = began;
    int k, forks = s0_pool.forks;
    while (__atomic_load_n(&s0_pool.pending, __ATOMIC_ACQUIRE) > 0 && now - began < S0_CALLER_SPINS) {
        for (k = 0; k < 32 && __atomic_load_n(&s0_pool.pending, __ATOMIC_ACQUIRE) > 0; k++)
            s0_pause();
        now = s0_now();
    }
    if (__atomic_load_n(&s0_pool.pending, __ATOMIC_ACQUIRE) == 0) {
        s0_note_in_time();
        return;
    }
    /* Yield, so that an idle processor takes over threads that wait for this processor. */
    __atomic_store_n(&s0_pool.caller_sleeps, 1, __ATOMIC_SEQ_CST);
    while (s0_pool.forks == forks && __atomic_load_n(&s0_pool.pending, __ATOMIC_SEQ_CST) > 0) {
        struct timespec until;
        pthread_mutex_lock(&s0_pool.lock);
        if (__atomic_load_n(&s0_pool.pending, __ATOMIC_SEQ_CST) > 0) {
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += S0_LOAD(s0_uninterrupted);
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&s0_pool.finished, &s0_pool.lock, &until);
        }
        pthread_mutex_unlock(&s0_pool.lock);
        s0_check_signals(call);
    }
    __atomic_store_n(&s0_pool.caller_sleeps, 0, __ATOMIC_SEQ_CST);
    now = s0_now();
    if (now - began > 2 * usual + S0_LATE_END)
        s0_note_late(now);
    else
        s0_note_in_time();
}

static void s0_refuse_fork(void)
{
    PyGILState_STATE state = PyGILState_Ensure();
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "a signal's handler forked this process in a call of several threads, "
                                            "which the child cannot complete");
    PyGILState_Release(state);
}

/* Run the chunks of a call with the pool, which the caller holds. */
static void s0_run_in_pool(s0_call *call, int chunks, int threads)
{
    int k, own, awake, forks = s0_pool.forks;
    int64_t began = s0_now(), now;
    uint64_t count = (S0_LOAD(s0_pool.published) >> S0_COUNT_SHIFT) + 1;
    threads = s0_start_workers(chunks < threads ? chunks : threads);
    awake = threads > 1 ? S0_LOAD(s0_pool.threads[1].state) : S0_AWAKE;
    if (awake == S0_ASLEEP)
        S0_STORE(s0_pool.called, began);
    s0_pool.call = call;
    S0_STORE(s0_pool.processor, s0_processor());
    S0_STORE(s0_pool.pending, chunks);
    for (k = 0; k < threads; k++) {
        uint64_t first = (uint64_t)k * (uint64_t)chunks / (uint64_t)threads;
        uint64_t end = (uint64_t)(k + 1) * (uint64_t)chunks / (uint64_t)threads;
        __atomic_store_n(&s0_pool.threads[k].range, first | end << 32, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&s0_pool.published, count << S0_COUNT_SHIFT | (uint64_t)threads, __ATOMIC_SEQ_CST);
    s0_wake_next(0, threads);
    own = s0_run_claims(0, threads);
    now = s0_now();
    if (s0_pool.forks != forks) {
        call->stop = S0_FORKED;
    } else if (own < chunks) {
        __atomic_sub_fetch(&s0_pool.pending, own, __ATOMIC_SEQ_CST);
        s0_wait_for_chunks(call, now, own ? (now - began) / own : now - began);
        if (s0_pool.forks != forks)
            call->stop = S0_FORKED;
    } else if (threads > 1 && now - began > (awake == S0_AWAKE ? S0_LATE_AWAKE : S0_LATE)) {
        s0_note_late(now);
    }
}

#endif

/* --- for threads.pyx */

/* threadpoolctl identifies the library by this symbol. */
__attribute__((visibility("default"))) const int stride0_thread_pool = S0_POOL;

static void s0_threads_start(int processors)
{
    s0_processors = s0_limit = processors;
#if S0_POOL
    pthread_atfork(NULL, NULL, s0_after_fork);
#endif
}

/* The number of threads for a call of `work` nanoseconds: one more for each `each` nanoseconds. */
static int s0_threads_for(int64_t work, int64_t wake_from, int64_t each)
{
#if S0_POOL
    int64_t most = work / each;
    int allowed = s0_threads_allowed();
    if (allowed > 1 && most > 1 && s0_is_worth_calling(work, wake_from))
        return most < allowed ? (int)most : allowed;
#else
    (void)work, (void)wake_from, (void)each;
#endif
    return 1;
}

/* Run every chunk once, in any order, on up to `threads` threads. One call at a time has the pool; calls of other Python
 * threads meanwhile compute on one thread. An `interruptible` call returns 0 if a signal handler raised: the exception is
 * set, and only some chunks have run. */
static int s0_run_chunks(s0_chunk body, void *context, int chunks, int threads, int interruptible)
{
    s0_call call = {body, context, 0, 0}, *before = s0_running;
    int chunk;
    if (interruptible)
        call.next_check = s0_now() + S0_LOAD(s0_uninterrupted);
    s0_running = &call;
#if S0_POOL
    if (threads > 1 && chunks > 1 && !s0_is_worker && !__atomic_test_and_set(&s0_pool.busy, __ATOMIC_ACQUIRE)) {
        s0_run_in_pool(&call, chunks, threads < S0_MOST_THREADS ? threads : S0_MOST_THREADS);
        if (call.stop == S0_FORKED)
            s0_refuse_fork();
        else
            __atomic_clear(&s0_pool.busy, __ATOMIC_RELEASE);
    } else
#endif
        for (chunk = 0; chunk < chunks; chunk++) {
            s0_check_signals(&call);
            if (call.stop)
                break;
            body(context, chunk);
        }
    s0_running = before;
    return !call.stop;
}

#endif

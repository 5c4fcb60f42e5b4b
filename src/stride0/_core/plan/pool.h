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

#include "pool_signals.h"

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

#include "pool_workers.h"

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

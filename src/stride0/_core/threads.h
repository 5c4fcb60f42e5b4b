/* Teams of threads, by OpenMP where the compiler has it. Included by threads.pyx alone: its variables exist once. */
#ifndef STRIDE0_THREADS_H
#define STRIDE0_THREADS_H

#include <stdint.h>
#if defined(_OPENMP)
#include <omp.h>
#endif
#if !defined(_WIN32)
#include <pthread.h>
#include <time.h>
#endif

typedef void (*s0_part)(void *context, int part);

static int s0_chosen = 0;      /* by set_num_threads; 0 leaves it to OpenMP */
static int s0_at_import = 1;   /* what OpenMP allowed when the package was imported */
static int s0_forked = 0;      /* in a forked child, the team of the parent is gone, and OpenMP does not know */
static char s0_busy = 0;       /* a team is at work for some Python thread */

static void s0_after_fork(void) { s0_forked = 1; }

static void s0_threads_start(void)
{
#if defined(_OPENMP)
    s0_at_import = omp_get_max_threads();
#endif
#if !defined(_WIN32)
    pthread_atfork(NULL, NULL, s0_after_fork);
#endif
}

static int s0_threads_built(void)
{
#if defined(_OPENMP)
    return 1;
#else
    return 0;
#endif
}

/* How many threads the calling thread may use now. A limit that was set in OpenMP since the import (threadpoolctl
 * does that) holds for what set_num_threads chose, too. */
static int s0_threads_allowed(void)
{
#if defined(_OPENMP)
    int now = omp_get_max_threads(), chosen = s0_chosen;
    if (s0_forked)
        return 1;
    if (chosen > 0 && (now >= s0_at_import || chosen < now))
        return chosen;
    return now;
#else
    return 1;
#endif
}

/* The same, for a loop: alone inside of anybody's parallel region. */
static int s0_team(void)
{
#if defined(_OPENMP)
    return omp_in_parallel() ? 1 : s0_threads_allowed();
#else
    return 1;
#endif
}

/* Note [Teams that are awake]
       Threads of a team wait for the next call without sleeping, for some milliseconds. While they do, calling them
       costs half a microsecond; to wake them costs 40 to 70. So work of some 10 microseconds is theirs if they were
       called a moment ago, or if calls like this one follow each other so closely that waking them will pay. */
enum { S0_AWAKE = 3000000, S0_CLOSE = 200000 }; /* nanoseconds */
static int64_t s0_last_team = -S0_AWAKE, s0_last_call = -S0_AWAKE;

static int64_t s0_now(void)
{
#if !defined(_WIN32)
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
#else
    return 0;
#endif
}

static int s0_awake(void)
{
    int64_t now = s0_now(), last = __atomic_exchange_n(&s0_last_call, now, __ATOMIC_RELAXED);
    return now - __atomic_load_n(&s0_last_team, __ATOMIC_RELAXED) < S0_AWAKE || now - last < S0_CLOSE;
}

/* Run every part once, in any order, by up to `threads` threads. One team at a time: several Python threads that
 * each brought one would only be in each other's way, so those that come second compute alone. Where `even`, parts are
 * handed out in the same way every time, neighbours to one thread, so that what it has in its cache serves the next
 * call; otherwise to whoever is free. */
static void s0_run_parts(s0_part body, void *context, int parts, int threads, int even)
{
    int part;
#if defined(_OPENMP)
    if (threads > 1 && parts > 1 && !s0_forked && !__atomic_test_and_set(&s0_busy, __ATOMIC_ACQUIRE)) {
        threads = parts < threads ? parts : threads;
        if (even || parts == threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
            for (part = 0; part < parts; part++)
                body(context, part);
        } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
            for (part = 0; part < parts; part++)
                body(context, part);
        }
        __atomic_store_n(&s0_last_team, s0_now(), __ATOMIC_RELAXED);
        __atomic_clear(&s0_busy, __ATOMIC_RELEASE);
        return;
    }
#endif
    for (part = 0; part < parts; part++)
        body(context, part);
}

#endif

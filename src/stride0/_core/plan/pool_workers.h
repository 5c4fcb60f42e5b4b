/* The workers of the pool: claims, waiting and waking, forks. Only pool.h may include it. */
#ifndef STRIDE0_POOL_WORKERS_H
#define STRIDE0_POOL_WORKERS_H

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

#endif

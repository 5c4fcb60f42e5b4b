/* The thread pool alone, for tests/core/plan/test_pool.py: compiled with the source as it is, and called through ctypes. */
#include "pool.h"

enum { MOST_CHUNKS = 4096 };

typedef struct {
    int runs[MOST_CHUNKS];
    int64_t nanoseconds; /* that a chunk takes */
    int64_t checked;     /* for nested calls */
} seen;

static void wait_for(int64_t nanoseconds)
{
    int64_t until = s0_now() + nanoseconds;
    while (s0_now() < until && !s0_is_stopped())
        ;
}

static void count(void *context, int chunk)
{
    seen *found = context;
    __atomic_fetch_add(&found->runs[chunk], 1, __ATOMIC_RELAXED);
    if (found->nanoseconds)
        wait_for(found->nanoseconds);
}

static int each_once(const seen *found, int chunks)
{
    int k;
    for (k = 0; k < MOST_CHUNKS; k++)
        if (found->runs[k] != (k < chunks))
            return 0;
    return 1;
}

/* A worker that was called and never runs: started as far as the pool knows, without a thread. */
int run_without_the_worker(int chunks, int64_t nanoseconds)
{
    static seen found;
    memset(&found, 0, sizeof(found));
    found.nanoseconds = nanoseconds;
    s0_pool.workers = 1;
    s0_pool.threads[1].state = S0_CALLED;
    s0_run_chunks(count, &found, chunks, 2, 0);
    return each_once(&found, chunks);
}

int64_t backoff(void) { return s0_pool.backoff; }
int threads_for(int64_t work) { return s0_threads_for(work, 100000, 4000); }
void allow(int threads) { s0_threads_start(threads); }
void set_backoff(int64_t nanoseconds) { s0_pool.backoff = nanoseconds; }
void let_backoff_pass(void) { s0_pool.backoff_until = s0_now() - 1; }

/* Calls of 1, 2, ... chunks, one after the other; the first that did not run each once, or 0. */
int run_many(int calls, int threads, int64_t nanoseconds)
{
    int k;
    for (k = 1; k <= calls; k++) {
        seen found;
        memset(&found, 0, sizeof(found));
        found.nanoseconds = nanoseconds;
        if (!s0_run_chunks(count, &found, 1 + k % 97, threads, 0) || !each_once(&found, 1 + k % 97))
            return k;
    }
    return 0;
}

/* Whether a worker can be called again that was woken late for a call that it had finished, `late` nanoseconds. */
int is_called_after_late_wake(int64_t late)
{
    int k;
    run_many(50, 2, 20000);
    for (k = 0; k < 100 && S0_LOAD(s0_pool.threads[1].state) != S0_ASLEEP; k++)
        usleep(1000);
    __atomic_store_n(&s0_pool.published, S0_LOAD(s0_pool.published) + (1 << S0_COUNT_SHIFT), __ATOMIC_SEQ_CST);
    s0_wake_next(0, 2); /* what it finds is empty */
    usleep((useconds_t)(late / 1000));
    s0_wake_next(0, 2); /* once more, for the same call */
    usleep((useconds_t)(late / 1000));
    for (k = 0; k < 1000; k++) {
        run_many(20, 2, 20000);
        if (S0_LOAD(s0_pool.threads[1].state) == S0_AWAKE)
            return 1;
    }
    return 0;
}

static void nest(void *context, int chunk)
{
    seen inner;
    memset(&inner, 0, sizeof(inner));
    s0_run_chunks(count, &inner, 5, 4, 0);
    if (each_once(&inner, 5))
        __atomic_fetch_add(&((seen *)context)->checked, 1, __ATOMIC_RELAXED);
    count(context, chunk);
}

/* Calls made from inside of chunks, on workers as well. */
int run_nested(int chunks, int threads)
{
    seen found;
    memset(&found, 0, sizeof(found));
    s0_run_chunks(nest, &found, chunks, threads, 0);
    return each_once(&found, chunks) && found.checked == chunks;
}

/* An interruptible call of so many chunks; how many began, or -1 where no exception ended it. */
int run_until_signal(int chunks, int threads, int64_t nanoseconds)
{
    static seen found;
    int k, begun = 0, done;
    memset(&found, 0, sizeof(found));
    found.nanoseconds = nanoseconds;
    s0_start_workers(threads);
    done = s0_run_chunks(count, &found, chunks, threads, 1);
    for (k = 0; k < chunks; k++)
        begun += found.runs[k];
    PyGILState_STATE state = PyGILState_Ensure();
    PyErr_Clear();
    PyGILState_Release(state);
    return done ? -1 : begun;
}

/* Every way in which two threads can claim from one range: front and back, until it is empty. */
static uint64_t range;
static int claimed[2 * MOST_CHUNKS];
int claim_all(int back)
{
    int chunk, n = 0;
    while ((chunk = s0_claim(&range, back)) >= 0) {
        __atomic_fetch_add(&claimed[chunk], 1, __ATOMIC_RELAXED);
        n++;
    }
    return n;
}
void set_range(uint32_t first, uint32_t end)
{
    memset(claimed, 0, sizeof(claimed));
    __atomic_store_n(&range, first | (uint64_t)end << 32, __ATOMIC_RELEASE);
}
int times_claimed(int chunk) { return claimed[chunk]; }

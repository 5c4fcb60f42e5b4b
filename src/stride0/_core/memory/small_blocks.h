/* The stacks of small blocks and the counters of memory: per process, or per thread in a free-threaded interpreter.
 * Only storage.pyx may include this file, so that its variables exist once. */
#ifndef STRIDE0_SMALL_BLOCKS_H
#define STRIDE0_SMALL_BLOCKS_H

#include "blocks.h"
#include "guards.h"

enum {
    S0_UNIT = 64,        /* small blocks are multiples of it */
    S0_BINS = 32,        /* blocks of 1 to 32 units */
    S0_STACK_DEPTH = 32,
    S0_KEPT = 4,
    S0_KEPT_SIZE = 1 << 16, /* size of the largest kept block */
};

typedef struct {
    void *block;
    Py_ssize_t size;
} s0_kept;

typedef struct s0_stacks {
    void *blocks[S0_BINS][S0_STACK_DEPTH];
    int count[S0_BINS];
    Py_ssize_t live, most;          /* bytes that arrays own and their peak, since this was last added to the totals */
    Py_ssize_t allocations, reused;
    unsigned emptied;               /* `s0_emptied` when the stacks were last emptied */
    s0_kept kept[S0_KEPT];          /* freed blocks above the small ones, youngest first: Note [Blocks of threads] */
    struct s0_stacks *next, *before; /* the list of all threads' stacks */
} s0_stacks;

static void s0_empty_stacks(s0_stacks *stacks)
{
    for (int bin = 0; bin < S0_BINS; bin++)
        while (stacks->count[bin] > 0) {
            s0_add_own(stacks->count[bin], -1);
            s0_release(stacks->blocks[bin][stacks->count[bin]], (size_t)(bin + 1) * S0_UNIT);
        }
    for (int k = 0; k < S0_KEPT; k++)
        if (stacks->kept[k].block != NULL) {
            s0_release(stacks->kept[k].block, (size_t)stacks->kept[k].size);
            s0_put(stacks->kept[k].block, NULL);
        }
}

/* The counters of threads that have ended, and the counts that were moved here: Note [Counts of threads]. */
static s0_stacks s0_totals;

#if !S0_FREE_THREADED

static s0_stacks s0_only;
#define s0_own_stacks() (&s0_only)
#define s0_first_stacks() (&s0_only)
#define s0_add_to_totals(own) ((void)(own))
#define s0_after_fork_stacks() ((void)0)
#define s0_acquire_cache() ((void)0)
#define s0_leave_cache() ((void)0)
#define s0_take_kept(own, size) ((void *)NULL)
#define s0_keep(own, kept) ((void)(kept), 1)
static inline void s0_empty_all_stacks(void)
{
    s0_empty_stacks(&s0_only);
}

#else

/* Note [Counts of threads]
       Each thread counts for itself; a shared counter would be passed from processor to processor in every call. A thread
       adds its count to the totals when it exceeds S0_MOST_UNCOUNTED bytes. The peak of the process is the totals plus the
       peaks of the threads. It is exact if one thread allocates. Otherwise each thread makes it wrong by at most
       S0_MOST_UNCOUNTED bytes. */
enum { S0_MOST_UNCOUNTED = 1 << 16 };

/* Note [Blocks of threads]
       With a lock around the cached blocks, threads that work on arrays of some kilobytes would wait for each other. So each
       thread keeps the last blocks of up to S0_KEPT_SIZE bytes that it has freed, until it reuses them or ends, and
       passes older ones to the cache. */

/* A block of `size` bytes that this thread keeps, or NULL. */
static inline void *s0_take_kept(s0_stacks *own, Py_ssize_t size)
{
    for (int k = 0; k < S0_KEPT; k++)
        if (own->kept[k].block != NULL && own->kept[k].size == size) {
            void *block = own->kept[k].block;
            s0_put(own->kept[k].block, NULL);
            return block;
        }
    return NULL;
}

/* Atomic stores, because other threads count the kept blocks. */
static inline void s0_put_kept(s0_kept *at, const s0_kept *block)
{
    s0_put(at->block, block->block);
    s0_put(at->size, block->size);
}

/* Keep a freed block. If that displaces an older block, returns 1 and stores that one in `block`, to be cached. */
static inline int s0_keep(s0_stacks *own, s0_kept *block)
{
    s0_kept last = own->kept[S0_KEPT - 1];
    int k;
    for (k = 0; k < S0_KEPT - 1 && own->kept[k].block != NULL; k++)
        ;
    if (k < S0_KEPT - 1)
        last.block = NULL;
    for (; k > 0; k--)
        s0_put_kept(&own->kept[k], &own->kept[k - 1]);
    s0_put_kept(&own->kept[0], block);
    *block = last;
    return last.block != NULL;
}

/* Protects the cached blocks, the totals and the list of stacks. */
static s0_lock s0_cache_lock = 0;
#define s0_acquire_cache() s0_acquire(&s0_cache_lock)
#define s0_leave_cache() s0_leave(&s0_cache_lock)

S0_OF_THREAD s0_stacks *s0_mine = NULL;
static s0_stacks *s0_first = NULL;
#define s0_first_stacks() s0_first
/* How often all stacks were emptied. Each thread empties its own stacks when it next uses them. */
static unsigned s0_emptied = 0;

static void s0_add_counts(s0_stacks *own)
{
    Py_ssize_t most = s0_totals.live + s0_peek(own->most);
    if (most > s0_totals.most)
        s0_totals.most = most;
    s0_totals.live += own->live;
    s0_put(own->live, 0);
    s0_put(own->most, 0);
}

static inline void s0_add_to_totals(s0_stacks *own)
{
    if (own->live > S0_MOST_UNCOUNTED || own->live < -S0_MOST_UNCOUNTED) {
        s0_acquire_cache();
        s0_add_counts(own);
        s0_leave_cache();
    }
}

/* Remove the stacks of a thread that ends or no longer exists from the list; the caller holds the lock. */
static void s0_unlist(s0_stacks *own)
{
    s0_add_counts(own);
    s0_totals.allocations += own->allocations;
    s0_totals.reused += own->reused;
    if (own->before != NULL)
        own->before->next = own->next;
    else
        s0_first = own->next;
    if (own->next != NULL)
        own->next->before = own->before;
}

static void s0_free_stacks(void *stacks)
{
    s0_stacks *own = (s0_stacks *)stacks;
    s0_mine = NULL;
    s0_acquire_cache();
    s0_unlist(own);
    s0_leave_cache();
    s0_empty_stacks(own);
    free(own);
}

/* Free the stacks when this thread ends. */
#if defined(_WIN32)
#include <windows.h>
static DWORD s0_stacks_key = FLS_OUT_OF_INDEXES;
static void WINAPI s0_free_own_stacks(void *stacks)
{
    if (stacks != NULL)
        s0_free_stacks(stacks);
}
static void s0_free_at_end(s0_stacks *own)
{
    s0_acquire_cache();
    if (s0_stacks_key == FLS_OUT_OF_INDEXES)
        s0_stacks_key = FlsAlloc(s0_free_own_stacks);
    s0_leave_cache();
    if (s0_stacks_key != FLS_OUT_OF_INDEXES)
        FlsSetValue(s0_stacks_key, own);
}
#else
#include <pthread.h>
#include "glibc.h"
S0_FIRST_VERSION(pthread_key_create)
S0_FIRST_VERSION(pthread_once)
S0_FIRST_VERSION(pthread_setspecific)
static pthread_key_t s0_stacks_key;
static pthread_once_t s0_stacks_once = PTHREAD_ONCE_INIT;
static void s0_make_key(void)
{
    pthread_key_create(&s0_stacks_key, s0_free_stacks);
}
static void s0_free_at_end(s0_stacks *own)
{
    pthread_once(&s0_stacks_once, s0_make_key);
    pthread_setspecific(s0_stacks_key, own);
}
#endif

static s0_stacks *s0_new_stacks(void)
{
    s0_stacks *own = (s0_stacks *)calloc(1, sizeof(s0_stacks));
    if (own == NULL)
        return NULL;
    s0_free_at_end(own);
    s0_acquire_cache();
    own->emptied = s0_emptied;
    own->next = s0_first;
    if (s0_first != NULL)
        s0_first->before = own;
    s0_first = own;
    s0_leave_cache();
    s0_mine = own;
    return own;
}

/* The stacks of this thread; NULL if there is no memory for them. */
static inline s0_stacks *s0_own_stacks(void)
{
    s0_stacks *own = s0_mine;
    unsigned emptied = __atomic_load_n(&s0_emptied, __ATOMIC_RELAXED);
    if (own == NULL)
        return s0_new_stacks();
    if (own->emptied != emptied) {
        own->emptied = emptied;
        s0_empty_stacks(own);
    }
    return own;
}

static inline void s0_empty_all_stacks(void)
{
    s0_stacks *own = s0_own_stacks();
    if (own != NULL)
        s0_empty_stacks(own);
    __atomic_fetch_add(&s0_emptied, 1, __ATOMIC_RELAXED);
}

/* For a forked process, which has no other threads. They were not stopped within these functions. */
static void s0_after_fork_stacks(void)
{
    s0_stacks *at = s0_first, *next;
    s0_cache_lock = 0;
    for (; at != NULL; at = next) {
        next = at->next;
        if (at != s0_mine) {
            s0_unlist(at);
            s0_empty_stacks(at);
            free(at);
        }
    }
}

#endif

#endif

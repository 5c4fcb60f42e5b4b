/* Blocks of memory from the system, and a clock: the calls of libc and the operating system that `storage.pyx` makes.

   Note [Alignment]
       4K aliasing: if a load and an earlier store have addresses that are equal in the lowest twelve bits, the processor
       assumes that the load depends on the store, and delays the load. A loop whose operand begins a few cache lines
       before its result, modulo the page size, is delayed at every element (docs/design/memory.md has figures).
       Consecutive blocks of malloc lie like that. So the data of larger blocks are aligned to a page, which keeps every
       load ahead of the stores. */

#ifndef S0_BLOCKS_H
#define S0_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#if defined(__linux__)
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define S0_MAPS 1
#ifndef MADV_FREE
#define MADV_FREE 8
#endif
#else
#define S0_MAPS 0
#endif

#define S0_PAGE ((size_t)4096)
#define S0_HUGE_PAGE ((size_t)1 << 21)

/* Blocks of this size or more are mappings of their own. For the smallest of them, a huge page is just not more than 25 % too long. */
#define S0_MAPPED ((size_t)13 << 17)

/* Data are aligned to a cache line, or to a page in blocks of this size or more: Note [Alignment]. */
#define S0_CACHE_LINE ((size_t)64)
#define S0_PAGE_ALIGNED ((size_t)1 << 15)

/* Milliseconds of a monotonic clock. */
static inline int64_t s0_milliseconds(void)
{
#if defined(CLOCK_MONOTONIC_COARSE)
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
#elif defined(CLOCK_MONOTONIC)
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
#else
    return (int64_t)time(NULL) * 1000;
#endif
}

/* The position of the highest set bit. */
static inline int s0_highest_bit(uint64_t n)
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

static inline int s0_is_mapped(size_t size)
{
    return S0_MAPS && size >= S0_MAPPED;
}

/* The alignment of the data of a block of `size` bytes. */
static inline size_t s0_alignment(size_t size)
{
    return size < S0_PAGE_ALIGNED ? S0_CACHE_LINE : S0_PAGE;
}

/* The size of an allocation for `size` bytes of data, with the padding for their alignment. */
static inline size_t s0_extent(size_t size)
{
    return s0_is_mapped(size) ? size : size + s0_alignment(size);
}

/* The length of a mapping for `size` bytes: whole huge pages, unless these are more than 25 % longer. */
static inline size_t s0_mapping(size_t size)
{
    size_t huge = (size + S0_HUGE_PAGE - 1) & ~(S0_HUGE_PAGE - 1);
    return huge - size <= size / 4 ? huge : (size + S0_PAGE - 1) & ~(S0_PAGE - 1);
}

/* Whether Linux gives huge pages to mappings that ask for them by madvise. */
static int s0_has_huge_pages(void)
{
#if S0_MAPS
    char text[128];
    ssize_t length;
    int file = open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) {
        return 0;
    }
    text[length] = 0;
    return strstr(text, "[never]") == NULL;
#else
    return 0;
#endif
}

/* A block from the system, by malloc or as a mapping aligned to huge pages; NULL if there is no memory. */
static void *s0_obtain(size_t size, int zeroed)
{
#if S0_MAPS
    if (s0_is_mapped(size)) {
        size_t length = s0_mapping(size), first;
        char *block = (char *)mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == (char *)MAP_FAILED) {
            return NULL;
        }
        if ((uintptr_t)block & (S0_HUGE_PAGE - 1)) {
            /* Not aligned to a huge page: map one huge page more, and unmap the surplus. */
            munmap(block, length);
            block = (char *)mmap(NULL, length + S0_HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (block == (char *)MAP_FAILED) {
                return NULL;
            }
            first = (size_t)(-(uintptr_t)block) & (S0_HUGE_PAGE - 1);
            if (first) {
                munmap(block, first);
            }
            munmap(block + first + length, S0_HUGE_PAGE - first);
            block += first;
        }
        madvise(block, length, MADV_HUGEPAGE);
        return block;
    }
#endif
    return zeroed ? calloc(s0_extent(size), 1) : malloc(s0_extent(size));
}

static void s0_release(void *block, size_t size)
{
#if S0_MAPS
    if (s0_is_mapped(size)) {
        munmap(block, s0_mapping(size));
        return;
    }
#endif
    (void)size;
    free(block);
}

/* Make a mapping's pages reclaimable: the system may take them until they are written to again. */
static void s0_make_reclaimable(void *block, size_t size)
{
#if S0_MAPS
    /* Whole huge pages only: the system would split a huge page of which it takes a part. */
    madvise(block, s0_mapping(size) & ~(S0_HUGE_PAGE - 1), MADV_FREE);
#else
    (void)block, (void)size;
#endif
}

/* Make a mapping read as zeros, by giving its pages back; 0 if the system refuses. */
static int s0_discard(void *block, size_t size)
{
#if S0_MAPS
    return madvise(block, s0_mapping(size), MADV_DONTNEED) == 0;
#else
    (void)block, (void)size;
    return 0;
#endif
}

#endif

/*
 * page_cache.h: simulates the page cache and faults of io_uring reads. A test that includes this
 * file needs these functions in its "wraps:" line: open64 fstatfs64 wb__source_cached
 * wb__ring_open wb__ring_begin wb__ring_take
 */
#ifndef WB_TESTS_PAGE_CACHE_H
#define WB_TESTS_PAGE_CACHE_H

#include "support.h"

#include <stdatomic.h>
#include <sys/vfs.h>

#include "descriptors.h"
#include "io/ring.h"

/* How io_uring reads behave. All kinds use a real io_uring. In all kinds but GOOD_RING, every
 * second read has a fault: it fails (EIO), returns only 4,096 bytes, or cannot be started. */
typedef enum ring_kind {
    GOOD_RING,
    RING_THAT_FAILS,
    RING_THAT_GIVES_LESS,
    RING_THAT_REFUSES
} ring_kind;

static struct {
    unsigned cached; /* percentage of every range that is in the page cache; above 100: the
                        query fails */
    uint32_t medium; /* f_type reported for every file system; 0: ext4 */
    bool no_ring;
    ring_kind ring;
    _Atomic unsigned rung; /* number of io_uring reads */
    _Atomic unsigned misaligned;
} cold;

static inline void cold_reset(void)
{
    memset(&cold, 0, sizeof cold);
    memset(&opened, 0, sizeof opened);
}

int __real_fstatfs64(int fd, struct statfs *fs);
int __wrap_fstatfs64(int fd, struct statfs *fs);
bool __wrap_wb__source_cached(const wb__source *source, uint64_t offset, uint64_t n,
                              uint64_t *cached);
wb__ring *__real_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);
wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);
bool __real_wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst,
                           size_t n, unsigned tag);
bool __wrap_wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst,
                           size_t n, unsigned tag);
size_t __real_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);
size_t __wrap_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);

int __wrap_fstatfs64(int fd, struct statfs *fs)
{
    int result = __real_fstatfs64(fd, fs);
    uint32_t medium = cold.medium != 0 ? cold.medium : 0xEF53;
    memcpy(&fs->f_type, &(long){(long)medium}, sizeof fs->f_type);
    return result;
}

bool __wrap_wb__source_cached(const wb__source *source, uint64_t offset, uint64_t n,
                              uint64_t *cached)
{
    (void)source, (void)offset;
    *cached = n * cold.cached / 100;
    return cold.cached <= 100;
}

wb__ring *__wrap_wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote)
{
    return cold.no_ring ? NULL : __real_wb__ring_open(allocator, depth, remote);
}

bool __wrap_wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst,
                           size_t n, unsigned tag)
{
    unsigned call = ++cold.rung;
    cold.misaligned += ((uintptr_t)dst | n | (size_t)offset) % 4096 != 0;
    return (cold.ring != RING_THAT_REFUSES || call % 2 != 0) &&
           __real_wb__ring_begin(ring, direct, offset, dst, n, tag);
}

size_t __wrap_wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most)
{
    size_t n = __real_wb__ring_take(ring, done, most);
    for (size_t i = 0; i < n; i++) {
        if (cold.ring == RING_THAT_FAILS && done[i].tag % 2 != 0)
            done[i].result = -EIO;
        if (cold.ring == RING_THAT_GIVES_LESS && done[i].tag % 2 != 0)
            done[i].result = 4096;
    }
    return n;
}

/* Returns true if io_uring can be used: false under valgrind, which does not track its writes. */
static inline bool has_rings(void)
{
    wb__ring *ring = is_slow() ? NULL : __real_wb__ring_open(&wb__default_allocator, 4, false);
    wb__ring_close(ring);
    return ring != NULL;
}

#endif

/*
 * io/ring.h: concurrent direct reads and writes from a single thread (io_uring).
 *
 * A ring needs the liburing header at compile time, liburing.so.2 at run time, and a kernel that
 * permits io_uring; containers and sandboxes often forbid io_uring. If any of these is missing,
 * wb__ring_open returns NULL and the caller reads one block at a time.
 *
 * A ring must be used by one thread at a time. Buffers of submitted operations belong to the kernel
 * until their completion is returned, even after errors: a kernel that rejects further calls may
 * still complete earlier operations.
 */
#ifndef WB_IO_RING_H
#define WB_IO_RING_H

#include "io/direct.h"

typedef struct wb__ring wb__ring;

/*
 * Opens a ring for up to `depth` concurrent reads and writes. Returns NULL if io_uring is
 * unavailable. With `remote`, a kernel thread starts the operations (IOSQE_ASYNC). This increases
 * the total latency, but submitting takes the caller only a tenth of the time.
 */
wb__ring *wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);

/* Waits for all pending operations and frees the ring. NULL is ignored. */
void wb__ring_close(wb__ring *ring);

/*
 * Submits a read of n bytes into dst; offset, n and dst must be multiples of WB__DIRECT_ALIGNMENT.
 * The kernel owns dst until wb__ring_take or wb__ring_look returns the completion, which has the
 * same `tag`. Returns false if the read could not be submitted: because `depth` operations are
 * pending, because n exceeds INT32_MAX, or because the ring has failed. After a failure of the
 * ring, all later submissions fail as well.
 */
bool wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst, size_t n,
                    unsigned tag);

/*
 * Like wb__ring_begin, but submits a write of the n bytes at `src` to the file that `direct` has
 * open.
 */
bool wb__ring_begin_write(wb__ring *ring, const wb__direct *direct, uint64_t offset,
                          const void *src, size_t n, unsigned tag);

typedef struct wb__ring_done {
    unsigned tag;
    int64_t result; /* result of pread or pwrite; a negative value is a negated errno */
} wb__ring_done;

/*
 * Waits until at least one operation completes and returns up to `most` completions; returns 0 if
 * no operation is pending. Every submitted operation is returned eventually, even if the kernel
 * rejects further submissions.
 */
size_t wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);

/* Returns up to `most` completions without waiting. */
size_t wb__ring_look(wb__ring *ring, wb__ring_done *done, size_t most);

#endif

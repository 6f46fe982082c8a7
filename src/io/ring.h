/*
 * io/ring.h: reads and writes past the page cache, several at a time, without a thread for each (io_uring).
 *
 * A ring needs liburing: its header when this is compiled, its library when it runs (liburing.so.2), and a
 * kernel that allows it, which containers and sandboxes often do not. Without any of them there is no
 * ring, and reads are made one by one.
 *
 * A ring is one thread's at a time. Whatever befalls it, memory that it reads into or writes from is known to be its
 * own until that is given back: a kernel that stops to answer may go on all the same.
 */
#ifndef WB_IO_RING_H
#define WB_IO_RING_H

#include "io/direct.h"

typedef struct wb__ring wb__ring;

/*
 * For up to `depth` reads and writes at a time; NULL if there is none to be had. One that is `remote` has a thread of
 * the kernel's begin them, which takes longer altogether, and the caller's a tenth of the time.
 */
wb__ring *wb__ring_open(const wb_allocator *allocator, unsigned depth, bool remote);

/* Waits for what is under way. NULL is ignored. */
void wb__ring_close(wb__ring *ring);

/*
 * Begins to read n bytes into dst; offset, n and dst must be multiples of WB__DIRECT_ALIGNMENT. From then on
 * until wb__ring_take has given the read dst is the kernel's. False if it could not be begun, nor can any
 * after it, unless so many are under way as the ring is deep.
 */
bool wb__ring_begin(wb__ring *ring, const wb__direct *direct, uint64_t offset, void *dst, size_t n,
                    unsigned tag);

/* The same of n bytes of src that are to be written through such a descriptor. */
bool wb__ring_begin_write(wb__ring *ring, const wb__direct *direct, uint64_t offset,
                          const void *src, size_t n, unsigned tag);

typedef struct wb__ring_done {
    unsigned tag;
    int64_t result; /* as of pread and pwrite; below 0 an error number, negated */
} wb__ring_done;

/*
 * Waits until a read or a write is done, and gives up to `most` that are; 0 if none is under way. What was begun is
 * given back sooner or later, also where the kernel will hear of no more.
 */
size_t wb__ring_take(wb__ring *ring, wb__ring_done *done, size_t most);

/* The same without waiting. */
size_t wb__ring_look(wb__ring *ring, wb__ring_done *done, size_t most);

#endif

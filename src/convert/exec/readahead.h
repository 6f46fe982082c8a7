/*
 * convert/exec/readahead.h: what chunks are made of, read while others are computed.
 *
 * Stored bytes that the page cache does not have are read past it (io/direct.h) by a ring (io/ring.h), in pieces of
 * several chunks: processors then encode, where they would wait for the disk and copy what it gave. A worker has one
 * of these, tells it which bytes it is going to need, in their order, and asks for them when it does. Bytes that the
 * page cache has, or that lie on no disk, are left to whoever asks.
 */
#ifndef WB_CONVERT_EXEC_READAHEAD_H
#define WB_CONVERT_EXEC_READAHEAD_H

#include <stdatomic.h>

#include "io/io.h"

/* Bytes that a chunk reads as they lie in a file. */
typedef struct wb__byte_range {
    const wb__source *source;
    uint64_t offset;
    size_t bytes;
} wb__byte_range;

/* Takes bytes out of the memory that is left, if there are so many. */
bool wb__memory_take(atomic_size_t *left, size_t bytes);

typedef struct wb__readahead wb__readahead;

#define WB__READAHEAD_BYTES ((size_t)4 << 20)

/*
 * One worker's. Its WB__READAHEAD_BYTES, which are taken out of `left`, come when there is something to read.
 * NULL: memory is out. Release with wb__readahead_close, which waits for what is under way; NULL is ignored.
 */
wb__readahead *wb__readahead_open(const wb_allocator *allocator, atomic_size_t *left);
void wb__readahead_close(wb__readahead *ahead);

/* These bytes are wanted, after those of the calls before. */
void wb__readahead_expect(wb__readahead *ahead, const wb__byte_range *place);

/* Begins to read; true if anything is under way: whoever knows what is wanted next had better say so. */
bool wb__readahead_begin(wb__readahead *ahead);

/*
 * The bytes, which are the caller's to change until the next call; *bytes is NULL if they are not read ahead. What was
 * expected before them is not wanted any more.
 */
wb_status wb__readahead_take(wb__readahead *ahead, wb__context *context,
                             const wb__byte_range *place, uint8_t **bytes);

#endif

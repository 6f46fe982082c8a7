/*
 * convert/exec/readahead.h: reads the input of later tiles while earlier tiles are computed.
 *
 * Data that are not in the page cache are read with direct I/O (io/direct.h) through io_uring
 * (io/ring.h), in pieces of several tiles. Meanwhile the CPU encodes tiles and does not wait for
 * the disk or copy data. Each worker has its own read-ahead object. The worker announces the byte
 * ranges that it will need, in order, and takes each range when it needs the data. Ranges that are
 * in the page cache or not on a disk are not read ahead. The worker reads such ranges itself.
 */
#ifndef WB_CONVERT_EXEC_READAHEAD_H
#define WB_CONVERT_EXEC_READAHEAD_H

#include <stdatomic.h>

#include "io/io.h"

/* A byte range of a file that a tile reads. */
typedef struct wb__byte_range {
    const wb__source *source;
    uint64_t offset;
    size_t bytes;
} wb__byte_range;

/* Subtracts `bytes` from the remaining memory budget *left. Returns false and changes nothing if
 * fewer bytes remain. */
bool wb__memory_take(atomic_size_t *left, size_t bytes);

typedef struct wb__readahead wb__readahead;

#define WB__READAHEAD_BYTES ((size_t)4 << 20)

/* Creates the read-ahead object of a worker. The first read allocates WB__READAHEAD_BYTES bytes,
 * which are subtracted from the memory budget *left. Returns NULL if out of memory.
 * wb__readahead_close waits for reads in progress, frees the object, and ignores NULL. */
wb__readahead *wb__readahead_open(const wb_allocator *allocator, atomic_size_t *left);
void wb__readahead_close(wb__readahead *ahead);

/* Announces a range. Ranges must be taken in the order in which they were announced. */
void wb__readahead_expect(wb__readahead *ahead, const wb__byte_range *place);

/* Starts to read announced ranges. Returns true if a read is in progress. The caller should then
 * announce the ranges that it needs next. */
bool wb__readahead_begin(wb__readahead *ahead);

/* Sets *bytes to the data of an announced range, or to NULL if the range was not read ahead. The
 * caller may modify the data, which are valid until the next wb__readahead_take. Discards the
 * ranges that were announced before this range. */
wb_status wb__readahead_take(wb__readahead *ahead, wb__context *context,
                             const wb__byte_range *place, uint8_t **bytes);

#endif

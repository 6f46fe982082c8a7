/* convert/exec/readahead.h: reads the input of later tiles while earlier tiles are computed.
 *
 * Data that are not in the page cache are read with direct I/O (io/direct.h) through io_uring
 * (io/ring.h), in pieces of several tiles. The CPU encodes tiles meanwhile instead of waiting
 * for the disk and copying. Each worker has one read-ahead object, announces the byte ranges it
 * will need in order, and takes each range when it needs the data. Ranges that are in the page
 * cache or not on a disk are not read ahead; the consumer reads them. */
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

/* Reserves bytes of the remaining memory budget. Returns false if fewer bytes remain. */
bool wb__memory_take(atomic_size_t *left, size_t bytes);

typedef struct wb__readahead wb__readahead;

#define WB__READAHEAD_BYTES ((size_t)4 << 20)

/* Creates the read-ahead of one worker. It allocates its WB__READAHEAD_BYTES, charged to `left`,
 * at the first read. Returns NULL if memory allocation fails. Free with wb__readahead_close,
 * which waits for reads in progress and ignores NULL. */
wb__readahead *wb__readahead_open(const wb_allocator *allocator, atomic_size_t *left);
void wb__readahead_close(wb__readahead *ahead);

/* Announces a range that will be taken after the ranges announced before. */
void wb__readahead_expect(wb__readahead *ahead, const wb__byte_range *place);

/* Starts reads. Returns true if any read is in progress; the caller should then announce its
 * next ranges. */
bool wb__readahead_begin(wb__readahead *ahead);

/* Sets *bytes to the data of a range, or to NULL if the range was not read ahead. The caller may
 * modify the data, which are valid until the next call. Drops all ranges announced before this
 * one. */
wb_status wb__readahead_take(wb__readahead *ahead, wb__context *context,
                             const wb__byte_range *place, uint8_t **bytes);

#endif

/*
 * inflate: what deflate has compressed (RFC 1951), unpacked by zlib.
 *
 * zlib is looked for when it is needed, so that the library builds and runs without it, and without
 * it only compressed bytes cannot be had. Its memory comes from the caller's allocator. An inflater
 * unpacks one stream after another, each from front to back, from and into pieces of any size.
 */
#ifndef WB_INFLATE_INFLATE_H
#define WB_INFLATE_INFLATE_H

#include "core/core.h"

/* Deflate makes nothing smaller than a 1032nd: a match of 258 bytes takes two bits at least. */
#define WB__INFLATE_RATIO 1032

typedef struct wb__inflater wb__inflater;

/* Owned, release with wb__inflater_free. UNSUPPORTED if there is no zlib; MEMORY. */
wb_status wb__inflater_new(wb__context *context, wb__inflater **inflater);
void wb__inflater_free(wb__inflater *inflater); /* NULL is ignored */

/* Begins a stream. */
void wb__inflater_start(wb__inflater *inflater);

typedef enum wb__inflated {
    WB__INFLATED_MORE, /* `in` is used up or `out` is full, and the stream goes on */
    WB__INFLATED_END,  /* the stream ended */
    WB__INFLATED_BROKEN,
    WB__INFLATED_NO_MEMORY
} wb__inflated;

/* Bytes to be read and room to write; both are moved along. */
typedef struct wb__inflate_step {
    const uint8_t *in;
    size_t in_bytes;
    uint8_t *out;
    size_t out_bytes;
} wb__inflate_step;

wb__inflated wb__inflater_run(wb__inflater *inflater, wb__inflate_step *step);

#endif

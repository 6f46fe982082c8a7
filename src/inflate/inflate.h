/*
 * inflate: decompression of deflate streams (RFC 1951) by zlib.
 *
 * zlib is loaded at run time when it is needed. The library builds and runs without it; only
 * compressed data cannot be read then. zlib's memory comes from the caller's allocator. An inflater
 * decompresses one stream after another, each from start to end, with input and output buffers of
 * any size.
 */
#ifndef WB_INFLATE_INFLATE_H
#define WB_INFLATE_INFLATE_H

#include "core/core.h"

/* The maximum compression ratio of deflate: a match of 258 bytes takes at least two bits. */
#define WB__INFLATE_RATIO 1032

/* A compression ratio that data of models rarely exceeds. Only decompressed bytes beyond this
 * ratio count towards the limit wb_limits.inflated. */
#define WB__INFLATE_USUAL_RATIO 16

typedef struct wb__inflater wb__inflater;

/*
 * Creates an inflater; the caller owns it and frees it with wb__inflater_free. Fails with
 * UNSUPPORTED if zlib is not installed, or with MEMORY.
 */
wb_status wb__inflater_new(wb__context *context, wb__inflater **inflater);
void wb__inflater_free(wb__inflater *inflater); /* NULL is ignored */

/* Starts a new stream. */
void wb__inflater_start(wb__inflater *inflater);

typedef enum wb__inflated {
    /* the input is used up or the output buffer is full, and the stream continues */
    WB__INFLATED_MORE,
    WB__INFLATED_END, /* the stream ended */
    WB__INFLATED_BROKEN,
    WB__INFLATED_NO_MEMORY
} wb__inflated;

/*
 * The input to read and the output buffer to fill. wb__inflater_run advances both pointers and
 * reduces both sizes.
 */
typedef struct wb__inflate_step {
    const uint8_t *in;
    size_t in_bytes;
    uint8_t *out;
    size_t out_bytes;
} wb__inflate_step;

wb__inflated wb__inflater_run(wb__inflater *inflater, wb__inflate_step *step);

#endif

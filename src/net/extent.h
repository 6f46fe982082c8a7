/*
 * net/extent.h: predicts from the first bytes of a file how long its header is.
 *
 * Each request costs a round trip, so one request should fetch the rest of a header; but bytes that
 * are not needed cost time too. The header of a safetensors file begins with its length. A GGUF
 * file has no such number: its keys are read one by one, without storing them. If the bytes end
 * inside a long array of strings, its size is extrapolated from the elements read so far.
 * The prediction may be too short or too long, never harmful: it only determines how much is
 * fetched ahead.
 */
#ifndef WB_NET_EXTENT_H
#define WB_NET_EXTENT_H

#include "core/core.h"

typedef enum wb__extent_kind {
    WB__EXTENT_UNKNOWN, /* too few bytes so far */
    WB__EXTENT_SAFETENSORS,
    WB__EXTENT_GGUF,
    WB__EXTENT_OTHER
} wb__extent_kind;

typedef struct wb__extent {
    wb__extent_kind kind;
    uint64_t fed; /* number of bytes fed so far: the next feed begins at this file offset */
    uint64_t end; /* predicted end of the header, as a file offset; 0: no prediction */

    /* ---- GGUF ---- */
    uint64_t at;       /* offset of the next item; may be after `fed` */
    uint8_t item[8];   /* first bytes of the next item, if a feed ended inside it */
    size_t item_bytes; /* number of bytes in `item` */
    unsigned phase;
    uint64_t keys, tensors;            /* number of keys and tensors that are left to read */
    uint64_t elements;                 /* elements of the current array that are left to read */
    uint64_t array_at, array_elements; /* start of the current array of strings, and its length */
    uint32_t type;                     /* type of the current value or element */
    bool has_merges;
    uint64_t tokens; /* number of tokens: elements of the first long array of strings */
} wb__extent;

/* Takes the next bytes of the file. Bytes after the end of the header are ignored. */
void wb__extent_feed(wb__extent *extent, const uint8_t *bytes, size_t n);

#endif

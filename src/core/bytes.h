/*
 * core/bytes.h: bytes at any offset, for formats whose directory does not stand at the front.
 *
 * A reader that gets these keeps to the rule all the same: what it has read once it does not read
 * again, so that a file that changes meanwhile cannot give two answers.
 */
#ifndef WB_CORE_BYTES_H
#define WB_CORE_BYTES_H

#include "core/checked.h"
#include "core/context.h"

typedef struct wb__bytes {
    uint64_t count;
    const void *ctx;
    /* Fills dst with the n bytes at `offset`, which are within `count`, or fails. */
    wb_status (*read)(const void *ctx, wb__context *context, uint64_t offset, void *dst, size_t n);
} wb__bytes;

#endif

/*
 * core/bytes.h: random access to bytes, for formats whose table of contents is not at the start of
 * the file.
 *
 * A reader must not read the same bytes twice. Otherwise a file that changes meanwhile could give
 * two different answers.
 */
#ifndef WB_CORE_BYTES_H
#define WB_CORE_BYTES_H

#include "core/checked.h"
#include "core/context.h"

typedef struct wb__bytes {
    uint64_t count;
    const void *ctx;
    /* Fills dst with the n bytes at `offset`, or fails. The caller ensures offset + n <= count. */
    wb_status (*read)(const void *ctx, wb__context *context, uint64_t offset, void *dst, size_t n);
} wb__bytes;

#endif

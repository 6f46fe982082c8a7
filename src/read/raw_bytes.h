/*
 * read/raw_bytes.h: the bytes of a stored tensor, element after element in row-major order.
 *
 * Most lie in the file just so. Those of a compressed member of an archive are unpacked from front to
 * back; whoever goes back further than a little, or asks for column-major elements by rows, has the
 * whole tensor unpacked or read into memory. What was made for one piece of a tensor serves for the next
 * (holder.h). The order of bytes within a number is left as it is.
 */
#ifndef WB_READ_RAW_BYTES_H
#define WB_READ_RAW_BYTES_H

#include "handle/decode_cache.h"
#include "read/read.h"

typedef struct wb__raw_bytes {
    const wb_model *model;
    wb__context *context;
    const wb__source *source;
    const wb__storing *storing; /* NULL: as it is */
    const wb__kind *kind;
    size_t tensor;
    uint64_t at;                       /* in the file */
    struct wb__inflate_stream *packed; /* from the first read of what is compressed on */
    struct wb__cached_tensor *whole; /* all bytes, in the order of the file; NULL: not needed yet */
    bool in_order;                   /* row-major is asked for, and not what the file has */
} wb__raw_bytes;

/* Release with wb__raw_bytes_close. Cheap: nothing is read. */
void wb__raw_bytes_open(wb__raw_bytes *stored, const wb_model *model, wb__context *context,
                        size_t tensor);
void wb__raw_bytes_close(wb__raw_bytes *stored);

/* Elements as the file has them, for those who do not mind which is which. */
void wb__raw_bytes_any_order(wb__raw_bytes *stored);

/*
 * Fills dst with the n bytes at `at`, whole elements of column-major tensors. FORMAT if what is
 * compressed is damaged, and the checksum of that once its end was read.
 */
wb_status wb__raw_bytes_read(wb__raw_bytes *stored, uint64_t at, void *dst, size_t n);

#endif

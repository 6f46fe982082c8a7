/*
 * read/raw_bytes.h: the bytes of a stored tensor, in row-major order of its elements.
 *
 * Most tensors are stored this way. Compressed tensors are decompressed from front to back. Seeking
 * far backwards, or reading a column-major tensor by rows, reads the whole tensor into memory. The
 * decode cache keeps streams and whole tensors between reads (handle/decode_cache.h). The byte
 * order within numbers is unchanged.
 */
#ifndef WB_READ_RAW_BYTES_H
#define WB_READ_RAW_BYTES_H

#include "handle/decode_cache.h"
#include "read/read.h"

typedef struct wb__raw_bytes {
    const wb_model *model;
    wb__context *context;
    const wb__source *source;
    const wb__storing *storing; /* NULL: plain row-major bytes */
    const wb__kind *kind;
    size_t tensor;
    uint64_t at;                       /* offset of the tensor in the file */
    struct wb__inflate_stream *packed; /* stream of a compressed tensor, from the first read on */
    struct wb__cached_tensor *whole; /* all bytes, in the order of the file; NULL: not needed yet */
    bool in_order; /* the caller requests row-major order, and the file has another order */
} wb__raw_bytes;

/* Opens the bytes of a tensor without reading any. The caller must call wb__raw_bytes_close. */
void wb__raw_bytes_open(wb__raw_bytes *stored, const wb_model *model, wb__context *context,
                        size_t tensor);
void wb__raw_bytes_close(wb__raw_bytes *stored);

/* Selects file order instead of row-major order, for callers that do not depend on the order. */
void wb__raw_bytes_any_order(wb__raw_bytes *stored);

/*
 * Fills dst with the n bytes at offset `at`. For column-major tensors, `at` and n must cover whole
 * elements. Fails with WB_ERROR_FORMAT if compressed data is damaged. The checksum is compared when
 * the end has been read.
 */
wb_status wb__raw_bytes_read(wb__raw_bytes *stored, uint64_t at, void *dst, size_t n);

#endif

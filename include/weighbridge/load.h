/*
 * weighbridge/load.h: reading all weights once, in the order of the files.
 */
#ifndef WEIGHBRIDGE_LOAD_H
#define WEIGHBRIDGE_LOAD_H

#include "weighbridge/device.h"
#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of a tensor, passed to callbacks as it is loaded. */
typedef struct wb_piece {
    size_t size;      /* sizeof(wb_piece) */
    uint64_t tensor;  /* index for wb_tensor_at; of the part, if the tensor has several */
    uint64_t at;      /* offset of the piece in the tensor, after conversion */
    uint64_t bytes;   /* size of the piece, after conversion */
    const void *data; /* unaligned */
    int32_t dtype;    /* wb_dtype of the elements, after conversion */
    uint32_t lasting; /* 1: data is valid until wb_close; 0: only during the call */
} wb_piece;
#define WB_PIECE_INIT WB_INIT(wb_piece)

/* Number of bytes, and nanoseconds summed over all threads. */
typedef struct wb_load_report {
    size_t size;           /* sizeof(wb_load_report) */
    uint64_t bytes;        /* bytes of files that were processed: the sum of the next four */
    uint64_t in_memory;    /* already in memory: a snapshot, or the caller's memory */
    uint64_t mapped;       /* mapped from the page cache */
    uint64_t copied;       /* read through the page cache */
    uint64_t direct;       /* read with direct I/O */
    uint64_t read_ns;      /* reading */
    uint64_t digest_ns;    /* SHA-256 */
    uint64_t convert_ns;   /* conversion */
    uint64_t consume_ns;   /* callbacks of the caller */
    uint64_t uploaded;     /* bytes copied to wb_load_options.device */
    uint64_t upload_ns;    /* uploads, and waiting for uploads */
    uint64_t processor_ns; /* processor time, including the kernel */
} wb_load_report;
#define WB_LOAD_REPORT_INIT WB_INIT(wb_load_report)

/* Process complete files, including headers, and compute the SHA-256 of each. */
#define WB_LOAD_DIGEST 1u

/* Convert the floating-point elements of plain tensors to wb_load_options.dtype. */
#define WB_LOAD_CONVERT 2u

typedef struct wb_load_options {
    size_t size;     /* sizeof(wb_load_options) */
    wb_io io;        /* default WB_IO_AUTO */
    uint32_t flags;  /* WB_LOAD_* */
    int32_t dtype;   /* for WB_LOAD_CONVERT: a float type of at least 8 bits */
    uint32_t lanes;  /* number of pieces processed at the same time; 0: 4, at most 64 */
    uint64_t memory; /* bytes of all buffers; 0: 32 MiB, or 64 MiB with WB_LOAD_CONVERT */
    const wb_executor *executor; /* NULL: that of the model. It runs one task for each of `lanes` */
    const wb_progress
        *progress; /* NULL: none; called by one thread at a time, not always the same */
    void *ctx;     /* for the functions below, each of which may be NULL */
    /*
     * Receives a piece; called by several threads at the same time. A result other than 0 stops
     * loading with WB_ERROR_CANCELLED.
     */
    int (*consume)(void *ctx, const wb_piece *piece);
    /*
     * Returns the address that `bytes` bytes at `offset` of a file are read to, with space up to
     * the next multiple of 4096 bytes; NULL: a buffer of the library. Direct I/O reads directly to
     * this address if it is aligned to 4096 bytes, as `offset` is. Called by several threads at the
     * same time.
     */
    void *(*place)(void *ctx, uint64_t file, uint64_t offset, uint64_t bytes);
    /*
     * Receives the SHA-256 of a file that has been read completely. Called by one thread at a time.
     */
    void (*digest)(void *ctx, uint64_t file, const uint8_t sha256[32]);
    /*
     * With `target`: the device that pieces are copied to, after `consume`, while others are read.
     * All copies are complete when wb_load returns.
     */
    const wb_device *device;
    /*
     * Returns the buffer that a piece is copied to, and the offset in this buffer; NULL: no copy.
     * Called by several threads at the same time.
     */
    void *(*target)(void *ctx, const wb_piece *piece, uint64_t *offset);
} wb_load_options;
#define WB_LOAD_OPTIONS_INIT WB_INIT(wb_load_options)

/*
 * Reads the bytes of all tensors once, in the order of the files: reads them, computes digests,
 * converts them and passes them to the caller. These steps overlap, as far as the executor has
 * threads. Each byte of each stored tensor is passed exactly once, in pieces; converted pieces are
 * whole elements. Pieces of one tensor arrive in any order. The bytes are those of wb_tensor_read:
 * tensors that are compressed, column-major or big-endian (wb_tensor.storing) are read one by one
 * and passed uncompressed, row-major and little-endian; a column-major tensor is in memory as a
 * whole during this time.
 *
 * options  NULL: the bytes are read and discarded
 * report   may be NULL; filled in even if loading fails
 *
 * If a file ends early or cannot be read, WB_ERROR_IO has the file and offset; a mapped file that
 * is truncated raises SIGBUS instead, see wb_access. Also fails with CANCELLED, MEMORY, UNSUPPORTED
 * (no zlib for compressed tensors), ARGUMENT, and with FORMAT if compressed data is damaged or if
 * the SHA-256 of a file differs from its name, as in Ollama's stores.
 */
WB_API wb_status wb_load(const wb_model *model, const wb_load_options *options,
                         wb_load_report *report, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif

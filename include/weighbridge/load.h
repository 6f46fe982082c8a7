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

/* A loaded piece of a tensor: a range of its bytes, which wb_load passes to callbacks. */
typedef struct wb_piece {
    size_t size;      /* sizeof(wb_piece) */
    uint64_t tensor;  /* index for wb_tensor_at, of a tensor or of a part of a tensor */
    uint64_t at;      /* byte offset of the piece in the tensor, after conversion */
    uint64_t bytes;   /* size of the piece, after conversion */
    const void *data; /* the bytes; may be unaligned */
    int32_t dtype;    /* wb_dtype of the elements, after conversion */
    uint32_t lasting; /* 1: `data` is valid until wb_close; 0: only during the callback */
} wb_piece;
#define WB_PIECE_INIT WB_INIT(wb_piece)

/*
 * Statistics of a load. Members that end in _ns are times in nanoseconds, summed over all threads.
 */
typedef struct wb_load_report {
    size_t size;           /* sizeof(wb_load_report) */
    uint64_t bytes;        /* number of processed bytes of the files: sum of the next 4 members */
    uint64_t in_memory;    /* bytes already in memory (WB_ACCESS_SNAPSHOT, wb_open_memory) */
    uint64_t mapped;       /* bytes mapped from the page cache */
    uint64_t copied;       /* bytes read through the page cache */
    uint64_t direct;       /* bytes read with direct I/O */
    uint64_t read_ns;      /* time of reading */
    uint64_t digest_ns;    /* time of computing SHA-256 */
    uint64_t convert_ns;   /* time of converting */
    uint64_t consume_ns;   /* time of the `consume` callbacks */
    uint64_t uploaded;     /* bytes copied to wb_load_options.device */
    uint64_t upload_ns;    /* time of uploads, and of waiting for uploads */
    uint64_t processor_ns; /* processor time of the load, including time in the kernel */
} wb_load_report;
#define WB_LOAD_REPORT_INIT WB_INIT(wb_load_report)

/* Read complete files, including headers, and compute the SHA-256 digest of each. */
#define WB_LOAD_DIGEST 1u

/* Convert the floating-point elements of plain tensors to wb_load_options.dtype. */
#define WB_LOAD_CONVERT 2u

typedef struct wb_load_options {
    size_t size;     /* sizeof(wb_load_options) */
    wb_io io;        /* how the files are read; default WB_IO_AUTO */
    uint32_t flags;  /* WB_LOAD_* */
    int32_t dtype;   /* for WB_LOAD_CONVERT: a floating-point dtype of at least 8 bits */
    uint32_t lanes;  /* number of tasks that process pieces in parallel; at most 64; 0: 4 */
    uint64_t memory; /* limit of all buffers, in bytes; 0: 32 MiB, with WB_LOAD_CONVERT 64 MiB */
    const wb_executor *executor; /* runs the `lanes` tasks; NULL: the executor of the model */
    const wb_progress *progress; /* NULL: none; called by one thread at a time, but by any thread */
    void *ctx;                   /* passed to the callbacks below, each of which may be NULL */
    /*
     * Receives a piece. Several threads call this at the same time. A result other than 0 stops the
     * load with WB_ERROR_CANCELLED.
     */
    int (*consume)(void *ctx, const wb_piece *piece);
    /*
     * Returns the address to which `bytes` bytes at `offset` of a file are read, or NULL for a
     * buffer of the library. The size of the memory at this address must be at least `bytes`,
     * rounded up to a multiple of 4096. Direct I/O reads directly to this address if it is a
     * multiple of 4096; `offset` always is one. Several threads call this at the same time.
     */
    void *(*place)(void *ctx, uint64_t file, uint64_t offset, uint64_t bytes);
    /*
     * Receives the SHA-256 digest of a file that has been read completely. One thread at a time
     * calls this.
     */
    void (*digest)(void *ctx, uint64_t file, const uint8_t sha256[32]);
    /*
     * The device to which pieces are copied, if `target` is not NULL. A piece is copied after
     * `consume` has returned for it, while other pieces are read. All copies are complete when
     * wb_load returns.
     */
    const wb_device *device;
    /*
     * Returns the device buffer to which a piece is copied, and sets *offset to the byte offset of
     * the piece in this buffer; NULL: the piece is not copied. Several threads call this at the
     * same time.
     */
    void *(*target)(void *ctx, const wb_piece *piece, uint64_t *offset);
} wb_load_options;
#define WB_LOAD_OPTIONS_INIT WB_INIT(wb_load_options)

/*
 * Reads the bytes of all tensors once, in the order of the files, and passes them to the caller in
 * pieces. On request also computes digests and converts the pieces. These steps overlap if the
 * executor has several threads. Each byte of each stored tensor is passed exactly once. The pieces
 * of a tensor arrive in any order. A converted piece consists of whole elements.
 *
 * The bytes are those that wb_tensor_read returns. Tensors that are stored compressed, column-major
 * or big-endian (wb_tensor.storing) are read one by one and passed uncompressed, row-major and
 * little-endian. A column-major tensor is read into memory as a whole.
 *
 * options  NULL: the bytes are read and discarded
 * report   filled in even if the load fails; may be NULL
 *
 * IO if a file ends early or cannot be read; the error has the file and offset. A mapped file that
 * is truncated raises SIGBUS instead, see wb_access. Also fails with CANCELLED, MEMORY, ARGUMENT,
 * UNSUPPORTED (no zlib for compressed tensors), or FORMAT if compressed data is damaged or the
 * SHA-256 digest of a file differs from the digest in its name, as in Ollama's stores.
 */
WB_API wb_status wb_load(const wb_model *model, const wb_load_options *options,
                         wb_load_report *report, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif

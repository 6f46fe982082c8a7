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

/* A piece of a tensor, as it arrives. */
typedef struct wb_piece {
    size_t size;      /* sizeof(wb_piece) */
    uint64_t tensor;  /* for wb_tensor_at; of a tensor of several parts the number of the part */
    uint64_t at;      /* bytes of the tensor before this piece, after conversion */
    uint64_t bytes;   /* of this piece, after conversion */
    const void *data; /* unaligned */
    int32_t dtype;    /* what the elements are now */
    uint32_t lasting; /* 1: data stays until wb_close; 0: until the call returns */
} wb_piece;
#define WB_PIECE_INIT WB_INIT(wb_piece)

/* Bytes, and nanoseconds added up over all threads, that loading took. */
typedef struct wb_load_report {
    size_t size;           /* sizeof(wb_load_report) */
    uint64_t bytes;        /* of files that were gone through: the four that follow, added up */
    uint64_t in_memory;    /* needed no fetching: a snapshot, the caller's memory */
    uint64_t mapped;       /* used where they lie in the page cache */
    uint64_t copied;       /* read through the page cache */
    uint64_t direct;       /* read past it */
    uint64_t read_ns;      /* fetching */
    uint64_t digest_ns;    /* SHA-256 */
    uint64_t convert_ns;   /* conversion */
    uint64_t consume_ns;   /* the caller's own functions */
    uint64_t uploaded;     /* to wb_load_options.device */
    uint64_t upload_ns;    /* handing it over, and waiting until it was taken */
    uint64_t processor_ns; /* processors were busy so long, in the kernel as well */
} wb_load_report;
#define WB_LOAD_REPORT_INIT WB_INIT(wb_load_report)

/* Go through whole files, headers included, and compute the SHA-256 of each. */
#define WB_LOAD_DIGEST 1u

/* Convert the floating-point elements of plain tensors to wb_load_options.dtype. */
#define WB_LOAD_CONVERT 2u

typedef struct wb_load_options {
    size_t size;     /* sizeof(wb_load_options) */
    wb_io io;        /* default WB_IO_AUTO */
    uint32_t flags;  /* WB_LOAD_* */
    int32_t dtype;   /* for WB_LOAD_CONVERT: a float of whole bytes */
    uint32_t lanes;  /* pieces in hand at the same time; 0: 4, and at most 64 */
    uint64_t memory; /* bytes of buffers for all lanes; 0: 32 MiB, or 64 to convert */
    const wb_executor
        *executor; /* NULL: that of the model. As many lanes go on at once as it runs */
    const wb_progress
        *progress; /* NULL: none; called by one thread at a time, not always the same */
    void *ctx;     /* for the functions below, any of which may be NULL */
    /*
     * Takes a piece; called by several threads at once. A result other than 0 makes loading stop
     * with WB_ERROR_CANCELLED.
     */
    int (*consume)(void *ctx, const wb_piece *piece);
    /*
     * Where the `bytes` bytes at `offset` of a file are to go, with room for as many as 4096 divides;
     * NULL: into a buffer of the library's. What is read past the page cache is read straight into
     * place if that is aligned to 4096 bytes, as `offset` is. Called by several threads at once.
     */
    void *(*place)(void *ctx, uint64_t file, uint64_t offset, uint64_t bytes);
    /* Takes the SHA-256 of a file, when all of it has been read. One call at a time. */
    void (*digest)(void *ctx, uint64_t file, const uint8_t sha256[32]);
    /*
     * With `target`: where pieces are copied to, after `consume` has seen them, while others are
     * fetched. All are there when wb_load returns.
     */
    const wb_device *device;
    /*
     * The buffer that a piece goes to, and at which of its bytes; NULL: the piece is not copied. Called
     * by several threads at once.
     */
    void *(*target)(void *ctx, const wb_piece *piece, uint64_t *offset);
} wb_load_options;
#define WB_LOAD_OPTIONS_INIT WB_INIT(wb_load_options)

/*
 * Goes through the bytes of all tensors once, in the order of the files: fetches them, computes the
 * digests of the files, converts and hands them over, each of these while others go on, as far as the
 * executor has threads. Every byte of every stored tensor is handed over exactly once, in pieces that
 * are whole elements where they are converted; of one tensor they come in any order. Bytes are those that
 * wb_tensor_read gives: what is compressed, stored by columns or most significant byte first
 * (wb_tensor.storing) is read tensor by tensor and handed over as if it were not; by columns, a tensor is
 * in memory as a whole meanwhile.
 *
 * options  NULL: bytes are fetched, and nothing done with them
 * report   may be NULL; filled also where loading fails
 *
 * WB_ERROR_IO names file and offset at which a file ended early or could not be read; a file that was
 * mapped and is shortened meanwhile faults instead, as wb_access says. Also CANCELLED, MEMORY,
 * UNSUPPORTED (no zlib for compressed tensors), ARGUMENT. FORMAT if a file that is named by its SHA-256, as
 * in Ollama's stores, has another, or what is compressed is damaged.
 */
WB_API wb_status wb_load(const wb_model *model, const wb_load_options *options,
                         wb_load_report *report, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif

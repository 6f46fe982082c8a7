/*
 * weighbridge/experimental.h: functions used by the command whose interface may still change.
 *
 * They are in the static library only. The shared library does not export them, so that no
 * distributed program can depend on them. Functions that have proven useful move to a stable
 * header.
 */
#ifndef WEIGHBRIDGE_EXPERIMENTAL_H
#define WEIGHBRIDGE_EXPERIMENTAL_H

#include "weighbridge/metadata.h"
#include "weighbridge/model.h"
#include "weighbridge/tensor.h"
#include "weighbridge/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------- */
/* Facts about open models                                                                       */
/* --------------------------------------------------------------------------------------------- */

/*
 * Sets *reads to 1 if `path` refers, under any name, to a file that the model reads now or on
 * demand: a weight file or a sidecar file such as config.json or tokenizer.json. Writing to this
 * file would damage the model. 0 if no such file exists. Fails with ARGUMENT if `path` is NULL, or
 * MEMORY.
 */
WB_API wb_status wb_model_reads(const wb_model *model, const char *path, int *reads,
                                wb_error *error) WB_MUST_CHECK;

/*
 * Returns 1 if `address` is in a file mapped by this model, else 0. Async-signal-safe: a SIGBUS
 * handler of the application can find out whether a truncated model file is the reason.
 */
WB_API int wb_owns_address(const wb_model *model, const void *address);

/*
 * Returns the number of bytes of a file of the model that are in the page cache, in whole pages.
 * UNSUPPORTED if the system does not report this, and for sources that are not files.
 */
WB_API wb_status wb_file_cached(const wb_model *model, uint64_t file, uint64_t *bytes,
                                wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Resuming a write                                                                              */
/* --------------------------------------------------------------------------------------------- */

/*
 * A flag of wb_writer_options. If the write is interrupted or runs out of space, the written bytes
 * stay in files, or a directory, named ".NAME.wb-partial" in the directory of the result. The next
 * writer with this flag can reuse them: see wb_writer_left. For a model in a store this is a
 * directory in blobs/, named after the model, which is removed when the model is complete. Only one
 * writer at a time may use a path, or a model of a store, with this flag. No effect for streams.
 */
#define WB_WRITE_KEEP 32u

/*
 * With WB_WRITE_KEEP. wb_writer_left reads n bytes of a tensor that a former writer left. They may
 * be arbitrary, or zeros if nothing was written, so the caller must verify them with a digest. IO
 * if there are none. wb_writer_take accepts these bytes as if they were passed to wb_writer_put.
 * Thread-safe.
 */
WB_API wb_status wb_writer_left(wb_writer *writer, uint64_t index, uint64_t offset, void *dst,
                                size_t n, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_take(wb_writer *writer, uint64_t index, uint64_t offset, uint64_t n,
                                wb_error *error) WB_MUST_CHECK;

/*
 * For a writer with wb_writer_set_whole: copies the file before wb_writer_commit would do it. With
 * WB_WRITE_KEEP the bytes of a former writer are compared with the file, and equal bytes are kept,
 * unless `anew` is not 0. Reports the bytes of the file to wb_writer_options.progress. After any
 * failure the writer cannot be used any more.
 *
 * taken  set to the number of kept bytes; may be NULL
 */
WB_API wb_status wb_writer_copy_whole(wb_writer *writer, int anew, uint64_t *taken,
                                      wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Files written whole or not at all                                                             */
/* --------------------------------------------------------------------------------------------- */

/*
 * A file that appears when it is complete. Bytes are written to a temporary file in the directory
 * of `path`; wb_sink_commit flushes it to the disk and renames it, or leaves everything unchanged.
 * Anything but a regular file (a pipe, a terminal, /dev/null) is written directly.
 */
typedef struct wb_sink wb_sink;

/*
 * path      path of the file; an existing file is replaced at the commit and keeps its permissions;
 *           if the path is a symbolic link, its target is replaced
 * expected  number of bytes that will be written, to detect a full disk early; 0: unknown
 * sink      owned, release with wb_sink_commit or wb_sink_discard
 */
WB_API wb_status wb_sink_open(const char *path, uint64_t expected, const wb_allocator *allocator,
                              wb_sink **sink, wb_error *error) WB_MUST_CHECK;

/*
 * Opens a sink that writes to a descriptor, which stays the caller's. `label` names it in messages.
 */
WB_API wb_status wb_sink_open_fd(int fd, const char *label, const wb_allocator *allocator,
                                 wb_sink **sink, wb_error *error) WB_MUST_CHECK;

/*
 * Appends n bytes. A broken pipe and a file size limit fail with WB_ERROR_IO and os_error EPIPE or
 * EFBIG, without a signal. After a failure all further calls fail in the same way.
 */
WB_API wb_status wb_sink_write(wb_sink *sink, const void *bytes, size_t n,
                               wb_error *error) WB_MUST_CHECK;

/* Flushes the file to the disk and makes it visible. Frees the sink, whatever the result. */
WB_API wb_status wb_sink_commit(wb_sink *sink, wb_error *error) WB_MUST_CHECK;

/* Removes the temporary file and frees the sink. NULL is ignored. */
WB_API void wb_sink_discard(wb_sink *sink);

/*
 * Returns the name of sidecar file i that a model can read, in any order; some names include a
 * directory. NULL past the last one.
 */
WB_API const char *wb_sidecar_name(size_t i);

/* Returns 1 for a padding tensor of WB_WRITE_ALIGN_TENSORS ("__padding__.N", of U8), else 0. */
WB_API int wb_tensor_is_padding(const wb_tensor *tensor);

/* --------------------------------------------------------------------------------------------- */
/* Write-back */
/* --------------------------------------------------------------------------------------------- */

/*
 * Asynchronous writing. wb_writeback_put takes bytes of tensors like wb_writer_put, and returns
 * before they are written. Large pieces of large files are written with direct I/O if the system
 * supports it (Linux with io_uring, a local disk), which uses little processor time; all other
 * bytes are written before wb_writeback_put returns.
 *
 * For one thread at a time. A writer may have several.
 */
typedef struct wb_writeback wb_writeback;

/*
 * The address of the bytes must equal their file offset modulo this number (wb_tensor.offset of
 * wb_writer_tensor_at); other bytes are written synchronously.
 */
#define WB_WRITEBACK_ALIGNMENT 4096

/*
 * writer  a writer that has begun; must exist until wb_writeback_free
 * slots   maximum number of pieces being written at a time, 1 to 64
 */
WB_API wb_status wb_writeback_open(wb_writer *writer, uint32_t slots, wb_writeback **behind,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * As wb_writer_put. Waits for the former write of the slot. The bytes must not change until
 * wb_writeback_wait returns, which reports whether they were written.
 */
WB_API wb_status wb_writeback_put(wb_writeback *behind, uint32_t slot, uint64_t index,
                                  uint64_t offset, const void *bytes, size_t n,
                                  wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writeback_wait(wb_writeback *behind, uint32_t slot,
                                   wb_error *error) WB_MUST_CHECK;

/* Returns 1 if wb_writeback_wait would block, else 0. */
WB_API int wb_writeback_is_busy(wb_writeback *behind, uint32_t slot);

/*
 * Waits for all slots and frees the writeback; wb_writer_commit reports its errors. NULL is
 * ignored.
 */
WB_API void wb_writeback_free(wb_writeback *behind);

/* --------------------------------------------------------------------------------------------- */
/* JSON                                                                                          */
/* --------------------------------------------------------------------------------------------- */

/*
 * Writes compact JSON through `write`. Commas and colons are added automatically. In text that is
 * not valid UTF-8, each invalid byte is replaced by U+FFFD. After a failed write all further output
 * is ignored, and `failed` is set.
 */
typedef struct wb_json {
    size_t size;                                         /* sizeof(wb_json) */
    int (*write)(void *ctx, const char *text, size_t n); /* returns 0 on success */
    void *ctx;
    int failed;
    int after_value; /* internal: a comma must precede the next value */
    int after_key;   /* internal */
} wb_json;           /* the caller sets size, write and ctx, and clears the rest */
#define WB_JSON_INIT WB_INIT(wb_json)

WB_API void wb_json_begin(wb_json *json, char bracket); /* '{' or '[' */
WB_API void wb_json_end(wb_json *json, char bracket);   /* '}' or ']' */
WB_API void wb_json_key(wb_json *json, const char *key, size_t len);
WB_API void wb_json_string(wb_json *json, const char *text, size_t len);
WB_API void wb_json_uint(wb_json *json, uint64_t value);
WB_API void wb_json_int(wb_json *json, int64_t value);
WB_API void wb_json_double(wb_json *json, double value); /* null if not finite */
WB_API void wb_json_bool(wb_json *json, int value);
WB_API void wb_json_null(wb_json *json);

typedef enum wb_json_kind {
    WB_JSON_OBJECT = 1,
    WB_JSON_OBJECT_END = 2,
    WB_JSON_ARRAY = 3,
    WB_JSON_ARRAY_END = 4,
    WB_JSON_KEY = 5,
    WB_JSON_STRING = 6,
    WB_JSON_UINT = 7,   /* digits only, below 2^64 */
    WB_JSON_NUMBER = 8, /* all other numbers */
    WB_JSON_BOOL = 9,
    WB_JSON_NULL = 10
} wb_json_kind;

/* One event of wb_json_walk. */
typedef struct wb_json_item {
    size_t size; /* sizeof(wb_json_item) */
    wb_json_kind kind;
    /* KEY, STRING: decoded UTF-8 text, not NUL-terminated; borrowed during the callback */
    const char *text;
    size_t len;
    uint64_t number; /* UINT; BOOL: 0 or 1; NUMBER: absolute value if it is an integer */
    double real;     /* UINT, NUMBER */
    int whole;       /* 1 for UINT, and for NUMBER without a fraction (-7, 2.0, 1e3) below 2^64 */
} wb_json_item;
#define WB_JSON_ITEM_INIT WB_INIT(wb_json_item)

/*
 * Parses one JSON value, strictly and without recursion, and calls `each` for each event in the
 * order of the text. A result other than 0 stops the parser with CANCELLED. FORMAT, with the
 * offset, for invalid JSON and for anything but white space after the value; `each` has then been
 * called for everything before the error.
 */
WB_API wb_status wb_json_walk(const char *text, size_t n,
                              int (*each)(void *ctx, const wb_json_item *item), void *ctx,
                              wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif

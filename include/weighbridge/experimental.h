/*
 * weighbridge/experimental.h: functions that the command wb uses and whose interface may still
 * change.
 *
 * Only the static library has these functions. The shared library does not export them, so that no
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
 * Sets *reads to 1 if the file at `path` is a file that the model reads, now or on demand: a weight
 * file, or a sidecar file such as config.json or tokenizer.json. Writing to this file would damage
 * the model. The file may have another name than the one by which it was opened. Sets *reads to 0
 * for other files, and if there is no file at `path`. Fails with MEMORY, or with ARGUMENT if `path`
 * is NULL.
 */
WB_API wb_status wb_model_reads(const wb_model *model, const char *path, int *reads,
                                wb_error *error) WB_MUST_CHECK;

/*
 * Returns 1 if `address` is in a file mapped by this model, else 0. Async-signal-safe, so that a
 * SIGBUS handler of the application can find out whether a truncated model file is the reason.
 */
WB_API int wb_owns_address(const wb_model *model, const void *address);

/*
 * Sets *bytes to the size of all pages of file number `file` (see wb_file_at) that are in the page
 * cache. UNSUPPORTED if the system does not report this, and for sources that are not files.
 */
WB_API wb_status wb_file_cached(const wb_model *model, uint64_t file, uint64_t *bytes,
                                wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Resuming a write                                                                              */
/* --------------------------------------------------------------------------------------------- */

/*
 * A flag of wb_writer_options: keep the partial result of an interrupted write. If the write is
 * interrupted or runs out of space, the written bytes stay in a file or directory
 * ".NAME.wb-partial" in the directory of the result. For a model in a store they stay in a
 * directory in blobs/ that has the name of the model, until the model is complete. The next writer
 * with this flag can reuse the bytes: see wb_writer_left. Only one writer with this flag at a time
 * may write a path or a model. The flag has no effect for streams.
 */
#define WB_WRITE_KEEP 32u

/*
 * Functions for writers with WB_WRITE_KEEP. wb_writer_left reads n bytes of a tensor from the
 * partial result of a former writer; IO if the partial result does not contain them. The bytes are
 * zeros if the former writer did not write them, and may be damaged after a crash, so the caller
 * must verify them with a digest. wb_writer_take accepts bytes of the partial result as if they
 * were passed to wb_writer_put. Thread-safe.
 */
WB_API wb_status wb_writer_left(wb_writer *writer, uint64_t index, uint64_t offset, void *dst,
                                size_t n, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_take(wb_writer *writer, uint64_t index, uint64_t offset, uint64_t n,
                                wb_error *error) WB_MUST_CHECK;

/*
 * For a writer with wb_writer_set_whole: copies the GGUF file of the model now instead of in
 * wb_writer_commit, and reports the copied bytes to wb_writer_options.progress. With WB_WRITE_KEEP,
 * the partial result of a former writer is compared with the GGUF file, and equal bytes are kept.
 * After any failure the writer cannot be used any more.
 *
 * anew   1: ignore the partial result
 * taken  set to the number of bytes that were equal and kept; may be NULL
 */
WB_API wb_status wb_writer_copy_whole(wb_writer *writer, int anew, uint64_t *taken,
                                      wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Files that appear complete or not at all                                                      */
/* --------------------------------------------------------------------------------------------- */

/*
 * An output file that appears only when it is complete. Bytes are written to a temporary file in
 * the same directory. wb_sink_commit flushes this file to the disk and gives it the final name. If
 * this fails, all existing files stay unchanged. A pipe, a terminal or a device is written
 * directly.
 */
typedef struct wb_sink wb_sink;

/*
 * Opens a sink for a path.
 *
 * path      path of the file. The commit replaces an existing file, but keeps its permissions. If
 *           the path is a symbolic link, the target of the link is replaced
 * expected  number of bytes that will be written, to detect a full disk early; 0: unknown
 * sink      owned, release with wb_sink_commit or wb_sink_discard
 */
WB_API wb_status wb_sink_open(const char *path, uint64_t expected, const wb_allocator *allocator,
                              wb_sink **sink, wb_error *error) WB_MUST_CHECK;

/*
 * Opens a sink that writes to a file descriptor, which the caller keeps and closes. `label` names
 * the descriptor in messages.
 */
WB_API wb_status wb_sink_open_fd(int fd, const char *label, const wb_allocator *allocator,
                                 wb_sink **sink, wb_error *error) WB_MUST_CHECK;

/*
 * Appends n bytes. If a pipe is broken or the limit of the file size is exceeded, fails with IO and
 * os_error EPIPE or EFBIG, without a signal. After a failure all further calls fail in the same
 * way.
 */
WB_API wb_status wb_sink_write(wb_sink *sink, const void *bytes, size_t n,
                               wb_error *error) WB_MUST_CHECK;

/*
 * Writes n bytes at an offset of the file. The file ends after the last byte that was written, and
 * bytes that were not written are 0. A sink that uses this function must not use wb_sink_write.
 * Fails with IO and os_error ESPIPE if the sink is a pipe, a terminal or a device. Not thread-safe.
 */
WB_API wb_status wb_sink_write_at(wb_sink *sink, uint64_t offset, const void *bytes, size_t n,
                                  wb_error *error) WB_MUST_CHECK;

/* Flushes the file to the disk and gives it the final name. Frees the sink even on failure. */
WB_API wb_status wb_sink_commit(wb_sink *sink, wb_error *error) WB_MUST_CHECK;

/* Removes the temporary file and frees the sink. NULL is ignored. */
WB_API void wb_sink_discard(wb_sink *sink);

/*
 * Writes text from a file in a form that is safe to show on a terminal: control characters,
 * bidirectional controls, invisible characters and malformed UTF-8 become \xNN, one for each byte,
 * and a backslash becomes \\. All messages and findings of the library have this form.
 *
 * text      n bytes; SIZE_MAX for n means that the text ends with NUL
 * flags     WB_PRINTABLE_* or 0
 * out       receives at most `capacity` bytes with the NUL; may be NULL if `capacity` is 0
 *
 * Returns the length of the complete result without the NUL, as snprintf does.
 */
WB_API size_t wb_text_printable(const char *text, size_t n, uint32_t flags, char *out,
                                size_t capacity);

/* The text is a message whose parts are already printable: keep backslashes and newlines. */
#define WB_PRINTABLE_MESSAGE 1u

/*
 * Returns entry i of the list of all sidecar file names that a model may have, or NULL if i is past
 * the last one. The order is unspecified. Some names include a directory.
 */
WB_API const char *wb_sidecar_name(size_t i);

/* Returns 1 for a padding tensor of WB_WRITE_ALIGN_TENSORS ("__padding__.N", dtype U8), else 0. */
WB_API int wb_tensor_is_padding(const wb_tensor *tensor);

/*
 * Looks up the tensor that a name of another format denotes: for example, the index of
 * "blk.0.attn_q.weight" for "model.layers.0.self_attn.q_proj.weight". The model's architecture
 * family must use this name in some format. NOT_FOUND if there is no such tensor. The first call
 * computes all canonical names, and can fail with MEMORY.
 */
WB_API wb_status wb_tensor_meant(const wb_model *model, const char *name, size_t name_len,
                                 uint64_t *index) WB_MUST_CHECK;

/*
 * Returns entry i of the list of quantization names that wb_convert_policy.quant accepts, in their
 * usual spelling, or NULL if i is past the last one. Names with parameters are listed with common
 * parameters ("affine4:64").
 */
WB_API const char *wb_quant_name(size_t i);

/* Returns 1 if wb_convert_policy.quant accepts this name, else 0. */
WB_API int wb_quant_is_known(const char *name);

/*
 * Returns the name of a file type of llama.cpp by its number in general.file_type, or NULL if the
 * number is unknown. Static.
 */
WB_API const char *wb_file_type_name(uint64_t number);

/* --------------------------------------------------------------------------------------------- */
/* Write-back */
/* --------------------------------------------------------------------------------------------- */

/*
 * Asynchronous writing of tensors. wb_writeback_put writes like wb_writer_put, but can return
 * before the bytes are written: writes of at least 512 KiB to a file of at least 64 MiB use direct
 * I/O, which needs little processor time, if the system supports it (Linux with io_uring, a local
 * disk). All other writes are complete when wb_writeback_put returns.
 *
 * Only one thread at a time may use a wb_writeback, but a writer may have several of them.
 */
typedef struct wb_writeback wb_writeback;

/*
 * Bytes are written asynchronously only if their address and their file offset are equal modulo
 * this number. wb_writer_tensor_at returns the file offset of a tensor.
 */
#define WB_WRITEBACK_ALIGNMENT 4096

/*
 * Opens a wb_writeback.
 *
 * writer  a writer for which wb_writer_begin was called; must exist until wb_writeback_free
 * slots   maximum number of asynchronous writes at a time, 1 to 64; each uses one slot
 */
WB_API wb_status wb_writeback_open(wb_writer *writer, uint32_t slots, wb_writeback **behind,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * wb_writeback_put writes like wb_writer_put, in slot `slot` < `slots`. It first waits until the
 * former write in this slot is complete. wb_writeback_wait waits for the write in a slot and
 * returns the status of this write. The bytes must not change until the write is complete.
 */
WB_API wb_status wb_writeback_put(wb_writeback *behind, uint32_t slot, uint64_t index,
                                  uint64_t offset, const void *bytes, size_t n,
                                  wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writeback_wait(wb_writeback *behind, uint32_t slot,
                                   wb_error *error) WB_MUST_CHECK;

/* Returns 1 if the write in the slot is not complete, so that wb_writeback_wait would block. */
WB_API int wb_writeback_is_busy(wb_writeback *behind, uint32_t slot);

/*
 * Waits for the writes in all slots and frees `behind`. wb_writer_commit reports errors of these
 * writes. NULL is ignored.
 */
WB_API void wb_writeback_free(wb_writeback *behind);

/* --------------------------------------------------------------------------------------------- */
/* JSON                                                                                          */
/* --------------------------------------------------------------------------------------------- */

/*
 * The state of a writer of compact JSON. Commas and colons are added automatically. Invalid bytes
 * of UTF-8 text are replaced by U+FFFD. After a failed write all further output is ignored, and
 * `failed` is 1.
 */
typedef struct wb_json {
    size_t size;                                         /* sizeof(wb_json) */
    int (*write)(void *ctx, const char *text, size_t n); /* returns 0 on success */
    void *ctx;
    int failed;
    int after_value; /* internal: a comma must precede the next value */
    int after_key;   /* internal: a key precedes the next value */
} wb_json;           /* the caller sets size, write and ctx, and clears the other members */
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

/* One event of wb_json_walk: a bracket, a key or a value. */
typedef struct wb_json_item {
    size_t size; /* sizeof(wb_json_item) */
    wb_json_kind kind;
    /* KEY, STRING: decoded UTF-8 text, not NUL-terminated; borrowed during the callback */
    const char *text;
    size_t len;
    uint64_t number; /* UINT: value; BOOL: 0 or 1; NUMBER: absolute value if `whole` is 1 */
    double real;     /* UINT, NUMBER: value */
    int whole;       /* 1: an integer whose absolute value is below 2^64 (7, -7, 2.0, 1e3) */
} wb_json_item;
#define WB_JSON_ITEM_INIT WB_INIT(wb_json_item)

/*
 * Parses one JSON value, strictly and without recursion, and calls `each` for each event in the
 * order of the text. If `each` returns another value than 0, the parser stops with CANCELLED.
 * FORMAT, with the offset, for invalid JSON and for anything but white space after the value. Even
 * then, the events before the error have been reported.
 */
WB_API wb_status wb_json_walk(const char *text, size_t n,
                              int (*each)(void *ctx, const wb_json_item *item), void *ctx,
                              wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif

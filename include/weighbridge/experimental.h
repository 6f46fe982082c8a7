/*
 * weighbridge/experimental.h: parts that the command uses and that may still change.
 *
 * Only the static library has them; the shared library does not show them, so that nothing that is
 * distributed can come to depend on them. What proves itself moves to a header of the
 * stable tier.
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
 * *reads is 1 where a path leads, by whatever name, to a file that the model is read from, now or when it is
 * asked for: of its weights, or one beside them, such as config.json and tokenizer.json. Who writes there
 * takes something of the model away. 0 where there is no file. Fails with ARGUMENT for no path, MEMORY.
 */
WB_API wb_status wb_model_reads(const wb_model *model, const char *path, int *reads,
                                wb_error *error) WB_MUST_CHECK;

/*
 * 1 if `address` lies in a file this model has mapped, else 0. Async-signal-safe, so that a SIGBUS
 * handler of the application can tell whether a truncated model file is to blame.
 */
WB_API int wb_owns_address(const wb_model *model, const void *address);

/*
 * How many of the bytes of a file of the model are in the page cache, in whole pages. UNSUPPORTED
 * where the system does not tell, and for sources that are no files.
 */
WB_API wb_status wb_file_cached(const wb_model *model, uint64_t file, uint64_t *bytes,
                                wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Resuming a write                                                                              */
/* --------------------------------------------------------------------------------------------- */

/*
 * What was written stays where the write does not come to its end, killed or out of room, in files (or in
 * a folder) called ".NAME.wb-partial" beside what they are to be; the next writer with this flag takes
 * them up: see wb_writer_left. Of a model in a store that is a folder in blobs/, named after the model; it goes
 * when the model is there. Only one at a time may write to a path, or a model of a store, so. Streams do without.
 */
#define WB_WRITE_KEEP 32u

/*
 * WB_WRITE_KEEP: what a former writer left of n bytes of a tensor; anything may stand there, zeros where
 * nothing was written, so that only who knows a digest of them can tell whether they are any good. IO
 * where there is nothing. And: takes them for given, as wb_writer_put would have been. Thread-safe.
 */
WB_API wb_status wb_writer_left(wb_writer *writer, uint64_t index, uint64_t offset, void *dst,
                                size_t n, wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writer_take(wb_writer *writer, uint64_t index, uint64_t offset, uint64_t n,
                                wb_error *error) WB_MUST_CHECK;

/*
 * Of a writer with wb_writer_set_whole: copies the file, which wb_writer_commit does otherwise. With WB_WRITE_KEEP what
 * a former writer left is read beside it, and stays as far as it is the same, unless `anew` is not 0. Any failure is
 * final.
 *
 * taken  bytes that could stay; may be NULL
 */
WB_API wb_status wb_writer_copy_whole(wb_writer *writer, int anew, uint64_t *taken,
                                      wb_error *error) WB_MUST_CHECK;

/* --------------------------------------------------------------------------------------------- */
/* Files written whole or not at all                                                             */
/* --------------------------------------------------------------------------------------------- */

/*
 * A file that comes into being when it is complete: bytes go to a temporary file in the folder of
 * `path`, and wb_sink_commit puts it in place, durably, or leaves everything as it was. What is not
 * a regular file (a pipe, a terminal, /dev/null) is written straight away.
 */
typedef struct wb_sink wb_sink;

/*
 * path      the file to be; an existing one is replaced at the commit and keeps its permissions; of a
 *           symbolic link the target is replaced
 * expected  bytes that will be written, so that a full disk shows early; 0: unknown
 * sink      owned, release with wb_sink_commit or wb_sink_discard
 */
WB_API wb_status wb_sink_open(const char *path, uint64_t expected, const wb_allocator *allocator,
                              wb_sink **sink, wb_error *error) WB_MUST_CHECK;

/* A sink that writes to a descriptor, which stays the caller's. `label` names it in messages. */
WB_API wb_status wb_sink_open_fd(int fd, const char *label, const wb_allocator *allocator,
                                 wb_sink **sink, wb_error *error) WB_MUST_CHECK;

/*
 * Appends n bytes. A broken pipe and a file size limit give WB_ERROR_IO with os_error EPIPE or EFBIG
 * and raise no signal. After a failure every further call fails likewise.
 */
WB_API wb_status wb_sink_write(wb_sink *sink, const void *bytes, size_t n,
                               wb_error *error) WB_MUST_CHECK;

/* Makes the file what was written, durably. The sink is gone, whatever the result. */
WB_API wb_status wb_sink_commit(wb_sink *sink, wb_error *error) WB_MUST_CHECK;

/* Drops what was written. NULL is ignored. */
WB_API void wb_sink_discard(wb_sink *sink);

/* What files are called that a model can be read from beside its weights, in any order; some are in folders. NULL
 * behind the last. */
WB_API const char *wb_sidecar_name(size_t i);

/* Whether a tensor is nothing but room between others, as WB_WRITE_ALIGN_TENSORS makes it: "__padding__.N", of U8. */
WB_API int wb_tensor_is_padding(const wb_tensor *tensor);

/* --------------------------------------------------------------------------------------------- */
/* Bytes that are written while their maker goes on                                              */
/* --------------------------------------------------------------------------------------------- */

/*
 * Write-behind: takes bytes of tensors as wb_writer_put does, and gives control back before they are written. Large
 * pieces of large files go past the page cache where the system can do that (Linux, io_uring, a disk of
 * this machine), which takes next to no processor time; everything else is written before wb_writeback_put returns.
 *
 * Of one thread at a time; there may be many for one writer.
 */
typedef struct wb_writeback wb_writeback;

/* Modulo this the address of bytes is to be what their place in the file is (wb_tensor.offset of wb_writer_tensor_at
 * tells), or they are written at once. */
#define WB_WRITEBACK_ALIGNMENT 4096

/*
 * writer  begun, and there until wb_writeback_free
 * slots   how many pieces may be under way at a time, 1 to 64
 */
WB_API wb_status wb_writeback_open(wb_writer *writer, uint32_t slots, wb_writeback **behind,
                                   wb_error *error) WB_MUST_CHECK;

/*
 * As wb_writer_put. Waits for what the slot was given before; from then on the bytes are the slot's until
 * wb_writeback_wait says that they are written, or why not.
 */
WB_API wb_status wb_writeback_put(wb_writeback *behind, uint32_t slot, uint64_t index,
                                  uint64_t offset, const void *bytes, size_t n,
                                  wb_error *error) WB_MUST_CHECK;
WB_API wb_status wb_writeback_wait(wb_writeback *behind, uint32_t slot,
                                   wb_error *error) WB_MUST_CHECK;

/* Whether wb_writeback_wait would have to wait. */
WB_API int wb_writeback_is_busy(wb_writeback *behind, uint32_t slot);

/* Waits for all slots: what goes wrong then wb_writer_commit tells. NULL is ignored. */
WB_API void wb_writeback_free(wb_writeback *behind);

/* --------------------------------------------------------------------------------------------- */
/* JSON                                                                                          */
/* --------------------------------------------------------------------------------------------- */

/*
 * Writes compact JSON through `write`. Commas and colons come by themselves. Text that is not valid
 * UTF-8 is written with U+FFFD in the place of each bad byte. A failed write is remembered, and
 * everything after it ignored.
 */
typedef struct wb_json {
    size_t size;                                         /* sizeof(wb_json) */
    int (*write)(void *ctx, const char *text, size_t n); /* 0: done */
    void *ctx;
    int failed;
    int after_value; /* the library's: a comma is due */
    int after_key;   /* the library's */
} wb_json;           /* set size, write and ctx, clear the rest */
#define WB_JSON_INIT WB_INIT(wb_json)

WB_API void wb_json_begin(wb_json *json, char bracket); /* '{' or '[' */
WB_API void wb_json_end(wb_json *json, char bracket);   /* '}' or ']' */
WB_API void wb_json_key(wb_json *json, const char *key, size_t len);
WB_API void wb_json_string(wb_json *json, const char *text, size_t len);
WB_API void wb_json_uint(wb_json *json, uint64_t value);
WB_API void wb_json_int(wb_json *json, int64_t value);
WB_API void wb_json_double(wb_json *json, double value); /* null where not finite */
WB_API void wb_json_bool(wb_json *json, int value);
WB_API void wb_json_null(wb_json *json);

typedef enum wb_json_kind {
    WB_JSON_OBJECT = 1,
    WB_JSON_OBJECT_END = 2,
    WB_JSON_ARRAY = 3,
    WB_JSON_ARRAY_END = 4,
    WB_JSON_KEY = 5,
    WB_JSON_STRING = 6,
    WB_JSON_UINT = 7,   /* digits alone, below 2^64 */
    WB_JSON_NUMBER = 8, /* all others */
    WB_JSON_BOOL = 9,
    WB_JSON_NULL = 10
} wb_json_kind;

/* A step through a JSON text. */
typedef struct wb_json_item {
    size_t size; /* sizeof(wb_json_item) */
    wb_json_kind kind;
    const char
        *text; /* KEY, STRING: without escapes, in UTF-8, no NUL behind it; borrowed during the
                         call */
    size_t len;
    uint64_t number; /* UINT; BOOL: 0 or 1; NUMBER: its magnitude where it is whole */
    double real;     /* UINT, NUMBER */
    int whole;       /* UINT, and NUMBER that has no fraction (-7, 2.0, 1e3) and is below 2^64: 1 */
} wb_json_item;
#define WB_JSON_ITEM_INIT WB_INIT(wb_json_item)

/*
 * Reads one JSON value, strictly and without recursion, and calls `each` for all that it is made of,
 * in the order of the text; a result other than 0 ends it with CANCELLED. FORMAT, with the offset,
 * for what is no JSON, and for whatever but white space is behind the value; by then `each` has been
 * called for what stands before.
 */
WB_API wb_status wb_json_walk(const char *text, size_t n,
                              int (*each)(void *ctx, const wb_json_item *item), void *ctx,
                              wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif

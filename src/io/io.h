/*
 * io: reading and writing bytes.
 *
 *   source   input bytes of known length, to read or map: a regular file, an immutable copy of a
 *            file (memfd with seals), memory, or callbacks of the caller
 *   window   a cursor over a source, for reading a header once from front to back
 *   sink     an output file that is published atomically, or a stream (sink.h)
 *
 * Input files must be regular files. They are opened with close-on-exec, and opening never blocks
 * on a FIFO. The identity of the file at the time of opening is recorded to detect later changes.
 */
#ifndef WB_IO_IO_H
#define WB_IO_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

/* Identifies one state of a file; any difference means that the file was changed or replaced. */
typedef struct wb__identity {
    uint64_t device, inode, bytes;
    int64_t modified_s, modified_ns, changed_s, changed_ns;
} wb__identity;

typedef struct wb__source wb__source;

/* Returns the identity of the file when it was opened; all zero if the source is not a file. */
wb__identity wb__source_identity(const wb__source *source);

/*
 * Opens `path` for reading. If it is a directory, sets *is_folder and opens nothing. The caller
 * owns *source and releases it with wb__source_close.
 */
wb_status wb__source_open(wb__context *context, const char *path, wb_access access,
                          wb__source **source, bool *is_folder);

/*
 * Like wb__source_open, for a file in the directory `folder`. `path` must be the result of
 * wb__path_join(folder, name). Fails with WB_ERROR_FORMAT if a link leads outside the directory
 * (io/beneath.h), unless context->follow_links is set. If `folder` is NULL, the user named the
 * path, and all links are followed.
 */
wb_status wb__source_open_in(wb__context *context, const char *folder, const char *path,
                             wb_access access, wb__source **source, bool *is_folder);

/*
 * Opens a duplicate of the descriptor fd. If fd is a stream such as a pipe, its bytes are first
 * copied into memory. If they exceed the context's limit spool_memory (in bytes), they are moved to
 * an unnamed temporary file.
 */
wb_status wb__source_open_fd(wb__context *context, int fd, const char *label, wb_access access,
                             wb__source **source);

/* Opens n bytes of memory, which are borrowed until the source is closed. */
wb_status wb__source_open_memory(wb__context *context, const void *bytes, size_t n,
                                 const char *label, wb__source **source);

/* Takes ownership of the caller's source. Calls its close function even if opening fails. */
wb_status wb__source_open_caller(wb__context *context, const wb_source *caller, const char *label,
                                 wb__source **source);

/* Closes the source and frees it. NULL is ignored. */
void wb__source_close(wb__source *source);

/*
 * Closes the descriptor of a file opened by path. Each later read reopens the file and fails if it
 * has changed. Lets a model have more files than a process may have open.
 */
void wb__source_park(wb__source *source);

uint64_t wb__source_bytes(const wb__source *source);
const char *wb__source_label(const wb__source *source);

/* Returns true if the label is the path that the source was opened with. */
bool wb__source_has_path(const wb__source *source);

/* Reads exactly n bytes at `offset` into dst, or fails. Thread-safe. */
wb_status wb__source_read(const wb__source *source, wb__context *context, uint64_t offset,
                          void *dst, size_t n);

/*
 * As wb__source_read, but if a source of the caller gives fewer bytes (at least one), does not ask
 * for the rest. Sets *got to the number of bytes. A source that has fetched only these bytes over a
 * network thus need not fetch the rest.
 */
wb_status wb__source_read_some(const wb__source *source, wb__context *context, uint64_t offset,
                               void *dst, size_t n, size_t *got);

/* Sets *bytes to the address of the n bytes at `offset`, valid until the source is closed. Maps the
 * file on first use. Thread-safe. */
wb_status wb__source_map(wb__source *source, wb__context *context, uint64_t offset, uint64_t n,
                         const void **bytes);

/* Informs the caller's source that the n bytes at `offset` will be read, mostly in ascending
 * order. */
void wb__source_expect(const wb__source *source, uint64_t offset, uint64_t n);

/* Return the member `version` or `digest` of the caller's wb_source. Return NULL if the member is
 * not set or the source is of another kind. */
const char *wb__source_version(const wb__source *source);
const char *wb__source_digest(const wb__source *source);

/* Returns all bytes if they are permanently in memory (memory source or sealed copy), else NULL. */
const void *wb__source_memory(const wb__source *source);

/* Fails with WB_ERROR_CHANGED if the file has changed since it was opened. */
wb_status wb__source_check(const wb__source *source, wb__context *context);

/* Returns true if the address is inside a mapping made by wb__source_map. Async-signal-safe. */
bool wb__source_owns(const wb__source *source, const void *address);

/* Returns true if both sources were opened by path and are the same file. */
bool wb__source_same(const wb__source *a, const wb__source *b);

/* Returns true if both paths lead to the same regular file. */
bool wb__path_same(const char *a, const char *b);

/* Returns true if `path` leads to the file of the source. */
bool wb__source_is_at(const wb__source *source, const char *path);

/* ---- window ---- */

typedef struct wb__window {
    wb__source *source;
    wb__context *context;
    size_t capacity; /* maximum number of bytes the cursor may buffer */
    uint8_t *buffer; /* NULL if the cursor reads a memory source in place */
    size_t bytes;    /* size of `buffer`, without the bytes that window.c adds to align it */
} wb__window;

/*
 * Initializes a cursor at the start of the source and reads the first `head` bytes (fewer if the
 * file is shorter). Buffers at most `capacity` bytes and never reads past the cursor's limit. The
 * window must outlive the cursor. Release with wb__window_close, also after a failure.
 */
wb_status wb__window_open(wb__window *window, wb__context *context, wb__source *source,
                          size_t capacity, size_t head, wb__cursor *cursor);
void wb__window_close(wb__window *window);

/*
 * Makes the cursor retain everything it reads, up to `limit` bytes (see core/cursor.h). The cursor
 * must be at the start of the source. Bytes of a memory source are copied, so that they may be
 * modified.
 */
wb_status wb__window_keep(wb__window *window, wb__cursor *cursor, uint64_t limit);

/* The result of wb__window_take: the retained bytes that the cursor has consumed, followed by a NUL
 * byte. The caller owns the block `memory` of `bytes` bytes, and frees it with wb__free. */
typedef struct wb__header_bytes {
    uint8_t *header; /* the byte at file offset 0, inside `memory` */
    void *memory;
    size_t bytes;
} wb__header_bytes;

wb__header_bytes wb__window_take(wb__window *window, wb__cursor *cursor);

/* ---- directories ---- */

/*
 * Calls `each` with the names of all entries of a directory in byte order, except "." and "..".
 * Stops if `each` returns a status other than WB_OK.
 */
wb_status wb__directory_list(wb__context *context, const char *path,
                             wb_status (*each)(void *ctx, const char *name), void *ctx);

/* Returns folder + "/" + name, or NULL if memory runs out. The caller frees the result, whose size
 * is its length plus 1. */
char *wb__path_join(const wb_allocator *allocator, const char *folder, wb__str name);

/* Magic number of the edit journal; edit/journal.h has the rest of the format. */
#define WB__JOURNAL_MAGIC "WBEDIT03"

/*
 * Returns the path of the edit journal of a file: "FOLDER/.NAME.wb-journal". Symbolic links are
 * resolved first. Allocated like the result of wb__path_join.
 */
char *wb__path_journal(const wb_allocator *allocator, const char *path);

#endif

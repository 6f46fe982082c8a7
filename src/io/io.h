/*
 * io: where bytes come from, and where they go.
 *
 *   source   a regular file, memory, a sealed copy, or what the caller provides: length, read, map
 *   window   a cursor over a source, for reading a header once from front to back
 *   sink     a file that appears whole or not at all, or a stream (sink.h)
 *
 * A file is opened so that nothing else can be had by its name: without blocking on a FIFO, not to
 * be inherited, and refused unless it is a regular file. What it was when it was opened is
 * remembered.
 */
#ifndef WB_IO_IO_H
#define WB_IO_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

/* What tells one state of a file from another. */
typedef struct wb__identity {
    uint64_t device, inode, bytes;
    int64_t modified_s, modified_ns, changed_s, changed_ns;
} wb__identity;

typedef struct wb__source wb__source;

/* Of the file when it was opened; all zero for what is none. */
wb__identity wb__source_identity(const wb__source *source);

/*
 * Opens `path` for reading. With a folder *is_folder is set and nothing opened.
 * Owned, release with wb__source_close.
 */
wb_status wb__source_open(wb__context *context, const char *path, wb_access access,
                          wb__source **source, bool *is_folder);

/*
 * Duplicates a descriptor. A stream is spooled first: into memory, and from context's spool_memory
 * bytes on into a temporary file without a name.
 */
wb_status wb__source_open_fd(wb__context *context, int fd, const char *label, wb_access access,
                             wb__source **source);

/* Borrows n bytes until the source is closed. */
wb_status wb__source_open_memory(wb__context *context, const void *bytes, size_t n,
                                 const char *label, wb__source **source);

/* Takes the caller's source; calls its close also where this fails. */
wb_status wb__source_open_caller(wb__context *context, const wb_source *caller, const char *label,
                                 wb__source **source);

/* NULL is ignored. */
void wb__source_close(wb__source *source);

/*
 * Closes the descriptor of a file opened by path, to be opened anew for each read and refused if it
 * is not the same file any more: for models of more files than a process may have open.
 */
void wb__source_park(wb__source *source);

uint64_t wb__source_bytes(const wb__source *source);
const char *wb__source_label(const wb__source *source);

/* True if the label is the path that the source was opened by. */
bool wb__source_has_path(const wb__source *source);

/* Fills dst with the n bytes at `offset`, all of them or fails. Thread-safe. */
wb_status wb__source_read(const wb__source *source, wb__context *context, uint64_t offset,
                          void *dst, size_t n);

/* The n bytes at `offset`, borrowed until the source is closed. Maps when first asked. Thread-safe.
 */
wb_status wb__source_map(wb__source *source, wb__context *context, uint64_t offset, uint64_t n,
                         const void **bytes);

/* All bytes if they are in memory for good (memory, sealed copy), else NULL. */
const void *wb__source_memory(const wb__source *source);

/* CHANGED if the file is no longer what it was. */
wb_status wb__source_check(const wb__source *source, wb__context *context);

/* True if the address lies in what wb__source_map has mapped. Async-signal-safe. */
bool wb__source_owns(const wb__source *source, const void *address);

/* True if both are the same file. */
bool wb__source_same(const wb__source *a, const wb__source *b);

/* True if both lead to one regular file. */
bool wb__path_same(const char *a, const char *b);

/* True if `path` leads to the file of the source. */
bool wb__source_is_at(const wb__source *source, const char *path);

/* ---- window ---- */

typedef struct wb__window {
    wb__source *source;
    wb__context *context;
    size_t capacity; /* the most it may hold */
    uint8_t *buffer; /* NULL: the cursor reads memory in place */
    size_t bytes;    /* that it holds now */
} wb__window;

/*
 * Makes a cursor at the beginning of a source, with its first bytes, up to `head`, at hand. Reads
 * as much as `capacity` allows, and never past the cursor's limit. The window must outlive the
 * cursor; release with wb__window_close, also after a failure.
 */
wb_status wb__window_open(wb__window *window, wb__context *context, wb__source *source,
                          size_t capacity, size_t head, wb__cursor *cursor);
void wb__window_close(wb__window *window);

/*
 * Makes the cursor, which must still stand at the beginning, keep all that it reads up to `limit`
 * bytes (see core/cursor.h). Bytes in memory are copied, so that they may be changed.
 */
wb_status wb__window_keep(wb__window *window, wb__cursor *cursor, uint64_t limit);

/*
 * Hands over what the cursor has consumed of what was kept, and a NUL behind it. Owned, release
 * with wb__free(memory, bytes).
 */
typedef struct wb__header_bytes {
    uint8_t *header; /* the byte at offset 0 */
    void *memory;
    size_t bytes;
} wb__header_bytes;

wb__header_bytes wb__window_take(wb__window *window, wb__cursor *cursor);

/* ---- folders ---- */

/*
 * Calls `each` with the names of the entries of a folder, in byte order, without "." and "..".
 * `each` returns WB_OK to go on.
 */
wb_status wb__directory_list(wb__context *context, const char *path,
                             wb_status (*each)(void *ctx, const char *name), void *ctx);

/* folder + "/" + name in the context's allocator, or NULL; free with strlen + 1. */
char *wb__path_join(const wb_allocator *allocator, const char *folder, wb__str name);

/* The first bytes of the journal of an edit; edit/edit_in_place.c has the rest. */
#define WB__JOURNAL_MAGIC "WBEDIT02"

/* Where the journal of an edit of the file lies: "FOLDER/.NAME.wb-journal", of a link that of what it leads
 * to. As wb__path_join. */
char *wb__path_journal(const wb_allocator *allocator, const char *path);

#endif

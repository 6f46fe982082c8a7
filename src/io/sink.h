/*
 * io/sink.h: output files that are published atomically, and output streams.
 *
 * A file is written without a name if the system supports O_TMPFILE, else under a temporary name in
 * the same directory. Commit makes the file durable and renames it to its final path. At every
 * moment the path refers to the old file or to the complete new file. A crash can leave a temporary
 * file, but never a partly written output; the next write into the directory removes the temporary
 * file (write_claim.c).
 *
 * The first failure is final: fsync reports a write-back error only once and the affected data is
 * lost (PostgreSQL, 2018), so retrying would turn the failure into silent data loss.
 */
#ifndef WB_IO_SINK_H
#define WB_IO_SINK_H

#include <sys/types.h>

#include "core/core.h"
#include "io/direct.h"
#include "io/io.h"
#include "weighbridge/experimental.h"

/* See the functions of the same names in weighbridge/experimental.h. context->file may be unset. */
wb_status wb__sink_open(wb__context *context, const char *path, uint64_t expected, wb_sink **sink);
wb_status wb__sink_open_fd(wb__context *context, int fd, const char *label, wb_sink **sink);
wb_status wb__sink_write(wb__context *context, wb_sink *sink, const void *bytes, size_t n);
wb_status wb__sink_write_at(wb__context *context, wb_sink *sink, uint64_t offset, const void *bytes,
                            size_t n);
wb_status wb__sink_commit(wb__context *context, wb_sink *sink);
void wb__sink_discard(wb_sink *sink);

/*
 * Opens a sink like wb__sink_open, but uses `label` instead of `path` in errors. This is for files
 * in a directory that has a temporary name.
 *
 * With `kept`, the sink is resumable: the file has the name ".NAME.wb-partial" in the same
 * directory from the start, contents of an earlier run are reused, and the file remains unless the
 * sink is published or wb__sink_forget is called. The caller must prevent concurrent use and must
 * know which bytes are valid. If the name is too long or the target is a pipe or a device, the sink
 * is not resumable.
 */
wb_status wb__sink_open_as(wb__context *context, const char *path, const char *label, bool kept,
                           uint64_t expected, wb_sink **sink);
void wb__sink_forget(wb_sink *sink);

/* Returns 0 if wb__sink_open could create or replace a file at the path, else errno. */
int wb__sink_look(const char *path);

/* Returns the disk space in bytes that an existing partial file (".NAME.wb-partial") occupies. */
uint64_t wb__sink_kept_bytes(const wb_allocator *allocator, const char *path);

/* ---- random-access writes ---- */

/* Returns false for a stream, which only supports wb__sink_write. */
bool wb__sink_is_file(const wb_sink *sink);

/*
 * Writes n bytes at an offset without updating the sink's state: the caller tracks failures and
 * passes the final file length to wb__sink_finish. Unwritten bytes are zero. Thread-safe. Returns 0
 * or errno.
 */
int wb__sink_place(const wb_sink *sink, uint64_t offset, const void *bytes, size_t n);

/*
 * Returns an O_DIRECT descriptor for writing, and extends the file to `length` bytes. fd is -1 if
 * direct I/O is unavailable or the file is not on a local disk. Data written through the descriptor
 * is visible to all readers of the file. Not thread-safe.
 */
wb__direct wb__sink_direct(wb_sink *sink, uint64_t length);

/* Starts write-back of the data written so far, so that finishing takes less time. */
void wb__sink_hasten(const wb_sink *sink);

/* Waits until the n bytes at `offset` are written to disk, so that finishing takes less time. Uses
 * sync_file_range, which does not guarantee durability. Returns 0 or errno. */
int wb__sink_settle(const wb_sink *sink, uint64_t offset, uint64_t n);

/* Returns the current length of the file in bytes; 0 if the sink is not a regular file. */
uint64_t wb__sink_length(const wb_sink *sink);

/*
 * Makes the file a clone of the source that shares its disk blocks (FICLONE). Returns false if the
 * file system does not support cloning.
 */
bool wb__sink_share(wb__context *context, const wb_sink *sink, const wb__source *source);

/* Copies n bytes of a source to an offset, inside the kernel if possible. Thread-safe. */
wb_status wb__sink_copy(wb__context *context, const wb_sink *sink, uint64_t offset,
                        const wb__source *source, uint64_t from, uint64_t n);

/*
 * The two phases of wb__sink_commit, for a set of files: finish makes each file durable under a
 * temporary name, then publish renames each to its final name. Neither function frees the sink.
 * `length` is the file length in bytes.
 */
wb_status wb__sink_finish(wb__context *context, wb_sink *sink, uint64_t length);
wb_status wb__sink_publish(wb__context *context, wb_sink *sink);

/* Returns true if the file has its final name, even if wb__sink_publish failed after the rename. */
bool wb__sink_is_published(const wb_sink *sink);

/*
 * Gives a finished file the name `path`, which must be on the same file system. Links a resumable
 * file, which then also keeps its partial name until it is discarded. Renames any other file, and a
 * resumable file if linking fails, for example because `path` exists or the file system has no hard
 * links. The new name is not durable until the caller syncs the directory, which can be done once
 * for many files.
 */
wb_status wb__sink_enter(wb__context *context, wb_sink *sink, const char *path);

/*
 * Makes the file a member of a set of output files, with the number `member`. Member 0 is the file
 * without which the others are useless, and is published last. `id` is a random number common to
 * all members. wb__sink_publish then fails with EEXIST if the final name exists. The temporary name
 * remains until the sink is discarded; the sink of member 0 must be discarded first (write_claim.c
 * explains why).
 */
void wb__sink_keep_others(wb_sink *sink, uint64_t id, uint64_t member);

/* Makes wb__sink_publish fail with EEXIST if the final name exists. */
void wb__sink_keep_old(wb_sink *sink);

/*
 * Renames a finished member of a set to its temporary name in the set, if the file has another
 * name. Resumable files keep their partial name until all members are published
 * (write/partial_files.c). Must be called for all members before any member is published.
 */
wb_status wb__sink_join(wb__context *context, wb_sink *sink);

/*
 * Makes the sink use `folder`, the caller's descriptor of the directory that contains the file,
 * instead of its own descriptor. This saves descriptors when there are many sinks. If `folder` is
 * -1, does nothing. The descriptor must stay open until the sink is discarded.
 */
void wb__sink_park(wb_sink *sink, int folder);

/* Reads back n bytes that were written to a file. Returns 0 or errno. */
int wb__sink_read(const wb_sink *sink, uint64_t offset, void *dst, size_t n);

/* Removes the final name of a published file. Returns false if this fails. */
bool wb__sink_withdraw(wb_sink *sink);

/* Leaves the temporary name in place when the sink is discarded; a later writer removes it. */
void wb__sink_leave(wb_sink *sink);

/*
 * Follows the symbolic links at the end of `path`, including a last link with a missing target, so
 * that the target file is replaced and not the link. The caller frees the result, whose size is its
 * length plus 1. Returns NULL and sets *os_error on failure.
 */
char *wb__sink_follow(const wb_allocator *allocator, const char *path, int *os_error);

/* Like wb__sink_follow, for a path that may be a directory: trailing slashes are removed. */
char *wb__path_follow(const wb_allocator *allocator, const char *path, int *os_error);

/*
 * Returns true if the path can only be written sequentially and not replaced: a pipe, a device, or
 * a file without a name (for example through /dev/fd/3).
 */
bool wb__path_is_stream(const char *path);

/* ---- output_directory.c ---- */

/* wb__path_folder returns the part of a path before the last '/' ("." if there is none), and
 * wb__path_base the part after it. */
wb__str wb__path_folder(const char *path);
wb__str wb__path_base(const char *path);

/*
 * For the path "FOLDER/NAME", wb__partial_path returns "FOLDER/.NAME.wb-partial", the name of a
 * resumable file. wb__hidden_path returns "FOLDER/.NAME" followed by the suffix `end`.
 * WB__RESUME_END is the suffix of the resume journal. Both return NULL if memory runs out. The
 * caller frees the result, whose size is its length plus 1.
 */
#define WB__KEPT_END ".wb-partial"
#define WB__RESUME_END ".wb-resume"
char *wb__hidden_path(const wb_allocator *allocator, const char *path, const char *end);
char *wb__partial_path(const wb_allocator *allocator, const char *path);

/* wb__directory_sync makes the names in the directory `path` durable, wb__directory_sync_of those
 * in the parent directory of `file`. Both return 0 or errno. */
int wb__directory_sync(const char *path);
int wb__directory_sync_of(const wb_allocator *allocator, const char *file);

/*
 * Opens a file left by an earlier run for reading and writing, or creates it; `folder` is a
 * directory descriptor as for openat. Because the name is predictable, a file of another user or a
 * file with a second hard link is not trusted: it is unlinked and a new file is created. The caller
 * closes *fd. Returns 0 or errno; EEXIST if another process created the file first.
 */
int wb__file_take_up(int folder, const char *name, mode_t mode, int *fd);

/* Creates all missing parent directories of a path durably. */
wb_status wb__directories_make(wb__context *context, const char *path);

/*
 * Returns the deepest existing parent of a path, whatever its type. The caller frees the result;
 * NULL if out of memory.
 */
char *wb__directory_there(const wb_allocator *allocator, const char *path);

/* Returns 0 if files can be created in a directory, else errno. */
int wb__directory_look(const char *path);

/* Creates a directory with a temporary name in the parent of `target`. *path is allocated in
 * `arena`. */
wb_status wb__directory_make(wb__context *context, wb__arena *arena, const char *target,
                             const char **path);

/* Like wb__directory_make, with the fixed name ".NAME.wb-partial", which may already exist. */
wb_status wb__directory_make_partial(wb__context *context, wb__arena *arena, const char *target,
                                     const char **path);

/* Returns true if the partial directory (".NAME.wb-partial") of a path exists. */
bool wb__directory_is_partial(const wb_allocator *allocator, const char *target);

/* Makes a directory durable and renames it to `path`. Fails with EEXIST if `path` exists. */
wb_status wb__directory_publish(wb__context *context, const char *made, const char *path);

/* ---- directory_replace.c ---- */

/* Decides which entries of a replaced directory stay. */
typedef struct wb__kept_entries {
    bool (*is_kept)(void *ctx, const char *name);
    void *ctx;
} wb__kept_entries;

/*
 * Makes the directory `made` durable and exchanges it with the directory `path`, atomically.
 * Entries of the old directory (also subdirectories) for which kept->is_kept returns true stay in
 * `path`; the others are removed. If an entry cannot be kept, the call fails before anything has
 * changed. The new directory gets owner and permissions of the old one.
 */
wb_status wb__directory_replace(wb__context *context, const char *made, const char *path,
                                const wb__kept_entries *kept);

/* ---- write_claim.c ---- */

#define WB__TEMPORARY_BYTES 48
#define WB__NO_MEMBER UINT64_MAX

/* Prints ".wb-0123456789abcdef.tmp", or for a member of a set ".wb-0123456789abcdef-00002.tmp". */
void wb__temporary_name(char *name, uint64_t id, uint64_t member);

/*
 * Marks a directory as containing temporary files of this process while the descriptor is open, and
 * removes temporary files of processes that have ended. Failures are ignored.
 */
void wb__claim(const wb_allocator *allocator, int folder);

/*
 * Opens a directory, or with is_file the directory that contains a file, and calls wb__claim for
 * it. *fd receives the descriptor, which the caller closes, or -1 if the directory cannot be
 * opened. Fails only if memory runs out.
 */
wb_status wb__claim_path(wb__context *context, const char *path, bool is_file, int *fd);

/* Removes a temporary directory and everything in it. */
void wb__directory_remove(const char *path);

/*
 * Like wb__directory_remove, but atomic: the directory is first renamed to a temporary name. If the
 * removal is then interrupted, the next writer recognizes this name and removes the directory. If
 * the rename fails, nothing is removed.
 */
void wb__directory_retire(const wb_allocator *allocator, const char *path);

/* ---- sink_write.c ---- */

/*
 * Writes all n bytes. Retries after short writes and interruptions, waits if a descriptor would
 * block, and prevents SIGPIPE and SIGXFSZ from ending the process. Returns 0 or errno.
 */
int wb__write_all(int fd, const void *bytes, size_t n);

/* Makes written data durable; for a directory, the names in it. Returns 0 or errno. */
int wb__write_sync(int fd);

/* Like wb__write_all, at a file offset. */
int wb__write_at(int fd, uint64_t offset, const void *bytes, size_t n);

/*
 * Reads up to n bytes of a file; returns the number read, which is smaller at end of file or on
 * error.
 */
size_t wb__read_back(int fd, uint64_t offset, void *to, size_t n);

/* Extends a file that is shorter than `length` bytes to `length` bytes; the new bytes are zero.
 * Returns 0 or errno. */
int wb__write_extend(int fd, uint64_t length);

/*
 * Copies up to n bytes between files inside the kernel. On some file systems, the copy shares the
 * disk blocks of the original. *done receives the number of bytes copied; a partial copy is not a
 * failure. Returns 0 or errno.
 */
int wb__write_range(int to, uint64_t at, int from, uint64_t offset, uint64_t n, uint64_t *done);

/*
 * Reserves `bytes` bytes of disk space, so that a full disk is detected early. Returns 0 or errno.
 */
int wb__write_reserve(int fd, uint64_t bytes);

/* Returns the free disk space in bytes at `path`; UINT64_MAX if unknown. */
uint64_t wb__write_room(const char *path);

#endif

/*
 * io/sink.h: where bytes go: a file that appears whole or not at all, or a stream.
 *
 * A file is written under no name at all where the system can do that (O_TMPFILE), and under a
 * temporary name in the same folder elsewhere; commit makes it durable and renames it into place.
 * At every moment the path shows the old file or the complete new one. A crash can leave a
 * temporary file behind, never a torn one; a killed process leaves nothing, or a temporary file
 * where O_TMPFILE is missing.
 *
 * The first failure is final: a write-back error that fsync reports once is not reported again, and
 * what it concerned is lost (PostgreSQL, 2018), so that trying on would turn it into a silent one.
 */
#ifndef WB_IO_SINK_H
#define WB_IO_SINK_H

#include "core/core.h"
#include "io/io.h"
#include "weighbridge/experimental.h"

/* As the functions of weighbridge/experimental.h. context->file need not be set. */
wb_status wb__sink_open(wb__context *context, const char *path, uint64_t expected, wb_sink **sink);
wb_status wb__sink_open_fd(wb__context *context, int fd, const char *label, wb_sink **sink);
wb_status wb__sink_write(wb__context *context, wb_sink *sink, const void *bytes, size_t n);
wb_status wb__sink_commit(wb__context *context, wb_sink *sink);
void wb__sink_discard(wb_sink *sink);

/*
 * As wb__sink_open, but the file has a name from the beginning, ".NAME.wb-partial" beside the one it is to
 * have, and stays there unless it is published or wb__sink_forget says otherwise: what a former run left
 * is taken up. Whoever uses this sees to it that nobody else does, and knows which bytes are sound. Where
 * the name is too long, or nothing is to be replaced but a pipe or a device, it is wb__sink_open.
 */
wb_status wb__sink_open_kept(wb__context *context, const char *path, uint64_t expected,
                             wb_sink **sink);
void wb__sink_forget(wb_sink *sink);

/* Bytes of the disk that such a file has already. */
uint64_t wb__sink_kept_bytes(const wb_allocator *allocator, const char *path);

/* ---- bytes that do not come in order ---- */

/* False for a stream, which takes bytes through wb__sink_write only. */
bool wb__sink_is_file(const wb_sink *sink);

/*
 * Writes n bytes at an offset, without a word to the sink: whoever uses this remembers failures, and
 * says with wb__sink_finish how long the file is. Bytes that nobody wrote are zero. Thread-safe. 0, or
 * errno.
 */
int wb__sink_place(const wb_sink *sink, uint64_t offset, const void *bytes, size_t n);

/* Has the system begin to put on the disk what was written so far, so that finishing need not wait. */
void wb__sink_hasten(const wb_sink *sink);

/* Copies n bytes of a source to an offset, within the file system where that can. Thread-safe. */
wb_status wb__sink_copy(wb__context *context, const wb_sink *sink, uint64_t offset,
                        const wb__source *source, uint64_t from, uint64_t n);

/*
 * The two halves of wb__sink_commit, for several files that belong together: first every file becomes
 * durable under a temporary name, then all get the names they shall have. The sink is not gone after
 * either. `length` is that of the file.
 */
wb_status wb__sink_finish(wb__context *context, wb_sink *sink, uint64_t length);
wb_status wb__sink_publish(wb__context *context, wb_sink *sink);

/* Has wb__sink_publish fail with EEXIST where a file of the name is there by then. */
void wb__sink_keep_others(wb_sink *sink);

/* Another name for the file, in the same folder. */
wb_status wb__sink_rename(wb__context *context, wb_sink *sink, const char *path);

/* After wb__sink_finish: closes the folder until the file is published, for those who have many. */
void wb__sink_park(wb_sink *sink);

/* Reads back n bytes that were written to a file. 0, or errno. */
int wb__sink_read(const wb_sink *sink, uint64_t offset, void *dst, size_t n);

/* Removes the file again that was published last. */
void wb__sink_withdraw(wb_sink *sink);

/* ---- folder_out.c ---- */

/* What stands before the last '/' of a path, "." for nothing. */
wb__str wb__path_folder(const char *path);

/* Makes a folder of a temporary name beside a path; *path is in the arena. */
wb_status wb__folder_make(wb__context *context, wb__arena *arena, const char *beside,
                          const char **path);

/* The same of a name that is always the same, ".NAME.wb-partial"; it may be there already. */
wb_status wb__folder_make_kept(wb__context *context, wb__arena *arena, const char *beside,
                               const char **path);

/*
 * Makes a folder durable and gives it its name; where there is one of that name, the two change
 * places (`replace`) and the old one's files are removed, or it fails with EEXIST.
 */
wb_status wb__folder_publish(wb__context *context, const char *made, const char *path,
                             bool replace);

/* Removes the files of a folder, and it. */
void wb__folder_remove(const wb_allocator *allocator, const char *path);

/* ---- sink_write.c ---- */

/*
 * Writes all n bytes: goes on after short writes and interruptions, waits for a descriptor that
 * would block, and keeps SIGPIPE and SIGXFSZ from ending the process. 0, or errno.
 */
int wb__write_all(int fd, const void *bytes, size_t n);

/* The same at an offset of a file. */
int wb__write_at(int fd, uint64_t offset, const void *bytes, size_t n);

/*
 * Copies up to n bytes from one file to another within the kernel, which shares them where the file
 * system can. *done is how many were copied before it could not go on, which is no failure. 0, or
 * errno.
 */
int wb__write_range(int to, uint64_t at, int from, uint64_t offset, uint64_t n, uint64_t *done);

/* Asks the file system for room for `bytes`, so that a full disk shows now. 0, or errno. */
int wb__write_reserve(int fd, uint64_t bytes);

/* The bytes that are free where `path` is to be; UINT64_MAX where nobody can tell. */
uint64_t wb__write_room(const char *path);

#endif

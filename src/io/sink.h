/*
 * io/sink.h: where bytes go: a file that appears whole or not at all, or a stream.
 *
 * A file is written under no name at all where the system can do that (O_TMPFILE), and under a
 * temporary name in the same folder elsewhere; commit makes it durable and renames it into place.
 * At every moment the path shows the old file or the complete new one. A crash or a kill can leave a
 * temporary file behind, never a torn one; the next file that is written into the folder removes it
 * (claim.c).
 *
 * The first failure is final: a write-back error that fsync reports once is not reported again, and
 * what it concerned is lost (PostgreSQL, 2018), so that trying on would turn it into a silent one.
 */
#ifndef WB_IO_SINK_H
#define WB_IO_SINK_H

#include <sys/types.h>

#include "core/core.h"
#include "io/direct.h"
#include "io/io.h"
#include "weighbridge/experimental.h"

/* As the functions of weighbridge/experimental.h. context->file need not be set. */
wb_status wb__sink_open(wb__context *context, const char *path, uint64_t expected, wb_sink **sink);
wb_status wb__sink_open_fd(wb__context *context, int fd, const char *label, wb_sink **sink);
wb_status wb__sink_write(wb__context *context, wb_sink *sink, const void *bytes, size_t n);
wb_status wb__sink_commit(wb__context *context, wb_sink *sink);
void wb__sink_discard(wb_sink *sink);

/*
 * As wb__sink_open, but errors name the file by a label, for one in a folder that has a temporary name.
 *
 * If it is kept, the file has a name from the beginning, ".NAME.wb-partial" beside the one it is to have, and
 * stays there unless it is published or wb__sink_forget says otherwise: what a former run left is taken up.
 * Whoever uses this sees to it that nobody else does, and knows which bytes are sound. Where the name is too
 * long, or nothing is to be replaced but a pipe or a device, it is not kept.
 */
wb_status wb__sink_open_as(wb__context *context, const char *path, const char *label, bool kept,
                           uint64_t expected, wb_sink **sink);
void wb__sink_forget(wb_sink *sink);

/* Whether wb__sink_open would find anything at the path that no file can take the place of: 0, or errno. */
int wb__sink_look(const char *path);

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

/*
 * A descriptor of the file that goes around the page cache, for a file on a disk of this machine that is to have
 * `length` bytes and has them from now on; fd is -1 where there is none. What is written through it is in the file
 * for everyone who reads it. Not thread-safe.
 */
wb__direct wb__sink_direct(wb_sink *sink, uint64_t length);

/* Has the system begin to put on the disk what was written so far, so that finishing need not wait. */
void wb__sink_hasten(const wb_sink *sink);

/* Waits until n bytes from an offset on are on the disk, as far as the system can tell of a part of a file: what is
 * left to wait for when the file is finished is less then. 0, or errno. */
int wb__sink_settle(const wb_sink *sink, uint64_t offset, uint64_t n);

/* The bytes of a file by now. */
uint64_t wb__sink_length(const wb_sink *sink);

/* Has the file be all of a source, at once and without a byte copied, where the file system can have two files share
 * what they hold. False: it cannot. */
bool wb__sink_share(wb__context *context, const wb_sink *sink, const wb__source *source);

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

/*
 * Gives a finished file a name anywhere in its file system, be there another of that name or not; it is not durable
 * before the caller has synced the folder, once for many. What is kept has its own name, too, until it is discarded,
 * unless files have one name alone there.
 */
wb_status wb__sink_enter(wb__context *context, wb_sink *sink, const char *path);

/*
 * Makes the file the `member`th of a set, 0 being that without which the others are nothing and which is
 * published last; `id` is one for all of them, drawn at random. wb__sink_publish then fails with EEXIST
 * where a file of the name is there by then, and the temporary name stays until the sink is discarded,
 * that of number 0 first (claim.c says why).
 */
void wb__sink_keep_others(wb_sink *sink, uint64_t id, uint64_t member);

/* Of a set that is finished: gives the file the temporary name that says so, if it has another; what is kept has its
 * own until all are published (write/partial_files.c). To be done to all before one is published. */
wb_status wb__sink_join(wb__context *context, wb_sink *sink);

/* Has the sink use a descriptor of its folder that the caller has, for those who have many; -1: nothing
 * happens. It is still to be open when the sink is discarded. */
void wb__sink_park(wb_sink *sink, int folder);

/* Reads back n bytes that were written to a file. 0, or errno. */
int wb__sink_read(const wb_sink *sink, uint64_t offset, void *dst, size_t n);

/* Takes away the name again that was given when the file was published. */
bool wb__sink_withdraw(wb_sink *sink);

/* Leaves the temporary name to the next who writes into the folder. */
void wb__sink_leave(wb_sink *sink);

/*
 * Follows the symbolic links at the end of `path`, also where the last one leads to nothing yet, so
 * that the file they mean is replaced and not the link. Free with strlen + 1; NULL with *os_error on failure.
 */
char *wb__sink_follow(const wb_allocator *allocator, const char *path, int *os_error);

/* The same of what may be a folder: slashes at the end count for nothing, and none is left. */
char *wb__path_follow(const wb_allocator *allocator, const char *path, int *os_error);

/*
 * True where nothing can be replaced, and bytes are taken in their order only: a pipe, a device, or a file without
 * a name, which a path such as /dev/fd/3 leads to.
 */
bool wb__path_is_stream(const char *path);

/* ---- folder_out.c ---- */

/* What stands before the last '/' of a path, "." for nothing; and what stands behind it. */
wb__str wb__path_folder(const char *path);
wb__str wb__path_base(const char *path);

/*
 * "FOLDER/.NAME.wb-partial" of "FOLDER/NAME", under which what is kept is written, and "FOLDER/.NAMEend" for other
 * ends: WB__RESUME_END is the journal's. Free with strlen + 1; NULL when memory is out.
 */
#define WB__KEPT_END ".wb-partial"
#define WB__RESUME_END ".wb-resume"
char *wb__hidden_path(const wb_allocator *allocator, const char *path, const char *end);
char *wb__partial_path(const wb_allocator *allocator, const char *path);

/* Makes the names in a folder durable; the same of the folder that a file is in. 0, or errno. */
int wb__directory_sync(const char *path);
int wb__directory_sync_of(const wb_allocator *allocator, const char *file);

/*
 * Opens what a former run left under a name in a folder, to read and write it, or makes it; `folder` as of openat.
 * Everyone knows such a name: what another put there, be it a file of ours by a second name, is neither believed nor
 * written over, but goes. *fd is to be closed. 0, or errno; EEXIST if another run was quicker.
 */
int wb__file_take_up(int folder, const char *name, mode_t mode, int *fd);

/* Makes the folders that lead to a path, durably. */
wb_status wb__directories_make(wb__context *context, const char *path);

/* The last of them that is there, whatever it is, to be freed; NULL: out of memory. */
char *wb__directory_there(const wb_allocator *allocator, const char *path);

/* Whether files can be made in a folder: 0, or errno. */
int wb__directory_look(const char *path);

/* Makes a folder of a temporary name beside a path; *path is in the arena. */
wb_status wb__directory_make(wb__context *context, wb__arena *arena, const char *config_json,
                             const char **path);

/* The same of a name that is always the same, ".NAME.wb-partial"; it may be there already. */
wb_status wb__directory_make_partial(wb__context *context, wb__arena *arena,
                                     const char *config_json, const char **path);

/* Whether there is one, beside a path. */
bool wb__directory_is_partial(const wb_allocator *allocator, const char *config_json);

/*
 * Makes a folder durable and gives it its name; where there is one of that name, the two change
 * places (`replace`) and the old one's files are removed, or it fails with EEXIST.
 */
wb_status wb__directory_publish(wb__context *context, const char *made, const char *path,
                                bool replace);

/* ---- claim.c ---- */

#define WB__TEMPORARY_BYTES 48
#define WB__NO_MEMBER UINT64_MAX

/* ".wb-0123456789abcdef.tmp", or of a member of a set ".wb-0123456789abcdef-00002.tmp". */
void wb__temporary_name(char *name, uint64_t id, uint64_t member);

/*
 * Says that there are temporary files of this process in a folder, for as long as the descriptor is open;
 * and removes those of processes that are no more. What fails of this is no failure.
 */
void wb__claim(const wb_allocator *allocator, int folder);

/* The same for a folder, or the one that a file is in; *fd is that of the folder, to be closed, or -1 if it
 * cannot be opened. */
wb_status wb__claim_path(wb__context *context, const char *path, bool is_file, int *fd);

/* Removes the files of a folder, and it. */
void wb__directory_remove(const char *path);

/*
 * The same at one stroke: it has another name, by which the next writer knows it, before its first file goes. It stays
 * as it is where that name cannot be given.
 */
void wb__directory_retire(const wb_allocator *allocator, const char *path);

/* ---- sink_write.c ---- */

/*
 * Writes all n bytes: goes on after short writes and interruptions, waits for a descriptor that
 * would block, and keeps SIGPIPE and SIGXFSZ from ending the process. 0, or errno.
 */
int wb__write_all(int fd, const void *bytes, size_t n);

/* Makes what was written durable; of a folder its names. 0, or errno. */
int wb__write_sync(int fd);

/* As wb__write_all, at an offset of a file. */
int wb__write_at(int fd, uint64_t offset, const void *bytes, size_t n);

/* Reads n bytes of a file that is written; gives how many there were, fewer where it ends or cannot be read. */
size_t wb__read_back(int fd, uint64_t offset, void *to, size_t n);

/* Makes a file that is shorter `length` bytes long, the new ones being zero. 0, or errno. */
int wb__write_extend(int fd, uint64_t length);

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

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
#include "weighbridge/experimental.h"

/* As the functions of weighbridge/experimental.h. context->file need not be set. */
wb_status wb__sink_open(wb__context *context, const char *path, uint64_t expected, wb_sink **sink);
wb_status wb__sink_open_fd(wb__context *context, int fd, const char *label, wb_sink **sink);
wb_status wb__sink_write(wb__context *context, wb_sink *sink, const void *bytes, size_t n);
wb_status wb__sink_commit(wb__context *context, wb_sink *sink);
void wb__sink_discard(wb_sink *sink);

/* ---- sink_write.c ---- */

/*
 * Writes all n bytes: goes on after short writes and interruptions, waits for a descriptor that
 * would block, and keeps SIGPIPE and SIGXFSZ from ending the process. 0, or errno.
 */
int wb__write_all(int fd, const void *bytes, size_t n);

/* Asks the file system for room for `bytes`, so that a full disk shows now. 0, or errno. */
int wb__write_reserve(int fd, uint64_t bytes);

#endif

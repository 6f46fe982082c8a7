/*
 * io/sink_private.h: internals of sinks. sink.c writes the data, sink_open.c opens the file,
 * sink_publish.c makes it durable and renames it, sink_path.c has the path functions.
 */
#ifndef WB_IO_SINK_PRIVATE_H
#define WB_IO_SINK_PRIVATE_H

#include <sys/types.h>

#include "io/direct.h"
#include "io/sink.h"

#define WB__SINK_TRIES 100      /* attempts to find a free temporary name */
#define WB__SINK_NAME_BYTES 256 /* maximum file name length of common file systems, plus NUL */

struct wb_sink {
    wb_allocator allocator;
    char *label;
    char *path; /* final path of the file; NULL for a stream */
    int fd;
    /* O_DIRECT descriptor of the same file, opened on first use; fd is -1 if none */
    wb__direct direct;
    bool direct_tried;
    int folder; /* descriptor of the directory of `path`, -1 for streams */
    bool borrows_folder;
    bool owned; /* the sink must close fd */
    bool named; /* the file has the name `temporary` */
    bool existing;
    bool keeps_others; /* one of several files of an output: see wb__sink_keep_others */
    bool keeps_old;    /* an existing file is not replaced: see wb__sink_keep_old */
    uint64_t set, member;
    bool kept; /* resumable: see wb__sink_open_as */
    bool published;
    mode_t mode; /* permissions of the existing file; uid and gid are its owner and group */
    uid_t uid;
    gid_t gid;
    int failure; /* errno of the first failure */
    uint64_t written;
    char temporary[WB__SINK_NAME_BYTES];
};

/* ---- sink.c ---- */

/* Allocates a sink without a file. */
wb_status wb__sink_make(wb__context *context, const char *label, wb_sink **out);

/* Records os_error as the sink's failure and reports it. */
wb_status wb__sink_fail(wb__context *context, wb_sink *sink, int os_error, const char *what);

/* Returns a copy owned by the caller; NULL if out of memory. */
char *wb__sink_copy_text(const wb_allocator *allocator, const char *text);
void wb__sink_free_text(const wb_allocator *allocator, char *text);

/* ---- sink_open.c ---- */

/* Chooses a new temporary name for the sink. */
void wb__sink_draw_name(wb_sink *sink);

/* ---- sink_path.c ---- */

/* Returns the part of the path after the last '/'. */
const char *wb__sink_base(const char *path);

/* Opens the directory that contains `path`. Returns a descriptor, or -1 with errno set. */
int wb__sink_open_folder(const wb_allocator *allocator, const char *path);

/*
 * Writes ".NAME.wb-partial" into a buffer of WB__SINK_NAME_BYTES bytes; false if it does not fit.
 */
bool wb__sink_kept_name(const char *path, char *name);

#endif

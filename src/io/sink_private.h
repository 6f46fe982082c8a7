/*
 * io/sink_private.h: what a sink is made of, for the files of this room: sink.c has the bytes, sink_open.c
 * the file they go to, sink_publish.c how that gets its name, sink_path.c where it is.
 */
#ifndef WB_IO_SINK_PRIVATE_H
#define WB_IO_SINK_PRIVATE_H

#include <sys/types.h>

#include "io/direct.h"
#include "io/sink.h"

#define WB__SINK_TRIES 100      /* at a temporary name that is free */
#define WB__SINK_NAME_BYTES 256 /* the most that file systems have, and a NUL */

struct wb_sink {
    wb_allocator allocator;
    char *label;
    char *path; /* of the file to be; NULL: a stream */
    int fd;
    wb__direct direct; /* the same past the page cache, once asked for; fd -1: none */
    bool direct_tried;
    int folder; /* of `path`, -1 for streams */
    bool borrows_folder;
    bool owned; /* fd is ours to close */
    bool named; /* the temporary file has the name `temporary` */
    bool existing;
    bool keeps_others; /* wb__sink_keep_others, and what it was told */
    uint64_t set, member;
    bool kept; /* wb__sink_open_as */
    bool published;
    mode_t mode; /* of the existing file, as its owner and group */
    uid_t uid;
    gid_t gid;
    int failure; /* errno of the first failure */
    uint64_t written;
    char temporary[WB__SINK_NAME_BYTES];
};

/* ---- sink.c ---- */

/* A sink of no file. */
wb_status wb__sink_make(wb__context *context, const char *label, wb_sink **out);

/* Fails with what the sink remembers from now on. */
wb_status wb__sink_fail(wb__context *context, wb_sink *sink, int os_error, const char *what);

/* Owned, NULL when memory is out. */
char *wb__sink_copy_text(const wb_allocator *allocator, const char *text);
void wb__sink_free_text(const wb_allocator *allocator, char *text);

/* ---- sink_open.c ---- */

/* Draws another temporary name. */
void wb__sink_draw_name(wb_sink *sink);

/* ---- sink_path.c ---- */

/* What stands behind the last '/'. */
const char *wb__sink_base(const char *path);

/* Opens the folder a file is in. A descriptor, or -1 with errno. */
int wb__sink_open_folder(const wb_allocator *allocator, const char *path);

/* ".NAME.wb-partial" into WB__SINK_NAME_BYTES; false if that is too long. */
bool wb__sink_kept_name(const char *path, char *name);

#endif

/* io/source_private.h: internals of sources. */
#ifndef WB_IO_SOURCE_PRIVATE_H
#define WB_IO_SOURCE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "io/io.h"

/* A separately mapped part of a file, used if the whole file cannot be mapped. */
typedef struct mapped_part {
    struct mapped_part *next;
    uint8_t *base;
    size_t bytes;
} mapped_part;

struct wb__source {
    wb_allocator allocator;
    char *label;
    size_t label_bytes;
    uint64_t bytes;
    /* descriptor of the file or the sealed copy; -1 for other sources or while parked */
    int fd;
    bool from_path; /* the label is the path the source was opened with */
    bool parked;    /* the file is reopened for each use */
    bool sealed;    /* fd is an immutable copy (memfd with seals) */
    bool writable;  /* mapped pages may be changed: they are copied when they are written */
    wb__identity identity;
    const uint8_t *memory; /* all bytes, if they are permanently in memory */
    wb_source caller;      /* read is NULL if the source has no callbacks */
    /*
     * Mappings. `whole` changes only from NULL to a value, and new parts are only added at the head
     * of `parts`, so that wb__source_owns can read both in a signal handler.
     */
    pthread_mutex_t lock;
    _Atomic(uint8_t *) whole;
    _Atomic(mapped_part *) parts;
};

/* Creates a source that has only a label. */
wb_status wb__source_make(wb__context *context, const char *label, wb__source **source);

wb__identity wb__identity_of(const struct stat *st);

/* Returns a description of the difference, or NULL if there is none. */
const char *wb__identity_difference(const wb__identity *then, const wb__identity *now);

/* Returns true if the source is a file that has a descriptor or can be reopened. */
static inline bool wb__source_is_file(const wb__source *source)
{
    return source->fd >= 0 || source->parked;
}

/* Returns a descriptor of the file, reopened if the source is parked; -1 on failure. */
int wb__source_borrow_fd(const wb__source *source, wb__context *context);
void wb__source_return_fd(const wb__source *source, int fd);

/* Reports WB__FINDING_FILE_ENDS_EARLY at an offset. */
wb_status wb__source_fail_short(const wb__source *source, wb__context *context, uint64_t at);

/* Replaces the file of a source by an immutable copy in memory, and maps the copy. */
wb_status wb__source_seal(wb__context *context, wb__source *source);

/* Reads a stream to its end into an unnamed file and sets *fd to its descriptor; -1 on failure. */
wb_status wb__spool(wb__context *context, int stream, int *fd);

#endif

/*
 * io/source_private.h: what a source is made of, for the files of this room.
 */
#ifndef WB_IO_SOURCE_PRIVATE_H
#define WB_IO_SOURCE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "io/io.h"

/* A part of a file that was mapped by itself, where the whole file does not fit. */
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
    int fd;         /* of a file, or of a sealed copy; -1 for none, or while parked */
    bool from_path; /* the label is the path it was opened by */
    bool parked;    /* the file is opened anew for each use */
    bool sealed;    /* fd is a copy that nobody can change */
    wb__identity identity;
    const uint8_t *memory; /* all bytes, in memory for good */
    wb_source caller;      /* read is NULL for none */
    /* What is mapped. `whole` and `parts` only ever go from NULL to a value, and parts are only put
     * in front, so that wb__source_owns can look at them from a signal handler. */
    pthread_mutex_t lock;
    _Atomic(uint8_t *) whole;
    _Atomic(mapped_part *) parts;
};

/* A source with nothing but its label. */
wb_status wb__source_make(wb__context *context, const char *label, wb__source **source);

wb__identity wb__identity_of(const struct stat *st);

/* What is different, in words, or NULL. */
const char *wb__identity_difference(const wb__identity *then, const wb__identity *now);

/* True if its bytes are those of a file that has a descriptor. */
static inline bool wb__source_is_file(const wb__source *source)
{
    return source->fd >= 0 || source->parked;
}

/* The descriptor of the file, opened anew if it is parked; -1 after a failure. */
int wb__source_borrow_fd(const wb__source *source, wb__context *context);
void wb__source_return_fd(const wb__source *source, int fd);

/* FILE_ENDS_EARLY at an offset. */
wb_status wb__source_fail_short(const wb__source *source, wb__context *context, uint64_t at);

/* Replaces the file of a source by a copy in memory that nobody can change, and maps it. */
wb_status wb__source_seal(wb__context *context, wb__source *source);

/* Reads a stream to its end into a descriptor of a file without a name; -1 after a failure. */
wb_status wb__spool(wb__context *context, int stream, int *fd);

#endif

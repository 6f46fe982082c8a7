/*
 * io/direct.h: which bytes of a file are in memory already, and reading those that are not past the
 * page cache.
 *
 * A file that lies in the page cache is read fastest through it; one that does not is read fastest
 * around it, at a hundredth of the processor time, if the disk and the file system allow. Both are
 * asked for here, range by range, so that a file that is half in memory gets the best of both.
 */
#ifndef WB_IO_DIRECT_H
#define WB_IO_DIRECT_H

#include "io/io.h"

/* What is known of where a file lies. */
typedef enum wb__medium {
    WB__MEDIUM_MEMORY,  /* no file at all, or one of a file system in memory */
    WB__MEDIUM_DISK,    /* the page cache stands before a device of this machine */
    WB__MEDIUM_NETWORK, /* another machine may change it, or go away: never to be mapped unasked */
    WB__MEDIUM_CALLER   /* the caller's source */
} wb__medium;

wb__medium wb__source_medium(const wb__source *source);
wb__medium wb__medium_of_fd(int fd);

/*
 * How many of the n bytes at `offset` are in the page cache, in whole pages; false where the system
 * does not tell. By cachestat(2), else by mincore(2) on what is mapped for the purpose.
 */
bool wb__source_cached(const wb__source *source, uint64_t offset, uint64_t n, uint64_t *cached);

/*
 * Whether reading n bytes past the page cache is worth it when so many of them are in it: these are fetched
 * again.
 */
static inline bool wb__direct_pays(uint64_t cached, uint64_t n)
{
    return cached <= n / 2;
}

/* Whether reading the n bytes at `offset` past the page cache is worth it, as far as the system tells. */
static inline bool wb__source_is_cold(const wb__source *source, uint64_t offset, uint64_t n)
{
    uint64_t cached;
    return wb__source_cached(source, offset, n, &cached) && wb__direct_pays(cached, n);
}

/* A descriptor of a source's file that goes around the page cache; fd is -1 where there is none. */
typedef struct wb__direct {
    int fd;
} wb__direct;

/* Of offsets and memory: no disk wants more. */
#define WB__DIRECT_ALIGNMENT ((size_t)4096)

/* Opens one; fd stays -1 where the file system has no such thing, or the file is another one now. */
void wb__direct_open(const wb__source *source, wb__direct *direct);
/* The same of an open file that is written. */
void wb__direct_open_fd(int fd, wb__direct *direct);
void wb__direct_close(wb__direct *direct);

/*
 * Fills dst with the n bytes at `offset`; offset and dst must be multiples of WB__DIRECT_ALIGNMENT,
 * and dst have room for n rounded up to one. What cannot be read this way is read through the page
 * cache. Thread-safe.
 */
wb_status wb__direct_read(const wb__source *source, const wb__direct *direct, wb__context *context,
                          uint64_t offset, void *dst, size_t n);

/* Room for n bytes that begin anywhere in a file, wherever the room begins. */
#define WB__DIRECT_ROOM(n) ((n) + 3 * WB__DIRECT_ALIGNMENT)

/*
 * Reads the n bytes at any offset into `room`, which has WB__DIRECT_ROOM(n) bytes; *bytes is where in it
 * they begin. Otherwise as wb__direct_read.
 */
wb_status wb__direct_read_into(const wb__source *source, const wb__direct *direct,
                               wb__context *context, uint64_t offset, uint8_t *room, size_t n,
                               uint8_t **bytes);

#endif

/*
 * io/direct.h: queries which bytes of a file are in the page cache, and reads with direct I/O
 * (O_DIRECT).
 *
 * Cached data is read fastest through the page cache. Uncached data is read fastest with direct
 * I/O, if the disk and the file system support it. Direct I/O takes about a hundredth of the
 * processor time that the page cache takes. The method is chosen for each byte range, so a file
 * that is partly cached is read with both.
 */
#ifndef WB_IO_DIRECT_H
#define WB_IO_DIRECT_H

#include "io/io.h"

/* The kind of storage that holds a file. */
typedef enum wb__medium {
    WB__MEDIUM_MEMORY, /* memory, or a file in a memory file system (tmpfs, ramfs, hugetlbfs) */
    WB__MEDIUM_DISK,   /* a file on a local block device, read through the page cache */
    /*
     * a network file system: the file may change or become unreachable, so it is mapped only on
     * request
     */
    WB__MEDIUM_NETWORK,
    WB__MEDIUM_CALLER /* a source with read functions supplied by the caller */
} wb__medium;

wb__medium wb__source_medium(const wb__source *source);
wb__medium wb__medium_of_fd(int fd);

/*
 * Sets *cached to the number of the n bytes at `offset` that are in the page cache, rounded to
 * whole pages. Returns false if the system cannot report it. Uses cachestat(2), or mincore(2) on a
 * temporary mapping.
 */
bool wb__source_cached(const wb__source *source, uint64_t offset, uint64_t n, uint64_t *cached);

/*
 * Returns true if direct I/O pays off for n bytes of which `cached` are in the page cache. Direct
 * I/O reads the cached bytes from disk again.
 */
static inline bool wb__direct_pays(uint64_t cached, uint64_t n)
{
    return cached <= n / 2;
}

/* Returns true if direct I/O pays off for the n bytes at `offset`. Returns false if the system
 * cannot report how many of these bytes are cached. */
static inline bool wb__source_is_cold(const wb__source *source, uint64_t offset, uint64_t n)
{
    uint64_t cached;
    return wb__source_cached(source, offset, n, &cached) && wb__direct_pays(cached, n);
}

/* Asks the kernel to read the n bytes at `offset` into the page cache, in the background. Has no
 * effect if the source is not an open file. */
void wb__source_read_ahead(const wb__source *source, uint64_t offset, uint64_t n);

/* An O_DIRECT descriptor of a source's file; fd is -1 if direct I/O is unavailable. */
typedef struct wb__direct {
    int fd;
} wb__direct;

/*
 * Alignment of file offsets, lengths and buffers for direct I/O, in bytes; enough for every disk.
 */
#define WB__DIRECT_ALIGNMENT ((size_t)4096)

/*
 * Opens an O_DIRECT descriptor. fd stays -1 if the file system does not support O_DIRECT or the
 * path now leads to a different file.
 */
void wb__direct_open(const wb__source *source, wb__direct *direct);
/* Opens an O_DIRECT descriptor for writing to the file behind `fd`. */
void wb__direct_open_fd(int fd, wb__direct *direct);
void wb__direct_close(wb__direct *direct);

/*
 * Reads n bytes at `offset` into dst. offset and dst must be multiples of WB__DIRECT_ALIGNMENT, and
 * dst must have space for n rounded up to a multiple of it. Ranges that cannot be read with direct
 * I/O are read through the page cache. Thread-safe.
 */
wb_status wb__direct_read(const wb__source *source, const wb__direct *direct, wb__context *context,
                          uint64_t offset, void *dst, size_t n);

/* Buffer size in bytes that wb__direct_read_into needs for n bytes at any file offset, with any
 * buffer address. */
#define WB__DIRECT_ROOM(n) ((n) + 3 * WB__DIRECT_ALIGNMENT)

/*
 * Reads n bytes at any offset into the buffer `room` of WB__DIRECT_ROOM(n) bytes. Sets *bytes to
 * the address of the first requested byte, which is inside the buffer. Otherwise identical to
 * wb__direct_read.
 */
wb_status wb__direct_read_into(const wb__source *source, const wb__direct *direct,
                               wb__context *context, uint64_t offset, uint8_t *room, size_t n,
                               uint8_t **bytes);

#endif

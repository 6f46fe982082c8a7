#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "io/io_messages.h"
#include "io/sink.h"
#include "io/source_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static wb_status write_all(wb__context *context, int fd, const uint8_t *bytes, size_t n)
{
    int os_error = wb__write_all(fd, bytes, n);
    return os_error == 0 ? WB_OK : wb__fail_os(context, os_error, WB__MSG_IO_COPY_WRITE);
}

/*
 * Opens a file without a name: a memfd if in_memory, else an unlinked file in TMPDIR (default
 * /tmp).
 */
static int open_anonymous(bool in_memory)
{
    if (in_memory)
        return memfd_create("weighbridge", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || folder[0] == '\0')
        folder = "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    char path[4096];
    size_t n = strlen(folder);
    static const char pattern[] = "/weighbridge-XXXXXX";
    if (n + sizeof pattern > sizeof path)
        return -1;
    memcpy(path, folder, n);
    memcpy(path + n, pattern, sizeof pattern);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}

#define COPY_CHUNK ((size_t)1 << 20)

/* Destination of a spooled stream: a memfd at first, then a temporary file on disk. */
typedef struct spool_file {
    int fd;
    uint64_t bytes;
    bool in_memory;
} spool_file;

/* Appends `chunk`. Moves all data to disk once the data exceeds the limit spool_memory. */
static wb_status spool_append(wb__context *context, spool_file *spool, const uint8_t *chunk,
                              size_t n)
{
    if (spool->in_memory && spool->bytes + n > context->limits.spool_memory) {
        int disk = open_anonymous(false);
        if (disk < 0)
            return wb__fail_os(context, errno, WB__MSG_IO_TEMPORARY_FILE);
        uint8_t piece[16384];
        wb_status status = WB_OK;
        uint64_t at = 0;
        while (status == WB_OK && at < spool->bytes) {
            ssize_t got = pread(spool->fd, piece, sizeof piece, (off_t)at);
            if (got < 0 && errno == EINTR)
                continue;
            /* All spool->bytes bytes were written to the file, so it is an error if the file ends
             * before all of them are read back. */
            status = got <= 0 ? wb__fail_os(context, got == 0 ? EIO : errno, WB__MSG_IO_STREAM_READ)
                              : write_all(context, disk, piece, (size_t)got);
            at += got <= 0 ? 0 : (uint64_t)got;
        }
        (void)close(spool->fd);
        spool->fd = disk;
        spool->in_memory = false;
        if (status != WB_OK)
            return status;
    }
    spool->bytes += n;
    return write_all(context, spool->fd, chunk, n);
}

static wb_status spool_stream(wb__context *context, int fd, spool_file *spool)
{
    uint8_t *chunk = wb__alloc(&context->allocator, COPY_CHUNK);
    if (chunk == NULL)
        return wb__fail_memory(context);
    wb_status status = WB_OK;
    while (status == WB_OK) {
        ssize_t got = read(fd, chunk, COPY_CHUNK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            status = wb__fail_os(context, errno, WB__MSG_IO_STREAM_READ);
        if (got <= 0)
            break;
        status = spool_append(context, spool, chunk, (size_t)got);
    }
    wb__free(&context->allocator, chunk, COPY_CHUNK);
    return status;
}

wb_status wb__spool(wb__context *context, int stream, int *fd)
{
    spool_file spool = {open_anonymous(true), 0, true};
    *fd = -1;
    if (spool.fd < 0)
        return wb__fail_os(context, errno, WB__MSG_IO_STREAM_MEMORY);
    wb_status status = spool_stream(context, stream, &spool);
    if (status == WB_OK)
        *fd = spool.fd;
    else
        (void)close(spool.fd);
    return status;
}

wb_status wb__source_seal(wb__context *context, wb__source *source)
{
    int copy = open_anonymous(true);
    if (copy < 0)
        return wb__fail_os(context, errno, WB__MSG_IO_SNAPSHOT_MEMORY);
    uint8_t *chunk = wb__alloc(&context->allocator, COPY_CHUNK);
    wb_status status = chunk == NULL ? wb__fail_memory(context) : WB_OK;
    for (uint64_t at = 0; at < source->bytes && status == WB_OK;) {
        size_t n = source->bytes - at < COPY_CHUNK ? (size_t)(source->bytes - at) : COPY_CHUNK;
        status = wb__source_read(source, context, at, chunk, n);
        if (status == WB_OK)
            status = write_all(context, copy, chunk, n);
        at += n;
    }
    wb__free(&context->allocator, chunk, COPY_CHUNK);
    if (status == WB_OK &&
        fcntl(copy, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        status = wb__fail_os(context, errno, WB__MSG_IO_SNAPSHOT_SEAL);
    if (status != WB_OK) {
        (void)close(copy);
        return status;
    }
    (void)close(source->fd);
    source->fd = copy;
    source->sealed = true;
    const void *bytes = "";
    if (source->bytes > 0)
        status = wb__source_map(source, context, 0, source->bytes, &bytes);
    source->memory = bytes;
    return status;
}

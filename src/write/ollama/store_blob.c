/*
 * Publishes blobs under their final names, which contain their digests.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"
#include "write/ollama/store.h"

static char *blob_path(wb__context *context, const wb_writer *writer, const char *digest)
{
    size_t n = strlen(writer->blobs) + 1 + 2 * (size_t)WB__SHA256_BYTES + 1;
    char *path = wb__alloc(&context->allocator, n);
    if (path != NULL)
        (void)snprintf(path, n, "%s-%s", writer->blobs, digest);
    return path;
}

/* Returns true if a file of this name and length exists. A file of this name with another length
 * is a damaged blob. */
static bool is_there(const char *path, uint64_t bytes)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes;
}

/* Renames the blob of an output to its final name unless this name exists. sync_blobs makes the
 * name durable. */
wb_status wb__store_publish_output(wb__context *context, const wb_writer *writer,
                                   wb__output *output)
{
    char *path = blob_path(context, writer, output->digest);
    wb_status status = path == NULL ? wb__fail_memory(context) : WB_OK;
    if (path != NULL && !is_there(path, output->layout.bytes))
        status = wb__sink_enter(context, output->sink, path);
    wb__free(&context->allocator, path, path == NULL ? 0 : strlen(path) + 1);
    wb__sink_discard(output->sink);
    output->sink = NULL;
    return status;
}

wb_status wb__store_finish_file(wb__context *context, const char *path, const void *bytes, size_t n,
                                wb_sink **sink)
{
    wb_status status = wb__sink_open(context, path, n, sink);
    if (status == WB_OK)
        status = wb__sink_write(context, *sink, bytes, n);
    return status == WB_OK ? wb__sink_finish(context, *sink, n) : status;
}

wb_status wb__store_write_file(wb__context *context, const char *path, const void *bytes, size_t n)
{
    wb_sink *sink;
    wb_status status = wb__store_finish_file(context, path, bytes, n, &sink);
    if (status == WB_OK)
        status = wb__sink_publish(context, sink);
    wb__sink_discard(sink);
    return status;
}

wb_status wb__store_put_blob(wb__context *context, const wb_writer *writer, const void *bytes,
                             size_t n, char *digest)
{
    wb_status status = wb__store_hash_bytes(context, bytes, n, digest);
    if (status != WB_OK)
        return status;
    char *path = blob_path(context, writer, digest);
    if (path == NULL)
        return wb__fail_memory(context);
    if (!is_there(path, n))
        status = wb__store_write_file(context, path, bytes, n);
    wb__free(&context->allocator, path, strlen(path) + 1);
    return status;
}

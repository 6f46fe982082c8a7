/*
 * Computes the SHA-256 digests of blobs.
 */
#include "write/ollama/store.h"
#include "write/write_messages.h"

#include <errno.h>
#include <stdio.h>

static void print_digest(const uint8_t digest[WB__SHA256_BYTES], char *text)
{
    for (size_t i = 0; i < WB__SHA256_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

static wb_status fail_hash(wb__context *context)
{
    return wb__fail_os(context, EIO, WB__MSG_WRITE_STORE_LIBCRYPTO);
}

wb_status wb__store_end_digest(wb__context *context, wb__sha256 *hash, wb__output *output)
{
    uint8_t digest[WB__SHA256_BYTES];
    if (!wb__sha256_finish(hash, digest))
        return fail_hash(context);
    print_digest(digest, output->digest);
    return WB_OK;
}

/* Computes the digest of a blob by reading it back, because its bytes were not written in order.
 * Most reads are served by the page cache. */
static wb_status hash_output(wb__context *context, wb__output *output, wb__sha256 *hash,
                             uint8_t *chunk)
{
    uint64_t at = 0, end = output->layout.bytes;
    while (at < end) {
        size_t n = end - at < WB__STORE_CHUNK ? (size_t)(end - at) : WB__STORE_CHUNK;
        int os_error = wb__sink_read(output->sink, at, chunk, n);
        if (os_error != 0)
            return wb__fail_os(context, os_error, WB__MSG_WRITE_READ_BACK);
        wb__sha256_add(hash, chunk, n);
        at += n;
    }
    return wb__store_end_digest(context, hash, output);
}

wb_status wb__store_digest(wb__context *context, wb__output *output)
{
    wb__sha256 hash;
    uint8_t *chunk = wb__alloc(&context->allocator, WB__STORE_CHUNK);
    if (chunk == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__sha256_open(&hash, context);
    if (status == WB_OK)
        status = hash_output(context, output, &hash, chunk);
    wb__sha256_close(&hash);
    wb__free(&context->allocator, chunk, WB__STORE_CHUNK);
    return status;
}

wb_status wb__store_hash_bytes(wb__context *context, const void *bytes, size_t n, char *text)
{
    wb__sha256 hash;
    uint8_t digest[WB__SHA256_BYTES];
    wb_status status = wb__sha256_open(&hash, context);
    if (status == WB_OK) {
        wb__sha256_add(&hash, bytes, n);
        if (wb__sha256_finish(&hash, digest))
            print_digest(digest, text);
        else
            status = fail_hash(context);
    }
    wb__sha256_close(&hash);
    return status;
}

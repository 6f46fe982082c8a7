/*
 * A blob of an Ollama store is named by the digest of its bytes: "sha256-" and 64 hexadecimal
 * digits. Any file with such a name can be checked against its name.
 */
#include "bundles/ollama/blob_name.h"
#include "crypto/sha256.h"
#include "verify/verify.h"
#include "verify/verify_messages.h"

#define CHUNK_BYTES ((size_t)1 << 20)

static wb_status hash_file(wb__context *context, const wb__source *source, wb__sha256 *hash,
                           uint8_t *chunk, uint8_t digest[WB__SHA256_BYTES])
{
    uint64_t bytes = wb__source_bytes(source);
    for (uint64_t at = 0; at < bytes;) {
        size_t n = bytes - at < CHUNK_BYTES ? (size_t)(bytes - at) : CHUNK_BYTES;
        wb_status status = wb__source_read(source, context, at, chunk, n);
        if (status != WB_OK)
            return status;
        wb__sha256_add(hash, chunk, n);
        at += n;
    }
    return wb__sha256_finish(hash, digest) ? WB_OK : wb__fail_memory(context);
}

static wb_status check_files(const wb_model *model, size_t first, wb__context *context,
                             wb__sha256 *hash, uint8_t *chunk)
{
    wb_status status = WB_OK;
    for (size_t i = first; i < model->source_count && status == WB_OK; i++) {
        uint8_t expected[WB__SHA256_BYTES];
        uint8_t found[WB__SHA256_BYTES];
        const char *path = wb__source_label(model->sources[i]);
        if (!wb__digest_of_name(path, expected))
            continue;
        context->file = path;
        status = hash_file(context, model->sources[i], hash, chunk, found);
        if (status == WB_OK && memcmp(expected, found, sizeof found) != 0)
            status = wb__note(context, WB_SEVERE, WB__FINDING_OLLAMA_BLOB_DIGEST, WB_NO_OFFSET,
                              WB__STR(""), WB__MSG_VERIFY_DIGEST);
        context->file = "";
    }
    return status;
}

wb_status wb__verify_digests(const wb_model *model, size_t first, wb__context *context)
{
    uint8_t unused[WB__SHA256_BYTES];
    wb__sha256 hash;
    bool any = false;
    for (size_t i = first; i < model->source_count; i++)
        any |= wb__digest_of_name(wb__source_label(model->sources[i]), unused);
    if (!any)
        return WB_OK;
    uint8_t *chunk = wb__alloc(&context->allocator, CHUNK_BYTES);
    wb_status status = wb__sha256_open(&hash, context);
    if (status == WB_OK)
        status = chunk == NULL ? wb__fail_memory(context)
                               : check_files(model, first, context, &hash, chunk);
    wb__sha256_close(&hash);
    wb__free(&context->allocator, chunk, CHUNK_BYTES);
    return status;
}

/* Compares the bytes of files with the digests that are stated for them. */
#include "verify/stated_digest.h"
#include "verify/verify.h"
#include "verify/verify_messages.h"

#define CHUNK_BYTES ((size_t)1 << 20)

/* What hashing needs. */
typedef struct hashing {
    wb__context *context;
    wb__sha256 sha256;
    wb__sha1 sha1;
    uint8_t *chunk;
} hashing;

static wb_status hash_file(hashing *h, const wb__source *source, bool git,
                           uint8_t digest[WB__SHA256_BYTES])
{
    uint64_t bytes = wb__source_bytes(source);
    wb__sha1_start_blob(&h->sha1, bytes);
    wb__source_expect(source, 0, bytes);
    for (uint64_t at = 0; at < bytes;) {
        size_t n = bytes - at < CHUNK_BYTES ? (size_t)(bytes - at) : CHUNK_BYTES;
        wb_status status = wb__source_read(source, h->context, at, h->chunk, n);
        if (status != WB_OK)
            return status;
        if (git)
            wb__sha1_add(&h->sha1, h->chunk, n);
        else
            wb__sha256_add(&h->sha256, h->chunk, n);
        at += n;
    }
    if (git)
        wb__sha1_finish(&h->sha1, digest);
    return git || wb__sha256_finish(&h->sha256, digest) ? WB_OK : wb__fail_memory(h->context);
}

static wb_status check_files(const wb_model *model, size_t first, hashing *h)
{
    wb__context *context = h->context;
    wb_status status = WB_OK;
    for (size_t i = first; i < model->source_count && status == WB_OK; i++) {
        wb__stated_digest stated;
        uint8_t found[WB__SHA256_BYTES];
        const wb__source *source = model->sources[i];
        if (!wb__digest_stated(source, &stated))
            continue;
        context->file = wb__source_label(source);
        status = hash_file(h, source, stated.n == WB__SHA1_BYTES, found);
        if (status == WB_OK && memcmp(stated.bytes, found, stated.n) != 0)
            status = wb__note(context, stated.severity, stated.finding, WB_NO_OFFSET, WB__STR(""),
                              "%s", stated.message);
        context->file = "";
    }
    return status;
}

wb_status wb__verify_digests(const wb_model *model, size_t first, wb__context *context)
{
    wb__stated_digest unused;
    hashing h = {.context = context};
    bool any = false;
    for (size_t i = first; i < model->source_count && !any; i++)
        any = wb__digest_stated(model->sources[i], &unused);
    if (!any)
        return WB_OK;
    h.chunk = wb__alloc(&context->allocator, CHUNK_BYTES);
    wb_status status = wb__sha256_open(&h.sha256, context);
    if (status == WB_OK)
        status = h.chunk == NULL ? wb__fail_memory(context) : check_files(model, first, &h);
    wb__sha256_close(&h.sha256);
    wb__free(&context->allocator, h.chunk, CHUNK_BYTES);
    return status;
}

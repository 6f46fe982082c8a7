#include "core/call_options.h"
#include "hash/hash.h"
#include "hash/hash_messages.h"

void wb_hashes_free(wb_hashes *hashes)
{
    if (hashes == NULL)
        return;
    wb_allocator allocator = hashes->allocator;
    for (size_t i = 0; i < hashes->file_count; i++)
        wb__file_parts_free(&hashes->files[i], &allocator);
    wb__free(&allocator, hashes->files, hashes->file_count * sizeof *hashes->files);
    wb__free(&allocator, hashes->values, hashes->subjects.count * sizeof *hashes->values);
    wb__comparables_free(&hashes->subjects);
    wb__free(&allocator, hashes, sizeof *hashes);
}

wb_status wb_hash_model(const wb_model *model, const wb_hash_options *caller, wb_hashes **out,
                        wb_error *error)
{
    wb_hash_options own = {.size = sizeof own};
    const wb_hash_options *options = &own;
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    *out = NULL;
    if (!WB__TAKE(wb_hash_options, caller, &own))
        return WB__FAIL_SIZE(&context, wb_hash_options, caller);
    if (options->flags & ~(WB_HASH_FILES | WB_HASH_VALUES | WB_HASH_CHUNKS))
        return wb__fail_argument(&context, WB__MSG_HASH_OPTIONS_FLAGS);
    if ((options->flags & WB_HASH_CHUNKS) && !(options->flags & WB_HASH_FILES))
        return wb__fail_argument(&context, WB__MSG_HASH_CHUNKS_WITHOUT_FILES);
    if (options->executor != NULL)
        context.executor = *options->executor;
    const wb_progress *progress = options->progress;
    if (progress != NULL && progress->report == NULL)
        progress = NULL;
    wb_hashes *hashes = wb__alloc_zeroed(&model->allocator, sizeof *hashes);
    if (hashes == NULL)
        return wb__fail_memory(&context);
    hashes->allocator = model->allocator;
    hashes->model = model;
    hashes->flags = options->flags == 0 ? WB_HASH_FILES | WB_HASH_VALUES : options->flags;
    wb_status status = wb__hash_all(hashes, &context, progress);
    if (status != WB_OK) {
        wb_hashes_free(hashes);
        return status;
    }
    *out = hashes;
    return WB_OK;
}

/* ---- query digests ---- */

uint64_t wb_hash_tensor_count(const wb_hashes *hashes)
{
    return hashes->subjects.count;
}

wb_status wb_hash_tensor_at(const wb_hashes *hashes, uint64_t index, wb_tensor_hash *caller)
{
    wb_tensor_hash own, *out = WB__OUT(wb_tensor_hash, caller, &own);
    if (out == NULL)
        return WB_ERROR_ARGUMENT;
    if (index >= hashes->subjects.count)
        return WB_ERROR_NOT_FOUND;
    const wb__comparable *subject = &hashes->subjects.list[index];
    const wb__value_hash *hash = &hashes->values[index];
    out->name = subject->name.ptr;
    out->name_len = subject->name.len;
    out->tensor = subject->number;
    out->nan = hash->nan;
    out->infinite = hash->infinite;
    out->is_canonical = subject->is_canonical;
    out->counts = wb__hash_counts(hashes, (size_t)index);
    memcpy(out->digest, hash->digest.bytes, sizeof out->digest);
    WB__GIVE(wb_tensor_hash, caller, out);
    return WB_OK;
}

static wb_status give(bool there, const wb__digest *from, uint8_t digest[WB_DIGEST_BYTES])
{
    memset(digest, 0, WB_DIGEST_BYTES);
    if (!there)
        return WB_ERROR_NOT_FOUND;
    memcpy(digest, from->bytes, WB_DIGEST_BYTES);
    return WB_OK;
}

wb_status wb_hash_values(const wb_hashes *hashes, uint8_t digest[WB_DIGEST_BYTES])
{
    return give((hashes->flags & WB_HASH_VALUES) != 0, &hashes->all_values, digest);
}

wb_status wb_hash_file(const wb_hashes *hashes, uint64_t index, uint8_t digest[WB_DIGEST_BYTES])
{
    bool there = index < hashes->file_count;
    return give(there, there ? &hashes->files[index].digest : NULL, digest);
}

/* ---- manifests ---- */

wb_status wb_hash_manifest(const wb_hashes *hashes,
                           int (*write)(void *ctx, const char *text, size_t n), void *ctx,
                           wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(hashes->model, wb__error_reset(error, &spare));
    if (!(hashes->flags & WB_HASH_CHUNKS))
        return wb__fail_argument(&context, WB__MSG_HASH_MANIFEST_CHUNKS);
    if (wb__manifest_write(hashes, write, ctx))
        return WB_OK;
    return wb__fail(&context, WB_ERROR_IO, WB__FINDING_IO, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_HASH_MANIFEST_WRITE);
}

/*
 * Writes a model into an Ollama store. First writes the blobs, each of which is named after the
 * SHA-256 digest of its bytes, then the manifest, which lists the blobs of the model. A blob that
 * the store already contains is not written.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundles/ollama/ollama.h"
#include "write/ollama/store.h"
#include "write/write_messages.h"

/* ---- begin ---- */

/* Finds the manifest of an existing model with this name. Ollama ignores the case of model names,
 * so a model that is replaced keeps its name in the old case. */
static wb_status find_existing(wb__context *context, wb_writer *writer)
{
    char *path;
    wb_status status = wb__ollama_find(context, writer->store, writer->store_name, &path);
    if (status == WB_ERROR_NOT_FOUND) {
        (void)wb__error_reset(context->error, context->error);
        context->file = "";
        return WB_OK;
    }
    if (status != WB_OK)
        return status;
    writer->manifest_path = wb__arena_copy(&writer->arena, path, strlen(path));
    wb__free(&context->allocator, path, strlen(path) + 1);
    return writer->manifest_path == NULL ? wb__fail_memory(context) : WB_OK;
}

static bool have_same_bytes(wb__context *context, wb__source *a, wb__source *b)
{
    uint64_t end = wb__source_bytes(a);
    uint8_t *chunk = wb__alloc(&context->allocator, 2 * WB__STORE_CHUNK);
    bool same = chunk != NULL && wb__source_bytes(b) == end;
    for (uint64_t at = 0; same && at < end; at += WB__STORE_CHUNK) {
        size_t n = end - at < WB__STORE_CHUNK ? (size_t)(end - at) : WB__STORE_CHUNK;
        same = wb__source_read(a, context, at, chunk, n) == WB_OK &&
               wb__source_read(b, context, at, chunk + WB__STORE_CHUNK, n) == WB_OK &&
               memcmp(chunk, chunk + WB__STORE_CHUNK, n) == 0;
    }
    wb__free(&context->allocator, chunk, 2 * WB__STORE_CHUNK);
    return same;
}

/* Returns true if both files can be read and contain the same bytes. */
static bool are_same(const wb__context *context, const char *one, const char *other)
{
    wb_error ignored;
    wb__context own = *context;
    wb__source *a = NULL, *b = NULL;
    bool is_folder;
    own.error = wb__error_reset(&ignored, &ignored);
    bool same = wb__source_open(&own, one, WB_ACCESS_READ, &a, &is_folder) == WB_OK && !is_folder &&
                wb__source_open(&own, other, WB_ACCESS_READ, &b, &is_folder) == WB_OK &&
                !is_folder && have_same_bytes(&own, a, b);
    wb__source_close(b);
    wb__source_close(a);
    return same;
}

/* Returns the path of the manifest in the directory of partial files, where it is stored before it
 * is published. */
static char *kept_manifest(const wb_allocator *allocator, const char *folder)
{
    return wb__path_join(allocator, folder, WB__STR("manifest"));
}

/*
 * Removes partial files that a killed run left after it had published its manifest. If that run was
 * killed while removing them, they are in a temporary directory, and wb__claim_path removes this
 * directory. Errors are ignored, because remaining partial files do no harm.
 */
static void clear_kept(const wb__context *context, const wb_writer *writer)
{
    const wb_allocator *allocator = &context->allocator;
    wb_error ignored;
    wb__context own = *context;
    int claim = -1;
    own.error = wb__error_reset(&ignored, &ignored);
    (void)wb__claim_path(&own, writer->blobs, true, &claim);
    char *folder =
        writer->kept_beside == NULL ? NULL : wb__partial_path(allocator, writer->kept_beside);
    char *manifest = folder == NULL ? NULL : kept_manifest(allocator, folder);
    if (manifest != NULL && are_same(context, manifest, writer->manifest_path))
        wb__directory_retire(allocator, folder);
    if (manifest != NULL)
        wb__free(allocator, manifest, strlen(manifest) + 1);
    if (folder != NULL)
        wb__free(allocator, folder, strlen(folder) + 1);
    if (claim >= 0)
        (void)close(claim);
}

/* Sets *is_there to true if the store contains the model and the caller has not requested its
 * replacement. */
static wb_status look_for(wb__context *context, wb_writer *writer, bool *is_there)
{
    struct stat st;
    wb_status status = find_existing(context, writer);
    bool exists = status == WB_OK && lstat(writer->manifest_path, &st) == 0;
    *is_there = exists && !(writer->flags & WB_WRITE_FORCE);
    return exists && !*is_there ? wb__replaced_add(context, writer, writer->manifest_path) : status;
}

static wb_status fail_existing(wb__context *context, const wb_writer *writer)
{
    context->file = writer->manifest_path;
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_EXISTS, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_WRITE_STORE_EXISTS);
}

wb_status wb__store_check(wb__context *context, wb_writer *writer)
{
    bool is_there = false;
    wb_status status = look_for(context, writer, &is_there);
    return status == WB_OK && is_there ? fail_existing(context, writer) : status;
}

wb_status wb__store_begin(wb__context *context, wb_writer *writer)
{
    bool is_there = false;
    wb_status status = look_for(context, writer, &is_there);
    if (status == WB_OK && is_there) {
        clear_kept(context, writer);
        return fail_existing(context, writer);
    }
    if (status == WB_OK)
        status = wb__directories_make(context, writer->blobs);
    return status == WB_OK ? wb__directories_make(context, writer->manifest_path) : status;
}

/* ---- blobs ---- */

/*
 * Stores the manifest among the partial files. If this run crashes, the next run compares the
 * stored manifest with the published manifest. If both are equal, the partial files belong to a
 * finished model.
 */
static wb_status keep_manifest(wb__context *context, const wb_writer *writer,
                               const wb__buffer *text)
{
    if (!(writer->flags & WB_WRITE_KEEP) || writer->folder_at == NULL)
        return WB_OK;
    char *path = kept_manifest(&context->allocator, writer->folder_at);
    if (path == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__store_write_file(context, path, text->bytes, text->n);
    wb__free(&context->allocator, path, strlen(path) + 1);
    return status;
}

/* Makes the names of the blobs durable. This must happen before the manifest that lists the
 * blobs is published. */
static wb_status sync_blobs(wb__context *context, const wb_writer *writer)
{
    int os_error = wb__directory_sync_of(&context->allocator, writer->blobs);
    if (os_error == 0)
        return WB_OK;
    context->file = writer->store;
    return wb__fail_os(context, os_error, WB__MSG_WRITE_STORE_SYNC);
}

/* ---- commit ---- */

/* Steps that can fail because the disk is full come first. Files are renamed only after all
 * bytes are written, and the manifest is renamed last. */
wb_status wb__store_commit(wb__context *context, wb_writer *writer)
{
    wb__buffer text = {.allocator = &context->allocator, .ceiling = SIZE_MAX / 2};
    wb_sink *manifest = NULL;
    wb_status status = wb__outputs_finish(context, writer);
    if (status == WB_OK)
        status = wb__writer_check_source(context, writer);
    writer->forgets = writer->forgets || status == WB_ERROR_CHANGED;
    if (status == WB_OK)
        status = wb__writer_hear(context, writer, WB__ALL_BYTES);
    if (status == WB_OK)
        status = wb__store_manifest(context, writer, &text);
    if (status == WB_OK)
        status =
            wb__store_finish_file(context, writer->manifest_path, text.bytes, text.n, &manifest);
    if (status == WB_OK)
        status = keep_manifest(context, writer, &text);
    for (size_t i = 0; i < writer->output_count && status == WB_OK; i++)
        status = wb__store_publish_output(context, writer, &writer->outputs[i]);
    if (status == WB_OK)
        status = sync_blobs(context, writer);
    if (status == WB_OK)
        status = wb__sink_publish(context, manifest);
    wb__sink_discard(manifest);
    wb__buffer_free(&text);
    if (status == WB_OK && writer->folder_at != NULL) {
        wb__directory_retire(&writer->allocator, writer->folder_at);
        writer->folder_at = NULL;
    }
    return status;
}

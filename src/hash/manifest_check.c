/*
 * Compares files with a manifest, chunk by chunk (hash.h defines chunks and parts of a file).
 * Adjacent differing chunks of a part form one range, which is reported with the name of the part's
 * tensor.
 */
#include "hash/hash.h"
#include "hash/hash_messages.h"

#define PIECE_BYTES ((size_t)256 << 10)
#define GROUP 8   /* number of chunks per task; a task uses one buffer for all its chunks */
#define BATCH 256 /* number of chunks between two progress reports */

typedef struct chunk {
    uint64_t offset, bytes;
    const wb__digest *digest;
    size_t part;
    bool differs;
} chunk;

typedef struct comparison {
    wb__context *context;
    const wb__source *source;
    const wb__manifest_file *file;
    const wb_progress *progress;
    uint64_t done, total; /* number of bytes compared so far, and in total, of all files */
    /* the current position in the file: index of the part, and offset */
    size_t part;
    uint64_t part_at; /* number of bytes of the part that are already compared */
    uint64_t offset;
    /* file range in part `range_part`, all chunks of which differ from the manifest; empty if
     * begin == end */
    uint64_t begin, end;
    size_t range_part;
    chunk batch[BATCH];
    size_t count;
    wb_status results[BATCH / GROUP];
    wb_error errors[BATCH / GROUP];
} comparison;

static wb_status compare_chunk(const comparison *k, wb__context *context, wb__sha256_lane *lane,
                               uint8_t *piece, chunk *c)
{
    wb__digest digest;
    uint64_t end = c->offset + c->bytes;
    size_t n = 0;
    c->differs = end > wb__source_bytes(k->source);
    if (c->differs)
        return WB_OK;
    wb__sha256_lane_start(lane);
    for (uint64_t at = c->offset; at < end; at += n) {
        n = end - at < PIECE_BYTES ? (size_t)(end - at) : PIECE_BYTES;
        wb_status status = wb__source_read(k->source, context, at, piece, n);
        if (status != WB_OK)
            return status;
        wb__sha256_lane_add(lane, piece, n / WB__SHA256_BLOCK);
    }
    size_t rest = n % WB__SHA256_BLOCK;
    wb__sha256_lane_finish(lane, piece + n - rest, rest, digest.bytes);
    c->differs = memcmp(&digest, c->digest, sizeof digest) != 0;
    return WB_OK;
}

static void compare_group(void *arg, size_t group)
{
    comparison *k = arg;
    wb__context own = *k->context;
    wb__sha256_lane lane;
    own.error = &k->errors[group];
    own.findings = NULL;
    (void)wb__error_reset(own.error, own.error);
    wb_status status = wb__sha256_lane_open(&lane, &own);
    uint8_t *piece = wb__alloc(&own.allocator, PIECE_BYTES);
    if (status == WB_OK && piece == NULL)
        status = wb__fail_memory(&own);
    for (size_t i = group * GROUP; i < (group + 1) * GROUP && i < k->count && status == WB_OK; i++)
        status = compare_chunk(k, &own, &lane, piece, &k->batch[i]);
    wb__free(&own.allocator, piece, PIECE_BYTES);
    wb__sha256_lane_close(&lane);
    k->results[group] = status;
}

/* Fills the batch with the next chunks of the file. */
static void fill_batch(comparison *k)
{
    for (k->count = 0; k->count < BATCH && k->part < k->file->part_count;) {
        const wb__file_part *part = &k->file->parts[k->part];
        uint64_t left = part->bytes - k->part_at;
        uint64_t bytes = left < WB__CHUNK_BYTES ? left : WB__CHUNK_BYTES;
        k->batch[k->count++] =
            (chunk){k->offset, bytes, &part->chunks[k->part_at / WB__CHUNK_BYTES], k->part, false};
        k->offset += bytes;
        k->done += bytes;
        k->part_at += bytes;
        if (bytes == left) {
            k->part++;
            k->part_at = 0;
        }
    }
}

static wb_status compare_batch(comparison *k)
{
    const wb_executor *executor = &k->context->executor;
    size_t groups = (k->count + GROUP - 1) / GROUP;
    if (executor->parallel_for != NULL && groups > 1)
        executor->parallel_for(executor->ctx, groups, compare_group, k);
    else
        for (size_t i = 0; i < groups; i++)
            compare_group(k, i);
    for (size_t i = 0; i < groups; i++) {
        if (k->results[i] != WB_OK) {
            *k->context->error = k->errors[i];
            return k->results[i];
        }
    }
    if (k->progress != NULL && k->progress->report != NULL &&
        k->progress->report(k->progress->ctx, k->done, k->total) != 0)
        return wb__fail(k->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_HASH_CANCELLED);
    return WB_OK;
}

/* ---- report differences ---- */

static wb_status note_range(comparison *k)
{
    if (k->begin == k->end)
        return WB_OK;
    wb__str tensor = k->file->parts[k->range_part].tensor;
    bool is_tensor = tensor.ptr != NULL;
    return wb__note(k->context, WB_SEVERE, WB__FINDING_MANIFEST_DAMAGE, k->begin,
                    is_tensor ? tensor : WB__STR(""), WB__MSG_HASH_RANGE_DIFFERS,
                    (unsigned long long)k->begin, (unsigned long long)k->end - 1,
                    is_tensor ? "" : WB__MSG_HASH_OUTSIDE_TENSORS);
}

static wb_status check_file(comparison *k)
{
    uint64_t bytes = wb__source_bytes(k->source);
    wb_status status = WB_OK;
    k->part = 0;
    k->part_at = k->offset = k->begin = k->end = 0;
    if (bytes != k->file->bytes)
        status = wb__note(k->context, WB_SEVERE, WB__FINDING_MANIFEST_LENGTH,
                          bytes < k->file->bytes ? bytes : k->file->bytes, WB__STR(""),
                          WB__MSG_HASH_FILE_SIZE, (unsigned long long)bytes,
                          (unsigned long long)k->file->bytes);
    for (fill_batch(k); k->count > 0 && status == WB_OK; fill_batch(k)) {
        status = compare_batch(k);
        for (size_t i = 0; i < k->count && status == WB_OK; i++) {
            const chunk *c = &k->batch[i];
            if (!c->differs)
                continue;
            if (c->offset != k->end || c->part != k->range_part || k->begin == k->end) {
                status = note_range(k);
                k->begin = c->offset;
                k->range_part = c->part;
            }
            k->end = c->offset + c->bytes;
        }
    }
    return status == WB_OK ? note_range(k) : status;
}

/* ---- find the files ---- */

static wb_status check_missing(wb__context *context, const wb__manifest_file *file)
{
    return wb__note(context, WB_SEVERE, WB__FINDING_MANIFEST_MISSING, WB_NO_OFFSET, file->name,
                    WB__MSG_HASH_FILE_MISSING);
}

/* Returns the index of the file of the model that has this name, or the number of files if no file
 * has this name. */
static size_t find_file(const wb_model *model, wb__str name)
{
    size_t i = 0;
    while (i < model->source_count &&
           !wb__str_equal(wb__base_name(model->catalog.files[i].path), name))
        i++;
    return i;
}

static wb_status check_open_model(comparison *k, const wb__manifest *manifest,
                                  const wb_model *model)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < manifest->file_count && status == WB_OK; i++) {
        size_t found = find_file(model, manifest->files[i].name);
        k->file = &manifest->files[i];
        if (found == model->source_count) {
            status = check_missing(k->context, k->file);
            continue;
        }
        k->context->file = model->catalog.files[found].path;
        k->source = model->sources[found];
        status = check_file(k);
        k->context->file = "";
    }
    for (size_t i = 0; i < model->source_count && status == WB_OK; i++) {
        wb__str name = wb__base_name(model->catalog.files[i].path);
        size_t f = 0;
        while (f < manifest->file_count && !wb__str_equal(manifest->files[f].name, name))
            f++;
        k->context->file = model->catalog.files[i].path;
        if (f == manifest->file_count)
            status = wb__note(k->context, WB_WARNING, WB__FINDING_MANIFEST_STRAY, WB_NO_OFFSET,
                              WB__STR(""), WB__MSG_HASH_FILE_UNLISTED);
        k->context->file = "";
    }
    return status;
}

/* Opens the file `name` in the directory `folder`. Sets *source to NULL if the file does not exist.
 * The caller frees *path, also after an error. */
static wb_status open_beside(wb__context *context, const char *folder, wb__str name, char **path,
                             wb__source **source)
{
    bool is_folder = false;
    *source = NULL;
    *path = wb__path_join(&context->allocator, folder, name);
    if (*path == NULL)
        return wb__fail_memory(context);
    context->file = *path;
    wb_status status =
        wb__source_open_in(context, folder, *path, WB_ACCESS_READ, source, &is_folder);
    if (status == WB_ERROR_NOT_FOUND) {
        (void)wb__error_reset(context->error, context->error);
        return WB_OK;
    }
    return status;
}

static wb_status check_folder(comparison *k, const wb__manifest *manifest, const char *folder)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < manifest->file_count && status == WB_OK; i++) {
        wb__source *source;
        char *path;
        k->file = &manifest->files[i];
        status = open_beside(k->context, folder, k->file->name, &path, &source);
        k->source = source;
        if (status == WB_OK && source == NULL)
            status = check_missing(k->context, k->file);
        else if (status == WB_OK)
            status = check_file(k);
        wb__source_close(source);
        k->context->file = "";
        if (path != NULL)
            wb__free(&k->context->allocator, path, strlen(path) + 1);
    }
    return status;
}

/*
 * Returns a copy of the path if it is a directory, otherwise the path of its parent directory. The
 * caller frees the string of strlen + 1 bytes. Returns NULL if out of memory.
 */
static char *folder_of(wb__context *context, const char *path)
{
    wb__source *source = NULL;
    bool is_folder = false;
    wb_status status = wb__source_open(context, path, WB_ACCESS_READ, &source, &is_folder);
    if (status == WB_ERROR_MEMORY)
        return NULL;
    /* Discard the error: if the path does not exist, the files are reported as missing later. */
    (void)wb__error_reset(context->error, context->error);
    if (status == WB_OK)
        wb__source_close(source);
    size_t n = strlen(path);
    if (!is_folder) {
        while (n > 0 && path[n - 1] != '/')
            n--;
    }
    const char *text = n == 0 ? "." : path;
    n = n == 0 ? 1 : n;
    char *folder = wb__alloc(&context->allocator, n + 1);
    if (folder == NULL)
        return NULL;
    memcpy(folder, text, n);
    folder[n] = '\0';
    return folder;
}

wb_status wb__manifest_check(const wb_model *model, wb__context *context,
                             const wb__manifest_source *source, const char *model_path,
                             const wb_progress *progress)
{
    wb__manifest manifest;
    comparison *k = wb__alloc_zeroed(&context->allocator, sizeof *k);
    if (k == NULL)
        return wb__fail_memory(context);
    wb_status status =
        source->text == NULL
            ? wb__manifest_read(&manifest, context, source->name)
            : wb__manifest_read_text(&manifest, context, source->name, source->text, source->bytes);
    k->context = context;
    k->progress = progress;
    for (size_t i = 0; i < manifest.file_count; i++)
        k->total += manifest.files[i].bytes;
    if (status == WB_OK && model != NULL) {
        status = check_open_model(k, &manifest, model);
    } else if (status == WB_OK) {
        char *folder = folder_of(context, model_path);
        status = folder == NULL ? wb__fail_memory(context) : check_folder(k, &manifest, folder);
        if (folder != NULL)
            wb__free(&context->allocator, folder, strlen(folder) + 1);
    }
    wb__manifest_free(&manifest);
    wb__free(&context->allocator, k, sizeof *k);
    return status;
}

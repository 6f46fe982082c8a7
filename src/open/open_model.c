#include "bundles/ollama/blob_name.h"
#include "open/open.h"

#include "bundles/ollama/ollama.h"
#include "io/provided_files.h"
#include "io/sink.h"
#include "open/open_messages.h"

static void free_paths(wb__context *context, char **paths, size_t count)
{
    for (size_t i = 0; paths != NULL && i < count; i++) {
        if (paths[i] != NULL)
            wb__free(&context->allocator, paths[i], strlen(paths[i]) + 1);
    }
    wb__free(&context->allocator, (void *)paths, count * sizeof *paths);
}

/* If the caller provides the files, passes the paths of all files of a bundle to its function
 * files.expect. The caller can then prepare the files together, for example in one round trip over
 * a network. */
static wb_status expect_files(wb__context *context, const wb__bundle *bundle)
{
    if (context->files.expect == NULL || !wb__files_own(context, bundle->folder))
        return WB_OK;
    char **paths = wb__alloc_zeroed(&context->allocator, bundle->count * sizeof *paths);
    bool complete = paths != NULL;
    for (size_t i = 0; i < bundle->count && complete; i++) {
        paths[i] = wb__path_join(&context->allocator, bundle->folder,
                                 wb__str_from(bundle->names[i], SIZE_MAX));
        complete = paths[i] != NULL;
    }
    if (complete)
        wb__files_expect(context, (const char *const *)paths, bundle->count);
    free_paths(context, paths, bundle->count);
    return complete ? WB_OK : wb__fail_memory(context);
}

/* Opens the files of a bundle. `named` is the file that the user named, or NULL if the user named
 * the directory. */
static wb_status open_bundle(wb_model *model, wb__context *context, const wb__bundle *bundle,
                             const char *named)
{
    wb_status expected = expect_files(context, bundle);
    if (expected != WB_OK)
        return expected;
    for (size_t i = 0; i < bundle->count; i++) {
        const char *name = bundle->names[i];
        char *path =
            wb__path_join(&context->allocator, bundle->folder, wb__str_from(name, SIZE_MAX));
        if (path == NULL)
            return wb__fail_memory(context);
        bool is_named = named != NULL && wb__str_equal(wb__path_base(named), wb__path_base(path));
        wb_status status = wb__open_file(model, context, is_named ? NULL : bundle->folder, path);
        wb__free(&context->allocator, path, strlen(path) + 1);
        if (status != WB_OK)
            return status;
    }
    return wb__bundle_check(context, bundle, &model->catalog);
}

static wb_status open_folder(wb_model *model, wb__context *context, const char *path)
{
    wb__bundle bundle;
    wb__bundle_init(&bundle, &context->allocator);
    wb_status status = wb__bundle_of_folder(context, path, &bundle);
    if (status == WB_OK)
        status = open_bundle(model, context, &bundle, NULL);
    wb__bundle_free(&bundle);
    if (status == WB_ERROR_FORMAT && model->source_count == 0)
        wb__explain_store(context, path);
    return status;
}

/* Opens a file, or the set of files to which it belongs. Takes ownership of the source. */
static wb_status open_file_or_set(wb_model *model, wb__context *context, const char *path,
                                  wb__source *source)
{
    wb__bundle bundle;
    wb__bundle_init(&bundle, &context->allocator);
    wb_status status = wb__bundle_of_shard(context, path, &bundle);
    if (status == WB_OK && bundle.count > 0) {
        wb__source_close(source);
        status = open_bundle(model, context, &bundle, path);
    } else if (status == WB_OK) {
        status = wb__open_source(model, context, source);
    } else {
        if (status == WB_ERROR_FORMAT)
            wb__explain_lone_shard(context, source);
        wb__source_close(source);
    }
    wb__bundle_free(&bundle);
    return status;
}

/* Completes the model with the sidecar files in the directory of a file. */
static wb_status finish_beside(wb_model *model, wb__context *context, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = wb__alloc(&context->allocator, n + 1);
    if (folder == NULL)
        return wb__fail_memory(context);
    memcpy(folder, slash == NULL ? "." : path, n);
    folder[n] = '\0';
    wb_status status = wb__open_finish(model, context, folder);
    wb__free(&context->allocator, folder, n + 1);
    return status;
}

static bool is_finding(const wb__context *context, wb__finding_id id)
{
    return strcmp(context->error->code, wb__finding_code(id)) == 0;
}

/* Opens the model in a directory: in the directory itself or, if it contains no weights and is a
 * repository in a Hugging Face cache, in the snapshot that `main` refers to. */
static wb_status open_folder_of_model(wb_model *model, wb__context *context, const char *path)
{
    wb_status status = open_folder(model, context, path);
    char *snapshot = NULL;
    if (status == WB_ERROR_FORMAT && model->source_count == 0 && !wb__files_own(context, path) &&
        is_finding(context, WB__FINDING_FOLDER_EMPTY)) {
        wb_error first = *context->error;
        status = wb__snapshot_of(context, path, &snapshot);
        if (snapshot != NULL) {
            context->file = path = snapshot;
            wb__model_reset(model, context);
            status = open_folder(model, context, path);
        } else if (status != WB_ERROR_MEMORY) {
            *context->error = first;
            status = first.status;
        }
    }
    context->file = "";
    model->is_folder = true;
    if (status == WB_OK)
        status = wb__open_finish(model, context, path);
    if (snapshot != NULL)
        wb__free(&context->allocator, snapshot, strlen(snapshot) + 1);
    return status;
}

/* Returns true if a file could be a manifest: it is JSON, or its path is under manifests/. */
static bool may_be_manifest(const wb__context *context, wb_status status, const char *path)
{
    if (status != WB_ERROR_FORMAT)
        return false;
    return is_finding(context, WB__FINDING_FOREIGN_JSON) ||
           (wb__ollama_is_manifest_path(path) && (is_finding(context, WB__FINDING_FOREIGN_TEXT) ||
                                                  is_finding(context, WB__FINDING_FORMAT_UNKNOWN)));
}

/* Tries to open the file as a manifest. A new error replaces the first error, unless the file is
 * too large for a manifest or is JSON of another kind. */
static wb_status try_manifest(wb_model *model, wb__context *context, const char *path)
{
    wb_error first = *context->error;
    wb__model_reset(model, context);
    wb_status status = wb__open_manifest(model, context, NULL, path);
    if (status != WB_OK && model->source_count == 0 &&
        (status == WB_ERROR_LIMIT || is_finding(context, WB__FINDING_FOREIGN_JSON))) {
        *context->error = first;
        status = first.status;
    }
    return status;
}

/* Returns WB_ERROR_NOT_FOUND. If the path is an address (https://…), or a path of a blob in an
 * Ollama store, replaces the message by one that says so. */
static wb_status explain_missing(wb__context *context, const char *path)
{
    uint8_t digest[WB__BLOB_DIGEST_BYTES];
    wb__finding_id finding = WB__FINDING_ADDRESS;
    const char *what = WB__MSG_OPEN_ADDRESS;
    if (wb__ollama_is_blob_path(path)) {
        bool is_digest = wb__digest_of_name(path, digest);
        finding = is_digest ? WB__FINDING_OLLAMA_BLOB_MISSING : WB__FINDING_OLLAMA_DIGEST;
        what = is_digest ? WB__MSG_OPEN_NO_BLOB : WB__MSG_OPEN_NOT_DIGEST;
    } else if (!wb__is_address(path)) {
        return WB_ERROR_NOT_FOUND;
    }
    context->file = path;
    (void)wb__fail(context, WB_ERROR_NOT_FOUND, finding, WB_NO_OFFSET, WB__STR(""), "%s", what);
    context->file = "";
    return WB_ERROR_NOT_FOUND;
}

wb_status wb__open_path(wb_model *model, wb__context *context, const char *path)
{
    wb__source *source;
    bool is_folder;
    if (strncmp(path, WB__OLLAMA_SCHEME, sizeof WB__OLLAMA_SCHEME - 1) == 0)
        return wb__open_ollama_name(model, context, context->store, path);
    context->file = path;
    wb_status status = wb__source_open(context, path, model->access, &source, &is_folder);
    if (status == WB_ERROR_NOT_FOUND && wb__files_own(context, path))
        return status;
    if (status == WB_ERROR_NOT_FOUND && context->store != NULL) {
        context->file = "";
        return wb__open_ollama_name(model, context, context->store, path);
    }
    if (status == WB_ERROR_NOT_FOUND) {
        (void)wb__explain_link(context, path, WB_ERROR_NOT_FOUND);
        return explain_missing(context, path);
    }
    if (status == WB_OK && is_folder)
        return open_folder_of_model(model, context, path);
    if (status == WB_OK)
        status = open_file_or_set(model, context, path, source);
    context->file = "";
    if (may_be_manifest(context, status, path) && !wb__files_own(context, path))
        return try_manifest(model, context, path);
    return status == WB_OK ? finish_beside(model, context, path) : status;
}

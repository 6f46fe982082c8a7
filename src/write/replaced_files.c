/*
 * Determines which existing files the output replaces (WB_WRITE_FORCE). An output file replaces the
 * file of the same name. An output directory replaces the files of the model in the existing
 * directory: the files that have the same names as new files, the files with tensors, their index,
 * and the files of config and tokenizer. Everything else in the directory stays.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundles/bundle.h"
#include "core/call_options.h"
#include "handle/semantics.h"
#include "write/write.h"
#include "write/write_messages.h"

wb_status wb__fail_target(wb__context *context, const char *path, wb__finding_id id,
                          const char *what)
{
    context->file = path;
    wb_status status =
        wb__fail(context, WB_ERROR_ARGUMENT, id, WB_NO_OFFSET, WB__STR(""), "%s", what);
    context->file = "";
    return status;
}

wb_status wb__replaced_add(wb__context *context, wb_writer *writer, const char *path)
{
    const char **entry = wb__list_append(&writer->replaced);
    if (entry != NULL)
        *entry = wb__arena_copy(&writer->arena, path, strlen(path));
    return entry == NULL || *entry == NULL ? wb__fail_memory(context) : WB_OK;
}

/* ---- the files of the new model ---- */

static bool is_base(wb__str name, const char *path)
{
    return path != NULL && strchr(path, '/') != NULL && wb__str_equal(name, wb__path_base(path));
}

static bool is_written(const wb_writer *writer, wb__str name)
{
    for (size_t i = 0; i < writer->output_count; i++) {
        if (is_base(name, writer->outputs[i].path))
            return true;
    }
    for (size_t i = 0; i < writer->extras.count; i++) {
        const wb__sidecar *extra = wb__list_at(&writer->extras, i);
        if (wb__str_equal(name, extra->name))
            return true;
    }
    return is_base(name, writer->index_path);
}

/* ---- the files of the replaced model ---- */

/* Files of tokenizers and preprocessors that publishers put into model directories, besides those
 * that the library reads (wb__sidecar_name). */
static const char *const others[] = {"special_tokens_map.json", "added_tokens.json", "merges.txt",
                                     "vocab.json", "preprocessor_config.json"};

static bool is_sidecar(wb__str name)
{
    const char *known;
    for (size_t i = 0; (known = wb__sidecar_name(i)) != NULL; i++) {
        if (wb__str_equal(name, wb__str_from(known, SIZE_MAX)))
            return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (wb__str_equal(name, wb__str_from(others[i], SIZE_MAX)))
            return true;
    }
    return false;
}

static bool is_of_old_model(const wb__bundle *old, wb__str name)
{
    for (size_t i = 0; i < old->count; i++) {
        if (wb__str_equal(name, wb__str_from(old->names[i], SIZE_MAX)))
            return true;
    }
    return is_base(name, old->index_path) || (old->count != 0 && is_sidecar(name));
}

/* Finds the files with tensors. If they do not form one model, finds only files that an index or a
 * shard name identifies. Fails if the directory cannot be read. */
static wb_status find_old_model(wb__context *context, const char *folder, wb__bundle *old)
{
    wb_error ignored;
    wb__context own = *context;
    own.error = wb__error_reset(&ignored, &ignored);
    own.findings = NULL;
    wb_status status = wb__bundle_of_folder(&own, folder, old);
    if (status != WB_ERROR_MEMORY && ignored.os_error == 0)
        return WB_OK;
    *context->error = ignored;
    return status;
}

typedef struct replacement {
    wb__context *context;
    wb_writer *writer;
    wb__bundle old;
} replacement;

/*
 * Adds an entry of the existing directory to the list of replaced files if it belongs to the old or
 * the new model. Fails if such an entry is a subdirectory or a file of the source. A hard link to a
 * file of the source counts as that file.
 */
static wb_status look_at(void *ctx, const char *entry)
{
    replacement *r = ctx;
    wb__context *context = r->context;
    wb_writer *writer = r->writer;
    struct stat st;
    bool is_source = false;
    wb__str name = wb__str_from(entry, SIZE_MAX);
    if (!is_written(writer, name) && !is_of_old_model(&r->old, name))
        return WB_OK;
    char *path = wb__path_join(&context->allocator, writer->folder, name);
    if (path == NULL)
        return wb__fail_memory(context);
    wb_status status = WB_OK;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        status =
            wb__fail_target(context, path, WB__FINDING_WRITE_EXISTS, WB__MSG_WRITE_FOLDER_NESTED);
    else if (writer->source != NULL)
        status = wb__model_reads(writer->source, context, path, &is_source);
    if (status == WB_OK && is_source)
        status = wb__fail_target(context, writer->folder, WB__FINDING_WRITE_SOURCE,
                                 WB__MSG_WRITE_FOLDER_IS_INPUT);
    if (status == WB_OK)
        status = wb__replaced_add(context, writer, path);
    wb__free(&context->allocator, path, strlen(path) + 1);
    return status;
}

wb_status wb__replaced_follow(wb__context *context, wb_writer *writer)
{
    int os_error = 0;
    char *end = wb__path_follow(&context->allocator, writer->folder, &os_error);
    if (end == NULL) {
        context->file = writer->folder;
        return os_error == ENOMEM ? wb__fail_memory(context)
                                  : wb__fail_os(context, os_error, WB__MSG_WRITE_OUTPUT_STAT);
    }
    writer->folder = wb__arena_copy(&writer->arena, end, strlen(end));
    wb__free(&context->allocator, end, strlen(end) + 1);
    return writer->folder == NULL ? wb__fail_memory(context) : WB_OK;
}

wb_status wb__replaced_check(wb__context *context, wb_writer *writer)
{
    struct stat st;
    const char *path = writer->folder;
    writer->replaces_folder = false;
    if (lstat(path, &st) != 0) {
        if (errno == ENOENT)
            return WB_OK;
        context->file = path;
        return wb__fail_os(context, errno, WB__MSG_WRITE_OUTPUT_STAT);
    }
    if (!S_ISDIR(st.st_mode))
        return wb__fail_target(context, path, WB__FINDING_WRITE_TARGET,
                               WB__MSG_WRITE_FOLDER_IS_FILE);
    if (!(writer->flags & WB_WRITE_FORCE))
        return wb__fail_target(context, path, WB__FINDING_WRITE_EXISTS,
                               WB__MSG_WRITE_FOLDER_EXISTS);
    writer->replaces_folder = true;
    replacement r = {.context = context, .writer = writer};
    wb__bundle_init(&r.old, &context->allocator);
    wb_status status = find_old_model(context, path, &r.old);
    if (status == WB_OK)
        status = wb__directory_list(context, path, look_at, &r);
    wb__bundle_free(&r.old);
    return status;
}

/* ---- at the commit ---- */

static bool stays(void *ctx, const char *entry)
{
    const wb_writer *writer = ctx;
    wb__str name = wb__str_from(entry, SIZE_MAX);
    for (size_t i = 0; i < writer->replaced.count; i++) {
        const char *const *path = wb__list_at(&writer->replaced, i);
        if (is_base(name, *path))
            return false;
    }
    return !is_written(writer, name);
}

wb_status wb__replaced_publish(wb__context *context, wb_writer *writer)
{
    const wb__kept_entries kept = {stays, writer};
    return wb__directory_replace(context, writer->folder_at, writer->folder, &kept);
}

typedef struct tidying {
    wb__context *context;
    const wb_writer *writer;
} tidying;

static wb_status tidy(void *ctx, const char *entry)
{
    const wb__str end = WB__STR(WB__KEPT_END);
    tidying *t = ctx;
    struct stat st;
    wb__context *context = t->context;
    wb__str name = wb__str_from(entry, SIZE_MAX), whole = name;
    if (wb__str_ends_with(name, end) && name.len > end.len)
        whole = (wb__str){name.ptr + 1, name.len - 1 - end.len};
    if (is_written(t->writer, name) || is_written(t->writer, whole))
        return WB_OK;
    char *path = wb__path_join(&context->allocator, t->writer->folder_at, name);
    if (path == NULL)
        return wb__fail_memory(context);
    int os_error = unlink(path) == 0 ? 0 : errno;
    if (os_error == EISDIR ||
        os_error == EPERM) { /* a directory: EISDIR on Linux, EPERM in POSIX */
        wb__directory_remove(path);
        os_error = lstat(path, &st) == 0 ? os_error : 0;
    }
    wb__free(&context->allocator, path, strlen(path) + 1);
    return os_error == 0 ? WB_OK : wb__fail_os(context, os_error, WB__MSG_WRITE_REMOVE);
}

wb_status wb__directory_tidy(wb__context *context, const wb_writer *writer)
{
    tidying t = {context, writer};
    return wb__directory_list(context, writer->folder_at, tidy, &t);
}

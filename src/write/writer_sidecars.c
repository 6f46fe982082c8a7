/*
 * Writes sidecar files, such as config.json and tokenizer files.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>

#include "handle/semantics.h"
#include "io/beneath.h"
#include "io/provided_files.h"
#include "write/write.h"
#include "write/write_messages.h"

static bool is_file_name(wb__str name)
{
    return name.len != 0 && name.len < 256 && memchr(name.ptr, '/', name.len) == NULL &&
           memchr(name.ptr, 0, name.len) == NULL && !wb__str_equal(name, WB__STR(".")) &&
           !wb__str_equal(name, WB__STR(".."));
}

static bool is_weights(wb__str name)
{
    return wb__str_ends_with(name, WB__STR(".safetensors")) ||
           wb__str_ends_with(name, WB__STR(".safetensors.index.json"));
}

static bool is_known(const wb_writer *writer, wb__str name)
{
    for (size_t i = 0; i < writer->extras.count; i++) {
        const wb__sidecar *extra = wb__list_at(&writer->extras, i);
        if (wb__str_equal(extra->name, name))
            return true;
    }
    return false;
}

wb_status wb__writer_add_extra(wb__context *context, wb_writer *writer, wb__sidecar extra)
{
    wb_status status = wb__writer_check_declaring(context, writer, extra.name);
    if (status != WB_OK)
        return status;
    if (!is_file_name(extra.name) || is_weights(extra.name) || is_known(writer, extra.name))
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, extra.name,
                        WB__MSG_WRITE_SIDECAR_NAME);
    wb__sidecar copy = {
        .name = {wb__arena_copy(&writer->arena, extra.name.ptr, extra.name.len), extra.name.len},
        .n = extra.n};
    if (extra.path != NULL)
        copy.path = wb__arena_copy(&writer->arena, extra.path, strlen(extra.path));
    else
        copy.bytes =
            (const uint8_t *)wb__arena_copy(&writer->arena, (const char *)extra.bytes, extra.n);
    if (extra.folder != NULL)
        copy.folder = wb__arena_copy(&writer->arena, extra.folder, strlen(extra.folder));
    if (copy.name.ptr == NULL || (copy.path == NULL && copy.bytes == NULL) ||
        (copy.folder == NULL) != (extra.folder == NULL))
        return wb__fail_memory(context);
    wb__sidecar *kept = wb__list_append(&writer->extras);
    if (kept == NULL)
        return wb__fail_memory(context);
    *kept = copy;
    return WB_OK;
}

/* Adds the file extra->path. `os_error` and *st are the result of wb__beneath_stat for this
 * file. */
static wb_status add_found(wb__context *context, wb_writer *writer, const wb__sidecar *extra,
                           int os_error, const struct stat *st)
{
    if (os_error == EXDEV)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_LINK_OUTSIDE, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_WRITE_LINK_OUTSIDE);
    /* A cycle of links, or a file that is not regular, counts as a missing file. */
    if (os_error == ELOOP || (os_error == 0 && !S_ISREG(st->st_mode)))
        os_error = ENOENT;
    if (os_error != 0)
        return wb__fail_os(context, os_error, WB__MSG_WRITE_SIDECAR_STAT);
    return writer == NULL ? WB_OK : wb__writer_add_extra(context, writer, *extra);
}

/* Adds a file that the caller of wb_open provides (wb_files). A directory counts as a missing file.
 */
static wb_status add_provided(wb__context *context, wb_writer *writer, const wb__sidecar *extra)
{
    wb__source *source;
    bool is_folder;
    wb_status status = wb__source_open(context, extra->path, WB_ACCESS_READ, &source, &is_folder);
    if (status == WB_OK && is_folder)
        return wb__fail_os(context, ENOENT, WB__MSG_WRITE_SIDECAR_STAT);
    wb__source_close(source);
    return status != WB_OK || writer == NULL ? status
                                             : wb__writer_add_extra(context, writer, *extra);
}

wb_status wb__writer_add_sidecar(wb__context *context, wb_writer *writer, const wb_model *model,
                                 const char *name)
{
    struct stat st;
    const char *folder, *file = context->file;
    char *path;
    wb_status status = wb__sidecar_path(model, context, name, &folder, &path);
    if (status != WB_OK)
        return status;
    if (path == NULL)
        return wb__fail_os(context, ENOENT, WB__MSG_WRITE_SIDECAR_STAT);
    const wb__sidecar extra = {.name = wb__str_from(name, SIZE_MAX),
                               .folder = model->follow_links ? NULL : folder,
                               .path = path};
    context->file = path;
    if (wb__files_own(context, path)) {
        status = add_provided(context, writer, &extra);
    } else {
        int os_error = wb__beneath_stat(folder, path, model->follow_links, &st);
        status = add_found(context, writer, &extra, os_error, &st);
    }
    context->file = file;
    wb__free(&context->allocator, path, strlen(path) + 1);
    return status;
}

/* ---- writing ---- */

static wb_status open_extra(wb__context *context, const wb__sidecar *extra, wb__source **source)
{
    bool is_folder;
    context->file = extra->path;
    wb_status status =
        wb__source_open_in(context, extra->folder, extra->path, WB_ACCESS_READ, source, &is_folder);
    if (status == WB_OK && is_folder)
        status = wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_NOT_REGULAR, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_WRITE_IS_FOLDER);
    context->file = "";
    return status;
}

wb_status wb__sidecars_measure(wb__context *context, const wb_writer *writer, uint64_t *bytes)
{
    for (size_t i = 0; i < writer->extras.count; i++) {
        const wb__sidecar *extra = wb__list_at(&writer->extras, i);
        uint64_t n = extra->n;
        if (extra->path != NULL) {
            wb__source *source;
            wb_status status = open_extra(context, extra, &source);
            if (status != WB_OK)
                return status;
            n = wb__source_bytes(source);
            wb__source_close(source);
        }
        if (!wb__add(*bytes, n, bytes))
            *bytes = UINT64_MAX;
    }
    return WB_OK;
}

static wb_status write_extra(wb__context *context, const wb_writer *writer, wb__sidecar *extra)
{
    wb__source *source = NULL;
    uint64_t n = extra->n;
    wb_status status = WB_OK;
    if (extra->path != NULL) {
        status = open_extra(context, extra, &source);
        if (status != WB_OK)
            return status;
        n = wb__source_bytes(source);
    }
    char *path = wb__path_join(&context->allocator, writer->folder, extra->name);
    if (path == NULL)
        status = wb__fail_memory(context);
    if (status == WB_OK)
        status = wb__writer_open(context, writer, path, false, n, &extra->sink);
    if (status == WB_OK)
        status = source != NULL ? wb__sink_copy(context, extra->sink, 0, source, 0, n)
                                : wb__sink_write(context, extra->sink, extra->bytes, extra->n);
    if (status == WB_OK)
        status = wb__sink_finish(context, extra->sink, n);
    if (status == WB_OK)
        status = wb__sink_publish(context, extra->sink);
    wb__source_close(source);
    wb__free(&context->allocator, path, path == NULL ? 0 : strlen(path) + 1);
    return status;
}

wb_status wb__sidecars_write(wb__context *context, wb_writer *writer)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < writer->extras.count && status == WB_OK; i++) {
        status = wb__writer_hear(context, writer, WB__ALL_BYTES);
        if (status == WB_OK)
            status = write_extra(context, writer, wb__list_at(&writer->extras, i));
    }
    return status;
}

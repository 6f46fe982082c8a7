/* Writes the sidecar files of a model directory. For a source directory, all sidecar files
 * except config.json are copied unchanged. For a GGUF source, the files are generated from its
 * key-values. */
#define _FILE_OFFSET_BITS 64
#include <errno.h>

#include "convert/convert_messages.h"
#include "convert/emit/deliver.h"
#include "io/beneath.h"
#include "io/io.h"
#include "io/provided_files.h"
#include "write/ollama/store.h"
#include "write/write.h"

static bool is_store(const wb__emit_job *out)
{
    return out->conversion->target == WB_TARGET_OLLAMA;
}

/* ---- one file ---- */

static wb_status write_file(wb__emit_job *out, const char *name, const void *bytes, size_t n)
{
    return wb_writer_add_bytes(out->writer, name, bytes, n, out->context->error);
}

static wb_status fail_length(wb__emit_job *out, const char *name)
{
    return wb__fail(out->context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_META, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_CONVERT_GENERATED_SIZE, name,
                    (unsigned)(WB__EMIT_FILE_MAX >> 20));
}

static wb_status make_file(wb__emit_job *out, const char *name,
                           wb_status (*make)(wb__emit_job *out, wb__buffer *to))
{
    wb__buffer text = {.allocator = &out->context->allocator, .ceiling = WB__EMIT_FILE_MAX};
    wb_status status = make(out, &text);
    if (status == WB_OK && text.too_large)
        status = fail_length(out, name);
    if (status == WB_OK && text.out_of_memory)
        status = wb__fail_memory(out->context);
    if (status == WB_OK && text.n > 0)
        status = write_file(out, name, text.bytes, text.n);
    wb__buffer_free(&text);
    return status;
}

/* ---- files copied unchanged ---- */

/* Returns true if a file of the source directory belongs to the output. Weight files and hidden
 * files do not. config.json is copied for Ollama, and generated for other targets. */
static bool is_copied(const wb__emit_job *out, wb__str name)
{
    static const wb__str weights[] = {{".safetensors", 12}, {".gguf", 5},    {".index.json", 11},
                                      {".bin", 4},          {".pt", 3},      {".pth", 4},
                                      {".h5", 3},           {".msgpack", 8}, {".onnx", 5}};
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        if (wb__str_ends_with(name, weights[i]))
            return false;
    }
    return name.len != 0 && name.ptr[0] != '.' &&
           (is_store(out) || !wb__str_equal(name, WB__STR("config.json")));
}

/* Reports a file that has no place in the output: as a warning if it is a known sidecar file,
 * otherwise as info. */
static wb_status note_left_out(wb__emit_job *out, const char *name)
{
    const char *known;
    size_t i = 0;
    while ((known = wb__sidecar_name(i)) != NULL && strcmp(known, name) != 0)
        i++;
    return wb__plan_note(out->conversion, out->context, known != NULL ? WB_WARNING : WB_INFO,
                         WB__FINDING_CONVERT_LEFT_OUT, wb__str_from(name, SIZE_MAX),
                         is_store(out) ? WB__MSG_CONVERT_NO_LAYER : WB__MSG_CONVERT_SUBFOLDER);
}

/* Copies a sidecar file of the model, or reports that a store has no layer for it. A missing file
 * is not an error. A symbolic link that leads outside the directory is not copied and causes a
 * warning. */
static wb_status copy_file(wb__emit_job *out, const char *name)
{
    wb__context *context = out->context;
    bool has_place = !is_store(out) || wb__store_has_layer(wb__str_from(name, SIZE_MAX));
    if (!is_copied(out, wb__str_from(name, SIZE_MAX)))
        return WB_OK;
    wb_status status = wb__writer_add_sidecar(context, has_place ? out->writer : NULL,
                                              out->conversion->model, name);
    if (status == WB_OK && !has_place)
        return note_left_out(out, name);
    if (status == WB_ERROR_FORMAT &&
        !wb__findings_add_error(&out->conversion->notes, context->error, WB_WARNING))
        return wb__fail_memory(context);
    if (status != WB_ERROR_FORMAT && status != WB_ERROR_NOT_FOUND)
        return status;
    (void)wb__error_reset(context->error, context->error);
    return WB_OK;
}

typedef struct listing {
    wb__emit_job *out;
    bool seen; /* at least one file name was read from the directory */
} listing;

static wb_status copy_listed(void *ctx, const char *name)
{
    listing *l = ctx;
    l->seen = true;
    return copy_file(l->out, name);
}

/* Copies the sidecar files with known names. Used if the directory cannot be listed, because its
 * files can still be opened by name. */
static wb_status copy_known(wb__emit_job *out)
{
    const char *name;
    wb_status status = WB_OK;
    (void)wb__error_reset(out->context->error, out->context->error);
    for (size_t i = 0; (name = wb__sidecar_name(i)) != NULL && status == WB_OK; i++) {
        if (strchr(name, '/') == NULL)
            status = copy_file(out, name);
    }
    return status;
}

/* Adds a warning for each known sidecar file in a subdirectory. These files are not copied,
 * because the writer does not create subdirectories. */
static wb_status tell_left_out(wb__emit_job *out)
{
    const char *name;
    wb_status status = WB_OK;
    for (size_t i = 0; (name = wb__sidecar_name(i)) != NULL && status == WB_OK; i++) {
        struct stat st;
        if (strchr(name, '/') == NULL)
            continue;
        const char *folder = out->conversion->model->folder;
        char *path = wb__path_join(&out->context->allocator, folder, wb__str_from(name, SIZE_MAX));
        if (path == NULL)
            return wb__fail_memory(out->context);
        if (wb__beneath_stat(folder, path, out->context->follow_links, &st) == 0 &&
            S_ISREG(st.st_mode))
            status = note_left_out(out, name);
        wb__free(&out->context->allocator, path, strlen(path) + 1);
    }
    return status;
}

static wb_status copy_unreadable(wb__emit_job *out)
{
    wb_status status =
        wb__plan_note(out->conversion, out->context, WB_WARNING, WB__FINDING_CONVERT_LEFT_OUT,
                      WB__STR(""), WB__MSG_CONVERT_FOLDER_LIST);
    return status == WB_OK ? copy_known(out) : status;
}

static wb_status copy_unknown(void *ctx, const char *name)
{
    const char *known;
    for (size_t i = 0; (known = wb__sidecar_name(i)) != NULL; i++) {
        if (strcmp(known, name) == 0)
            return WB_OK;
    }
    return copy_listed(ctx, name);
}

/* Copies the sidecar files of a directory that is read through functions of the caller (wb_files),
 * for example from a web server. The list of such a directory may be empty, or contain only weight
 * files. Files with known names are therefore opened by name, and the list is used only for other
 * files. */
static wb_status copy_provided(wb__emit_job *out)
{
    listing l = {.out = out};
    wb_status status =
        wb__directory_list(out->context, out->conversion->model->folder, copy_unknown, &l);
    return status == WB_OK || (status == WB_ERROR_NOT_FOUND && !l.seen) ? copy_known(out) : status;
}

static wb_status copy_folder(wb__emit_job *out)
{
    listing l = {.out = out};
    if (wb__files_own(out->context, out->conversion->model->folder))
        return copy_provided(out);
    wb_status status =
        wb__directory_list(out->context, out->conversion->model->folder, copy_listed, &l);
    bool may_not = status == WB_ERROR_IO && !l.seen && out->context->error->os_error == EACCES;
    if (may_not)
        status = copy_unreadable(out);
    return status == WB_OK ? tell_left_out(out) : status;
}

static wb_status copy_files(wb__emit_job *out)
{
    const wb_model *model = out->conversion->model;
    wb_status status = WB_OK;
    for (const wb__named_file *file = model->named_files;
         file != NULL && file->name != NULL && status == WB_OK; file++) {
        if (strchr(file->name, '/') == NULL)
            status = copy_file(out, file->name);
    }
    return status == WB_OK && model->named_files == NULL && model->folder != NULL ? copy_folder(out)
                                                                                  : status;
}

static wb_status make_template(wb__emit_job *out, wb__buffer *to)
{
    const char *text;
    size_t n;
    if (wb_meta_get_string(out->conversion->model, "tokenizer.chat_template", SIZE_MAX, &text, &n,
                           NULL) == WB_OK)
        wb__buffer_add(to, text, n);
    return WB_OK;
}

wb_status wb__emit_sidecars(wb__emit_job *out)
{
    bool made = out->conversion->semantics->by_key || !is_store(out);
    wb_status status = made ? make_file(out, "config.json", wb__emit_config) : WB_OK;
    if (status == WB_OK && !out->conversion->semantics->by_key)
        return copy_files(out);
    if (status == WB_OK)
        status = make_file(out, "tokenizer.json", wb__emit_tokenizer);
    if (status == WB_OK)
        status = make_file(out, "tokenizer_config.json", wb__emit_tokenizer_config);
    return status == WB_OK ? make_file(out, "chat_template.jinja", make_template) : status;
}

#define _FILE_OFFSET_BITS 64
#include "convert/plan/input_files.h"
#include "convert/convert_messages.h"

#include <sys/stat.h>

#include "io/io.h"
#include "io/sink.h"

wb_status wb__inputs_add(wb_conversion *conversion, wb__context *context, const char *path)
{
    const char *kept = wb__arena_copy(&conversion->arena, path, strlen(path));
    const char **slot = kept == NULL ? NULL : wb__list_append(&conversion->inputs);
    if (slot == NULL)
        return wb__fail_memory(context);
    *slot = kept;
    return WB_OK;
}

/* Adds the file `name` in the directory of `file` to the inputs. */
static wb_status add_beside(wb_conversion *conversion, wb__context *context, const char *file,
                            const char *name)
{
    wb__str folder = wb__path_folder(file);
    char *at = wb__path_join(&context->allocator, "", folder);
    char *path =
        at == NULL ? NULL : wb__path_join(&context->allocator, at, wb__str_from(name, SIZE_MAX));
    wb_status status =
        path == NULL ? wb__fail_memory(context) : wb__inputs_add(conversion, context, path);
    if (path != NULL)
        wb__free(&context->allocator, path, strlen(path) + 1);
    if (at != NULL)
        wb__free(&context->allocator, at, folder.len + 1);
    return status;
}

wb_status wb__inputs_add_adapter(wb_conversion *conversion, wb__context *context,
                                 const wb_model *model)
{
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < wb_file_count(model) && status == WB_OK; i++) {
        wb_file file = {.size = sizeof file};
        status = wb_file_at(model, i, &file, context->error);
        if (status == WB_OK)
            status = wb__inputs_add(conversion, context, file.path);
        if (status == WB_OK)
            status = add_beside(conversion, context, file.path, "adapter_config.json");
    }
    return status;
}

/* An output path that is compared with the input files. If it is a directory, the files in it
 * are also compared, because the output replaces the directory. */
typedef struct target {
    const wb_conversion *conversion;
    wb__context *context;
    const char *path;
    bool is_input;
} target;

static void look_at(target *t, const char *path)
{
    for (size_t i = 0; i < t->conversion->inputs.count; i++)
        t->is_input |= wb__path_same(*(const char **)wb__list_at(&t->conversion->inputs, i), path);
}

static wb_status look_into(void *ctx, const char *name)
{
    target *t = ctx;
    const wb_allocator *allocator = &t->context->allocator;
    char *path = wb__path_join(allocator, t->path, wb__str_from(name, SIZE_MAX));
    if (path == NULL)
        return wb__fail_memory(t->context);
    look_at(t, path);
    wb__free(allocator, path, strlen(path) + 1);
    return WB_OK;
}

wb_status wb__inputs_spare(const wb_conversion *conversion, wb__context *context, const char *path)
{
    struct stat st;
    wb_status status = WB_OK;
    target t = {.conversion = conversion, .context = context, .path = path};
    context->file = path;
    look_at(&t, path);
    if (conversion->inputs.count > 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        status = wb__directory_list(context, path, look_into, &t);
    if (status == WB_OK && t.is_input)
        status = wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_SOURCE, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_CONVERT_OUTPUT_IS_INPUT);
    context->file = "";
    return status;
}

#include "convert/inputs.h"

#include "io/io.h"
#include "io/sink.h"

wb_status wb__inputs_add(wb_conversion *plan, wb__context *context, const char *path)
{
    const char *kept = wb__arena_copy(&plan->arena, path, strlen(path));
    const char **slot = kept == NULL ? NULL : wb__list_append(&plan->inputs);
    if (slot == NULL)
        return wb__fail_memory(context);
    *slot = kept;
    return WB_OK;
}

/* What lies beside a file under another name. */
static wb_status add_beside(wb_conversion *plan, wb__context *context, const char *file,
                            const char *name)
{
    wb__str folder = wb__path_folder(file);
    char *at = wb__path_join(&context->allocator, "", folder);
    char *path =
        at == NULL ? NULL : wb__path_join(&context->allocator, at, wb__str_from(name, SIZE_MAX));
    wb_status status =
        path == NULL ? wb__fail_memory(context) : wb__inputs_add(plan, context, path);
    if (path != NULL)
        wb__free(&context->allocator, path, strlen(path) + 1);
    if (at != NULL)
        wb__free(&context->allocator, at, folder.len + 1);
    return status;
}

wb_status wb__inputs_add_adapter(wb_conversion *plan, wb__context *context, const wb_model *model)
{
    wb_status status = WB_OK;
    for (uint64_t i = 0; i < wb_file_count(model) && status == WB_OK; i++) {
        wb_file file = {.size = sizeof file};
        status = wb_file_at(model, i, &file, context->error);
        if (status == WB_OK)
            status = wb__inputs_add(plan, context, file.path);
        if (status == WB_OK)
            status = add_beside(plan, context, file.path, "adapter_config.json");
    }
    return status;
}

/* Whether a file has a name in a folder, be it the one by which it was read or another that is the same. */
static wb_status is_in(wb__context *context, const char *file, const char *folder, bool *found)
{
    char *there = wb__path_join(&context->allocator, folder, wb__path_base(file));
    if (there == NULL)
        return wb__fail_memory(context);
    *found = wb__path_same(file, there);
    wb__free(&context->allocator, there, strlen(there) + 1);
    return WB_OK;
}

wb_status wb__inputs_spare(const wb_conversion *plan, wb__context *context, const char *path)
{
    wb_status status = WB_OK;
    bool lost = false;
    for (size_t i = 0; i < plan->inputs.count && status == WB_OK && !lost; i++) {
        const char *file = *(const char **)wb__list_at(&plan->inputs, i);
        lost = wb__path_same(file, path);
        if (!lost)
            status = is_in(context, file, path, &lost);
    }
    if (status != WB_OK || !lost)
        return status;
    context->file = path;
    status = wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_SOURCE, WB_NO_OFFSET,
                      WB__STR(""), "the output would take the place of a file that is read");
    context->file = "";
    return status;
}

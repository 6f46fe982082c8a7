/*
 * Public functions on the files of an open model.
 */
#include "handle/handle_messages.h"
#include "handle/semantics.h"
#include "weighbridge/experimental.h"

wb_status wb_model_check(const wb_model *model, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    for (size_t i = 0; i < model->source_count; i++) {
        wb_status status = wb__source_check(model->sources[i], &context);
        if (status != WB_OK)
            return status;
    }
    return WB_OK;
}

wb_status wb_model_reads(const wb_model *model, const char *path, int *reads, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    bool does = false;
    *reads = 0;
    if (path == NULL)
        return wb__fail_argument(&context, WB__MSG_HANDLE_PATH_NULL);
    wb_status status = wb__model_reads(model, &context, path, &does);
    *reads = does;
    return status;
}

int wb_owns_address(const wb_model *model, const void *address)
{
    for (size_t i = 0; i < model->source_count; i++) {
        if (wb__source_owns(model->sources[i], address))
            return 1;
    }
    return 0;
}

const char *wb_format(const wb_model *model)
{
    return model->catalog.file_count == 0 ? "" : model->catalog.files[0].format;
}

uint64_t wb_file_count(const wb_model *model)
{
    return model->catalog.file_count;
}

wb_status wb_file_at(const wb_model *model, uint64_t index, wb_file *caller, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb_file own, *out = WB__OUT(wb_file, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_file, caller);
    if (index >= model->catalog.file_count)
        return wb__fail(&context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_HANDLE_NO_FILE, (unsigned long long)index);
    const wb__catalog_file *file = &model->catalog.files[index];
    out->path = file->path;
    out->format = file->format;
    out->bytes = file->bytes;
    out->data_offset = file->data_begin;
    out->tensors = file->tensor_count;
    out->version = file->version;
    out->big_endian = file->big_endian;
    WB__GIVE(wb_file, caller, out);
    return WB_OK;
}

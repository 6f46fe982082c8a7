#include "handle/semantics.h"
#include "read/read.h"
#include "read/read_messages.h"

uint64_t wb_tensor_count(const wb_model *model)
{
    return model->tensors.count;
}

static uint32_t storing_of(const wb__catalog *catalog, size_t tensor)
{
    const wb__storing *storing = wb__catalog_storing_of(catalog, tensor);
    uint32_t flags = wb__catalog_is_swapped(catalog, tensor) ? WB_STORED_BIG_ENDIAN : 0;
    if (storing != NULL && storing->columns)
        flags |= WB_STORED_COLUMNS;
    if (storing != NULL && storing->deflated)
        flags |= WB_STORED_DEFLATED;
    return flags;
}

wb_status wb_tensor_at(const wb_model *model, uint64_t index, wb_tensor *caller, wb_error *error)
{
    const wb__table *table = &model->catalog.table;
    const wb__packed *packed;
    size_t i;
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb_tensor own, *out = WB__OUT(wb_tensor, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_tensor, caller);
    const wb__expert_view *view;
    wb_status status = wb__expert_view_of(model, &context, index, &view);
    if (status == WB_OK)
        status = wb__resolve(model, &context, view != NULL ? view->parts[0] : index, &i, &packed);
    if (status != WB_OK)
        return status;
    const wb__kind *kind = packed != NULL ? &packed->packing->kind : wb__table_kind_of(table, i);
    wb__str name = wb__table_name(table, i);
    if (view != NULL) {
        kind = &view->kind;
        name = (wb__str){view->name, view->name_len};
    }
    out->name = name.ptr;
    out->name_len = name.len;
    out->dtype = (wb_dtype)kind->dtype->id;
    out->rank = kind->rank;
    out->shape = kind->shape;
    out->elements = kind->elements;
    out->bytes = kind->bytes;
    out->file = wb__catalog_file_of(&model->catalog, i);
    out->offset = wb__catalog_offset_of(&model->catalog, i);
    out->storing = storing_of(&model->catalog, i);
    WB__GIVE(wb_tensor, caller, out);
    return WB_OK;
}

/* ---- bytes and values ---- */

wb_status wb_tensor_data(const wb_model *model, uint64_t index, const void **bytes, wb_error *error)
{
    const wb__packed *packed;
    size_t i;
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    *bytes = NULL;
    const wb__expert_view *view;
    wb_status status = wb__expert_view_of(model, &context, index, &view);
    if (status == WB_OK && view != NULL)
        return wb__fail(&context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        (wb__str){view->name, view->name_len}, WB__MSG_READ_DATA_EXPERTS);
    if (status == WB_OK)
        status = wb__resolve(model, &context, index, &i, &packed);
    if (status != WB_OK)
        return status;
    size_t file = wb__catalog_file_of(&model->catalog, i);
    wb__source *source = model->sources[file];
    context.file = model->catalog.files[file].path;
    if (packed != NULL)
        return wb__fail(&context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        wb__table_name(&model->catalog.table, i), WB__MSG_READ_DATA_PARTS);
    const wb__storing *storing = wb__catalog_storing_of(&model->catalog, i);
    if (storing != NULL && (storing->deflated || storing->columns))
        return wb__fail(&context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        wb__table_name(&model->catalog.table, i),
                        storing->deflated ? WB__MSG_READ_DATA_COMPRESSED
                                          : WB__MSG_READ_DATA_COLUMNS);
    if (wb__catalog_is_swapped(&model->catalog, i))
        return wb__fail(&context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        wb__table_name(&model->catalog.table, i), WB__MSG_READ_DATA_ENDIAN);
    if (model->access == WB_ACCESS_READ && wb__source_memory(source) == NULL)
        return wb__fail(&context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        wb__table_name(&model->catalog.table, i), WB__MSG_READ_DATA_READ_MODE);
    return wb__source_map(source, &context, wb__catalog_offset_of(&model->catalog, i),
                          wb__table_kind_of(&model->catalog.table, i)->bytes, bytes);
}

wb_status wb_tensor_read_size(const wb_model *model, uint64_t index, const wb_slice *slice,
                              int32_t dtype, uint64_t *elements, uint64_t *bytes, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb__selection selection;
    *elements = *bytes = 0;
    const wb__expert_view *view;
    wb_status status = wb__expert_view_of(model, &context, index, &view);
    if (status == WB_OK && view != NULL)
        return wb__expert_view_size(model, &context, view, slice, dtype, elements, bytes);
    if (status == WB_OK)
        status = wb__selection_make(model, &context, index, slice, dtype, &selection);
    if (status == WB_OK) {
        *elements = selection.count;
        *bytes = selection.bytes;
    }
    return status;
}

wb_status wb_tensor_read(const wb_model *model, uint64_t index, const wb_slice *slice,
                         int32_t dtype, void *dst, uint64_t size, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb__selection selection;
    const wb__expert_view *view;
    uint64_t bytes = 0, elements;
    wb_status status = wb__expert_view_of(model, &context, index, &view);
    if (status == WB_OK && view != NULL)
        status = wb__expert_view_size(model, &context, view, slice, dtype, &elements, &bytes);
    else if (status == WB_OK)
        status = wb__selection_make(model, &context, index, slice, dtype, &selection);
    if (status == WB_OK && view == NULL)
        bytes = selection.bytes;
    if (status == WB_OK && bytes > size)
        status = wb__fail(&context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_READ_RESULT_SPACE, (unsigned long long)bytes,
                          (unsigned long long)size);
    if (status == WB_OK && view != NULL) {
        status = wb__expert_view_read(model, &context, view, slice, dtype, dst);
    } else if (status == WB_OK) {
        size_t file = wb__catalog_file_of(&model->catalog, selection.stored);
        context.file = model->catalog.files[file].path;
        status = wb__read_selection(model, &context, &selection, dst);
    }
    if (status != WB_OK && dst != NULL && size <= SIZE_MAX)
        memset(dst, 0, (size_t)size);
    return status;
}

#include "cpu/cpu.h"
#include "open/open.h"
#include "quant/quant.h"

#include <stdatomic.h>

uint64_t wb_tensor_count(const wb_model *model)
{
    return model->logical.table.count;
}

static wb_status fail_number(wb__context *context, uint64_t index)
{
    return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET, WB__STR(""),
                    "there is no tensor number %llu", (unsigned long long)index);
}

wb_status wb_tensor_at(const wb_model *model, uint64_t index, wb_tensor *out, wb_error *error)
{
    const wb__table *table = &model->logical.table;
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    size_t size = out->size;
    memset(out, 0, sizeof *out);
    out->size = size;
    if (size != sizeof *out)
        return wb__fail(&context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                        WB__STR(""), "wb_tensor.size is not sizeof(wb_tensor)");
    if (index >= table->count)
        return fail_number(&context, index);
    size_t i = (size_t)index;
    const wb__kind *kind = wb__table_kind_of(table, i);
    wb__str name = wb__table_name(table, i);
    out->name = name.ptr;
    out->name_len = name.len;
    out->dtype = (wb_dtype)kind->dtype->id;
    out->rank = kind->rank;
    out->shape = kind->shape;
    out->elements = kind->elements;
    out->bytes = kind->bytes;
    out->file = wb__model_file_of(&model->logical, i);
    out->offset = wb__model_offset_of(&model->logical, i);
    return WB_OK;
}

wb_status wb_tensor_find(const wb_model *model, const char *name, size_t name_len, uint64_t *index)
{
    uint32_t i = wb__table_find(&model->logical.table, wb__str_from(name, name_len));
    *index = i == WB__NO_TENSOR ? 0 : i;
    return i == WB__NO_TENSOR ? WB_ERROR_NOT_FOUND : WB_OK;
}

int wb_tensor_has(const wb_model *model, const char *name, size_t name_len)
{
    uint64_t index;
    return wb_tensor_find(model, name, name_len, &index) == WB_OK;
}

int32_t wb_tensor_dtype(const wb_model *model, const char *name, size_t name_len)
{
    uint64_t index;
    if (wb_tensor_find(model, name, name_len, &index) != WB_OK)
        return -1;
    return wb__table_kind_of(&model->logical.table, (size_t)index)->dtype->id;
}

/* The table keeps offsets of 32 bits among other things; these are made when first asked for. */
static uint64_t *make_name_offsets(const wb_model *model)
{
    const wb__table *table = &model->logical.table;
    uint64_t *offsets = wb__alloc(&model->allocator, (table->count + 1) * sizeof *offsets);
    if (offsets == NULL)
        return NULL;
    for (size_t i = 0; i < table->count; i++)
        offsets[i] = wb__record_at(table, i)->name;
    offsets[table->count] = table->names_used;
    return offsets;
}

wb_status wb_tensor_names(const wb_model *model, const char **bytes, const uint64_t **offsets,
                          wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    /* A cache is no part of what the model is: the cast is for it alone. */
    _Atomic(uint64_t *) *cache = (_Atomic(uint64_t *) *)&model->name_offsets;
    uint64_t *known = atomic_load(cache);
    *bytes = NULL;
    *offsets = NULL;
    if (known == NULL) {
        uint64_t *made = make_name_offsets(model);
        if (made == NULL)
            return wb__fail_memory(&context);
        if (atomic_compare_exchange_strong(cache, &known, made))
            known = made;
        else /* another thread was first */
            wb__free(&model->allocator, made, (model->logical.table.count + 1) * sizeof *made);
    }
    *bytes = model->logical.table.names;
    *offsets = known;
    return WB_OK;
}

wb_status wb_tensor_data(const wb_model *model, uint64_t index, const void **bytes,
                         wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    *bytes = NULL;
    if (index >= model->logical.table.count)
        return fail_number(&context, index);
    size_t i = (size_t)index;
    size_t file = wb__model_file_of(&model->logical, i);
    wb__source *source = model->sources[file];
    context.file = model->logical.files[file].path;
    if (model->access == WB_ACCESS_READ && wb__source_memory(source) == NULL)
        return wb__fail(&context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        wb__table_name(&model->logical.table, i),
                        "in READ mode nothing is mapped: use wb_tensor_read");
    return wb__source_map(source, &context, wb__model_offset_of(&model->logical, i),
                          wb__table_kind_of(&model->logical.table, i)->bytes, bytes);
}

wb_status wb_tensor_read_size(const wb_model *model, uint64_t index, const wb_slice *slice,
                              int32_t dtype, uint64_t *elements, uint64_t *bytes, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb__selection selection;
    *elements = *bytes = 0;
    wb_status status = wb__selection_make(model, &context, index, slice, dtype, &selection);
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
    wb_status status = wb__selection_make(model, &context, index, slice, dtype, &selection);
    if (status == WB_OK && selection.bytes > size)
        status = wb__fail(&context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                          WB__STR(""), "the result takes %llu bytes, and there is room for %llu",
                          (unsigned long long)selection.bytes, (unsigned long long)size);
    if (status == WB_OK) {
        context.file = model->logical.files[wb__model_file_of(&model->logical, (size_t)index)].path;
        status = wb__read_selection(model, &context, index, &selection, dst);
    }
    if (status != WB_OK && dst != NULL && size <= SIZE_MAX)
        memset(dst, 0, (size_t)size);
    return status;
}

/* ---- element types ---- */

const char *wb_dtype_name(int32_t dtype)
{
    const wb__dtype *row = wb__dtype_get(dtype);
    return row == NULL ? NULL : row->name;
}

int32_t wb_dtype_find(const char *name, size_t name_len)
{
    const wb__dtype *row = wb__dtype_named_nocase(wb__str_from(name, name_len));
    return row == NULL ? -1 : row->id;
}

wb_status wb_dtype_describe(int32_t dtype, wb_dtype_info *info)
{
    const wb__dtype *row = wb__dtype_get(dtype);
    size_t size = info->size;
    memset(info, 0, sizeof *info);
    info->size = size;
    if (size != sizeof *info)
        return WB_ERROR_ARGUMENT;
    if (row == NULL)
        return WB_ERROR_NOT_FOUND;
    info->name = row->name;
    info->block_size = row->block_size;
    info->block_bits = row->block_bits;
    info->is_float = wb__dtype_is_float(row);
    info->is_complex = row->kind == WB__CLASS_COMPLEX;
    info->is_signed = row->kind == WB__CLASS_INT || row->kind == WB__CLASS_COMPLEX ||
                      (wb__dtype_is_float(row) && row->kind != WB__CLASS_SCALE);
    info->description = row->description;
    wb__codec codec;
    bool plain = wb__dtype_is_plain(row);
    bool decodes = wb__codec_get(dtype, wb__cpu_features(), &codec);
    info->decodes = plain ? row->kind != WB__CLASS_COMPLEX : decodes;
    info->encodes = plain ? info->decodes : codec.encode != NULL;
    info->importance = codec.importance;
    return WB_OK;
}

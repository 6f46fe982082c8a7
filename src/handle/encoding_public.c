#include "handle/handle_messages.h"
#include "handle/semantics.h"
#include "weighbridge/tensor.h"

/* Returns wb_encoding.dtype: a wb_dtype, or the number that engines use for an MLX type. */
static int32_t effective_dtype(const wb__packed *packed)
{
    static const int32_t affine[] = {
        [1] = 97, [2] = 98, [3] = 99, [4] = 100, [5] = 103, [6] = 102, [8] = 101};
    switch (packed->packing->scheme) {
    case WB__SCHEME_AFFINE:
    case WB__SCHEME_INT4:
    case WB__SCHEME_INT8: return affine[packed->packing->bits];
    case WB__SCHEME_MXFP4: return 104;
    case WB__SCHEME_MXFP8: return 105;
    case WB__SCHEME_NVFP4: return 106;
    default: return packed->packing->kind.dtype->id;
    }
}

/* Describes a packed tensor. `counts_parts` is false for an expert view, whose parts the caller
 * counts. */
static void describe_packed(const wb__packed *packed, bool counts_parts, wb_encoding *out)
{
    if (packed->packing->scheme != WB__SCHEME_PLAIN)
        out->type = wb__scheme_name(packed->packing->scheme);
    out->bits = packed->packing->bits;
    out->group_size = packed->packing->group;
    out->dtype = effective_dtype(packed);
    out->global = (uint32_t)packed->packing->global;
    for (int part = WB__PART_SCALES; part < WB__PARTS && counts_parts; part++)
        out->parts += packed->parts[part] != WB__NO_TENSOR;
}

wb_status wb_tensor_encoding(const wb_model *model, uint64_t index, wb_encoding *caller,
                             wb_error *error)
{
    const wb__packed *packed;
    size_t stored;
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb_encoding own, *out = WB__OUT(wb_encoding, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_encoding, caller);
    const wb__expert_view *view;
    wb_status status = wb__expert_view_of(model, &context, index, &view);
    if (status == WB_OK)
        status =
            wb__resolve(model, &context, view != NULL ? view->parts[0] : index, &stored, &packed);
    if (status != WB_OK)
        return status;
    const wb__dtype *dtype = wb__table_kind_of(&model->catalog.table, stored)->dtype;
    out->type = dtype->block_size > 1 ? dtype->name : wb__scheme_name(WB__SCHEME_PLAIN);
    out->bits = dtype->block_bits / dtype->block_size;
    out->group_size = dtype->block_size > 1 ? dtype->block_size : 0;
    out->dtype = dtype->id;
    out->parts = view != NULL ? view->count : 1;
    if (packed != NULL)
        describe_packed(packed, view == NULL, out);
    WB__GIVE(wb_encoding, caller, out);
    return WB_OK;
}

wb_status wb_tensor_part(const wb_model *model, uint64_t index, uint32_t number, wb_part *caller,
                         wb_error *error)
{
    const wb__packed *packed;
    size_t stored;
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb_part own, *out = WB__OUT(wb_part, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_part, caller);
    const wb__expert_view *view;
    wb_status status = wb__expert_view_of(model, &context, index, &view);
    if (status == WB_OK && view != NULL && number < view->count) {
        out->role = "expert";
        out->index = view->parts[number];
        WB__GIVE(wb_part, caller, out);
        return WB_OK;
    }
    if (status == WB_OK && view != NULL)
        index = view->parts[0]; /* the error below names this tensor */
    if (status == WB_OK)
        status = wb__resolve(model, &context, index, &stored, &packed);
    if (status != WB_OK)
        return status;
    uint32_t left = number;
    for (int part = 0; view == NULL && part < (packed == NULL ? 1 : WB__PARTS); part++) {
        uint32_t of = packed == NULL ? (uint32_t)stored : packed->parts[part];
        if (of == WB__NO_TENSOR || left-- > 0)
            continue;
        out->role = wb__part_name((wb__part)part);
        out->index = packed == NULL ? index : model->tensors.count + of;
        WB__GIVE(wb_part, caller, out);
        return WB_OK;
    }
    return wb__fail(&context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                    wb__table_name(&model->catalog.table, stored), WB__MSG_HANDLE_NO_PART,
                    (unsigned long)number);
}

/* Looks up the encoding of a tensor by name. Returns false if there is no such tensor. */
static bool encoding_of(const wb_model *model, const char *name, size_t name_len,
                        wb_encoding *encoding)
{
    uint64_t index;
    encoding->size = sizeof *encoding;
    return wb_tensor_find(model, name, name_len, &index) == WB_OK &&
           wb_tensor_encoding(model, index, encoding, NULL) == WB_OK;
}

int32_t wb_tensor_dtype(const wb_model *model, const char *name, size_t name_len)
{
    wb_encoding encoding;
    return encoding_of(model, name, name_len, &encoding) ? encoding.dtype : -1;
}

uint32_t wb_quant_bits(const wb_model *model, const char *name, size_t name_len)
{
    wb_encoding encoding;
    return encoding_of(model, name, name_len, &encoding) && encoding.group_size != 0 ? encoding.bits
                                                                                     : 0;
}

uint32_t wb_quant_group_size(const wb_model *model, const char *name, size_t name_len)
{
    wb_encoding encoding;
    return encoding_of(model, name, name_len, &encoding) ? encoding.group_size : 0;
}

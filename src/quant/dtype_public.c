#include "core/call_options.h"
#include "cpu/cpu.h"
#include "quant/quant.h"

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

wb_status wb_dtype_describe(int32_t dtype, wb_dtype_info *caller)
{
    const wb__dtype *row = wb__dtype_get(dtype);
    wb_dtype_info own, *info = WB__OUT(wb_dtype_info, caller, &own);
    if (info == NULL)
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
    bool converts = wb__dtype_is_plain(row) && row->kind != WB__CLASS_COMPLEX;
    bool has_codec = wb__codec_get(dtype, wb__cpu_features(), &codec);
    info->decodes = converts || has_codec;
    info->encodes = converts || (has_codec && codec.encode != NULL);
    if (has_codec)
        info->importance = codec.importance;
    WB__GIVE(wb_dtype_info, caller, info);
    return WB_OK;
}

#include "formats/safetensors/reader.h"

/* In the order of the official library's enum, which its writer sorts by. */
static const int32_t dtypes[] = {
    WB_DTYPE_BOOL,    WB_DTYPE_F4,          WB_DTYPE_F6_E2M3,     WB_DTYPE_F6_E3M2,
    WB_DTYPE_U8,      WB_DTYPE_I8,          WB_DTYPE_F8_E5M2,     WB_DTYPE_F8_E4M3,
    WB_DTYPE_F8_E8M0, WB_DTYPE_F8_E4M3FNUZ, WB_DTYPE_F8_E5M2FNUZ, WB_DTYPE_I16,
    WB_DTYPE_U16,     WB_DTYPE_F16,         WB_DTYPE_BF16,        WB_DTYPE_I32,
    WB_DTYPE_U32,     WB_DTYPE_F32,         WB_DTYPE_C64,         WB_DTYPE_F64,
    WB_DTYPE_I64,     WB_DTYPE_U64,
};

const wb__dtype *wb__st_dtype(wb__str name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        const wb__dtype *dtype = wb__dtype_get(dtypes[i]);
        if (wb__str_equal(name, wb__str_from(dtype->name, SIZE_MAX)))
            return dtype;
    }
    return NULL;
}

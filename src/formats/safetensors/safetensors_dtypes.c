#include "formats/safetensors/safetensors_reader.h"

/*
 * Sorted like the official library's enum, which determines the order of tensors in its writer. The
 * names are stored with their lengths for a fast comparison, because a header can use a different
 * dtype for every tensor.
 */
#define ROW(name) {{#name, sizeof #name - 1}, WB_DTYPE_##name}

static const struct dtype_row {
    wb__str name;
    int32_t id;
} rows[] = {
    ROW(BOOL),    ROW(F4),      ROW(F6_E2M3), ROW(F6_E3M2),     ROW(U8),          ROW(I8),
    ROW(F8_E5M2), ROW(F8_E4M3), ROW(F8_E8M0), ROW(F8_E4M3FNUZ), ROW(F8_E5M2FNUZ), ROW(I16),
    ROW(U16),     ROW(F16),     ROW(BF16),    ROW(I32),         ROW(U32),         ROW(F32),
    ROW(C64),     ROW(F64),     ROW(I64),     ROW(U64),
};

const wb__dtype *wb__st_dtype(wb__str name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (wb__str_equal(name, rows[i].name))
            return wb__dtype_get(rows[i].id);
    }
    return NULL;
}

int wb__st_dtype_rank(int32_t dtype)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].id == dtype)
            return (int)i;
    }
    return -1;
}

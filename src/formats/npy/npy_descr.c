/*
 * Interprets descr: the byte order, a letter for the kind, and the size of an element in bytes.
 * https://numpy.org/doc/stable/reference/arrays.interface.html
 *
 * NumPy has no bfloat16; MLX and ml_dtypes write it as two bytes of kind V (void). All FP8 types
 * except E5M2 are one byte of kind V, so they cannot be distinguished.
 */
#include "formats/formats_messages.h"
#include "formats/npy/npy.h"
#include "weighbridge/dtypes.h"

typedef struct descr_row {
    char kind;
    char bytes;
    int32_t dtype;
} descr_row;

static const descr_row rows[] = {
    {'b', '1', WB_DTYPE_BOOL},    {'i', '1', WB_DTYPE_I8},  {'i', '2', WB_DTYPE_I16},
    {'i', '4', WB_DTYPE_I32},     {'i', '8', WB_DTYPE_I64}, {'u', '1', WB_DTYPE_U8},
    {'u', '2', WB_DTYPE_U16},     {'u', '4', WB_DTYPE_U32}, {'u', '8', WB_DTYPE_U64},
    {'f', '1', WB_DTYPE_F8_E5M2}, {'f', '2', WB_DTYPE_F16}, {'f', '4', WB_DTYPE_F32},
    {'f', '8', WB_DTYPE_F64},     {'c', '8', WB_DTYPE_C64}, {'V', '2', WB_DTYPE_BF16},
};

static const char *meaning_of(char kind)
{
    switch (kind) {
    case 'S':
    case 'a':
    case 'U': return WB__MSG_NPY_TEXT;
    case 'M':
    case 'm': return WB__MSG_NPY_DATES;
    case 'V': return WB__MSG_NPY_VOID;
    default: return WB__MSG_NPY_ELEMENT_TYPE;
    }
}

wb_status wb__npy_descr(wb__npy *npy, wb__str descr, uint64_t at)
{
    char order = descr.len > 0 ? descr.ptr[0] : ' ';
    bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
    char kind = descr.len > 1 && has_order ? descr.ptr[1] : order;
    if (kind == 'O')
        return wb__npy_fail(npy, WB__FINDING_NPY_OBJECTS, at, WB__MSG_NPY_OBJECTS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (descr.len != 3 || !has_order || rows[i].kind != kind || rows[i].bytes != descr.ptr[2])
            continue;
        if ((order == '|' || order == '=') && rows[i].bytes != '1' && rows[i].kind != 'V')
            return wb__npy_fail(npy, WB__FINDING_NPY_HEADER, at, WB__MSG_NPY_BYTE_ORDER);
        npy->dtype = wb__dtype_get(rows[i].dtype);
        npy->big_endian = order == '>' && rows[i].bytes != '1';
        return WB_OK;
    }
    return wb__npy_fail(npy, WB__FINDING_NPY_DTYPE, at, meaning_of(kind));
}

/* F8_E5M2 is excluded: NumPy does not support `f1` and could not read the array. */
bool wb__npy_descr_of(int32_t dtype, char descr[4])
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && dtype != WB_DTYPE_F8_E5M2; i++) {
        if (rows[i].dtype != dtype)
            continue;
        descr[0] = rows[i].bytes == '1' ? '|' : '<';
        descr[1] = rows[i].kind;
        descr[2] = rows[i].bytes;
        descr[3] = '\0';
        return true;
    }
    return false;
}

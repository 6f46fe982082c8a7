/* npy.c: the header of a .npy file, version 1.0:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 *
 *     offset  bytes
 *     0       6      \x93NUMPY
 *     6       2      version: 1, 0
 *     8       2      length n of the header, little-endian
 *     10      n      a Python dict {'descr': ..., 'fortran_order': False, 'shape': (...), }, padded
 *                    with spaces and a newline so that it ends at a multiple of 64 bytes
 *     10 + n         the elements, row-major
 */
#include "export.h"

#define ALIGNMENT 64
#define LONGEST UINT16_MAX

typedef struct descr_row {
    int32_t dtype;
    bool is_numpys;
    const char *descr;
} descr_row;

static const descr_row rows[] = {
    {WB_DTYPE_F64, true, "<f8"},          {WB_DTYPE_F32, true, "<f4"},
    {WB_DTYPE_F16, true, "<f2"},          {WB_DTYPE_C64, true, "<c8"},
    {WB_DTYPE_I64, true, "<i8"},          {WB_DTYPE_I32, true, "<i4"},
    {WB_DTYPE_I16, true, "<i2"},          {WB_DTYPE_I8, true, "|i1"},
    {WB_DTYPE_U64, true, "<u8"},          {WB_DTYPE_U32, true, "<u4"},
    {WB_DTYPE_U16, true, "<u2"},          {WB_DTYPE_U8, true, "|u1"},
    {WB_DTYPE_BOOL, true, "|b1"},         {WB_DTYPE_BF16, false, "|V2"},
    {WB_DTYPE_F8_E4M3, false, "|V1"},     {WB_DTYPE_F8_E5M2, false, "|V1"},
    {WB_DTYPE_F8_E8M0, false, "|V1"},     {WB_DTYPE_F8_E4M3FNUZ, false, "|V1"},
    {WB_DTYPE_F8_E5M2FNUZ, false, "|V1"},
};

static const descr_row *find(int32_t dtype)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].dtype == dtype)
            return &rows[i];
    }
    return NULL;
}

const char *npy_descr(int32_t dtype)
{
    const descr_row *row = find(dtype);
    return row == NULL ? NULL : row->descr;
}

bool npy_has(int32_t dtype)
{
    const descr_row *row = find(dtype);
    return row != NULL && row->is_numpys;
}

bool npy_header(text *t, const export_content *content)
{
    text dict = {0};
    text_addf(&dict, "{'descr': '%s', 'fortran_order': False, 'shape': (",
              npy_descr(content->dtype));
    for (uint32_t i = 0; i < content->rank; i++)
        text_addf(&dict, "%s%llu", i == 0 ? "" : ", ", (unsigned long long)content->shape[i]);
    text_adds(&dict, content->rank == 1 ? ",), }" : "), }");
    while ((10 + dict.len + 1) % ALIGNMENT != 0)
        text_adds(&dict, " ");
    text_adds(&dict, "\n");
    bool fits = dict.len <= LONGEST;
    char length[2] = {(char)(dict.len & 0xFF), (char)(dict.len >> 8 & 0xFF)};
    text_add(t, "\x93NUMPY\x01\x00", 8);
    text_add(t, length, sizeof length);
    text_add(t, dict.ptr, dict.len);
    text_free(&dict);
    return fits;
}

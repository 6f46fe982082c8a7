/* values.c: formats elements as text. Integers are decimal. Floats have the fewest digits that read
 * back as the same value. NaN and the infinities are written as nan, inf and -inf, and complex
 * numbers as 1+2j. Python's float() and complex() and numpy.loadtxt can read the output.
 */
#include "values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"

/* ---- floats ---- */

/* "%.{d}g" formats the nearest decimal with d digits, so increasing d finds the fewest digits that
 * are read back as the same float. Normal floats preserve every decimal of FLT_DIG digits, and %g
 * drops trailing zeros, so fewer than FLT_DIG digits need not be tried. Subnormal floats have less
 * precision than normal floats, so their search starts at 1 digit.
 */
void text_add_f32(text *t, float value)
{
    char digits[48];
    bool is_normal = value == 0 || fabsf(value) >= FLT_MIN;
    if (isnan(value) || isinf(value)) {
        text_adds(t, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int precision = is_normal ? FLT_DIG : 1; precision <= 9; precision++) {
        (void)snprintf(digits, sizeof digits, "%.*g", precision, (double)value);
        if (strtof(digits, NULL) == value)
            break;
    }
    text_adds(t, digits);
}

void text_add_f64(text *t, double value)
{
    char digits[48];
    bool is_normal = value == 0 || fabs(value) >= DBL_MIN;
    if (isnan(value) || isinf(value)) {
        text_adds(t, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int precision = is_normal ? DBL_DIG : 1; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    text_adds(t, digits);
}

/* ---- one function per dtype ---- */

static uint64_t load(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

static float load_f32(const uint8_t *at)
{
    uint32_t bits = (uint32_t)load(at, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void value_f32(text *t, const uint8_t *at, unsigned bytes)
{
    (void)bytes;
    text_add_f32(t, load_f32(at));
}

static void value_f64(text *t, const uint8_t *at, unsigned bytes)
{
    uint64_t bits = load(at, bytes);
    double value;
    memcpy(&value, &bits, sizeof value);
    text_add_f64(t, value);
}

static void value_c64(text *t, const uint8_t *at, unsigned bytes)
{
    (void)bytes;
    text_add_f32(t, load_f32(at));
    size_t sign_at = t->len;
    text_add_f32(t, load_f32(at + 4));
    if (t->ptr[sign_at] != '-') {
        text imaginary = {0};
        text_adds(&imaginary, t->ptr + sign_at);
        t->len = sign_at;
        text_addf(t, "+%s", imaginary.ptr);
        text_free(&imaginary);
    }
    text_adds(t, "j");
}

static void value_unsigned(text *t, const uint8_t *at, unsigned bytes)
{
    text_addf(t, "%llu", (unsigned long long)load(at, bytes));
}

static void value_signed(text *t, const uint8_t *at, unsigned bytes)
{
    uint64_t sign = (uint64_t)1 << (bytes * 8 - 1);
    uint64_t bits = (load(at, bytes) ^ sign) - sign; /* sign extension */
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    text_addf(t, "%lld", (long long)value);
}

typedef struct value_row {
    int32_t dtype;
    unsigned bytes;
    void (*add)(text *t, const uint8_t *at, unsigned bytes);
} value_row;

static const value_row rows[] = {
    {WB_DTYPE_F32, 4, value_f32},      {WB_DTYPE_F64, 8, value_f64},
    {WB_DTYPE_C64, 8, value_c64},      {WB_DTYPE_I8, 1, value_signed},
    {WB_DTYPE_I16, 2, value_signed},   {WB_DTYPE_I32, 4, value_signed},
    {WB_DTYPE_I64, 8, value_signed},   {WB_DTYPE_U8, 1, value_unsigned},
    {WB_DTYPE_U16, 2, value_unsigned}, {WB_DTYPE_U32, 4, value_unsigned},
    {WB_DTYPE_U64, 8, value_unsigned}, {WB_DTYPE_BOOL, 1, value_unsigned},
};

static const value_row *find(int32_t dtype)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].dtype == dtype)
            return &rows[i];
    }
    return NULL;
}

int32_t values_dtype(int32_t dtype)
{
    return find(dtype) == NULL ? (int32_t)WB_DTYPE_F32 : dtype;
}

/* ---- lines ---- */

void values_header(text *t, const export_content *content)
{
    text_adds(t, "# \"");
    text_add_shown(t, content->tensor->name, content->tensor->name_len);
    text_addf(t, "\" %s ", wb_dtype_name(content->dtype));
    text_add_shape(t, content->shape, content->rank);
    text_adds(t, "\n");
}

void values_add(text *t, const export_content *content, uint64_t first, const uint8_t *elements,
                size_t n)
{
    const value_row *row = find(values_dtype(content->dtype));
    uint64_t row_length = content->rank < 2 ? 1 : content->shape[content->rank - 1];
    for (size_t i = 0; i < n; i++) {
        row->add(t, elements + i * row->bytes, row->bytes);
        text_adds(t, (first + i + 1) % row_length == 0 ? "\n" : " ");
    }
}

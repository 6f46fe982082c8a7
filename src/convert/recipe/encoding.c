#include "convert/recipe/encoding.h"

#include <stdio.h>

#include "dtype/dtype.h"
#include "weighbridge/dtypes.h"

void wb__encoding_spec_name(const wb__encoding_spec *spec, char *out, size_t capacity)
{
    const wb__dtype *dtype = wb__dtype_get(spec->dtype);
    if (spec->scheme == WB__SCHEME_PLAIN)
        (void)snprintf(out, capacity, "%s", dtype == NULL ? "?" : dtype->name);
    else if (spec->scheme == WB__SCHEME_AFFINE)
        (void)snprintf(out, capacity, "affine%u:%u", (unsigned)spec->bits, (unsigned)spec->group);
    else
        (void)snprintf(out, capacity, "%s", wb__scheme_name(spec->scheme));
}

bool wb__encoding_spec_mlx(const wb__encoding_spec *spec, wb__mlx_type *type)
{
    static const struct {
        wb__scheme scheme;
        wb__mlx_mode mode;
    } modes[] = {
        {WB__SCHEME_AFFINE, WB__MLX_AFFINE}, {WB__SCHEME_INT4, WB__MLX_AFFINE},
        {WB__SCHEME_INT8, WB__MLX_AFFINE},   {WB__SCHEME_MXFP4, WB__MLX_MXFP4},
        {WB__SCHEME_MXFP8, WB__MLX_MXFP8},   {WB__SCHEME_NVFP4, WB__MLX_NVFP4},
    };
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (modes[i].scheme == spec->scheme) {
            *type = (wb__mlx_type){modes[i].mode, spec->bits, spec->group};
            return true;
        }
    }
    return false;
}

bool wb__encoding_spec_measure(const wb__encoding_spec *spec, uint64_t rows, uint64_t columns,
                               uint64_t bytes[WB__PARTS])
{
    wb__mlx_type type;
    uint64_t bits = 0;
    memset(bytes, 0, WB__PARTS * sizeof *bytes);
    if (spec->scheme == WB__SCHEME_PLAIN) {
        const wb__dtype *dtype = wb__dtype_get(spec->dtype);
        if (columns % dtype->block_size != 0 ||
            !wb__mul(columns / dtype->block_size, dtype->block_bits, &bits) || bits % 8 != 0)
            return false;
        return wb__mul(bits / 8, rows, &bytes[WB__PART_VALUES]);
    }
    if (!wb__encoding_spec_mlx(spec, &type) || columns % spec->group != 0)
        return false;
    uint64_t groups;
    uint64_t scale = wb__mlx_byte_scales(&type) ? 1 : spec->dtype == WB_DTYPE_F32 ? 4 : 2;
    if (!wb__mul(columns / spec->group, rows, &groups) ||
        !wb__mul(groups, wb__mlx_group_bytes(&type), &bytes[WB__PART_VALUES]))
        return false;
    bytes[WB__PART_SCALES] = groups * scale;
    bytes[WB__PART_BIASES] = type.mode == WB__MLX_AFFINE ? groups * scale : 0;
    return true;
}

/* ---- names ---- */

static bool starts_with_nocase(wb__str text, wb__str start)
{
    return text.len >= start.len && wb__str_equal_nocase((wb__str){text.ptr, start.len}, start);
}

/* Removes a number from the start of the text. The number ends at the character `stop`, which is
 * also removed, or at the end of the text. Returns 0 if the text does not start with a valid
 * number. */
static uint32_t take_number(wb__str *text, char stop)
{
    uint32_t n = 0;
    size_t i = 0;
    for (; i < text->len && text->ptr[i] >= '0' && text->ptr[i] <= '9' && n < 10000; i++)
        n = n * 10 + (uint32_t)(text->ptr[i] - '0');
    if (i < text->len && text->ptr[i] != stop)
        return 0;
    i += i < text->len;
    *text = (wb__str){text->ptr + i, text->len - i};
    return n;
}

static bool parse_affine(wb__str name, wb__encoding_spec *spec)
{
    wb__str rest = {name.ptr + 6, name.len - 6};
    bool has_group = memchr(rest.ptr, ':', rest.len) != NULL;
    uint32_t bits = take_number(&rest, ':');
    uint32_t group = has_group ? take_number(&rest, '\0') : 64;
    *spec = (wb__encoding_spec){WB__SCHEME_AFFINE, WB_DTYPE_F16, bits, group};
    return rest.len == 0 && ((bits >= 1 && bits <= 6) || bits == 8) &&
           (group == 32 || group == 64 || group == 128);
}

static bool parse_packed(wb__str name, wb__encoding_spec *spec)
{
    static const struct {
        wb__str name;
        wb__encoding_spec spec;
    } list[] = {
        {{"mxfp4", 5}, {WB__SCHEME_MXFP4, WB_DTYPE_F16, 4, 32}},
        {{"mxfp8", 5}, {WB__SCHEME_MXFP8, WB_DTYPE_F16, 8, 32}},
        {{"nvfp4", 5}, {WB__SCHEME_NVFP4, WB_DTYPE_F16, 4, 16}},
        {{"int4", 4}, {WB__SCHEME_INT4, WB_DTYPE_F16, 4, 64}},
        {{"int8", 4}, {WB__SCHEME_INT8, WB_DTYPE_F16, 8, 64}},
    };
    if (starts_with_nocase(name, WB__STR("affine")))
        return parse_affine(name, spec);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        if (wb__str_equal_nocase(name, list[i].name)) {
            *spec = list[i].spec;
            return true;
        }
    }
    return false;
}

bool wb__encoding_spec_parse(wb__str name, wb__encoding_spec *spec)
{
    if (parse_packed(name, spec))
        return true;
    const wb__dtype *dtype = wb__dtype_named_nocase(name);
    *spec = (wb__encoding_spec){.dtype = dtype == NULL ? -1 : dtype->id};
    return dtype != NULL && (wb__dtype_is_float(dtype) || !wb__dtype_is_plain(dtype));
}

static bool parse_mixed(wb__str name, wb__quant *quant)
{
    wb__str rest = {name.ptr + 6, name.len - 6};
    uint32_t low = take_number(&rest, '_');
    uint32_t high = take_number(&rest, '\0');
    *quant = (wb__quant){.kind = WB__QUANT_MIXED,
                         .spec = {WB__SCHEME_AFFINE, WB_DTYPE_F16, low, 64},
                         .high_bits = high};
    return rest.len == 0 && (low == 2 || low == 3 || low == 4) &&
           (high == 6 || (low == 3 && high == 4));
}

bool wb__quant_parse(wb__str name, wb__quant *quant)
{
    *quant = (wb__quant){.kind = WB__QUANT_FILE_TYPE, .file_type = wb__file_type_named(name)};
    if (quant->file_type != NULL)
        return true;
    if (starts_with_nocase(name, WB__STR("mixed_")))
        return parse_mixed(name, quant);
    *quant = (wb__quant){.kind = WB__QUANT_FORM};
    return wb__encoding_spec_parse(name, &quant->spec);
}

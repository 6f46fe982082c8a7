/* quant_mlx.h: helpers for the tests of MLX quantization modes. */
#ifndef WB_TESTS_QUANT_MLX_H
#define WB_TESTS_QUANT_MLX_H

#include "unit.h"

#include "cpu/cpu.h"
#include "quant/mlx/number.h"
#include "weighbridge.h"

/* ---- instruction set levels ---- */

#define LEVELS (WB__ARM64 ? 2 : 3)
#define NO_LEVEL UINT32_MAX

/* Returns the CPU features of instruction set i, or NO_LEVEL if this machine lacks one of them.
 * Instruction set 0 is the scalar code. */
static inline uint32_t level(size_t i)
{
    static const uint32_t levels[] = {0, WB__ARM64 ? WB__CPU_NEON : WB__CPU_AVX2,
                                      WB__CPU_AVX2 | WB__CPU_AVX512};
    return (levels[i] & ~wb__cpu_features()) == 0 ? levels[i] : NO_LEVEL;
}

static inline const char *level_name(uint32_t features)
{
    return features & WB__CPU_NEON     ? "neon"
           : features & WB__CPU_AVX512 ? "avx512"
           : features & WB__CPU_AVX2   ? "avx2"
                                       : "scalar";
}

/* ---- files with expected results ---- */

typedef struct part {
    const uint8_t *data; /* NULL: the tensor does not exist */
    size_t bytes;
    int32_t dtype;
    const uint64_t *shape;
} part;

/* Returns a stored tensor. If the name is that of a packed tensor, returns its first part. */
static inline part find(const wb_model *model, const char *name)
{
    uint64_t index;
    wb_tensor tensor = {.size = sizeof tensor};
    wb_encoding encoding = {.size = sizeof encoding};
    wb_part packed = {.size = sizeof packed};
    const void *data = NULL;
    if (wb_tensor_find(model, name, SIZE_MAX, &index) != WB_OK)
        return (part){0};
    if (wb_tensor_encoding(model, index, &encoding, NULL) == WB_OK && encoding.parts > 1 &&
        wb_tensor_part(model, index, 0, &packed, NULL) == WB_OK)
        index = packed.index;
    if (wb_tensor_at(model, index, &tensor, NULL) != WB_OK ||
        wb_tensor_data(model, index, &data, NULL) != WB_OK)
        fail_msg("%s cannot be had", name);
    return (part){data, (size_t)tensor.bytes, (int32_t)tensor.dtype, tensor.shape};
}

static inline part need(const wb_model *model, const char *name)
{
    part found = find(model, name);
    if (found.data == NULL || found.bytes == 0)
        fail_msg("there is no %s", name);
    return found;
}

static inline bool meta(const wb_model *model, const char *key, char *value, size_t size)
{
    const char *text;
    size_t len;
    if (wb_meta_get_string(model, key, SIZE_MAX, &text, &len, NULL) != WB_OK || len >= size)
        return false;
    memcpy(value, text, len + 1);
    return true;
}

static inline bool read_type(const wb_model *model, wb__mlx_type *type)
{
    static const struct {
        const char *name;
        wb__mlx_type type;
    } modes[] = {{"affine", {WB__MLX_AFFINE, 0, 0}},
                 {"mxfp4", {WB__MLX_MXFP4, 4, 32}},
                 {"mxfp8", {WB__MLX_MXFP8, 8, 32}},
                 {"nvfp4", {WB__MLX_NVFP4, 4, 16}}};
    char text[16];
    if (!meta(model, "mode", text, sizeof text))
        return false;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(text, modes[i].name) == 0)
            *type = modes[i].type;
    }
    if (meta(model, "group_size", text, sizeof text))
        type->group = (uint32_t)atoi(text);
    if (meta(model, "bits", text, sizeof text))
        type->bits = (uint32_t)atoi(text);
    return true;
}

static inline size_t count_groups(const part *weight, const wb__mlx_type *type)
{
    return weight->bytes / wb__mlx_group_bytes(type);
}

/* Returns true if all bits are equal. All NaNs count as equal. */
static inline bool same_values(int32_t dtype, const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t size = wb__float_size(dtype);
    for (size_t i = 0; i < n; i++, a += size, b += size) {
        if (memcmp(a, b, size) != 0 && !(wb__float_is_nan(wb__float_load(dtype, a)) &&
                                         wb__float_is_nan(wb__float_load(dtype, b))))
            return false;
    }
    return true;
}

#endif

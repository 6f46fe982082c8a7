#include "quant/mlx/mlx.h"
#include "quant/quant_messages.h"

static const struct mode {
    wb__mlx_mode mode;
    const char *name;
    uint32_t bits, group; /* 0 if the mode allows several values */
} modes[] = {
    {WB__MLX_AFFINE, "affine", 0, 0},
    {WB__MLX_MXFP4, "mxfp4", 4, 32},
    {WB__MLX_MXFP8, "mxfp8", 8, 32},
    {WB__MLX_NVFP4, "nvfp4", 4, 16},
};

static bool affine_bits(uint32_t bits)
{
    return (bits >= 1 && bits <= 6) || bits == 8;
}

static bool affine_group(uint32_t group)
{
    return group == 32 || group == 64 || group == 128;
}

wb_status wb__mlx_type_check(wb__context *context, wb__mlx_type *type)
{
    const wb__str nobody = {"", 0};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        const struct mode *mode = &modes[i];
        if (mode->mode != type->mode)
            continue;
        if (type->bits == 0)
            type->bits = mode->bits;
        if (type->group == 0)
            type->group = mode->group;
        bool bits_fit = mode->bits == 0 ? affine_bits(type->bits) : type->bits == mode->bits;
        bool group_fits = mode->group == 0 ? affine_group(type->group) : type->group == mode->group;
        if (!bits_fit)
            return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_MLX_TYPE, WB_NO_OFFSET, nobody,
                            WB__MSG_MLX_BITS, mode->name, (unsigned long)type->bits);
        if (!group_fits)
            return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_MLX_TYPE, WB_NO_OFFSET, nobody,
                            WB__MSG_MLX_GROUP, mode->name, (unsigned long)type->group);
        return WB_OK;
    }
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_MLX_TYPE, WB_NO_OFFSET, nobody,
                    WB__MSG_MLX_MODE, (int)type->mode);
}

wb_status wb__mlx_row_check(wb__context *context, const wb__mlx_type *type, uint64_t cols)
{
    if (cols % type->group == 0)
        return WB_OK;
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_MLX_ROW, WB_NO_OFFSET, (wb__str){"", 0},
                    WB__MSG_MLX_ROW, (unsigned long long)cols, (unsigned long)type->group);
}

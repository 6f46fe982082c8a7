/*
 * The table of all kernel sets: first the scalar ones, then the vectorized ones, from the narrowest
 * to the widest vectors.
 */
#include "quant/mlx/mlx_kernels.h"

#include "cpu/cpu.h"

#define WB__MLX_KERNEL_SET(name) extern const wb__mlx_kernels wb__mlx_kernels_##name;
#include "quant/mlx/mlx_kernel_sets.def"
#undef WB__MLX_KERNEL_SET

static const wb__mlx_kernels *const sets[] = {
#define WB__MLX_KERNEL_SET(name) &wb__mlx_kernels_##name,
#include "quant/mlx/mlx_kernel_sets.def"
#undef WB__MLX_KERNEL_SET
};

#define TAKE(entry)                                                                                \
    do {                                                                                           \
        if (set->entry != NULL)                                                                    \
            kernels->entry = set->entry;                                                           \
    } while (0)

void wb__mlx_kernels_choose(uint32_t features, wb__mlx_kernels *kernels)
{
    memset(kernels, 0, sizeof *kernels);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const wb__mlx_kernels *set = sets[i];
        if ((set->features & ~features) != 0 || (set->features != 0 && set->contracted()))
            continue;
        for (size_t format = 0; format < WB__MLX_FORMATS; format++) {
            for (size_t bits = 0; bits < WB__MLX_BITS; bits++)
                TAKE(affine_decode[bits][format]);
            TAKE(e2m1_decode[format]);
            TAKE(e4m3_decode[format]);
            TAKE(e4m3_fit[format]);
            TAKE(e2m1_divide[format]);
            TAKE(widen[format]);
            TAKE(narrow[format]);
        }
        for (size_t bits = 0; bits < WB__MLX_BITS; bits++)
            TAKE(affine_encode[bits]);
        TAKE(range);
        TAKE(peak);
        TAKE(affine_fit);
        TAKE(e2m1_encode);
        TAKE(e4m3_encode);
    }
}

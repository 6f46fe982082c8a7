/* Block FP8, as published with DeepSeek-V3: value = weight * scale of its block, in binary32. */
#include "quant/mlx/number.h"

#include "quant/hub/hub.h"

#define BLOCKS 64 /* number of blocks of a row that are decoded at a time */

typedef struct decoder {
    const wb__fp8_block *tensor;
    wb__mlx_kernels fast, scalar;
    float values[256]; /* value of each code, for types other than E4M3 */
} decoder;

static void decode_other(const decoder *d, const uint8_t *codes, const float *scales, size_t block,
                         size_t n, float *values)
{
    for (size_t i = 0; i < n; i++)
        values[i] = wb__float_canonical(d->values[codes[i]] * scales[i / block]);
}

/* Decodes n values. They start at a block boundary; only the last block may be incomplete. */
static void decode_blocks(const decoder *d, const uint8_t *codes, const float *scales, size_t n,
                          float *values)
{
    size_t block = d->tensor->block_columns, whole = n / block, rest = n % block;
    if (d->tensor->weight_dtype != WB_DTYPE_F8_E4M3) {
        decode_other(d, codes, scales, block, n, values);
        return;
    }
    bool finite = block % 32 == 0;
    for (size_t i = 0; i < whole; i++)
        finite &= wb__float_is_finite(scales[i]);
    const wb__mlx_kernels *kernels = finite ? &d->fast : &d->scalar;
    kernels->e4m3_decode[WB__MLX_F32](codes, scales, 1.0f, block, whole, (uint8_t *)values);
    if (rest != 0)
        d->scalar.e4m3_decode[WB__MLX_F32](codes + whole * block, scales + whole, 1.0f, rest, 1,
                                           (uint8_t *)(values + whole * block));
}

void wb__fp8_block_decode(uint32_t features, const wb__fp8_block *tensor, uint64_t first,
                          uint64_t rows, float *values)
{
    const wb__dtype *floats = wb__dtype_get(WB_DTYPE_F32);
    const wb__dtype *scale_dtype = wb__dtype_get(tensor->scales_dtype);
    uint64_t blocks = (tensor->in + tensor->block_columns - 1) / tensor->block_columns;
    decoder d = {.tensor = tensor};
    wb__mlx_kernels_choose(features, &d.fast);
    wb__mlx_kernels_choose(0, &d.scalar);
    uint8_t codes[256];
    for (unsigned code = 0; code < 256; code++)
        codes[code] = (uint8_t)code;
    wb__dtype_convert(wb__dtype_get(tensor->weight_dtype), codes, 0, floats, d.values, 256);

    const uint8_t *weight = (const uint8_t *)tensor->weight + first * tensor->in;
    for (uint64_t row = first; row < first + rows; row++) {
        for (uint64_t block = 0; block < blocks; block += BLOCKS) {
            uint64_t at = block * tensor->block_columns, left = tensor->in - at;
            uint64_t most = (uint64_t)BLOCKS * tensor->block_columns;
            size_t n = (size_t)(left < most ? left : most);
            size_t count = (size_t)(blocks - block < BLOCKS ? blocks - block : BLOCKS);
            float scales[BLOCKS];
            wb__dtype_convert(scale_dtype, tensor->scales,
                              row / tensor->block_rows * blocks + block, floats, scales, count);
            decode_blocks(&d, weight, scales, n, values);
            weight += n;
            values += n;
        }
    }
}

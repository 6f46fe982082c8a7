/*
 * Prints two digests for every codec: of random blocks that it decoded, and of values that it
 * encoded. The digests must be the same for every compiler, optimization level and instruction set;
 * tests/check/quant_bits.sh compares them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "quant/mlx/mlx_kernels.h"
#include "quant/quant.h"

#define WB__KERNEL_SET(name) extern const wb__kernel_set wb__kernels_##name;
#include "quant/kernel_sets.def"
#undef WB__KERNEL_SET
#define WB__MLX_KERNEL_SET(name) extern const wb__mlx_kernels wb__mlx_kernels_##name;
#include "quant/mlx/mlx_kernel_sets.def"
#undef WB__MLX_KERNEL_SET

#define VALUES 4096

static uint64_t state;

static uint32_t random_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static uint64_t digest(uint64_t hash, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static float values[VALUES], importance[VALUES];
static uint8_t blocks[4 * VALUES];

/* Computes the digest of `values`. All NaNs count as equal. */
static uint64_t values_digest(void)
{
    for (size_t i = 0; i < VALUES; i++) {
        if (isnan(values[i]))
            values[i] = 12345;
    }
    return digest(0, values, sizeof values);
}

static uint64_t decoded(const wb__codec *codec)
{
    uint64_t bytes = wb__codec_bytes(codec, VALUES);
    for (uint64_t i = 0; i < bytes; i++)
        blocks[i] = (uint8_t)random_bits();
    codec->decode(blocks, values, VALUES / codec->dtype->block_size);
    return values_digest();
}

/* Makes values of several magnitudes, including zeros of both signs and subnormals. */
static void make_values(void)
{
    for (size_t i = 0; i < VALUES; i++) {
        float v = (float)(int32_t)random_bits() * (float)(int32_t)random_bits() * 0x1p-62f;
        switch (i / 256 % 6) {
        case 0: v = random_bits() % 4 ? 0.0f : v; break;
        case 1: v = v * 1e-39f; break;
        case 2: v = v < 0 ? -0.0f : v; break;
        case 3: v = (float)(int32_t)(random_bits() % 17) / 8 - 1; break;
        default: break;
        }
        values[i] = v;
        importance[i] = (float)(random_bits() % 1000 + 1) * 1e-3f;
    }
}

static uint64_t encoded(const wb__codec *codec)
{
    uint64_t hash = 0;
    uint64_t bytes = wb__codec_bytes(codec, VALUES);
    make_values();
    if (codec->importance != WB_IMPORTANCE_REQUIRED) {
        codec->encode(values, NULL, blocks, VALUES);
        hash = digest(hash, blocks, bytes);
    }
    codec->encode(values, importance, blocks, VALUES);
    return digest(hash, blocks, bytes);
}

/* Prints the digests of a dtype without blocks: F16 or BF16. */
static void plain(const wb__codec *codec)
{
    const wb__dtype *floats = wb__dtype_get(WB_DTYPE_F32);
    size_t bytes = VALUES * codec->dtype->block_bits / 8;
    state = (uint64_t)codec->dtype->id;
    make_values();
    if (codec->encode != NULL)
        codec->encode(values, NULL, blocks, VALUES);
    else
        wb__dtype_convert(floats, values, 0, codec->dtype, blocks, VALUES);
    uint64_t in = digest(0, blocks, bytes);
    for (size_t i = 0; i < bytes; i++)
        blocks[i] = (uint8_t)random_bits();
    if (codec->decode != NULL)
        codec->decode(blocks, values, VALUES);
    else
        wb__dtype_convert(codec->dtype, blocks, 0, floats, values, VALUES);
    printf("%s %016llx %016llx\n", codec->dtype->name, (unsigned long long)values_digest(),
           (unsigned long long)in);
}

/* ---- MLX's modes ---- */

static const wb__mlx_type types[] = {
    {WB__MLX_AFFINE, 1, 32}, {WB__MLX_AFFINE, 2, 64},  {WB__MLX_AFFINE, 3, 128},
    {WB__MLX_AFFINE, 4, 32}, {WB__MLX_AFFINE, 4, 64},  {WB__MLX_AFFINE, 5, 64},
    {WB__MLX_AFFINE, 6, 64}, {WB__MLX_AFFINE, 8, 128}, {WB__MLX_MXFP4, 4, 32},
    {WB__MLX_MXFP8, 8, 32},  {WB__MLX_NVFP4, 4, 16},
};
static const int32_t formats[] = {WB_DTYPE_F32, WB_DTYPE_F16, WB_DTYPE_BF16};

static void modes(const wb__mlx_type *type, int32_t dtype)
{
    static uint8_t input[4 * VALUES], weight[VALUES], scales[VALUES], biases[VALUES];
    const wb__dtype *format = wb__dtype_get(dtype), *floats = wb__dtype_get(WB_DTYPE_F32);
    size_t groups = VALUES / type->group, size = format->block_bits / 8;
    wb__mlx_encoding encoding = {.e8m0 = WB__MLX_E8M0_UP};
    wb__mlx_encoded parts = {weight, scales, biases};
    bool affine = type->mode == WB__MLX_AFFINE;
    state = type->bits * 1000 + (uint64_t)dtype;
    make_values();
    wb__dtype_convert(floats, values, 0, format, input, VALUES);
    wb__mlx_encode(wb__cpu_features(), type, &encoding, dtype, input, 0, groups, &parts);
    uint64_t in = digest(0, weight, VALUES * type->bits / 8);
    in = digest(in, scales, groups * (affine ? size : 1));
    in = digest(in, biases, affine ? groups * size : 0);
    for (size_t i = 0; i < VALUES; i++)
        weight[i] = (uint8_t)random_bits();
    for (size_t i = 0; i < groups && !affine; i++)
        scales[i] = (uint8_t)random_bits();
    wb__mlx_parts from = {.weight = weight,
                          .scales = scales,
                          .biases = biases,
                          .scales_dtype = dtype,
                          .biases_dtype = dtype};
    wb__mlx_decode(wb__cpu_features(), type, &from, true, 0, groups, dtype, input);
    wb__dtype_convert(format, input, 0, floats, values, VALUES);
    printf("mode%d:%u:%u:%s %016llx %016llx\n", (int)type->mode, (unsigned)type->bits,
           (unsigned)type->group, format->name, (unsigned long long)values_digest(),
           (unsigned long long)in);
}

/* Returns false if this processor lacks one of the instruction sets `features`. */
static bool runs(uint32_t features)
{
    return (features & ~wb__cpu_features()) == 0;
}

/* Reports kernels in which the compiler contracted a multiplication and an addition to one rounding
 * (FMA), because the library disables such kernels silently. */
static void contracted_sets(void)
{
#define WB__KERNEL_SET(name)                                                                       \
    if (wb__kernels_##name.count != 0 && runs(wb__kernels_##name.features) &&                      \
        wb__kernels_##name.contracted())                                                           \
        printf("contracted: " #name "\n");
#include "quant/kernel_sets.def"
#undef WB__KERNEL_SET
#define WB__MLX_KERNEL_SET(name)                                                                   \
    if (runs(wb__mlx_kernels_##name.features) && wb__mlx_kernels_##name.contracted())              \
        printf("contracted: mlx " #name "\n");
#include "quant/mlx/mlx_kernel_sets.def"
#undef WB__MLX_KERNEL_SET
}

int main(void)
{
    for (int32_t dtype = 0; dtype < 96; dtype++) {
        wb__codec codec;
        (void)wb__codec_get(dtype, wb__cpu_features(), &codec);
        if (dtype == WB_DTYPE_F16 || dtype == WB_DTYPE_BF16)
            plain(&codec);
        if (codec.dtype == NULL || wb__dtype_is_plain(codec.dtype))
            continue;
        state = (uint64_t)dtype;
        unsigned long long out = decoded(&codec), in = encoded(&codec);
        printf("%s %016llx %016llx\n", codec.dtype->name, out, in);
    }
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (size_t f = 0; f < 3; f++)
            modes(&types[t], formats[f]);
    }
    contracted_sets();
    return 0;
}

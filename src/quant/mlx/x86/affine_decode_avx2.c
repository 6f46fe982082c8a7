/*
 * Affine decoding with AVX2. For 16-bit results and codes of up to 4 bits, the values of a group
 * form a table, and byte shuffles look them up. All other elements are computed individually.
 */
#include "quant/mlx/x86/avx2.h"

#if WB__X86

AVX2_INLINE __m256 dequantized(__m256i codes, __m256 scale, __m256 bias, wb__mlx_format format)
{
    __m256 product = wb__rounded8(_mm256_mul_ps(_mm256_cvtepi32_ps(codes), scale), format);
    return _mm256_add_ps(product, bias);
}

AVX2_INLINE void decode_each(const uint8_t *packed, int bits, wb__mlx_format format,
                             const float *scales, const float *biases, size_t group, size_t groups,
                             uint8_t *dst)
{
    const wb__spread8 spread[4] = {wb__spread_8(bits, 0), wb__spread_8(bits, 1),
                                   wb__spread_8(bits, 2), wb__spread_8(bits, 3)};
    const __m256i first = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    size_t size = format == WB__MLX_F32 ? 32 : 16;
    for (size_t g = 0; g < groups; g++) {
        __m256 scale = _mm256_set1_ps(scales[g]), bias = _mm256_set1_ps(biases[g]);
        __m256 table = dequantized(first, scale, bias, format);
        for (size_t i = 0; i < group; i += 32, packed += 4 * bits) {
            for (int k = 0; k < 4; k++, dst += size) {
                __m256i codes = wb__codes_8(packed, bits, &spread[k]);
                wb__store8(dst,
                           bits <= 3 ? _mm256_permutevar8x32_ps(table, codes)
                                     : dequantized(codes, scale, bias, format),
                           format);
            }
        }
    }
}

AVX2_INLINE void decode_table(const uint8_t *packed, int bits, wb__mlx_format format,
                              const float *scales, const float *biases, size_t group, size_t groups,
                              uint8_t *dst)
{
    const wb__spread8 spread[4] = {wb__spread_8(bits, 0), wb__spread_8(bits, 1),
                                   wb__spread_8(bits, 2), wb__spread_8(bits, 3)};
    const __m256i first = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    const __m256i second = _mm256_add_epi32(first, _mm256_set1_epi32(8));
    for (size_t g = 0; g < groups; g++) {
        __m256 scale = _mm256_set1_ps(scales[g]), bias = _mm256_set1_ps(biases[g]);
        wb__table16 table = wb__table_of(dequantized(first, scale, bias, format),
                                         dequantized(second, scale, bias, format), format);
        for (size_t i = 0; i < group; i += 32, packed += 4 * bits, dst += 64) {
            __m256i codes = bits == 4 ? wb__nibbles(packed)
                                      : wb__bytes_of(wb__codes_8(packed, bits, &spread[0]),
                                                     wb__codes_8(packed, bits, &spread[1]),
                                                     wb__codes_8(packed, bits, &spread[2]),
                                                     wb__codes_8(packed, bits, &spread[3]));
            wb__look_up(table, codes, dst);
        }
    }
}

#define DECODER(bits, format, loop)                                                                \
    AVX2 static void decode_##bits##_##format(const uint8_t *packed, const float *scales,          \
                                              const float *biases, size_t group, size_t groups,    \
                                              uint8_t *dst)                                        \
    {                                                                                              \
        loop(packed, bits, WB__MLX_##format, scales, biases, group, groups, dst);                  \
    }
#define DECODERS(bits, half)                                                                       \
    DECODER(bits, F32, decode_each)                                                                \
    DECODER(bits, F16, half)                                                                       \
    DECODER(bits, BF16, half)
DECODERS(1, decode_table)
DECODERS(2, decode_table)
DECODERS(3, decode_table)
DECODERS(4, decode_table)
DECODERS(5, decode_each)
DECODERS(6, decode_each)
DECODERS(8, decode_each)

WB__CONTRACTION_PROBE(AVX2)

#define LISTED(bits) [bits] = {decode_##bits##_F32, decode_##bits##_F16, decode_##bits##_BF16}

const wb__mlx_kernels wb__mlx_kernels_affine_decode_avx2 = {
    .features = WB__CPU_AVX2,
    .contracted = contracted,
    .affine_decode = {LISTED(1), LISTED(2), LISTED(3), LISTED(4), LISTED(5), LISTED(6), LISTED(8)},
};

#endif

/*
 * Affine decoding with AVX-512. Codes of up to 5 bits are looked up in a table of the values of the
 * group. This table fills one or two registers. Its entries are computed like the elements in the
 * scalar loop. Elements with 6-bit and 8-bit codes are computed individually.
 */
#include "quant/mlx/x86/avx512.h"

#if WB__X86

/* Returns codes * scale + bias; the product is rounded to the format. */
AVX512_INLINE __m512 dequantized(__m512i codes, __m512 scale, __m512 bias, wb__mlx_format format)
{
    __m512 product = wb__rounded(_mm512_mul_ps(_mm512_cvtepi32_ps(codes), scale), format);
    return _mm512_add_ps(product, bias);
}

AVX512_INLINE __m512i first_codes(int bits)
{
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_and_si512(lanes, _mm512_set1_epi32((1 << bits) - 1));
}

/* 32 codes of 8 or 6 bits, expanded to 32-bit lanes. */
typedef struct codes_32 {
    __m512i low, high;
} codes_32;

AVX512_INLINE codes_32 load_32(const uint8_t *packed, int bits, wb__spread low, wb__spread high)
{
    if (bits == 8)
        return (codes_32){
            _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)packed)),
            _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(packed + 16)))};
    const __m512i mask = _mm512_set1_epi32((1 << bits) - 1);
    __m512i bytes = wb__load_codes(packed, bits);
    return (codes_32){_mm512_and_si512(wb__codes_at(bytes, low), mask),
                      _mm512_and_si512(wb__codes_at(bytes, high), mask)};
}

/* ---- binary32 ---- */

AVX512_INLINE void decode_f32(const uint8_t *packed, int bits, const float *scales,
                              const float *biases, size_t group, size_t groups, uint8_t *dst)
{
    const wb__spread low = wb__spread_codes(bits, 0, 32), high = wb__spread_codes(bits, 16, 32);
    const __m512i codes = first_codes(bits), upper = _mm512_add_epi32(codes, _mm512_set1_epi32(16));
    for (size_t g = 0; g < groups; g++) {
        __m512 scale = _mm512_set1_ps(scales[g]), bias = _mm512_set1_ps(biases[g]);
        __m512 table = dequantized(codes, scale, bias, WB__MLX_F32);
        __m512 table2 = dequantized(upper, scale, bias, WB__MLX_F32);
        for (size_t i = 0; i < group; i += 32, packed += 4 * bits, dst += 128) {
            __m512 x, y;
            if (bits > 5) {
                codes_32 c = load_32(packed, bits, low, high);
                x = dequantized(c.low, scale, bias, WB__MLX_F32);
                y = dequantized(c.high, scale, bias, WB__MLX_F32);
            } else {
                __m512i bytes = wb__load_codes(packed, bits);
                __m512i a = wb__codes_at(bytes, low), b = wb__codes_at(bytes, high);
                x = bits == 5 ? _mm512_permutex2var_ps(table, a, table2)
                              : _mm512_permutexvar_ps(a, table);
                y = bits == 5 ? _mm512_permutex2var_ps(table, b, table2)
                              : _mm512_permutexvar_ps(b, table);
            }
            _mm512_storeu_ps((void *)dst, x);
            _mm512_storeu_ps((void *)(dst + 64), y);
        }
    }
}

/* ---- binary16 and bfloat16 ---- */

/* Looks up the values of 32 codes at a time in one table. */
AVX512_INLINE void look_up(const uint8_t *packed, int bits, wb__spread spread, __m512i table,
                           __m512i offset, size_t group, uint8_t *dst)
{
    for (size_t i = 0; i < group; i += 32, packed += 4 * bits, dst += 64) {
        __m512i at = wb__codes_at(wb__load_codes(packed, bits), spread);
        if (bits < 5)
            at = _mm512_or_si512(_mm512_and_si512(at, _mm512_set1_epi16(15)), offset);
        wb__store512(dst, _mm512_permutexvar_epi16(at, table));
    }
}

/*
 * Decodes two groups at a time: a register of 32 half-precision values holds the tables of two
 * groups with codes up to 15.
 */
AVX512_INLINE void decode_pairs(const uint8_t *packed, int bits, wb__mlx_format format,
                                const float *scales, const float *biases, size_t group,
                                size_t groups, uint8_t *dst)
{
    const wb__spread spread = wb__spread_codes(bits, 0, 16);
    const __m512i codes = first_codes(bits), none = _mm512_setzero_si512();
    size_t bytes = group * (size_t)bits / 8;
    for (size_t g = 0; g < groups; g += 2, packed += 2 * bytes, dst += 4 * group) {
        size_t other = g + 1 < groups ? g + 1 : g;
        __m512 first =
            dequantized(codes, _mm512_set1_ps(scales[g]), _mm512_set1_ps(biases[g]), format);
        __m512 second = dequantized(codes, _mm512_set1_ps(scales[other]),
                                    _mm512_set1_ps(biases[other]), format);
        __m512i table = wb__to_halves(first, second, format);
        look_up(packed, bits, spread, table, none, group, dst);
        if (other != g)
            look_up(packed + bytes, bits, spread, table, _mm512_set1_epi16(16), group,
                    dst + 2 * group);
    }
}

AVX512_INLINE void decode_32(const uint8_t *packed, int bits, wb__mlx_format format,
                             const float *scales, const float *biases, size_t group, size_t groups,
                             uint8_t *dst)
{
    const wb__spread spread = wb__spread_codes(bits, 0, 16);
    const __m512i codes = first_codes(bits), upper = _mm512_add_epi32(codes, _mm512_set1_epi32(16));
    size_t bytes = group * (size_t)bits / 8;
    for (size_t g = 0; g < groups; g++, packed += bytes, dst += 2 * group) {
        __m512 scale = _mm512_set1_ps(scales[g]), bias = _mm512_set1_ps(biases[g]);
        __m512i table = wb__to_halves(dequantized(codes, scale, bias, format),
                                      dequantized(upper, scale, bias, format), format);
        look_up(packed, bits, spread, table, _mm512_setzero_si512(), group, dst);
    }
}

AVX512_INLINE void decode_each(const uint8_t *packed, int bits, wb__mlx_format format,
                               const float *scales, const float *biases, size_t group,
                               size_t groups, uint8_t *dst)
{
    const wb__spread low = wb__spread_codes(bits, 0, 32), high = wb__spread_codes(bits, 16, 32);
    for (size_t g = 0; g < groups; g++) {
        __m512 scale = _mm512_set1_ps(scales[g]), bias = _mm512_set1_ps(biases[g]);
        for (size_t i = 0; i < group; i += 32, packed += 4 * bits, dst += 64) {
            codes_32 c = load_32(packed, bits, low, high);
            wb__store512(dst, wb__to_halves(dequantized(c.low, scale, bias, format),
                                            dequantized(c.high, scale, bias, format), format));
        }
    }
}

#define DECODER(bits, format, half)                                                                \
    AVX512 static void decode_##bits##_##format(const uint8_t *packed, const float *scales,        \
                                                const float *biases, size_t group, size_t groups,  \
                                                uint8_t *dst)                                      \
    {                                                                                              \
        half(packed, bits, WB__MLX_##format, scales, biases, group, groups, dst);                  \
    }
#define DECODERS(bits, half)                                                                       \
    AVX512 static void decode_##bits##_F32(const uint8_t *packed, const float *scales,             \
                                           const float *biases, size_t group, size_t groups,       \
                                           uint8_t *dst)                                           \
    {                                                                                              \
        decode_f32(packed, bits, scales, biases, group, groups, dst);                              \
    }                                                                                              \
    DECODER(bits, F16, half)                                                                       \
    DECODER(bits, BF16, half)
DECODERS(1, decode_pairs)
DECODERS(2, decode_pairs)
DECODERS(3, decode_pairs)
DECODERS(4, decode_pairs)
DECODERS(5, decode_32)
DECODERS(6, decode_each)
DECODERS(8, decode_each)

WB__CONTRACTION_PROBE(AVX512)

#define LISTED(bits) [bits] = {decode_##bits##_F32, decode_##bits##_F16, decode_##bits##_BF16}

const wb__mlx_kernels wb__mlx_kernels_affine_decode_avx512 = {
    .features = WB__CPU_AVX512,
    .contracted = contracted,
    .affine_decode = {LISTED(1), LISTED(2), LISTED(3), LISTED(4), LISTED(5), LISTED(6), LISTED(8)},
};

#endif

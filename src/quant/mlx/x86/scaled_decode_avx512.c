/*
 * Decoding of scaled E2M1 and E4M3 with AVX-512. The sixteen values of E2M1 times the scale form a
 * table for each group. E4M3 is first converted to binary16: its bits, moved to their places in a
 * binary16, give a number that is too small by a factor of 2^8.
 */
#include "quant/mlx/x86/avx512.h"

#if WB__X86

extern const wb__mlx_kernels
    wb__mlx_kernels_scaled; /* scalar loops for the groups that this file does not decode */

AVX512_INLINE __m512 table_of(float scale, float factor)
{
    __m512 values = _mm512_loadu_ps(wb__mlx_e2m1_values);
    return _mm512_mul_ps(_mm512_mul_ps(values, _mm512_set1_ps(scale)), _mm512_set1_ps(factor));
}

/* Decodes groups of 16 elements (nvfp4) or 32 elements (mxfp4) to F32. */
AVX512_INLINE void decode_e2m1_f32(const uint8_t *packed, const float *scales, float factor,
                                   size_t group, size_t groups, uint8_t *dst)
{
    const wb__spread low = wb__spread_codes(4, 0, 32), high = wb__spread_codes(4, 16, 32);
    size_t n = group * groups;
    for (size_t i = 0; i + 32 <= n; i += 32, packed += 16, dst += 128) {
        __m512 first = table_of(scales[i / group], factor);
        __m512 second = group == 16 ? table_of(scales[i / group + 1], factor) : first;
        __m512i bytes = wb__load_codes(packed, 4);
        _mm512_storeu_ps((void *)dst, _mm512_permutexvar_ps(wb__codes_at(bytes, low), first));
        _mm512_storeu_ps((void *)(dst + 64),
                         _mm512_permutexvar_ps(wb__codes_at(bytes, high), second));
    }
    if (n % 32 != 0)
        wb__mlx_kernels_scaled.e2m1_decode[WB__MLX_F32](packed, scales + groups - 1, factor, group,
                                                        1, dst);
}

/*
 * Looks up 32 codes in `table`, which has the 16 values of each of two groups, or those of one
 * group twice.
 */
AVX512_INLINE void look_up(const uint8_t *packed, wb__spread spread, __m512i table, __m512i offset,
                           uint8_t *dst)
{
    __m512i at = wb__codes_at(wb__load_codes(packed, 4), spread);
    at = _mm512_or_si512(_mm512_and_si512(at, _mm512_set1_epi16(15)), offset);
    wb__store512(dst, _mm512_permutexvar_epi16(at, table));
}

AVX512_INLINE void decode_e2m1_half(const uint8_t *packed, wb__mlx_format format,
                                    const float *scales, float factor, size_t group, size_t groups,
                                    uint8_t *dst)
{
    const wb__spread spread = wb__spread_codes(4, 0, 16);
    const __m512i none = _mm512_setzero_si512(), second = _mm512_set1_epi16(16);
    const __m512i halves = _mm512_inserti64x4(none, _mm256_set1_epi16(16), 1);
    size_t g = 0;
    for (; g + 2 <= groups; g += 2, packed += group, dst += 4 * group) {
        __m512i table =
            wb__to_halves(table_of(scales[g], 1.0f), table_of(scales[g + 1], 1.0f), format);
        if (group == 16) {
            look_up(packed, spread, table, halves, dst);
        } else {
            look_up(packed, spread, table, none, dst);
            look_up(packed + 16, spread, table, second, dst + 64);
        }
    }
    if (g < groups)
        wb__mlx_kernels_scaled.e2m1_decode[format](packed, scales + g, factor, group, 1, dst);
}

/* ---- E4M3 ---- */

/*
 * The values of 32 codes, divided by 2^8. The values of NaN codes are arbitrary; `nan` has a bit
 * for each NaN code.
 */
typedef struct small_32 {
    __m512 low, high;
    __mmask32 nan;
} small_32;

AVX512_INLINE small_32 load_small(const uint8_t *packed)
{
    const __m256i magnitude = _mm256_set1_epi8(0x7F);
    __m256i codes = _mm256_loadu_si256((const __m256i *)(const void *)packed);
    __m512i bits = _mm512_and_si512(_mm512_slli_epi16(_mm512_cvtepi8_epi16(codes), 7),
                                    _mm512_set1_epi16((short)0xBF80));
    return (small_32){_mm512_cvtph_ps(_mm512_castsi512_si256(bits)),
                      _mm512_cvtph_ps(_mm512_extracti64x4_epi64(bits, 1)),
                      _mm256_cmpeq_epi8_mask(_mm256_and_si256(codes, magnitude), magnitude)};
}

AVX512_INLINE __m512 with_nan(__m512 x, __mmask16 nan)
{
    return _mm512_mask_mov_ps(x, nan, _mm512_castsi512_ps(_mm512_set1_epi32(WB__FLOAT_NAN)));
}

/*
 * The converted E4M3 values are too small by 2^8. Returns true if `scale` can be multiplied by 2^8
 * instead of the values. The conditions: scale * 2^8 stays in range, no product is near the
 * subnormal range, and there is no global scale (`factor` is 1). For 16-bit results, `scale` must
 * also be a power of two. The multiplication of a value, which has four significant bits, is then
 * exact, and a bfloat16 result is the upper half of the float.
 */
AVX512_INLINE bool can_fold(float scale, float factor, wb__mlx_format format)
{
    uint32_t bits = wb__bits_of_float(scale);
    bool in_range = (bits >> 23 & 0xFF) >= 27 && (bits >> 23 & 0xFF) <= 227;
    return in_range && factor == 1.0f && (format == WB__MLX_F32 || (bits & 0x7FFFFF) == 0);
}

AVX512_INLINE void store_scaled(uint8_t *dst, __m512 x, __m512 y, bool exact, wb__mlx_format format)
{
    if (format == WB__MLX_F32) {
        _mm512_storeu_ps((void *)dst, x);
        _mm512_storeu_ps((void *)(dst + 64), y);
    } else if (exact && format == WB__MLX_BF16) {
        wb__store512(dst, wb__upper_halves(_mm512_castps_si512(x), _mm512_castps_si512(y)));
    } else {
        wb__store512(dst, wb__to_halves(x, y, format));
    }
}

AVX512_INLINE void decode_e4m3(const uint8_t *packed, wb__mlx_format format, const float *scales,
                               float factor, size_t group, size_t groups, uint8_t *dst)
{
    const __m512 missing = _mm512_set1_ps(256.0f), last = _mm512_set1_ps(factor);
    size_t step = format == WB__MLX_F32 ? 128 : 64;
    for (size_t g = 0; g < groups; g++) {
        bool fold = can_fold(scales[g], factor, format);
        __m512 scale = _mm512_set1_ps(fold ? scales[g] * 256.0f : scales[g]);
        for (size_t i = 0; i < group; i += 32, packed += 32, dst += step) {
            small_32 small = load_small(packed);
            __m512 x = small.low, y = small.high;
            if (!fold) {
                x = _mm512_mul_ps(x, missing);
                y = _mm512_mul_ps(y, missing);
            }
            x = _mm512_mul_ps(x, scale);
            y = _mm512_mul_ps(y, scale);
            if (!fold && format == WB__MLX_F32) {
                x = _mm512_mul_ps(x, last);
                y = _mm512_mul_ps(y, last);
            }
            if (small.nan != 0) {
                x = with_nan(x, (__mmask16)small.nan);
                y = with_nan(y, (__mmask16)(small.nan >> 16));
            }
            /* Rounding to bfloat16 adds at most 2^15 to the bits, so NaN 0x7FC00000 stays a NaN. */
            store_scaled(dst, x, y, fold, format);
        }
    }
}

#define DECODERS(format, e2m1)                                                                     \
    AVX512 static void decode_e2m1_##format(const uint8_t *packed, const float *scales,            \
                                            float factor, size_t group, size_t groups,             \
                                            uint8_t *dst)                                          \
    {                                                                                              \
        e2m1;                                                                                      \
    }                                                                                              \
    AVX512 static void decode_e4m3_##format(const uint8_t *packed, const float *scales,            \
                                            float factor, size_t group, size_t groups,             \
                                            uint8_t *dst)                                          \
    {                                                                                              \
        decode_e4m3(packed, WB__MLX_##format, scales, factor, group, groups, dst);                 \
    }
DECODERS(F32, decode_e2m1_f32(packed, scales, factor, group, groups, dst))
DECODERS(F16, decode_e2m1_half(packed, WB__MLX_F16, scales, factor, group, groups, dst))
DECODERS(BF16, decode_e2m1_half(packed, WB__MLX_BF16, scales, factor, group, groups, dst))

WB__CONTRACTION_PROBE(AVX512)

const wb__mlx_kernels wb__mlx_kernels_scaled_decode_avx512 = {
    .features = WB__CPU_AVX512,
    .contracted = contracted,
    .e2m1_decode = {decode_e2m1_F32, decode_e2m1_F16, decode_e2m1_BF16},
    .e4m3_decode = {decode_e4m3_F32, decode_e4m3_F16, decode_e4m3_BF16},
};

#endif

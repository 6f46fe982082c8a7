/*
 * quant/mlx/x86/avx2.h: unpacks and packs codes 32 at a time, and rounds floats.
 *
 * Eight codes of b bits fill b bytes. An 8-byte load reads them and is copied to all quadwords. A
 * byte shuffle then gives each 32-bit lane the bytes that contain its code. A shift, with a
 * separate count per lane, and a mask extract the code. The last loads for 32 codes start before
 * the first byte of their codes, so that they do not read past the bytes of the 32 codes.
 */
#ifndef WB_QUANT_MLX_X86_AVX2_H
#define WB_QUANT_MLX_X86_AVX2_H

#include "quant/mlx/number.h"

#include "cpu/cpu.h"

#if WB__X86

#include <immintrin.h>

#define AVX2_TARGET "avx2,f16c,bmi,bmi2"
#define AVX2 __attribute__((target(AVX2_TARGET)))
#define AVX2_INLINE __attribute__((target(AVX2_TARGET), always_inline)) static inline

/* Describes how to expand eight codes to eight 32-bit lanes. */
typedef struct wb__spread8 {
    int offset; /* offset of the 8 bytes to load, from the first byte of the 32 codes */
    __m256i bytes;
    __m256i shifts;
} wb__spread8;

/* Describes how to expand the codes 8 k to 8 k + 7 of 32 codes. */
AVX2_INLINE wb__spread8 wb__spread_8(int bits, int k)
{
    const __m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    int first = k * bits, latest = 4 * bits - (bits == 1 ? 4 : 8);
    int offset = first < latest ? first : latest;
    __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(lane, _mm256_set1_epi32(bits)),
                                  _mm256_set1_epi32(8 * (first - offset)));
    __m256i byte = _mm256_mullo_epi32(_mm256_srli_epi32(at, 3), _mm256_set1_epi32(0x01010101));
    /* Indices past the eighth byte wrap to the first bytes; the mask removes their bits. */
    return (wb__spread8){offset, _mm256_add_epi8(byte, _mm256_set1_epi32(0x03020100)),
                         _mm256_and_si256(at, _mm256_set1_epi32(7))};
}

AVX2_INLINE __m256i wb__codes_8(const uint8_t *packed, int bits, const wb__spread8 *spread)
{
    if (bits == 8)
        return _mm256_cvtepu8_epi32(
            _mm_loadl_epi64((const __m128i *)(const void *)(packed + spread->offset)));
    __m256i all = bits == 1 ? _mm256_set1_epi32((int)wb__load_le32(packed + spread->offset))
                            : _mm256_set1_epi64x((int64_t)wb__load_le64(packed + spread->offset));
    all = _mm256_srlv_epi32(_mm256_shuffle_epi8(all, spread->bytes), spread->shifts);
    return _mm256_and_si256(all, _mm256_set1_epi32((1 << bits) - 1));
}

/*
 * Saturates the 32 integers of four registers to bytes. The result has first the eight bytes of a,
 * then those of c, b and d. If the bytes of two such results are interleaved (unpacklo, unpackhi),
 * the 16-bit words that this gives are in the order a, b, c, d.
 */
AVX2_INLINE __m256i wb__bytes_of(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i order = _mm256_set_epi32(7, 3, 5, 1, 6, 2, 4, 0);
    __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    return _mm256_permutevar8x32_epi32(bytes, order);
}

/* Like wb__bytes_of, for unsigned values from 0 to 255, but the bytes are in the order a, b, c, d.
 */
AVX2_INLINE __m256i wb__codes_of(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i order = _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0);
    __m256i bytes = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    return _mm256_permutevar8x32_epi32(bytes, order);
}

/* ---- rounding of values that are not NaN ---- */

AVX2_INLINE __m256i wb__round8_bf16_bits(__m256 x)
{
    __m256i bits = _mm256_castps_si256(x);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd);
}

AVX2_INLINE __m256 wb__rounded8(__m256 x, wb__mlx_format format)
{
    if (format == WB__MLX_F16)
        return _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    if (format == WB__MLX_BF16)
        return _mm256_castsi256_ps(
            _mm256_and_si256(wb__round8_bf16_bits(x), _mm256_set1_epi32((int)0xFFFF0000)));
    return x;
}

/* Converts eight floats to binary16 or bfloat16. */
AVX2_INLINE __m128i wb__halves8(__m256 x, wb__mlx_format format)
{
    if (format == WB__MLX_F16)
        return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256i bits = _mm256_srli_epi32(wb__round8_bf16_bits(x), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
}

AVX2_INLINE void wb__store8(uint8_t *dst, __m256 x, wb__mlx_format format)
{
    if (format == WB__MLX_F32)
        _mm256_storeu_ps((void *)dst, x);
    else
        _mm_storeu_si128((__m128i *)(void *)dst, wb__halves8(x, format));
}

/* ---- a table of sixteen 16-bit values, with low and high bytes in separate registers ---- */

typedef struct wb__table16 {
    __m256i low, high;
} wb__table16;

AVX2_INLINE wb__table16 wb__table_of(__m256 first, __m256 second, wb__mlx_format format)
{
    const __m128i low_bytes = _mm_set1_epi16(0xFF);
    __m128i a = wb__halves8(first, format), b = wb__halves8(second, format);
    __m128i low = _mm_packus_epi16(_mm_and_si128(a, low_bytes), _mm_and_si128(b, low_bytes));
    __m128i high = _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
    return (wb__table16){_mm256_broadcastsi128_si256(low), _mm256_broadcastsi128_si256(high)};
}

/* Looks up 32 codes that are in the order of wb__bytes_of. */
AVX2_INLINE void wb__look_up(wb__table16 table, __m256i codes, uint8_t *dst)
{
    __m256i low = _mm256_shuffle_epi8(table.low, codes);
    __m256i high = _mm256_shuffle_epi8(table.high, codes);
    _mm256_storeu_si256((__m256i *)(void *)dst, _mm256_unpacklo_epi8(low, high));
    _mm256_storeu_si256((__m256i *)(void *)(dst + 32), _mm256_unpackhi_epi8(low, high));
}

/* Unpacks 32 codes of 4 bits to bytes. Returns the codes in the order in which wb__bytes_of returns
 * its bytes. */
AVX2_INLINE __m256i wb__nibbles(const uint8_t *packed)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)packed);
    const __m128i mask = _mm_set1_epi8(15);
    __m128i low = _mm_and_si128(bytes, mask);
    __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), mask);
    __m256i codes = _mm256_set_m128i(_mm_unpackhi_epi8(low, high), _mm_unpacklo_epi8(low, high));
    return _mm256_permute4x64_epi64(codes, 0xD8);
}

#endif
#endif

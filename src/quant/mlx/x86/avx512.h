/*
 * quant/mlx/x86/avx512.h: unpacks codes 32 at a time, and rounds floats.
 *
 * 32 codes of `bits` bits take 4 * bits bytes. A byte shuffle moves the bytes of eight codes into
 * each quadword. Then vpmultishiftqb extracts 8 bits at the bit position of each code: the code
 * and, above it, bits of the next codes. The permutations that look up codes ignore these upper
 * bits.
 */
#ifndef WB_QUANT_MLX_X86_AVX512_H
#define WB_QUANT_MLX_X86_AVX512_H

#include "quant/mlx/number.h"

#include "cpu/cpu.h"

#if WB__X86

#include <immintrin.h>

#if !defined(__clang__) && !defined(__OPTIMIZE__)
/*
 * Without optimisation, gcc's intrinsics with constant operands are macros that convert -1 to an
 * unsigned type, which causes this warning.
 */
#pragma GCC diagnostic ignored "-Wsign-conversion"
#endif

#define AVX512_TARGET "avx2,f16c,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi"
#define AVX512 __attribute__((target(AVX512_TARGET)))
#define AVX512_INLINE __attribute__((target(AVX512_TARGET), always_inline)) static inline

/* Describes how to expand codes to lanes of 16 or 32 bits. */
typedef struct wb__spread {
    __m512i bytes;
    __m512i shifts;
} wb__spread;

/* Describes how to expand the codes from number `first` on to lanes of `lane_bits` bits. */
AVX512_INLINE wb__spread wb__spread_codes(int bits, int first, int lane_bits)
{
    const int64_t every = INT64_C(0x0101010101010101);
    const __m512i quadword = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    int a_quadword = 64 / lane_bits * bits; /* number of code bits per quadword */
    __m512i at = _mm512_add_epi64(_mm512_mullo_epi64(quadword, _mm512_set1_epi64(a_quadword)),
                                  _mm512_set1_epi64(first * bits));
    __m512i byte = _mm512_srli_epi64(at, 3);
    __m512i bit = _mm512_and_si512(at, _mm512_set1_epi64(7));
    /* Byte 0 of each lane is the bit offset of the lane's code, relative to the code of lane 0. */
    uint64_t shifts = 0;
    for (int lane = 0; lane < 64 / lane_bits; lane++)
        shifts |= (uint64_t)(unsigned)(lane * bits) << lane * lane_bits;
    return (wb__spread){_mm512_add_epi64(_mm512_mullo_epi64(byte, _mm512_set1_epi64(every)),
                                         _mm512_set1_epi64(INT64_C(0x0706050403020100))),
                        _mm512_add_epi64(_mm512_mullo_epi64(bit, _mm512_set1_epi64(every)),
                                         _mm512_set1_epi64((int64_t)shifts))};
}

/* Loads exactly the bytes of 32 codes. */
AVX512_INLINE __m512i wb__load_codes(const uint8_t *packed, int bits)
{
    if (bits == 8)
        return _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)packed));
    if (bits == 4)
        return _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)packed));
    return _mm512_castsi256_si512(
        _mm256_maskz_loadu_epi8((__mmask32)((UINT64_C(1) << 4 * bits) - 1), packed));
}

/* Returns lanes with one code each, in the lowest bits of the lane. `spread` determines the width of
 * the lanes. The bits above the code are undefined. */
AVX512_INLINE __m512i wb__codes_at(__m512i packed, wb__spread spread)
{
    return _mm512_multishift_epi64_epi8(spread.shifts,
                                        _mm512_permutexvar_epi8(spread.bytes, packed));
}

/* ---- rounding of values that are not NaN ---- */

AVX512_INLINE __m512 wb__round_f16(__m512 x)
{
    return _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

AVX512_INLINE __m256i wb__to_f16(__m512 x)
{
    return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Returns x rounded to bfloat16 in the upper half of each lane; the lower half is unspecified. */
AVX512_INLINE __m512i wb__round_bf16_bits(__m512 x)
{
    __m512i bits = _mm512_castps_si512(x);
    __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    __m512i up = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF));
    return _mm512_mask_add_epi32(up, odd, up, _mm512_set1_epi32(1));
}

AVX512_INLINE __m512 wb__round_bf16(__m512 x)
{
    return _mm512_castsi512_ps(
        _mm512_and_si512(wb__round_bf16_bits(x), _mm512_set1_epi32((int)0xFFFF0000)));
}

AVX512_INLINE __m512 wb__rounded(__m512 x, wb__mlx_format format)
{
    return format == WB__MLX_F16    ? wb__round_f16(x)
           : format == WB__MLX_BF16 ? wb__round_bf16(x)
                                    : x;
}

/* Returns the upper halves of the 32-bit lanes of two registers, in order. */
AVX512_INLINE __m512i wb__upper_halves(__m512i low, __m512i high)
{
    const __m512i odd =
        _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27,
                         25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return _mm512_permutex2var_epi16(low, odd, high);
}

/* Converts 16 floats and 16 more to 32 values of binary16 or bfloat16. */
AVX512_INLINE __m512i wb__to_halves(__m512 low, __m512 high, wb__mlx_format format)
{
    if (format == WB__MLX_F16)
        return _mm512_inserti64x4(_mm512_castsi256_si512(wb__to_f16(low)), wb__to_f16(high), 1);
    return wb__upper_halves(wb__round_bf16_bits(low), wb__round_bf16_bits(high));
}

AVX512_INLINE void wb__store512(uint8_t *dst, __m512i v)
{
    _mm512_storeu_si512((void *)dst, v);
}

#endif
#endif

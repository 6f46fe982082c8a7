/*
 * formats/safetensors/x86/fast_number.h: parses numbers of up to 15 digits with SSE4.1, all digits
 * at once.
 */
#include <immintrin.h>

static const uint8_t digit_shifts[32] = {
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
};

FAST_FUNCTION static inline __m128i load_128(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

FAST_FUNCTION static inline unsigned read_number(const uint8_t *p, unsigned guess, uint64_t *value)
{
    __m128i digits = _mm_sub_epi8(load_128(p), _mm_set1_epi8('0'));
    __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    unsigned others = ~(unsigned)_mm_movemask_epi8(is_digit);
    unsigned count = guess;
    if (guess == 0 || (others & ((2u << guess) - 1)) != 1u << guess)
        count = (unsigned)__builtin_ctz(others); /* bits 16 to 31 are always set */
    if (count == 16 || (p[0] == '0' && count > 1))
        return 0;
    /*
     * Move the digits to the end of the register, with zeros in front. Then combine neighbors: 16
     * digits become 8 numbers below 100, then 4 below 10^4, then 2 below 10^8.
     */
    digits = _mm_shuffle_epi8(digits, load_128(digit_shifts + count));
    __m128i tens = _mm_maddubs_epi16(digits, _mm_set1_epi16(0x010A));
    __m128i hundreds = _mm_madd_epi16(tens, _mm_set1_epi32(0x00010064));
    __m128i packed = _mm_packus_epi32(hundreds, hundreds);
    __m128i halves = _mm_madd_epi16(packed, _mm_set1_epi32(0x00012710));
    uint64_t pair = (uint64_t)_mm_cvtsi128_si64(halves);
    *value = (pair & UINT32_MAX) * 100000000 + (pair >> 32);
    return count;
}

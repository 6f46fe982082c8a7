/*
 * The fast parser without vector instructions (8 bytes at a time), and the selection of a version.
 */
#include "formats/safetensors/fast_types.h"

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* Returns the index of the lowest byte whose high bit is set; at least one must be set. */
static inline unsigned first_high(uint64_t word)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(word) / 8;
#else
    unsigned i = 0;
    for (; !(word & 0x80); word >>= 8)
        i++;
    return i;
#endif
}

static inline unsigned name_length(const uint8_t *p, name_lengths *last)
{
    (void)last;
    for (unsigned i = 0; i < 256; i += 8) {
        /*
         * Sets the high bit of each byte that is a quote, a backslash, a control character or not
         * ASCII. A borrow of a subtraction may also set the bit in the bytes above, never in the
         * bytes below.
         */
        uint64_t word = wb__load_le64(p + i);
        uint64_t special = (((word ^ ONES * '"') - ONES) | ((word ^ ONES * '\\') - ONES) |
                            (word - ONES * 0x20) | word) &
                           HIGHS;
        if (special != 0)
            return i + first_high(special);
    }
    return 256;
}

static inline bool same_text(const uint8_t *p, const uint8_t *text, uint32_t len)
{
    return memcmp(p, text, len) == 0;
}

static inline void copy_name(char *to, const uint8_t *name, unsigned len)
{
    memcpy(to, name, len);
}

static inline uint32_t hash_name(const wb__name_hasher *hasher, const uint8_t *name, unsigned len)
{
    return hasher->hash(hasher, (const char *)name, len);
}

/* Digits are 0x30 to 0x39: their upper four bits are 3 both before and after adding 6. */
static inline bool eight_digits(uint64_t word)
{
    return (word & ONES * 0xF0) == ONES * 0x30 && ((word + ONES * 6) & ONES * 0xF0) == ONES * 0x30;
}

/*
 * Returns the value of eight digits; the first digit is in the lowest byte. Combines two digits
 * each to numbers below 100, two of these to numbers below 10^4, and these two to the result.
 */
static inline uint64_t eight_digits_value(uint64_t word)
{
    word -= ONES * '0';
    word = (word * 10 + (word >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
    word = (word * 100 + (word >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
    return (word * 10000 + (word >> 32)) & UINT32_MAX;
}

static inline unsigned read_number(const uint8_t *p, unsigned guess, uint64_t *value)
{
    (void)guess;
    unsigned digits = 0;
    *value = 0;
    uint64_t word = wb__load_le64(p);
    if (eight_digits(word)) {
        *value = eight_digits_value(word);
        digits = 8;
    }
    while (p[digits] >= '0' && p[digits] <= '9') {
        if (digits == 15)
            return 0;
        *value = *value * 10 + (uint64_t)(p[digits++] - '0');
    }
    return digits > 1 && p[0] == '0' ? 0 : digits;
}

#define FAST_FUNCTION
#define FAST_NAME wb__st_fast_portable
#include "formats/safetensors/fast.h"

wb__st_fast *wb__st_fast_for(uint32_t cpu_features)
{
#if WB__X86
    if ((cpu_features & WB__CPU_VAES) && (cpu_features & WB__CPU_AES))
        return wb__st_fast_avx512;
    if ((cpu_features & WB__CPU_AVX2) && (cpu_features & WB__CPU_AES))
        return wb__st_fast_avx2;
#else
    (void)cpu_features;
#endif
    return wb__st_fast_portable;
}

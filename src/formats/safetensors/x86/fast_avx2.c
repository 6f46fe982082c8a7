/* The fast parser with AVX2 and AES-NI. */
#include "formats/safetensors/fast_types.h"

#if WB__X86

#include "model/x86/name_hash_aes.h"

#define FAST_FUNCTION __attribute__((target("avx2,bmi,aes")))
#include "formats/safetensors/x86/fast_number.h"

FAST_FUNCTION static inline __m256i load_256(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

FAST_FUNCTION static inline uint64_t special_half(const uint8_t *p)
{
    __m256i v = load_256(p);
    /* The signed comparison with a space also finds non-ASCII bytes, which are negative. */
    __m256i special =
        _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), v),
                        _mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('"')),
                                        _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\'))));
    return (uint32_t)_mm256_movemask_epi8(special);
}

FAST_FUNCTION static inline uint64_t special_bytes(const uint8_t *p)
{
    return special_half(p) | special_half(p + 32) << 32;
}

#include "formats/safetensors/x86/fast_name.h"

FAST_FUNCTION static inline bool same_text(const uint8_t *p, const uint8_t *text, uint32_t len)
{
    uint32_t i = 0;
    do {
        __m256i same = _mm256_cmpeq_epi8(load_256(p + i), load_256(text + i));
        uint64_t different = (uint32_t)~_mm256_movemask_epi8(same);
        if (i + 32 > len)
            different &= (UINT64_C(1) << (len - i)) - 1;
        if (different != 0)
            return false;
        i += 32;
    } while (i < len);
    return true;
}

FAST_FUNCTION static inline void copy_name(char *to, const uint8_t *name, unsigned len)
{
    unsigned i = 0;
    do {
        _mm256_storeu_si256((__m256i *)(void *)(to + i), load_256(name + i));
        i += 32;
    } while (i < len);
}

/* 64 bytes of 0xFF, then zeros: a load at offset 64 - n gives a mask of n bytes. */
static const uint8_t masks[128] = {
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
};

FAST_FUNCTION static inline uint32_t hash_name(const wb__name_hasher *hasher, const uint8_t *name,
                                               unsigned len)
{
    wb__aes_lanes s = wb__aes_begin(hasher);
    unsigned left = len;
    for (; left > 64; left -= 64, name += 64)
        s = wb__aes_absorb(hasher, s, wb__aes_load(name));
    uint8_t block[64];
    for (unsigned i = 0; i < 64; i += 32)
        _mm256_storeu_si256((__m256i *)(void *)(block + i),
                            _mm256_and_si256(load_256(name + i), load_256(masks + 64 - left + i)));
    return wb__aes_finish(hasher, wb__aes_absorb(hasher, s, wb__aes_load(block)), len);
}

#define FAST_NAME wb__st_fast_avx2
#include "formats/safetensors/fast.h"

#endif

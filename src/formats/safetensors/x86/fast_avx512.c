/* The fast parser with AVX-512 and VAES. */
#include "formats/safetensors/fast_types.h"

#if WB__X86

#define FAST_FUNCTION                                                                              \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,vaes,aes,bmi,bmi2")))
#include "formats/safetensors/x86/fast_number.h"

FAST_FUNCTION static inline __m512i load_512(const void *p)
{
    return _mm512_loadu_si512(p);
}

/* Returns a mask with the lowest n bits set (all 64 if n > 64). Precondition: n < 256. */
FAST_FUNCTION static inline __mmask64 first_bytes(unsigned n)
{
    return _bzhi_u64(~UINT64_C(0), n);
}

FAST_FUNCTION static inline uint64_t special_bytes(const uint8_t *p)
{
    __m512i v = load_512(p);
    /* The signed comparison with a space also finds non-ASCII bytes, which are negative. */
    return _mm512_cmplt_epi8_mask(v, _mm512_set1_epi8(0x20)) |
           _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('"')) |
           _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\'));
}

#include "formats/safetensors/x86/fast_name.h"

FAST_FUNCTION static inline bool same_text(const uint8_t *p, const uint8_t *text, uint32_t len)
{
    while (_mm512_mask_cmpneq_epi8_mask(first_bytes(len), load_512(p), load_512(text)) == 0) {
        if (len <= 64)
            return true;
        p += 64;
        text += 64;
        len -= 64;
    }
    return false;
}

FAST_FUNCTION static inline void copy_name(char *to, const uint8_t *name, unsigned len)
{
    unsigned i = 0;
    do {
        _mm512_storeu_si512(to + i, load_512(name + i));
        i += 64;
    } while (i < len);
}

FAST_FUNCTION static inline uint32_t hash_name(const wb__name_hasher *hasher, const uint8_t *name,
                                               unsigned len)
{
    __m512i key0 = load_512(hasher->round_keys[0]);
    __m512i key1 = load_512(hasher->round_keys[1]);
    __m512i key2 = load_512(hasher->round_keys[2]);
    __m512i s = key0;
    unsigned left = len;
    for (; left > 64; left -= 64, name += 64) {
        s = _mm512_aesenc_epi128(_mm512_xor_si512(s, load_512(name)), key1);
        s = _mm512_aesenc_epi128(s, key2);
    }
    __m512i block = _mm512_maskz_loadu_epi8(first_bytes(left), name);
    s = _mm512_aesenc_epi128(_mm512_xor_si512(s, block), key1);
    s = _mm512_aesenc_epi128(s, key2);

    __m256i half = _mm256_xor_si256(_mm512_castsi512_si256(s), _mm512_extracti64x4_epi64(s, 1));
    __m128i x = _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    x = _mm_xor_si128(x, _mm_cvtsi64_si128((long long)len));
    x = _mm_aesenc_si128(x, _mm512_castsi512_si128(key0));
    x = _mm_aesenc_si128(x, _mm512_castsi512_si128(key1));
    return (uint32_t)_mm_cvtsi128_si32(x);
}

#define FAST_NAME wb__st_fast_avx512
#include "formats/safetensors/fast.h"

#endif

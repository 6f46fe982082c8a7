/*
 * model/x86/name_hash_aes.h: the rounds of name_hash.h with AES-NI, for inlining into readers that
 * hash names while scanning them.
 */
#ifndef WB_MODEL_X86_NAME_HASH_AES_H
#define WB_MODEL_X86_NAME_HASH_AES_H

#include "model/name_hash.h"

#if WB__X86

#include <immintrin.h>

#define WB__AES_INLINE __attribute__((target("aes,sse4.1"))) static inline

typedef struct wb__aes_lanes {
    __m128i lane[4];
} wb__aes_lanes;

WB__AES_INLINE __m128i wb__aes_key(const wb__name_hasher *hasher, int round, int lane)
{
    return _mm_loadu_si128((const __m128i *)(const void *)&hasher->round_keys[round][16 * lane]);
}

WB__AES_INLINE wb__aes_lanes wb__aes_begin(const wb__name_hasher *hasher)
{
    wb__aes_lanes s;
    for (int i = 0; i < 4; i++)
        s.lane[i] = wb__aes_key(hasher, 0, i);
    return s;
}

/* Loads the 64 bytes of a block. */
WB__AES_INLINE wb__aes_lanes wb__aes_load(const void *block)
{
    wb__aes_lanes b;
    for (int i = 0; i < 4; i++)
        b.lane[i] = _mm_loadu_si128((const __m128i *)block + i);
    return b;
}

WB__AES_INLINE wb__aes_lanes wb__aes_absorb(const wb__name_hasher *hasher, wb__aes_lanes s,
                                            wb__aes_lanes block)
{
    for (int i = 0; i < 4; i++) {
        __m128i x = _mm_xor_si128(s.lane[i], block.lane[i]);
        x = _mm_aesenc_si128(x, wb__aes_key(hasher, 1, i));
        s.lane[i] = _mm_aesenc_si128(x, wb__aes_key(hasher, 2, i));
    }
    return s;
}

WB__AES_INLINE uint32_t wb__aes_finish(const wb__name_hasher *hasher, wb__aes_lanes s, size_t len)
{
    __m128i x =
        _mm_xor_si128(_mm_xor_si128(s.lane[0], s.lane[1]), _mm_xor_si128(s.lane[2], s.lane[3]));
    x = _mm_xor_si128(x, _mm_cvtsi64_si128((long long)len));
    x = _mm_aesenc_si128(x, wb__aes_key(hasher, 0, 0));
    x = _mm_aesenc_si128(x, wb__aes_key(hasher, 1, 0));
    return (uint32_t)_mm_cvtsi128_si32(x);
}

#endif
#endif

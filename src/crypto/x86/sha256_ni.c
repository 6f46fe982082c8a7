/*
 * SHA-256 with the x86 SHA extensions. Two registers hold the state: the words A, B, E, F and the
 * words C, D, G, H. SHA256RNDS2 computes two rounds and returns the new ABEF; the old ABEF becomes
 * the new CDGH. The instruction has a latency of four cycles, but one can start every two cycles.
 * So the rounds of two messages are interleaved. Reference: Intel 64 and IA-32 Architectures
 * Software Developer's Manual, volume 2, SHA256RNDS2.
 */
#include "cpu/cpu.h"
#include "crypto/sha256.h"

#if WB__X86

#include <immintrin.h>

#define KERNEL __attribute__((target("sha,sse4.1,ssse3")))

/* One message: its state, and the last sixteen words of the message schedule. */
typedef struct lane {
    __m128i abef, cdgh;
    __m128i m[4];
} lane;

KERNEL static inline __m128i load_words(const uint8_t *bytes)
{
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)bytes), order);
}

KERNEL static inline lane load_state(const wb__sha256_state state)
{
    lane l;
    __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)state);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)(state + 4));
    /* The name of a vector consists of the names of its words (a to h), from the highest 32-bit
     * element to the lowest. Only in the name `badc`, the lowest element is first. */
    __m128i badc = _mm_shuffle_epi32(dcba, 0xB1);
    __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1B);
    l.abef = _mm_alignr_epi8(badc, efgh, 8);
    l.cdgh = _mm_blend_epi16(efgh, badc, 0xF0);
    return l;
}

KERNEL static inline void store_state(const lane *l, wb__sha256_state state)
{
    __m128i feba = _mm_shuffle_epi32(l->abef, 0x1B);
    __m128i dchg = _mm_shuffle_epi32(l->cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Computes four rounds, starting with round 4 * i. `i` is a compile-time constant. */
KERNEL __attribute__((always_inline)) static inline void four(lane *l, const uint8_t *block,
                                                              unsigned i)
{
    __m128i *m = &l->m[i % 4];
    if (i < 4) {
        *m = load_words(block + (size_t)16 * i);
    } else {
        __m128i last = l->m[(i + 3) % 4];
        __m128i seven_back = _mm_alignr_epi8(last, l->m[(i + 2) % 4], 4);
        __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*m, l->m[(i + 1) % 4]), seven_back);
        *m = _mm_sha256msg2_epu32(sum, last);
    }
    __m128i k =
        _mm_load_si128((const __m128i *)(const void *)(wb__sha256_constants + (size_t)4 * i));
    __m128i w = _mm_add_epi32(*m, k);
    l->cdgh = _mm_sha256rnds2_epu32(l->cdgh, l->abef, w);
    l->abef = _mm_sha256rnds2_epu32(l->abef, l->cdgh, _mm_shuffle_epi32(w, 0x0E));
}

#define SIXTEEN_TIMES(X)                                                                           \
    X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

KERNEL static void one(wb__sha256_state state, const uint8_t *blocks, size_t n)
{
    lane l = load_state(state);
    for (size_t i = 0; i < n; i++, blocks += WB__SHA256_BLOCK) {
        __m128i abef = l.abef, cdgh = l.cdgh;
#define ROUNDS(i) four(&l, blocks, i);
        SIXTEEN_TIMES(ROUNDS)
#undef ROUNDS
        l.abef = _mm_add_epi32(l.abef, abef);
        l.cdgh = _mm_add_epi32(l.cdgh, cdgh);
    }
    store_state(&l, state);
}

KERNEL static void two(wb__sha256_state a, const uint8_t *a_blocks, wb__sha256_state b,
                       const uint8_t *b_blocks, size_t n)
{
    lane l = load_state(a), r = load_state(b);
    for (size_t i = 0; i < n; i++, a_blocks += WB__SHA256_BLOCK, b_blocks += WB__SHA256_BLOCK) {
        __m128i l_abef = l.abef, l_cdgh = l.cdgh, r_abef = r.abef, r_cdgh = r.cdgh;
#define ROUNDS(i) four(&l, a_blocks, i), four(&r, b_blocks, i);
        SIXTEEN_TIMES(ROUNDS)
#undef ROUNDS
        l.abef = _mm_add_epi32(l.abef, l_abef);
        l.cdgh = _mm_add_epi32(l.cdgh, l_cdgh);
        r.abef = _mm_add_epi32(r.abef, r_abef);
        r.cdgh = _mm_add_epi32(r.cdgh, r_cdgh);
    }
    store_state(&l, a);
    store_state(&r, b);
}

static const wb__sha256_kernel kernel = {one, two};

const wb__sha256_kernel *wb__sha256_x86(uint32_t features)
{
    return features & WB__CPU_SHA ? &kernel : NULL;
}

#else

const wb__sha256_kernel *wb__sha256_x86(uint32_t features)
{
    (void)features;
    return NULL;
}

#endif

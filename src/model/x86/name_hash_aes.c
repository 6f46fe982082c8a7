#include "model/x86/name_hash_aes.h"

#if WB__X86

#define TARGET __attribute__((target("aes,sse4.1")))

/* Masks for _mm_shuffle_epi8. The mask at offset 16 - n moves bytes 16 - n to 15 to the start and
 * zeroes the rest. */
static const uint8_t move_down[32] = {
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};

/* Loads fewer than 16 bytes without reading before or after them. */
TARGET static __m128i load_short(const char *name, size_t n)
{
    const uint8_t *p = (const uint8_t *)name;
    /* The first and last 8 bytes overlap by 16 - n bytes, which the shift removes from the last 8.
     * The shift has two steps because shifting by 64 is undefined. */
    if (n >= 8)
        return _mm_set_epi64x((long long)(wb__load_le64(p + n - 8) >> 8 >> 8 * (15 - n)),
                              (long long)wb__load_le64(p));
    uint64_t low = 0;
    for (size_t i = n; i-- > 0;)
        low = low << 8 | p[i];
    return _mm_cvtsi64_si128((long long)low);
}

/* Loads the 16 bytes of the name at offset `at`. Zeros replace the bytes after the end of the
 * name. */
TARGET static __m128i load_lane(const char *name, size_t len, size_t at)
{
    if (at >= len)
        return _mm_setzero_si128();
    if (len - at >= 16)
        return _mm_loadu_si128((const __m128i *)(const void *)(name + at));
    if (len < 16)
        return load_short(name, len);
    const void *control = move_down + 16 - (len - at);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(name + len - 16)),
                            _mm_loadu_si128((const __m128i *)control));
}

TARGET uint32_t wb__name_hash_aes(const wb__name_hasher *hasher, const char *name, size_t len)
{
    wb__aes_lanes s = wb__aes_begin(hasher);
    size_t at = 0;
    do {
        wb__aes_lanes block;
        for (size_t i = 0; i < 4; i++)
            block.lane[i] = load_lane(name, len, at + 16 * i);
        s = wb__aes_absorb(hasher, s, block);
        at += 64;
    } while (at < len);
    return wb__aes_finish(hasher, s, len);
}

#endif

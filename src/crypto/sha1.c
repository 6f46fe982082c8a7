#include "crypto/sha1.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/endian.h"

#define BLOCK ((size_t)64)

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t load_be32(const uint8_t *p)
{
    return wb__swap32(wb__load_le32(p));
}

/* FIPS 180-4: the function of round t (4.1.1) plus the constant of round t (4.2.1). */
static uint32_t mix(unsigned t, uint32_t b, uint32_t c, uint32_t d)
{
    switch (t / 20) {
    case 0: return ((b & c) ^ (~b & d)) + 0x5a827999;
    case 1: return (b ^ c ^ d) + 0x6ed9eba1;
    case 2: return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc;
    default: return (b ^ c ^ d) + 0xca62c1d6;
    }
}

/* FIPS 180-4, 6.1.2, with the names of the standard. */
static void compress(uint32_t state[5], const uint8_t *block)
{
    uint32_t w[80];
    for (unsigned t = 0; t < 80; t++)
        w[t] = t < 16 ? load_be32(block + 4 * t)
                      : rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (unsigned t = 0; t < 80; t++) {
        uint32_t next = rotate(a, 5) + mix(t, b, c, d) + e + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void wb__sha1_start(wb__sha1 *hash)
{
    static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    memcpy(hash->state, initial, sizeof initial);
    hash->bytes = 0;
}

void wb__sha1_add(wb__sha1 *hash, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    while (n > 0) {
        size_t used = (size_t)(hash->bytes % BLOCK);
        size_t some = BLOCK - used < n ? BLOCK - used : n;
        memcpy(hash->block + used, p, some);
        hash->bytes += some;
        if (used + some == BLOCK)
            compress(hash->state, hash->block);
        p += some;
        n -= some;
    }
}

void wb__sha1_finish(wb__sha1 *hash, uint8_t digest[WB__SHA1_BYTES])
{
    static const uint8_t padding[BLOCK] = {0x80};
    uint64_t bits = hash->bytes * 8;
    size_t used = (size_t)(hash->bytes % BLOCK);
    uint8_t length[8];
    for (unsigned i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    wb__sha1_add(hash, padding, (used < 56 ? 56 : 120) - used);
    wb__sha1_add(hash, length, sizeof length);
    for (unsigned i = 0; i < WB__SHA1_BYTES; i++)
        digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void wb__sha1_start_blob(wb__sha1 *hash, uint64_t size)
{
    char head[32];
    int n = snprintf(head, sizeof head, "blob %" PRIu64, size);
    wb__sha1_start(hash);
    wb__sha1_add(hash, head, (size_t)n + 1);
}

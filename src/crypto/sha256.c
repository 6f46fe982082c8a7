#include "crypto/sha256.h"

/*
 * FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
 * primes.
 */
const uint32_t wb__sha256_constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load_be32(const uint8_t *bytes)
{
    return wb__swap32(wb__load_le32(bytes));
}

/* FIPS 180-4, 6.2.2. The variables have the names of the standard. */
static void compress(wb__sha256_state state, const uint8_t *block)
{
    uint32_t w[64];
    for (size_t t = 0; t < 16; t++)
        w[t] = load_be32(block + 4 * t);
    for (size_t t = 16; t < 64; t++) {
        uint32_t sigma_0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t sigma_1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = sigma_1 + w[t - 7] + sigma_0 + w[t - 16];
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (size_t t = 0; t < 64; t++) {
        uint32_t sum_1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
        uint32_t choice = (e & f) ^ (~e & g);
        uint32_t t_1 = h + sum_1 + choice + wb__sha256_constants[t] + w[t];
        uint32_t sum_0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
        uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d + t_1;
        d = c;
        c = b;
        b = a;
        a = t_1 + sum_0 + majority;
    }
    const wb__sha256_state add = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; i++)
        state[i] += add[i];
}

static void one(wb__sha256_state state, const uint8_t *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        compress(state, blocks + i * WB__SHA256_BLOCK);
}

static void two(wb__sha256_state a, const uint8_t *a_blocks, wb__sha256_state b,
                const uint8_t *b_blocks, size_t n)
{
    one(a, a_blocks, n);
    one(b, b_blocks, n);
}

const wb__sha256_kernel wb__sha256_scalar = {one, two};

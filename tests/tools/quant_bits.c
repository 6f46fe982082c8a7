/*
 * Prints a digest of what every codec decodes random blocks to, and of what it encodes values to. The
 * same on every compiler, at every level of optimisation and with every set of instructions:
 * tests/check/quant_bits.sh compares them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "quant/quant.h"

#define VALUES 4096

static uint64_t state;

static uint32_t random_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static uint64_t digest(uint64_t hash, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001B3);
    return hash;
}

static float values[VALUES], importance[VALUES];
static uint8_t blocks[4 * VALUES];

static uint64_t decoded(const wb__codec *codec)
{
    uint64_t hash = 0;
    uint64_t bytes = wb__codec_bytes(codec, VALUES);
    for (uint64_t i = 0; i < bytes; i++)
        blocks[i] = (uint8_t)random_bits();
    codec->decode(blocks, values, VALUES / codec->dtype->block_size);
    for (size_t i = 0; i < VALUES; i++) {
        if (isnan(values[i]))
            values[i] = 12345; /* any NaN equals any NaN */
    }
    hash = digest(hash, values, sizeof values);
    return hash;
}

/* Values of several sizes, zeros of both signs and subnormals among them. */
static void make_values(void)
{
    for (size_t i = 0; i < VALUES; i++) {
        float v = (float)(int32_t)random_bits() * (float)(int32_t)random_bits() * 0x1p-62f;
        switch (i / 256 % 6) {
        case 0: v = random_bits() % 4 ? 0.0f : v; break;
        case 1: v = v * 1e-39f; break;
        case 2: v = v < 0 ? -0.0f : v; break;
        case 3: v = (float)(int32_t)(random_bits() % 17) / 8 - 1; break;
        default: break;
        }
        values[i] = v;
        importance[i] = (float)(random_bits() % 1000 + 1) * 1e-3f;
    }
}

static uint64_t encoded(const wb__codec *codec)
{
    uint64_t hash = 0;
    uint64_t bytes = wb__codec_bytes(codec, VALUES);
    make_values();
    if (codec->importance != WB_IMPORTANCE_REQUIRED) {
        codec->encode(values, NULL, blocks, VALUES);
        hash = digest(hash, blocks, bytes);
    }
    codec->encode(values, importance, blocks, VALUES);
    return digest(hash, blocks, bytes);
}

int main(void)
{
    for (int32_t dtype = 0; dtype < 96; dtype++) {
        wb__codec codec;
        (void)wb__codec_get(dtype, wb__cpu_features(), &codec);
        if (codec.dtype == NULL || wb__dtype_is_plain(codec.dtype))
            continue;
        state = (uint64_t)dtype;
        unsigned long long out = decoded(&codec), in = encoded(&codec);
        printf("%s %016llx %016llx\n", codec.dtype->name, out, in);
    }
    return 0;
}

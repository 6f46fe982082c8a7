/*
 * Compares the scalar code with every kernel of every instruction set that this processor has. A
 * kernel must give the same bits as the scalar code when it decodes random bits (including NaN and
 * infinite scales) and encodes values of many kinds. All NaNs count as equal. Buffers end at an
 * inaccessible page.
 */
#define _GNU_SOURCE
#include <math.h>

#include "cpu/cpu.h"
#include "quant/quant.h"

#include "kernels.h"

static const uint32_t levels[] = {0, WB__CPU_AVX2, WB__CPU_AVX2 | WB__CPU_AVX512, WB__CPU_NEON};

static float uniform(void)
{
    return (float)(random_bits() >> 8) / 8388608.0f - 1.0f;
}

static void expect_floats(const char *name, uint32_t features, const float *got, const float *want,
                          size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&got[i], &want[i], sizeof *got) != 0 && !(isnan(got[i]) && isnan(want[i])))
            fail_msg("%s, features %u: value %lu is %a, not %a", name, (unsigned)features,
                     (unsigned long)i, (double)got[i], (double)want[i]);
    }
}

#define VALUES 2048

static void decode_all(void **unused)
{
    (void)unused;
    guarded in = guard(4 * VALUES), out = guard(VALUES * sizeof(float));
    static float want[VALUES];
    for (int32_t dtype = 0; dtype < 96; dtype++) {
        wb__codec scalar, codec;
        if (!wb__codec_get(dtype, wb__cpu_features(), &codec))
            continue;
        (void)wb__codec_get(dtype, 0, &scalar);
        /* Decodes small numbers of blocks, because some kernels process several blocks at once and
         * must also handle the remaining ones. */
        for (size_t round = 0; round < 30; round++) {
            size_t blocks = round % 7 + 1;
            if (codec.dtype->block_size * blocks > VALUES)
                blocks = VALUES / codec.dtype->block_size;
            if (codec.dtype->block_size == 1)
                blocks = round * 5;
            size_t n = blocks * codec.dtype->block_size;
            size_t bytes = (size_t)wb__codec_bytes(&codec, n);
            for (size_t i = 1; i <= bytes; i++)
                in.end[-(ptrdiff_t)i] = (uint8_t)random_bits();
            if (scalar.decode != NULL)
                scalar.decode(in.end - bytes, want, blocks);
            else
                wb__dtype_convert(codec.dtype, in.end - bytes, 0, wb__dtype_get(WB_DTYPE_F32), want,
                                  n);
            for (size_t level = 0; level < sizeof levels / sizeof levels[0]; level++) {
                if ((levels[level] & ~wb__cpu_features()) != 0 ||
                    !wb__codec_get(dtype, levels[level], &codec))
                    continue;
                float *values = (float *)(void *)(out.end - n * sizeof(float));
                memset(values, 0x55, n * sizeof(float));
                codec.decode(in.end - bytes, values, blocks);
                expect_floats(codec.dtype->name, levels[level], values, want, n);
            }
        }
    }
    unguard(&in);
    unguard(&out);
}

/* Returns value i of a kind of test data; some kinds are ordinary, some extreme. */
static float value_of(size_t kind, size_t i)
{
    float v = uniform() * uniform() * uniform();
    switch (kind) {
    case 0: return v * 0.05f;
    case 1: return fabsf(v);
    case 2: return -fabsf(v) * 1e-3f;
    case 3: return roundf(v * 16) / 8;
    case 4: return random_bits() % 8 ? 0.0f : v;
    case 5: return v * ldexpf(1, (int)(i / 32 * 7 % 60) - 30);
    case 6: return v * 1e-38f;
    case 7: return 1e-41f * v;
    case 8: return i % 96 < 32 ? (random_bits() & 1 ? -0.0f : 0.0f) : i % 96 < 64 ? -0.0f : 0.5f;
    case 9: return random_bits() % 50 ? v : v * 1e4f;
    default: break;
    }
    return ldexpf(v, (int)(random_bits() % 20));
}

#define KINDS 11

static void encode_all(void **unused)
{
    (void)unused;
    guarded in = guard(VALUES * sizeof(float)), weights = guard(VALUES * sizeof(float)),
            out = guard(4 * VALUES);
    static uint8_t want[4 * VALUES];
    size_t rounds = getenv("WB_TEST_SLOW") != NULL ? 1 : 3;
    for (int32_t dtype = 0; dtype < 96; dtype++) {
        wb__codec scalar, codec;
        if (!wb__codec_get(dtype, wb__cpu_features(), &codec) || codec.encode == NULL)
            continue;
        (void)wb__codec_get(dtype, 0, &scalar);
        for (size_t round = 0; round < rounds * KINDS; round++) {
            size_t n = codec.dtype->block_size * (1 + round / KINDS % 3);
            if (codec.dtype->block_size < 256)
                n = 256 * (1 + round / KINDS % 3) + codec.dtype->block_size * (round % 3);
            float *values = (float *)(void *)(in.end - n * sizeof(float));
            float *importance = (float *)(void *)(weights.end - n * sizeof(float));
            for (size_t i = 0; i < n; i++) {
                values[i] = value_of(round % KINDS, i);
                importance[i] = round % 4 == 3 && i % 5 == 0 ? 0 : fabsf(uniform()) + 1e-3f;
            }
            size_t bytes = (size_t)wb__codec_bytes(&codec, n);
            for (size_t with = 0; with < 2; with++) {
                if (with == 0 && codec.importance == WB_IMPORTANCE_REQUIRED)
                    continue;
                memset(want, 0, bytes);
                if (scalar.encode != NULL)
                    scalar.encode(values, with ? importance : NULL, want, n);
                else
                    wb__dtype_convert(wb__dtype_get(WB_DTYPE_F32), values, 0, codec.dtype, want, n);
                for (size_t level = 1; level < sizeof levels / sizeof levels[0]; level++) {
                    if ((levels[level] & ~wb__cpu_features()) != 0 ||
                        !wb__codec_get(dtype, levels[level], &codec) || codec.encode == NULL ||
                        codec.encode == scalar.encode)
                        continue;
                    memset(out.end - bytes, 0x55, bytes);
                    codec.encode(values, with ? importance : NULL, out.end - bytes, n);
                    for (size_t i = 0; i < bytes; i++) {
                        if (out.end[(ptrdiff_t)i - (ptrdiff_t)bytes] != want[i])
                            fail_msg(
                                "%s, features %u, kind %lu, importance %lu: byte %lu of %lu is "
                                "%02x, not %02x",
                                codec.dtype->name, (unsigned)levels[level],
                                (unsigned long)(round % KINDS), (unsigned long)with,
                                (unsigned long)i, (unsigned long)bytes,
                                out.end[(ptrdiff_t)i - (ptrdiff_t)bytes], want[i]);
                    }
                }
            }
        }
    }
    unguard(&in);
    unguard(&weights);
    unguard(&out);
}

/*
 * Returns values to test the vectorized search of IQ1, which tries only some of the splits that the
 * scalar search tries. Groups with many equally good splits, or with weights of 0, show whether the
 * vectorized search misses the best split.
 */
static float value_of_few(size_t kind, size_t i, float size)
{
    float v = uniform();
    switch (kind) {
    case 0: return (float)(int)(v * 4);
    case 1: return (float)(int)(v * 2) * 0.125f;
    case 2: return random_bits() & 1 ? size : -size;
    case 3: return i % 16 < 8 ? 1.0f : -1.0f;
    case 4: return 1 + v * 1e-6f;
    case 5: return i % 16 == 3 ? v * 100 : v * 1e-3f;
    case 6: return v * size;
    default: break;
    }
    return v + uniform() + uniform();
}

static void encode_iq1(void **unused)
{
    (void)unused;
    static const int32_t dtypes[] = {WB_DTYPE_IQ1_S, WB_DTYPE_IQ1_M};
    static float values[256], importance[256];
    static uint8_t want[64], got[64];
    size_t rounds = getenv("WB_TEST_SLOW") != NULL ? 10 : 80;
    for (size_t round = 0; round < rounds; round++) {
        float size = ldexpf(1, (int)(random_bits() % 80) - 50);
        for (size_t i = 0; i < 256; i++) {
            uint32_t bits = random_bits();
            values[i] = value_of_few(round % 8, i, size);
            importance[i] = round / 8 % 3 == 0   ? 1
                            : round / 8 % 3 == 1 ? (float)(bits % 3)
                                                 : ldexpf(1, (int)(bits % 20) - 10);
        }
        for (size_t d = 0; d < 2; d++) {
            wb__codec codec;
            assert_true(wb__codec_get(dtypes[d], 0, &codec));
            size_t bytes = (size_t)wb__codec_bytes(&codec, 256);
            codec.encode(values, importance, want, 256);
            for (size_t level = 1; level < sizeof levels / sizeof levels[0]; level++) {
                if ((levels[level] & ~wb__cpu_features()) != 0)
                    continue;
                assert_true(wb__codec_get(dtypes[d], levels[level], &codec));
                codec.encode(values, importance, got, 256);
                if (memcmp(got, want, bytes) != 0)
                    fail_msg("%s, features %u, round %lu", codec.dtype->name,
                             (unsigned)levels[level], (unsigned long)round);
            }
        }
    }
}

/* Encoding any values, and decoding the result, must have no undefined behaviour. */
static void encode_nonsense(void **unused)
{
    (void)unused;
    static float values[512], importance[512], back[512];
    static uint8_t blocks[4 * 512];
    for (int32_t dtype = 0; dtype < 96; dtype++) {
        for (size_t level = 0; level < sizeof levels / sizeof levels[0]; level++) {
            wb__codec codec;
            if ((levels[level] & ~wb__cpu_features()) != 0 ||
                !wb__codec_get(dtype, levels[level], &codec) || codec.encode == NULL)
                continue;
            for (size_t round = 0; round < 8; round++) {
                for (size_t i = 0; i < 512; i++) {
                    uint32_t bits = random_bits(), weight = random_bits() & 0x7FFFFFFF;
                    if (round % 4 == 1 && i % 3 == 0)
                        bits = i % 2 ? 0x7F800000 : 0xFFC00001;
                    if (round % 4 == 2)
                        bits = i % 17 == 0 ? 0xFF800000 : 0x3F800000;
                    memcpy(&values[i], &bits, 4);
                    memcpy(&importance[i], &weight, 4);
                }
                codec.encode(values, importance, blocks, 512);
                if (codec.importance != WB_IMPORTANCE_REQUIRED)
                    codec.encode(values, NULL, blocks, 512);
                if (codec.decode != NULL)
                    codec.decode(blocks, back, 512 / codec.dtype->block_size);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decode_all), cmocka_unit_test(encode_all),
                                       cmocka_unit_test(encode_iq1),
                                       cmocka_unit_test(encode_nonsense)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

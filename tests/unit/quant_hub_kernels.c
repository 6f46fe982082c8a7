/*
 * Tests the AWQ and GPTQ decoders of every instruction set. They must give the same bits as the
 * scalar code, for any bit patterns and group sizes, with and without g_idx. Buffers end at an
 * inaccessible page.
 */
#define _DEFAULT_SOURCE
#include "kernels.h"
#include "quant_mlx.h"

#include "quant/hub/hub.h"

static guarded random_guarded(size_t n)
{
    guarded g = guard(n);
    for (size_t i = 0; i < n; i++)
        g.at[i] = (uint8_t)random_bits();
    return g;
}

/* ---- one tensor with all instruction sets ---- */

typedef void decoder(uint32_t features, const wb__int4 *tensor, uint64_t first, uint64_t rows,
                     float *values);

static void check(decoder *decode, const wb__int4 *tensor, uint64_t first, uint64_t rows)
{
    size_t bytes = (size_t)(rows * tensor->in) * sizeof(float);
    guarded want = guard(bytes), have = guard(bytes);
    decode(0, tensor, first, rows, (float *)(void *)want.at);
    for (size_t i = 1; i < LEVELS; i++) {
        if (level(i) == NO_LEVEL)
            continue;
        memset(have.at, 0x5A, bytes);
        decode(level(i), tensor, first, rows, (float *)(void *)have.at);
        if (memcmp(have.at, want.at, bytes) != 0)
            fail_msg("%s: %d inputs in groups of %d", level_name(level(i)), (int)tensor->in,
                     (int)tensor->group);
    }
    unguard(&want);
    unguard(&have);
}

/* Makes a g_idx in which `run` successive inputs have the same group, as GPTQ sorts them. Some
 * group indices are out of range. */
static void fill_order(uint8_t *order, uint64_t in, uint64_t groups, unsigned run)
{
    uint32_t group = 0;
    for (uint64_t i = 0; i < in; i++) {
        if (i % run == 0)
            group = random_bits() % (uint32_t)(groups + 1);
        wb__store_le32(order + 4 * i, group);
    }
}

static void check_shape(bool awq, uint64_t out, uint64_t in, uint64_t group, int32_t dtype)
{
    uint64_t groups = (in + group - 1) / group;
    size_t width = dtype == WB_DTYPE_F32 ? 4 : 2;
    guarded qweight = random_guarded((size_t)(in * out / 2));
    guarded qzeros = random_guarded((size_t)(groups * out / 2));
    guarded scales = random_guarded((size_t)(groups * out) * width);
    guarded order = guard((size_t)in * 4);
    wb__int4 tensor = {.qweight = qweight.at,
                       .qzeros = qzeros.at,
                       .scales = scales.at,
                       .scales_dtype = dtype,
                       .out = out,
                       .in = in,
                       .group = group,
                       .groups = groups,
                       .zero_offset = !awq && in % 16 == 0};
    decoder *decode = awq ? wb__awq_decode : wb__gptq_decode;
    check(decode, &tensor, 0, out);
    check(decode, &tensor, out - 8, 8);
    for (unsigned run = 1; run <= 16 && !awq; run *= 2) {
        fill_order(order.at, in, groups, run);
        tensor.g_idx = order.at;
        check(decode, &tensor, 0, out);
    }
    unguard(&qweight);
    unguard(&qzeros);
    unguard(&scales);
    unguard(&order);
}

static void all_levels(void **state)
{
    static const int32_t dtypes[] = {WB_DTYPE_F32, WB_DTYPE_F16, WB_DTYPE_BF16};
    static const uint64_t groups[] = {1, 5, 8, 12, 16, 32, 64, 1000};
    (void)state;
    for (size_t d = 0; d < 3; d++) {
        for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
            for (uint64_t in = 8; in <= 104; in += 8) {
                uint64_t out = 8 + in % 24;
                uint64_t group = groups[g] < in ? groups[g] : in;
                check_shape(false, out, in, group, dtypes[d]);
                check_shape(true, out, in, group, dtypes[d]);
                check_shape(true, out, in - 3, group < in - 3 ? group : in - 3, dtypes[d]);
            }
        }
    }
}

/* Tests every code with every zero point and several scales, including non-finite ones. */
static void all_codes(void **state)
{
    static const uint32_t scales[] = {0x3F800000, 0x00000001, 0x80000000, 0x7F800000,
                                      0x7FC00000, 0xFF812345, 0x7F7FFFFF, 0xBE4CCCCD};
    (void)state;
    uint8_t words[16 * 4], order[16 * 4], parts[8 * 4];
    for (uint32_t zero = 0; zero < 16; zero++) {
        uint8_t zeros[4];
        wb__store_le32(zeros, zero * 0x11111111);
        for (uint32_t i = 0; i < 16; i++)
            wb__store_le32(words + 4 * i, i * 0x11111111);
        for (uint32_t k = 0; k < 8; k++)
            wb__store_le32(parts + 4 * k, scales[k]);
        memset(order, 0, sizeof order);
        wb__int4 tensor = {.qweight = words,
                           .qzeros = zeros,
                           .scales = parts,
                           .scales_dtype = WB_DTYPE_F32,
                           .out = 8,
                           .in = 16,
                           .group = 16,
                           .groups = 1};
        check(wb__awq_decode, &tensor, 0, 8);
        tensor.g_idx = order;
        tensor.zero_offset = zero % 2;
        check(wb__gptq_decode, &tensor, 0, 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_levels), cmocka_unit_test(all_codes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

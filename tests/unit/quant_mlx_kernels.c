/*
 * Tests the MLX kernels of every instruction set. They must give the same bits as the scalar code,
 * for any bit patterns of codes, scales and values, and any number of groups. Buffers end at an
 * inaccessible page.
 */
#define _DEFAULT_SOURCE
#include "kernels.h"
#include "quant_mlx.h"

#define MOST_GROUPS 131

/* ---- numbers at random ---- */

static void random_bytes(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)random_bits();
}

typedef enum kind { ANY_BITS, ORDINARY, TIES, MOSTLY_ORDINARY, ZEROS, KINDS } kind;

/* Makes random values of a dtype. ANY_BITS: any bits; ORDINARY: typical weights; TIES: multiples of
 * 0.25; MOSTLY_ORDINARY: typical weights, but any bits for one value of 64; ZEROS: mostly zeros. */
static void random_values(kind k, int32_t dtype, uint8_t *values, size_t n)
{
    size_t size = wb__float_size(dtype);
    float scale = wb__float_power((int)(random_bits() % 24) - 12);
    for (size_t i = 0; i < n; i++) {
        float x = ((float)(random_bits() % 20001) - 10000) / 10000.0f;
        if (k == TIES)
            x = (float)(int)(random_bits() % 97 - 48) * 0.25f;
        if (k == ZEROS)
            x = random_bits() % 8 != 0 ? wb__float_of_bits(random_bits() & 0x80000000) : 1.0f;
        wb__float_store(dtype, values + i * size, k == TIES ? x : x * scale);
        if (k == ANY_BITS || (k == MOSTLY_ORDINARY && random_bits() % 64 == 0))
            random_bytes(values + i * size, size);
    }
}

/* ---- types ---- */

static const wb__mlx_type types[] = {
    {WB__MLX_AFFINE, 1, 32}, {WB__MLX_AFFINE, 1, 64}, {WB__MLX_AFFINE, 1, 128},
    {WB__MLX_AFFINE, 2, 32}, {WB__MLX_AFFINE, 2, 64}, {WB__MLX_AFFINE, 2, 128},
    {WB__MLX_AFFINE, 3, 32}, {WB__MLX_AFFINE, 3, 64}, {WB__MLX_AFFINE, 3, 128},
    {WB__MLX_AFFINE, 4, 32}, {WB__MLX_AFFINE, 4, 64}, {WB__MLX_AFFINE, 4, 128},
    {WB__MLX_AFFINE, 5, 32}, {WB__MLX_AFFINE, 5, 64}, {WB__MLX_AFFINE, 5, 128},
    {WB__MLX_AFFINE, 6, 32}, {WB__MLX_AFFINE, 6, 64}, {WB__MLX_AFFINE, 6, 128},
    {WB__MLX_AFFINE, 8, 32}, {WB__MLX_AFFINE, 8, 64}, {WB__MLX_AFFINE, 8, 128},
    {WB__MLX_MXFP4, 4, 32},  {WB__MLX_MXFP8, 8, 32},  {WB__MLX_NVFP4, 4, 16},
};
static const int32_t dtypes[] = {WB_DTYPE_F32, WB_DTYPE_F16, WB_DTYPE_BF16};

static size_t next_count(size_t groups)
{
    size_t step = getenv("WB_TEST_SLOW") != NULL ? 40 : groups < 5 ? 1 : groups < 40 ? 7 : 30;
    return groups + step;
}

/* ---- decoding ---- */

static void decode_case(const wb__mlx_type *type, kind k, int32_t scales, int32_t biases,
                        int32_t dtype, bool native, wb__mlx_global global, size_t groups,
                        guarded *packed, guarded *s, guarded *b, guarded *out)
{
    static uint8_t expected[MOST_GROUPS * WB__MLX_GROUP_MAX * 4];
    size_t scale_size = type->mode == WB__MLX_AFFINE ? wb__float_size(scales) : 1;
    size_t packed_bytes = groups * wb__mlx_group_bytes(type);
    size_t bytes = groups * type->group * wb__dtype_get(dtype)->block_bits / 8;
    wb__mlx_parts parts = {.weight = packed->end - packed_bytes,
                           .scales = s->end - groups * scale_size,
                           .biases = b->end - groups * wb__float_size(biases),
                           .scales_dtype = scales,
                           .biases_dtype = biases,
                           .global = global,
                           .global_scale = 3.7f};
    random_bytes(packed->end - packed_bytes, packed_bytes);
    if (type->mode == WB__MLX_AFFINE) {
        random_values(k, scales, s->end - groups * scale_size, groups);
        random_values(k, biases, b->end - groups * wb__float_size(biases), groups);
    } else {
        random_bytes(s->end - groups, groups);
        for (size_t g = 0; g < groups && k != ANY_BITS; g++) /* mostly finite scales */
            s->end[-1 - (ptrdiff_t)g] &= 0x7E;
    }
    wb__mlx_decode(0, type, &parts, native, 0, groups, dtype, expected);
    for (size_t i = 1; i < LEVELS && level(i) != NO_LEVEL; i++) {
        uint8_t *values = out->end - bytes;
        memset(values, 0xA5, bytes);
        values[-1] = 0x5A;
        wb__mlx_decode(level(i), type, &parts, native, 0, groups, dtype, values);
        if (memcmp(values, expected, bytes) != 0 || values[-1] != 0x5A)
            fail_msg("mode %d, %u bits, group %u, %zu groups of %s to %s, kind %d: %s differs",
                     (int)type->mode, (unsigned)type->bits, (unsigned)type->group, groups,
                     wb_dtype_name(scales), wb_dtype_name(dtype), (int)k, level_name(level(i)));
    }
}

static void decoders(void **state)
{
    (void)state;
    guarded packed = guard(MOST_GROUPS * 128), out = guard(MOST_GROUPS * 128 * 4 + 1);
    guarded s = guard(MOST_GROUPS * 4), b = guard(MOST_GROUPS * 4);
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        bool affine = types[t].mode == WB__MLX_AFFINE;
        for (size_t groups = 1; groups <= MOST_GROUPS; groups = next_count(groups)) {
            for (size_t d = 0; d < 3; d++) {
                kind k = (kind)(random_bits() % 4);
                int32_t scales = affine ? dtypes[d] : WB_DTYPE_F32;
                decode_case(&types[t], k, scales, scales, dtypes[d], true, WB__MLX_GLOBAL_NONE,
                            groups, &packed, &s, &b, &out);
                if (affine)
                    decode_case(&types[t], k, scales, dtypes[(d + 1) % 3], WB_DTYPE_F32, d == 0, 0,
                                groups, &packed, &s, &b, &out);
            }
            for (int g = 0; g <= 4 && types[t].mode == WB__MLX_NVFP4; g++)
                decode_case(&types[t], ORDINARY, 0, 0, g % 2 == 0 ? WB_DTYPE_F32 : WB_DTYPE_F8_E5M2,
                            true, (wb__mlx_global)g, groups, &packed, &s, &b, &out);
        }
    }
    unguard(&packed);
    unguard(&out);
    unguard(&s);
    unguard(&b);
}

/* ---- encoding ---- */

static void encode_case(const wb__mlx_type *type, kind k, int32_t dtype,
                        const wb__mlx_encoding *encoding, size_t groups, guarded *values,
                        guarded out[3])
{
    static uint8_t expected[3][MOST_GROUPS * WB__MLX_GROUP_MAX];
    size_t scale_bytes = groups * (type->mode == WB__MLX_AFFINE ? wb__float_size(dtype) : 1);
    size_t bytes[3] = {groups * wb__mlx_group_bytes(type), scale_bytes,
                       type->mode == WB__MLX_AFFINE ? scale_bytes : 0};
    size_t in_bytes = groups * type->group * wb__float_size(dtype);
    random_values(k, dtype, values->end - in_bytes, groups * type->group);
    wb__mlx_encode(0, type, encoding, dtype, values->end - in_bytes, 0, groups,
                   &(wb__mlx_encoded){expected[0], expected[1], expected[2]});
    for (size_t i = 1; i < LEVELS && level(i) != NO_LEVEL; i++) {
        uint8_t *to[3];
        for (size_t p = 0; p < 3; p++) {
            to[p] = out[p].end - bytes[p];
            to[p][-1] = 0x5A;
        }
        wb__mlx_encode(level(i), type, encoding, dtype, values->end - in_bytes, 0, groups,
                       &(wb__mlx_encoded){to[0], to[1], to[2]});
        for (size_t p = 0; p < 3; p++) {
            if (memcmp(to[p], expected[p], bytes[p]) != 0 || to[p][-1] != 0x5A)
                fail_msg("mode %d, %u bits, group %u, %zu groups of %s, kind %d: part %zu of %s",
                         (int)type->mode, (unsigned)type->bits, (unsigned)type->group, groups,
                         wb_dtype_name(dtype), (int)k, p, level_name(level(i)));
        }
    }
}

static void encoders(void **state)
{
    (void)state;
    guarded values = guard(MOST_GROUPS * 128 * 4);
    guarded out[3] = {guard(MOST_GROUPS * 128 + 1), guard(MOST_GROUPS * 4 + 1),
                      guard(MOST_GROUPS * 4 + 1)};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (size_t groups = 1; groups <= MOST_GROUPS; groups = next_count(groups)) {
            for (int k = 0; k < KINDS; k++) {
                wb__mlx_encoding encoding = {.e8m0 = (wb__mlx_e8m0)(random_bits() % 2),
                                             .has_global = random_bits() % 2,
                                             .global_scale = wb__float_power(k)};
                encode_case(&types[t], (kind)k, dtypes[random_bits() % 3], &encoding, groups,
                            &values, out);
            }
        }
    }
    unguard(&values);
    for (size_t p = 0; p < 3; p++)
        unguard(&out[p]);
}

/* Tests the search for the largest magnitude, which must ignore NaNs, for any length. */
static void amax(void **state)
{
    (void)state;
    static uint8_t values[5000 * 4];
    for (size_t n = 0; n <= 5000; n = n * 3 + 1) {
        for (size_t d = 0; d < 3; d++) {
            random_values(ORDINARY, dtypes[d], values, n);
            if (n > 2)
                wb__float_store(dtypes[d], values + n / 2 * wb__float_size(dtypes[d]),
                                wb__float_of_bits(WB__FLOAT_NAN));
            float expected = wb__mlx_amax(0, dtypes[d], values, n), most = 0;
            for (size_t i = 0; i < n; i++) {
                float x = wb__float_load(dtypes[d], values + i * wb__float_size(dtypes[d]));
                most = wb__float_magnitude(x) > most ? wb__float_magnitude(x) : most;
            }
            assert_true(expected == most);
            for (size_t i = 1; i < LEVELS && level(i) != NO_LEVEL; i++)
                assert_true(wb__mlx_amax(level(i), dtypes[d], values, n) == most);
        }
    }
}

/* Decoding some of the groups must give the same values as decoding all of them. */
static void parts_of_the_whole(void **state)
{
    (void)state;
    enum { GROUPS = 40 };
    static uint8_t packed[GROUPS * 128], s[GROUPS * 4], b[GROUPS * 4];
    static uint8_t all[GROUPS * 128 * 4], some[GROUPS * 128 * 4];
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        random_bytes(packed, sizeof packed);
        random_values(ORDINARY, WB_DTYPE_BF16, s, GROUPS);
        random_values(ORDINARY, WB_DTYPE_BF16, b, GROUPS);
        wb__mlx_parts parts = {.weight = packed,
                               .scales = s,
                               .biases = b,
                               .scales_dtype = WB_DTYPE_BF16,
                               .biases_dtype = WB_DTYPE_BF16};
        static const int32_t to[] = {WB_DTYPE_F32, WB_DTYPE_BF16, WB_DTYPE_F6_E3M2, WB_DTYPE_F4};
        for (size_t d = 0; d < 4; d++) {
            size_t group = types[t].group * wb__dtype_get(to[d])->block_bits / 8;
            uint32_t features = wb__cpu_features();
            wb__mlx_decode(features, &types[t], &parts, true, 0, GROUPS, to[d], all);
            wb__mlx_decode(features, &types[t], &parts, true, 7, 1, to[d], some);
            assert_memory_equal(some, all + 7 * group, group);
            wb__mlx_decode(features, &types[t], &parts, true, 3, 33, to[d], some);
            assert_memory_equal(some, all + 3 * group, 33 * group);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decoders), cmocka_unit_test(encoders),
                                       cmocka_unit_test(amax),
                                       cmocka_unit_test(parts_of_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

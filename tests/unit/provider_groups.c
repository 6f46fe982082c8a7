/*
 * Tests the groups in which tensors of different types can be fused.
 */
#include "support.h"
#include "weights.h"

static wb_provider *provider_of(const wb_model *model)
{
    wb_error error;
    wb_provider *provider;
    if (wb_provider_create(model, NULL, NULL, &provider, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return provider;
}

#define QKV_NAMES                                                                                  \
    "layers.0.attention.q.weight", "layers.0.attention.k.weight", "layers.0.attention.v.weight"

/* Adds q, k and v with these numbers of bits. */
static weights *make_model(const unsigned bits[3])
{
    static const char *const modules[] = {"model.layers.0.self_attn.q_proj",
                                          "model.layers.0.self_attn.k_proj",
                                          "model.layers.0.self_attn.v_proj"};
    char *config =
        text_of("{\"model_type\":\"llama\",\"quantization\":{\"bits\":%u,\"group_size\":32,"
                "\"%s\":{\"bits\":%u,\"group_size\":32},"
                "\"%s\":{\"bits\":%u,\"group_size\":32}}}",
                bits[0], modules[1], bits[1], modules[2], bits[2]);
    weights *w = weights_new(config);
    free(config);
    for (size_t i = 0; i < 3; i++) {
        const uint64_t shape[2] = {i == 0 ? 24 : 8, 64};
        weights_mlx(w, modules[i], "affine", bits[i], 32, shape, 2, "BF16");
    }
    (void)weights_open(w);
    return w;
}

static void test_groups(void **state)
{
    static const struct {
        unsigned bits[3];
        uint32_t groups[3], count;
    } cases[] = {{{4, 4, 4}, {0, 0, 0}, 1},
                 {{4, 4, 6}, {0, 0, 1}, 2},
                 {{4, 6, 4}, {0, 1, 0}, 2},
                 {{3, 4, 6}, {0, 1, 2}, 3}};
    static const char *const names[] = {QKV_NAMES};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        weights *w = make_model(cases[c].bits);
        wb_provider *provider = provider_of(w->model);
        uint32_t groups[3], count;
        wb_error error;
        assert_int_equal(wb_provider_fuse_groups(provider, names, NULL, 3, groups, &count, &error),
                         WB_OK);
        assert_int_equal(count, cases[c].count);
        assert_memory_equal(groups, cases[c].groups, sizeof groups);
        /* Each group can be fused. */
        for (uint32_t group = 0; group < count; group++) {
            const char *members[3];
            size_t n = 0;
            wb_buffer b = WB_BUFFER_INIT;
            for (size_t i = 0; i < 3; i++) {
                if (groups[i] == group)
                    members[n++] = names[i];
            }
            assert_int_equal(wb_provider_fuse(provider, members, NULL, n, 0, &b, &error), WB_OK);
            assert_int_equal(b.parts, n);
        }
        /* The name of the fused tensor always exists. The fused tensor has a dtype only if q, k and
         * v have the same dtype. */
        assert_int_equal(wb_provider_has(provider, "layers.0.attention.qkv.weight", SIZE_MAX), 1);
        assert_int_equal(wb_provider_dtype(provider, "layers.0.attention.qkv.weight", SIZE_MAX),
                         count == 1 ? 100 : -1);
        wb_buffer b = WB_BUFFER_INIT;
        wb_status status =
            wb_provider_get(provider, "layers.0.attention.qkv.weight", SIZE_MAX, &b, &error);
        assert_int_equal(status, count == 1 ? WB_OK : WB_ERROR_UNSUPPORTED);
        if (count > 1) {
            assert_string_equal(error.code, "fuse");
            assert_non_null(strstr(error.advice, "wb_provider_fuse_groups"));
        }
        wb_provider_destroy(provider);
        weights_free(w);
    }
}

static void test_dtypes(void **state)
{
    static const unsigned bits[3] = {4, 4, 6};
    (void)state;
    weights *w = make_model(bits);
    wb_provider *provider = provider_of(w->model);
    assert_int_equal(wb_provider_dtype(provider, "layers.0.attention.q.weight", SIZE_MAX), 100);
    assert_int_equal(wb_provider_dtype(provider, "layers.0.attention.v.weight", SIZE_MAX), 102);
    assert_int_equal(wb_provider_dtype(provider,
                                       "layers.0.attention.q.weight+layers.0.attention.k.weight",
                                       SIZE_MAX),
                     100);
    assert_int_equal(wb_provider_dtype(provider,
                                       "layers.0.attention.q.weight+layers.0.attention.v.weight",
                                       SIZE_MAX),
                     -1);
    assert_int_equal(wb_provider_dtype(provider, "layers.0.attention.q.weight+x", SIZE_MAX), -1);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* Tests FP8 with blocks of 128 rows. In a group, only the last tensor may have a number of rows
 * that is not a multiple of 128. */
static void test_blocks(void **state)
{
    static const uint64_t rows[] = {128, 130, 256, 128};
    static const uint32_t expected[] = {0, 0, 1, 1};
    const char *names[4];
    uint32_t groups[4], count;
    wb_error error;
    (void)state;
    weights *w = weights_new("{\"quantization_config\":{\"quant_method\":\"fp8\","
                             "\"weight_block_size\":[128,128]}}");
    for (size_t i = 0; i < 4; i++) {
        const uint64_t shape[2] = {rows[i], 128}, scales[2] = {(rows[i] + 127) / 128, 1};
        char name[32];
        (void)snprintf(name, sizeof name, "t%u.weight_scale_inv", (unsigned)i);
        weights_floats(w, name, "F32", scales, 2);
        (void)snprintf(name, sizeof name, "t%u.weight", (unsigned)i);
        weights_raw(w, name, "F8_E4M3", shape, 2, 1);
        names[i] = w->tensors[w->count - 1].name;
    }
    wb_provider *provider = provider_of(weights_open(w));
    assert_int_equal(wb_provider_fuse_groups(provider, names, NULL, 4, groups, &count, &error),
                     WB_OK);
    assert_int_equal(count, 2);
    assert_memory_equal(groups, expected, sizeof groups);
    wb_provider_destroy(provider);
    weights_free(w);
}

static void test_refused(void **state)
{
    static const unsigned bits[3] = {4, 4, 6};
    static const char *const names[] = {"layers.0.attention.q.weight", "nothing"};
    const char *many[WB_FUSE_GROUPS_MAX + 1];
    uint32_t groups[WB_FUSE_GROUPS_MAX + 1] = {9, 9}, count = 9;
    size_t lens[] = {27, 2};
    wb_error error;
    (void)state;
    weights *w = make_model(bits);
    wb_provider *provider = provider_of(w->model);
    assert_int_equal(wb_provider_fuse_groups(provider, names, NULL, 2, groups, &count, &error),
                     WB_ERROR_NOT_FOUND);
    assert_string_equal(error.name, "nothing");
    assert_int_equal(count | groups[0] | groups[1], 0);
    assert_int_equal(wb_provider_fuse_groups(provider, names, lens, 2, groups, &count, &error),
                     WB_ERROR_NOT_FOUND);
    assert_string_equal(error.name, "no");
    assert_int_equal(wb_provider_fuse_groups(provider, names, NULL, 0, groups, &count, &error),
                     WB_ERROR_ARGUMENT);
    for (size_t i = 0; i <= WB_FUSE_GROUPS_MAX; i++)
        many[i] = names[0];
    assert_int_equal(wb_provider_fuse_groups(provider, many, NULL, WB_FUSE_GROUPS_MAX + 1, groups,
                                             &count, &error),
                     WB_ERROR_ARGUMENT);
    assert_int_equal(
        wb_provider_fuse_groups(provider, many, NULL, WB_FUSE_GROUPS_MAX, groups, &count, &error),
        WB_OK);
    assert_int_equal(count, 1);
    wb_provider_destroy(provider);
    weights_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_dtypes),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

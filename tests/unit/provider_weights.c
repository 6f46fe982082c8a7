/*
 * Tests wb_provider_weights, which loads the weights of a layer, for every family and format: the
 * order, fusing as far as the types permit, slices for ranks, read-ahead, and freeing.
 */
#include "support.h"
#include "weights.h"

#include "executor.h"

static wb_model *open_twin(const char *name)
{
    char *path = text_of("%s/twins/%s", TEST_DATA, name);
    wb_model *model;
    wb_error error;
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", path, error.message);
    free(path);
    return model;
}

static wb_provider *provider_of(const wb_model *model, uint32_t flags)
{
    const wb_policy policy = {
        .size = sizeof policy, .plain = WB_PLAIN_DTYPE, .dtype = WB_DTYPE_F32, .flags = flags};
    wb_provider *provider;
    wb_error error;
    if (wb_provider_create(model, NULL, &policy, &provider, &error) != WB_OK)
        fail_msg("%s\n", error.message);
    return provider;
}

static wb_weights *weights_of(wb_provider *provider, uint32_t layer, uint32_t flags, uint32_t rank,
                              uint32_t of)
{
    const wb_weights_options options = {
        .size = sizeof options, .flags = flags, .rank = rank, .of = of};
    wb_weights *list;
    wb_error error;
    if (wb_provider_weights(provider, layer, &options, &list, &error) != WB_OK)
        fail_msg("layer %u: %s\n", (unsigned)layer, error.message);
    return list;
}

/* Returns the names of all weights in the list, separated by spaces. The caller frees them. */
static char *names_of(const wb_weights *list)
{
    char *all = text_of("%s", "");
    for (uint32_t i = 0; i < wb_weights_count(list); i++) {
        wb_weight weight = WB_WEIGHT_INIT;
        assert_int_equal(wb_weights_at(list, i, &weight), WB_OK);
        char *longer = text_of("%s%s%s", all, i == 0 ? "" : " ", weight.name);
        free(all);
        all = longer;
    }
    wb_weight weight = WB_WEIGHT_INIT;
    assert_int_equal(wb_weights_at(list, wb_weights_count(list), &weight), WB_ERROR_NOT_FOUND);
    return all;
}

static void check_names(const wb_weights *list, const char *expected)
{
    char *names = names_of(list);
    assert_string_equal(names, expected);
    free(names);
}

/* ---- order of use ---- */

static void test_order(void **state)
{
    static const struct {
        const char *name, *layer, *fused, *outside;
    } cases[] = {
        {"llama",
         "attention_norm.weight attention.q.weight attention.k.weight attention.v.weight "
         "attention.output.weight ffn_norm.weight ffn.gate.weight ffn.up.weight ffn.down.weight",
         "attention_norm.weight attention.qkv.weight attention.output.weight ffn_norm.weight "
         "ffn.gate_up.weight ffn.down.weight",
         "token_embedding.weight output_norm.weight output.weight"},
        {"qwen2",
         "attention_norm.weight attention.q.weight attention.q.bias attention.k.weight "
         "attention.k.bias attention.v.weight attention.v.bias attention.output.weight "
         "ffn_norm.weight ffn.gate.weight ffn.up.weight ffn.down.weight",
         "attention_norm.weight attention.qkv.weight attention.qkv.bias attention.output.weight "
         "ffn_norm.weight ffn.gate_up.weight ffn.down.weight",
         NULL},
        {"phi3",
         "attention_norm.weight attention.qkv.weight attention.output.weight ffn_norm.weight "
         "ffn.gate_up.weight ffn.down.weight",
         "attention_norm.weight attention.qkv.weight attention.output.weight ffn_norm.weight "
         "ffn.gate_up.weight ffn.down.weight",
         NULL},
        {"gemma3",
         "attention_norm.weight attention.q.weight attention.k.weight attention.v.weight "
         "attention.q_norm.weight attention.k_norm.weight attention.output.weight "
         "post_attention_norm.weight ffn_norm.weight ffn.gate.weight ffn.up.weight "
         "ffn.down.weight post_ffn_norm.weight",
         "attention_norm.weight attention.qkv.weight attention.q_norm.weight "
         "attention.k_norm.weight attention.output.weight post_attention_norm.weight "
         "ffn_norm.weight ffn.gate_up.weight ffn.down.weight post_ffn_norm.weight",
         "token_embedding.weight output_norm.weight output.weight"},
        {"qwen3moe",
         "attention_norm.weight attention.q.weight attention.k.weight attention.v.weight "
         "attention.q_norm.weight attention.k_norm.weight attention.output.weight ffn_norm.weight "
         "ffn.router.weight ffn.experts.gate.weight ffn.experts.up.weight ffn.experts.down.weight",
         "attention_norm.weight attention.qkv.weight attention.q_norm.weight "
         "attention.k_norm.weight attention.output.weight ffn_norm.weight ffn.router.weight "
         "ffn.experts.gate_up.weight ffn.experts.down.weight",
         NULL},
    };
    (void)state;
    for (size_t c = 0; c < 2 * sizeof cases / sizeof cases[0]; c++) {
        char *name = text_of("%s%s", cases[c / 2].name, c % 2 ? ".gguf" : "");
        wb_model *model = open_twin(name);
        wb_provider *provider = provider_of(model, 0);
        wb_weights *list = weights_of(provider, 1, 0, 0, 0);
        check_names(list, cases[c / 2].layer);
        wb_weights_free(list);
        list = weights_of(provider, 0, WB_WEIGHTS_FUSE, 0, 0);
        check_names(list, cases[c / 2].fused);
        wb_weights_free(list);
        list = weights_of(provider, WB_WEIGHTS_OUTSIDE, 0, 0, 0);
        if (cases[c / 2].outside != NULL)
            check_names(list, cases[c / 2].outside);
        wb_weights_free(list);
        wb_provider_destroy(provider);
        wb_close(model);
        free(name);
    }
}

/* ---- the same buffers in every format ---- */

static void check_same(const wb_weights *a, const wb_weights *b)
{
    char *x = names_of(a), *y = names_of(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
    for (uint32_t i = 0; i < wb_weights_count(a); i++) {
        wb_weight p = WB_WEIGHT_INIT, q = WB_WEIGHT_INIT;
        assert_int_equal(wb_weights_at(a, i, &p), WB_OK);
        assert_int_equal(wb_weights_at(b, i, &q), WB_OK);
        assert_int_equal(p.axis, q.axis);
        assert_int_equal(p.rows, q.rows);
        assert_int_equal(p.buffer->parts, q.buffer->parts);
        assert_int_equal(p.buffer->bytes, q.buffer->bytes);
        if (memcmp(p.buffer->contents, q.buffer->contents, (size_t)p.buffer->bytes) != 0)
            fail_msg("%s differs\n", p.name);
    }
}

static void test_twins(void **state)
{
    static const char *const families[] = {"gemma",   "gemma2", "gemma3", "llama", "mistral",
                                           "mixtral", "phi3",   "qwen2",  "qwen3", "qwen3moe"};
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        char *file = text_of("%s.gguf", families[i]);
        wb_model *a = open_twin(families[i]), *b = open_twin(file);
        wb_provider *p = provider_of(a, WB_POLICY_ROPE_HALF | WB_POLICY_NORM_PLAIN);
        wb_provider *q = provider_of(b, WB_POLICY_ROPE_HALF | WB_POLICY_NORM_PLAIN);
        for (uint32_t of = 0; of <= 2; of++) {
            for (uint32_t layer = 0; layer < 3; layer++) {
                uint32_t n = layer == 2 ? WB_WEIGHTS_OUTSIDE : layer;
                for (uint32_t rank = 0; rank < (of == 0 ? 1 : of); rank++) {
                    wb_weights *x = weights_of(p, n, WB_WEIGHTS_FUSE, rank, of);
                    wb_weights *y = weights_of(q, n, WB_WEIGHTS_FUSE, rank, of);
                    check_same(x, y);
                    wb_weights_free(x);
                    wb_weights_free(y);
                }
            }
        }
        wb_provider_destroy(p);
        wb_provider_destroy(q);
        wb_close(a);
        wb_close(b);
        free(file);
    }
}

/* ---- tensors of different types ---- */

/* Makes a model in which v has another type than q and k, as in Q4_K_M. Here the types are affine
 * with 4 and 6 bits. */
static weights *mixed_model(void)
{
    static const char *const names[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                        "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj",
                                        "self_attn.o_proj"};
    weights *w = weights_new(
        "{\"model_type\":\"llama\",\"num_attention_heads\":4,\"num_key_value_heads\":2,"
        "\"head_dim\":16,\"hidden_size\":64,\"num_hidden_layers\":1,\"quantization\":{\"bits\":4,"
        "\"group_size\":32,\"model.layers.0.self_attn.v_proj\":{\"bits\":6,\"group_size\":32}}}");
    for (size_t i = 0; i < 7; i++) {
        uint64_t shape[2] = {i == 1 || i == 2 ? 32 : 64, 64};
        char module[64];
        (void)snprintf(module, sizeof module, "model.layers.0.%s", names[i]);
        weights_mlx(w, module, "affine", i == 2 ? 6 : 4, 32, shape, 2, "BF16");
    }
    (void)weights_open(w);
    return w;
}

static void check_part(const wb_weights *list, const char *name, const char *whole, uint64_t first,
                       uint64_t rows)
{
    wb_weight part = WB_WEIGHT_INIT;
    assert_int_equal(wb_weights_find(list, name, SIZE_MAX, &part), WB_OK);
    assert_string_equal(part.name, whole);
    assert_int_equal(part.first_row, first);
    assert_int_equal(part.rows, rows);
}

static void test_mixed(void **state)
{
    (void)state;
    weights *w = mixed_model();
    wb_provider *provider = provider_of(w->model, 0);
    wb_weights *list = weights_of(provider, 0, WB_WEIGHTS_FUSE, 0, 0);
    static const char q_k[] = "attention.q.weight+attention.k.weight";
    check_names(list, "attention.q.weight+attention.k.weight attention.v.weight "
                      "attention.output.weight ffn.gate_up.weight ffn.down.weight");
    check_part(list, "attention.q.weight", q_k, 0, 64);
    check_part(list, "attention.k.weight", q_k, 64, 32);
    check_part(list, "attention.v.weight", "attention.v.weight", 0, 32);
    check_part(list, "ffn.up.weight", "ffn.gate_up.weight", 64, 64);
    check_part(list, "ffn.gate_up.weight", "ffn.gate_up.weight", 0, 128);
    check_part(list, q_k, q_k, 0, 96);
    wb_weight none = WB_WEIGHT_INIT;
    assert_int_equal(wb_weights_find(list, "attention.qkv.weight", SIZE_MAX, &none),
                     WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_weights_find(list, "attention.q.weigh", SIZE_MAX, &none),
                     WB_ERROR_NOT_FOUND);
    assert_int_equal(wb_weights_find(list, "attention.q.weight", 17, &none), WB_ERROR_NOT_FOUND);
    wb_weights_free(list);
    /* Each rank must get a slice of the rows of q, k, v, gate and up, and of the columns of the
     * others. */
    for (uint32_t rank = 0; rank < 2; rank++) {
        list = weights_of(provider, 0, WB_WEIGHTS_FUSE, rank, 2);
        check_part(list, "attention.k.weight", q_k, 32, 16);
        check_part(list, "ffn.down.weight", "ffn.down.weight", 0, 64);
        wb_weight down = WB_WEIGHT_INIT;
        assert_int_equal(wb_weights_find(list, "ffn.down.weight", SIZE_MAX, &down), WB_OK);
        assert_int_equal(down.axis, 1);
        assert_int_equal(down.buffer->shape[1], 32);
        wb_weights_free(list);
    }
    wb_provider_destroy(provider);
    weights_free(w);
}

/* If q, k and v are stored as one tensor, each must be found as a range of its rows. */
static void test_stored_as_one(void **state)
{
    (void)state;
    wb_model *model = open_twin("phi3");
    wb_provider *provider = provider_of(model, 0);
    wb_weights *list = weights_of(provider, 0, 0, 0, 0);
    check_part(list, "attention.v.weight", "attention.qkv.weight", 12, 4);
    check_part(list, "ffn.up.weight", "ffn.gate_up.weight", 12, 12);
    wb_weights_free(list);
    wb_provider_destroy(provider);
    wb_close(model);
}

/* ---- layer after layer ---- */

static void test_streaming(void **state)
{
    size_t threads = 2;
    const wb_executor executor = crew_executor(&threads);
    const wb_host_options host = {.size = sizeof host, .flags = WB_HOST_COPY};
    wb_device device;
    wb_error error;
    (void)state;
    wb_model *model = open_twin("llama");
    assert_int_equal(wb_device_host(&host, &device, &error), WB_OK);
    const wb_policy policy = {.size = sizeof policy, .executor = &executor};
    wb_provider *provider;
    assert_int_equal(wb_provider_create(model, &device, &policy, &provider, &error), WB_OK);
    wb_cache_stats stats = WB_CACHE_STATS_INIT;
    uint64_t layer_bytes = 0;
    for (uint32_t n = 0; n < 2; n++) {
        wb_weights *list = weights_of(
            provider, n, WB_WEIGHTS_FUSE | WB_WEIGHTS_AHEAD | WB_WEIGHTS_FREE_BEHIND, 0, 0);
        assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
        assert_int_equal(stats.in_use, wb_weights_count(list));
        layer_bytes = stats.bytes;
        wb_weights_free(list);
        assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
        assert_int_equal(stats.bytes, 0);
        assert_int_equal(stats.in_use, 0);
    }
    assert_int_equal(stats.peak_bytes, layer_bytes); /* memory for one layer */
    /* A buffer that has another user must stay loaded. */
    wb_buffer norm = WB_BUFFER_INIT;
    assert_int_equal(wb_provider_get(provider, "layers.0.ffn_norm.weight", SIZE_MAX, &norm, NULL),
                     WB_OK);
    wb_weights_free(weights_of(provider, 0, WB_WEIGHTS_FREE_BEHIND, 0, 0));
    assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
    assert_int_equal(stats.buffers, 1);
    wb_provider_release(provider, &norm);
    /* Without WB_WEIGHTS_FREE_BEHIND, all buffers must stay cached. */
    wb_weights_free(weights_of(provider, 0, 0, 0, 0));
    assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
    assert_int_equal(stats.buffers, 9);
    assert_int_equal(stats.in_use, 0);
    wb_provider_destroy(provider);
    wb_device_close(&device);
    wb_close(model);
}

/* ---- the encoder of Whisper ---- */

static void test_encoder(void **state)
{
    const uint64_t shape[2] = {8, 8};
    (void)state;
    weights *w = weights_new("{\"model_type\":\"whisper\",\"encoder_layers\":1,"
                             "\"decoder_layers\":1}");
    weights_floats(w, "model.encoder.layers.0.fc1.weight", "F32", shape, 2);
    weights_floats(w, "model.encoder.layers.0.self_attn.q_proj.weight", "F32", shape, 2);
    weights_floats(w, "model.decoder.layers.0.encoder_attn.q_proj.weight", "F32", shape, 2);
    weights_floats(w, "model.decoder.layers.0.self_attn.q_proj.weight", "F32", shape, 2);
    wb_provider *provider = provider_of(weights_open(w), 0);
    wb_weights *list = weights_of(provider, 0, WB_WEIGHTS_ENCODER, 0, 0);
    check_names(list, "attn.q.weight ffn.up.weight");
    wb_weights_free(list);
    list = weights_of(provider, 0, 0, 0, 0);
    check_names(list, "attention.q.weight cross_attn.q.weight");
    wb_weights_free(list);
    wb_provider_destroy(provider);
    weights_free(w);
}

/* ---- failures ---- */

static void test_refused(void **state)
{
    (void)state;
    weights *w = mixed_model();
    wb_provider *provider = provider_of(w->model, 0);
    wb_weights *list;
    wb_error error;
    wb_weights_options options = WB_WEIGHTS_OPTIONS_INIT;
    assert_int_equal(wb_provider_weights(provider, 7, NULL, &list, &error), WB_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "layer 7"));
    assert_null(list);
    options.flags = 1u << 30;
    assert_int_equal(wb_provider_weights(provider, 0, &options, &list, &error), WB_ERROR_ARGUMENT);
    options = (wb_weights_options){.size = sizeof options, .rank = 2, .of = 2};
    assert_int_equal(wb_provider_weights(provider, 0, &options, &list, &error), WB_ERROR_ARGUMENT);
    options = (wb_weights_options){.size = sizeof options, .rank = 0, .of = 64};
    assert_int_equal(wb_provider_weights(provider, 0, &options, &list, &error),
                     WB_ERROR_UNSUPPORTED);
    assert_null(list);
    wb_cache_stats stats = WB_CACHE_STATS_INIT;
    assert_int_equal(wb_provider_stats(provider, &stats, NULL), WB_OK);
    assert_int_equal(stats.in_use, 0);
    wb_weights_free(NULL);
    wb_provider_destroy(provider);
    weights_free(w);
}

static void test_allocations(void **state)
{
    (void)state;
    bool failed = true;
    wb_model *model = open_twin("qwen3moe");
    for (size_t at = 1; failed; at++) {
        counter memory = {0};
        const wb_allocator allocator = counter_allocator(&memory);
        const wb_policy policy = {.size = sizeof policy, .allocator = &allocator};
        const wb_weights_options options = {.size = sizeof options,
                                            .flags = WB_WEIGHTS_FUSE | WB_WEIGHTS_AHEAD |
                                                     WB_WEIGHTS_FREE_BEHIND};
        wb_provider *provider;
        wb_weights *list;
        assert_int_equal(wb_provider_create(model, NULL, &policy, &provider, NULL), WB_OK);
        memory.calls = 0;
        memory.fail_at = at;
        wb_status status = wb_provider_weights(provider, 0, &options, &list, NULL);
        failed = memory.failed;
        /* Failures of the read-ahead are ignored. */
        assert_true(status == WB_OK || (failed && status == WB_ERROR_MEMORY));
        assert_int_equal(list != NULL, status == WB_OK);
        memory.fail_at = 0;
        wb_weights_free(list);
        wb_weights_free(weights_of(provider, 0, WB_WEIGHTS_FUSE, 0, 0));
        wb_provider_destroy(provider);
        assert_clean(&memory);
    }
    wb_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),     cmocka_unit_test(test_twins),
        cmocka_unit_test(test_mixed),     cmocka_unit_test(test_stored_as_one),
        cmocka_unit_test(test_streaming), cmocka_unit_test(test_encoder),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

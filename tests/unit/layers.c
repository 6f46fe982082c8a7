/*
 * Tests the config fields that describe the computation, and the properties of single layers. The
 * expected RoPE frequencies are those of transformers 5.24 (ROPE_INIT_FUNCTIONS), which computes in
 * float32.
 */
#define _GNU_SOURCE
#include "weighbridge.h"

#include <math.h>

#include "unit.h"

#include "weights.h"

#define MODEL(rest)                                                                                \
    "{\"hidden_size\":64,\"num_attention_heads\":4,\"head_dim\":16,\"num_hidden_layers\":6,"       \
    "\"vocab_size\":32,\"intermediate_size\":32,\"max_position_embeddings\":256," rest "}"

static weights *open_config(const char *config)
{
    const uint64_t shape[] = {32, 64};
    weights *w = weights_new(config);
    (void)weights_add(w, "model.embed_tokens.weight", "F32", shape, 2, 32 * 64 * sizeof(float));
    weights_open(w);
    return w;
}

/* ---- RoPE ---- */

static const struct scaling {
    const char *config;
    uint64_t length;
    double frequencies[8];
    double attention_factor;
} scalings[] = {
    {MODEL("\"model_type\":\"llama\",\"rope_parameters\":{\"rope_type\":\"linear\",\"factor\":4,"
           "\"rope_theta\":10000.0}"),
     0,
     {0.25, 0.07905694097280502, 0.02500000037252903, 0.007905694656074047, 0.0024999999441206455,
      0.0007905694656074047, 0.0002500000118743628, 7.905694656074047e-05},
     1},
    {MODEL("\"model_type\":\"llama\",\"rope_theta\":500000.0,\"rope_scaling\":{\"rope_type\":"
           "\"llama3\",\"factor\":8.0,\"low_freq_factor\":1.0,\"high_freq_factor\":4.0,"
           "\"original_max_position_embeddings\":64}"),
     0,
     {1.0, 0.07940301299095154, 0.004700753837823868, 0.0009115831344388425, 0.00017677668074611574,
      3.428102354519069e-05, 6.647869668086059e-06, 1.289173155782919e-06},
     1},
    {MODEL("\"model_type\":\"llama\",\"rope_scaling\":{\"type\":\"yarn\",\"factor\":4.0,"
           "\"original_max_position_embeddings\":64}"),
     0,
     {1.0, 0.23717081546783447, 0.04999999701976776, 0.007905694656074047, 0.0024999999441206455,
      0.0007905694656074047, 0.0002500000118743628, 7.905694656074047e-05},
     1.138629436111989},
    {MODEL("\"model_type\":\"llama\",\"rope_parameters\":{\"rope_type\":\"yarn\",\"factor\":4.0,"
           "\"original_max_position_embeddings\":64,\"rope_theta\":10000,\"truncate\":false,"
           "\"beta_fast\":2,\"mscale\":0.7,\"mscale_all_dim\":0.5}"),
     0,
     {1.0, 0.3162277638912201, 0.02699318714439869, 0.007905694656074047, 0.0024999999441206455,
      0.0007905694656074047, 0.0002500000118743628, 7.905694656074047e-05},
     1.0259286501478284},
    {MODEL("\"model_type\":\"llama\",\"rope_parameters\":{\"rope_type\":\"dynamic\",\"factor\":2,"
           "\"rope_theta\":10000.0}"),
     1024,
     {1.0, 0.2394813746213913, 0.05735132098197937, 0.013734571635723114, 0.003289173822849989,
      0.0007876958698034286, 0.00018863847071770579, 4.517539491644129e-05},
     1},
    {MODEL("\"model_type\":\"phi3\",\"original_max_position_embeddings\":64,\"rope_parameters\":{"
           "\"rope_type\":\"longrope\",\"long_factor\":[1,2,3,4,5,6,7,8],\"short_factor\":[1,1.125,"
           "1.25,1.375,1.5,1.625,1.75,1.875],\"rope_theta\":10000.0}"),
     200,
     {1.0, 0.15811388194561005, 0.03333333507180214, 0.007905694656074047, 0.0020000000949949026,
      0.0005270463298074901, 0.0001428571413271129, 3.9528473280370235e-05},
     1.1547005383792517},
    {MODEL("\"model_type\":\"phi3\",\"original_max_position_embeddings\":64,\"rope_parameters\":{"
           "\"rope_type\":\"longrope\",\"long_factor\":[1,2,3,4,5,6,7,8],\"short_factor\":[1,1.125,"
           "1.25,1.375,1.5,1.625,1.75,1.875],\"rope_theta\":10000.0}"),
     60,
     {1.0, 0.2810913622379303, 0.07999999821186066, 0.02299838326871395, 0.006666666828095913,
      0.0019460170296952128, 0.0005714285653084517, 0.00016865480574779212},
     1.1547005383792517},
};

static void assert_near(double is, double should)
{
    if (!(fabs(is - should) <= 1e-6 * fabs(should)))
        fail_msg("%.17g is not %.17g\n", is, should);
}

static void rope_of_transformers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scalings / sizeof scalings[0]; i++) {
        double frequencies[8];
        wb_rope rope = WB_ROPE_INIT;
        weights *w = open_config(scalings[i].config);
        assert_int_equal(wb_rope_get(w->model, 0, 0, &rope, NULL, 0, NULL), WB_OK);
        assert_int_equal(rope.pairs, 8);
        assert_int_equal(wb_rope_get(w->model, 5, scalings[i].length, &rope, frequencies, 8, NULL),
                         WB_OK);
        assert_near(rope.attention_factor, scalings[i].attention_factor);
        for (int k = 0; k < 8; k++)
            assert_near(frequencies[k], scalings[i].frequencies[k]);
        assert_int_equal(wb_rope_get(w->model, 0, 0, &rope, frequencies, 7, NULL), WB_ERROR_LIMIT);
        assert_int_equal(rope.pairs, 0);
        assert_int_equal(wb_rope_get(w->model, 6, 0, &rope, frequencies, 8, NULL),
                         WB_ERROR_NOT_FOUND);
        weights_free(w);
    }
}

static void rope_that_is_unknown(void **state)
{
    static const char *const configs[] = {
        MODEL("\"model_type\":\"llama\",\"rope_scaling\":{\"rope_type\":\"new\",\"factor\":4}"),
        MODEL("\"model_type\":\"llama\",\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":0}"),
        MODEL("\"model_type\":\"llama\",\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":-1.5}"),
        MODEL("\"model_type\":\"llama\",\"rope_theta\":-3"),
        MODEL("\"model_type\":\"phi3\",\"rope_scaling\":{\"rope_type\":\"longrope\","
              "\"long_factor\":[1,2,3],\"short_factor\":[1,2,3]}"),
        MODEL("\"model_type\":\"phi3\",\"rope_scaling\":{\"rope_type\":\"longrope\","
              "\"short_factor\":[1,2,3,0,1,1,1,1]}"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        double frequencies[8];
        wb_rope rope = WB_ROPE_INIT;
        weights *w = open_config(configs[i]);
        if (wb_rope_get(w->model, 0, 0, &rope, frequencies, 8, NULL) != WB_ERROR_UNSUPPORTED)
            fail_msg("%s: not refused\n", configs[i]);
        assert_int_equal(rope.pairs, 0);
        weights_free(w);
    }
}

/* ---- layers ---- */

static void layers_of_gemma3(void **state)
{
    double frequencies[8];
    wb_rope rope = WB_ROPE_INIT;
    weights *w = open_config(
        MODEL("\"model_type\":\"gemma3_text\",\"sliding_window\":8,\"num_key_value_heads\":2,"
              "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8.0}"));
    (void)state;
    for (uint64_t i = 0; i < 6; i++) {
        wb_layer layer = WB_LAYER_INIT;
        assert_int_equal(wb_layer_get(w->model, i, &layer, NULL), WB_OK);
        assert_int_equal(layer.kind, WB_LAYER_ATTENTION);
        assert_int_equal(layer.sliding_window, i == 5 ? 0 : 8);
        assert_true(layer.rope_theta == (i == 5 ? 1000000 : 10000));
        assert_true(layer.has_rope && layer.n_heads == 4 && layer.n_kv_heads == 2);
        assert_true(layer.head_dim == 16 && layer.value_length == 16 && layer.ffn_dim == 32);
        assert_int_equal(wb_rope_get(w->model, i, 0, &rope, frequencies, 8, NULL), WB_OK);
        assert_near(frequencies[0], i == 5 ? 0.125 : 1);
    }
    wb_layer layer = WB_LAYER_INIT;
    assert_int_equal(wb_layer_get(w->model, 6, &layer, NULL), WB_ERROR_NOT_FOUND);
    weights_free(w);
}

/* layer_types must take precedence over sliding_window_pattern, and members of text_config over the
 * same members outside of it. */
static void layers_by_type(void **state)
{
    static const struct {
        wb_layer_kind kind;
        uint64_t window, rope;
    } expected[] = {{WB_LAYER_ATTENTION, 0, 1}, {WB_LAYER_ATTENTION, 8, 0},
                    {WB_LAYER_RECURRENT, 0, 0}, {WB_LAYER_CONV, 0, 0},
                    {WB_LAYER_UNKNOWN, 0, 0},   {WB_LAYER_ATTENTION, 8, 1}};
    weights *w = open_config(
        "{\"model_type\":\"new\",\"num_hidden_layers\":2,\"text_config\":{\"num_hidden_layers\":6,"
        "\"rotary_dim\":4,\"rope_theta\":10,\"num_attention_heads\":4,\"sliding_window\":8,"
        "\"sliding_window_pattern\":2,\"no_rope_layers\":[1,0,1,1,1],\"layer_types\":["
        "\"full_attention\",\"sliding_attention\",\"linear_attention\",\"conv\",\"?\"]}}");
    (void)state;
    for (uint64_t i = 0; i < 6; i++) {
        wb_layer layer = WB_LAYER_INIT;
        assert_int_equal(wb_layer_get(w->model, i, &layer, NULL), WB_OK);
        assert_int_equal(layer.kind, expected[i].kind);
        /* layer_types has no entry for layer 5, so sliding_window_pattern applies. */
        assert_int_equal(layer.sliding_window, i == 5 ? 0 : expected[i].window);
        assert_int_equal(layer.has_rope, expected[i].rope);
    }
    weights_free(w);
}

/* ---- config ---- */

static wb_config config_of(const char *json)
{
    wb_config config = WB_CONFIG_INIT;
    weights *w = open_config(json);
    assert_int_equal(wb_config_get(w->model, &config, NULL), WB_OK);
    weights_free(w);
    return config;
}

static void details_of_config(void **state)
{
    (void)state;
    wb_config c = config_of(MODEL("\"model_type\":\"llama\",\"hidden_act\":\"gelu_new\""));
    assert_int_equal(c.activation, WB_ACTIVATION_GELU_TANH);
    assert_int_equal(c.norm_type, WB_NORM_RMS);
    assert_true(c.attention_scale == 0.25 && c.embedding_scale == 1 && c.logit_scale == 1);
    assert_int_equal(c.rope_dimension_count, 16);
    assert_int_equal(c.rope_scaling_type, WB_ROPE_SCALING_NONE);
    c = config_of(MODEL("\"model_type\":\"llama\",\"hidden_act\":\"new\""));
    assert_int_equal(c.activation, WB_ACTIVATION_UNKNOWN);
    assert_int_equal(c.origin[WB_CONFIG_ACTIVATION], WB_ORIGIN_FILE);
    c = config_of(MODEL("\"model_type\":\"gemma2\",\"query_pre_attn_scalar\":4,"
                        "\"attn_logit_softcapping\":null,\"final_logit_softcapping\":5"));
    assert_true(c.attention_scale == 0.5 && c.embedding_scale == 8);
    assert_true(c.attn_logit_softcapping == 0 && c.final_logit_softcapping == 5);
    assert_int_equal(c.activation, WB_ACTIVATION_GELU_TANH);
    c = config_of(MODEL("\"model_type\":\"gemma2\""));
    assert_true(c.attn_logit_softcapping == 50 && c.final_logit_softcapping == 30);
    c = config_of(MODEL("\"model_type\":\"gemma3_text\",\"use_bidirectional_attention\":true"));
    assert_int_equal(c.attention_causal, 0);
    c = config_of(MODEL("\"model_type\":\"bert\""));
    assert_true(c.attention_causal == 0 && c.norm_type == WB_NORM_LAYER);
    assert_true(c.activation == WB_ACTIVATION_GELU && c.rope_dimension_count == 0);
    c = config_of(MODEL("\"model_type\":\"qwen3_moe\",\"num_experts\":4,\"norm_topk_prob\":true,"
                        "\"scoring_func\":\"sigmoid\",\"routed_scaling_factor\":2.5"));
    assert_true(c.expert_weights_norm == 1 && c.expert_weights_scale == 2.5);
    assert_int_equal(c.expert_gating_func, WB_EXPERT_GATING_SIGMOID);
    c = config_of(MODEL("\"model_type\":\"mixtral\",\"num_local_experts\":4"));
    assert_true(c.expert_weights_norm == 1 && c.expert_gating_func == WB_EXPERT_GATING_SOFTMAX);
    c = config_of(MODEL("\"model_type\":\"qwen3_moe\",\"num_experts\":4"));
    assert_int_equal(c.expert_weights_norm, 0);
    c = config_of(MODEL("\"model_type\":\"phi3\",\"partial_rotary_factor\":0.75"));
    assert_int_equal(c.rope_dimension_count, 12);
}

/* For GGUF files, values that the file does not store are constants from llama.cpp. */
static void details_of_gguf(void **state)
{
    wb_config c = WB_CONFIG_INIT;
    wb_special_tokens tokens = WB_SPECIAL_TOKENS_INIT;
    wb_model *model;
    (void)state;
    assert_int_equal(wb_open(TEST_DATA "/twins/qwen3moe.gguf", NULL, &model, NULL), WB_OK);
    assert_int_equal(wb_config_get(model, &c, NULL), WB_OK);
    assert_int_equal(c.expert_weights_norm, 1);
    wb_layer layer = WB_LAYER_INIT;
    assert_int_equal(wb_layer_get(model, 0, &layer, NULL), WB_OK);
    assert_int_equal(layer.n_experts, c.n_experts);
    assert_int_equal(layer.ffn_dim, c.expert_ffn_dim);
    assert_int_equal(wb_special_tokens_get(model, &tokens, NULL), WB_OK);
    wb_close(model);
}

static void tokens_of_folder(void **state)
{
    wb_special_tokens tokens = WB_SPECIAL_TOKENS_INIT;
    weights *w = open_config(MODEL("\"model_type\":\"llama\",\"bos_token_id\":1,\"eos_token_id\":"
                                   "[2,5,2,7],\"pad_token_id\":null"));
    (void)state;
    assert_int_equal(wb_special_tokens_get(w->model, &tokens, NULL), WB_OK);
    assert_int_equal(tokens.stop_count, 3);
    assert_true(tokens.stop[0] == 2 && tokens.stop[1] == 5 && tokens.stop[2] == 7);
    assert_int_equal(tokens.mask, WB_NO_TOKEN);
    weights_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rope_of_transformers), cmocka_unit_test(rope_that_is_unknown),
        cmocka_unit_test(layers_of_gemma3),     cmocka_unit_test(layers_by_type),
        cmocka_unit_test(details_of_config),    cmocka_unit_test(details_of_gguf),
        cmocka_unit_test(tokens_of_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

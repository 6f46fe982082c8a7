/*
 * Tests arch/model_config.h with the config.json of published models of every family. The makers of
 * the models published the expected values. The JSON strings contain only those keys of the
 * original files that this library reads.
 */
#include "arch/model_config.h"

#include "unit.h"

#define NONE UINT64_MAX

typedef struct golden {
    const char *name;
    const char *json;
    const char *architecture;
    uint64_t dim, layers, heads, kv_heads, head_dim, ffn, vocab, context, window, pattern, experts,
        used, expert_ffn;
    double eps, theta, local_theta;
    uint32_t tied, norm_offset;
} golden;

static const golden models[] = {
    {.name = "Llama-2-7b",
     .json = "{\"model_type\":\"llama\",\"hidden_size\":4096,\"intermediate_size\":11008,"
             "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":32,"
             "\"vocab_size\":32000,\"max_position_embeddings\":4096,\"rms_norm_eps\":1e-05,"
             "\"rope_scaling\":null,\"tie_word_embeddings\":false}",
     .architecture = "llama",
     .dim = 4096,
     .layers = 32,
     .heads = 32,
     .kv_heads = 32,
     .head_dim = 128,
     .ffn = 11008,
     .vocab = 32000,
     .context = 4096,
     .eps = 1e-5,
     .theta = 10000},
    {.name = "Llama-3.1-8B",
     .json = "{\"model_type\":\"llama\",\"hidden_size\":4096,\"intermediate_size\":14336,"
             "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,"
             "\"vocab_size\":128256,\"max_position_embeddings\":131072,\"rms_norm_eps\":1e-05,"
             "\"rope_theta\":500000.0,\"rope_scaling\":{\"factor\":8.0,\"low_freq_factor\":1.0,"
             "\"high_freq_factor\":4.0,\"original_max_position_embeddings\":8192,"
             "\"rope_type\":\"llama3\"},\"tie_word_embeddings\":false}",
     .architecture = "llama",
     .dim = 4096,
     .layers = 32,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128,
     .ffn = 14336,
     .vocab = 128256,
     .context = 131072,
     .eps = 1e-5,
     .theta = 500000},
    {.name = "Mistral-7B-v0.1",
     .json = "{\"model_type\":\"mistral\",\"hidden_size\":4096,\"intermediate_size\":14336,"
             "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,"
             "\"vocab_size\":32000,\"max_position_embeddings\":32768,\"rms_norm_eps\":1e-05,"
             "\"rope_theta\":10000.0,\"sliding_window\":4096,\"tie_word_embeddings\":false}",
     .architecture = "llama",
     .dim = 4096,
     .layers = 32,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128,
     .ffn = 14336,
     .vocab = 32000,
     .context = 32768,
     .window = 4096,
     .eps = 1e-5,
     .theta = 10000},
    {.name = "Mixtral-8x7B-v0.1",
     .json = "{\"model_type\":\"mixtral\",\"hidden_size\":4096,\"intermediate_size\":14336,"
             "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":8,"
             "\"vocab_size\":32000,\"max_position_embeddings\":32768,\"rms_norm_eps\":1e-05,"
             "\"rope_theta\":1000000.0,\"sliding_window\":null,\"num_local_experts\":8,"
             "\"num_experts_per_tok\":2,\"tie_word_embeddings\":false}",
     .architecture = "llama",
     .dim = 4096,
     .layers = 32,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128,
     .ffn = 14336,
     .vocab = 32000,
     .context = 32768,
     .experts = 8,
     .used = 2,
     .expert_ffn = 14336,
     .eps = 1e-5,
     .theta = 1000000},
    {.name = "Qwen2.5-7B-Instruct",
     .json = "{\"model_type\":\"qwen2\",\"hidden_size\":3584,\"intermediate_size\":18944,"
             "\"num_hidden_layers\":28,\"num_attention_heads\":28,\"num_key_value_heads\":4,"
             "\"vocab_size\":152064,\"max_position_embeddings\":32768,\"rms_norm_eps\":1e-06,"
             "\"rope_theta\":1000000.0,\"sliding_window\":131072,\"use_sliding_window\":false,"
             "\"max_window_layers\":28,\"tie_word_embeddings\":false}",
     .architecture = "qwen2",
     .dim = 3584,
     .layers = 28,
     .heads = 28,
     .kv_heads = 4,
     .head_dim = 128,
     .ffn = 18944,
     .vocab = 152064,
     .context = 32768,
     .eps = 1e-6,
     .theta = 1000000},
    {.name = "Qwen3-8B",
     .json = "{\"model_type\":\"qwen3\",\"hidden_size\":4096,\"intermediate_size\":12288,"
             "\"num_hidden_layers\":36,\"num_attention_heads\":32,\"num_key_value_heads\":8,"
             "\"head_dim\":128,\"vocab_size\":151936,\"max_position_embeddings\":40960,"
             "\"rms_norm_eps\":1e-06,\"rope_theta\":1000000,\"sliding_window\":null,"
             "\"use_sliding_window\":false,\"tie_word_embeddings\":false}",
     .architecture = "qwen3",
     .dim = 4096,
     .layers = 36,
     .heads = 32,
     .kv_heads = 8,
     .head_dim = 128,
     .ffn = 12288,
     .vocab = 151936,
     .context = 40960,
     .eps = 1e-6,
     .theta = 1000000},
    {.name = "Qwen3-30B-A3B",
     .json = "{\"model_type\":\"qwen3_moe\",\"hidden_size\":2048,\"intermediate_size\":6144,"
             "\"num_hidden_layers\":48,\"num_attention_heads\":32,\"num_key_value_heads\":4,"
             "\"head_dim\":128,\"vocab_size\":151936,\"max_position_embeddings\":40960,"
             "\"rms_norm_eps\":1e-06,\"rope_theta\":1000000.0,\"num_experts\":128,"
             "\"num_experts_per_tok\":8,\"moe_intermediate_size\":768,\"norm_topk_prob\":true,"
             "\"mlp_only_layers\":[],\"tie_word_embeddings\":false}",
     .architecture = "qwen3moe",
     .dim = 2048,
     .layers = 48,
     .heads = 32,
     .kv_heads = 4,
     .head_dim = 128,
     .ffn = 6144,
     .vocab = 151936,
     .context = 40960,
     .experts = 128,
     .used = 8,
     .expert_ffn = 768,
     .eps = 1e-6,
     .theta = 1000000},
    {.name = "gemma-2b",
     .json = "{\"model_type\":\"gemma\",\"hidden_size\":2048,\"intermediate_size\":16384,"
             "\"num_hidden_layers\":18,\"num_attention_heads\":8,\"num_key_value_heads\":1,"
             "\"head_dim\":256,\"vocab_size\":256000,\"max_position_embeddings\":8192,"
             "\"rms_norm_eps\":1e-06,\"rope_theta\":10000.0}",
     .architecture = "gemma",
     .dim = 2048,
     .layers = 18,
     .heads = 8,
     .kv_heads = 1,
     .head_dim = 256,
     .ffn = 16384,
     .vocab = 256000,
     .context = 8192,
     .eps = 1e-6,
     .theta = 10000,
     .tied = 1,
     .norm_offset = 1},
    {.name = "gemma-2-9b",
     .json = "{\"model_type\":\"gemma2\",\"hidden_size\":3584,\"intermediate_size\":14336,"
             "\"num_hidden_layers\":42,\"num_attention_heads\":16,\"num_key_value_heads\":8,"
             "\"head_dim\":256,\"vocab_size\":256000,\"max_position_embeddings\":8192,"
             "\"rms_norm_eps\":1e-06,\"rope_theta\":10000.0,\"sliding_window\":4096,"
             "\"attn_logit_softcapping\":50.0,\"final_logit_softcapping\":30.0,"
             "\"query_pre_attn_scalar\":256}",
     .architecture = "gemma2",
     .dim = 3584,
     .layers = 42,
     .heads = 16,
     .kv_heads = 8,
     .head_dim = 256,
     .ffn = 14336,
     .vocab = 256000,
     .context = 8192,
     .window = 4096,
     .pattern = 2,
     .eps = 1e-6,
     .theta = 10000,
     .tied = 1,
     .norm_offset = 1},
    {.name = "gemma-3-1b-it",
     .json = "{\"model_type\":\"gemma3_text\",\"hidden_size\":1152,\"intermediate_size\":6912,"
             "\"num_hidden_layers\":26,\"num_attention_heads\":4,\"num_key_value_heads\":1,"
             "\"head_dim\":256,\"vocab_size\":262144,\"max_position_embeddings\":32768,"
             "\"rms_norm_eps\":1e-06,\"rope_theta\":1000000,\"rope_local_base_freq\":10000,"
             "\"sliding_window\":512,\"sliding_window_pattern\":6}",
     .architecture = "gemma3",
     .dim = 1152,
     .layers = 26,
     .heads = 4,
     .kv_heads = 1,
     .head_dim = 256,
     .ffn = 6912,
     .vocab = 262144,
     .context = 32768,
     .window = 512,
     .pattern = 6,
     .eps = 1e-6,
     .theta = 1000000,
     .local_theta = 10000,
     .tied = 1,
     .norm_offset = 1},
    {.name = "gemma-3-4b-it", /* this config.json has few keys, all inside text_config */
     .json = "{\"model_type\":\"gemma3\",\"text_config\":{\"hidden_size\":2560,"
             "\"intermediate_size\":10240,\"model_type\":\"gemma3_text\",\"num_hidden_layers\":34,"
             "\"rope_scaling\":{\"factor\":8.0,\"rope_type\":\"linear\"},\"sliding_window\":1024},"
             "\"vision_config\":{\"hidden_size\":1152,\"num_hidden_layers\":27,"
             "\"num_attention_heads\":16,\"intermediate_size\":4304}}",
     .architecture = "gemma3",
     .dim = 2560,
     .layers = 34,
     .heads = 8,
     .kv_heads = 4,
     .head_dim = 256,
     .ffn = 10240,
     .vocab = NONE,
     .context = 131072,
     .window = 1024,
     .pattern = 6,
     .eps = 1e-6,
     .theta = 1000000,
     .local_theta = 10000,
     .tied = 1,
     .norm_offset = 1},
    {.name = "Phi-3-mini-4k-instruct",
     .json = "{\"model_type\":\"phi3\",\"hidden_size\":3072,\"intermediate_size\":8192,"
             "\"num_hidden_layers\":32,\"num_attention_heads\":32,\"num_key_value_heads\":32,"
             "\"vocab_size\":32064,\"max_position_embeddings\":4096,\"rms_norm_eps\":1e-05,"
             "\"rope_theta\":10000.0,\"rope_scaling\":null,\"sliding_window\":2047,"
             "\"tie_word_embeddings\":false}",
     .architecture = "phi3",
     .dim = 3072,
     .layers = 32,
     .heads = 32,
     .kv_heads = 32,
     .head_dim = 96,
     .ffn = 8192,
     .vocab = 32064,
     .context = 4096,
     .window = 2047,
     .eps = 1e-5,
     .theta = 10000},
    {.name = "bert-base-uncased",
     .json = "{\"model_type\":\"bert\",\"hidden_size\":768,\"intermediate_size\":3072,"
             "\"num_hidden_layers\":12,\"num_attention_heads\":12,\"vocab_size\":30522,"
             "\"max_position_embeddings\":512,\"layer_norm_eps\":1e-12,\"type_vocab_size\":2}",
     .architecture = "bert",
     .dim = 768,
     .layers = 12,
     .heads = 12,
     .kv_heads = 12,
     .head_dim = 64,
     .ffn = 3072,
     .vocab = 30522,
     .context = 512,
     .eps = 1e-12},
    {.name = "distil-whisper-large-v2", /* two decoder layers, 32 encoder layers */
     .json = "{\"model_type\":\"whisper\",\"d_model\":1280,\"decoder_layers\":2,"
             "\"encoder_layers\":32,\"num_hidden_layers\":32,\"decoder_attention_heads\":20,"
             "\"encoder_attention_heads\":20,\"decoder_ffn_dim\":5120,\"encoder_ffn_dim\":5120,"
             "\"vocab_size\":51865,\"max_source_positions\":1500,\"max_target_positions\":448,"
             "\"num_mel_bins\":80}",
     .architecture = "whisper",
     .dim = 1280,
     .layers = 2,
     .heads = 20,
     .kv_heads = 20,
     .head_dim = 64,
     .ffn = 5120,
     .vocab = 51865,
     .context = 448,
     .eps = 1e-5,
     .tied = 1},
};

typedef struct opened {
    char text[2048];
    wb__tree tree;
    wb_config config;
} opened;

/* Makes the config of a model without tensors: every value is from the JSON text or is the family's
 * default. */
static void make(opened *o, const char *json)
{
    wb__facts facts = {.key_value = NULL};
    const wb__family *family;
    (void)snprintf(o->text, sizeof o->text, "%s", json);
    assert_true(wb__tree_parse(&o->tree, o->text, strlen(o->text), &wb__default_allocator));
    wb__facts_use_config(&facts, &o->tree);
    wb__str architecture = wb__config_architecture(&facts, NULL, &family);
    wb__config_make(&o->config, &facts, family, architecture.len > 0,
                    architecture.len == 0 ? NULL : architecture.ptr, NULL);
}

static void check(const char *model, const char *field, uint64_t is, uint64_t should)
{
    if (is != (should == NONE ? 0 : should))
        fail_msg("%s: %s is %llu, not %llu\n", model, field, (unsigned long long)is,
                 (unsigned long long)should);
}

static void published_configs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const golden *g = &models[i];
        opened o;
        make(&o, g->json);
        const wb_config *c = &o.config;
        assert_string_equal(c->architecture, g->architecture);
        check(g->name, "dim", c->dim, g->dim);
        check(g->name, "n_layers", c->n_layers, g->layers);
        check(g->name, "n_heads", c->n_heads, g->heads);
        check(g->name, "n_kv_heads", c->n_kv_heads, g->kv_heads);
        check(g->name, "head_dim", c->head_dim, g->head_dim);
        check(g->name, "q_dim", c->q_dim, g->heads * g->head_dim);
        check(g->name, "kv_dim", c->kv_dim, g->kv_heads * g->head_dim);
        check(g->name, "ffn_dim", c->ffn_dim, g->ffn);
        check(g->name, "vocab_size", c->vocab_size, g->vocab);
        check(g->name, "max_seq_len", c->max_seq_len, g->context);
        check(g->name, "sliding_window", c->sliding_window, g->window);
        check(g->name, "sliding_window_pattern", c->sliding_window_pattern, g->pattern);
        check(g->name, "n_experts", c->n_experts, g->experts);
        check(g->name, "n_experts_used", c->n_experts_used, g->used);
        check(g->name, "expert_ffn_dim", c->expert_ffn_dim, g->expert_ffn);
        check(g->name, "tie_embeddings", c->tie_embeddings, g->tied);
        check(g->name, "norm_offset", c->norm_offset, g->norm_offset);
        assert_memory_equal(&c->norm_eps, &g->eps, sizeof g->eps);
        assert_memory_equal(&c->rope_theta, &g->theta, sizeof g->theta);
        assert_memory_equal(&c->rope_local_theta, &g->local_theta, sizeof g->local_theta);
        wb__tree_free(&o.tree);
    }
}

static void tells_where_from(void **state)
{
    (void)state;
    opened o;
    make(&o, models[0].json);
    assert_int_equal(o.config.origin[WB_CONFIG_DIM], WB_ORIGIN_FILE);
    assert_int_equal(o.config.origin[WB_CONFIG_ROPE_THETA], WB_ORIGIN_DEFAULT);
    assert_int_equal(o.config.origin[WB_CONFIG_Q_DIM], WB_ORIGIN_DERIVED);
    assert_int_equal(o.config.origin[WB_CONFIG_N_EXPERTS], WB_ORIGIN_ABSENT);
    assert_int_equal(o.config.rope_layout, WB_ROPE_HALF);
    wb__tree_free(&o.tree);

    make(&o, models[sizeof models / sizeof models[0] - 1].json);
    assert_int_equal(o.config.enc_n_layers, 32);
    assert_int_equal(o.config.enc_n_heads, 20);
    assert_int_equal(o.config.enc_dim, 1280);
    assert_int_equal(o.config.enc_ffn_dim, 5120);
    assert_int_equal(o.config.n_mels, 80);
    assert_int_equal(o.config.enc_max_seq_len, 1500);
    assert_int_equal(o.config.rope_layout, WB_ROPE_NONE);
    wb__tree_free(&o.tree);

    /* Missing, invalid and unknown values are not errors. */
    make(&o, "{}");
    assert_null(o.config.architecture);
    assert_int_equal(o.config.origin[WB_CONFIG_ARCHITECTURE], WB_ORIGIN_ABSENT);
    wb__tree_free(&o.tree);
    make(&o, "{\"model_type\":\"llama\",\"hidden_size\":-1,\"num_attention_heads\":\"many\","
             "\"num_hidden_layers\":2.5,\"tie_word_embeddings\":3,\"rope_theta\":null}");
    assert_int_equal(o.config.origin[WB_CONFIG_DIM], WB_ORIGIN_ABSENT);
    assert_int_equal(o.config.origin[WB_CONFIG_N_HEADS], WB_ORIGIN_ABSENT);
    assert_int_equal(o.config.origin[WB_CONFIG_N_LAYERS], WB_ORIGIN_ABSENT);
    assert_int_equal(o.config.origin[WB_CONFIG_TIE_EMBEDDINGS], WB_ORIGIN_ABSENT);
    assert_int_equal(o.config.origin[WB_CONFIG_ROPE_THETA], WB_ORIGIN_DEFAULT);
    wb__tree_free(&o.tree);
    make(&o, "{\"model_type\":\"of tomorrow\",\"hidden_size\":7}");
    assert_string_equal(o.config.architecture, "of tomorrow");
    assert_int_equal(o.config.dim, 7);
    wb__tree_free(&o.tree);
    /* The sliding window in the notation of transformers 5. */
    make(&o, "{\"model_type\":\"gemma3_text\",\"sliding_window\":512,\"layer_types\":"
             "[\"sliding_attention\",\"sliding_attention\",\"full_attention\"],"
             "\"rope_parameters\":{\"full_attention\":{\"rope_theta\":7.0},"
             "\"sliding_attention\":{\"rope_theta\":9.0}}}");
    assert_int_equal(o.config.sliding_window_pattern, 3);
    assert_true(o.config.rope_theta > 6.5 && o.config.rope_theta < 7.5);
    assert_true(o.config.rope_local_theta > 8.5 && o.config.rope_local_theta < 9.5);
    wb__tree_free(&o.tree);
}

static void shortens_floats(void **state)
{
    (void)state;
    static const double given[] = {1e-5,   1e-6,   1e-12,   10000,    500000, 0.1,
                                   1.5e-3, 3.4e38, 1.2e-38, 123456.7, 1e-45};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        double back = wb__shortest_of_float((float)given[i]);
        assert_true((float)back == (float)given[i]);
        if (given[i] > 1e-37)
            assert_memory_equal(&back, &given[i], sizeof back);
        back = wb__shortest_of_float(-(float)given[i]);
        assert_true((float)back == -(float)given[i]);
    }
    assert_true(wb__shortest_of_float(0) == 0);
    uint32_t bits = 12345;
    for (int i = 0; i < 2000; i++) { /* rounding the result to float must give the given float */
        float f;
        bits = bits * 1664525u + 1013904223u;
        memcpy(&f, &bits, sizeof f);
        if (f == f)
            assert_true((float)wb__shortest_of_float(f) == f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_configs),
        cmocka_unit_test(tells_where_from),
        cmocka_unit_test(shortens_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

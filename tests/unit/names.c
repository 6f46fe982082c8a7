/* Tests canonical names (arch/canonical_names.h), views that stack separate experts
 * (read/expert_view.c), and the report of missing tensors (verify/verify_config.c). */
#include "support.h"

#include "arch/name_pattern.h"

#include <pthread.h>

static wb_model *open_data(const char *name)
{
    wb_model *model;
    wb_error error;
    char *path = text_of("%s/twins/%s", TEST_DATA, name);
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", path, error.message);
    free(path);
    return model;
}

/* ---- one name ---- */

typedef struct spelling {
    const char *family; /* value of general.architecture */
    const char *name;
    const char *canonical; /* NULL: none */
} spelling;

static const spelling spellings[] = {
    {"llama", "model.embed_tokens.weight", "token_embedding.weight"},
    {"llama", "token_embd.weight", "token_embedding.weight"},
    {"llama", "lm_head.weight", "output.weight"},
    {"llama", "blk.31.attn_output.bias", "layers.31.attention.output.bias"},
    {"llama", "model.layers.0.post_attention_layernorm.weight", "layers.0.ffn_norm.weight"},
    {"llama", "language_model.model.layers.7.mlp.down_proj.weight", "layers.7.ffn.down.weight"},
    {"llama", "model.language_model.layers.7.mlp.down_proj.weight", "layers.7.ffn.down.weight"},
    {"llama", "model.layers.3.block_sparse_moe.experts.7.w3.weight",
     "layers.3.ffn.experts.up.weight"},
    {"llama", "blk.3.ffn_gate.5.weight", "layers.3.ffn.experts.gate.weight"},
    {"llama", "blk.3.ffn_down_exps.weight", "layers.3.ffn.experts.down.weight"},
    {"llama", "model.layers.3.block_sparse_moe.gate.weight", "layers.3.ffn.router.weight"},
    {"qwen2moe", "model.layers.3.mlp.shared_expert.up_proj.weight",
     "layers.3.ffn.shared_experts.up.weight"},
    {"qwen2", "model.layers.12.self_attn.q_proj.bias", "layers.12.attention.q.bias"},
    {"qwen3", "blk.0.attn_k_norm.weight", "layers.0.attention.k_norm.weight"},
    {"qwen3moe", "model.layers.47.mlp.experts.127.gate_proj.weight",
     "layers.47.ffn.experts.gate.weight"},
    {"gemma", "model.layers.1.post_attention_layernorm.weight", "layers.1.ffn_norm.weight"},
    {"gemma2", "model.layers.1.post_attention_layernorm.weight",
     "layers.1.post_attention_norm.weight"},
    {"gemma3", "model.layers.1.pre_feedforward_layernorm.weight", "layers.1.ffn_norm.weight"},
    {"gemma3", "blk.1.post_ffw_norm.weight", "layers.1.post_ffn_norm.weight"},
    {"phi3", "blk.2.ffn_up.weight", "layers.2.ffn.gate_up.weight"},
    {"phi3", "model.layers.2.self_attn.qkv_proj.weight", "layers.2.attention.qkv.weight"},
    {"bert", "bert.encoder.layer.0.attention.self.key.bias", "blk.0.attn_k.bias"},
    {"bert", "embeddings.LayerNorm.gamma", "token_embd_norm.weight"},
    {"whisper", "model.encoder.layers.0.self_attn.out_proj.bias", "enc.layers.0.attn.output.bias"},
    {"whisper", "encoder.blocks.0.mlp.2.weight", "enc.layers.0.ffn.down.weight"},
    {"whisper", "encoder.blocks.0.mlp1.weight", "enc.layers.0.ffn.up.weight"},
    {"whisper", "decoder.blocks.5.mlp.0.bias", "layers.5.ffn.up.bias"},
    {"whisper", "decoder.blocks.5.cross_attn.value.weight", "layers.5.cross_attn.v.weight"},
    {"whisper", "model.decoder.layers.5.encoder_attn_layer_norm.weight",
     "layers.5.cross_attn_norm.weight"},
    {"whisper", "encoder.positional_embedding", "enc.positional_embedding"},
    {"whisper", "model.encoder.embed_positions.weight", "enc.positional_embedding"},
    {"whisper", "encoder.conv1.bias", "enc.conv1.bias"},
    {"whisper", "encoder.ln_post.weight", "enc.output_norm.weight"},
    {"whisper", "decoder.ln.bias", "output_norm.bias"},
    /* names that match no rule, and a name without a suffix */
    {"llama", "model.layers.00.mlp.down_proj.weight", NULL},
    {"llama", "model.layers.65536.mlp.down_proj.weight", NULL},
    {"llama", "model.layers.-1.mlp.down_proj.weight", NULL},
    {"llama", "model.layers.1.mlp.down_proj", "layers.1.ffn.down"},
    {"llama", "model.layers.{n}.mlp.down_proj.weight", NULL},
    {"llama", "", NULL},
    {"llama", ".weight", NULL},
    {"llama", "model.", NULL},
    {"whisper", "encoder.blocks.0.mlp.3.weight", NULL},
    {"qwen3", "model.layers.0.mlp.experts.0.gate_proj.weight", NULL},
};

static void names_are_taken_apart(void **state)
{
    (void)state;
    wb__rule_table table;
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        const spelling *s = &spellings[i];
        const wb__family *family = wb__family_named(NULL, wb__str_from(s->family, SIZE_MAX));
        wb__matched matched;
        char text[256] = "";
        assert_non_null(family);
        wb__rule_table_make(&table, family);
        assert_true(table.count > 0 && table.count < WB__SPELLINGS_MAX);
        bool found = wb__rule_match(&table, wb__str_from(s->name, SIZE_MAX), &matched);
        if (found && matched.rule->canonical != NULL)
            text[wb__canonical_write(matched.rule, matched.layer, matched.suffix, text,
                                     sizeof text)] = '\0';
        if (strcmp(text, s->canonical == NULL ? "" : s->canonical))
            fail_msg("%s: %s gives '%s'\n", s->family, s->name, text);
    }
    /* Names of any length that consist of dots and digits only must not match. */
    wb__rule_table_make(&table, &wb__family_unknown);
    char odd[600];
    for (size_t n = 0; n < sizeof odd; n++) {
        odd[n] = "0.1."[n % 4];
        wb__matched matched;
        assert_false(wb__rule_match(&table, (wb__str){odd, n}, &matched));
    }
}

/* Each name in the table of a family must be recognized, and give the canonical name of its row. */
static void tables_are_sound(void **state)
{
    (void)state;
    static wb__rule_table table;
    for (size_t i = 0; i < wb__family_count; i++) {
        wb__rule_table_make(&table, wb__families[i]);
        for (size_t k = 0; k < table.count; k++) {
            const wb__rule *rule = table.entries[k].rule;
            char name[256], canonical[256], again[256];
            wb__matched matched;
            if (rule->canonical == NULL)
                continue;
            wb__suffix suffix = rule->suffix == WB__SUFFIX_SAME ? WB__SUFFIX_WEIGHT : rule->suffix;
            const wb__spelling *own = table.entries[k].spelling;
            wb__suffix stored = own == NULL ? suffix : wb__spelling_suffix(own, suffix);
            if (own != NULL && rule->suffix == WB__SUFFIX_SAME)
                suffix = stored;
            size_t n = wb__pattern_expand(table.entries[k].text, 3, 5, stored, name, sizeof name);
            assert_true(wb__rule_match(&table, (wb__str){name, n}, &matched));
            assert_ptr_equal(matched.rule, rule);
            n = wb__canonical_write(rule, 3, suffix, canonical, sizeof canonical);
            assert_int_equal(
                wb__canonical_write(rule, matched.layer, matched.suffix, again, sizeof again), n);
            if (wb__rule_has_layer(rule))
                assert_memory_equal(again, canonical, n);
        }
    }
}

/* ---- many names: the matcher gives the results of wb__rule_match ---- */

#define MANY 4000

/* Writes a name: mostly a spelling of the table with random numbers, sometimes damaged. */
static size_t random_name(const wb__rule_table *table, uint64_t *random, char *name, size_t size)
{
    static const char *const begins[] = {"", "", "model.", "language_model.model.", "1.", "7."};
    static const char damage[] = ".0129{}a";
    const uint64_t draw = next_random(random);
    size_t n = (size_t)snprintf(name, size, "%s", begins[draw % 6]);
    uint32_t layer = (uint32_t)(draw >> 8 & 3), expert = (uint32_t)(draw >> 16 & 7);
    if ((draw >> 24 & 15) == 0)
        layer = 65530 + (uint32_t)(draw >> 32 & 15);
    n += wb__pattern_expand(table->entries[(draw >> 40) % table->count].text, layer, expert,
                            (wb__suffix)((draw >> 4) % 3), name + n, size - n);
    if ((draw >> 28 & 7) == 0 && n > 0)
        name[(draw >> 52) % n] = damage[draw >> 32 & 7];
    return n;
}

static void compare_matches(const wb__rule_table *table, uint64_t *random)
{
    static char texts[MANY][256];
    static wb__matcher matcher;
    wb__matcher_start(&matcher, table);
    for (size_t i = 0; i < MANY; i++) {
        wb__matched expected;
        wb__str name = {texts[i], random_name(table, random, texts[i], sizeof texts[i])};
        bool found = wb__rule_match(table, name, &expected);
        wb__similar *similar = wb__matcher_next(&matcher, name);
        assert_true(found == (similar != NULL));
        if (!found)
            continue;
        const wb__matched *m = &similar->matched;
        if (m->rule != expected.rule || m->spelling != expected.spelling ||
            m->suffix != expected.suffix || m->layer != expected.layer ||
            m->has_expert != expected.has_expert || m->expert != expected.expert)
            fail_msg("%s: %.*s", table->family->name, (int)name.len, name.ptr);
        /* The value of the caller belongs to the rule, the suffix and the layer. */
        uint32_t entry = (uint32_t)((uintptr_t)m->rule / sizeof *m->rule) << 19 | m->layer << 2 |
                         (uint32_t)m->suffix;
        assert_true(similar->entry == UINT32_MAX || similar->entry == entry);
        similar->entry = entry;
    }
}

static void many_names(void **state)
{
    (void)state;
    static wb__rule_table table;
    uint64_t random = 1;
    for (size_t i = 0; i < wb__family_count; i++) {
        wb__rule_table_make(&table, wb__families[i]);
        compare_matches(&table, &random);
    }
    /* Numbers in wrapper prefixes and in names */
    const wb__family family = {
        .name = "x",
        .wrappers = "layers.1.|7.",
        .rules = (const wb__rule[]){{.canonical = "layers.{n}.x"}, {.canonical = "x"}},
        .rule_count = 2};
    const wb__family named = {
        .name = "y",
        .rules = (const wb__rule[]){{.canonical = "a.{n}.mlp.0"}, {.canonical = "a.{n}.mlp.{e}"}},
        .rule_count = 2};
    wb__rule_table_make(&table, &family);
    compare_matches(&table, &random);
    wb__rule_table_make(&table, &named);
    compare_matches(&table, &random);
}

/* ---- experts stored as separate tensors ---- */

static void experts_are_one(void **state)
{
    (void)state;
    static const char *const families[] = {"mixtral", "qwen3moe"};
    for (size_t f = 0; f < 2; f++) {
        wb_model *folder = open_data(families[f]);
        char *file = text_of("%s.gguf", families[f]);
        wb_model *gguf = open_data(file);
        static const char *const names[] = {"layers.1.ffn.experts.gate.weight",
                                            "layers.0.ffn.experts.down.weight"};
        free(file);
        for (size_t k = 0; k < 2; k++) {
            uint64_t view, whole, elements, bytes;
            wb_tensor t = {.size = sizeof t}, u = {.size = sizeof u};
            wb_encoding encoding = {.size = sizeof encoding};
            wb_part part = {.size = sizeof part};
            const void *data;
            float a[512], b[512];
            assert_int_equal(wb_tensor_find(folder, names[k], SIZE_MAX, &view), WB_OK);
            assert_int_equal(wb_tensor_find(gguf, names[k], SIZE_MAX, &whole), WB_OK);
            assert_true(view >= wb_tensor_count(folder));
            assert_int_equal(wb_tensor_at(folder, view, &t, NULL), WB_OK);
            assert_int_equal(wb_tensor_at(gguf, whole, &u, NULL), WB_OK);
            assert_string_equal(t.name, names[k]);
            assert_int_equal(t.rank, 3);
            assert_memory_equal(t.shape, u.shape, 3 * sizeof *t.shape);
            assert_int_equal(t.bytes, u.bytes / 2);
            assert_int_equal(wb_tensor_encoding(folder, view, &encoding, NULL), WB_OK);
            assert_int_equal(encoding.parts, 3);
            assert_int_equal(wb_tensor_part(folder, view, 2, &part, NULL), WB_OK);
            assert_string_equal(part.role, "expert");
            assert_int_equal(wb_tensor_part(folder, view, 3, &part, NULL), WB_ERROR_NOT_FOUND);
            assert_int_equal(wb_tensor_data(folder, view, &data, NULL), WB_ERROR_UNSUPPORTED);
            /* The values must be equal, read completely and in slices of many forms. */
            static const char *const slices[] = {
                ":,:,:", "1,:,:", "::-1,:,:", "0:2,1::2,::-1", ":,-1,2:5", "2:0:-2,:,3", "0:0,:,:"};
            for (size_t s = 0; s < sizeof slices / sizeof slices[0]; s++) {
                wb_axis axes[3];
                assert_int_equal(wb_slice_parse(slices[s], SIZE_MAX, t.shape, 3, axes, NULL),
                                 WB_OK);
                for (uint64_t first = 0; first < 60; first += 7) {
                    wb_slice slice = {
                        .size = sizeof slice, .rank = 3, .axes = axes, .first = first, .count = 50};
                    wb_status x = wb_tensor_read_size(folder, view, &slice, WB_DTYPE_F32, &elements,
                                                      &bytes, NULL);
                    uint64_t n, m;
                    wb_status y =
                        wb_tensor_read_size(gguf, whole, &slice, WB_DTYPE_F32, &n, &m, NULL);
                    assert_int_equal(x, y);
                    assert_int_equal(elements, n);
                    assert_int_equal(bytes, m);
                    if (x != WB_OK)
                        continue;
                    assert_int_equal(
                        wb_tensor_read(folder, view, &slice, WB_DTYPE_F32, a, sizeof a, NULL),
                        WB_OK);
                    assert_int_equal(
                        wb_tensor_read(gguf, whole, &slice, WB_DTYPE_F32, b, sizeof b, NULL),
                        WB_OK);
                    /* Exactly equal: the GGUF file stores the directory's F16 values as F32. */
                    for (uint64_t i = 0; i < elements; i++)
                        assert_true(a[i] == b[i]);
                }
            }
            wb_axis beyond[3] = {{3, 1, 1, 0, 0}, {0, 1, 1, 0, 0}, {0, 1, 1, 0, 0}};
            wb_slice slice = {.size = sizeof slice, .rank = 3, .axes = beyond, .count = 1};
            assert_int_equal(wb_tensor_read_size(folder, view, &slice, -1, &elements, &bytes, NULL),
                             WB_ERROR_ARGUMENT);
            slice.rank = 2;
            assert_int_equal(wb_tensor_read_size(folder, view, &slice, -1, &elements, &bytes, NULL),
                             WB_ERROR_ARGUMENT);
        }
        wb_close(folder);
        wb_close(gguf);
    }
}

static void ties_and_names(void **state)
{
    (void)state;
    uint64_t a, b;
    const char *text;
    size_t n;
    wb_model *model = open_data("qwen2"); /* tied embeddings */
    assert_int_equal(wb_tensor_find(model, "output.weight", SIZE_MAX, &a), WB_OK);
    assert_int_equal(wb_tensor_find(model, "model.embed_tokens.weight", SIZE_MAX, &b), WB_OK);
    assert_int_equal(a, b);
    assert_false(wb_tensor_has(model, "lm_head.weight", SIZE_MAX));
    assert_int_equal(wb_native_name(model, "output.weight", SIZE_MAX, &text, &n, NULL), WB_OK);
    assert_string_equal(text, "model.embed_tokens.weight");
    assert_int_equal(n, strlen(text));
    assert_int_equal(wb_canonical_name(model, text, SIZE_MAX, &text, &n, NULL), WB_OK);
    assert_string_equal(text, "token_embedding.weight");
    assert_int_equal(wb_canonical_name(model, "no", SIZE_MAX, &text, &n, NULL), WB_ERROR_NOT_FOUND);
    assert_null(text);
    assert_int_equal(wb_native_name(model, "layers.9.ffn_norm.weight", SIZE_MAX, &text, NULL, NULL),
                     WB_ERROR_NOT_FOUND);
    wb_close(model);
    model = open_data("llama"); /* no tied embeddings */
    assert_int_equal(wb_native_name(model, "output.weight", SIZE_MAX, &text, &n, NULL), WB_OK);
    assert_string_equal(text, "lm_head.weight");
    wb_close(model);
}

/* ---- findings of wb_verify ---- */

/* Writes a model of one layer with F32 tensors given as "name:rows,columns". */
static void write_model(const char *folder, const char *config, const char *const *tensors)
{
    char header[16384];
    size_t n = 1, at = 0;
    header[0] = '{';
    for (; *tensors != NULL; tensors++) {
        const char *colon = strchr(*tensors, ':');
        size_t elements = 1;
        for (const char *p = colon; p != NULL; p = strchr(p + 1, ','))
            elements *= strtoul(p + 1, NULL, 10);
        n += (size_t)sprintf(
            header + n, "%s\"%.*s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
            n == 1 ? "" : ",", (int)(colon - *tensors), *tensors, colon + 1, at, at + 4 * elements);
        at += 4 * elements;
    }
    header[n++] = '}';
    while (n % 8 != 0)
        header[n++] = ' ';
    unsigned char *file = calloc(1, 8 + n + at);
    for (int i = 0; i < 8; i++)
        file[i] = (unsigned char)((uint64_t)n >> 8 * i);
    memcpy(file + 8, header, n);
    char *path = text_of("%s/model.safetensors", folder);
    write_file(path, file, 8 + n + at);
    free(path);
    free(file);
    path = text_of("%s/config.json", folder);
    write_file(path, config, strlen(config));
    free(path);
}

static const char llama[] =
    "{\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":1,"
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"vocab_size\":5,\"max_position_"
    "embeddings\""
    ":16,\"rms_norm_eps\":1e-5,\"tie_word_embeddings\":false%s}";

#define SOUND                                                                                      \
    "model.embed_tokens.weight:5,8", "lm_head.weight:5,8", "model.norm.weight:8",                  \
        "model.layers.0.input_layernorm.weight:8", "model.layers.0.self_attn.q_proj.weight:8,8",   \
        "model.layers.0.self_attn.k_proj.weight:4,8",                                              \
        "model.layers.0.self_attn.v_proj.weight:4,8",                                              \
        "model.layers.0.self_attn.o_proj.weight:8,8",                                              \
        "model.layers.0.post_attention_layernorm.weight:8",                                        \
        "model.layers.0.mlp.gate_proj.weight:12,8", "model.layers.0.mlp.up_proj.weight:12,8"

static const struct {
    const char *more; /* additional members of config.json */
    const char *tensors[20];
    const char *code; /* code of the first finding; NULL: none */
    const char *name;
    int verdict;
} cases[] = {
    {"", {SOUND, "model.layers.0.mlp.down_proj.weight:8,12"}, NULL, NULL, 0},
    {"", {SOUND}, "tensor-missing", "layers.0.ffn.down.weight", 1},
    {"",
     {SOUND, "model.layers.0.mlp.down_proj.weight:8,11"},
     "tensor-shape-config",
     "layers.0.ffn.down.weight",
     1},
    {"",
     {SOUND, "model.layers.0.mlp.down_proj.weight:96"},
     "tensor-shape-config",
     "layers.0.ffn.down.weight",
     1},
    {"",
     {SOUND, "model.layers.0.mlp.down_proj.weight:8,12", "model.layers.0.mlp.odd.weight:3"},
     "tensor-unmapped",
     "model.layers.0.mlp.odd.weight",
     1},
    {"",
     {SOUND, "model.layers.0.mlp.down_proj.weight:8,12", "vision_tower.x.weight:3"},
     "tensor-unmapped",
     "vision_tower.x.weight",
     0},
    {"", {SOUND, "model.layers.0.mlp.down_proj.weight:8,12", "rope_freqs.weight:3"}, NULL, NULL, 0},
    {"",
     {SOUND, "model.layers.0.mlp.down_proj.weight:8,12", "blk.0.ffn_down.weight:8,12"},
     "tensor-again",
     "",
     1},
    {"",
     {SOUND, "model.layers.0.mlp.down_proj.weight:8,12", "model.layers.4.mlp.up_proj.weight:12,8"},
     "layers-beyond-config",
     "",
     1},
    {",\"num_hidden_layers\":3",
     {SOUND, "model.layers.0.mlp.down_proj.weight:8,12"},
     "tensor-missing",
     "",
     1},
    {",\"num_local_experts\":2",
     {SOUND, "model.layers.0.mlp.down_proj.weight:8,12",
      "model.layers.0.block_sparse_moe.experts.1.w1.weight:12,8"},
     "experts-incomplete",
     "layers.0.ffn.experts.gate.weight",
     1},
    {",\"hidden_size\":null", {SOUND}, "config-partial", "dim", 0},
    {",\"model_type\":\"news\"", {SOUND}, "architecture-unknown", "news", 0},
};

static void verify_tells(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *folder = scratch_make();
        char config[1024];
        wb_findings *findings;
        wb_finding finding = {.size = sizeof finding};
        (void)snprintf(config, sizeof config, llama, cases[i].more);
        write_model(folder, config, cases[i].tensors);
        assert_int_equal(wb_verify(folder, NULL, &findings, NULL), WB_OK);
        uint64_t count = wb_findings_count(findings);
        if (count > 0)
            assert_int_equal(wb_findings_at(findings, 0, &finding), WB_OK);
        if ((count == 0) != (cases[i].code == NULL) ||
            (count > 0 && (strcmp(finding.code, cases[i].code) != 0 ||
                           strcmp(finding.name, cases[i].name) != 0)) ||
            wb_findings_verdict(findings) != cases[i].verdict)
            fail_msg("case %d: %s %s (%s), verdict %d\n", (int)i, count == 0 ? "" : finding.code,
                     count == 0 ? "" : finding.name, count == 0 ? "" : finding.message,
                     wb_findings_verdict(findings));
        wb_findings_free(findings);
        scratch_remove(folder);
    }
}

/* ---- the first query, made by several threads concurrently ---- */

typedef struct question {
    const wb_model *model;
    uint64_t layers, tokens, at;
    const char *architecture;
} question;

static void *ask(void *arg)
{
    question *q = arg;
    wb_config config = {.size = sizeof config};
    wb_meta_array tokens = {.size = sizeof tokens};
    if (wb_meta_get_string_array(q->model, "tokenizer.ggml.tokens", SIZE_MAX, &tokens, NULL) ==
        WB_OK)
        q->tokens = tokens.count;
    if (wb_config_get(q->model, &config, NULL) == WB_OK)
        q->layers = config.n_layers;
    q->architecture = config.architecture;
    if (wb_tensor_find(q->model, "output.weight", SIZE_MAX, &q->at) != WB_OK)
        q->at = 0;
    return NULL;
}

static void threads_get_one_answer(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        pthread_t threads[4];
        question questions[4] = {{NULL, 0, 0, 0, NULL}};
        wb_model *model = open_data(round % 2 == 0 ? "mistral" : "qwen3moe");
        for (int i = 0; i < 4; i++) {
            questions[i].model = model;
            assert_int_equal(pthread_create(&threads[i], NULL, ask, &questions[i]), 0);
        }
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(questions[i].tokens, 24);
            assert_int_equal(questions[i].layers, 2);
            assert_int_equal(questions[i].at, questions[0].at);
            assert_ptr_equal(questions[i].architecture, questions[0].architecture);
        }
        wb_close(model);
    }
}

/* ---- the first query, with a failing allocation ---- */

static void allocations(void **state)
{
    (void)state;
    static const char *const models[] = {"mistral", "qwen3moe", "bert", "llama", "gemma3.gguf"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char *path = text_of("%s/twins/%s", TEST_DATA, models[i]);
        size_t calls = SIZE_MAX;
        for (size_t k = 0; k <= calls; k++) {
            counter memory = {0};
            wb_allocator allocator = counter_allocator(&memory);
            wb_open_options options = {.size = sizeof options, .allocator = &allocator};
            wb_model *model;
            uint64_t entry, tensor;
            assert_int_equal(wb_open(path, &options, &model, NULL), WB_OK);
            size_t before = memory.calls;
            memory.fail_at = k == 0 ? 0 : before + k;
            wb_status status = wb_meta_find(model, "no such key", SIZE_MAX, &entry);
            if (status == WB_ERROR_NOT_FOUND)
                status = wb_tensor_find(model, "no such tensor", SIZE_MAX, &tensor);
            assert_int_equal(status, k == 0 ? WB_ERROR_NOT_FOUND : WB_ERROR_MEMORY);
            if (k == 0)
                calls = memory.calls - before;
            else /* the failure must not be stored as the result */
                assert_int_equal(wb_meta_find(model, "general.architecture", SIZE_MAX, &entry),
                                 WB_OK);
            wb_close(model);
            assert_clean(&memory);
        }
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_taken_apart),
        cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(many_names),
        cmocka_unit_test(experts_are_one),
        cmocka_unit_test(ties_and_names),
        cmocka_unit_test(verify_tells),
        cmocka_unit_test(threads_get_one_answer),
        cmocka_unit_test(allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

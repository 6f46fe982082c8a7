/*
 * Tests the type that each llama.cpp file type chooses for each tensor. data/mixes.tsv contains the
 * choices of llama_model_quantize (ggml 0.25) for eleven synthetic models. Each line of it is for
 * one model, one file type and one kind of tensor, and lists the chosen types, each with the layers
 * in which it is chosen. The array `models` describes the same models.
 */
#include <stdio.h>
#include <stdlib.h>

#include "convert/recipe/llama_ftype.h"
#include "dtype/dtype.h"
#include "unit.h"

typedef struct synthetic {
    const char *name;
    const char *architecture;
    unsigned layers, heads, kv_heads, experts, columns;
    bool tied;
    const char *tensors; /* names of the tensors of a layer */
} synthetic;

#define DENSE "attn_k attn_output attn_q attn_v ffn_down ffn_gate ffn_up"
#define SPARSE                                                                                     \
    "attn_k attn_output attn_q attn_v ffn_down_exps ffn_gate_exps ffn_gate_inp ffn_up_exps"

static const synthetic models[] = {
    {"llama_gqa4_32L", "llama", 32, 8, 2, 0, 256, false, DENSE},
    {"llama_mha_32L", "llama", 32, 8, 8, 0, 256, false, DENSE},
    {"llama_gqa4_80L", "llama", 80, 64, 8, 0, 256, false, DENSE},
    {"llama_tied_16L", "llama", 16, 8, 2, 0, 256, true, DENSE},
    {"qwen2_28L", "qwen2", 28, 28, 4, 0, 256, false, DENSE},
    {"qwen3_36L", "qwen3", 36, 32, 8, 0, 256, false, DENSE},
    {"mixtral_8x_32L", "llama", 32, 8, 2, 8, 256, false, SPARSE},
    {"qwen3moe_16e_48L", "qwen3moe", 48, 32, 4, 16, 256, false, SPARSE},
    {"phi3_qkv_32L", "phi3", 32, 8, 8, 0, 256, false, "attn_output attn_qkv ffn_down ffn_up"},
    {"llama_ncol288_8L", "llama", 8, 8, 2, 0, 288, false, DENSE},
    {"llama_ncol240_4L", "llama", 4, 8, 2, 0, 240, false, DENSE},
};

#define KINDS 12
#define MAX_LAYERS 80

/* Types chosen for a kind of tensor, indexed by layer. A tensor outside the layers uses entry 0. */
typedef struct chosen {
    char kind[40];
    int32_t dtypes[MAX_LAYERS];
} chosen;

typedef struct answer {
    chosen list[KINDS];
    size_t count;
    bool failed; /* no type could be chosen for some tensor */
} answer;

static void choose(wb__recipe *mix, const synthetic *model, const char *kind, int layer,
                   answer *out)
{
    char name[64];
    if (layer < 0)
        (void)snprintf(name, sizeof name, "%s", kind);
    else
        (void)snprintf(name, sizeof name, "blk.%d.%s", layer, kind);
    wb__recipe_tensor tensor = {.name = wb__str_from(name, SIZE_MAX),
                                .rank = strstr(kind, "_exps") != NULL ? 3 : 2,
                                .columns = model->columns,
                                .stack = strstr(kind, "_exps") != NULL ? model->experts : 1};
    wb__recipe_choice choice = {.dtype = WB_DTYPE_F32};
    if (wb__recipe_applies(&tensor))
        wb__recipe_choose(mix, &tensor, &choice);
    out->failed |= choice.dtype < 0;
    size_t i = 0;
    while (i < out->count && strcmp(out->list[i].kind, kind) != 0)
        i++;
    assert_true(i < KINDS && strlen(kind) < sizeof out->list[i].kind);
    if (i == out->count)
        memcpy(out->list[out->count++].kind, kind, strlen(kind) + 1);
    out->list[i].dtypes[layer < 0 ? 0 : layer] = choice.dtype;
}

/* Chooses a type for every tensor, in order of names. If `out` is NULL, only counts the tensors. */
static void walk(const synthetic *model, wb__recipe *mix, answer *out)
{
    static const char *const outside[] = {"output.weight", "token_embd.weight"};
    for (int layer = -1; layer < (int)model->layers; layer++) {
        for (size_t i = 0; layer < 0 && i < 2; i++) {
            if (i == 0 && model->tied)
                continue;
            if (out == NULL)
                wb__recipe_count(mix, wb__str_from(outside[i], SIZE_MAX));
            else
                choose(mix, model, outside[i], -1, out);
        }
        for (const char *at = model->tensors; layer >= 0 && *at != '\0'; at += strspn(at, " ")) {
            char kind[48], name[64];
            int n = (int)strcspn(at, " ");
            (void)snprintf(kind, sizeof kind, "%.*s.weight", n, at);
            at += n;
            (void)snprintf(name, sizeof name, "blk.%d.%s", layer, kind);
            if (out == NULL)
                wb__recipe_count(mix, wb__str_from(name, SIZE_MAX));
            else
                choose(mix, model, kind, layer, out);
        }
    }
}

/* Returns true if a list such as "q6_K[0-3,6]; q4_K[4-5]" has the type `dtype` for the layer. */
static bool says(const char *types, unsigned layer, const char *dtype)
{
    for (const char *at = types; *at != '\0';) {
        size_t n = strcspn(at, "[;");
        bool same =
            n == strlen(dtype) && wb__str_equal_nocase((wb__str){at, n}, wb__str_from(dtype, n));
        at += n;
        if (*at != '[')
            return same;
        do {
            char *end;
            unsigned long first = strtoul(at + 1, &end, 10), last = first;
            if (*end == '-')
                last = strtoul(end + 1, &end, 10);
            if (layer >= first && layer <= last)
                return same;
            at = end;
        } while (*at == ',');
        at += strspn(at, "]; ");
    }
    return false;
}

static void compare(const synthetic *model, const answer *out, const char *kind, const char *types,
                    const char *line)
{
    size_t i = 0;
    while (i < out->count && strcmp(out->list[i].kind, kind) != 0)
        i++;
    if (i == out->count)
        fail_msg("no such tensor: %s", line);
    bool in_layers = strcmp(kind, "output.weight") != 0 && strcmp(kind, "token_embd.weight") != 0;
    for (unsigned layer = 0; layer < (in_layers ? model->layers : 1); layer++) {
        const wb__dtype *dtype = wb__dtype_get(out->list[i].dtypes[layer]);
        const char *name = dtype == NULL ? "nothing" : dtype->name;
        if (!says(types, layer, name))
            fail_msg("layer %u is %s: %s", layer, name, line);
    }
}

static void every_line(void **state)
{
    char line[1024], before[128] = "";
    static answer out;
    const synthetic *model = NULL;
    unsigned lines = 0;
    (void)state;
    FILE *file = fopen(TEST_DATA "/mixes.tsv", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        char *columns[5], copy[1024], head[128], *at = copy;
        (void)snprintf(copy, sizeof copy, "%s", line);
        copy[strcspn(copy, "\n")] = '\0';
        for (size_t i = 0; i < 5; i++) {
            columns[i] = at;
            at += strcspn(at, "\t");
            if (i < 4)
                *at++ = '\0';
        }
        (void)snprintf(head, sizeof head, "%.40s %.4s %.40s", columns[0], columns[1], columns[2]);
        if (strcmp(head, before) != 0) {
            memcpy(before, head, sizeof head);
            for (model = models; strcmp(model->name, columns[0]) != 0;)
                assert_true(++model < models + sizeof models / sizeof models[0]);
            wb__recipe mix = {.file_type = wb__file_type_named(wb__str_from(columns[2], SIZE_MAX)),
                              .is_70b = model->layers == 80 &&
                                        (strcmp(model->architecture, "qwen2") == 0 ||
                                         (strcmp(model->architecture, "llama") == 0 &&
                                          model->heads != model->kv_heads)),
                              .layers = model->layers,
                              .heads = model->heads,
                              .kv_heads = model->kv_heads,
                              .experts = model->experts,
                              .matrix = columns[1][0] == '1'};
            assert_non_null(mix.file_type);
            memset(&out, 0, sizeof out);
            walk(model, &mix, NULL);
            walk(model, &mix, &out);
        }
        lines++;
        if (strcmp(columns[3], "ERROR") == 0)
            assert_true(out.failed);
        else
            compare(model, &out, columns[3], columns[4], line);
    }
    (void)fclose(file);
    assert_int_equal(lines, 6758);
}

static void order(void **state)
{
    static const char *const sorted[] = {
        "output.weight",       "output_norm.weight",  "token_embd.weight",   "blk.0.attn_k.weight",
        "blk.0.ffn_up.weight", "blk.2.attn_k.weight", "blk.10.attn_k.weight"};
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        for (size_t j = 0; j < 7; j++) {
            int found = wb__recipe_before(wb__str_from(sorted[i], SIZE_MAX),
                                          wb__str_from(sorted[j], SIZE_MAX));
            assert_int_equal((found > 0) - (found < 0), (i > j) - (i < j));
        }
    }
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(wb__file_type_named(WB__STR("q4_k_m"))->number, 15);
    assert_int_equal(wb__file_type_named(WB__STR("Q4_0"))->number, 2);
    assert_null(wb__file_type_named(WB__STR("Q4_K")));
    assert_null(wb__file_type_named(WB__STR("")));
    assert_int_equal(wb__file_type_of(WB_DTYPE_F16)->number, 1);
    assert_null(wb__file_type_of(WB_DTYPE_IQ2_S)); /* most tensors of file type IQ2_S are IQ2_XS */
    assert_null(wb__file_type_of(-5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line),
        cmocka_unit_test(order),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

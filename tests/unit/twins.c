/*
 * Tests that the same model as a Hugging Face directory and as a GGUF file has the same config,
 * names and metadata. tools/make_twins.py made data/twins; WB_TWINS may name another such
 * directory.
 */
#include "weighbridge.h"

#include "unit.h"

static const char *const families[] = {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3moe",
                                       "gemma", "gemma2",  "gemma3",  "phi3",  "bert"};

static wb_model *open_twin(const char *family, const char *ending)
{
    char path[512];
    wb_model *model;
    wb_error error;
    const char *folder = getenv("WB_TWINS");
    (void)snprintf(path, sizeof path, "%s/%s%s", folder == NULL ? TEST_DATA "/twins" : folder,
                   family, ending);
    if (wb_open(path, NULL, &model, &error) != WB_OK)
        fail_msg("%s: %s\n", path, error.message);
    return model;
}

/* Returns true for fields that must differ, because GGUF and config.json represent them differently
 * (docs/format/metadata.md). */
static int may_differ(uint32_t field, const char *architecture)
{
    if (field == WB_CONFIG_ROPE_LAYOUT)
        return strcmp(architecture, "llama") == 0;
    if (field == WB_CONFIG_NORM_OFFSET)
        return strncmp(architecture, "gemma", 5) == 0;
    return 0;
}

static void compare_configs(const wb_model *folder, const wb_model *file, const char *family)
{
    wb_config a = {.size = sizeof a}, b = {.size = sizeof b};
    assert_int_equal(wb_config_get(folder, &a, NULL), WB_OK);
    assert_int_equal(wb_config_get(file, &b, NULL), WB_OK);
    for (uint32_t field = 0; field < WB_CONFIG_FIELDS; field++) {
        wb_config_value x = {.size = sizeof x}, y = {.size = sizeof y};
        assert_int_equal(wb_config_at(&a, field, &x), WB_OK);
        assert_int_equal(wb_config_at(&b, field, &y), WB_OK);
        int same = x.number == y.number && x.is_float == y.is_float &&
                   memcmp(&x.real, &y.real, sizeof x.real) == 0 &&
                   (x.text == NULL) == (y.text == NULL) &&
                   (x.text == NULL || strcmp(x.text, y.text) == 0);
        if (same == may_differ(field, a.architecture))
            fail_msg("%s: %s is %.17g %s in the folder, %.17g %s in GGUF\n", family, x.name, x.real,
                     x.text == NULL ? "" : x.text, y.real, y.text == NULL ? "" : y.text);
    }
}

static void compare_names(const wb_model *folder, const wb_model *file, const char *family)
{
    const char *texts;
    const uint64_t *offsets;
    uint64_t mapped = 0;
    assert_int_equal(wb_tensor_names(file, WB_NAMES_CANONICAL, &texts, &offsets, NULL), WB_OK);
    for (uint64_t i = 0; i < wb_tensor_count(file); i++) {
        wb_tensor a = {.size = sizeof a}, b = {.size = sizeof b};
        uint64_t at = 0, back = 0;
        const char *name = texts + offsets[i];
        const char *native;
        if (*name == '\0' || wb_tensor_find(folder, name, SIZE_MAX, &at) != WB_OK)
            fail_msg("%s: the folder has no %s\n", family, name);
        assert_int_equal(wb_tensor_at(folder, at, &a, NULL), WB_OK);
        assert_int_equal(wb_tensor_at(file, i, &b, NULL), WB_OK);
        assert_int_equal(a.rank, b.rank);
        assert_memory_equal(a.shape, b.shape, a.rank * sizeof *a.shape);
        assert_int_equal(wb_native_name(file, name, SIZE_MAX, &native, NULL, NULL), WB_OK);
        assert_string_equal(native, b.name);
        assert_int_equal(wb_tensor_find(file, name, SIZE_MAX, &back), WB_OK);
        assert_int_equal(back, i);
        mapped++;
    }
    assert_int_equal(mapped, wb_tensor_count(file));
    /* Only the two tensors of BERT's pooler, which GGUF omits, have no canonical name. */
    assert_int_equal(wb_tensor_names(folder, WB_NAMES_CANONICAL, &texts, &offsets, NULL), WB_OK);
    uint64_t unnamed = 0;
    for (uint64_t i = 0; i < wb_tensor_count(folder); i++)
        unnamed += texts[offsets[i]] == '\0';
    assert_int_equal(unnamed, strcmp(family, "bert") == 0 ? 2 : 0);
}

/* ---- metadata ---- */

static int same_array(const wb_model *folder, const wb_model *file, const char *key)
{
    wb_meta_array a = {.size = sizeof a}, b = {.size = sizeof b};
    if (wb_meta_get_array(folder, key, SIZE_MAX, WB_META_ANY, &a, NULL) != WB_OK ||
        wb_meta_get_array(file, key, SIZE_MAX, WB_META_ANY, &b, NULL) != WB_OK ||
        a.element != b.element || a.count != b.count)
        return 0;
    if (a.element != WB_META_STRING)
        return a.bits == b.bits && memcmp(a.data, b.data, (size_t)a.count * a.bits / 8) == 0;
    for (uint64_t i = 0; i < a.count; i++) {
        const char *x, *y;
        size_t m = 0, n = 0;
        if (wb_meta_string_at(&a, i, &x, &m) != WB_OK ||
            wb_meta_string_at(&b, i, &y, &n) != WB_OK || m != n || memcmp(x, y, n) != 0) {
            fprintf(stderr, "%s[%d]: '%.*s' and '%.*s'\n", key, (int)i, (int)m, x, (int)n, y);
            return 0;
        }
    }
    return 1;
}

static int same_value(const wb_model *folder, const wb_model *file, const wb_meta *meta)
{
    const char *x, *y;
    size_t m, n;
    uint64_t u, v;
    double d, e;
    int b, c;
    switch (meta->type) {
    case WB_META_STRING:
        return wb_meta_get_string(folder, meta->key, SIZE_MAX, &x, &m, NULL) == WB_OK &&
               wb_meta_get_string(file, meta->key, SIZE_MAX, &y, &n, NULL) == WB_OK && m == n &&
               memcmp(x, y, n) == 0;
    case WB_META_UINT:
        return wb_meta_get_uint(folder, meta->key, SIZE_MAX, &u, NULL) == WB_OK &&
               wb_meta_get_uint(file, meta->key, SIZE_MAX, &v, NULL) == WB_OK && u == v;
    case WB_META_FLOAT: /* GGUF stores float32 */
        return wb_meta_get_float(folder, meta->key, SIZE_MAX, &d, NULL) == WB_OK &&
               wb_meta_get_float(file, meta->key, SIZE_MAX, &e, NULL) == WB_OK &&
               (float)d == (float)e;
    case WB_META_BOOL:
        return wb_meta_get_bool(folder, meta->key, SIZE_MAX, &b, NULL) == WB_OK &&
               wb_meta_get_bool(file, meta->key, SIZE_MAX, &c, NULL) == WB_OK && b == c;
    default: return same_array(folder, file, meta->key);
    }
}

static int compare_metadata(const wb_model *folder, const wb_model *file, const char *family)
{
    int different = 0;
    for (uint64_t i = 0; i < wb_meta_count(file); i++) {
        wb_meta meta = {.size = sizeof meta};
        assert_int_equal(wb_meta_at(file, i, &meta, NULL), WB_OK);
        /* These keys differ because the files store the weights in different types. */
        if (strcmp(meta.key, "general.file_type") == 0 || strcmp(meta.key, "torch_dtype") == 0)
            continue;
        if (meta.file == WB_NO_FILE && strncmp(meta.key, "decoder", 7) == 0)
            continue;
        if (same_value(folder, file, &meta))
            continue;
        /* These may differ: in GGUF, the architecture of mistral and mixtral is "llama", and the
         * defaults of transformers are not stored. */
        if (strcmp(meta.key, "model_type") == 0 || strcmp(meta.key, "hidden_act") == 0 ||
            strcmp(meta.key, "attention_bias") == 0 || strcmp(meta.key, "mlp_bias") == 0 ||
            strcmp(meta.key, "is_decoder") == 0 || meta.file == WB_NO_FILE)
            continue;
        fprintf(stderr, "%s: %s differs\n", family, meta.key);
        different++;
    }
    return different;
}

static void twins_agree(void **state)
{
    int different = 0;
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        wb_model *folder = open_twin(families[i], "");
        wb_model *file = open_twin(families[i], ".gguf");
        compare_configs(folder, file, families[i]);
        compare_names(folder, file, families[i]);
        different += compare_metadata(folder, file, families[i]);
        wb_close(folder);
        wb_close(file);
    }
    assert_int_equal(different, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twins_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Tests the conversion of model directories to GGUF. Converting data/twins/NAME of each family must
 * give every tensor (byte for byte) and every key-value pair of data/twins/NAME.gguf, which
 * another program wrote by llama.cpp's rules (tools/make_twins.py).
 */
#include "convert.h"

static const char *const families[] = {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3moe",
                                       "gemma", "gemma2",  "gemma3",  "phi3",  "bert"};

static void compare_arrays(const wb_model *made, const wb_model *twin, const wb_meta *meta)
{
    wb_meta_array a = {.size = sizeof a}, b = {.size = sizeof b};
    assert_int_equal(wb_meta_get_array(twin, meta->key, meta->key_len, WB_META_ANY, &b, NULL),
                     WB_OK);
    assert_int_equal(wb_meta_get_array(made, meta->key, meta->key_len, WB_META_ANY, &a, NULL),
                     WB_OK);
    assert_int_equal(a.element, b.element);
    assert_int_equal(a.bits, b.bits);
    assert_int_equal(a.count, b.count);
    for (uint64_t i = 0; i < a.count && a.element == WB_META_STRING; i++) {
        const char *x, *y;
        size_t n, m;
        assert_int_equal(wb_meta_strings(&a, i, 1, &x, &n), WB_OK);
        assert_int_equal(wb_meta_strings(&b, i, 1, &y, &m), WB_OK);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, n);
    }
    if (a.element != WB_META_STRING)
        assert_memory_equal(a.data, b.data, (size_t)a.count * a.bits / 8);
}

/* Returns the type and the value of a key as text. */
static char *value_of(const wb_model *model, const wb_meta *meta)
{
    const char *text;
    size_t n;
    int64_t number;
    double real;
    int flag;
    switch (meta->type) {
    case WB_META_STRING:
        assert_int_equal(wb_meta_get_string(model, meta->key, meta->key_len, &text, &n, NULL),
                         WB_OK);
        return text_of("string %s", text);
    case WB_META_FLOAT:
        assert_int_equal(wb_meta_get_float(model, meta->key, meta->key_len, &real, NULL), WB_OK);
        return text_of("float%u %.17g", (unsigned)meta->bits, real);
    case WB_META_BOOL:
        assert_int_equal(wb_meta_get_bool(model, meta->key, meta->key_len, &flag, NULL), WB_OK);
        return text_of("bool %d", flag);
    default:
        assert_int_equal(wb_meta_get_int(model, meta->key, meta->key_len, &number, NULL), WB_OK);
        return text_of("%d of %u %lld", (int)meta->type, (unsigned)meta->bits, (long long)number);
    }
}

static void compare_keys(const wb_model *made, const wb_model *twin, const char *family)
{
    for (uint64_t i = 0; i < wb_meta_count(twin); i++) {
        wb_meta b = {.size = sizeof b}, a = {.size = sizeof a};
        uint64_t at = 0;
        assert_int_equal(wb_meta_at(twin, i, &b, NULL), WB_OK);
        if (b.file == WB_NO_FILE)
            continue;
        if (wb_meta_find(made, b.key, b.key_len, &at) != WB_OK)
            fail_msg("%s has no %s\n", family, b.key);
        assert_int_equal(wb_meta_at(made, at, &a, NULL), WB_OK);
        if (b.type == WB_META_ARRAY) {
            compare_arrays(made, twin, &b);
            continue;
        }
        char *x = value_of(made, &a), *y = value_of(twin, &b);
        if (a.file == WB_NO_FILE || strcmp(x, y) != 0)
            fail_msg("%s: %s is %s, not %s\n", family, b.key, x, y);
        free(x);
        free(y);
    }
}

static void twins(void **state)
{
    (void)state;
    char *scratch = scratch_make();
    const wb_convert_policy policy = {.size = sizeof policy, .quant = "F32"};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        char *from = text_of("%s/twins/%s", TEST_DATA, families[i]);
        char *twin = text_of("%s/twins/%s.gguf", TEST_DATA, families[i]);
        char *to = text_of("%s/%s.gguf", scratch, families[i]);
        convert(from, WB_TARGET_GGUF, &policy, to);
        wb_model *a = open_model(to), *b = open_model(twin);
        compare_tensors(a, b, families[i]);
        compare_keys(a, b, families[i]);
        wb_close(a);
        wb_close(b);
        free(from);
        free(twin);
        free(to);
    }
    scratch_remove(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Tests parts of arch/ on their own: quantization and sizes that a config.json declares, the row
 * permutation of attention heads, string arrays, name patterns, and the tables of all families.
 */
#include "support.h"

#include "arch/family.h"
#include "arch/family_check.h"
#include "arch/family_scope.h"
#include "arch/name_pattern.h"
#include "arch/quantization.h"
#include "arch/row_order.h"
#include "arch/string_arrays.h"

/* ---- quantization ---- */

typedef struct said {
    char *text;
    wb__tree tree;
    wb__quantization quantization;
} said;

static void begin(said *r, const char *json)
{
    r->text = text_of("%s", json);
    assert_true(wb__tree_parse(&r->tree, r->text, strlen(json), &wb__default_allocator));
    assert_true(wb__quantization_read(&r->quantization, &r->tree, &wb__default_allocator));
}

static void end(said *r)
{
    wb__quantization_free(&r->quantization);
    wb__tree_free(&r->tree);
    free(r->text);
}

static void packing_said(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        wb__scheme scheme;
        uint32_t bits, group, rows;
        bool plain_zeros;
    } rows[] = {
        {"{}", WB__SCHEME_PLAIN, 0, 0, 0, false},
        {"{\"bits\":4}", WB__SCHEME_AFFINE, 4, 0, 0, false},
        {"{\"quant_method\":\"gptq\"}", WB__SCHEME_GPTQ, 4, 0, 0, false},
        {"{\"quantization\":{\"mode\":7,\"bits\":8,\"group_size\":32}}", WB__SCHEME_AFFINE, 8, 32,
         0, false},
        {"{\"quantization\":{\"mode\":\"none such\"}}", WB__SCHEME_PLAIN, 0, 0, 0, false},
        {"{\"quantization\":[],\"quantization_config\":{\"quant_method\":\"fp8\"}}",
         WB__SCHEME_FP8_BLOCK, 8, 0, 0, false},
        {"{\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[32,16]}}",
         WB__SCHEME_FP8_BLOCK, 8, 16, 32, false},
        {"{\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[32,16,8]}}",
         WB__SCHEME_FP8_BLOCK, 8, 0, 0, false},
        {"{\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":32}}",
         WB__SCHEME_FP8_BLOCK, 8, 0, 0, false},
        {"{\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[99999,\"x\"]}}",
         WB__SCHEME_FP8_BLOCK, 8, 0, 0, false},
        {"{\"quantization_config\":{\"quant_method\":\"gptq\",\"checkpoint_format\":\"gptq_v2\"}}",
         WB__SCHEME_GPTQ, 4, 0, 0, true},
        {"{\"quantization_config\":{\"quant_method\":\"gptq\",\"checkpoint_format\":\"gptq\"}}",
         WB__SCHEME_GPTQ, 4, 0, 0, false},
        {"{\"quantization_config\":{\"quant_method\":\"gptq\",\"checkpoint_format\":2}}",
         WB__SCHEME_GPTQ, 4, 0, 0, false},
        {"{\"text_config\":{\"quantization_config\":{\"quant_method\":\"awq\"}}}", WB__SCHEME_AWQ,
         4, 0, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        said r;
        begin(&r, rows[i].json);
        wb__packing_hint hint = wb__quantization_of(&r.quantization, WB__STR("any"));
        if (hint.scheme != rows[i].scheme || hint.bits != rows[i].bits ||
            hint.group != rows[i].group || hint.rows != rows[i].rows ||
            hint.plain_zeros != rows[i].plain_zeros || hint.named)
            fail_msg("%s: %s %u %u %u\n", rows[i].json, wb__scheme_name(hint.scheme), hint.bits,
                     hint.group, hint.rows);
        end(&r);
    }
}

static void sizes_said(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        uint64_t size;
        bool known;
    } rows[] = {
        {"{\"hidden_size\":64}", 64, true},
        {"{\"hidden_size\":64}", 65, false},
        {"{\"x_dim\":5,\"kv_lora_rank\":6,\"d_model\":7,\"dim\":8}", 5, true},
        {"{\"x_dim\":5,\"kv_lora_rank\":6,\"d_model\":7,\"dim\":8}", 6, true},
        {"{\"x_dim\":5,\"kv_lora_rank\":6,\"d_model\":7,\"dim\":8}", 7, true},
        {"{\"x_dim\":5,\"kv_lora_rank\":6,\"d_model\":7,\"dim\":8}", 8, true},
        {"{\"vocab_size\":9,\"layers\":10,\"y_size\":\"11\",\"z_size\":0}", 9, false},
        {"{\"vocab_size\":9,\"layers\":10,\"y_size\":\"11\",\"z_size\":0}", 10, false},
        {"{\"num_attention_heads\":4,\"hidden_size\":36}", 36, true},
        {"{\"num_attention_heads\":4,\"head_dim\":10}", 40, true},
        {"{\"num_attention_heads\":9223372036854775808,\"head_dim\":4}", 0, false},
        {"{\"text_config\":{\"a_size\":12},\"b_size\":13}", 12, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        said r;
        begin(&r, rows[i].json);
        if ((wb__quantization_has_size(&r.quantization, rows[i].size) != 0) != rows[i].known)
            fail_msg("%s: %d\n", rows[i].json, (int)rows[i].size);
        end(&r);
    }
}

/* Reads quantization settings with lists of sizes and modules, while each allocation fails once. */
static void packing_without_memory(void **state)
{
    (void)state;
    static const char *const jsons[] = {
        "{\"a_size\":1,\"quantization\":{\"bits\":4,\"m\":false}}",
        "{\"text_config\":{\"a_size\":1},\"quantization\":{\"bits\":4,\"m\":{}}}",
        "{\"num_attention_heads\":2,\"head_dim\":10}",
    };
    for (size_t i = 0; i < 3; i++) {
        char *text = text_of("%s", jsons[i]);
        wb__tree tree;
        assert_true(wb__tree_parse(&tree, text, strlen(text), &wb__default_allocator));
        size_t calls = 1;
        for (size_t k = 0; k <= calls; k++) {
            counter memory = {.fail_at = k};
            wb_allocator allocator = counter_allocator(&memory);
            wb__quantization q;
            assert_int_equal(wb__quantization_read(&q, &tree, &allocator), k == 0);
            wb__quantization_free(&q);
            calls = k == 0 ? memory.calls : calls;
            assert_clean(&memory);
        }
        wb__tree_free(&tree);
        free(text);
    }
}

static void ollama_hints(void **state)
{
    (void)state;
    static const struct {
        const char *type, *group;
        wb__scheme scheme;
        uint32_t of;
    } rows[] = {{"int4", "32", WB__SCHEME_INT4, 32},
                {"INT8", "", WB__SCHEME_INT8, 0},
                {"", "32", WB__SCHEME_PLAIN, 0},
                {"none", "32", WB__SCHEME_PLAIN, 0},
                {"int4", "1234567", WB__SCHEME_INT4, 12345},
                {"int4", "3/", WB__SCHEME_INT4, 3},
                {"int4", "3:", WB__SCHEME_INT4, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wb__packing_hint hint = wb__quantization_ollama(wb__str_from(rows[i].type, SIZE_MAX),
                                                        wb__str_from(rows[i].group, SIZE_MAX));
        assert_int_equal(hint.scheme, rows[i].scheme);
        assert_int_equal(hint.group, rows[i].of);
    }
}

/* ---- rows of heads ---- */

static wb__row_order order_of(uint32_t provides, uint8_t suffix, uint32_t rank, uint64_t rows,
                              uint64_t columns, uint64_t heads, uint32_t norm_offset,
                              const wb__family *family)
{
    const uint64_t shape[] = {rows, columns, 1};
    const wb__rule rule = {.provides = provides};
    const wb__name_entry entry = {.rule = &rule, .suffix = suffix};
    const wb__kind kind = {
        .shape = shape, .rank = rank, .elements = rank == 1 ? rows : rows * columns};
    const wb_config config = {.n_heads = heads,
                              .n_kv_heads = heads / 2,
                              .norm_offset = norm_offset,
                              .rope_layout = WB_ROPE_INTERLEAVED};
    return wb__row_order_of(&entry, &kind, &config, family);
}

static void row_orders(void **state)
{
    (void)state;
    static const wb__family gemma = {.norm_sides = WB__SIDE_GGUF, .has_norm_sides = 1},
                            other = {.name = "other"};
    const uint8_t weight = WB__SUFFIX_WEIGHT, bias = WB__SUFFIX_BIAS;
    assert_int_equal(order_of(WB__RULE_ROPE_Q, weight, 2, 32, 5, 4, 0, NULL).head_rows, 8);
    assert_int_equal(order_of(WB__RULE_ROPE_Q, weight, 2, 32, 5, 4, 0, NULL).columns, 5);
    assert_int_equal(order_of(WB__RULE_ROPE_K, weight, 2, 32, 5, 4, 0, NULL).head_rows, 16);
    assert_int_equal(order_of(WB__RULE_ROPE_Q, bias, 1, 32, 1, 4, 0, NULL).head_rows, 8);
    assert_int_equal(order_of(WB__RULE_ROPE_Q, bias, 1, 32, 1, 4, 0, NULL).columns, 1);
    assert_int_equal(order_of(WB__RULE_ROPE_Q, weight, 3, 32, 5, 4, 0, NULL).head_rows, 0);
    assert_int_equal(order_of(WB__RULE_ROPE_Q, weight, 2, 32, 0, 4, 0, NULL).head_rows, 0);
    assert_int_equal(order_of(WB__RULE_ROPE_Q, weight, 2, 33, 5, 4, 0, NULL).head_rows, 0);
    assert_int_equal(order_of(WB__RULE_ROPE_Q, weight, 2, 12, 5, 4, 0, NULL).head_rows, 0);
    assert_int_equal(order_of(WB__RULE_ROPE_Q, weight, 2, 32, 5, 0, 0, NULL).head_rows, 0);
    assert_true(order_of(WB__RULE_NORM, weight, 1, 4, 1, 4, 0, &gemma).offset < 0);
    assert_false(order_of(WB__RULE_NORM, bias, 1, 4, 1, 4, 0, &gemma).offset < 0);
    assert_false(order_of(WB__RULE_NORM, weight, 1, 4, 1, 4, 1, &gemma).offset < 0);
    assert_false(order_of(WB__RULE_NORM, weight, 1, 4, 1, 4, 0, &other).offset < 0);
    assert_false(order_of(WB__RULE_NORM, weight, 1, 4, 1, 4, 0, NULL).offset < 0);
    assert_false(order_of(0, weight, 1, 4, 1, 4, 0, &gemma).offset < 0);
    static const uint64_t stored[] = {0, 2, 1, 3, 4, 6, 5, 7};
    for (uint64_t row = 0; row < 8; row++) {
        assert_int_equal(wb__row_order_stored(4, row), stored[row]);
        assert_int_equal(wb__row_order_plain(4, stored[row]), row);
        assert_int_equal(wb__row_order_stored(0, row), row);
        assert_int_equal(wb__row_order_plain(0, row), row);
    }
    for (uint64_t row = 0; row < 30;
         row++) /* 30 rows are five heads of 6 rows or three heads of 10 rows */
        for (uint64_t rows = 6; rows <= 10; rows += 4)
            assert_int_equal(wb__row_order_plain(rows, wb__row_order_stored(rows, row)), row);
}

/* ---- lists of texts ---- */

static void texts_beyond_all_memory(void **state)
{
    (void)state;
    counter memory = {0};
    wb__strings strings = {.allocator = counter_allocator(&memory)};
    assert_true(wb__strings_reserve(&strings, 100, 20));
    size_t calls = memory.calls;
    assert_true(calls > 0);
    /* A request to reserve too much memory is ignored and allocates nothing. */
    assert_true(wb__strings_reserve(&strings, 1, SIZE_MAX));
    assert_true(wb__strings_reserve(&strings, SIZE_MAX, 20));
    assert_true(wb__strings_reserve(&strings, UINT32_MAX, 1));
    assert_true(wb__strings_add(&strings, WB__STR("a")));
    assert_true(wb__strings_reserve(&strings, SIZE_MAX - WB__STRINGS_HEAD, 1));
    assert_int_equal(memory.calls, calls);
    /* A size that the 32-bit offsets cannot represent is refused without calling the allocator. */
    assert_null(wb__strings_append(&strings, UINT32_MAX - 2 * WB__STRINGS_HEAD));
    assert_null(wb__strings_append(&strings, SIZE_MAX));
    assert_int_equal(memory.calls, calls);
    assert_true(wb__str_equal(wb__strings_at(&strings, 0), WB__STR("a")));
    assert_int_equal(strings.count, 1);
    wb__strings_free(&strings);
    assert_clean(&memory);
}

/* ---- patterns ---- */

static void patterns(void **state)
{
    (void)state;
    char out[40];
    assert_int_equal(wb__pattern_expand(WB__STR("l.{n}.e.{e}"), 7, 65535, WB__SUFFIX_BIAS, out, 40),
                     16);
    assert_memory_equal(out, "l.7.e.65535.bias", 16);
    assert_int_equal(wb__pattern_expand(WB__STR("l.{n}.e.{e}"), 7, 1, WB__SUFFIX_WEIGHT, out, 37),
                     0);

    /* A family with more tensor names (spellings) than the table holds. */
    static char names[WB__SPELLINGS_MAX + 20][24];
    static wb__spelling spellings[WB__SPELLINGS_MAX + 20];
    static wb__rule rules[WB__SPELLINGS_MAX + 20];
    const size_t count = sizeof names / sizeof names[0];
    const wb__family family = {.name = "many", .rules = rules, .rule_count = count};
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(names[i], sizeof names[i], "tensor_%c%c", (char)('a' + i % 26),
                       (char)('a' + i / 26));
        spellings[i] =
            (wb__spelling){.name = names[i], .sides = WB__SIDE_GGUF, .suffix = WB__SUFFIX_SAME};
        rules[i] =
            (wb__rule){.spellings = &spellings[i], .spelling_count = 1, .suffix = WB__SUFFIX_SAME};
    }
    static wb__rule_table table;
    wb__matched matched;
    wb__rule_table_make(&table, &family);
    assert_int_equal(table.count, WB__SPELLINGS_MAX);
    assert_true(wb__rule_match(&table, WB__STR("tensor_aa.weight"), &matched));
    assert_ptr_equal(matched.rule, &rules[0]);
    assert_false(
        wb__rule_match(&table, wb__str_from(names[WB__SPELLINGS_MAX], SIZE_MAX), &matched));
}

/* Checks properties that the code assumes of a family's table. */
static void families_are_complete(void **state)
{
    (void)state;
    wb_error error;
    wb__context context = {.allocator = wb__default_allocator, .file = "", .error = &error};
    for (size_t i = 0; i < wb__family_count; i++) {
        const wb__family *family = wb__families[i];
        assert_ptr_equal(wb__family_named(NULL, wb__str_from(family->name, SIZE_MAX)), family);
        /* The compiled tables stay within the limits of those that users write. */
        if (wb__family_check(&context, family) != WB_OK)
            fail_msg("%s: %s: %s", family->name, error.name, error.message);
        if (family->gguf == NULL && family->types == NULL)
            continue; /* a base, from which other families are derived */
        if (family->types != NULL)
            assert_ptr_equal(wb__family_by_model_type(NULL, wb__family_type(family)), family);
        else /* a variant of its base, which only GGUF files tell apart */
            assert_non_null(family->when);
        assert_true(wb__family_gguf(family).len > 0 && wb__family_class(family).len > 0);
        if (family->gguf != NULL && family->when == NULL)
            assert_ptr_equal(wb__family_by_name(NULL, wb__family_gguf(family), NULL), family);
        assert_non_null(wb__family_value(family, 1u << WB__VALUE_BOTH, WB_CONFIG_ACTIVATION, NULL));
        assert_non_null(wb__family_key(family, WB__KEYS_JSON, "hidden_act"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_said),
        cmocka_unit_test(sizes_said),
        cmocka_unit_test(packing_without_memory),
        cmocka_unit_test(ollama_hints),
        cmocka_unit_test(row_orders),
        cmocka_unit_test(texts_beyond_all_memory),
        cmocka_unit_test(patterns),
        cmocka_unit_test(families_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

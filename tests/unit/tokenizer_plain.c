/*
 * Tests the reader of tokenizer.json. It uses a fast parser for parts in the simplest notation
 * (arch/tokenizer/plain.h) and the JSON parser for the rest. For a file that is truncated at any
 * offset or has any byte changed, validity, tokens, scores and merges must be those of a JSON tree
 * of the text.
 */
#include "support.h"

#include "arch/tokenizer/tokenizer.h"

static const char pairs[] =
    "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\" : 12 ,\n\"\\u00e9\":3,\"long enough "
    "\xC3\xA9\xE4\xB8\x80\":4,\"\xC4\xA0\":5,\"\":6 , \"x\":1e1,\"y\":123456789},\"merges\":[\"a "
    "b\",\"c d\" "
    ",[\"e\",\"f g\"],[ \"h\" , \"i\" ] , "
    "[\"j\",\"k\"],7,[\"l\"],[\"m\",8],[9,\"n\"],[\"o\",\"p\",\"q\"]]}}";

static const char scores[] =
    "{\"model\":{\"vocab\":[[\"<unk>\",0.0],[\"a\",-2.5], [ \"bb\" ,\t-1.25\n] "
    ",\r\n[\"\\u2581\",-1e2],"
    "[\"\xC3\xA9\",12],[\"c\",007],[\"d\",-1.5],[\"e\"],[ \"f\" , 1e0 ]],\"type\":\"Unigram\"}}";

/* "vocab" and "merges" occur more often than the fast parser can record. */
static const char many[] =
    "{\"model\":{\"vocab\":{\"a\":1},\"merges\":[\"a "
    "b\"],\"vocab\":{\"c\":2},\"vocab\":[[\"d\",1]],"
    "\"merges\":[],\"vocab\":{},\"merges\":[\"e f\"],\"vocab\":{\"g\":3},\"merges\":[\"h i\"],"
    "\"vocab\":{\"j\":4},\"vocab\":[[\"k\",2]]},\"model\":7,\"x\":[1,{\"y\":null}]}";

typedef struct both {
    char *slow_text, *fast_text;
    wb__tree tree;
    wb__tokenizer_json json;
    bool is_json;
} both;

static char *copy_of(const char *text, size_t n)
{
    char *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

static void read_both(both *b, const char *text, size_t n)
{
    b->slow_text = copy_of(text, n);
    b->fast_text = copy_of(text, n);
    b->is_json = wb__tree_parse(&b->tree, b->slow_text, n, &wb__default_allocator);
    if (wb__tokenizer_json_read(&b->json, b->fast_text, n, &wb__default_allocator) != b->is_json)
        fail_msg("the two ways do not agree on %.*s\n", (int)n, text);
    if (!b->is_json) {
        assert_int_equal(b->json.fault_at, b->tree.fault_at);
        assert_int_equal(b->json.fault, b->tree.fault);
    }
}

static void free_both(both *b)
{
    wb__tree_free(&b->tree);
    wb__tokenizer_json_free(&b->json);
    free(b->slow_text);
    free(b->fast_text);
}

static void check_token(const both *b, uint64_t number, wb__str text)
{
    bool is_token;
    if (number >= b->json.token_count)
        fail_msg("%.*s is missing\n", (int)text.len, text.ptr);
    assert_true(wb__str_equal(wb__tokenizer_json_token(&b->json, (size_t)number, &is_token), text));
    assert_true(is_token);
}

/* Checks the tokens of a BPE vocabulary. If several tokens have the same id, the last one
 * counts. */
static void check_vocab(const both *b, wb__node vocab)
{
    for (wb__node key = wb__tree_first(&b->tree, vocab); key != WB__NO_NODE;
         key = wb__tree_next(&b->tree, vocab, key + 1)) {
        uint64_t number, other;
        bool last = true;
        if (!wb__tree_uint(&b->tree, key + 1, &number) || number >= 1000)
            continue;
        for (wb__node k = wb__tree_next(&b->tree, vocab, key + 1); k != WB__NO_NODE;
             k = wb__tree_next(&b->tree, vocab, k + 1))
            last &= !(wb__tree_uint(&b->tree, k + 1, &other) && other == number);
        if (last)
            check_token(b, number, wb__tree_string(&b->tree, key));
    }
}

static void check_scores(const both *b, wb__node vocab)
{
    size_t number = 0;
    for (wb__node n = wb__tree_first(&b->tree, vocab); n != WB__NO_NODE;
         n = wb__tree_next(&b->tree, vocab, n), number++) {
        double score;
        wb__node text = wb__tree_type(&b->tree, n) == WB__JSON_ARRAY ? wb__tree_first(&b->tree, n)
                                                                     : WB__NO_NODE;
        wb__node said = text == WB__NO_NODE ? text : wb__tree_next(&b->tree, n, text);
        if (text == WB__NO_NODE || wb__tree_type(&b->tree, text) != WB__JSON_STRING ||
            !wb__tree_double(&b->tree, said, &score)) {
            assert_true(b->json.bad_vocab);
            break;
        }
        float exact = (float)score;
        check_token(b, number, wb__tree_string(&b->tree, text));
        assert_memory_equal(&b->json.scores[number], &exact, sizeof exact);
    }
    assert_int_equal(b->json.token_count, number);
}

/* Writes the expected text of the merge at node `n`: its two parts, separated by a space. The node
 * is either a string with this text or an array of the two parts. Spaces inside of the parts of an
 * array become U+0120. Returns false if the merge is invalid. */
static bool merge_of(const wb__tree *tree, wb__node n, char *out, size_t *len)
{
    wb__str part[2] = {wb__tree_string(tree, n), {"", 0}};
    *len = 0;
    if (wb__tree_type(tree, n) == WB__JSON_STRING) {
        memcpy(out, part[0].ptr, part[0].len);
        *len = part[0].len;
        return true;
    }
    if (wb__tree_type(tree, n) != WB__JSON_ARRAY || wb__tree_count(tree, n) != 2)
        return false;
    wb__node each = wb__tree_first(tree, n);
    for (int i = 0; i < 2; i++, each = wb__tree_next(tree, n, each)) {
        if (wb__tree_type(tree, each) != WB__JSON_STRING)
            return false;
        part[i] = wb__tree_string(tree, each);
        for (size_t k = 0; k < part[i].len; k++) {
            if (part[i].ptr[k] == ' ')
                out[(*len)++] = (char)0xC4;
            out[(*len)++] = part[i].ptr[k] == ' ' ? (char)0xA0 : part[i].ptr[k];
        }
        if (i == 0)
            out[(*len)++] = ' ';
    }
    return true;
}

static void check_merges(const both *b, wb__node merges)
{
    char expected[600];
    size_t len, count = 0, bad = 0;
    for (wb__node n = wb__tree_first(&b->tree, merges); n != WB__NO_NODE;
         n = wb__tree_next(&b->tree, merges, n)) {
        if (!merge_of(&b->tree, n, expected, &len)) {
            bad++;
            continue;
        }
        assert_true(count < b->json.merges.count);
        assert_true(
            wb__str_equal(wb__strings_at(&b->json.merges, count++), (wb__str){expected, len}));
    }
    assert_int_equal(b->json.merges.count, count);
    assert_int_equal(b->json.bad_merges, bad);
}

static void check(const char *text, size_t n)
{
    both b;
    read_both(&b, text, n);
    if (b.is_json && n > 0 && wb__tree_type(&b.tree, 0) == WB__JSON_OBJECT) {
        wb__node vocab = wb__tree_path(&b.tree, 0, "model/vocab");
        wb__node merges = wb__tree_path(&b.tree, 0, "model/merges");
        if (vocab != WB__NO_NODE && wb__tree_type(&b.tree, vocab) == WB__JSON_OBJECT)
            check_vocab(&b, vocab);
        if (vocab != WB__NO_NODE && wb__tree_type(&b.tree, vocab) == WB__JSON_ARRAY)
            check_scores(&b, vocab);
        if (merges != WB__NO_NODE && wb__tree_type(&b.tree, merges) == WB__JSON_ARRAY)
            check_merges(&b, merges);
    }
    free_both(&b);
}

static void check_mutations(const char *text, size_t n)
{
    static const char others[] = "\",:[]{}\\09.-e \n\t\r\x1F\xC1\xC3\xA9\xE2\xFFz";
    char *changed = copy_of(text, n);
    check(text, n);
    for (size_t i = 0; i < n; i++) {
        check(text, i);
        for (size_t c = is_slow() ? i % 8 : 0; c < sizeof others - 1; c += is_slow() ? 8 : 1) {
            changed[i] = others[c];
            check(changed, n);
        }
        changed[i] = text[i];
    }
    free(changed);
}

static void mutated_pairs(void **state)
{
    (void)state;
    check_mutations(pairs, sizeof pairs - 1);
}

static void mutated_scores(void **state)
{
    (void)state;
    check_mutations(scores, sizeof scores - 1);
}

/* If "vocab" or "merges" occurs again, the last one must replace the earlier ones. The fast parser
 * records at most eight of these members, and leaves a file with more to the JSON parser. */
static void many_parts(void **state)
{
    (void)state;
    for (size_t n = 0; n <= sizeof many - 1; n++) {
        both b;
        read_both(&b, many, n);
        if (n == sizeof many - 1) {
            assert_true(b.is_json);
            assert_int_equal(b.json.merges.count, 2);
            check_token(&b, 2, WB__STR("c"));
            check_token(&b, 3, WB__STR("g"));
            assert_int_equal(b.json.token_count, 4);
            assert_int_equal(wb__tree_count(&b.json.tree, wb__tree_path(&b.json.tree, 0, "x")), 2);
        }
        free_both(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutated_pairs),
        cmocka_unit_test(mutated_scores),
        cmocka_unit_test(many_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests arch/tokenizer/tokenizer.h with valid, unusual and malicious tokenizer files. */
#include "tokenizer_fixture.h"

#include "arch/tokenizer/pretokenizer.h"

/* Tests a file of a BPE tokenizer whose members are in an unusual order. It has escapes, ids
 * without a token, and added tokens.
 * Its merges are strings (two parts separated by a space) or arrays of two strings. */
static void byte_pairs(void **state)
{
    (void)state;
    made m;
    prepare(&m);
    make_from(
        &m,
        "{\"model\":{\"merges\":[\"a b\",[\"c\",\"d\"],[ \"e f\" , \"\\u0067\"],\"\\\"h i\",7,"
        "[\"x\"],[\"j\",\"k\"]],\"type\":\"BPE\",\"vocab\":{\"a\":2,\"b\" : 0 ,\"\\n\\\"\":1,"
        "\"\\u00e9\\ud83d\\ude00\":3,\"\xC4\xA0z\":4}},"
        "\"added_tokens\":[{\"id\":7,\"content\":\"<|x|>\",\"special\":false},"
        "{\"id\":6,\"content\":\"y\xE2\x96\x81z\",\"special\":false},"
        "{\"id\":2,\"content\":\"A\",\"special\":true}],\"pre_tokenizer\":{\"type\":\"ByteLevel\"}"
        "}",
        none, none, 9);
    assert_int_equal(m.status, WB_OK);
    assert_string_equal(m.tokenizer.model, "gpt2");
    assert_string_equal(m.tokenizer.pre, "gpt-2");
    assert_int_equal(m.tokenizer.tokens.count, 9);
    is_token(&m, 0, "b", WB__TOKEN_NORMAL);
    is_token(&m, 1, "\n\"", WB__TOKEN_NORMAL);
    is_token(&m, 2, "A", WB__TOKEN_CONTROL);
    is_token(&m, 3, "\xC3\xA9\xF0\x9F\x98\x80", WB__TOKEN_NORMAL);
    is_token(&m, 4, "\xC4\xA0z", WB__TOKEN_NORMAL);
    is_token(&m, 5, "[PAD5]", WB__TOKEN_UNUSED);
    is_token(&m, 6, "y z", WB__TOKEN_USER);
    is_token(&m, 7, "<|x|>", WB__TOKEN_CONTROL);
    is_token(&m, 8, "[PAD8]", WB__TOKEN_UNUSED);
    assert_int_equal(m.tokenizer.merges.count, 5);
    is_merge(&m, 0, "a b");
    is_merge(&m, 1, "c d");
    is_merge(&m, 2,
             "e\xC4\xA0"
             "f g");
    is_merge(&m, 3, "\"h i");
    is_merge(&m, 4, "j k");
    assert_int_equal(m.findings.count, 1); /* about the two entries that are not valid merges */
    assert_null(m.tokenizer.scores);
    release(&m);
}

/* In a BPE tokenizer with byte fallback, tokens must get scores by the ranks of their merges. */
static void ranks_as_scores(void **state)
{
    (void)state;
    made m;
    prepare(&m);
    make_from(
        &m,
        "{\"added_tokens\":[{\"id\":0,\"content\":\"<s>\",\"special\":true}],\"model\":{"
        "\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":\"<0x0A>\",\"vocab\":{\"<s>\":0,"
        "\"<0x0A>\":1,\"a\":2,\"b\":3,\"ab\":4,\"abb\":5,\"zz\":6},"
        "\"merges\":[\"a b\",\"ab b\",\"a bb\"]}}",
        none, none, 0);
    assert_int_equal(m.status, WB_OK);
    assert_string_equal(m.tokenizer.model, "llama");
    is_token(&m, 1, "<0x0A>", WB__TOKEN_BYTE);
    assert_true(score_of(&m, 4) > -0.5F);
    /* Two merges give "abb". The rank of the first one counts. */
    assert_true(score_of(&m, 5) < -0.5F && score_of(&m, 5) > -1.5F);
    assert_true(score_of(&m, 6) < -3.5F); /* no merge gives this token, so it ranks last */
    assert_int_equal(m.tokenizer.merges.count, 0);
    assert_int_equal(m.tokenizer.special[WB__SPECIAL_UNK], 1);
    release(&m);
}

static void unigrams(void **state)
{
    (void)state;
    made m;
    prepare(&m);
    make_from(&m,
              "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"<unk>\",0.0],[\"\\u2581a\",-2.5],"
              "[\"b\",-1e2]]}}",
              none, none, 0);
    assert_int_equal(m.status, WB_OK);
    assert_string_equal(m.tokenizer.model, "t5");
    is_token(&m, 1,
             "\xE2\x96\x81"
             "a",
             WB__TOKEN_NORMAL);
    assert_true(score_of(&m, 1) < -2.4F && score_of(&m, 1) > -2.6F);
    assert_true(score_of(&m, 2) < -99 && score_of(&m, 2) > -101);
    release(&m);
}

/* Both score parsers, the fast one and the general one, must give the exact result. */
static void scores_are_exact(void **state)
{
    (void)state;
    static const char *const scores[] = {"-3.4635426998138428",
                                         "0",
                                         "-0.0",
                                         "-12.125",
                                         "16777217.0",
                                         "16777217.0000001",
                                         "1.00000005960464477540",
                                         "1.0000000596046447754",
                                         "1.000000059604644776",
                                         "1.00000005960464477",
                                         "8589973000.5",
                                         "-9.9999999999999999",
                                         "0.000000000000000001",
                                         "1234567890123456789",
                                         "12345678901234567890",
                                         "1e3",
                                         "-1.5E-7",
                                         "0.1",
                                         "340282350000000000.1"};
    for (size_t i = 0; i < sizeof scores / sizeof scores[0]; i++) {
        made m;
        prepare(&m);
        char *json =
            text_of("{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",%s],[ \"b\" , %s ]]}}",
                    scores[i], scores[i]);
        make_from(&m, json, none, none, 0);
        float exact = (float)strtod(scores[i], NULL);
        float a = score_of(&m, 0), b = score_of(&m, 1);
        if (memcmp(&a, &exact, sizeof a) != 0 || memcmp(&b, &exact, sizeof b) != 0)
            fail_msg("%s: %.9g and %.9g, not %.9g\n", scores[i], (double)a, (double)b,
                     (double)exact);
        release(&m);
        free(json);
    }
}

static void word_pieces(void **state)
{
    (void)state;
    made m;
    prepare(&m);
    make_from(&m, NULL, none, WB__STR("[PAD]\r\n[CLS]\nthe\n##s\n##\n\nlast"), 0);
    assert_int_equal(m.status, WB_OK);
    assert_string_equal(m.tokenizer.model, "bert");
    assert_int_equal(m.tokenizer.tokens.count, 7);
    is_token(&m, 0, "[PAD]", WB__TOKEN_CONTROL);
    is_token(&m, 2, "\xE2\x96\x81the", WB__TOKEN_NORMAL);
    is_token(&m, 3, "s", WB__TOKEN_NORMAL);
    is_token(&m, 4, "", WB__TOKEN_NORMAL);
    is_token(&m, 6, "\xE2\x96\x81last", WB__TOKEN_NORMAL);
    release(&m);
}

/* ---- tokenizer.model ---- */

static void sentence_pieces(void **state)
{
    (void)state;
    /* The piece <unk>, a normal piece with a score, a byte piece, unknown fields, and settings. */
    static const char sound[] = "\x0A\x0E\x0A\x05<unk>\x15\x00\x00\x00\x00\x18\x02"
                                "\x0A\x09\x0A\x02"
                                "ab\x15\x00\x00\x20\xC0"
                                "\x0A\x0A\x0A\x06<0x41>\x18\x06"
                                "\x3D\x01\x02\x03\x04\x39\x01\x02\x03\x04\x05\x06\x07\x08"
                                "\x12\x05\x18\x02\xC0\x02\x01"
                                "\x1A\x02\x18\x00";
    made m;
    prepare(&m);
    make_from(&m, NULL, (wb__str){sound, sizeof sound - 1}, none, 5);
    assert_int_equal(m.status, WB_OK);
    assert_int_equal(m.findings.count, 0);
    assert_string_equal(m.tokenizer.model, "llama");
    assert_int_equal(m.tokenizer.tokens.count, 5);
    is_token(&m, 0, "<unk>", WB__TOKEN_UNKNOWN);
    is_token(&m, 1, "ab", WB__TOKEN_NORMAL);
    is_token(&m, 2, "<0x41>", WB__TOKEN_BYTE);
    is_token(&m, 3, "[PAD3]", WB__TOKEN_UNUSED);
    assert_true(score_of(&m, 1) < -2.4F && score_of(&m, 1) > -2.6F);
    assert_int_equal(m.tokenizer.special[WB__SPECIAL_UNK], 1); /* from field 40 of TrainerSpec */
    assert_int_equal(m.tokenizer.add_space_prefix, WB__FLAG_NO);
    release(&m);

    /* A truncated file must be refused with a finding, unless it is valid with fewer fields. */
    for (size_t n = 0; n < sizeof sound - 1; n++) {
        char *cut = malloc(n + 1); /* a copy, so that sanitizers detect reads past the end */
        memcpy(cut, sound, n);
        prepare(&m);
        char *exact = realloc(cut, n == 0 ? 1 : n);
        assert_non_null(exact);
        make_from(&m, NULL, (wb__str){exact, n}, none, 0);
        assert_int_equal(m.status, WB_OK);
        assert_true(m.findings.count == 1 || m.tokenizer.tokens.count > 0 || n == 0);
        release(&m);
        free(exact);
    }
}

static void hostile_pieces(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } bad[] = {
        {"\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11}, /* a length of 2^64 - 1 */
        {"\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 11}, /* a length of more than 64 bits */
        {"\x0A\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12},
        {"\x0B\x0C", 2},          /* a group, which SentencePiece does not use */
        {"\x00\x01", 2},          /* field 0 */
        {"\x0A\x03\x0A\x05x", 5}, /* a field that is longer than the enclosing message */
        {"{\"model\":1}", 11},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        made m;
        prepare(&m);
        make_from(&m, NULL, (wb__str){bad[i].bytes, bad[i].n}, none, 0);
        assert_int_equal(m.status, WB_OK);
        assert_int_equal(m.findings.count, 1);
        assert_null(m.tokenizer.model);
        release(&m);
    }
}

/* ---- bounds ---- */

static void faults_are_findings(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{",
        "[]x",
        "{\"model\":{\"vocab\":{\"a\":1",
        "{\"model\":{\"vocab\":{\"a\":1,}}}",
        "{\"model\":{\"vocab\":{\"\xFF\":1}}}",
        "{\"model\":{\"merges\":[\"a b\",]}}",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}},\"added_tokens\":[}",
        "{\"model\":{\"merges\":[[\"a\",\"b\"}}}",
        "{\"model\":{\"vocab\":{\"a\" 1}}}",
        "{\"model\":{\"vocab\":{\"a\":01}}}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        made m;
        prepare(&m);
        make_from(&m, bad[i], none, none, 0);
        assert_int_equal(m.status, WB_OK);
        assert_null(m.tokenizer.model);
        if (m.findings.count != 1)
            fail_msg("%s: %d findings\n", bad[i], (int)m.findings.count);
        release(&m);
    }
    /* Valid JSON without the structure of tokenizer.json must give no tokens, or only one. */
    static const char *const odd[] = {
        "[]",
        "7",
        "{}",
        "{\"model\":[]}",
        "{\"model\":{\"vocab\":3,\"merges\":{}}}",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":18446744073709551615,\"b\":-1,\"c\":[],"
        "\"d\":{\"e\":1},\"f\":1.5,\"g\":4000000000}}}",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{}},\"model\":{\"type\":\"BPE\",\"vocab\":{}}}",
        "{\"added_tokens\":[{\"id\":99999999,\"content\":\"x\"},{\"id\":\"y\"},7,{\"content\":1}],"
        "\"model\":{\"type\":\"BPE\",\"vocab\":{}}}"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        made m;
        prepare(&m);
        make_from(&m, odd[i], none, none, UINT64_MAX);
        assert_int_equal(m.status, WB_OK);
        assert_true(m.tokenizer.tokens.count <= 1);
        release(&m);
    }
}

/* Each failed allocation must give WB_ERROR_MEMORY, without leaks. */
static void allocations(void **state)
{
    (void)state;
    static const char json[] =
        "{\"added_tokens\":[{\"id\":3,\"content\":\"<s>\",\"special\":true}],\"model\":{\"type\":"
        "\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0,\"\\u0062\":1,\"ab\":2},"
        "\"merges\":[[\"a\",\"b\"]]}}";
    static const char pieces[] = "\x0A\x04\x0A\x02"
                                 "ab";
    for (int way = 0; way < 2; way++) {
        made m;
        prepare(&m);
        make_from(&m, json, way == 0 ? none : (wb__str){pieces, sizeof pieces - 1}, none, 0);
        size_t calls = m.memory.calls;
        assert_int_equal(m.status, WB_OK);
        assert_true(calls > 5);
        release(&m);
        for (size_t k = 1; k <= calls; k++) {
            prepare(&m);
            m.memory.fail_at = k;
            make_from(&m, json, way == 0 ? none : (wb__str){pieces, sizeof pieces - 1}, none, 0);
            assert_int_equal(m.status, WB_ERROR_MEMORY);
            release(&m);
        }
    }
}

/* Allocated memory, including the text of the file, must never exceed 8 times the file size plus
 * 1 MiB. */
static void memory_is_bounded(void **state)
{
    (void)state;
    static const struct {
        const char *begin, *repeat, *end;
    } shapes[] = {
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{", "\"%x\":%u,", "\"\":0}}}"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{", "\"\":%u,", "\"\":0}}}"},
        {"{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{", "\"%x\":%u,",
         "\"\":0},\"merges\":[\"1 2\"]}}"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[", "\"\",", "\"\"]}}"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[", "[\"\",\"\"],", "\"\"]}}"},
        {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[", "[],", "[]]}}"},
        {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[", "[\"\",0],", "[]]}}"},
        {"{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{", " ",
         "\"\":99990},\"merges\":[\"1 2\"]}}"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{}},\"x\":[", "0,", "0]}"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{}},\"added_tokens\":[",
         "{\"id\":%2$u,\"content\":\"\"},", "0]}"},
    };
    const size_t bytes = getenv("WB_TEST_SLOW") != NULL ? 100000 : 800000;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char *text = malloc(bytes + 200);
        size_t n = (size_t)sprintf(text, "%s", shapes[i].begin);
        for (unsigned k = 0; n < bytes; k++) {
            if (strstr(shapes[i].repeat, "%2$u") != NULL)
                n += (size_t)sprintf(text + n, "{\"id\":%u,\"content\":\"\"},", k);
            else if (strstr(shapes[i].repeat, "%x") != NULL)
                n += (size_t)sprintf(text + n, "\"%x\":%u,", k, k);
            else if (strstr(shapes[i].repeat, "%u") != NULL)
                n += (size_t)sprintf(text + n, "\"\":%u,", k);
            else
                n += (size_t)sprintf(text + n, "%s", shapes[i].repeat);
        }
        n += (size_t)sprintf(text + n, "%s", shapes[i].end);
        made m;
        prepare(&m);
        make_from(&m, text, none, none, 0);
        assert_int_equal(m.status, WB_OK);
        if (m.memory.peak + n > 8 * n + (1 << 20))
            fail_msg("%s: %.2f times the file\n", shapes[i].repeat,
                     (double)(m.memory.peak + n) / (double)n);
        release(&m);
        free(text);
    }
}

/* Tests many equal tokens. A hash table that probes past all of them would take minutes. */
static void equal_texts(void **state)
{
    (void)state;
    const unsigned count = getenv("WB_TEST_SLOW") != NULL ? 20000 : 1000000;
    char *text = malloc((size_t)count * 16 + 200);
    size_t n = (size_t)sprintf(
        text,
        "{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"merges\":[\"a b\"],\"vocab\":{");
    for (unsigned i = 0; i < count; i++)
        n += (size_t)sprintf(text + n, "\"ab\":%u,", i);
    (void)sprintf(text + n, "\"b\":%u}}}", count);
    made m;
    prepare(&m);
    make_from(&m, text, none, none, 0);
    assert_int_equal(m.status, WB_OK);
    assert_int_equal(m.tokenizer.tokens.count, count + 1);
    assert_true(score_of(&m, 0) >
                -0.5F); /* the first of the equal tokens must get the score of the merge */
    assert_true(score_of(&m, 1) < -1.5F);
    assert_true(score_of(&m, count - 1) < -1.5F);
    release(&m);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts),         cmocka_unit_test(byte_pairs),
        cmocka_unit_test(ranks_as_scores),     cmocka_unit_test(unigrams),
        cmocka_unit_test(word_pieces),         cmocka_unit_test(scores_are_exact),
        cmocka_unit_test(sentence_pieces),     cmocka_unit_test(hostile_pieces),
        cmocka_unit_test(faults_are_findings), cmocka_unit_test(allocations),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

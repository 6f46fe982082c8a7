/*
 * Tests the contents of tokenizer files other than the vocabulary: special tokens, tokens that are
 * added at the beginning or end of a text, pre-tokenizers, SentencePiece pieces, and tokens that
 * replace pieces. Also tests each allocation failing once.
 */
#include "tokenizer_fixture.h"

#include "arch/tokenizer/pretokenizer.h"

/* ---- special tokens ---- */

#define VOCAB                                                                                      \
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"<s>\":0,\"</"                                        \
    "s>\":1,\"x\":2,\"[CLS]\":3,\"[SEP]\":4}}"

/* Describes special tokens and flags, for example "bos 0 eos 1 +bos -sep". Omits what is not
 * specified. */
static char *describe(const wb__tokenizer *t)
{
    static const char *const names[] = {"bos", "eos",  "unk", "sep", "pad",
                                        "cls", "mask", "eot", "eom"};
    const struct {
        wb__flag flag;
        const char *name;
    } flags[] = {
        {t->add_bos, "bos"}, {t->add_eos, "eos"}, {t->add_sep, "sep"}, {t->lowercase, "lower"}};
    char *all = text_of("%s", "");
    for (int i = 0; i < WB__SPECIALS; i++) {
        char *more = t->special[i] < 0 ? text_of("%s", all)
                                       : text_of("%s%s %d ", all, names[i], (int)t->special[i]);
        free(all);
        all = more;
    }
    for (size_t i = 0; i < 4; i++) {
        char *more =
            flags[i].flag == WB__FLAG_UNSAID
                ? text_of("%s", all)
                : text_of("%s%c%s ", all, flags[i].flag == WB__FLAG_YES ? '+' : '-', flags[i].name);
        free(all);
        all = more;
    }
    return all;
}

#define SPECIAL(id) "{\"SpecialToken\":{\"id\":\"" id "\",\"type_id\":0}}"
#define SEQUENCE(id) "{\"Sequence\":{\"id\":\"" id "\"}}"
#define SINGLE(list) "{\"type\":\"TemplateProcessing\",\"single\":[" list "]}"
#define PAIR(list) "{\"type\":\"TemplateProcessing\",\"pair\":[" list "]}"

static const struct {
    const char *processor, *config, *tokenizer_config, *expected;
} specials[] = {
    {"null", NULL, NULL, ""},
    {SINGLE(SPECIAL("<s>") "," SEQUENCE("A") "," SPECIAL("</s>")), NULL, NULL,
     "bos 0 eos 1 +bos +eos "},
    {SINGLE(SPECIAL("<s>")), NULL, NULL, ""},
    {SINGLE(SEQUENCE("A") "," SPECIAL("</s>")), NULL, NULL, "eos 1 +eos "},
    {SINGLE(SPECIAL("<s>") "," SEQUENCE("A")), NULL, NULL, "bos 0 +bos "},
    {SINGLE(SPECIAL("<s>") "," SEQUENCE("A")), NULL, "{\"bos_token\":\"x\"}", "bos 2 -bos "},
    {SINGLE(SPECIAL("[CLS]") "," SEQUENCE("A")), NULL,
     "{\"bos_token\":{\"content\":\"x\"},\"cls_token\":\"[CLS]\"}", "bos 2 cls 3 +bos "},
    {SINGLE(SEQUENCE("A") "," SPECIAL("</s>")), NULL, "{\"eos_token\":\"x\"}", "eos 1 eot 2 +eos "},
    {SINGLE(SEQUENCE("A") "," SPECIAL("</s>")), NULL,
     "{\"eos_token\":\"x\",\"eot_token\":\"[CLS]\"}", "eos 1 eot 3 +eos "},
    {SINGLE(SEQUENCE("A") "," SPECIAL("</s>")), NULL, "{\"eos_token\":\"</s>\"}", "eos 1 +eos "},
    {SINGLE(SEQUENCE("A") "," SPECIAL("</s>")), NULL, "{}", "eos 1 +eos "},
    {PAIR(SEQUENCE("A") "," SPECIAL("[SEP]") "," SEQUENCE("B")), NULL, "{\"sep_token\":\"[SEP]\"}",
     "eos 4 sep 4 +sep "},
    {PAIR(
         SEQUENCE("A") "," SPECIAL("[SEP]") "," SPECIAL("</s>") "," SEQUENCE("B") "," SPECIAL("x")),
     NULL, "{\"sep_token\":\"[SEP]\",\"eos_token\":\"</s>\"}", "eos 1 sep 4 +sep "},
    {PAIR(SEQUENCE("A") "," SPECIAL("x") "," SEQUENCE("B")), NULL, "{\"sep_token\":\"[SEP]\"}",
     "eos 4 sep 4 -sep "},
    {PAIR(SPECIAL("x") "," SEQUENCE("A") ",7"), NULL, "{\"sep_token\":\"[SEP]\"}",
     "eos 4 sep 4 -sep "},
    {"{\"type\":\"RobertaProcessing\"}", NULL, NULL, "+bos +eos +sep "},
    {"{\"type\":\"ByteLevel\"}", NULL, NULL, ""},
    {"{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\"}," SINGLE(
         SPECIAL("<s>") "," SEQUENCE("A")) "]}",
     NULL, NULL, "bos 0 +bos "},
    {"null", "{\"eos_token_id\":[1,7],\"bos_token_id\":0}", NULL, "bos 0 eos 1 "},
    {"null", "{\"eos_token_id\":[7,1],\"bos_token_id\":-1,\"pad_token_id\":\"x\"}", NULL, ""},
    {"null", "{\"eos_token_id\":[],\"text_config\":{\"eos_token_id\":2,\"bos_token_id\":null}}",
     NULL, "eos 2 "},
    {"null", NULL, "{\"add_bos_token\":true,\"add_eos_token\":false,\"bos_token\":\"none such\"}",
     "+bos -eos "},
    {"null", NULL, "{\"add_bos_token\":\"yes\",\"add_eos_token\":null,\"bos_token\":7}", ""},
};

static void special_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        made m;
        prepare(&m);
        char *json = text_of("{\"post_processor\":%s," VOCAB "}", specials[i].processor);
        beside(&m, specials[i].config, specials[i].tokenizer_config);
        make_from(&m, json, none, none, 0);
        assert_int_equal(m.status, WB_OK);
        char *is = describe(&m.tokenizer);
        if (strcmp(is, specials[i].expected) != 0)
            fail_msg("%d: %s, not %s\n", (int)i, is, specials[i].expected);
        free(is);
        free(json);
        release(&m);
    }
}

/* The id of an added token must override the id in the vocabulary. */
static void special_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *json, *vocab, *config, *tokenizer_config, *expected;
    } rows[] = {
        {"{\"added_tokens\":[{\"content\":\"x\"},{\"content\":\"<s>\",\"id\":4},{\"content\":\"<s>"
         "\","
         "\"id\":3}]," VOCAB "}",
         "", NULL, "{\"bos_token\":\"<s>\",\"eos_token\":\"x\"}", "bos 4 eos 2 "},
        {"{\"added_tokens\":[{\"content\":\"x\",\"id\":-4}]," VOCAB "}", "", NULL,
         "{\"eos_token\":\"x\"}", "eos 2 "},
        {"{\"model\":{\"type\":\"Other\"}}", "", "{\"eos_token_id\":77}", "{\"bos_token\":\"x\"}",
         "eos 77 "},
        {"{\"model\":{\"type\":\"BPE\",\"unk_token\":\"x\",\"vocab\":{}},\"added_tokens\":[{\"id\":"
         "0,"
         "\"content\":\"x\"}]}",
         "", NULL, "{\"unk_token\":\"y\"}", ""},
        {NULL, "[CLS]\nthe\n[x", NULL, "{\"cls_token\":\"[CLS]\",\"sep_token\":\"the\"}",
         "bos 0 cls 0 "},
        {"{\"normalizer\":{\"lowercase\":true},\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":"
         "0}}}",
         "", NULL, NULL, ""},
        {"{\"normalizer\":{\"lowercase\":1},\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":0}}"
         "}",
         "", NULL, NULL, "-lower "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        made m;
        prepare(&m);
        beside(&m, rows[i].config, rows[i].tokenizer_config);
        make_from(&m, rows[i].json, none, wb__str_from(rows[i].vocab, SIZE_MAX), 0);
        assert_int_equal(m.status, WB_OK);
        char *is = describe(&m.tokenizer);
        if (strcmp(is, rows[i].expected) != 0)
            fail_msg("%d: %s, not %s\n", (int)i, is, rows[i].expected);
        free(is);
        release(&m);
    }
}

static void looks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool special;
    } rows[] = {{"<pad>", true},
                {"<pad>x", false},
                {"<pa", false},
                {"<mask>", true},
                {"<2mass>", true},
                {"[@BOS@]", true},
                {"<|x|>", true},
                {"<|x>", false},
                {"<unused7>", true},
                {"<unused7", false},
                {"", false},
                {"<", false},
                {"<\xEF\xBD\x9Cx\xEF\xBD\x9C>", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(wb__looks_special(wb__str_from(rows[i].text, SIZE_MAX)), rows[i].special);
}

/* ---- pre-tokenizers, which split a text ---- */

static const char *pre_of(const char *json)
{
    wb__tree tree;
    char *text = text_of("%s", json);
    assert_true(wb__tree_parse(&tree, text, strlen(json), &wb__default_allocator));
    const char *name = wb__pretokenizer_name(&tree, 0);
    wb__tree_free(&tree);
    free(text);
    return name;
}

#define SEQ(list) "{\"type\":\"Sequence\",\"pretokenizers\":[" list "]}"
#define LEVEL "{\"type\":\"ByteLevel\"}"
#define DIGITS(one) "{\"type\":\"Digits\",\"individual_digits\":" one "}"
#define SPLIT(how, text) "{\"type\":\"Split\",\"pattern\":{\"" how "\":\"" text "\"}}"

static void pretokenizers(void **state)
{
    (void)state;
    static const struct {
        const char *json, *name;
    } rows[] = {
        {LEVEL, "gpt-2"},
        {"{\"type\":\"ByteLevel\",\"use_regex\":\"no boolean\"}", "gpt-2"},
        {"{\"type\":\"ByteLevel\",\"use_regex\":false}", NULL},
        {SEQ(DIGITS("true") "," LEVEL), "starcoder"},
        {SEQ(DIGITS("false") "," LEVEL), NULL},
        {SEQ("{\"type\":\"Punctuation\"}," LEVEL
             "," DIGITS("false") "," SPLIT("Regex", "[0-9][0-9][0-9]")),
         "falcon"},
        {SEQ("{\"type\":\"Punctuation\"}," LEVEL
             "," DIGITS("false") "," SPLIT("String", "[0-9][0-9][0-9]")),
         "falcon"},
        {SPLIT("Neither", "x"), NULL},
        {SEQ("{\"type\":\"Metaspace\"}," LEVEL), NULL},
        /* Regular expressions may contain literal line breaks. */
        {SPLIT("Regex",
               "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}| "
               "?[^\\\\s\\\\p{L}\\\\p{N}]+[\\r\\n]*|\\\\s*[\\r\\n]+|\\\\s+(?!\\\\S)|\\\\s+"),
         "llama-bpe"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *name = pre_of(rows[i].json);
        if ((name == NULL) != (rows[i].name == NULL) ||
            (name != NULL && strcmp(name, rows[i].name) != 0))
            fail_msg("%s: %s\n", rows[i].json, name == NULL ? "none" : name);
    }
    /* Tests pre-tokenizers that are longer than any known one, as one step and as several. */
    char x[1100];
    memset(x, 'x', sizeof x);
    for (int n = 1000; n <= 1050; n += 5) {
        char *one = text_of("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%.*s\"}}", n, x);
        char *two =
            text_of("{\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%.*s\"}},"
                    "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%.*s\"}}," LEVEL "]}",
                    n / 2, x, n / 2, x);
        assert_null(pre_of(one));
        assert_null(pre_of(two));
        free(one);
        free(two);
    }
    assert_non_null(wb__pretokenizer_steps(WB__STR("tekken")));
    assert_null(wb__pretokenizer_steps(WB__STR("default")));
    assert_true(wb__pretokenizer_ignores_merges(WB__STR("llama-bpe")));
    assert_true(wb__pretokenizer_ignores_merges(WB__STR("tekken")));
    assert_false(wb__pretokenizer_ignores_merges(WB__STR("qwen2")));
    assert_string_equal(wb__pretokenizer_steps(WB__STR("smollm")),
                        wb__pretokenizer_steps(WB__STR("starcoder")));
    assert_string_equal(wb__pretokenizer_steps(WB__STR("deepseek-r1-qwen")),
                        wb__pretokenizer_steps(WB__STR("qwen2")));
    assert_true(wb__pretokenizer_ignores_merges(WB__STR("pixtral")));
    assert_false(wb__pretokenizer_ignores_merges(WB__STR("default")));
}

/* ---- tokenizer.model ---- */

typedef struct proto {
    unsigned char bytes[1024];
    size_t n;
} proto;

static void varint(proto *p, uint64_t value)
{
    do {
        p->bytes[p->n++] = (unsigned char)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        value >>= 7;
    } while (value != 0);
}

static void number(proto *p, unsigned field, uint64_t value)
{
    varint(p, field << 3);
    varint(p, value);
}

static void fixed(proto *p, unsigned field, unsigned bytes)
{
    varint(p, field << 3 | (bytes == 8 ? 1 : 5));
    memset(p->bytes + p->n, 0x41, bytes);
    p->n += bytes;
}

static void bytes(proto *p, unsigned field, const void *from, size_t n)
{
    varint(p, field << 3 | 2);
    varint(p, n);
    memcpy(p->bytes + p->n, from, n);
    p->n += n;
}

static void put_piece(proto *p, const char *text, uint64_t type)
{
    proto piece = {.n = 0};
    bytes(&piece, 1, text, strlen(text));
    fixed(&piece, 2, 4);
    number(&piece, 3, type);
    bytes(p, 1, piece.bytes, piece.n);
}

static void put_message(proto *p, unsigned field, const proto *message)
{
    bytes(p, field, message->bytes, message->n);
}

static wb__str bytes_of(const proto *p)
{
    return (wb__str){(const char *)p->bytes, p->n};
}

/* Tests tokenizer.model. Protocol buffer fields with a wrong wire type must be ignored. */
static void pieces(void **state)
{
    (void)state;
    proto p = {.n = 0}, trainer = {.n = 0}, normalizer = {.n = 0}, odd = {.n = 0};
    put_piece(&p, "<unk>", 2);
    put_piece(&p, "a", 0);
    put_piece(&p, "b", 7);
    put_piece(&p, "c", 6);
    number(&odd, 1, 5);
    number(&odd, 2, 5);
    fixed(&odd, 3, 4);
    fixed(&odd, 9, 8);
    number(&odd, 4, 5);
    put_message(&p, 1, &odd);
    fixed(&trainer, 3, 4);
    number(&trainer, 3, 1);
    bytes(&trainer, 40, "x", 1);
    number(&trainer, 41, 3);
    number(&trainer, 42, 2);
    fixed(&trainer, 43, 8);
    number(&trainer, 43, UINT64_MAX); /* -1, as protocol buffers write it */
    number(&trainer, 99, 1);
    put_message(&p, 2, &trainer);
    bytes(&normalizer, 2, "map", 3);
    number(&normalizer, 2, 1);
    fixed(&normalizer, 3, 4);
    number(&normalizer, 3, 0);
    fixed(&normalizer, 4, 4);
    number(&normalizer, 4, 0);
    number(&normalizer, 5, 0);
    put_message(&p, 3, &normalizer);
    number(&p, 1, 1);
    bytes(&p, 77, "", 0);

    made m;
    prepare(&m);
    make_from(&m, NULL, bytes_of(&p), none, 0);
    assert_int_equal(m.findings.count, 0);
    assert_string_equal(m.tokenizer.model, "t5");
    assert_int_equal(m.tokenizer.tokens.count, 5);
    is_token(&m, 1, "a", WB__TOKEN_NORMAL);
    is_token(&m, 2, "b", WB__TOKEN_NORMAL);
    is_token(&m, 3, "c", WB__TOKEN_BYTE);
    is_token(&m, 4, "", WB__TOKEN_NORMAL);
    assert_int_equal(m.tokenizer.charsmap_bytes, 3);
    assert_memory_equal(m.tokenizer.charsmap, "map", 3);
    assert_int_equal(m.tokenizer.add_space_prefix, WB__FLAG_NO);
    assert_int_equal(m.tokenizer.remove_extra_whitespaces, WB__FLAG_NO);
    char *is = describe(&m.tokenizer);
    assert_string_equal(is, "bos 3 eos 2 unk 0 ");
    free(is);
    release(&m);

    static const unsigned char cut[] = {0x18};
    for (unsigned field = 2; field <= 3;
         field++) { /* an invalid nested message must make the file invalid */
        proto bad = {.n = 0};
        put_piece(&bad, "a", 1);
        size_t at = bad.n + 2;
        bytes(&bad, field, cut, sizeof cut);
        wb__sentencepiece model;
        assert_false(wb__sentencepiece_read(&model, bad.bytes, bad.n));
        assert_int_equal(model.fault_at, at);
    }
    wb__sentencepiece model;
    assert_false(wb__sentencepiece_read(&model, NULL, 0));
    proto bare = {.n = 0};
    number(&bare, 4, 1); /* a file without pieces */
    assert_false(wb__sentencepiece_read(&model, bare.bytes, bare.n));
    for (size_t n = 1; n <= 11; n++) { /* a tag that is too long or truncated */
        unsigned char tag[11];
        memset(tag, 0x80, sizeof tag);
        assert_false(wb__sentencepiece_read(&model, tag, n));
        assert_int_equal(model.fault_at, 0);
    }
}

/*
 * A file with more than 16,384 tokens must be reported and ignored if it has fewer than 4 bytes for
 * each token. A file with at most 16,384 tokens must be accepted, however few bytes it has.
 */
static void dense_files(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        const char *each;
        bool good;
    } cases[] = {
        {16384, "\n", true},    {40000, "\n", false},    {16384, "a\n", true},
        {100000, "a\n", false}, {100000, "abc\n", true},
    };
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        /* Tests each case twice: as vocab.txt with lines `each`, and as tokenizer.model with pieces
         * of the same size. */
        bool is_model = i % 2 != 0;
        const char *each = cases[i / 2].each;
        size_t n = strlen(each), all = 0;
        char *text = malloc(cases[i / 2].count * (n + 1) + 1);
        for (size_t k = 0; k < cases[i / 2].count; k++, all += n)
            memcpy(text + all, each, n);
        if (is_model) {
            n = n < 2 ? 2 : n; /* the shortest piece has two bytes */
            for (all = 0; all < cases[i / 2].count * n; all += n)
                memcpy(text + all, n == 2 ? "\x0A\0" : "\x0A\2\x18\1", n);
        }
        made m;
        prepare(&m);
        make_from(&m, NULL, is_model ? (wb__str){text, all} : none,
                  is_model ? none : (wb__str){text, all}, 0);
        assert_int_equal(m.status, WB_OK);
        assert_int_equal(m.findings.count, !cases[i / 2].good);
        assert_int_equal(m.tokenizer.tokens.count, cases[i / 2].good ? cases[i / 2].count : 0);
        assert_true(m.memory.peak + all <= 8 * all + ((size_t)1 << 20));
        release(&m);
        free(text);
    }
}

/* Added tokens must replace pieces. tokenizer_config.json must take precedence over
 * tokenizer.json. */
static void replaced_pieces(void **state)
{
    (void)state;
    static const char config[] =
        "{\"added_tokens_decoder\":{\"\":{\"content\":\"e\"},\"1234567890\":{\"content\":\"e\"},"
        "\"x1\":{\"content\":\"e\"},\"1/"
        "\":{\"content\":\"e\"},\":\":{\"content\":\"e\"},\"900\":{\"content\":\"e\"},"
        "\"1\":{\"content\":\"<|one|>\"},\"4\":{\"content\":\"four\xE2\x96\x81\"}}}";
    static const char json[] =
        "{\"added_tokens\":[{\"content\":\"no number\"},{\"id\":2,\"content\":\"two\"},{\"id\":4,"
        "\"content\":\"other\"},{\"id\":5,\"content\":\"<|five|>\"},{\"id\":99999,\"content\":"
        "\"far\"}],"
        "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":5}}}";
    for (int is_phi = 0; is_phi < 2; is_phi++) {
        proto p = {.n = 0};
        for (int i = 0; i < 3; i++)
            put_piece(&p, "piece", 4);
        made m;
        prepare(&m);
        m.is_phi = is_phi;
        beside(&m, NULL, config);
        make_from(&m, json, bytes_of(&p), none, 8);
        assert_int_equal(m.status, WB_OK);
        assert_int_equal(m.tokenizer.tokens.count, 8);
        is_token(&m, 0, "piece", WB__TOKEN_NORMAL);
        is_token(&m, 1, "<|one|>", is_phi ? WB__TOKEN_USER : WB__TOKEN_CONTROL);
        is_token(&m, 2, is_phi ? "two" : "piece", is_phi ? WB__TOKEN_USER : WB__TOKEN_NORMAL);
        is_token(&m, 3, "[PAD3]", WB__TOKEN_UNUSED);
        is_token(&m, 4, is_phi ? "four\xE2\x96\x81" : "four ", WB__TOKEN_USER);
        is_token(&m, 5, "<|five|>", is_phi ? WB__TOKEN_USER : WB__TOKEN_CONTROL);
        release(&m);
    }
    /* Tokens with ids far above the pieces must be ignored. */
    proto p = {.n = 0};
    put_piece(&p, "piece", 1);
    made m;
    prepare(&m);
    make_from(&m, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":16386}}}",
              bytes_of(&p), none, 0);
    assert_int_equal(m.tokenizer.tokens.count, 1);
    release(&m);
}

/* ---- the space that is added in front of a text ---- */

static const struct {
    const char *steps, *tokenizer_config;
    wb__flag expected;
} prefixes[] = {
    {"\"x\":0", NULL, WB__FLAG_NO},
    {"\"normalizer\":null,\"pre_tokenizer\":null", NULL, WB__FLAG_NO},
    {"\"normalizer\":{\"type\":\"Replace\",\"content\":\"\xE2\x96\x81\"}", NULL, WB__FLAG_NO},
    {"\"normalizer\":{\"type\":\"Prepend\",\"prepend\":\"\\u2581\"}", NULL, WB__FLAG_YES},
    {"\"normalizer\":{\"type\":\"Prepend\",\"prepend\":\"x\"}", NULL, WB__FLAG_NO},
    {"\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[7,{\"type\":\"NFC\"},"
     "{\"type\":\"Prepend\",\"prepend\":\"\xE2\x96\x81\"}]}",
     NULL, WB__FLAG_YES},
    {"\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[]}", NULL, WB__FLAG_NO},
    {"\"pre_tokenizer\":{\"type\":\"Metaspace\"}", NULL, WB__FLAG_YES},
    {"\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"always\"}", NULL,
     WB__FLAG_YES},
    {"\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"first\"}", NULL, WB__FLAG_YES},
    {"\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"never\"}", NULL, WB__FLAG_NO},
    {"\"pre_tokenizer\":{\"type\":\"Metaspace\",\"add_prefix_space\":false}", NULL, WB__FLAG_NO},
    {"\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Metaspace\","
     "\"add_prefix_space\":true}]}",
     NULL, WB__FLAG_YES},
    {"\"pre_tokenizer\":{\"type\":\"ByteLevel\"}", NULL, WB__FLAG_NO},
    /* Values in tokenizer_config.json take precedence. */
    {"\"x\":0", "{\"add_prefix_space\":true}", WB__FLAG_YES},
    {"\"pre_tokenizer\":{\"type\":\"Metaspace\"}", "{\"add_prefix_space\":false}", WB__FLAG_NO},
    {"\"pre_tokenizer\":{\"type\":\"Metaspace\"}", "{\"add_prefix_space\":null}", WB__FLAG_YES},
};

/* Tests whether a BPE tokenizer with byte fallback adds a space in front of a text. Other BPE
 * tokenizers do not. */
static void space_prefixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        made m;
        prepare(&m);
        beside(&m, NULL, prefixes[i].tokenizer_config);
        char *json = text_of("{%s,\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":"
                             "{\"a\":0},\"merges\":[]}}",
                             prefixes[i].steps);
        make_from(&m, json, none, none, 0);
        assert_int_equal(m.status, WB_OK);
        assert_string_equal(m.tokenizer.model, "llama");
        if (m.tokenizer.add_space_prefix != prefixes[i].expected)
            fail_msg("%s: %d\n", prefixes[i].steps, (int)m.tokenizer.add_space_prefix);
        free(json);
        release(&m);
    }
}

/* ---- vocabularies ---- */

static void odd_vocabularies(void **state)
{
    (void)state;
    made m;
    prepare(&m);
    char longest[600];
    memset(longest, 'l', sizeof longest);
    char *json =
        text_of("{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"<0x0A>\":0,\"<"
                "1x0A>\":1,\"<0x0A)\":2,"
                "\"a\":3,\"b\":4,\"ab\":5},\"merges\":[\"nospace\",\"%.*s l\",\"a b\",\"b a\"]},"
                "\"added_tokens\":[{\"id\":5,\"content\":\"ab\"}]}",
                (int)sizeof longest, longest);
    make_from(&m, json, none, none, 0);
    is_token(&m, 0, "<0x0A>", WB__TOKEN_BYTE);
    is_token(&m, 1, "<1x0A>", WB__TOKEN_NORMAL);
    is_token(&m, 2, "<0x0A)", WB__TOKEN_NORMAL);
    is_token(&m, 5, "ab", WB__TOKEN_USER);
    assert_true(score_of(&m, 5) < -999); /* an added token does not get the score of a merge */
    free(json);
    release(&m);

    prepare(&m); /* Unigram: added tokens must get a low score, because they have none */
    make_from(
        &m,
        "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1],[\"b\",-2]]},\"added_tokens\":["
        "{\"id\":1,\"content\":\"B\"},{\"id\":40,\"content\":\"c\"}]}",
        none, none, 0);
    assert_int_equal(m.tokenizer.tokens.count, 41);
    assert_true(score_of(&m, 0) > -1.5F && score_of(&m, 1) < -999 && score_of(&m, 40) < -999);
    release(&m);

    static const struct {
        const char *json, *model;
    } rows[] = {{"{\"model\":{\"vocab\":{\"a\":0},\"merges\":[\"a a\"]}}", "gpt2"},
                {"{\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", NULL},
                {"{\"model\":{\"type\":\"X\",\"vocab\":{\"a\":0},\"merges\":[\"a a\"]}}", NULL},
                {"{\"model\":{\"type\":\"BPE\",\"byte_fallback\":7,\"vocab\":{\"a\":0}}}", "gpt2"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        prepare(&m);
        make_from(&m, rows[i].json, none, none, 0);
        assert_int_equal(m.status, WB_OK);
        if (rows[i].model == NULL)
            assert_null(m.tokenizer.model);
        else
            assert_string_equal(m.tokenizer.model, rows[i].model);
        release(&m);
    }
    prepare(&m); /* a control token begins with '[', ends with ']', and has text between them */
    make_from(&m, NULL, none, WB__STR("[ab\nb]\n[c]\n[]"), 0);
    is_token(&m, 0, "\xE2\x96\x81[ab", WB__TOKEN_NORMAL);
    is_token(&m, 2, "[c]", WB__TOKEN_CONTROL);
    is_token(&m, 3, "\xE2\x96\x81[]", WB__TOKEN_NORMAL);
    release(&m);
}

/* ---- memory ---- */

static void make_any(made *m, const char *json, const proto *model, const char *vocab)
{
    prepare(m);
    m->findings.allocator = m->allocator; /* so that allocations of findings fail too */
    make_from(m, json, bytes_of(model), wb__str_from(vocab, SIZE_MAX), 20);
}

static void allocations(void **state)
{
    (void)state;
    static const char *const jsons[] = {
        "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1.5],[\"b\",2]]}}",
        "{\"model\":{\"type\":\"Unigram\",\"vocab\":[ [ \"\\u0061\" , -1e1 ] , "
        "[\"\\u0062\",7],[\"c\"]]}}",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"\\u0062\":1,\"far\":99999},\"merges\":["
        "\"a b\","
        "[\"a\",\"b\"],[\"\\u0061\",\"b\"],\"\\u0061 b\",7]}}",
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"\\u0062\":1},\"merges\":[[\"\\u0061\",\"b\"]]},"
        "\"added_tokens\":[{\"id\":3,\"content\":\"a\xE2\x96\x81 longer than all before, which "
        "makes room\"}]}",
        "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":0,\"##b\":1}}}",
        "{\"model\":{\"type\":\"Other\"}}",
        "{\"model\":",
        NULL,
    };
    proto t5 = {.n = 0}, trainer = {.n = 0}, no_model = {.n = 0}, bad = {.bytes = {7}, .n = 1};
    put_piece(&t5, "a", 1);
    number(&trainer, 3, 1);
    put_message(&t5, 2, &trainer);
    const proto *const models[] = {&no_model, &t5, &bad};
    for (size_t i = 0; i < sizeof jsons / sizeof jsons[0]; i++) {
        for (size_t k = 0; k < sizeof models / sizeof models[0]; k++) {
            made m;
            make_any(&m, jsons[i], models[k], "the\n[CLS]\n##s");
            size_t calls = m.memory.calls;
            assert_int_equal(m.status, WB_OK);
            release(&m);
            for (size_t call = 1; call <= calls; call++) {
                for (int for_good = 0; for_good < 2; for_good++) {
                    prepare(&m);
                    m.findings.allocator = m.allocator;
                    m.memory.fail_at = call;
                    m.memory.for_good = for_good;
                    make_from(&m, jsons[i], bytes_of(models[k]), WB__STR("the\n[CLS]\n##s"), 20);
                    assert_int_equal(m.status, WB_ERROR_MEMORY);
                    release(&m);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_tokens),  cmocka_unit_test(special_numbers),
        cmocka_unit_test(looks),           cmocka_unit_test(pretokenizers),
        cmocka_unit_test(pieces),          cmocka_unit_test(dense_files),
        cmocka_unit_test(replaced_pieces), cmocka_unit_test(odd_vocabularies),
        cmocka_unit_test(space_prefixes),  cmocka_unit_test(allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

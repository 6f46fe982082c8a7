#include "arch/tokenizer/tokenizer.h"

static const char *const names[WB__SPECIALS] = {
    [WB__SPECIAL_BOS] = "bos",   [WB__SPECIAL_EOS] = "eos", [WB__SPECIAL_UNK] = "unk",
    [WB__SPECIAL_SEP] = "sep",   [WB__SPECIAL_PAD] = "pad", [WB__SPECIAL_CLS] = "cls",
    [WB__SPECIAL_MASK] = "mask", [WB__SPECIAL_EOT] = "eot", [WB__SPECIAL_EOM] = "eom",
};

bool wb__looks_special(wb__str text)
{
    static const struct {
        wb__str begin, end; /* if `end` is empty, the complete text must equal `begin` */
    } looks[] = {
        {{"<pad>", 5}, {"", 0}},    {{"<mask>", 6}, {"", 0}},
        {{"<2mass>", 7}, {"", 0}},  {{"[@BOS@]", 7}, {"", 0}},
        {{"<|", 2}, {"|>", 2}},     {{"<\xEF\xBD\x9C", 4}, {"\xEF\xBD\x9C>", 4}},
        {{"<unused", 7}, {">", 1}},
    };
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        wb__str begin = looks[i].begin;
        if (text.len < begin.len || memcmp(text.ptr, begin.ptr, begin.len) != 0)
            continue;
        if (looks[i].end.len == 0 ? text.len == begin.len : wb__str_ends_with(text, looks[i].end))
            return true;
    }
    return false;
}

typedef struct specials {
    wb__tokenizer *tokenizer;
    const wb__tree *config; /* tokenizer_config.json, or NULL */
    const wb__tokenizer_json *json;
    wb__str text[WB__SPECIALS]; /* string of each special token; empty if not specified */
} specials;

/* Returns the string of a special token, whose value is "<s>" or {"content": "<s>", …}. */
static wb__str text_of(const wb__tree *config, const char *name)
{
    char key[16];
    size_t n = strlen(name);
    memcpy(key, name, n);
    memcpy(key + n, "_token", sizeof "_token");
    wb__node node = wb__tree_get(config, 0, key);
    if (node != WB__NO_NODE && wb__tree_type(config, node) == WB__JSON_OBJECT)
        node = wb__tree_get(config, node, "content");
    return wb__tree_string(config, node);
}

/* ---- the post-processor: tokens added around a text ---- */

static wb__str special_at(const wb__tree *tree, wb__node list, bool last)
{
    wb__node at = wb__tree_first(tree, list);
    for (wb__node n = at; last && n != WB__NO_NODE; n = wb__tree_next(tree, list, n))
        at = n;
    return wb__tree_string(tree, wb__tree_path(tree, at, "SpecialToken/id"));
}

static bool is_one_of(wb__str text, wb__str a, wb__str b)
{
    return text.len > 0 && (wb__str_equal(text, a) || wb__str_equal(text, b));
}

static void read_template(specials *s, wb__node processor)
{
    const wb__tree *tree = &s->json->tree;
    wb__node single = wb__tree_get(tree, processor, "single");
    if (wb__tree_count(tree, single) < 2)
        return;
    wb__str first = special_at(tree, single, false);
    wb__str last = special_at(tree, single, true);
    wb__str *text = s->text;
    if (first.len > 0 && s->config == NULL)
        text[WB__SPECIAL_BOS] = first;
    if (first.len > 0)
        s->tokenizer->add_bos = is_one_of(first, text[WB__SPECIAL_BOS], text[WB__SPECIAL_CLS])
                                    ? WB__FLAG_YES
                                    : WB__FLAG_NO;
    if (last.len == 0)
        return;
    if (s->config != NULL && text[WB__SPECIAL_EOS].len > 0 &&
        !wb__str_equal(last, text[WB__SPECIAL_EOS]) && text[WB__SPECIAL_EOT].len == 0)
        text[WB__SPECIAL_EOT] = text[WB__SPECIAL_EOS];
    text[WB__SPECIAL_EOS] = last;
    s->tokenizer->add_eos = WB__FLAG_YES;
}

/*
 * Sets add_sep to true if all tokens between the two texts A and B of a pair are separators, as in
 * A <sep> B or A <sep> <eos> B, and to false if another token is between them.
 */
static void read_pair(specials *s, wb__node processor)
{
    const wb__tree *tree = &s->json->tree;
    wb__node pair = wb__tree_get(tree, processor, "pair");
    unsigned between = 0, separators = 0;
    bool inside = false;
    for (wb__node n = wb__tree_first(tree, pair); n != WB__NO_NODE;
         n = wb__tree_next(tree, pair, n)) {
        wb__str sequence = wb__tree_string(tree, wb__tree_path(tree, n, "Sequence/id"));
        if (wb__str_equal(sequence, WB__STR("B")))
            break;
        if (inside) {
            wb__str token = wb__tree_string(tree, wb__tree_path(tree, n, "SpecialToken/id"));
            between++;
            separators += is_one_of(token, s->text[WB__SPECIAL_SEP], s->text[WB__SPECIAL_EOS]);
        }
        inside |= wb__str_equal(sequence, WB__STR("A"));
    }
    if (between > 0)
        s->tokenizer->add_sep = separators == between ? WB__FLAG_YES : WB__FLAG_NO;
}

static void read_processor(specials *s, wb__node processor)
{
    wb__str type = wb__tree_string(&s->json->tree, wb__tree_get(&s->json->tree, processor, "type"));
    if (wb__str_equal(type, WB__STR("RobertaProcessing"))) {
        s->tokenizer->add_bos = s->tokenizer->add_eos = s->tokenizer->add_sep = WB__FLAG_YES;
    } else if (wb__str_equal(type, WB__STR("TemplateProcessing"))) {
        read_template(s, processor);
        read_pair(s, processor);
    }
}

static void read_post_processor(specials *s)
{
    const wb__tree *tree = &s->json->tree;
    wb__node processor = wb__tree_get(tree, 0, "post_processor");
    wb__node list = wb__tree_get(tree, processor, "processors");
    if (list == WB__NO_NODE)
        read_processor(s, processor);
    for (wb__node n = wb__tree_first(tree, list); n != WB__NO_NODE;
         n = wb__tree_next(tree, list, n))
        read_processor(s, n);
}

/* ---- token ids ---- */

/* Returns the id of the added token with this string, or -1 if there is none. */
static int64_t find_added(const wb__tokenizer_json *json, wb__str text)
{
    wb__node list = wb__tree_get(&json->tree, 0, "added_tokens");
    for (wb__node n = wb__tree_first(&json->tree, list); n != WB__NO_NODE;
         n = wb__tree_next(&json->tree, list, n)) {
        int64_t id;
        if (wb__str_equal(wb__tree_string(&json->tree, wb__tree_get(&json->tree, n, "content")),
                          text) &&
            wb__tree_int(&json->tree, wb__tree_get(&json->tree, n, "id"), &id))
            return id;
    }
    return -1;
}

static int64_t find_token(const wb__tokenizer *tokenizer, wb__str text)
{
    if (tokenizer->tokens.count == 0)
        return -1;
    wb__str token = wb__strings_at(&tokenizer->tokens, 0);
    for (uint64_t i = 0;;) {
        if (wb__str_equal(token, text))
            return (int64_t)i;
        if (++i == tokenizer->tokens.count)
            return -1;
        token = wb__strings_after(token);
    }
}

/* Returns a token id from config.json, or -1. If the value is a list of ids, returns the first. */
static int64_t number_in_config(const wb__tree *config, const char *name)
{
    char key[16];
    int64_t id;
    size_t n = strlen(name);
    memcpy(key, name, n);
    memcpy(key + n, "_token_id", sizeof "_token_id");
    const wb__node places[] = {0, wb__tree_get(config, 0, "text_config")};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        wb__node node = wb__tree_get(config, places[i], key);
        if (node != WB__NO_NODE && wb__tree_type(config, node) == WB__JSON_ARRAY)
            node = wb__tree_first(config, node);
        if (node != WB__NO_NODE && wb__tree_int(config, node, &id) && id >= 0)
            return id;
    }
    return -1;
}

static void number_specials(specials *s, const wb__tokenizer_files *files)
{
    wb__tokenizer *tokenizer = s->tokenizer;
    for (int i = 0; i < WB__SPECIALS; i++) {
        int64_t id = -1;
        if (s->text[i].len > 0 && s->json != NULL)
            id = find_added(s->json, s->text[i]);
        if (id < 0 && s->text[i].len > 0)
            id = find_token(tokenizer, s->text[i]);
        if (id < 0 && files->config != NULL)
            id = number_in_config(files->config, names[i]);
        if (id >= 0 && tokenizer->tokens.count > 0 && (uint64_t)id >= tokenizer->tokens.count)
            id = -1;
        if (id >= 0)
            tokenizer->special[i] = id;
    }
}

static wb__flag flag_of(const wb__tree *config, const char *key, wb__flag unsaid)
{
    bool value;
    wb__node node = wb__tree_get(config, 0, key);
    if (node == WB__NO_NODE || !wb__tree_bool(config, node, &value))
        return unsaid;
    return value ? WB__FLAG_YES : WB__FLAG_NO;
}

void wb__tokenizer_specials(wb__tokenizer *tokenizer, const wb__tokenizer_files *files,
                            const wb__tokenizer_json *json)
{
    const wb__tree *config = files->tokenizer_config;
    specials s = {tokenizer, config, json, {{NULL, 0}}};
    if (config != NULL) {
        for (int i = 0; i < WB__SPECIALS; i++)
            s.text[i] = text_of(config, names[i]);
    }
    if (s.text[WB__SPECIAL_BOS].len == 0)
        s.text[WB__SPECIAL_BOS] = s.text[WB__SPECIAL_CLS];
    if (s.text[WB__SPECIAL_EOS].len == 0)
        s.text[WB__SPECIAL_EOS] = s.text[WB__SPECIAL_SEP];
    if (config != NULL) {
        tokenizer->add_bos = flag_of(config, "add_bos_token", tokenizer->add_bos);
        tokenizer->add_eos = flag_of(config, "add_eos_token", tokenizer->add_eos);
        tokenizer->add_space_prefix =
            flag_of(config, "add_prefix_space", tokenizer->add_space_prefix);
    }
    if (json != NULL) {
        if (s.text[WB__SPECIAL_UNK].len == 0)
            s.text[WB__SPECIAL_UNK] =
                wb__tree_string(&json->tree, wb__tree_path(&json->tree, 0, "model/unk_token"));
        read_post_processor(&s);
    }
    number_specials(&s, files);
}

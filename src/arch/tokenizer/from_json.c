/* Creates a tokenizer from tokenizer.json: the vocabulary and the added tokens. */
#include "arch/arch_messages.h"
#include "arch/tokenizer/pretokenizer.h"
#include "arch/tokenizer/tokenizer_make.h"

/* Type (WB__TOKEN_*) of each added token, by token id; 0: not an added token. */
typedef struct added_kinds {
    uint8_t *kinds;
    size_t count;
} added_kinds;

/*
 * Adds the tokens of the list "added_tokens" to m->json and sets *out to their types. Returns false
 * if out of memory.
 */
static bool add_added(wb__token_maker *m, added_kinds *out)
{
    wb__tokenizer_json *json = &m->json;
    wb__node list = wb__tree_get(&json->tree, 0, "added_tokens");
    *out = (added_kinds){NULL, 0};
    for (int pass = 0; pass < 2; pass++) {
        for (wb__node n = wb__tree_first(&json->tree, list); n != WB__NO_NODE;
             n = wb__tree_next(&json->tree, list, n)) {
            uint64_t id;
            wb__node content = wb__tree_get(&json->tree, n, "content");
            wb__str text = wb__tree_string(&json->tree, content);
            if (content == WB__NO_NODE ||
                !wb__tree_uint(&json->tree, wb__tree_get(&json->tree, n, "id"), &id))
                continue;
            if (pass == 0 && !wb__tokenizer_json_add(json, id, text))
                return false;
            if (pass == 1 && id < out->count)
                out->kinds[id] = wb__token_kind_of(m, &json->tree, n, text);
        }
        if (pass == 0 && json->token_count > 0) {
            out->kinds = wb__alloc_zeroed(&json->allocator, json->token_count);
            if (out->kinds == NULL)
                return false;
            out->count = json->token_count;
        }
    }
    return true;
}

/* Returns true for byte tokens such as "<0x0A>". */
static bool is_byte(wb__str text)
{
    return text.len == 6 && memcmp(text.ptr, "<0x", 3) == 0 && text.ptr[5] == '>';
}

static bool add_json_token(wb__token_maker *m, size_t number, wb__str text, uint8_t kind)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    bool is_bert = strcmp(tokenizer->model, "bert") == 0;
    bool is_llama = strcmp(tokenizer->model, "llama") == 0;
    uint32_t type = kind != 0                   ? kind
                    : is_llama && is_byte(text) ? WB__TOKEN_BYTE
                                                : WB__TOKEN_NORMAL;
    wb__token_set_type(tokenizer, number, type);
    wb__token_set_score(tokenizer, number,
                        m->json.scores != NULL && number < m->json.score_capacity && kind == 0
                            ? m->json.scores[number]
                            : WB__ADDED_SCORE);
    if (is_bert && kind != WB__TOKEN_CONTROL)
        return wb__token_add_word_piece(&tokenizer->tokens, text);
    if (kind == WB__TOKEN_USER && !m->files->is_phi)
        return wb__token_add_spaced(&tokenizer->tokens, text);
    return wb__strings_add(&tokenizer->tokens, text);
}

/* Returns an estimate of the total length of all token strings. */
static size_t bytes_of_tokens(const wb__token_maker *m, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_token = false;
        size_t n = 0;
        if (i < m->json.token_count)
            n = wb__tokenizer_json_token(&m->json, i, &is_token).len + 3;
        bytes += is_token ? n : sizeof "[PAD4294967295]";
    }
    return bytes;
}

static bool add_json_tokens(wb__token_maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    added_kinds extra;
    bool made = add_added(m, &extra);
    size_t count = wb__tokens_count(m, m->json.token_count);
    bool scores = strcmp(tokenizer->model, "llama") == 0 || strcmp(tokenizer->model, "t5") == 0;
    made = made && wb__tokens_reserve(tokenizer, count, scores) &&
           wb__strings_reserve(&tokenizer->tokens, bytes_of_tokens(m, count), count);
    for (size_t i = 0; made && i < count; i++) {
        bool is_token = false;
        wb__str text = WB__STR("");
        if (i < extra.count) /* ids from extra.count on have no token */
            text = wb__tokenizer_json_token(&m->json, i, &is_token);
        made =
            is_token ? add_json_token(m, i, text, extra.kinds[i]) : wb__token_add_pad(tokenizer, i);
    }
    wb__free(&m->json.allocator, extra.kinds, extra.count);
    return made;
}

static bool is_true(const wb__tree *tree, const char *path)
{
    bool value;
    wb__node node = wb__tree_path(tree, 0, path);
    return node != WB__NO_NODE && wb__tree_bool(tree, node, &value) && value;
}

/* ---- leading space ---- */

/*
 * A Metaspace step prepends a space unless prepend_scheme (in older files: add_prefix_space)
 * forbids it.
 */
static bool metaspace_prepends(const wb__tree *tree, wb__node step)
{
    bool value;
    wb__node scheme = wb__tree_get(tree, step, "prepend_scheme");
    wb__node flag = wb__tree_get(tree, step, "add_prefix_space");
    if (scheme != WB__NO_NODE)
        return !wb__str_equal(wb__tree_string(tree, scheme), WB__STR("never"));
    return flag == WB__NO_NODE || !wb__tree_bool(tree, flag, &value) || value;
}

static bool step_prepends(const wb__tree *tree, wb__node step)
{
    wb__str type = wb__tree_string(tree, wb__tree_get(tree, step, "type"));
    if (wb__str_equal(type, WB__STR("Prepend")))
        return wb__str_equal(wb__tree_string(tree, wb__tree_get(tree, step, "prepend")),
                             WB__STR("\xE2\x96\x81"));
    return wb__str_equal(type, WB__STR("Metaspace")) && metaspace_prepends(tree, step);
}

/* Returns true if the step in member `name` of tokenizer.json, or one of the steps in its list
 * `list`, prepends a space. */
static bool any_prepends(const wb__tree *tree, const char *name, const char *list)
{
    wb__node step = wb__tree_get(tree, 0, name);
    wb__node steps = wb__tree_get(tree, step, list);
    bool prepends = step_prepends(tree, step);
    for (wb__node n = wb__tree_first(tree, steps); n != WB__NO_NODE && !prepends;
         n = wb__tree_next(tree, steps, n))
        prepends = step_prepends(tree, n);
    return prepends;
}

static wb__flag space_prefix(const wb__tree *tree)
{
    return any_prepends(tree, "normalizer", "normalizers") ||
                   any_prepends(tree, "pre_tokenizer", "pretokenizers")
               ? WB__FLAG_YES
               : WB__FLAG_NO;
}

static const char *model_of(const wb__tokenizer_json *json)
{
    const wb__tree *tree = &json->tree;
    wb__str type = wb__tree_string(tree, wb__tree_path(tree, 0, "model/type"));
    if (wb__str_equal(type, WB__STR("WordPiece")))
        return "bert";
    if (wb__str_equal(type, WB__STR("Unigram")))
        return "t5";
    /* Older files omit the type. */
    if (wb__str_equal(type, WB__STR("BPE")) || (type.len == 0 && json->merges.count > 0))
        return is_true(tree, "model/byte_fallback") ? "llama" : "gpt2";
    return NULL;
}

static wb_status name_pre(wb__token_maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    tokenizer->pre = "default";
    if (strcmp(tokenizer->model, "gpt2") != 0)
        return WB_OK;
    const char *name =
        wb__pretokenizer_name(&m->json.tree, wb__tree_get(&m->json.tree, 0, "pre_tokenizer"));
    if (name != NULL) {
        tokenizer->pre = name;
        return WB_OK;
    }
    const char *before = m->context->file;
    m->context->file = "tokenizer.json";
    wb_status status = wb__note(m->context, WB_INFO, WB__FINDING_PRE_TOKENIZER, WB_NO_OFFSET,
                                WB__STR(""), WB__MSG_TOKENIZER_UNKNOWN_PRE);
    m->context->file = before;
    return status;
}

wb_status wb__make_from_json(wb__token_maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    tokenizer->model = model_of(&m->json);
    if (tokenizer->model == NULL)
        return wb__token_note(m, WB_NO_OFFSET, "tokenizer.json", WB__MSG_TOKENIZER_UNKNOWN_MODEL);
    wb_status status = name_pre(m);
    if (status == WB_OK && m->json.scattered > 0)
        status = wb__token_note(m, WB_NO_OFFSET, "tokenizer.json", WB__MSG_TOKENIZER_LARGE_IDS);
    if (status == WB_OK && m->json.bad_vocab)
        status = wb__token_note(m, WB_NO_OFFSET, "tokenizer.json", WB__MSG_TOKENIZER_BAD_VOCAB);
    if (status == WB_OK && m->json.bad_merges > 0)
        status = wb__token_note(m, WB_NO_OFFSET, "tokenizer.json", WB__MSG_TOKENIZER_BAD_MERGES);
    if (status != WB_OK)
        return status;
    if (!add_json_tokens(m))
        return wb__fail_memory(m->context);
    if (strcmp(tokenizer->model, "llama") == 0) {
        tokenizer->add_space_prefix = space_prefix(&m->json.tree);
        wb__tokenizer_json_drop_tokens(&m->json); /* frees memory before the token index is built */
        return wb__token_score_by_merges(m) ? WB_OK : wb__fail_memory(m->context);
    }
    if (strcmp(tokenizer->model, "gpt2") == 0) {
        tokenizer->merges = m->json.merges;
        m->json.merges = (wb__strings){.allocator = m->json.allocator};
    }
    if (strcmp(tokenizer->model, "bert") == 0 && !is_true(&m->json.tree, "normalizer/lowercase"))
        tokenizer->lowercase = WB__FLAG_NO;
    return WB_OK;
}

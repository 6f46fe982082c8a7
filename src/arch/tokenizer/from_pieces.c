/* Creates a tokenizer from tokenizer.model (SentencePiece); added tokens replace some pieces. */
#include "arch/arch_messages.h"
#include "arch/tokenizer/tokenizer_make.h"

/*
 * The added tokens that replace pieces. For each token id, the list contains the node of the added
 * token in the tree of tokenizer_config.json, or in the tree of tokenizer.json if the flag
 * FROM_JSON is set. 0 means that the piece is not replaced, because node 0 is the root.
 */
#define FROM_JSON (UINT32_C(1) << 31)

typedef struct replacements {
    uint32_t *entries;
    size_t count;
} replacements;

typedef struct replacement {
    wb__str text;
    uint8_t kind; /* 0: no replacement */
} replacement;

static replacement replacement_at(const wb__token_maker *m, const replacements *list, size_t id)
{
    uint32_t entry = list->entries[id];
    bool is_json = (entry & FROM_JSON) != 0;
    const wb__tree *tree = is_json ? &m->json.tree : m->files->tokenizer_config;
    if (entry == 0)
        return (replacement){WB__STR(""), 0};
    wb__node node = entry & ~FROM_JSON;
    wb__str text = wb__tree_string(tree, wb__tree_get(tree, node, "content"));
    return (replacement){text, wb__token_kind_of(m, tree, node, text)};
}

/*
 * Reads the replacements from tokenizer_config.json, which contains "added_tokens_decoder":
 * {"32000": {"content": …, "special": …}}.
 */
static void replace_from_config(const wb__token_maker *m, replacements *list)
{
    const wb__tree *tree = m->files->tokenizer_config;
    wb__node object = tree == NULL ? WB__NO_NODE : wb__tree_get(tree, 0, "added_tokens_decoder");
    if (object == WB__NO_NODE)
        return;
    for (wb__node key = wb__tree_first_key(tree, object); key != WB__NO_NODE;
         key = wb__tree_next(tree, object, key + 1)) {
        wb__str digits = wb__tree_string(tree, key);
        uint64_t id = 0;
        bool good = digits.len > 0 && digits.len < 10;
        for (size_t i = 0; i < digits.len && good; i++) {
            good = digits.ptr[i] >= '0' && digits.ptr[i] <= '9';
            id = id * 10 + (uint64_t)(digits.ptr[i] - '0');
        }
        if (good && id < list->count && key + 1 < FROM_JSON)
            list->entries[id] = key + 1;
    }
}

/* Reads the replacements from tokenizer.json: the added tokens with ids after the last piece, or
 * all added tokens for Phi 3. */
static void replace_from_json(const wb__token_maker *m, replacements *list)
{
    const wb__tree *tree = &m->json.tree;
    wb__node entries = wb__tree_get(tree, 0, "added_tokens");
    for (wb__node n = wb__tree_first(tree, entries); n != WB__NO_NODE && n < FROM_JSON;
         n = wb__tree_next(tree, entries, n)) {
        uint64_t id;
        if (wb__tree_uint(tree, wb__tree_get(tree, n, "id"), &id) && id < list->count &&
            list->entries[id] == 0 && (id >= m->pieces.count || m->files->is_phi))
            list->entries[id] = n | FROM_JSON;
    }
}

/* Returns an estimate of the total length of all token strings. */
static size_t bytes_of_tokens(const wb__token_maker *m, const replacements *list)
{
    size_t bytes = m->pieces.text_bytes;
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i] != 0)
            bytes += replacement_at(m, list, i).text.len;
        else if (i >= m->pieces.count)
            bytes += sizeof "[PAD4294967295]";
    }
    return bytes;
}

static bool add_piece(wb__tokenizer *tokenizer, size_t number, const wb__piece *piece)
{
    /* user-defined pieces of tokenizer.model become normal tokens */
    wb__token_set_type(tokenizer, number,
                       piece->type == WB__TOKEN_USER ? WB__TOKEN_NORMAL : piece->type);
    wb__token_set_score(tokenizer, number, piece->score);
    return wb__strings_add(&tokenizer->tokens, piece->text);
}

static bool add_replacement(const wb__token_maker *m, size_t number, replacement token)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    wb__token_set_type(tokenizer, number, token.kind);
    wb__token_set_score(tokenizer, number, WB__ADDED_SCORE);
    if (token.kind == WB__TOKEN_USER && !m->files->is_phi)
        return wb__token_add_spaced(&tokenizer->tokens, token.text);
    return wb__strings_add(&tokenizer->tokens, token.text);
}

static bool add_tokens(const wb__token_maker *m, const replacements *list)
{
    wb__message rest = wb__pieces_begin(&m->pieces);
    bool added = wb__strings_reserve(&m->tokenizer->tokens, bytes_of_tokens(m, list), list->count);
    for (size_t i = 0; i < list->count && added; i++) {
        wb__piece piece;
        bool is_piece = wb__pieces_next(&rest, &piece);
        replacement token = replacement_at(m, list, i);
        if (token.kind != 0)
            added = add_replacement(m, i, token);
        else if (is_piece)
            added = add_piece(m->tokenizer, i, &piece);
        else
            added = wb__token_add_pad(m->tokenizer, i);
    }
    return added;
}

static bool make_tokens(const wb__token_maker *m, size_t count)
{
    const wb_allocator *allocator = &m->tokenizer->allocator;
    replacements list = {wb__alloc_zeroed(allocator, count * sizeof *list.entries), count};
    bool made = list.entries != NULL && wb__tokens_reserve(m->tokenizer, count, true);
    if (made) {
        replace_from_config(m, &list);
        if (m->has_json)
            replace_from_json(m, &list);
        made = add_tokens(m, &list);
    }
    wb__free(allocator, list.entries, count * sizeof *list.entries);
    return made;
}

wb_status wb__make_from_pieces(wb__token_maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    size_t have = m->pieces.count;
    if (wb__tokens_too_dense(have, m->files->model.len))
        return wb__token_note(m, WB_NO_OFFSET, "tokenizer.model", WB__MSG_TOKENIZER_DENSE);
    tokenizer->model = m->pieces.model_type == 1 ? "t5" : "llama";
    tokenizer->pre = "default";
    if (m->has_json && m->json.token_count > have && m->json.token_count - have <= WB__TOKENS_SPARE)
        have = m->json.token_count;
    bool made = make_tokens(m, wb__tokens_count(m, have));
    tokenizer->add_space_prefix = m->pieces.add_dummy_prefix ? WB__FLAG_YES : WB__FLAG_NO;
    if (made && m->pieces.model_type == 1) {
        tokenizer->remove_extra_whitespaces =
            m->pieces.remove_extra_whitespaces ? WB__FLAG_YES : WB__FLAG_NO;
        tokenizer->charsmap_bytes = m->pieces.charsmap.len;
        tokenizer->charsmap = wb__alloc(&tokenizer->allocator, tokenizer->charsmap_bytes);
        made = tokenizer->charsmap != NULL;
        if (made && tokenizer->charsmap_bytes > 0)
            memcpy(tokenizer->charsmap, m->pieces.charsmap.ptr, tokenizer->charsmap_bytes);
    }
    return made ? WB_OK : wb__fail_memory(m->context);
}

void wb__specials_of_pieces(wb__token_maker *m)
{
    int64_t *special = m->tokenizer->special;
    const struct {
        wb__special which;
        int32_t number;
    } said[] = {
        {WB__SPECIAL_UNK, m->pieces.unk},
        {WB__SPECIAL_BOS, m->pieces.bos},
        {WB__SPECIAL_EOS, m->pieces.eos},
        {WB__SPECIAL_PAD, m->pieces.pad},
    };
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (special[said[i].which] < 0 && said[i].number >= 0 &&
            (size_t)said[i].number < m->pieces.count)
            special[said[i].which] = said[i].number;
    }
}

/* Creates a tokenizer from tokenizer.model (SentencePiece); added tokens replace some pieces. */
#include "arch/tokenizer/tokenizer_make.h"

/* An added token that replaces a piece. */
typedef struct replacement {
    wb__str text;
    uint8_t kind; /* 0: no replacement */
} replacement;

static void replace(replacement *list, size_t count, uint64_t id, wb__str text, uint8_t kind)
{
    if (id < count)
        list[id] = (replacement){text, kind};
}

/*
 * Format in tokenizer_config.json: "added_tokens_decoder": {"32000": {"content": …, "special": …}}
 */
static void replace_from_config(const wb__token_maker *m, replacement *list, size_t count)
{
    const wb__tree *tree = m->files->tokenizer_config;
    wb__node object = tree == NULL ? WB__NO_NODE : wb__tree_get(tree, 0, "added_tokens_decoder");
    if (object == WB__NO_NODE)
        return;
    for (wb__node key = wb__tree_first_key(tree, object); key != WB__NO_NODE;
         key = wb__tree_next(tree, object, key + 1)) {
        wb__str digits = wb__tree_string(tree, key);
        wb__str text = wb__tree_string(tree, wb__tree_get(tree, key + 1, "content"));
        uint64_t id = 0;
        bool good = digits.len > 0 && digits.len < 10;
        for (size_t i = 0; i < digits.len && good; i++) {
            good = digits.ptr[i] >= '0' && digits.ptr[i] <= '9';
            id = id * 10 + (uint64_t)(digits.ptr[i] - '0');
        }
        if (good)
            replace(list, count, id, text, wb__token_kind_of(m, tree, key + 1, text));
    }
}

/* Uses the added tokens of tokenizer.json with ids after the last piece; for Phi 3, all of them. */
static void replace_from_json(const wb__token_maker *m, replacement *list, size_t count)
{
    const wb__tree *tree = &m->json.tree;
    wb__node entries = wb__tree_get(tree, 0, "added_tokens");
    for (wb__node n = wb__tree_first(tree, entries); n != WB__NO_NODE;
         n = wb__tree_next(tree, entries, n)) {
        uint64_t id;
        wb__str text = wb__tree_string(tree, wb__tree_get(tree, n, "content"));
        if (wb__tree_uint(tree, wb__tree_get(tree, n, "id"), &id) && id < count &&
            list[id].kind == 0 && (id >= m->pieces.count || m->files->is_phi))
            replace(list, count, id, text, wb__token_kind_of(m, tree, n, text));
    }
}

static bool add_pieces(wb__token_maker *m, const replacement *list, size_t count)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    for (size_t i = 0; i < count; i++) {
        bool added;
        if (list[i].kind != 0) {
            wb__token_set_type(tokenizer, i, list[i].kind);
            wb__token_set_score(tokenizer, i, WB__ADDED_SCORE);
            added = list[i].kind == WB__TOKEN_USER && !m->files->is_phi
                        ? wb__token_add_spaced(&tokenizer->tokens, list[i].text)
                        : wb__strings_add(&tokenizer->tokens, list[i].text);
        } else if (i < m->pieces.count) {
            const wb__piece *piece = &m->pieces.pieces[i];
            /* user-defined pieces of tokenizer.model become normal tokens */
            wb__token_set_type(tokenizer, i,
                               piece->type == WB__TOKEN_USER ? WB__TOKEN_NORMAL : piece->type);
            wb__token_set_score(tokenizer, i, piece->score);
            added = wb__strings_add(&tokenizer->tokens, piece->text);
        } else {
            added = wb__token_add_pad(tokenizer, i);
        }
        if (!added)
            return false;
    }
    return true;
}

wb_status wb__make_from_pieces(wb__token_maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    tokenizer->model = m->pieces.model_type == 1 ? "t5" : "llama";
    tokenizer->pre = "default";
    size_t have = m->pieces.count;
    if (m->has_json && m->json.token_count > have && m->json.token_count - have <= WB__TOKENS_SPARE)
        have = m->json.token_count;
    size_t count = wb__tokens_count(m, have);
    replacement *list = wb__alloc_zeroed(&tokenizer->allocator, count * sizeof *list);
    bool made = list != NULL && wb__tokens_reserve(tokenizer, count, true);
    if (made) {
        replace_from_config(m, list, count);
        if (m->has_json)
            replace_from_json(m, list, count);
        made = add_pieces(m, list, count);
    }
    wb__free(&tokenizer->allocator, list, count * sizeof *list);
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

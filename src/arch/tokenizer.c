#include "arch/tokenizer.h"

#include "arch/pretokenizer.h"

#define PAD_SCORE (-10000.0f)    /* of numbers without a token */
#define ADDED_SCORE (-1000.0f)   /* of added tokens, which no merge may make */
#define WORD_MARK "\xE2\x96\x81" /* U+2581, which stands for a space */

typedef struct maker {
    wb__tokenizer *tokenizer;
    wb__context *context;
    const wb__tokenizer_files *files;
    wb__tokenizer_json json;
    bool has_json;
    wb__sentencepiece pieces;
    bool has_pieces;
} maker;

static wb_status note(maker *m, uint64_t at, const char *file, const char *what)
{
    const char *before = m->context->file;
    m->context->file = file;
    wb_status status =
        wb__note(m->context, WB_WARNING, WB__FINDING_TOKENIZER, at, WB__STR(""), "%s", what);
    m->context->file = before;
    return status;
}

/* ---- tokens in a row ---- */

static bool reserve(wb__tokenizer *tokenizer, size_t count, bool scores)
{
    tokenizer->types = wb__alloc(&tokenizer->allocator, count * sizeof *tokenizer->types);
    if (scores)
        tokenizer->scores = wb__alloc(&tokenizer->allocator, count * sizeof *tokenizer->scores);
    tokenizer->capacity = count;
    return tokenizer->types != NULL && (!scores || tokenizer->scores != NULL);
}

static void set_type(wb__tokenizer *tokenizer, size_t number, uint32_t type)
{
    wb__store_le32(&tokenizer->types[number], type);
}

static uint32_t get_type(const wb__tokenizer *tokenizer, size_t number)
{
    return wb__load_le32(&tokenizer->types[number]);
}

static void set_score(wb__tokenizer *tokenizer, size_t number, float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    if (tokenizer->scores != NULL)
        wb__store_le32(&tokenizer->scores[number], bits);
}

/* "[PAD17]" */
static bool add_pad(wb__tokenizer *tokenizer, size_t number)
{
    char text[32] = "[PAD";
    char digits[20];
    size_t n = 4, count = 0;
    size_t rest = number;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    while (count > 0)
        text[n++] = digits[--count];
    text[n++] = ']';
    set_type(tokenizer, number, WB__TOKEN_UNUSED);
    set_score(tokenizer, number, PAD_SCORE);
    return wb__strings_add(&tokenizer->tokens, (wb__str){text, n});
}

/* How many tokens there are: what files have, or the rows of the embedding, if there are not
 * absurdly many more. */
static size_t count_tokens(const maker *m, size_t have)
{
    uint64_t rows = m->files->vocab_size;
    return rows > have && rows - have <= WB__TOKENS_SPARE ? (size_t)rows : have;
}

/* A text with U+2581 as the space it stands for. */
static bool add_spaced(wb__strings *strings, wb__str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++, n++) {
        if (text.len - i >= 3 && memcmp(text.ptr + i, WORD_MARK, 3) == 0)
            i += 2;
    }
    char *to = wb__strings_append(strings, n);
    if (to == NULL)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        bool mark = text.len - i >= 3 && memcmp(text.ptr + i, WORD_MARK, 3) == 0;
        *to++ = mark ? ' ' : text.ptr[i];
        i += mark ? 2 : 0;
    }
    return true;
}

/* ---- added tokens ---- */

/* By number: the kind of each added token, 0 for all others. */
typedef struct added_kinds {
    uint8_t *kinds;
    size_t count;
} added_kinds;

/* What an entry of added_tokens makes of its token. */
static uint8_t kind_of(const maker *m, const wb__tree *tree, wb__node entry, wb__str text)
{
    bool special = false;
    (void)wb__tree_bool(tree, wb__tree_get(tree, entry, "special"), &special);
    if (special || (!m->files->is_phi && wb__looks_special(text)))
        return WB__TOKEN_CONTROL;
    return WB__TOKEN_USER;
}

/* Puts the added tokens of tokenizer.json among the others. False: memory. */
static bool add_added(maker *m, added_kinds *out)
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
                out->kinds[id] = kind_of(m, &json->tree, n, text);
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

/* ---- merges as scores ---- */

/*
 * A tokenizer that merges by rank, as one that merges by score: minus the number of the first merge
 * that makes a token. What no merge makes comes after all that one does.
 */
static bool score_by_merges(maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    wb__strings *merges = &m->json.merges;
    size_t count = (size_t)tokenizer->tokens.count;
    size_t slots = 16;
    wb__hash_key key = wb__hash_key_draw();
    char text[512];
    while (slots < count * 2)
        slots *= 2;
    uint32_t *table = wb__alloc_zeroed(&tokenizer->allocator, slots * sizeof *table);
    const char **where = wb__alloc(&tokenizer->allocator, count * sizeof *where);
    bool made = table != NULL && where != NULL;
    for (size_t i = 0; made && i < count; i++) {
        wb__str token = i == 0 ? wb__strings_at(&tokenizer->tokens, 0)
                               : wb__strings_after(wb__strings_from(where[i - 1]));
        where[i] = token.ptr;
        size_t slot = (size_t)wb__siphash(&key, token.ptr, token.len) & (slots - 1);
        while (table[slot] != 0)
            slot = (slot + 1) & (slots - 1);
        table[slot] = (uint32_t)i + 1;
        uint32_t type = get_type(tokenizer, i);
        set_score(tokenizer, i, type == WB__TOKEN_NORMAL ? -(float)merges->count - 1 : ADDED_SCORE);
    }
    wb__str merge = {NULL, 0};
    for (uint64_t rank = 0; made && rank < merges->count; rank++) {
        merge = rank == 0 ? wb__strings_at(merges, 0) : wb__strings_after(merge);
        const char *space = memchr(merge.ptr, ' ', merge.len);
        if (space == NULL || merge.len > sizeof text)
            continue;
        size_t left = (size_t)(space - merge.ptr);
        memcpy(text, merge.ptr, left);
        memcpy(text + left, space + 1, merge.len - left - 1);
        wb__str whole = {text, merge.len - 1};
        size_t slot = (size_t)wb__siphash(&key, whole.ptr, whole.len) & (slots - 1);
        for (; table[slot] != 0; slot = (slot + 1) & (slots - 1)) {
            size_t i = table[slot] - 1;
            if (!wb__str_equal(wb__strings_from(where[i]), whole))
                continue;
            uint32_t bits = wb__load_le32(&tokenizer->scores[i]);
            float score;
            memcpy(&score, &bits, sizeof score);
            if (get_type(tokenizer, i) == WB__TOKEN_NORMAL && score < -(float)merges->count)
                set_score(tokenizer, i, -(float)rank);
            break;
        }
    }
    wb__free(&tokenizer->allocator, table, slots * sizeof *table);
    wb__free(&tokenizer->allocator, where, count * sizeof *where);
    return made;
}

/* ---- tokenizer.json ---- */

/* "<0x0A>" */
static bool is_byte(wb__str text)
{
    return text.len == 6 && memcmp(text.ptr, "<0x", 3) == 0 && text.ptr[5] == '>';
}

/* A token of WordPiece as llama.cpp has it: what begins a word is marked, not what continues it. */
static bool add_word_piece(wb__strings *strings, wb__str text)
{
    if (text.len >= 2 && memcmp(text.ptr, "##", 2) == 0)
        return wb__strings_add(strings, (wb__str){text.ptr + 2, text.len - 2});
    char *to = wb__strings_append(strings, text.len + 3);
    if (to == NULL)
        return false;
    memcpy(to, WORD_MARK, 3);
    memcpy(to + 3, text.ptr, text.len);
    return true;
}

static bool add_json_token(maker *m, size_t number, wb__str text, uint8_t kind)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    bool is_bert = strcmp(tokenizer->model, "bert") == 0;
    bool is_llama = strcmp(tokenizer->model, "llama") == 0;
    uint32_t type = kind != 0                   ? kind
                    : is_llama && is_byte(text) ? WB__TOKEN_BYTE
                                                : WB__TOKEN_NORMAL;
    set_type(tokenizer, number, type);
    set_score(tokenizer, number,
              m->json.scores != NULL && number < m->json.score_capacity && kind == 0
                  ? m->json.scores[number]
                  : ADDED_SCORE);
    if (is_bert && kind != WB__TOKEN_CONTROL)
        return add_word_piece(&tokenizer->tokens, text);
    if (kind == WB__TOKEN_USER && !m->files->is_phi)
        return add_spaced(&tokenizer->tokens, text);
    return wb__strings_add(&tokenizer->tokens, text);
}

/* At least what the texts of all tokens take together. */
static size_t bytes_of_tokens(const maker *m, size_t count)
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

static bool add_json_tokens(maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    added_kinds extra;
    bool made = add_added(m, &extra);
    size_t count = count_tokens(m, m->json.token_count);
    bool scores = strcmp(tokenizer->model, "llama") == 0 || strcmp(tokenizer->model, "t5") == 0;
    made = made && reserve(tokenizer, count, scores) &&
           wb__strings_reserve(&tokenizer->tokens, bytes_of_tokens(m, count), count);
    for (size_t i = 0; made && i < count; i++) {
        bool is_token = false;
        wb__str text = WB__STR("");
        if (i < m->json.token_count)
            text = wb__tokenizer_json_token(&m->json, i, &is_token);
        made = is_token ? add_json_token(m, i, text, i < extra.count ? extra.kinds[i] : 0)
                        : add_pad(tokenizer, i);
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

static const char *model_of(const wb__tokenizer_json *json)
{
    const wb__tree *tree = &json->tree;
    wb__str type = wb__tree_string(tree, wb__tree_path(tree, 0, "model/type"));
    if (wb__str_equal(type, WB__STR("WordPiece")))
        return "bert";
    if (wb__str_equal(type, WB__STR("Unigram")))
        return "t5";
    /* Files of old leave the type out. */
    if (wb__str_equal(type, WB__STR("BPE")) || (type.len == 0 && json->merges.count > 0))
        return is_true(tree, "model/byte_fallback") ? "llama" : "gpt2";
    return NULL;
}

static wb_status name_pre(maker *m)
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
    wb_status status =
        wb__note(m->context, WB_INFO, WB__FINDING_PRE_TOKENIZER, WB_NO_OFFSET, WB__STR(""),
                 "the way it splits text is none that llama.cpp has a name for");
    m->context->file = before;
    return status;
}

static wb_status make_from_json(maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    tokenizer->model = model_of(&m->json);
    if (tokenizer->model == NULL)
        return note(m, WB_NO_OFFSET, "tokenizer.json", "its model is of an unknown type");
    wb_status status = name_pre(m);
    if (status == WB_OK && m->json.scattered > 0)
        status = note(m, WB_NO_OFFSET, "tokenizer.json",
                      "numbers of tokens lie far apart: those far away are left out");
    if (status == WB_OK && m->json.bad_vocab)
        status = note(m, WB_NO_OFFSET, "tokenizer.json",
                      "the vocabulary has an entry that is not a text and a score: it ends there");
    if (status == WB_OK && m->json.bad_merges > 0)
        status = note(m, WB_NO_OFFSET, "tokenizer.json", "merges that are not two texts");
    if (status != WB_OK)
        return status;
    if (!add_json_tokens(m))
        return wb__fail_memory(m->context);
    if (strcmp(tokenizer->model, "llama") == 0)
        return score_by_merges(m) ? WB_OK : wb__fail_memory(m->context);
    if (strcmp(tokenizer->model, "gpt2") == 0) {
        tokenizer->merges = m->json.merges;
        m->json.merges = (wb__strings){.allocator = m->json.allocator};
    }
    if (strcmp(tokenizer->model, "bert") == 0 && !is_true(&m->json.tree, "normalizer/lowercase"))
        tokenizer->lowercase = WB__FLAG_NO;
    return WB_OK;
}

/* ---- tokenizer.model ---- */

/* An added token takes the place of a piece. */
typedef struct replacement {
    wb__str text;
    uint8_t kind; /* 0: there is none */
} replacement;

static void replace(replacement *list, size_t count, uint64_t id, wb__str text, uint8_t kind)
{
    if (id < count)
        list[id] = (replacement){text, kind};
}

/* tokenizer_config.json: "added_tokens_decoder": {"32000": {"content": …, "special": …}} */
static void replace_from_config(const maker *m, replacement *list, size_t count)
{
    const wb__tree *tree = m->files->tokenizer_config;
    wb__node object = tree == NULL ? WB__NO_NODE : wb__tree_get(tree, 0, "added_tokens_decoder");
    if (object == WB__NO_NODE)
        return;
    for (wb__node key = wb__tree_first(tree, object); key != WB__NO_NODE;
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
            replace(list, count, id, text, kind_of(m, tree, key + 1, text));
    }
}

/* tokenizer.json adds what the numbers behind the pieces mean. */
static void replace_from_json(const maker *m, replacement *list, size_t count)
{
    const wb__tree *tree = &m->json.tree;
    wb__node entries = wb__tree_get(tree, 0, "added_tokens");
    for (wb__node n = wb__tree_first(tree, entries); n != WB__NO_NODE;
         n = wb__tree_next(tree, entries, n)) {
        uint64_t id;
        wb__str text = wb__tree_string(tree, wb__tree_get(tree, n, "content"));
        if (wb__tree_uint(tree, wb__tree_get(tree, n, "id"), &id) && id < count &&
            list[id].kind == 0 && (id >= m->pieces.count || m->files->is_phi))
            replace(list, count, id, text, kind_of(m, tree, n, text));
    }
}

static bool add_pieces(maker *m, const replacement *list, size_t count)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    for (size_t i = 0; i < count; i++) {
        bool added;
        if (list[i].kind != 0) {
            set_type(tokenizer, i, list[i].kind);
            set_score(tokenizer, i, ADDED_SCORE);
            added = list[i].kind == WB__TOKEN_USER && !m->files->is_phi
                        ? add_spaced(&tokenizer->tokens, list[i].text)
                        : wb__strings_add(&tokenizer->tokens, list[i].text);
        } else if (i < m->pieces.count) {
            const wb__piece *piece = &m->pieces.pieces[i];
            /* Pieces the trainer was told of are pieces like others. */
            set_type(tokenizer, i, piece->type == WB__TOKEN_USER ? WB__TOKEN_NORMAL : piece->type);
            set_score(tokenizer, i, piece->score);
            added = wb__strings_add(&tokenizer->tokens, piece->text);
        } else {
            added = add_pad(tokenizer, i);
        }
        if (!added)
            return false;
    }
    return true;
}

static wb_status make_from_pieces(maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    tokenizer->model = m->pieces.model_type == 1 ? "t5" : "llama";
    tokenizer->pre = "default";
    size_t have = m->pieces.count;
    if (m->has_json && m->json.token_count > have && m->json.token_count - have <= WB__TOKENS_SPARE)
        have = m->json.token_count;
    size_t count = count_tokens(m, have);
    replacement *list = wb__alloc_zeroed(&tokenizer->allocator, count * sizeof *list);
    bool made = list != NULL && reserve(tokenizer, count, true);
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

/* What a model says of its own special tokens, where no other file does. */
static void specials_of_pieces(maker *m)
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

/* ---- vocab.txt ---- */

static bool is_control(wb__str word)
{
    return word.len > 2 && word.ptr[0] == '[' && word.ptr[word.len - 1] == ']';
}

/* The next line, without its end; false behind the last. */
static bool next_line(wb__str *rest, wb__str *line)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t n = end == NULL ? rest->len : (size_t)(end - rest->ptr);
    *line = (wb__str){rest->ptr, n};
    if (n > 0 && rest->ptr[n - 1] == '\r')
        line->len--;
    n += end != NULL;
    *rest = (wb__str){rest->ptr + n, rest->len - n};
    return true;
}

static wb_status make_from_lines(maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    wb__str rest = m->files->vocab, line;
    size_t have = 0;
    while (next_line(&rest, &line))
        have++;
    size_t count = count_tokens(m, have);
    if (!reserve(tokenizer, count, false))
        return wb__fail_memory(m->context);
    tokenizer->model = "bert";
    tokenizer->pre = "default";
    rest = m->files->vocab;
    for (size_t i = 0; i < count; i++) {
        bool added;
        if (!next_line(&rest, &line)) {
            added = add_pad(tokenizer, i);
        } else if (is_control(line)) {
            set_type(tokenizer, i, WB__TOKEN_CONTROL);
            added = wb__strings_add(&tokenizer->tokens, line);
        } else {
            set_type(tokenizer, i, WB__TOKEN_NORMAL);
            added = add_word_piece(&tokenizer->tokens, line);
        }
        if (!added)
            return wb__fail_memory(m->context);
    }
    return WB_OK;
}

/* ---- all of it ---- */

static wb_status read_files(maker *m)
{
    const wb__tokenizer_files *files = m->files;
    const wb_allocator *allocator = &m->context->allocator;
    wb_status status = WB_OK;
    if (files->json != NULL) {
        m->has_json = wb__tokenizer_json_read(&m->json, files->json, files->json_bytes, allocator);
        if (!m->has_json && m->json.fault == WB__JSON_FAULT_MEMORY)
            return wb__fail_memory(m->context);
        if (!m->has_json)
            status =
                note(m, m->json.fault_at, "tokenizer.json", wb__json_fault_text(m->json.fault));
    }
    if (status == WB_OK && files->model.len > 0) {
        m->has_pieces =
            wb__sentencepiece_read(&m->pieces, files->model.ptr, files->model.len, allocator);
        if (!m->has_pieces && m->pieces.out_of_memory)
            return wb__fail_memory(m->context);
        if (!m->has_pieces)
            status = note(m, m->pieces.fault_at, "tokenizer.model",
                          "it is not what SentencePiece writes");
    }
    return status;
}

wb_status wb__tokenizer_make(wb__tokenizer *tokenizer, wb__context *context,
                             const wb__tokenizer_files *files)
{
    maker m = {.tokenizer = tokenizer, .context = context, .files = files};
    *tokenizer = (wb__tokenizer){.allocator = context->allocator};
    tokenizer->tokens.allocator = tokenizer->merges.allocator = context->allocator;
    for (int i = 0; i < WB__SPECIALS; i++)
        tokenizer->special[i] = -1;
    wb_status status = read_files(&m);
    if (status == WB_OK && m.has_pieces)
        status = make_from_pieces(&m);
    else if (status == WB_OK && m.has_json)
        status = make_from_json(&m);
    else if (status == WB_OK && files->vocab.len > 0)
        status = make_from_lines(&m);
    if (status == WB_OK) {
        wb__tokenizer_specials(tokenizer, files, m.has_json ? &m.json : NULL);
        if (m.has_pieces)
            specials_of_pieces(&m);
    }
    wb__tokenizer_json_free(&m.json);
    wb__sentencepiece_free(&m.pieces);
    return status;
}

void wb__tokenizer_free(wb__tokenizer *tokenizer)
{
    const wb_allocator *a = &tokenizer->allocator;
    if (a->free == NULL)
        return;
    wb__strings_free(&tokenizer->tokens);
    wb__strings_free(&tokenizer->merges);
    wb__free(a, tokenizer->types, tokenizer->capacity * sizeof *tokenizer->types);
    if (tokenizer->scores != NULL)
        wb__free(a, tokenizer->scores, tokenizer->capacity * sizeof *tokenizer->scores);
    wb__free(a, tokenizer->charsmap, tokenizer->charsmap_bytes);
    tokenizer->allocator.free = NULL;
}

/* Generates tokenizer.json for the tokenizers library from the tokenizer metadata of a GGUF
 * file. Supports the tokenizer models that llama.cpp calls gpt2, llama and bert. The lstrip and
 * rstrip flags of added tokens are lost, because GGUF does not store them. */
#include <stdio.h>

#include "arch/tokenizer/pretokenizer.h"
#include "convert/convert_messages.h"
#include "convert/emit/deliver.h"
#include "convert/emit/vocabulary.h"

#define T "tokenizer.ggml."

/* Token types in tokenizer.ggml.token_type. */
enum { CONTROL = 3, USER = 4, UNUSED = 5 };

typedef struct making {
    wb__emit_job *out;
    const wb_model *model;
    wb__vocabulary tokens;
    wb__json_writer json;
    wb__buffer *to;
    wb__buffer joined; /* scratch buffer for the concatenation of two tokens */
    bool unfit;        /* the file is not written, because it would contain too many merges */
} making;

static wb_status warn(const making *m, wb__str name, const char *message)
{
    return wb__plan_note(m->out->conversion, m->out->context, WB_WARNING, WB__FINDING_CONVERT_META,
                         name, message);
}

/* ---- tokenizer metadata of the GGUF file ---- */

static bool says(const wb_model *model, const char *key, bool unsaid)
{
    int value;
    return wb_meta_get_bool(model, key, SIZE_MAX, &value, NULL) == WB_OK ? value != 0 : unsaid;
}

static uint64_t token_of(const making *m, const char *key)
{
    uint64_t id;
    return wb_meta_get_uint(m->model, key, SIZE_MAX, &id, NULL) == WB_OK && id < m->tokens.count
               ? id
               : UINT64_MAX;
}

static wb__str text_of(const wb_model *model, const char *key)
{
    const char *text;
    size_t n;
    if (wb_meta_get_string(model, key, SIZE_MAX, &text, &n, NULL) != WB_OK)
        return (wb__str){"", 0};
    return (wb__str){text, n};
}

static bool is_added(const making *m, size_t i)
{
    int64_t type = wb__vocabulary_type(&m->tokens, i);
    return type == CONTROL || type == USER;
}

/* ---- JSON helpers ---- */

static void key_flag(making *m, const char *key, bool value)
{
    wb__json_write_key(&m->json, key);
    wb__json_write_bool(&m->json, value);
}

static void key_text(making *m, const char *key, const char *value)
{
    wb__json_write_key(&m->json, key);
    wb__json_write_str(&m->json, wb__str_from(value, SIZE_MAX));
}

static void key_null(making *m, const char *key)
{
    wb__json_write_key(&m->json, key);
    wb__json_write_null(&m->json);
}

static void begin_key(making *m, const char *key, char bracket)
{
    wb__json_write_key(&m->json, key);
    wb__json_write_begin(&m->json, bracket);
}

static void begin_typed(making *m, const char *type)
{
    wb__json_write_begin(&m->json, '{');
    key_text(m, "type", type);
}

static void end(making *m, char bracket)
{
    wb__json_write_end(&m->json, bracket);
}

static void replace_step(making *m, const char *from, const char *to)
{
    begin_typed(m, "Replace");
    begin_key(m, "pattern", '{');
    key_text(m, "String", from);
    end(m, '}');
    key_text(m, "content", to);
    end(m, '}');
}

static void byte_level(making *m, bool prefix, bool splits)
{
    begin_typed(m, "ByteLevel");
    key_flag(m, "add_prefix_space", prefix);
    key_flag(m, "trim_offsets", true);
    key_flag(m, "use_regex", splits);
    end(m, '}');
}

/* ---- added tokens ---- */

static void added_tokens(making *m)
{
    begin_key(m, "added_tokens", '[');
    for (size_t i = 0; i < m->tokens.count; i++) {
        if (!is_added(m, i))
            continue;
        bool special = wb__vocabulary_type(&m->tokens, i) == CONTROL;
        wb__json_write_begin(&m->json, '{');
        wb__json_write_key(&m->json, "id");
        wb__json_write_uint(&m->json, i);
        wb__json_write_key(&m->json, "content");
        wb__json_write_str(&m->json, wb__vocabulary_at(&m->tokens, i));
        key_flag(m, "single_word", false);
        key_flag(m, "lstrip", false);
        key_flag(m, "rstrip", false);
        key_flag(m, "normalized", false);
        key_flag(m, "special", special);
        end(m, '}');
    }
    end(m, ']');
}

/* ---- special tokens before and after a text (post_processor) ---- */

static void special_piece(making *m, uint64_t id, unsigned type)
{
    wb__json_write_begin(&m->json, '{');
    begin_key(m, "SpecialToken", '{');
    wb__json_write_key(&m->json, "id");
    wb__json_write_str(&m->json, wb__vocabulary_at(&m->tokens, (size_t)id));
    wb__json_write_key(&m->json, "type_id");
    wb__json_write_uint(&m->json, type);
    end(m, '}');
    end(m, '}');
}

static void text_piece(making *m, const char *name, unsigned type)
{
    wb__json_write_begin(&m->json, '{');
    begin_key(m, "Sequence", '{');
    key_text(m, "id", name);
    wb__json_write_key(&m->json, "type_id");
    wb__json_write_uint(&m->json, type);
    end(m, '}');
    end(m, '}');
}

static void special_entry(making *m, uint64_t id)
{
    wb__str text = wb__vocabulary_at(&m->tokens, (size_t)id);
    wb__json_write_key_str(&m->json, text);
    wb__json_write_begin(&m->json, '{');
    wb__json_write_key(&m->json, "id");
    wb__json_write_str(&m->json, text);
    begin_key(m, "ids", '[');
    wb__json_write_uint(&m->json, id);
    end(m, ']');
    begin_key(m, "tokens", '[');
    wb__json_write_str(&m->json, text);
    end(m, ']');
    end(m, '}');
}

static void post_processor(making *m, bool is_bert)
{
    uint64_t first = token_of(m, T "bos_token_id"), last = token_of(m, T "eos_token_id");
    if (is_bert && first == UINT64_MAX)
        first = token_of(m, T "cls_token_id");
    if (is_bert && last == UINT64_MAX)
        last = token_of(m, T "seperator_token_id");
    bool spm = wb__str_equal(text_of(m->model, T "model"), WB__STR("llama"));
    if (!says(m->model, T "add_bos_token", is_bert || spm))
        first = UINT64_MAX;
    if (!says(m->model, T "add_eos_token", is_bert))
        last = UINT64_MAX;
    if (first == UINT64_MAX && last == UINT64_MAX) {
        key_null(m, "post_processor");
        return;
    }
    wb__json_write_key(&m->json, "post_processor");
    begin_typed(m, "TemplateProcessing");
    for (unsigned pair = 0; pair < 2; pair++) {
        begin_key(m, pair ? "pair" : "single", '[');
        if (first != UINT64_MAX)
            special_piece(m, first, 0);
        text_piece(m, "A", 0);
        if (last != UINT64_MAX)
            special_piece(m, last, 0);
        if (pair && first != UINT64_MAX && !is_bert)
            special_piece(m, first, 1);
        if (pair)
            text_piece(m, "B", 1);
        if (pair && last != UINT64_MAX)
            special_piece(m, last, 1);
        end(m, ']');
    }
    begin_key(m, "special_tokens", '{');
    if (first != UINT64_MAX)
        special_entry(m, first);
    if (last != UINT64_MAX && last != first)
        special_entry(m, last);
    end(m, '}');
    end(m, '}');
}

/* ---- byte-level BPE ---- */

static void split_step(making *m, wb__str step)
{
    if (wb__str_equal(step, WB__STR("*"))) {
        byte_level(m, false, true);
        return;
    }
    if (wb__str_equal(step, WB__STR("!"))) {
        begin_typed(m, "Punctuation");
        key_text(m, "behavior", "Contiguous");
    } else if (step.len > 0 && step.ptr[0] == '#') {
        begin_typed(m, "Digits");
        key_flag(m, "individual_digits", step.len > 1);
    } else {
        begin_typed(m, "Split");
        begin_key(m, "pattern", '{');
        wb__json_write_key(&m->json, "Regex");
        wb__json_write_str(&m->json, step);
        end(m, '}');
        key_text(m, "behavior", "Isolated");
        key_flag(m, "invert", false);
    }
    end(m, '}');
}

static void pre_tokenizer(making *m)
{
    wb__str name = text_of(m->model, T "pre");
    const char *steps = wb__pretokenizer_steps(name);
    bool bytes = true;
    wb__json_write_key(&m->json, "pre_tokenizer");
    if (steps == NULL || strcmp(steps, "*\n") == 0) {
        byte_level(m, false, true);
        return;
    }
    begin_typed(m, "Sequence");
    begin_key(m, "pretokenizers", '[');
    for (const char *end_of; *steps != '\0'; steps = end_of + 1) {
        end_of = strchr(steps, '\n');
        bytes = bytes && !(end_of == steps + 1 && *steps == '*');
        split_step(m, (wb__str){steps, (size_t)(end_of - steps)});
    }
    if (bytes)
        byte_level(m, false, false);
    end(m, ']');
    end(m, '}');
}

/* Writes all tokens, including added tokens. The tokenizers library uses the id of an added
 * token only if the vocabulary also contains the token. Otherwise the library assigns a new id
 * after the last token. */
static void vocabulary(making *m)
{
    begin_key(m, "vocab", '{');
    for (size_t i = 0; i < m->tokens.count; i++) {
        if (wb__vocabulary_type(&m->tokens, i) == UNUSED ||
            wb__vocabulary_find(&m->tokens, wb__vocabulary_at(&m->tokens, i)) != i)
            continue;
        wb__json_write_key_str(&m->json, wb__vocabulary_at(&m->tokens, i));
        wb__json_write_uint(&m->json, i);
    }
    end(m, '}');
}

static bool has(const making *m, wb__str text)
{
    uint32_t i = wb__vocabulary_find(&m->tokens, text);
    return i != UINT32_MAX && wb__vocabulary_type(&m->tokens, i) != UNUSED;
}

/* Returns true if the vocabulary contains both tokens and their concatenation. The tokenizers
 * library rejects a file with a merge for which this is false. */
static bool makes_token(making *m, wb__str left, wb__str right)
{
    wb__buffer *joined = &m->joined;
    joined->n = 0;
    wb__buffer_add(joined, left.ptr, left.len);
    wb__buffer_add(joined, right.ptr, right.len);
    return has(m, left) && has(m, right) &&
           has(m, (wb__str){(const char *)joined->bytes, joined->n});
}

static void pair_of(making *m, wb__str left, wb__str right)
{
    wb__json_write_begin(&m->json, '[');
    wb__json_write_str(&m->json, left);
    wb__json_write_str(&m->json, right);
    end(m, ']');
}

/* Writes the merge `text`, which has the form "a b". The separator is the first space after the
 * first byte, because token a can begin with a space. Returns false if the merge is invalid. */
static bool stored_merge(making *m, const char *text, size_t n)
{
    const char *space = n < 3 ? NULL : memchr(text + 1, ' ', n - 1);
    if (space == NULL)
        return false;
    wb__str left = {text, (size_t)(space - text)};
    wb__str right = {space + 1, n - 1 - left.len};
    bool made = makes_token(m, left, right);
    if (made)
        pair_of(m, left, right);
    return made;
}

static wb_status stored_merges(making *m)
{
    wb_meta_array merges = {.size = sizeof merges};
    bool all = true;
    begin_key(m, "merges", '[');
    if (wb_meta_get_array(m->model, T "merges", SIZE_MAX, WB_META_STRING, &merges, NULL) == WB_OK) {
        for (uint64_t i = 0; i < merges.count; i++) {
            const char *text;
            size_t n;
            if (wb_meta_strings(&merges, i, 1, &text, &n) != WB_OK || !stored_merge(m, text, n))
                all = false;
        }
    }
    end(m, ']');
    if (wb__buffer_failed(&m->joined))
        return wb__fail_memory(m->out->context);
    return all ? WB_OK : warn(m, WB__STR(T "merges"), WB__MSG_CONVERT_MERGES_DROPPED);
}

static void bpe_head(making *m, bool fallback)
{
    wb__json_write_key(&m->json, "model");
    begin_typed(m, "BPE");
    key_null(m, "dropout");
    wb__json_write_key(&m->json, "unk_token");
    uint64_t unknown = fallback ? token_of(m, T "unknown_token_id") : UINT64_MAX;
    if (unknown != UINT64_MAX)
        wb__json_write_str(&m->json, wb__vocabulary_at(&m->tokens, (size_t)unknown));
    else
        wb__json_write_null(&m->json);
    key_null(m, "continuing_subword_prefix");
    key_null(m, "end_of_word_suffix");
    key_flag(m, "fuse_unk", fallback);
    key_flag(m, "byte_fallback", fallback);
    key_flag(m, "ignore_merges",
             !fallback && wb__pretokenizer_ignores_merges(text_of(m->model, T "pre")));
}

static wb_status make_gpt2(making *m)
{
    wb__str pre = text_of(m->model, T "pre");
    if (wb__str_equal(pre, WB__STR("qwen2"))) {
        wb__json_write_key(&m->json, "normalizer");
        begin_typed(m, "NFC");
        end(m, '}');
    } else {
        key_null(m, "normalizer");
    }
    pre_tokenizer(m);
    post_processor(m, false);
    wb__json_write_key(&m->json, "decoder");
    byte_level(m, true, true);
    bpe_head(m, false);
    vocabulary(m);
    wb_status status = stored_merges(m);
    end(m, '}');
    if (status == WB_OK && wb__pretokenizer_steps(pre) == NULL)
        status = warn(m, WB__STR(T "pre"), WB__MSG_CONVERT_PRETOKENIZER);
    return status;
}

/* ---- SentencePiece ---- */

static void space_steps(making *m, bool prefix)
{
    wb__json_write_key(&m->json, "normalizer");
    if (prefix) {
        begin_typed(m, "Sequence");
        begin_key(m, "normalizers", '[');
        begin_typed(m, "Prepend");
        key_text(m, "prepend", "\xE2\x96\x81");
        end(m, '}');
    }
    replace_step(m, " ", "\xE2\x96\x81");
    if (prefix) {
        end(m, ']');
        end(m, '}');
    }
}

static void spm_decoder(making *m, bool prefix)
{
    wb__json_write_key(&m->json, "decoder");
    begin_typed(m, "Sequence");
    begin_key(m, "decoders", '[');
    replace_step(m, "\xE2\x96\x81", " ");
    begin_typed(m, "ByteFallback");
    end(m, '}');
    begin_typed(m, "Fuse");
    end(m, '}');
    if (prefix) {
        begin_typed(m, "Strip");
        key_text(m, "content", " ");
        wb__json_write_key(&m->json, "start");
        wb__json_write_uint(&m->json, 1);
        wb__json_write_key(&m->json, "stop");
        wb__json_write_uint(&m->json, 0);
        end(m, '}');
    }
    end(m, ']');
    end(m, '}');
}

static void made_merges(making *m, const wb__merges *merges)
{
    begin_key(m, "merges", '[');
    for (size_t i = 0; i < merges->count; i++)
        pair_of(m, wb__vocabulary_at(&m->tokens, merges->list[i].left),
                wb__vocabulary_at(&m->tokens, merges->list[i].right));
    end(m, ']');
}

static wb_status make_spm(making *m)
{
    wb__merges merges;
    bool prefix = says(m->model, T "add_space_prefix", true);
    wb_status status = wb__vocabulary_merges(&m->tokens, m->out->context, &merges);
    space_steps(m, prefix);
    key_null(m, "pre_tokenizer");
    post_processor(m, false);
    spm_decoder(m, prefix);
    bpe_head(m, true);
    vocabulary(m);
    made_merges(m, &merges);
    end(m, '}');
    m->unfit = merges.too_many;
    wb__merges_free(&m->tokens, &merges);
    return status;
}

/* ---- WordPiece ---- */

/* Writes the tokens in WordPiece form. In GGUF, the prefix "▁" marks a token that starts a word. In
 * WordPiece, the prefix "##" marks a token that continues a word. For example, "▁the" becomes
 * "the", and "ing" becomes "##ing". */
static void word_pieces(making *m)
{
    static const char mark[] = "\xE2\x96\x81";
    begin_key(m, "vocab", '{');
    for (size_t i = 0; i < m->tokens.count; i++) {
        wb__str text = wb__vocabulary_at(&m->tokens, i);
        char piece[512];
        int64_t type = wb__vocabulary_type(&m->tokens, i);
        if (type == UNUSED || text.len > sizeof piece - 2)
            continue;
        if (type == CONTROL) {
            wb__json_write_key_str(&m->json, text);
        } else if (text.len >= 3 && memcmp(text.ptr, mark, 3) == 0) {
            wb__json_write_key_str(&m->json, (wb__str){text.ptr + 3, text.len - 3});
        } else {
            memcpy(piece, "##", 2);
            memcpy(piece + 2, text.ptr, text.len);
            wb__json_write_key_str(&m->json, (wb__str){piece, text.len + 2});
        }
        wb__json_write_uint(&m->json, i);
    }
    end(m, '}');
}

static wb_status make_bert(making *m)
{
    uint64_t unknown = token_of(m, T "unknown_token_id");
    wb__json_write_key(&m->json, "normalizer");
    begin_typed(m, "BertNormalizer");
    key_flag(m, "clean_text", true);
    key_flag(m, "handle_chinese_chars", true);
    key_null(m, "strip_accents");
    key_flag(m, "lowercase", says(m->model, T "normalizer.lowercase", true));
    end(m, '}');
    wb__json_write_key(&m->json, "pre_tokenizer");
    begin_typed(m, "BertPreTokenizer");
    end(m, '}');
    post_processor(m, true);
    wb__json_write_key(&m->json, "decoder");
    begin_typed(m, "WordPiece");
    key_text(m, "prefix", "##");
    key_flag(m, "cleanup", true);
    end(m, '}');
    wb__json_write_key(&m->json, "model");
    begin_typed(m, "WordPiece");
    wb__json_write_key(&m->json, "unk_token");
    wb__json_write_str(&m->json, unknown == UINT64_MAX
                                     ? WB__STR("[UNK]")
                                     : wb__vocabulary_at(&m->tokens, (size_t)unknown));
    key_text(m, "continuing_subword_prefix", "##");
    wb__json_write_key(&m->json, "max_input_chars_per_word");
    wb__json_write_uint(&m->json, 100);
    word_pieces(m);
    end(m, '}');
    return WB_OK;
}

/* ---- the output files ---- */

static wb_status make_any(making *m, wb_status (*make)(making *m))
{
    wb__json_write_begin(&m->json, '{');
    key_text(m, "version", "1.0");
    key_null(m, "truncation");
    key_null(m, "padding");
    added_tokens(m);
    wb_status status = make(m);
    end(m, '}');
    wb__buffer_text(m->to, "\n");
    return status;
}

wb_status wb__emit_tokenizer(wb__emit_job *out, wb__buffer *to)
{
    static const struct {
        const char *model;
        wb_status (*make)(making *m);
    } kinds[] = {{"gpt2", make_gpt2}, {"llama", make_spm}, {"bert", make_bert}};
    making m = {.out = out, .model = out->conversion->model, .json = wb__emit_json(to), .to = to};
    m.joined = (wb__buffer){.allocator = &out->context->allocator, .ceiling = SIZE_MAX / 2};
    wb__str model = text_of(m.model, T "model");
    wb_status status = wb__vocabulary_read(&m.tokens, out->context, m.model);
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == WB_OK && m.tokens.count > 0;
         i++) {
        if (wb__str_equal(model, wb__str_from(kinds[i].model, SIZE_MAX))) {
            status = make_any(&m, kinds[i].make);
            known = true;
        }
    }
    wb__vocabulary_free(&m.tokens);
    wb__buffer_free(&m.joined);
    if (m.unfit && status == WB_OK) {
        to->n = 0; /* an empty text means that the file is not written */
        return warn(&m, WB__STR(T "tokens"), WB__MSG_CONVERT_MERGES_SIZE);
    }
    if (!known && status == WB_OK && model.len > 0)
        return warn(&m, model, WB__MSG_CONVERT_TOKENIZER_KIND);
    return status;
}

wb_status wb__emit_tokenizer_config(wb__emit_job *out, wb__buffer *to)
{
    static const char *const names[][2] = {
        {"bos_token", T "bos_token_id"},     {"eos_token", T "eos_token_id"},
        {"unk_token", T "unknown_token_id"}, {"sep_token", T "seperator_token_id"},
        {"pad_token", T "padding_token_id"}, {"cls_token", T "cls_token_id"},
        {"mask_token", T "mask_token_id"},
    };
    making m = {.out = out, .model = out->conversion->model, .json = wb__emit_json(to), .to = to};
    wb_status status = wb__vocabulary_read(&m.tokens, out->context, m.model);
    if (status == WB_OK && m.tokens.count > 0) {
        wb__json_write_begin(&m.json, '{');
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            uint64_t id = token_of(&m, names[i][1]);
            if (id == UINT64_MAX)
                continue;
            wb__json_write_key(&m.json, names[i][0]);
            wb__json_write_str(&m.json, wb__vocabulary_at(&m.tokens, (size_t)id));
        }
        uint64_t spare;
        if (wb_meta_find(m.model, T "add_bos_token", SIZE_MAX, &spare) == WB_OK)
            key_flag(&m, "add_bos_token", says(m.model, T "add_bos_token", false));
        if (wb_meta_find(m.model, T "add_eos_token", SIZE_MAX, &spare) == WB_OK)
            key_flag(&m, "add_eos_token", says(m.model, T "add_eos_token", false));
        key_flag(&m, "clean_up_tokenization_spaces", false);
        key_text(&m, "tokenizer_class", "PreTrainedTokenizerFast");
        end(&m, '}');
        wb__buffer_text(to, "\n");
    }
    wb__vocabulary_free(&m.tokens);
    return status;
}

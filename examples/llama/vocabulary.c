/* Reads a tokenizer from the metadata of a model. */
#include "model.h"
#include "tokenizer.h"
#include "unicode.h"
#include <stdlib.h>
#include <string.h>

#define KEY "tokenizer.ggml."

/* ---- the text of tokens ---- */

/* Byte-level BPE writes a printable byte as the character with the same number, and the other bytes
 * as characters from U+0100 on. Fills a table with the byte of each character, or -1.
 */
enum { BYTE_CHARACTERS = 0x144 };

static void list_bytes(int bytes[BYTE_CHARACTERS])
{
    int hidden = 0x100;
    for (int i = 0; i < BYTE_CHARACTERS; i++)
        bytes[i] = -1;
    for (int byte = 0; byte < 256; byte++) {
        int shown = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
        bytes[shown ? byte : hidden++] = byte;
    }
}

/* Writes the bytes that a piece of byte-level BPE stands for. Returns their number, or 0 if the
 * piece has other characters.
 */
static size_t bytes_of(const int *table, const char *text, size_t len, char *out)
{
    size_t n = 0;
    for (const char *p = text; p < text + len;) {
        uint32_t character;
        p = next_char(p, text + len, &character);
        if (character >= BYTE_CHARACTERS || table[character] < 0)
            return 0;
        out[n++] = (char)table[character];
    }
    return n;
}

size_t copy_spaces(const char *text, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        int is_space = len - i >= 3 && memcmp(text + i, "\xE2\x96\x81", 3) == 0;
        out[n++] = is_space ? ' ' : text[i];
        i += is_space ? 2 : 0;
    }
    return n;
}

/* Returns the byte that a token such as "<0x0A>" stands for, or -1. */
static int byte_of(const char *text, size_t len)
{
    char number[7] = {0}, *end;
    if (len != 6 || memcmp(text, "<0x", 3) != 0)
        return -1;
    memcpy(number, text, len);
    unsigned long byte = strtoul(number + 3, &end, 16);
    return end == number + 5 && *end == '>' && byte < 256 ? (int)byte : -1;
}

/* Sets the text of token `id`, in `room`. Returns the end of the text. */
static char *set_text(tokenizer *t, const int *table, const char *text, size_t len, uint32_t id,
                      char *room)
{
    int byte = t->types[id] == TOKEN_BYTE ? byte_of(text, len) : -1;
    int is_literal = t->types[id] == TOKEN_CONTROL || t->types[id] == TOKEN_USER_DEFINED;
    size_t n = 0;
    if (byte >= 0) {
        t->bytes[byte] = id;
        room[n++] = (char)byte;
    } else if (t->kind != BYTE_LEVEL_BPE) {
        n = copy_spaces(text, len, room);
    } else if (!is_literal) {
        n = bytes_of(table, text, len, room);
    }
    if (n == 0) {
        memcpy(room, text, len);
        n = len;
    }
    t->tokens[id] = (piece){.text = room, .len = n, .id = id};
    return room + n;
}

/* ---- reading the metadata ---- */

static void check_meta(wb_status status, const char *key)
{
    if (status != WB_OK)
        fail(key, "the metadata of the tokenizer is missing or of the wrong type");
}

static void get_strings(const wb_model *files, const char *key, const char ***texts, size_t **lens,
                        size_t *count)
{
    wb_meta_array array = WB_META_ARRAY_INIT;
    check_meta(wb_meta_get_array(files, key, SIZE_MAX, WB_META_STRING, &array, NULL), key);
    if (array.count >= NO_TOKEN)
        fail(key, "has too many entries");
    *count = (size_t)array.count;
    *texts = need(*count, sizeof **texts);
    *lens = need(*count, sizeof **lens);
    check_meta(wb_meta_strings(&array, 0, array.count, *texts, *lens), key);
}

/* Reads an array that has as many entries as there are tokens. Returns 0 if there is none. */
static int find_array(const wb_model *files, const char *key, wb_meta_type element, size_t count,
                      wb_meta_array *array)
{
    uint64_t index;
    if (wb_meta_find(files, key, SIZE_MAX, &index) != WB_OK)
        return 0;
    check_meta(wb_meta_get_array(files, key, SIZE_MAX, element, array, NULL), key);
    if (array->count != count)
        fail(key, "does not have as many entries as there are tokens");
    return 1;
}

static void read_tokens(tokenizer *t, const wb_model *files)
{
    wb_meta_array array = WB_META_ARRAY_INIT;
    const char **texts;
    size_t *lens, total = 0;
    int table[BYTE_CHARACTERS];
    list_bytes(table);
    get_strings(files, KEY "tokens", &texts, &lens, &t->count);
    t->types = need(t->count, sizeof *t->types);
    for (size_t i = 0; i < t->count; i++) {
        total += lens[i];
        t->types[i] = TOKEN_NORMAL;
    }
    if (find_array(files, KEY "token_type", WB_META_INT, t->count, &array))
        check_meta(wb_meta_ints(&array, 0, t->count, t->types), KEY "token_type");
    t->tokens = need(t->count, sizeof *t->tokens);
    char *room = t->memory = need(total, 1);
    for (size_t i = 0; i < t->count; i++)
        room = set_text(t, table, texts[i], lens[i], (uint32_t)i, room);
    free((void *)texts);
    free(lens);
}

static void read_scores(tokenizer *t, const wb_model *files)
{
    wb_meta_array array = WB_META_ARRAY_INIT;
    if (!find_array(files, KEY "scores", WB_META_FLOAT, t->count, &array))
        fail(KEY "scores", "is missing");
    t->scores = need(t->count, sizeof *t->scores);
    check_meta(wb_meta_floats(&array, 0, t->count, t->scores), KEY "scores");
}

static void add_piece(piece_set *set, const piece *added)
{
    if (added->len > 0)
        set->pieces[set->count++] = *added;
}

static void sort_tokens(tokenizer *t)
{
    t->ordinary.pieces = need(t->count, sizeof *t->ordinary.pieces);
    t->special.pieces = need(t->count, sizeof *t->special.pieces);
    for (size_t i = 0; i < t->count; i++) {
        int64_t type = t->types[i];
        if (type == TOKEN_CONTROL || type == TOKEN_USER_DEFINED || type == TOKEN_UNKNOWN)
            add_piece(&t->special, &t->tokens[i]);
        else if (type != TOKEN_BYTE)
            add_piece(&t->ordinary, &t->tokens[i]);
    }
    sort_pieces(&t->ordinary);
    sort_pieces(&t->special);
}

static int compare_merges(const void *left, const void *right)
{
    const merge *a = left, *b = right;
    if (a->left != b->left)
        return a->left < b->left ? -1 : 1;
    if (a->right != b->right)
        return a->right < b->right ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Reads a merge, "LEFT RIGHT". A merge whose parts or result are no tokens cannot be used. */
static int read_merge(const tokenizer *t, const int *table, const char *text, size_t len,
                      char *room, merge *m)
{
    const char *space = len > 1 ? memchr(text + 1, ' ', len - 1) : NULL;
    if (space == NULL)
        return 0;
    size_t first = (size_t)(space - text);
    size_t left = bytes_of(table, text, first, room);
    size_t right = bytes_of(table, space + 1, len - first - 1, room + left);
    m->left = find_piece(&t->ordinary, room, left);
    m->right = find_piece(&t->ordinary, room + left, right);
    m->result = find_piece(&t->ordinary, room, left + right);
    return left && right && m->left != NO_TOKEN && m->right != NO_TOKEN && m->result != NO_TOKEN;
}

static void read_merges(tokenizer *t, const wb_model *files)
{
    const char **texts;
    size_t *lens, count, longest = 0, n = 0;
    int table[BYTE_CHARACTERS];
    list_bytes(table);
    get_strings(files, KEY "merges", &texts, &lens, &count);
    for (size_t i = 0; i < count; i++)
        longest = lens[i] > longest ? lens[i] : longest;
    char *room = need(longest, 1);
    t->merges = need(count, sizeof *t->merges);
    for (size_t i = 0; i < count; i++) {
        t->merges[n].rank = (uint32_t)i;
        n += (size_t)read_merge(t, table, texts[i], lens[i], room, &t->merges[n]);
    }
    qsort(t->merges, n, sizeof *t->merges, compare_merges);
    /* Of equal pairs, the first one counts. */
    for (size_t i = 0; i < n; i++)
        if (i == 0 || t->merges[i].left != t->merges[i - 1].left ||
            t->merges[i].right != t->merges[i - 1].right)
            t->merges[t->n_merges++] = t->merges[i];
    for (unsigned byte = 0; byte < 256; byte++) {
        const char text = (char)byte;
        t->bytes[byte] = find_piece(&t->ordinary, &text, 1);
    }
    free((void *)texts);
    free(lens);
    free(room);
}

static uint32_t token_or_none(const tokenizer *t, int64_t id)
{
    return id >= 0 && (uint64_t)id < t->count ? (uint32_t)id : NO_TOKEN;
}

static void read_settings(tokenizer *t, const wb_model *files)
{
    wb_special_tokens special = WB_SPECIAL_TOKENS_INIT;
    int adds = t->kind == SENTENCEPIECE || t->kind == WORDPIECE;
    if (t->kind == BYTE_LEVEL_BPE) {
        t->rule_name = wb_meta_get_string_or(files, KEY "pre", SIZE_MAX, "default");
        t->rule = find_rule(t->rule_name);
        adds = t->rule && rule_takes_words(t->rule);
    }
    if (wb_special_tokens_get(files, &special, NULL) != WB_OK)
        fail("tokenizer", "the special tokens cannot be read");
    t->unknown = token_or_none(t, special.unknown);
    t->bos = token_or_none(t, special.bos >= 0 ? special.bos : special.cls);
    t->eos = token_or_none(t, t->kind == WORDPIECE ? special.separator : special.eos);
    t->add_bos = wb_meta_get_bool_or(files, KEY "add_bos_token", SIZE_MAX, adds);
    t->add_eos = wb_meta_get_bool_or(files, KEY "add_eos_token", SIZE_MAX,
                                     t->kind == WORDPIECE || t->kind == UNIGRAM);
    t->add_space = (t->kind == SENTENCEPIECE || t->kind == UNIGRAM) &&
                   wb_meta_get_bool_or(files, KEY "add_space_prefix", SIZE_MAX, 1);
    t->one_space = t->kind == UNIGRAM && t->add_space &&
                   wb_meta_get_bool_or(files, KEY "remove_extra_whitespaces", SIZE_MAX, 0);
    t->lowercase = wb_meta_get_bool_or(files, KEY "normalizer.lowercase", SIZE_MAX, 1);
}

static tokenizer_kind kind_of(const char *name)
{
    static const char *const names[] = {[BYTE_LEVEL_BPE] = "gpt2",
                                        [SENTENCEPIECE] = "llama",
                                        [WORDPIECE] = "bert",
                                        [UNIGRAM] = "t5"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return (tokenizer_kind)i;
    fail(name, "this example does not know this kind of tokenizer");
}

tokenizer *tokenizer_new(const wb_model *files)
{
    const char *name = wb_meta_get_string_or(files, KEY "model", SIZE_MAX, NULL);
    if (name == NULL)
        return NULL;
    tokenizer *t = need(1, sizeof *t);
    t->kind = kind_of(name);
    for (int i = 0; i < 256; i++)
        t->bytes[i] = NO_TOKEN;
    read_tokens(t, files);
    sort_tokens(t);
    read_settings(t, files);
    if (t->kind == BYTE_LEVEL_BPE)
        read_merges(t, files);
    else if (t->kind != WORDPIECE)
        read_scores(t, files);
    return t;
}

void tokenizer_free(tokenizer *t)
{
    if (t == NULL)
        return;
    free(t->tokens);
    free(t->types);
    free(t->scores);
    free(t->ordinary.pieces);
    free(t->special.pieces);
    free(t->merges);
    free(t->memory);
    free(t);
}

/* Finds special tokens in text, and has the text between them encoded. */
#include "tokenizer.h"
#include "model.h"
#include <stdlib.h>
#include <string.h>

void add_token(token_list *list, uint32_t id)
{
    list->ids = grow(list->ids, list->count, &list->capacity, sizeof *list->ids);
    list->ids[list->count++] = id;
}

void add_unknown(const tokenizer *t, token_list *list)
{
    if (t->unknown == NO_TOKEN)
        fail("tokenizer", "a character of the text is not in the vocabulary");
    add_token(list, t->unknown);
}

/* ---- encoding ---- */

/* Leaves one space of several, and none at the beginning and the end. Returns the new length. */
static size_t remove_spaces(char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' || (n > 0 && text[n - 1] != ' '))
            text[n++] = text[i];
    return n > 0 && text[n - 1] == ' ' ? n - 1 : n;
}

/* Encodes text without special tokens. SentencePiece and Unigram put a space before it. */
static void encode_segment(const tokenizer *t, const char *text, size_t len, token_list *list)
{
    static void (*const encoders[])(const tokenizer *, const char *, size_t,
                                    token_list *) = {[BYTE_LEVEL_BPE] = encode_bytes,
                                                     [SENTENCEPIECE] = encode_sentencepiece,
                                                     [WORDPIECE] = encode_words,
                                                     [UNIGRAM] = encode_unigram};
    if (len == 0)
        return;
    if (!t->add_space) {
        encoders[t->kind](t, text, len, list);
        return;
    }
    char *copy = need(len + 1, 1);
    copy[0] = ' ';
    memcpy(copy + 1, text, len);
    if (t->one_space)
        len = remove_spaces(copy + 1, len);
    if (len > 0)
        encoders[t->kind](t, copy, len + 1, list);
    free(copy);
}

static void keep_piece(void *context, const piece *found)
{
    *(piece *)context = *found;
}

/* Encodes the special tokens in a text, and the text between them. */
static void encode_segments(const tokenizer *t, const char *text, size_t len, token_list *list)
{
    char first[256] = {0}; /* 1: a special token begins with this byte */
    size_t begin = 0, at = 0;
    for (size_t i = 0; i < t->special.count; i++)
        first[(unsigned char)t->special.pieces[i].text[0]] = 1;
    while (at < len) {
        piece found = {.id = NO_TOKEN};
        if (first[(unsigned char)text[at]])
            find_prefixes(&t->special, text + at, len - at, keep_piece, &found);
        if (found.id == NO_TOKEN) {
            at++;
            continue;
        }
        encode_segment(t, text + begin, at - begin, list);
        add_token(list, found.id);
        begin = at += found.len;
    }
    encode_segment(t, text + begin, len - begin, list);
}

void encode(const tokenizer *t, const char *text, size_t len, token_list *list)
{
    char *copy = need(len, 1);
    if (t->kind == BYTE_LEVEL_BPE && t->rule == NULL)
        fail(t->rule_name, "this example does not know this way to split text into words");
    memcpy(copy, text, len);
    if (t->kind == SENTENCEPIECE || t->kind == UNIGRAM)
        len = copy_spaces(copy, len, copy);
    if (t->add_bos && t->bos != NO_TOKEN)
        add_token(list, t->bos);
    encode_segments(t, copy, len, list);
    if (t->add_eos && t->eos != NO_TOKEN)
        add_token(list, t->eos);
    free(copy);
}

/* ---- decoding ---- */

const char *token_text(const tokenizer *t, uint64_t id, size_t *len)
{
    *len = id < t->count ? t->tokens[id].len : 0;
    return id < t->count ? t->tokens[id].text : "";
}

int is_control(const tokenizer *t, uint64_t id)
{
    return id >= t->count || t->types[id] == TOKEN_CONTROL;
}

/* Sets types and scores of tokens and appends their strings. */
#include "arch/tokenizer/tokenizer_make.h"

#define PAD_SCORE (-10000.0f)    /* score of ids without a token */
#define WORD_MARK "\xE2\x96\x81" /* U+2581, which represents a space */

bool wb__tokens_reserve(wb__tokenizer *tokenizer, size_t count, bool scores)
{
    tokenizer->types = wb__alloc(&tokenizer->allocator, count * sizeof *tokenizer->types);
    if (scores)
        tokenizer->scores = wb__alloc(&tokenizer->allocator, count * sizeof *tokenizer->scores);
    tokenizer->capacity = count;
    return tokenizer->types != NULL && (!scores || tokenizer->scores != NULL);
}

void wb__token_set_type(wb__tokenizer *tokenizer, size_t number, uint32_t type)
{
    wb__store_le32(&tokenizer->types[number], type);
}

uint32_t wb__token_get_type(const wb__tokenizer *tokenizer, size_t number)
{
    return wb__load_le32(&tokenizer->types[number]);
}

void wb__token_set_score(wb__tokenizer *tokenizer, size_t number, float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    if (tokenizer->scores != NULL)
        wb__store_le32(&tokenizer->scores[number], bits);
}

bool wb__token_add_pad(wb__tokenizer *tokenizer, size_t number)
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
    wb__token_set_type(tokenizer, number, WB__TOKEN_UNUSED);
    wb__token_set_score(tokenizer, number, PAD_SCORE);
    return wb__strings_add(&tokenizer->tokens, (wb__str){text, n});
}

size_t wb__tokens_count(const wb__token_maker *m, size_t have)
{
    uint64_t rows = m->files->vocab_size;
    return rows > have && rows - have <= WB__TOKENS_SPARE ? (size_t)rows : have;
}

bool wb__tokens_too_dense(size_t count, size_t bytes)
{
    return count > WB__TOKENS_SPARE && count - WB__TOKENS_SPARE > bytes / WB__TOKEN_BYTES;
}

bool wb__token_add_spaced(wb__strings *strings, wb__str text)
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

bool wb__token_add_word_piece(wb__strings *strings, wb__str text)
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

uint8_t wb__token_kind_of(const wb__token_maker *m, const wb__tree *tree, wb__node entry,
                          wb__str text)
{
    bool special = false;
    (void)wb__tree_bool(tree, wb__tree_get(tree, entry, "special"), &special);
    if (special || (!m->files->is_phi && wb__looks_special(text)))
        return WB__TOKEN_CONTROL;
    return WB__TOKEN_USER;
}

/*
 * Converts merge ranks to scores: the score of a token is minus the rank of the first merge that
 * produces it. Tokens that no merge produces get scores below those of all tokens that a merge
 * produces.
 */
#include "arch/tokenizer/tokenizer_make.h"

/* Hash table that finds a token by its string. If several tokens have the same string, the table
 * contains only the first. */
typedef struct token_index {
    wb__hash_key key;
    uint32_t *slots; /* token id + 1; 0: free */
    size_t slot_count;
    const char *base; /* string block of the tokens */
    uint32_t *texts;  /* offset of the string of each token in the block */
    size_t count;
} token_index;

static wb__str text_at(const token_index *tokens, size_t number)
{
    return wb__strings_from(tokens->base + tokens->texts[number]);
}

/* Returns the slot of the first token with this string, or the free slot for it. */
static size_t slot_of(const token_index *tokens, wb__str text)
{
    size_t slot = (size_t)wb__siphash(&tokens->key, text.ptr, text.len) & (tokens->slot_count - 1);
    while (tokens->slots[slot] != 0 &&
           !wb__str_equal(text_at(tokens, tokens->slots[slot] - 1), text))
        slot = (slot + 1) & (tokens->slot_count - 1);
    return slot;
}

static bool make_index(token_index *tokens, const wb_allocator *allocator,
                       const wb__strings *strings)
{
    size_t count = (size_t)strings->count;
    *tokens = (token_index){
        .key = wb__hash_key_draw(), .slot_count = 16, .base = strings->bytes, .count = count};
    while (tokens->slot_count / 4 * 3 < count)
        tokens->slot_count *= 2;
    tokens->slots = wb__alloc_zeroed(allocator, tokens->slot_count * sizeof *tokens->slots);
    tokens->texts = wb__alloc(allocator, count * sizeof *tokens->texts);
    if (tokens->slots == NULL || tokens->texts == NULL)
        return false;
    wb__str token = {NULL, 0};
    for (size_t i = 0; i < count; i++) {
        token = i == 0 ? wb__strings_at(strings, 0) : wb__strings_after(token);
        tokens->texts[i] = (uint32_t)(token.ptr - tokens->base);
        size_t slot = slot_of(tokens, token);
        if (tokens->slots[slot] == 0)
            tokens->slots[slot] = (uint32_t)i + 1;
    }
    return true;
}

static void free_index(token_index *tokens, const wb_allocator *allocator)
{
    wb__free(allocator, tokens->slots, tokens->slot_count * sizeof *tokens->slots);
    wb__free(allocator, tokens->texts, tokens->count * sizeof *tokens->texts);
}

/* Finds the first token with this string; returns false if there is none. */
static bool find(const token_index *tokens, wb__str text, size_t *number)
{
    uint32_t found = tokens->slots[slot_of(tokens, text)];
    *number = (size_t)found - 1;
    return found != 0;
}

/* Sets the score of token `number`, which merge number `rank` produces, unless an earlier merge has
 * set the score. */
static void score_token(wb__tokenizer *tokenizer, size_t number, uint64_t rank, uint64_t merges)
{
    uint32_t bits = wb__load_le32(&tokenizer->scores[number]);
    float score;
    memcpy(&score, &bits, sizeof score);
    if (wb__token_get_type(tokenizer, number) == WB__TOKEN_NORMAL && score < -(float)merges)
        wb__token_set_score(tokenizer, number, -(float)rank);
}

static void score_merges(wb__tokenizer *tokenizer, const wb__strings *merges,
                         const token_index *tokens)
{
    char text[512];
    wb__str merge = {NULL, 0};
    for (uint64_t rank = 0; rank < merges->count; rank++) {
        size_t number;
        merge = rank == 0 ? wb__strings_at(merges, 0) : wb__strings_after(merge);
        const char *space = memchr(merge.ptr, ' ', merge.len);
        if (space == NULL || merge.len > sizeof text)
            continue;
        size_t left = (size_t)(space - merge.ptr);
        memcpy(text, merge.ptr, left);
        memcpy(text + left, space + 1, merge.len - left - 1);
        if (find(tokens, (wb__str){text, merge.len - 1}, &number))
            score_token(tokenizer, number, rank, merges->count);
    }
}

bool wb__token_score_by_merges(wb__token_maker *m)
{
    wb__tokenizer *tokenizer = m->tokenizer;
    const wb__strings *merges = &m->json.merges;
    token_index tokens;
    bool made = make_index(&tokens, &tokenizer->allocator, &tokenizer->tokens);
    for (size_t i = 0; made && i < tokens.count; i++) {
        bool is_normal = wb__token_get_type(tokenizer, i) == WB__TOKEN_NORMAL;
        wb__token_set_score(tokenizer, i, is_normal ? -(float)merges->count - 1 : WB__ADDED_SCORE);
    }
    if (made)
        score_merges(tokenizer, merges, &tokens);
    free_index(&tokens, &tokenizer->allocator);
    return made;
}

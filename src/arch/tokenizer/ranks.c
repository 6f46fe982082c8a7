#include "arch/tokenizer/maker.h"

/*
 * A tokenizer that merges by rank, as one that merges by score: minus the number of the first merge
 * that makes a token. What no merge makes comes after all that one does.
 */
bool wb__token_score_by_merges(wb__token_maker *m)
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
        uint32_t type = wb__token_get_type(tokenizer, i);
        wb__token_set_score(tokenizer, i,
                            type == WB__TOKEN_NORMAL ? -(float)merges->count - 1 : WB__ADDED_SCORE);
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
            if (wb__token_get_type(tokenizer, i) == WB__TOKEN_NORMAL &&
                score < -(float)merges->count)
                wb__token_set_score(tokenizer, i, -(float)rank);
            break;
        }
    }
    wb__free(&tokenizer->allocator, table, slots * sizeof *table);
    wb__free(&tokenizer->allocator, where, count * sizeof *where);
    return made;
}

/* Unigram: of all ways to make a text of pieces, takes the one with the largest sum of scores. The
 * character map of the tokenizer (precompiled_charsmap), which replaces some characters, is not
 * used.
 */
#include "model.h"
#include "tokenizer.h"
#include "unicode.h"
#include <stdlib.h>

/* The best way to make the text up to a position. */
typedef struct path {
    double score;
    size_t from; /* the position before the last piece */
    uint32_t id; /* the last piece; NO_TOKEN: a character that is no piece */
    int reached;
} path;

typedef struct search {
    const tokenizer *t;
    path *paths; /* [len + 1] */
    size_t at;
} search;

static void reach(search *s, size_t len, double score, uint32_t id)
{
    path *p = &s->paths[s->at + len];
    score += s->paths[s->at].score;
    if (!p->reached || score > p->score)
        *p = (path){.score = score, .from = s->at, .id = id, .reached = 1};
}

static void add_piece(void *context, const piece *found)
{
    search *s = context;
    reach(s, found->len, s->t->scores[found->id], found->id);
}

void encode_unigram(const tokenizer *t, const char *text, size_t len, token_list *list)
{
    search s = {.t = t, .paths = need(len + 1, sizeof *s.paths)};
    const char *end = text + len;
    double lowest = 0;
    size_t count = 0, at;
    for (size_t i = 0; i < t->ordinary.count; i++)
        if (t->scores[t->ordinary.pieces[i].id] < lowest)
            lowest = t->scores[t->ordinary.pieces[i].id];
    for (const char *p = text, *next; p < end; p = next) {
        uint32_t character;
        next = next_char(p, end, &character);
        s.at = (size_t)(p - text);
        find_prefixes(&t->ordinary, p, (size_t)(end - p), add_piece, &s);
        if (!s.paths[next - text].reached || s.paths[next - text].from != s.at)
            reach(&s, (size_t)(next - p), lowest - 10, NO_TOKEN);
    }
    /* Follow the best path from the end to the beginning, and turn it round. */
    for (at = len; at > 0; at = s.paths[at].from, count++)
        s.paths[len - count].id = s.paths[at].id;
    for (size_t i = len - count + 1; i <= len; i++) {
        if (s.paths[i].id != NO_TOKEN)
            add_token(list, s.paths[i].id);
        else if (list->count == 0 || list->ids[list->count - 1] != t->unknown)
            add_unknown(t, list);
    }
    free(s.paths);
}

/* Byte pair encoding: text is a list of symbols, at first bytes or characters, and the best pair of
 * adjacent symbols becomes one symbol until no pair is a token. A heap keeps the pairs, so n bytes
 * take O(n log n) steps.
 */
#include "model.h"
#include "tokenizer.h"
#include "unicode.h"
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

typedef struct symbol {
    const char *text;
    size_t len; /* 0: merged into another symbol */
    uint32_t id;
    int64_t previous, next; /* indices of symbols, or NONE */
} symbol;

typedef struct pair {
    double cost; /* the lowest one is merged first, then the leftmost one */
    int64_t left, right;
    size_t len; /* of both symbols, when the pair was found */
    uint32_t result;
} pair;

typedef struct merger {
    const tokenizer *t;
    token_list *list;
    symbol *symbols;
    size_t n_symbols, symbol_capacity;
    pair *heap; /* heap[0] is the best one; the parent of i is (i - 1) / 2 */
    size_t n_pairs, pair_capacity;
} merger;

/* ---- the heap ---- */

static int is_better(const pair *a, const pair *b)
{
    return a->cost != b->cost ? a->cost < b->cost : a->left < b->left;
}

static void push(merger *m, pair added)
{
    m->heap = grow(m->heap, m->n_pairs, &m->pair_capacity, sizeof *m->heap);
    size_t i = m->n_pairs++;
    for (; i > 0 && is_better(&added, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = added;
}

static pair pop(merger *m)
{
    pair best = m->heap[0], last = m->heap[--m->n_pairs];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < m->n_pairs) {
        if (child + 1 < m->n_pairs && is_better(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!is_better(&m->heap[child], &last))
            break;
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = last;
    return best;
}

/* ---- merging ---- */

static const merge *find_merge(const tokenizer *t, uint32_t left, uint32_t right)
{
    size_t low = 0, high = t->n_merges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const merge *m = &t->merges[middle];
        if (m->left == left && m->right == right)
            return m;
        if (m->left < left || (m->left == left && m->right < right))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void add_pair(merger *m, int64_t left, int64_t right)
{
    if (left == NONE || right == NONE)
        return;
    const symbol *a = &m->symbols[left], *b = &m->symbols[right];
    pair found = {.left = left, .right = right, .len = a->len + b->len, .result = NO_TOKEN};
    if (m->t->kind == BYTE_LEVEL_BPE) {
        const merge *rule = find_merge(m->t, a->id, b->id);
        if (rule == NULL)
            return;
        found.cost = rule->rank;
        found.result = rule->result;
    } else {
        found.result = find_piece(&m->t->ordinary, a->text, found.len);
        if (found.result == NO_TOKEN)
            return;
        found.cost = -m->t->scores[found.result];
    }
    push(m, found);
}

static void add_symbol(merger *m, const char *text, size_t len, uint32_t id)
{
    m->symbols = grow(m->symbols, m->n_symbols, &m->symbol_capacity, sizeof *m->symbols);
    int64_t i = (int64_t)m->n_symbols++;
    m->symbols[i] = (symbol){.text = text, .len = len, .id = id, .previous = i - 1, .next = NONE};
    if (i > 0)
        m->symbols[i - 1].next = i;
}

static void merge_pairs(merger *m)
{
    for (int64_t i = 0; i + 1 < (int64_t)m->n_symbols; i++)
        add_pair(m, i, i + 1);
    while (m->n_pairs > 0) {
        pair best = pop(m);
        symbol *left = &m->symbols[best.left], *right = &m->symbols[best.right];
        if (left->len == 0 || left->next != best.right || left->len + right->len != best.len)
            continue; /* another pair has changed one of the symbols */
        left->len = best.len;
        left->id = best.result;
        left->next = right->next;
        right->len = 0;
        if (left->next != NONE)
            m->symbols[left->next].previous = best.left;
        add_pair(m, left->previous, best.left);
        add_pair(m, best.left, left->next);
    }
}

/* Adds a token for each byte of a symbol, or the unknown token, but not twice in a row. */
static void add_bytes(const merger *m, const symbol *s)
{
    const token_list *list = m->list;
    for (size_t i = 0; i < s->len; i++) {
        uint32_t id = m->t->bytes[(unsigned char)s->text[i]];
        if (id != NO_TOKEN)
            add_token(m->list, id);
        else if (list->count == 0 || list->ids[list->count - 1] != m->t->unknown)
            add_unknown(m->t, m->list);
    }
}

static void add_symbols(merger *m)
{
    for (int64_t i = m->n_symbols > 0 ? 0 : NONE; i != NONE; i = m->symbols[i].next) {
        if (m->symbols[i].id != NO_TOKEN)
            add_token(m->list, m->symbols[i].id);
        else
            add_bytes(m, &m->symbols[i]);
    }
    m->n_symbols = 0;
}

static void encode_part(void *context, const char *text, size_t len)
{
    merger *m = context;
    uint32_t whole =
        rule_takes_words(m->t->rule) ? find_piece(&m->t->ordinary, text, len) : NO_TOKEN;
    if (whole != NO_TOKEN) {
        add_token(m->list, whole);
        return;
    }
    for (size_t i = 0; i < len; i++)
        add_symbol(m, text + i, 1, m->t->bytes[(unsigned char)text[i]]);
    merge_pairs(m);
    add_symbols(m);
}

static void merger_free(merger *m)
{
    free(m->symbols);
    free(m->heap);
}

void encode_bytes(const tokenizer *t, const char *text, size_t len, token_list *list)
{
    merger m = {.t = t, .list = list};
    split(t->rule, text, len, encode_part, &m);
    merger_free(&m);
}

void encode_sentencepiece(const tokenizer *t, const char *text, size_t len, token_list *list)
{
    merger m = {.t = t, .list = list};
    for (const char *p = text, *next; p < text + len; p = next) {
        uint32_t character;
        next = next_char(p, text + len, &character);
        size_t n = (size_t)(next - p);
        add_symbol(&m, p, n, find_piece(&t->ordinary, p, n));
    }
    merge_pairs(&m);
    add_symbols(&m);
    merger_free(&m);
}

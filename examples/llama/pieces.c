/* Finds pieces of text by binary search. */
#include "tokenizer.h"
#include <stdlib.h>
#include <string.h>

static int compare(const piece *a, const char *text, size_t len)
{
    int order = memcmp(a->text, text, a->len < len ? a->len : len);
    return order != 0 ? order : (a->len > len) - (a->len < len);
}

static int compare_pieces(const void *left, const void *right)
{
    const piece *a = left, *b = right;
    int order = compare(a, b->text, b->len);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

void sort_pieces(piece_set *set)
{
    size_t n = 0;
    qsort(set->pieces, set->count, sizeof *set->pieces, compare_pieces);
    for (size_t i = 0; i < set->count; i++) {
        if (n > 0 && compare(&set->pieces[n - 1], set->pieces[i].text, set->pieces[i].len) == 0)
            n--;
        set->pieces[n++] = set->pieces[i];
    }
    set->count = n;
}

uint32_t find_piece(const piece_set *set, const char *text, size_t len)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(&set->pieces[middle], text, len);
        if (order == 0)
            return set->pieces[middle].id;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NO_TOKEN;
}

/* Returns the first of the pieces low … high - 1 whose byte at `at` is `byte` or a larger one. */
static size_t narrow(const piece *pieces, size_t low, size_t high, size_t at, int byte)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const piece *p = &pieces[middle];
        if ((p->len > at ? (unsigned char)p->text[at] : -1) < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void find_prefixes(const piece_set *set, const char *text, size_t len,
                   void (*found)(void *context, const piece *piece), void *context)
{
    size_t low = 0, high = set->count; /* the pieces that begin with the first `at` bytes */
    for (size_t at = 0; at < len && at < LONGEST_PREFIX && low < high; at++) {
        int byte = (unsigned char)text[at];
        low = narrow(set->pieces, low, high, at, byte);
        high = narrow(set->pieces, low, high, at, byte + 1);
        if (low < high && set->pieces[low].len == at + 1)
            found(context, &set->pieces[low]);
    }
}

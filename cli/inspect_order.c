/* wb inspect: selects the tensors that are listed, and their order (--filter, --sort, --top). */
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

typedef struct item {
    uint64_t index;
    wb_tensor tensor;
} item;

static int compare_indices(const void *left, const void *right)
{
    const item *a = left, *b = right;
    return compare_numbers(a->index, b->index);
}

static int compare_sizes(const void *left, const void *right)
{
    const item *a = left, *b = right;
    int order = compare_numbers(b->tensor.bytes, a->tensor.bytes); /* the largest first */
    return order != 0 ? order : compare_indices(left, right);
}

static int compare_offsets(const void *left, const void *right)
{
    const item *a = left, *b = right;
    int order = compare_numbers(a->tensor.file, b->tensor.file);
    if (order == 0)
        order = compare_numbers(a->tensor.offset, b->tensor.offset);
    return order != 0 ? order : compare_indices(left, right);
}

/* ---- names ---- */

static bool is_digit(const wb_tensor *tensor, size_t at)
{
    return at < tensor->name_len && tensor->name[at] >= '0' && tensor->name[at] <= '9';
}

/* Sets [*at, *end) to the digits of the number at *at, without zeros at its start. */
static void find_number(const wb_tensor *tensor, size_t *at, size_t *end)
{
    while (is_digit(tensor, *at) && tensor->name[*at] == '0' && is_digit(tensor, *at + 1))
        ++*at;
    *end = *at;
    while (is_digit(tensor, *end))
        ++*end;
}

/* Compares names byte by byte, but numbers in them by value: layer 2 precedes layer 10. */
static int compare_names(const void *left, const void *right)
{
    const wb_tensor *a = &((const item *)left)->tensor, *b = &((const item *)right)->tensor;
    size_t i = 0, j = 0;
    while (i < a->name_len && j < b->name_len) {
        size_t n = 1, m = 1;
        if (is_digit(a, i) && is_digit(b, j)) {
            find_number(a, &i, &n);
            find_number(b, &j, &m);
            n -= i;
            m -= j;
        }
        int order = compare_numbers(n, m);
        if (order == 0)
            order = memcmp(a->name + i, b->name + j, n);
        if (order != 0)
            return order;
        i += n;
        j += m;
    }
    int order = compare_numbers(a->name_len - i, b->name_len - j);
    return order != 0 ? order : compare_indices(left, right);
}

/* ---- order ---- */

static void sort_listed(inspection *in, int (*compare)(const void *left, const void *right))
{
    size_t count = (size_t)in->listed_count;
    item *items = need_memory(NULL, count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        wb_encoding encoding;
        items[i].index = in->listed[i];
        (void)inspection_tensor(in, in->listed[i], &items[i].tensor, &encoding);
    }
    if (count > 1)
        qsort(items, count, sizeof *items, compare);
    for (size_t i = 0; i < count; i++)
        in->listed[i] = items[i].index;
    free(items);
}

void inspection_order(inspection *in, const char *sort, uint64_t top)
{
    static const struct {
        const char *name;
        int (*compare)(const void *left, const void *right);
    } orders[] = {{"size", compare_sizes}, {"name", compare_names}, {"offset", compare_offsets}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0] && sort != NULL; i++) {
        if (strcmp(orders[i].name, sort) == 0)
            sort_listed(in, orders[i].compare);
    }
    if (in->listed_count > top)
        in->listed_count = top;
}

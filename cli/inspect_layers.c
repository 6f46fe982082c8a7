/* wb inspect --layers: prints a table in which identical layers are combined.
 *
 * The first component of a tensor name that is a number is the layer number, shown as "{n}". Later
 * numbers are expert numbers, shown as "{e}". The tensors of a layer whose names differ only in
 * expert numbers form one row. Consecutive layers whose rows are equal, apart from the types of the
 * tensors, are combined. The columns add up to the totals.
 */
#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "report.h"
#include "table.h"

#define NO_LAYER UINT64_MAX

typedef struct entry {
    const char *name;
    size_t len;
    size_t stem;     /* length of the name before the layer number, or of the whole name if it
                      * has no layer number */
    size_t rest;     /* offset of the name after the layer number */
    uint64_t number; /* layer number, or NO_LAYER */
    wb_tensor tensor;
    uint64_t kind; /* bit that stands for the dtype and encoding */
} entry;

typedef struct row {
    const entry *like; /* representative entry of the row */
    uint64_t kinds;    /* bits of all dtypes and encodings of the row */
    uint64_t tensors, parameters, bytes;
    uint64_t first, last; /* range of layers */
} row;

typedef struct folded {
    const inspection *in;
    row *rows;
    size_t count;
} folded;

/* Number of kinds of tensors that have a bit of their own. The last bit stands for all others. */
#define KINDS 63

/* ---- names ---- */

/* If the component of the name at name + at is a decimal number, returns the length of the number.
 * Otherwise returns 0.
 */
static size_t number_at(const char *name, size_t len, size_t at)
{
    size_t n = 0;
    if (at > 0 && name[at - 1] != '.')
        return 0;
    while (at + n < len && name[at + n] >= '0' && name[at + n] <= '9')
        n++;
    return n > 18 || (at + n < len && name[at + n] != '.') ? 0 : n;
}

static void find_layer(entry *e)
{
    e->number = NO_LAYER;
    e->stem = e->rest = e->len;
    for (size_t at = 0; at < e->len; at++) {
        size_t n = number_at(e->name, e->len, at);
        if (n == 0)
            continue;
        e->number = 0;
        for (size_t i = 0; i < n; i++)
            e->number = e->number * 10 + (uint64_t)(e->name[at + i] - '0');
        e->stem = at;
        e->rest = at + n;
        return;
    }
}

#define SYMBOL_NUMBER 256
#define SYMBOL_END (-1)

/* Returns the next byte of the part of the name after the layer number. If a number begins there,
 * skips all its digits and returns SYMBOL_NUMBER. */
static int next_symbol(const entry *e, size_t *at)
{
    if (*at >= e->len)
        return SYMBOL_END;
    size_t n = number_at(e->name, e->len, *at);
    *at += n == 0 ? 1 : n;
    return n == 0 ? (unsigned char)e->name[*at - 1] : SYMBOL_NUMBER;
}

static int compare_rests(const entry *a, const entry *b)
{
    size_t i = a->rest, j = b->rest;
    for (;;) {
        int x = next_symbol(a, &i), y = next_symbol(b, &j);
        if (x != y)
            return x < y ? -1 : 1;
        if (x == SYMBOL_END)
            return 0;
    }
}

/* Adds the name of a row. `layer` replaces the layer number, and "{e}" every later number. `add`
 * adds the rest of the name, either in a form that is safe to display or unchanged.
 */
static void add_name(text *t, const entry *e, const char *layer,
                     void (*add)(text *t, const char *bytes, size_t n))
{
    add(t, e->name, e->stem);
    if (e->number == NO_LAYER)
        return;
    text_adds(t, layer);
    for (size_t at = e->rest; at < e->len;) {
        size_t from = at, end = at;
        while (end < e->len && next_symbol(e, &at) != SYMBOL_NUMBER)
            end = at;
        add(t, e->name + from, end - from);
        if (end < e->len)
            text_adds(t, "{e}");
    }
}

/* ---- combining layers ---- */

static int compare_stems(const entry *a, const entry *b)
{
    size_t n = a->stem < b->stem ? a->stem : b->stem;
    int order = n == 0 ? 0 : memcmp(a->name, b->name, n);
    return order != 0 ? order : compare_numbers(a->stem, b->stem);
}

static int compare_shapes(const entry *a, const entry *b)
{
    int order = compare_numbers(a->tensor.rank, b->tensor.rank);
    for (uint32_t i = 0; order == 0 && i < a->tensor.rank; i++)
        order = compare_numbers(a->tensor.shape[i], b->tensor.shape[i]);
    return order;
}

static int compare_entries(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    int order = compare_stems(a, b);
    if (order == 0)
        order = compare_numbers(a->number, b->number);
    if (order == 0)
        order = compare_rests(a, b);
    return order != 0 ? order : compare_shapes(a, b);
}

static bool is_same_layer(const row *a, const entry *b)
{
    return compare_stems(a->like, b) == 0 && a->last == b->number;
}

static bool is_alike(const row *a, const row *b)
{
    return compare_rests(a->like, b->like) == 0 && compare_shapes(a->like, b->like) == 0 &&
           a->parameters * (b->last - b->first + 1) == b->parameters * (a->last - a->first + 1) &&
           a->tensors * (b->last - b->first + 1) == b->tensors * (a->last - a->first + 1);
}

/* Combines the last layer, whose rows begin at `layer`, with the preceding layers, whose rows begin
 * at `before`, if they are equal. Returns true on success.
 */
static bool fold(folded *f, size_t before, size_t layer)
{
    size_t n = layer - before;
    const row *a = f->rows + before, *b = f->rows + layer;
    if (n == 0 || f->count - layer != n || a->last == NO_LAYER || b->first != a->last + 1 ||
        compare_stems(a->like, b->like) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_alike(a + i, b + i))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        row *to = f->rows + before + i;
        to->last = b[i].last;
        to->kinds |= b[i].kinds;
        to->tensors += b[i].tensors;
        to->parameters += b[i].parameters;
        to->bytes += b[i].bytes;
    }
    f->count = layer;
    return true;
}

static void add_entry(folded *f, size_t layer, const entry *e)
{
    row *last = f->count > layer ? &f->rows[f->count - 1] : NULL;
    if (last == NULL || compare_rests(last->like, e) != 0 || compare_shapes(last->like, e) != 0) {
        last = &f->rows[f->count++];
        *last = (row){.like = e, .first = e->number, .last = e->number};
    }
    last->kinds |= e->kind;
    last->tensors++;
    last->parameters += e->tensor.elements;
    last->bytes += e->tensor.bytes;
}

static folded fold_all(const inspection *in, const entry *entries, size_t count)
{
    folded f = {.in = in, .rows = need_memory(NULL, count, sizeof(row))};
    size_t before = 0, layer = 0;
    for (size_t i = 0; i < count; i++) {
        if (f.count > layer && !is_same_layer(&f.rows[f.count - 1], &entries[i])) {
            if (!fold(&f, before, layer))
                before = layer;
            layer = f.count;
        }
        add_entry(&f, layer, &entries[i]);
    }
    (void)fold(&f, before, layer);
    return f;
}

static uint64_t kind_bit(const inspection *in, const wb_tensor *tensor, const wb_encoding *encoding)
{
    size_t kind = inspection_kind(&in->totals, (int32_t)tensor->dtype, encoding);
    return (uint64_t)1 << (kind < KINDS ? kind : KINDS);
}

static void set_name(entry *e, const inspection *in, uint64_t index)
{
    e->name = inspection_canonical(in, index, &e->len);
    if (e->len == 0 || in->names != NAMES_CANONICAL) {
        e->name = e->tensor.name;
        e->len = e->tensor.name_len;
    }
    find_layer(e);
}

static entry *get_entries(const inspection *in, size_t *count)
{
    entry *entries = need_memory(NULL, (size_t)in->totals.all.tensors, sizeof *entries);
    *count = 0;
    for (uint64_t i = 0; i < wb_tensor_count(in->model); i++) {
        wb_tensor tensor;
        wb_encoding encoding;
        if (!inspection_tensor(in, i, &tensor, &encoding))
            continue;
        entry *e = &entries[(*count)++];
        *e = (entry){.tensor = tensor, .kind = kind_bit(in, &tensor, &encoding)};
        set_name(e, in, i);
    }
    if (*count > 0)
        qsort(entries, *count, sizeof *entries, compare_entries);
    return entries;
}

/* ---- output ---- */

/* Adds all types of a row, such as "Q4_K|Q6_K". */
static void add_kinds(text *t, const folded *f, const row *r)
{
    for (size_t i = 0; i <= KINDS; i++) {
        if ((r->kinds >> i & 1) == 0)
            continue;
        text_adds(t, t->len > 0 ? "|" : "");
        if (i == KINDS)
            text_adds(t, "others");
        else
            text_add_kind(t, f->in->totals.kinds[i].dtype, &f->in->totals.kinds[i].encoding);
    }
}

static void add_range(text *t, const row *r)
{
    if (r->first == NO_LAYER)
        return;
    text_addf(t, "%llu", (unsigned long long)r->first);
    if (r->last != r->first)
        text_addf(t, "-%llu", (unsigned long long)r->last);
}

static bool layer_row(void *ctx, uint64_t index, text cells[TABLE_COLUMNS])
{
    const folded *f = ctx;
    const row *r = &f->rows[index];
    add_range(&cells[0], r);
    add_name(&cells[1], r->like, "{n}", text_add_shown);
    add_kinds(&cells[2], f, r);
    text_add_shape(&cells[3], r->like->tensor.shape, r->like->tensor.rank);
    text_add_count(&cells[4], r->tensors);
    text_add_count(&cells[5], r->parameters);
    text_add_count(&cells[6], r->bytes);
    return true;
}

void print_layers(out *o, const inspection *in)
{
    size_t count;
    entry *entries = get_entries(in, &count);
    folded f = fold_all(in, entries, count);
    print_title(o, "Layers");
    table_print(o, &(table){.columns = 7,
                            .titles = {"layers", "name", "dtype", "shape", "tensors", "parameters",
                                       "bytes"},
                            .align = "lLlrrrr",
                            .rows = f.count,
                            .row = layer_row,
                            .ctx = &f});
    if (in->is_folded)
        out_printf(o, "  These are %llu tensors: --tensors shows each of them.\n",
                   (unsigned long long)count);
    free(f.rows);
    free(entries);
}

void layers_each(const inspection *in, void (*visit)(void *ctx, const layer_sums *row), void *ctx)
{
    size_t count;
    entry *entries = get_entries(in, &count);
    folded f = fold_all(in, entries, count);
    text name = {0}, range = {0}, kinds = {0};
    for (size_t i = 0; i < f.count; i++) {
        const row *r = &f.rows[i];
        text_clear(&name);
        text_clear(&range);
        text_clear(&kinds);
        text_adds(&range, "");
        add_range(&range, r);
        text_adds(&name, "");
        add_name(&name, r->like, range.ptr, text_add);
        add_kinds(&kinds, &f, r);
        visit(ctx, &(layer_sums){.name = name.ptr,
                                 .name_len = name.len,
                                 .kinds = kinds.ptr,
                                 .tensor = &r->like->tensor,
                                 .tensors = r->tensors,
                                 .parameters = r->parameters,
                                 .bytes = r->bytes});
    }
    text_free(&name);
    text_free(&range);
    text_free(&kinds);
    free(f.rows);
    free(entries);
}

static void json_layer(wb_json *json, const char *key, uint64_t layer)
{
    wb_json_key(json, key, SIZE_MAX);
    if (layer == NO_LAYER)
        wb_json_null(json);
    else
        wb_json_uint(json, layer);
}

void json_layers(wb_json *json, const inspection *in)
{
    size_t count;
    entry *entries = get_entries(in, &count);
    folded f = fold_all(in, entries, count);
    text t = {0};
    wb_json_key(json, "layers", SIZE_MAX);
    wb_json_begin(json, '[');
    for (size_t i = 0; i < f.count && !json->failed; i++) {
        const row *r = &f.rows[i];
        wb_json_begin(json, '{');
        json_layer(json, "first", r->first);
        json_layer(json, "last", r->last);
        text_clear(&t);
        add_name(&t, r->like, "{n}", text_add_shown);
        json_text(json, "name", t.ptr);
        text_clear(&t);
        add_kinds(&t, &f, r);
        json_text(json, "kind", t.ptr);
        wb_json_key(json, "shape", SIZE_MAX);
        wb_json_begin(json, '[');
        for (uint32_t d = 0; d < r->like->tensor.rank; d++)
            wb_json_uint(json, r->like->tensor.shape[d]);
        wb_json_end(json, ']');
        json_number(json, "tensors", r->tensors);
        json_number(json, "parameters", r->parameters);
        json_number(json, "bytes", r->bytes);
        wb_json_end(json, '}');
    }
    wb_json_end(json, ']');
    text_free(&t);
    free(f.rows);
    free(entries);
}

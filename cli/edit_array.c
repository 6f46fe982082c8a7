/* edit_array.c: parses metadata arrays from JSON. All elements are numbers, strings or booleans of
 * a single type.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "edit.h"

/* One element of the JSON array. */
typedef struct cell {
    wb_json_kind kind; /* STRING, UINT, NUMBER or BOOL */
    uint64_t number;   /* magnitude of an integer; STRING: offset in `strings` of the reader */
    double real;
    bool whole; /* the number is an integer; `number` is its magnitude */
    size_t len;
} cell;

typedef struct reader {
    cell *cells;
    size_t count, capacity;
    text strings;
    size_t depth;
    const char *fault;
} reader;

static int take(void *ctx, const wb_json_item *item)
{
    reader *r = ctx;
    if (item->kind == WB_JSON_ARRAY_END)
        return 0;
    if (item->kind == WB_JSON_ARRAY && r->depth++ == 0)
        return 0;
    if (r->depth != 1 || (item->kind != WB_JSON_STRING && item->kind != WB_JSON_UINT &&
                          item->kind != WB_JSON_NUMBER && item->kind != WB_JSON_BOOL)) {
        r->fault =
            r->depth == 0 ? "the value is not an array" : "the array contains objects or arrays";
        return 1;
    }
    if (r->count == r->capacity) {
        r->capacity = r->capacity == 0 ? 64 : 2 * r->capacity;
        r->cells = need_memory(r->cells, r->capacity, sizeof *r->cells);
    }
    cell *c = &r->cells[r->count++];
    *c = (cell){item->kind, item->number, item->real, item->whole != 0, item->len};
    if (item->kind == WB_JSON_STRING) {
        c->number = r->strings.len;
        text_add(&r->strings, item->text, item->len);
    }
    return 0;
}

/* ---- types ---- */

/* Stores the integer of an element in two's complement in *number. Returns false if the element is
 * not an integer or is less than -2^63.
 */
static bool as_int(const cell *c, uint64_t *number, bool *negative)
{
    *negative = c->kind == WB_JSON_NUMBER && c->real < 0;
    *number = *negative ? 0 - c->number : c->number;
    return c->whole && (!*negative || c->number <= UINT64_C(1) << 63);
}

static bool is_number(const cell *c)
{
    return c->kind == WB_JSON_UINT || c->kind == WB_JSON_NUMBER;
}

static bool holds(wb_meta_type type, uint32_t bits, const cell *c)
{
    uint64_t number;
    bool negative;
    switch (type) {
    case WB_META_STRING: return c->kind == WB_JSON_STRING;
    case WB_META_BOOL: return c->kind == WB_JSON_BOOL;
    case WB_META_FLOAT:
        return is_number(c) && isfinite(c->real) && (c->real != 0 || c->whole) &&
               edit_fits_float(c->real, bits);
    case WB_META_UINT:
        return as_int(c, &number, &negative) && !negative && (bits == 64 || number >> bits == 0);
    case WB_META_INT:
        if (!as_int(c, &number, &negative))
            return false;
        return negative ? bits == 64 || (int64_t)number >= -((int64_t)1 << (bits - 1))
                        : number >> (bits - 1) == 0;
    default: return false;
    }
}

static bool hold(wb_meta_type type, uint32_t bits, const reader *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (!holds(type, bits, &r->cells[i]))
            return false;
    }
    return true;
}

/* Guesses the element type: the first type in `order` that can represent all elements. GGUF tools
 * choose the same types for such lists. If integers are too large for every integer type, no type
 * is guessed, because floats would lose digits.
 */
static bool guess(const reader *r, bool has_point, wb_value *value)
{
    static const struct {
        wb_meta_type type;
        uint32_t bits;
    } order[] = {{WB_META_STRING, 0}, {WB_META_BOOL, 0},  {WB_META_INT, 32},  {WB_META_UINT, 32},
                 {WB_META_INT, 64},   {WB_META_UINT, 64}, {WB_META_FLOAT, 32}};
    for (size_t i = 0; i < sizeof order / sizeof order[0] && r->count != 0; i++) {
        bool whole = order[i].type == WB_META_INT || order[i].type == WB_META_UINT;
        if ((whole && has_point) || (order[i].type == WB_META_FLOAT && !has_point) ||
            !hold(order[i].type, order[i].bits, r))
            continue;
        value->element = order[i].type;
        value->bits = order[i].bits;
        return true;
    }
    return false;
}

static bool are_numbers(const reader *r)
{
    bool all = r->count != 0;
    for (size_t i = 0; i < r->count && all; i++)
        all = is_number(&r->cells[i]);
    return all;
}

/* ---- values ---- */

static void put(uint8_t *to, wb_meta_type type, uint32_t bits, const cell *c)
{
    uint64_t number = c->number;
    float single = (float)c->real;
    bool negative;
    if (type == WB_META_FLOAT) {
        memcpy(to, bits == 32 ? (const void *)&single : (const void *)&c->real, bits / 8);
        return;
    }
    if (type != WB_META_BOOL)
        (void)as_int(c, &number, &negative);
    const uint8_t narrow = (uint8_t)number;
    const uint16_t half = (uint16_t)number;
    const uint32_t word = (uint32_t)number;
    memcpy(to,
           bits == 64   ? (const void *)&number
           : bits == 32 ? (const void *)&word
           : bits == 16 ? (const void *)&half
                        : (const void *)&narrow,
           bits / 8);
}

static void build(reader *r, edit_value *to)
{
    wb_value *value = &to->value;
    uint32_t bits = value->element == WB_META_BOOL ? 8 : value->bits;
    value->count = r->count;
    if (value->element == WB_META_STRING) {
        const char **items = need_memory(NULL, r->count + 1, sizeof *items);
        to->lens = need_memory(NULL, r->count + 1, sizeof *to->lens);
        to->strings = r->strings;
        r->strings = (text){0};
        for (size_t i = 0; i < r->count; i++) {
            items[i] = to->strings.ptr + r->cells[i].number;
            to->lens[i] = r->cells[i].len;
        }
        to->items = items;
    } else {
        uint8_t *items = need_memory(NULL, r->count + 1, bits / 8);
        for (size_t i = 0; i < r->count; i++)
            put(items + i * (bits / 8), value->element, bits, &r->cells[i]);
        to->items = items;
    }
    value->items = to->items;
    value->lens = to->lens;
}

const char *edit_read_array(const char *json, size_t n, edit_value *to)
{
    reader r = {0};
    wb_value *value = &to->value;
    bool has_point = memchr(json, '.', n) != NULL || memchr(json, 'e', n) != NULL ||
                     memchr(json, 'E', n) != NULL;
    text_adds(&r.strings, "");
    wb_status status = wb_json_walk(json, n, take, &r, NULL);
    if (status != WB_OK && r.fault == NULL)
        r.fault = "the key has an array as value: write it as in JSON: [1, 2], [\"a\", \"b\"]";
    else if (status == WB_OK && value->element == WB_META_ARRAY)
        r.fault = "arrays of arrays cannot be set from the command line";
    else if (status == WB_OK && value->element == 0 && !guess(&r, has_point, value)) {
        to->of_numbers = are_numbers(&r);
        r.fault =
            "the array is empty or has elements of several types: add the type, as in i32[]:[]";
    } else if (status == WB_OK && !hold(value->element, value->bits, &r))
        r.fault = "an element does not fit the type of the array";
    if (r.fault == NULL)
        build(&r, to);
    free(r.cells);
    text_free(&r.strings);
    return r.fault;
}

/*
 * Compares the configs and the metadata of two models. A key that only one model has counts as a
 * difference only if both models use the same format, because each format has keys that other
 * formats cannot represent.
 */
#include "diff/diff.h"

#include <math.h>

#include "handle/derived_meta.h"

#define NESTED_MAX 32 /* nesting limit of arrays; deeper arrays count as different */
#define STRIDE 64     /* number of array elements that are compared at a time */

/* Config fields that are not compared, because they describe how values are stored, not the model
 * itself. */
static const wb_config_field storage_fields[] = {WB_CONFIG_ROPE_LAYOUT, WB_CONFIG_NORM_OFFSET,
                                                 WB_CONFIG_QUANT_BITS, WB_CONFIG_QUANT_GROUP_SIZE};

static bool is_storage_field(uint32_t field)
{
    for (size_t i = 0; i < sizeof storage_fields / sizeof storage_fields[0]; i++) {
        if (storage_fields[i] == field)
            return true;
    }
    return false;
}

static bool same_field(const wb_config_value *x, const wb_config_value *y)
{
    if (x->text != NULL || y->text != NULL)
        return x->text != NULL && y->text != NULL && strcmp(x->text, y->text) == 0;
    if (!x->is_float)
        return x->number == y->number;
    return x->real == y->real || (isnan(x->real) && isnan(y->real));
}

static wb_status compare_configs(wb_diff *diff, wb__context *context, bool one_format)
{
    wb_config a = {.size = sizeof a}, b = {.size = sizeof b};
    wb_status status = wb_config_get(diff->a, &a, context->error);
    if (status == WB_OK)
        status = wb_config_get(diff->b, &b, context->error);
    for (uint32_t field = 0; field < WB_CONFIG_FIELDS && status == WB_OK; field++) {
        wb_config_value x = {.size = sizeof x}, y = {.size = sizeof y};
        if (is_storage_field(field) || wb_config_at(&a, field, &x) != WB_OK ||
            wb_config_at(&b, field, &y) != WB_OK)
            continue;
        bool has_x = x.origin != WB_ORIGIN_ABSENT, has_y = y.origin != WB_ORIGIN_ABSENT;
        bool differs = has_x && has_y ? !same_field(&x, &y) : has_x != has_y && one_format;
        diff->fields[field] = differs;
        diff->differs |= differs ? WB_DIFF_CONFIG : 0;
    }
    return status;
}

/* ---- metadata ---- */

static bool is_number(wb_meta_type type)
{
    return type == WB_META_INT || type == WB_META_UINT;
}

/*
 * Returns true if two numbers are equal, or both are NaN. `narrow` is true if at least one of them
 * is stored in 32 bits. Both are then rounded to 32 bits, because the same number may be stored in
 * 64 bits in the other model.
 */
static bool same_float(double x, double y, bool narrow)
{
    if (x != x || y != y)
        return x != x && y != y;
    return narrow ? (float)x == (float)y : x == y;
}

static bool same_array(const wb_meta_array *a, const wb_meta_array *b, unsigned depth);

static bool same_element_arrays(const wb_meta_array *a, const wb_meta_array *b, unsigned depth)
{
    for (uint64_t i = 0; i < a->count; i++) {
        wb_meta_array x = {.size = sizeof x}, y = {.size = sizeof y};
        if (depth == NESTED_MAX || wb_meta_array_at(a, i, &x) != WB_OK ||
            wb_meta_array_at(b, i, &y) != WB_OK || !same_array(&x, &y, depth + 1))
            return false;
    }
    return true;
}

static bool same_strings(const wb_meta_array *a, const wb_meta_array *b, uint64_t first, uint64_t n)
{
    const char *x[STRIDE], *y[STRIDE];
    size_t x_len[STRIDE], y_len[STRIDE];
    if (wb_meta_strings(a, first, n, x, x_len) != WB_OK ||
        wb_meta_strings(b, first, n, y, y_len) != WB_OK)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (!wb__str_equal((wb__str){x[i], x_len[i]}, (wb__str){y[i], y_len[i]}))
            return false;
    }
    return true;
}

static bool same_floats(const wb_meta_array *a, const wb_meta_array *b, uint64_t first, uint64_t n)
{
    double x[STRIDE], y[STRIDE];
    bool narrow = a->bits == 32 || b->bits == 32;
    if (wb_meta_floats(a, first, n, x) != WB_OK || wb_meta_floats(b, first, n, y) != WB_OK)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (!same_float(x[i], y[i], narrow))
            return false;
    }
    return true;
}

/* Compares signed integers, unsigned integers and booleans. */
static bool same_ints(const wb_meta_array *a, const wb_meta_array *b, uint64_t first, uint64_t n)
{
    int64_t x[STRIDE], y[STRIDE];
    if (wb_meta_ints(a, first, n, x) == WB_OK && wb_meta_ints(b, first, n, y) == WB_OK)
        return memcmp(x, y, (size_t)n * sizeof x[0]) == 0;
    uint64_t v[STRIDE], w[STRIDE]; /* buffers for values above 2^63 - 1 */
    return wb_meta_uints(a, first, n, v) == WB_OK && wb_meta_uints(b, first, n, w) == WB_OK &&
           memcmp(v, w, (size_t)n * sizeof v[0]) == 0;
}

static bool same_array(const wb_meta_array *a, const wb_meta_array *b, unsigned depth)
{
    if (a->count != b->count)
        return false;
    if (a->count == 0 || (a->base == b->base && a->data == b->data && a->array == b->array))
        return true; /* both arrays are empty, or both refer to the same data */
    if (a->element != b->element && !(is_number(a->element) && is_number(b->element)))
        return false;
    if (a->element == WB_META_ARRAY)
        return same_element_arrays(a, b, depth);
    for (uint64_t first = 0; first < a->count; first += STRIDE) {
        uint64_t n = a->count - first < STRIDE ? a->count - first : STRIDE;
        bool same = a->element == WB_META_STRING  ? same_strings(a, b, first, n)
                    : a->element == WB_META_FLOAT ? same_floats(a, b, first, n)
                                                  : same_ints(a, b, first, n);
        if (!same)
            return false;
    }
    return true;
}

static bool same_string(const wb_diff *diff, const wb_meta *x, const wb_meta *y)
{
    const char *v, *w;
    size_t v_len = 0, w_len = 0;
    return wb_meta_get_string(diff->a, x->key, x->key_len, &v, &v_len, NULL) == WB_OK &&
           wb_meta_get_string(diff->b, y->key, y->key_len, &w, &w_len, NULL) == WB_OK &&
           wb__str_equal((wb__str){v, v_len}, (wb__str){w, w_len});
}

static bool same_bool(const wb_diff *diff, const wb_meta *x, const wb_meta *y)
{
    int v, w;
    return wb_meta_get_bool(diff->a, x->key, x->key_len, &v, NULL) == WB_OK &&
           wb_meta_get_bool(diff->b, y->key, y->key_len, &w, NULL) == WB_OK && v == w;
}

/* Compares as integers if both values are integers, otherwise as floats. */
static bool same_number(const wb_diff *diff, const wb_meta *x, const wb_meta *y)
{
    int64_t i, j;
    uint64_t u, v;
    double d, e;
    if (is_number(x->type) && is_number(y->type)) {
        if (wb_meta_get_uint(diff->a, x->key, x->key_len, &u, NULL) == WB_OK)
            return wb_meta_get_uint(diff->b, y->key, y->key_len, &v, NULL) == WB_OK && u == v;
        return wb_meta_get_int(diff->a, x->key, x->key_len, &i, NULL) == WB_OK &&
               wb_meta_get_int(diff->b, y->key, y->key_len, &j, NULL) == WB_OK && i == j;
    }
    bool narrow =
        (x->type == WB_META_FLOAT && x->bits == 32) || (y->type == WB_META_FLOAT && y->bits == 32);
    return wb_meta_get_float(diff->a, x->key, x->key_len, &d, NULL) == WB_OK &&
           wb_meta_get_float(diff->b, y->key, y->key_len, &e, NULL) == WB_OK &&
           same_float(d, e, narrow);
}

static bool same_meta(const wb_diff *diff, const wb_meta *x, const wb_meta *y)
{
    wb_meta_array a = {.size = sizeof a}, b = {.size = sizeof b};
    switch (x->type) {
    case WB_META_STRING: return y->type == WB_META_STRING && same_string(diff, x, y);
    case WB_META_BOOL: return y->type == WB_META_BOOL && same_bool(diff, x, y);
    case WB_META_ARRAY:
        return y->type == WB_META_ARRAY &&
               wb_meta_get_array(diff->a, x->key, x->key_len, WB_META_ANY, &a, NULL) == WB_OK &&
               wb_meta_get_array(diff->b, y->key, y->key_len, WB_META_ANY, &b, NULL) == WB_OK &&
               same_array(&a, &b, 0);
    default: return (is_number(y->type) || y->type == WB_META_FLOAT) && same_number(diff, x, y);
    }
}

static wb_status add_meta(wb_diff *diff, wb__context *context, uint64_t a, uint64_t b)
{
    void *items = diff->metas;
    if (!wb__grow(&diff->allocator, &items, &diff->meta_capacity, sizeof *diff->metas,
                  diff->meta_count + 1, SIZE_MAX / sizeof *diff->metas))
        return wb__fail_memory(context);
    diff->metas = items;
    diff->metas[diff->meta_count++] = (wb__meta_pair){a, b};
    diff->differs |= WB_DIFF_METADATA;
    return WB_OK;
}

static wb_status compare_metadata(wb_diff *diff, wb__context *context, bool one_format)
{
    wb_meta x = {.size = sizeof x}, y = {.size = sizeof y};
    /* Compute derived metadata before the loops, to report WB_ERROR_MEMORY. The loops below end at
     * any error of wb_meta_at, without reporting it. */
    const wb__derived_meta *derived;
    uint64_t other;
    wb_status status = wb__derived_meta_of(diff->a, context, &derived);
    if (status == WB_OK)
        status = wb__derived_meta_of(diff->b, context, &derived);
    for (uint64_t i = 0; status == WB_OK && wb_meta_at(diff->a, i, &x, NULL) == WB_OK; i++) {
        wb_status found = wb_meta_find(diff->b, x.key, x.key_len, &other);
        if (found == WB_ERROR_MEMORY)
            return wb__fail_memory(context);
        bool both = found == WB_OK && wb_meta_at(diff->b, other, &y, NULL) == WB_OK;
        if (both ? !same_meta(diff, &x, &y) : one_format)
            status = add_meta(diff, context, i, both ? other : UINT64_MAX);
    }
    for (uint64_t i = 0; status == WB_OK && one_format && wb_meta_at(diff->b, i, &y, NULL) == WB_OK;
         i++) {
        wb_status found = wb_meta_find(diff->a, y.key, y.key_len, &other);
        if (found == WB_ERROR_MEMORY)
            return wb__fail_memory(context);
        if (found != WB_OK)
            status = add_meta(diff, context, UINT64_MAX, i);
    }
    return status;
}

wb_status wb__diff_facts(wb_diff *diff, wb__context *context)
{
    bool one_format = strcmp(wb_format(diff->a), wb_format(diff->b)) == 0;
    wb_status status = WB_OK;
    if (diff->kinds & WB_DIFF_CONFIG)
        status = compare_configs(diff, context, one_format);
    if (status == WB_OK && diff->kinds & WB_DIFF_METADATA)
        status = compare_metadata(diff, context, one_format);
    return status;
}

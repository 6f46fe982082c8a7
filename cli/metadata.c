#include "metadata.h"

#include <string.h>

#include "values.h"

#define STRING_BYTES 160 /* maximum number of bytes shown of a long string */
#define ELEMENTS 8       /* maximum number of elements shown of an array */
#define DEEPEST 32       /* nesting limit; deeper arrays are shown empty */
#define BATCH 256

/* A scalar value or an array. */
typedef struct value {
    wb_meta_type type;
    uint32_t bits;
    const char *string;
    size_t len;
    int64_t signed_number;
    uint64_t number; /* also holds BOOL values */
    double real;
    wb_meta_array array;
} value;

/* Output of a value: text or JSON. */
typedef struct receiver {
    text *text;
    wb_json *json; /* NULL: write text */
    bool is_whole;
    unsigned depth;
} receiver;

/* ---- one value ---- */

static void put_string(receiver *to, const char *string, size_t n)
{
    size_t shown = n;
    if (to->json != NULL) {
        wb_json_string(to->json, string, n);
        return;
    }
    if (!to->is_whole && n > STRING_BYTES) {
        shown = STRING_BYTES;
        while (shown > 0 && ((unsigned char)string[shown] & 0xC0) == 0x80)
            shown--; /* truncate at a UTF-8 character boundary */
    }
    if (to->depth > 0)
        text_adds(to->text, "\"");
    text_add_shown(to->text, string, shown);
    if (to->depth > 0)
        text_adds(to->text, "\"");
    if (shown < n) {
        text_adds(to->text, "... (");
        text_add_size(to->text, n);
        text_adds(to->text, ")");
    }
}

static void put_real(receiver *to, double real, uint32_t bits)
{
    if (to->json != NULL)
        wb_json_double(to->json, real);
    else if (bits == 64)
        text_add_f64(to->text, real);
    else
        text_add_f32(to->text, (float)real);
}

static void put_array(receiver *to, const wb_meta_array *array);

static void put_value(receiver *to, const value *v)
{
    wb_json *json = to->json;
    switch (v->type) {
    case WB_META_STRING: put_string(to, v->string, v->len); break;
    case WB_META_FLOAT: put_real(to, v->real, v->bits); break;
    case WB_META_ARRAY: put_array(to, &v->array); break;
    case WB_META_INT:
        if (json != NULL)
            wb_json_int(json, v->signed_number);
        else
            text_addf(to->text, "%lld", (long long)v->signed_number);
        break;
    case WB_META_UINT:
        if (json != NULL)
            wb_json_uint(json, v->number);
        else
            text_addf(to->text, "%llu", (unsigned long long)v->number);
        break;
    case WB_META_BOOL:
        if (json != NULL)
            wb_json_bool(json, v->number != 0);
        else
            text_adds(to->text, v->number != 0 ? "true" : "false");
        break;
    case WB_META_ANY: break; /* no value has this type */
    }
}

/* ---- arrays ---- */

typedef struct batch {
    const char *strings[BATCH];
    size_t lens[BATCH];
    union {
        int64_t signed_numbers[BATCH];
        uint64_t numbers[BATCH];
        double reals[BATCH];
    } of;
} batch;

static bool get_batch(const wb_meta_array *array, uint64_t first, uint64_t n, batch *b)
{
    switch (array->element) {
    case WB_META_STRING: return wb_meta_strings(array, first, n, b->strings, b->lens) == WB_OK;
    case WB_META_INT: return wb_meta_ints(array, first, n, b->of.signed_numbers) == WB_OK;
    case WB_META_UINT:
    case WB_META_BOOL: return wb_meta_uints(array, first, n, b->of.numbers) == WB_OK;
    case WB_META_FLOAT: return wb_meta_floats(array, first, n, b->of.reals) == WB_OK;
    case WB_META_ARRAY: return true;
    case WB_META_ANY: break; /* an empty array */
    }
    return false;
}

static bool get_element(const wb_meta_array *array, uint64_t index, const batch *b, value *v)
{
    size_t i = (size_t)(index % BATCH);
    *v = (value){.type = array->element, .bits = array->bits};
    switch (array->element) {
    case WB_META_STRING:
        v->string = b->strings[i];
        v->len = b->lens[i];
        return true;
    case WB_META_INT: v->signed_number = b->of.signed_numbers[i]; return true;
    case WB_META_UINT:
    case WB_META_BOOL: v->number = b->of.numbers[i]; return true;
    case WB_META_FLOAT: v->real = b->of.reals[i]; return true;
    case WB_META_ARRAY:
        v->array.size = sizeof v->array;
        return wb_meta_array_at(array, index, &v->array) == WB_OK;
    case WB_META_ANY: break;
    }
    return false;
}

static void put_elements(receiver *to, const wb_meta_array *array, uint64_t count)
{
    batch b;
    for (uint64_t i = 0; i < count; i++) {
        value v;
        uint64_t n = count - i < BATCH ? count - i : BATCH;
        if ((i % BATCH == 0 && !get_batch(array, i, n, &b)) || !get_element(array, i, &b, &v))
            return;
        if (to->json == NULL && i > 0)
            text_adds(to->text, ", ");
        put_value(to, &v);
        if (to->json != NULL && to->json->failed)
            return;
    }
}

static void put_array(receiver *to, const wb_meta_array *array)
{
    bool is_cut = to->json == NULL && !to->is_whole && array->count > ELEMENTS;
    uint64_t count = is_cut ? ELEMENTS : array->count;
    if (to->depth == DEEPEST)
        count = 0;
    to->depth++;
    if (to->json != NULL)
        wb_json_begin(to->json, '[');
    else
        text_adds(to->text, "[");
    put_elements(to, array, count);
    if (is_cut) {
        text_adds(to->text, ", ... (");
        text_add_count(to->text, array->count);
        text_adds(to->text, ")");
    }
    if (to->json != NULL)
        wb_json_end(to->json, ']');
    else
        text_adds(to->text, "]");
    to->depth--;
}

/* ---- entries ---- */

static bool get_entry(const wb_model *model, const wb_meta *meta, value *v)
{
    const char *key = meta->key;
    size_t n = meta->key_len;
    int truth = 0;
    wb_status status = WB_ERROR_TYPE;
    *v = (value){.type = meta->type, .bits = meta->bits, .array = {.size = sizeof v->array}};
    switch (meta->type) {
    case WB_META_STRING:
        status = wb_meta_get_string(model, key, n, &v->string, &v->len, NULL);
        break;
    case WB_META_INT: status = wb_meta_get_int(model, key, n, &v->signed_number, NULL); break;
    case WB_META_UINT: status = wb_meta_get_uint(model, key, n, &v->number, NULL); break;
    case WB_META_FLOAT: status = wb_meta_get_float(model, key, n, &v->real, NULL); break;
    case WB_META_ARRAY:
        status = wb_meta_get_array(model, key, n, WB_META_ANY, &v->array, NULL);
        break;
    case WB_META_BOOL:
        status = wb_meta_get_bool(model, key, n, &truth, NULL);
        v->number = truth != 0;
        break;
    case WB_META_ANY: break; /* no value has this type */
    }
    return status == WB_OK;
}

void text_add_meta(text *t, const wb_model *model, const wb_meta *meta, bool is_whole)
{
    receiver to = {.text = t, .is_whole = is_whole};
    value v;
    if (get_entry(model, meta, &v))
        put_value(&to, &v);
}

void json_meta(wb_json *json, const wb_model *model, const wb_meta *meta)
{
    receiver to = {.json = json, .is_whole = true};
    value v;
    if (get_entry(model, meta, &v))
        put_value(&to, &v);
    else
        wb_json_null(json);
}

uint64_t metadata_of_files(const wb_model *model)
{
    /* Binary search: entries from the weight files precede entries derived from them and from
     * sidecar files.
     */
    uint64_t low = 0, high = wb_meta_count(model);
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        wb_meta meta = WB_META_INIT;
        if (wb_meta_at(model, middle, &meta, NULL) == WB_OK && meta.file != WB_NO_FILE)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

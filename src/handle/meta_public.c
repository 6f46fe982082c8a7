#include "core/call_options.h"
#include "handle/derived_meta.h"
#include "handle/handle_messages.h"

/* ---- entries ---- */

/* Returns the derived metadata, or NULL if memory runs out. */
static const wb__derived_meta *told_of(const wb_model *model)
{
    wb_error spare;
    const wb__derived_meta *derived;
    wb__context context = wb__context_of(model, wb__error_reset(NULL, &spare));
    return wb__derived_meta_of(model, &context, &derived) == WB_OK ? derived : NULL;
}

uint64_t wb_meta_count(const wb_model *model)
{
    const wb__derived_meta *derived = told_of(model);
    return model->catalog.metas.count + (derived == NULL ? 0 : derived->model.metas.count);
}

wb_status wb_meta_at(const wb_model *model, uint64_t index, wb_meta *caller, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb_meta own, *out = WB__OUT(wb_meta, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_meta, caller);
    const wb__catalog *in;
    const wb__meta *meta;
    wb_status status = wb__derived_meta_entry(model, &context, index, &in, &meta);
    if (status != WB_OK)
        return status;
    wb__str key = wb__meta_key(in, meta);
    out->key = key.ptr;
    out->key_len = key.len;
    out->type = (wb_meta_type)meta->type;
    out->file = in == &model->catalog ? meta->file : WB_NO_FILE;
    out->bits = meta->bits;
    out->count = 1;
    if (meta->type == WB_META_STRING) {
        out->count = meta->value.len;
    } else if (meta->type == WB_META_ARRAY) {
        const wb__array *array = meta->value.array;
        out->element = (wb_meta_type)array->element;
        out->bits = array->bits;
        out->count = array->count;
    }
    WB__GIVE(wb_meta, caller, out);
    return WB_OK;
}

wb_status wb_meta_find(const wb_model *model, const char *key, size_t key_len, uint64_t *index)
{
    wb_error spare;
    const wb__derived_meta *derived;
    wb__str name = wb__str_from(key, key_len);
    uint32_t entry = wb__catalog_find_entry(&model->catalog, name);
    *index = entry == WB__NO_META ? 0 : entry;
    if (entry != WB__NO_META)
        return WB_OK;
    wb__context context = wb__context_of(model, wb__error_reset(NULL, &spare));
    wb_status status = wb__derived_meta_of(model, &context, &derived);
    if (status != WB_OK)
        return status;
    entry = wb__catalog_find_entry(&derived->model, name);
    if (entry == WB__NO_META)
        return WB_ERROR_NOT_FOUND;
    *index = model->catalog.metas.count + entry;
    return WB_OK;
}

/* ---- single values ---- */

typedef struct lookup {
    wb__context context;
    wb_error spare;
    wb__str key;
    const wb__catalog *in; /* the catalog that contains the entry */
    const wb__meta *meta;
} lookup;

/* Finds the entry of a key. Fails with WB_ERROR_NOT_FOUND. */
static wb_status look_up(lookup *call, const wb_model *model, const char *key, size_t key_len,
                         wb_error *error)
{
    call->context = wb__context_of(model, wb__error_reset(error, &call->spare));
    call->key = wb__str_from(key, key_len);
    call->in = &model->catalog;
    call->meta = wb__catalog_find_meta(call->in, call->key);
    if (call->meta != NULL)
        return WB_OK;
    const wb__derived_meta *derived;
    wb_status status = wb__derived_meta_of(model, &call->context, &derived);
    if (status != WB_OK)
        return status;
    call->in = &derived->model;
    call->meta = wb__catalog_find_meta(call->in, call->key);
    if (call->meta != NULL)
        return WB_OK;
    return wb__fail(&call->context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                    call->key, WB__MSG_HANDLE_NO_KEY);
}

static const char *type_name(unsigned type)
{
    static const char *const names[] = {"nothing", "a string",  "an integer", "an integer",
                                        "a float", "a boolean", "an array"};
    return type < sizeof names / sizeof names[0] ? names[type] : names[0];
}

static wb_status fail_type(lookup *call, const char *asked)
{
    const wb__meta *meta = call->meta;
    if (meta->type == WB_META_ARRAY)
        return wb__fail(&call->context, WB_ERROR_TYPE, WB__FINDING_META_TYPE, WB_NO_OFFSET,
                        call->key, WB__MSG_HANDLE_META_ARRAY_TYPE,
                        type_name(meta->value.array->element), asked);
    return wb__fail(&call->context, WB_ERROR_TYPE, WB__FINDING_META_TYPE, WB_NO_OFFSET, call->key,
                    WB__MSG_HANDLE_META_TYPE, type_name(meta->type), asked);
}

static wb_status fail_range(lookup *call, const char *asked)
{
    return wb__fail(&call->context, WB_ERROR_TYPE, WB__FINDING_META_TYPE, WB_NO_OFFSET, call->key,
                    WB__MSG_HANDLE_META_RANGE, asked);
}

static bool is_integer(unsigned type)
{
    return type == WB_META_INT || type == WB_META_UINT;
}

wb_status wb_meta_get_string(const wb_model *model, const char *key, size_t key_len,
                             const char **value, size_t *value_len, wb_error *error)
{
    lookup call;
    wb_status status = look_up(&call, model, key, key_len, error);
    *value = NULL;
    *value_len = 0;
    if (status != WB_OK)
        return status;
    if (call.meta->type != WB_META_STRING)
        return fail_type(&call, "a string");
    wb__str text = wb__meta_text(call.in, call.meta);
    *value = text.ptr;
    *value_len = text.len;
    return WB_OK;
}

wb_status wb_meta_get_int(const wb_model *model, const char *key, size_t key_len, int64_t *value,
                          wb_error *error)
{
    lookup call;
    wb_status status = look_up(&call, model, key, key_len, error);
    *value = 0;
    if (status != WB_OK)
        return status;
    if (!is_integer(call.meta->type))
        return fail_type(&call, "an integer");
    if (call.meta->type == WB_META_UINT && call.meta->value.number > INT64_MAX)
        return fail_range(&call, WB__MSG_HANDLE_META_INT);
    *value = (int64_t)call.meta->value.number;
    return WB_OK;
}

wb_status wb_meta_get_uint(const wb_model *model, const char *key, size_t key_len, uint64_t *value,
                           wb_error *error)
{
    lookup call;
    wb_status status = look_up(&call, model, key, key_len, error);
    *value = 0;
    if (status != WB_OK)
        return status;
    if (!is_integer(call.meta->type))
        return fail_type(&call, "an integer");
    if (call.meta->type == WB_META_INT && (int64_t)call.meta->value.number < 0)
        return fail_range(&call, WB__MSG_HANDLE_META_UINT);
    *value = call.meta->value.number;
    return WB_OK;
}

static double float_of(uint64_t number, unsigned bits)
{
    uint32_t half = (uint32_t)number;
    float narrow;
    double wide;
    if (bits == 32) {
        memcpy(&narrow, &half, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, &number, sizeof wide);
    return wide;
}

wb_status wb_meta_get_float(const wb_model *model, const char *key, size_t key_len, double *value,
                            wb_error *error)
{
    lookup call;
    wb_status status = look_up(&call, model, key, key_len, error);
    *value = 0;
    if (status != WB_OK)
        return status;
    uint64_t number = call.meta->value.number;
    if (call.meta->type == WB_META_FLOAT) {
        *value = float_of(number, call.meta->bits);
        return WB_OK;
    }
    if (!is_integer(call.meta->type))
        return fail_type(&call, "a float");
    bool negative = call.meta->type == WB_META_INT && (int64_t)number < 0;
    uint64_t magnitude = negative ? 0 - number : number;
    if (magnitude > UINT64_C(1) << 53)
        return fail_range(&call, "a float");
    *value = negative ? -(double)magnitude : (double)magnitude;
    return WB_OK;
}

wb_status wb_meta_get_bool(const wb_model *model, const char *key, size_t key_len, int *value,
                           wb_error *error)
{
    lookup call;
    wb_status status = look_up(&call, model, key, key_len, error);
    *value = 0;
    if (status != WB_OK)
        return status;
    if (call.meta->type != WB_META_BOOL)
        return fail_type(&call, "a boolean");
    *value = call.meta->value.number != 0;
    return WB_OK;
}

/* ---- values with a default ---- */

const char *wb_meta_get_string_or(const wb_model *model, const char *key, size_t key_len,
                                  const char *fallback)
{
    const char *value;
    size_t len;
    return wb_meta_get_string(model, key, key_len, &value, &len, NULL) == WB_OK ? value : fallback;
}

int64_t wb_meta_get_int_or(const wb_model *model, const char *key, size_t key_len, int64_t fallback)
{
    int64_t value;
    return wb_meta_get_int(model, key, key_len, &value, NULL) == WB_OK ? value : fallback;
}

uint64_t wb_meta_get_uint_or(const wb_model *model, const char *key, size_t key_len,
                             uint64_t fallback)
{
    uint64_t value;
    return wb_meta_get_uint(model, key, key_len, &value, NULL) == WB_OK ? value : fallback;
}

double wb_meta_get_float_or(const wb_model *model, const char *key, size_t key_len, double fallback)
{
    double value;
    return wb_meta_get_float(model, key, key_len, &value, NULL) == WB_OK ? value : fallback;
}

int wb_meta_get_bool_or(const wb_model *model, const char *key, size_t key_len, int fallback)
{
    int value;
    return wb_meta_get_bool(model, key, key_len, &value, NULL) == WB_OK ? value : fallback;
}

/* ---- arrays ---- */

/* Writes the description of `array` to the struct of the caller. `out` is the struct that
 * WB__OUT (core/abi.h) returned for `caller`. */
static void describe_array(const wb__array *array, const uint8_t *base, wb_meta_array *caller,
                           wb_meta_array *out)
{
    out->element = (wb_meta_type)array->element;
    out->bits = array->bits;
    out->count = array->count;
    out->data = array->bits > 0 ? base + array->at : NULL;
    out->array = array;
    out->base = base;
    WB__GIVE(wb_meta_array, caller, out);
}

/* Returns true if the type that the caller requested includes elements of type `element`. */
static bool is_wanted(wb_meta_type wanted, unsigned element)
{
    return wanted == WB_META_ANY || wanted == element ||
           (is_integer(wanted) && is_integer(element));
}

static const char *array_name(wb_meta_type wanted)
{
    static const char *const names[] = {
        [WB_META_ANY] = "an array",
        [WB_META_STRING] = WB__MSG_HANDLE_META_STRINGS,
        [WB_META_INT] = WB__MSG_HANDLE_META_INTS,
        [WB_META_UINT] = WB__MSG_HANDLE_META_INTS,
        [WB_META_FLOAT] = WB__MSG_HANDLE_META_FLOATS,
        [WB_META_BOOL] = WB__MSG_HANDLE_META_BOOLS,
        [WB_META_ARRAY] = WB__MSG_HANDLE_META_ARRAYS,
    };
    return names[wanted];
}

wb_status wb_meta_get_array(const wb_model *model, const char *key, size_t key_len,
                            wb_meta_type element, wb_meta_array *array, wb_error *error)
{
    lookup call;
    wb_status status = look_up(&call, model, key, key_len, error);
    wb_meta_array own, *out = WB__OUT(wb_meta_array, array, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&call.context, wb_meta_array, array);
    if ((unsigned)element > WB_META_ARRAY)
        return wb__fail_argument(&call.context, WB__MSG_HANDLE_META_ELEMENT);
    if (status != WB_OK)
        return status;
    if (call.meta->type != WB_META_ARRAY || !is_wanted(element, call.meta->value.array->element))
        return fail_type(&call, array_name(element));
    describe_array(call.meta->value.array, wb__meta_base(call.in, call.meta), array, out);
    return WB_OK;
}

/* ---- elements ---- */

static wb_status check_elements(const wb_meta_array *array, uint64_t first, uint64_t count,
                                bool fits)
{
    if (array == NULL || !wb__abi_fits(WB__ABI_wb_meta_array, array->size) ||
        array->array == NULL || !fits)
        return WB_ERROR_ARGUMENT;
    return wb__in_range(first, count, array->count) ? WB_OK : WB_ERROR_NOT_FOUND;
}

wb_status wb_meta_strings(const wb_meta_array *array, uint64_t first, uint64_t count,
                          const char **values, size_t *lens)
{
    wb_status status =
        check_elements(array, first, count, array != NULL && array->element == WB_META_STRING);
    wb__str string = {NULL, 0};
    if (status != WB_OK)
        return status;
    for (uint64_t i = 0; i < count; i++) {
        string = i == 0 ? wb__array_string(array->array, array->base, first)
                        : wb__array_next_string(string);
        if (values != NULL)
            values[i] = string.ptr;
        if (lens != NULL)
            lens[i] = string.len;
    }
    return WB_OK;
}

wb_status wb_meta_string_at(const wb_meta_array *array, uint64_t index, const char **value,
                            size_t *value_len)
{
    *value = NULL;
    *value_len = 0;
    return wb_meta_strings(array, index, 1, value, value_len);
}

/* Returns element i of an integer array, sign-extended. */
static uint64_t integer_at(const wb_meta_array *array, uint64_t i)
{
    const uint8_t *p = (const uint8_t *)array->data + (size_t)i * (array->bits / 8);
    bool is_signed = array->element == WB_META_INT;
    switch (array->bits) {
    case 8: return is_signed ? (uint64_t)(int8_t)p[0] : p[0];
    case 16: return is_signed ? (uint64_t)(int16_t)wb__load_le16(p) : wb__load_le16(p);
    case 32: return is_signed ? (uint64_t)(int32_t)wb__load_le32(p) : wb__load_le32(p);
    default: return wb__load_le64(p);
    }
}

static bool has_integers(const wb_meta_array *array)
{
    return array != NULL && (is_integer(array->element) || array->element == WB_META_BOOL);
}

wb_status wb_meta_ints(const wb_meta_array *array, uint64_t first, uint64_t count, int64_t *values)
{
    wb_status status = check_elements(array, first, count, has_integers(array));
    for (uint64_t i = 0; status == WB_OK && i < count; i++) {
        uint64_t number = integer_at(array, first + i);
        if (array->element == WB_META_UINT && number > INT64_MAX)
            status = WB_ERROR_TYPE;
        values[i] = (int64_t)number;
    }
    return status;
}

wb_status wb_meta_uints(const wb_meta_array *array, uint64_t first, uint64_t count,
                        uint64_t *values)
{
    wb_status status = check_elements(array, first, count, has_integers(array));
    for (uint64_t i = 0; status == WB_OK && i < count; i++) {
        values[i] = integer_at(array, first + i);
        if (array->element == WB_META_INT && (int64_t)values[i] < 0)
            status = WB_ERROR_TYPE;
    }
    return status;
}

wb_status wb_meta_floats(const wb_meta_array *array, uint64_t first, uint64_t count, double *values)
{
    wb_status status =
        check_elements(array, first, count, array != NULL && array->element == WB_META_FLOAT);
    for (uint64_t i = 0; status == WB_OK && i < count; i++)
        values[i] = float_of(integer_at(array, first + i), array->bits);
    return status;
}

wb_status wb_meta_array_at(const wb_meta_array *array, uint64_t index, wb_meta_array *element)
{
    wb_meta_array own, *out = WB__OUT(wb_meta_array, element, &own);
    if (out == NULL)
        return WB_ERROR_ARGUMENT;
    wb_status status =
        check_elements(array, index, 1, array != NULL && array->element == WB_META_ARRAY);
    if (status != WB_OK)
        return status;
    const wb__array *outer = array->array;
    describe_array(&outer->of.elements[index], array->base, element, out);
    return WB_OK;
}

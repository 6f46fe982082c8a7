/*
 * The public functions for reading and writing JSON.
 */
#include "core/call_options.h"
#include "weighbridge/experimental.h"
#include "json/json.h"

static bool pass_on(void *ctx, const char *text, size_t n)
{
    const wb_json *json = ctx;
    return json->write(json->ctx, text, n) == 0;
}

static wb__json_writer writer_of(wb_json *json)
{
    return (wb__json_writer){.write = pass_on,
                             .ctx = json,
                             .for_display = true,
                             .failed = json->failed != 0,
                             .after_value = json->after_value != 0,
                             .after_key = json->after_key != 0};
}

static void keep(wb_json *json, const wb__json_writer *writer)
{
    json->failed = writer->failed;
    json->after_value = writer->after_value;
    json->after_key = writer->after_key;
}

#define FORWARD(call)                                                                              \
    do {                                                                                           \
        wb__json_writer writer = writer_of(json);                                                  \
        call;                                                                                      \
        keep(json, &writer);                                                                       \
    } while (0)

void wb_json_begin(wb_json *json, char bracket)
{
    FORWARD(wb__json_write_begin(&writer, bracket));
}

void wb_json_end(wb_json *json, char bracket)
{
    FORWARD(wb__json_write_end(&writer, bracket));
}

void wb_json_key(wb_json *json, const char *key, size_t len)
{
    FORWARD(wb__json_write_key_str(&writer, wb__str_from(key, len)));
}

void wb_json_string(wb_json *json, const char *text, size_t len)
{
    FORWARD(wb__json_write_str(&writer, wb__str_from(text, len)));
}

void wb_json_uint(wb_json *json, uint64_t value)
{
    FORWARD(wb__json_write_uint(&writer, value));
}

void wb_json_int(wb_json *json, int64_t value)
{
    FORWARD(wb__json_write_int(&writer, value));
}

void wb_json_double(wb_json *json, double value)
{
    FORWARD(wb__json_write_double(&writer, value));
}

void wb_json_bool(wb_json *json, int value)
{
    FORWARD(wb__json_write_bool(&writer, value != 0));
}

void wb_json_null(wb_json *json)
{
    FORWARD(wb__json_write_null(&writer));
}

/*
 * Sets *magnitude to the exact magnitude of a number. Returns false if the number has a fraction or
 * its magnitude is 2^64 or more.
 */
static bool whole_of(const wb__decimal *decimal, uint64_t *magnitude)
{
    uint64_t value = 0;
    size_t places = decimal->exponent > 0 ? (size_t)decimal->exponent : 0;
    if (decimal->count != 0 && (decimal->exponent > 20 || decimal->more))
        return false;
    for (size_t i = places; i < decimal->count; i++) {
        if (decimal->digits[i] != 0)
            return false;
    }
    for (size_t i = 0; i < places && decimal->count != 0; i++) {
        uint64_t digit = i < decimal->count ? decimal->digits[i] : 0;
        if (value > UINT64_MAX / 10 || (value == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
            return false;
        value = value * 10 + digit;
    }
    *magnitude = value;
    return true;
}

static bool describe(const wb__json *json, wb_json_item *item)
{
    static const wb_json_kind kinds[] = {
        [WB__JSON_OBJECT] = WB_JSON_OBJECT, [WB__JSON_OBJECT_END] = WB_JSON_OBJECT_END,
        [WB__JSON_ARRAY] = WB_JSON_ARRAY,   [WB__JSON_ARRAY_END] = WB_JSON_ARRAY_END,
        [WB__JSON_KEY] = WB_JSON_KEY,       [WB__JSON_STRING] = WB_JSON_STRING,
        [WB__JSON_UINT] = WB_JSON_UINT,     [WB__JSON_REAL] = WB_JSON_NUMBER,
        [WB__JSON_TRUE] = WB_JSON_BOOL,     [WB__JSON_FALSE] = WB_JSON_BOOL,
        [WB__JSON_NULL] = WB_JSON_NULL};
    *item = (wb_json_item){.size = sizeof *item, .kind = kinds[json->token]};
    switch (json->token) {
    case WB__JSON_KEY:
    case WB__JSON_STRING:
        item->text = json->text.ptr;
        item->len = json->text.len;
        break;
    case WB__JSON_UINT:
    case WB__JSON_REAL: {
        uint64_t bits = wb__json_real_bits(json);
        memcpy(&item->real, &bits, sizeof bits);
        item->whole = json->token == WB__JSON_UINT || whole_of(&json->decimal, &item->number);
        if (json->token == WB__JSON_UINT)
            item->number = json->uint;
        break;
    }
    case WB__JSON_TRUE: item->number = 1; break;
    default: break;
    }
    return item->kind != 0;
}

/* Skips white space. Returns true if nothing else is left. */
static bool skip_to_end(wb__cursor *cursor)
{
    int c = wb__cursor_peek(cursor);
    for (; c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = wb__cursor_peek(cursor))
        cursor->p++;
    return c < 0;
}

static wb_status fail_json(wb__context *context, uint64_t at, const char *what)
{
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_CONFIG_JSON, at, WB__STR(""), "%s", what);
}

wb_status wb_json_walk(const char *text, size_t n, int (*each)(void *ctx, const wb_json_item *item),
                       void *ctx, wb_error *error)
{
    wb_error spare;
    wb__context context;
    wb_status status = wb__context_init(&context, NULL, wb__error_reset(error, &spare));
    if (status != WB_OK)
        return status;
    wb__cursor cursor = wb__cursor_over(text, n);
    wb__json json;
    wb__json_start(&json, &cursor, &context.allocator);
    while (status == WB_OK && wb__json_next(&json) > WB__JSON_END) {
        wb_json_item item;
        if (describe(&json, &item) && each(ctx, &item) != 0)
            status = wb__fail(&context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                              WB__STR(""), "cancelled by the callback");
    }
    if (status == WB_OK && json.token == WB__JSON_FAULT)
        status = json.fault == WB__JSON_FAULT_MEMORY
                     ? wb__fail_memory(&context)
                     : fail_json(&context, json.at, wb__json_fault_text(json.fault));
    else if (status == WB_OK && !skip_to_end(&cursor))
        status = fail_json(&context, wb__cursor_at(&cursor), "text follows the JSON value");
    wb__json_stop(&json);
    return status;
}

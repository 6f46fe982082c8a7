/* weighbridge/experimental.h: arguments checked, then down. */
#include "weighbridge/experimental.h"

#include "handle/semantics.h"
#include "io/sink.h"
#include "model/padding_tensor.h"
#include "open/open.h"
#include "write/write.h"
#include "json/json.h"

/* ---- sinks ---- */

static wb_status begin(wb__context *context, const wb_allocator *allocator, wb_error *error)
{
    const wb_open_options options = {.size = sizeof options, .allocator = allocator};
    return wb__context_init(context, &options, error);
}

wb_status wb_sink_open(const char *path, uint64_t expected, const wb_allocator *allocator,
                       wb_sink **sink, wb_error *error)
{
    wb_error spare;
    wb__context context;
    *sink = NULL;
    wb_status status = begin(&context, allocator, wb__error_reset(error, &spare));
    return status != WB_OK ? status : wb__sink_open(&context, path, expected, sink);
}

wb_status wb_sink_open_fd(int fd, const char *label, const wb_allocator *allocator, wb_sink **sink,
                          wb_error *error)
{
    wb_error spare;
    wb__context context;
    *sink = NULL;
    wb_status status = begin(&context, allocator, wb__error_reset(error, &spare));
    return status != WB_OK ? status : wb__sink_open_fd(&context, fd, label, sink);
}

wb_status wb_sink_write(wb_sink *sink, const void *bytes, size_t n, wb_error *error)
{
    wb_error spare;
    wb__context context;
    wb_status status = begin(&context, NULL, wb__error_reset(error, &spare));
    return status != WB_OK ? status : wb__sink_write(&context, sink, bytes, n);
}

wb_status wb_sink_commit(wb_sink *sink, wb_error *error)
{
    wb_error spare;
    wb__context context;
    wb_status status = begin(&context, NULL, wb__error_reset(error, &spare));
    return status != WB_OK ? status : wb__sink_commit(&context, sink);
}

void wb_sink_discard(wb_sink *sink)
{
    wb__sink_discard(sink);
}

/* ---- write-behind ---- */

wb_status wb_writeback_open(wb_writer *writer, uint32_t slots, wb_writeback **behind,
                            wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writer_context(writer, wb__error_reset(error, &spare));
    return wb__writeback_open(&context, writer, slots, behind);
}

wb_status wb_writeback_put(wb_writeback *behind, uint32_t slot, uint64_t index, uint64_t offset,
                           const void *bytes, size_t n, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writeback_context(behind, wb__error_reset(error, &spare));
    const wb__put put = {index, offset, bytes, n};
    return wb__writeback_put(&context, behind, slot, &put);
}

wb_status wb_writeback_wait(wb_writeback *behind, uint32_t slot, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__writeback_context(behind, wb__error_reset(error, &spare));
    return wb__writeback_wait(&context, behind, slot);
}

int wb_writeback_is_busy(wb_writeback *behind, uint32_t slot)
{
    return wb__writeback_is_busy(behind, slot);
}

void wb_writeback_free(wb_writeback *behind)
{
    wb__writeback_free(behind);
}

/* ---- tensors ---- */

const char *wb_sidecar_name(size_t i)
{
    return wb__sidecar_name(i);
}

int wb_tensor_is_padding(const wb_tensor *tensor)
{
    return tensor->dtype == WB_DTYPE_U8 &&
           wb__is_padding_tensor((wb__str){tensor->name, tensor->name_len});
}

/* ---- JSON ---- */

static bool pass_on(void *ctx, const char *text, size_t n)
{
    const wb_json *json = ctx;
    return json->write(json->ctx, text, n) == 0;
}

static wb__json_writer writer_of(wb_json *json)
{
    return (wb__json_writer){.write = pass_on,
                             .ctx = json,
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

/* The magnitude of a number that has no fraction and is below 2^64, to the last digit. */
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

/* True if nothing but white space is left. */
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
    wb_status status = begin(&context, NULL, wb__error_reset(error, &spare));
    if (status != WB_OK)
        return status;
    wb__cursor cursor = wb__cursor_over(text, n);
    wb__json json;
    wb__json_start(&json, &cursor, &context.allocator);
    while (status == WB_OK && wb__json_next(&json) > WB__JSON_END) {
        wb_json_item item;
        if (describe(&json, &item) && each(ctx, &item) != 0)
            status = wb__fail(&context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                              WB__STR(""), "stopped on request");
    }
    if (status == WB_OK && json.token == WB__JSON_FAULT)
        status = json.fault == WB__JSON_FAULT_MEMORY
                     ? wb__fail_memory(&context)
                     : fail_json(&context, json.at, wb__json_fault_text(json.fault));
    else if (status == WB_OK && !skip_to_end(&cursor))
        status = fail_json(&context, wb__cursor_at(&cursor), "there is more behind the JSON value");
    wb__json_stop(&json);
    return status;
}

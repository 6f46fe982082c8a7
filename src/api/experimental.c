/* weighbridge/experimental.h: arguments checked, then down. */
#include "weighbridge/experimental.h"

#include "io/sink.h"
#include "open/open.h"
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

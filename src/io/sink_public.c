/*
 * Public functions of sinks. They check the arguments and call the functions in sink.h.
 */
#include "core/call_options.h"
#include "io/sink.h"
#include "weighbridge/experimental.h"

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

wb_status wb_sink_write_at(wb_sink *sink, uint64_t offset, const void *bytes, size_t n,
                           wb_error *error)
{
    wb_error spare;
    wb__context context;
    wb_status status = begin(&context, NULL, wb__error_reset(error, &spare));
    return status != WB_OK ? status : wb__sink_write_at(&context, sink, offset, bytes, n);
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

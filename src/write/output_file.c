/*
 * Opens the temporary file of an output, writes its header and padding, and makes it durable.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/sink.h"
#include "write/ollama/store.h"
#include "write/write.h"
#include "write/write_messages.h"

wb_status wb__writer_open(wb__context *context, const wb_writer *writer, const char *path,
                          bool kept, uint64_t expected, wb_sink **sink)
{
    char *now = wb__path_now(&context->allocator, writer, path);
    if (now == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__sink_open_as(context, now, path, kept, expected, sink);
    wb__free(&context->allocator, now, strlen(now) + 1);
    return status;
}

wb_status wb__output_write_header(wb__context *context, wb_writer *writer, wb__output *output)
{
    const wb__buffer *header = &output->layout.header;
    bool is_stream = !wb__sink_is_file(output->sink);
    if (output->layout.has_checksums && is_stream != output->layout.is_stream)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_WRITE_ARCHIVE_STREAM);
    if (output->layout.pieces != NULL)
        return WB_OK;
    if (wb__sink_is_file(output->sink)) {
        int os_error = wb__sink_place(output->sink, 0, header->bytes, header->n);
        return os_error == 0 ? WB_OK : wb__fail_os(context, os_error, WB__MSG_WRITE_FILE);
    }
    writer->stream_at = header->n;
    return wb__sink_write(context, output->sink, header->bytes, header->n);
}

/* Returns the number of an output in its set of files. If the set has an index file, the index
 * file has number 0 and the outputs begin at 1. */
static uint64_t member_of(const wb_writer *writer, const wb__output *output)
{
    return (uint64_t)(output - writer->outputs) + (writer->index_path != NULL);
}

wb_status wb__put_padding(wb__context *context, wb_writer *writer, wb__output *output, uint64_t to)
{
    static const uint8_t zeros[4096];
    const wb__out_file *layout = &output->layout;
    wb_status status = WB_OK;
    while (writer->stream_at < to && status == WB_OK) {
        uint64_t left = to - writer->stream_at;
        size_t n = left < sizeof zeros ? (size_t)left : sizeof zeros;
        const uint8_t *bytes = zeros;
        if (layout->pieces != NULL) { /* the pieces of the header fill all gaps between tensors */
            const wb__out_piece *piece = &layout->pieces[writer->stream_piece++];
            bytes = layout->header.bytes + piece->from;
            n = piece->n;
        }
        status = wb__sink_write(context, output->sink, bytes, n);
        writer->stream_at += n;
    }
    return status;
}

/* Opens the temporary file of an output. */
static wb_status open_file(wb__context *context, const wb_writer *writer, wb__output *output)
{
    bool kept = (writer->flags & WB_WRITE_KEEP) != 0;
    char *now = wb__output_path_now(&context->allocator, writer, output);
    if (now == NULL)
        return wb__fail_memory(context);
    wb_status status = kept && writer->is_store ? wb__partial_own(context, now) : WB_OK;
    if (status == WB_OK)
        status =
            wb__sink_open_as(context, now, output->path, kept, output->layout.bytes, &output->sink);
    wb__free(&context->allocator, now, strlen(now) + 1);
    return status;
}

wb_status wb__output_open(wb__context *context, wb_writer *writer, wb__output *output)
{
    wb_status status = open_file(context, writer, output);
    if (status != WB_OK)
        return status;
    if (wb__writer_is_set(writer))
        wb__sink_keep_others(output->sink, writer->set, member_of(writer, output));
    else if (!(writer->flags & WB_WRITE_FORCE) && writer->folder == NULL && !writer->is_store)
        wb__sink_keep_old(output->sink);
    context->file = output->path;
    status = wb__output_write_header(context, writer, output);
    context->file = "";
    return status;
}

wb_status wb__output_finish(wb__context *context, wb_writer *writer, wb__output *output)
{
    wb_status status = WB_OK;
    if (output->finished)
        return WB_OK;
    if (output->sink == NULL)
        status = wb__output_open(context, writer, output);
    if (status == WB_OK && output->layout.pieces != NULL && wb__sink_is_file(output->sink))
        status = wb__interleaved_finish(context, writer, output);
    if (status == WB_OK && !wb__sink_is_file(output->sink))
        status = wb__put_padding(context, writer, output, output->layout.bytes);
    if (status == WB_OK && writer->is_store && writer->whole == NULL)
        status = wb__store_digest(context, output);
    if (status == WB_OK)
        status = wb__sink_finish(context, output->sink, output->layout.bytes);
    if (status == WB_OK && writer->output_count > 1)
        wb__sink_park(output->sink, writer->claims[writer->folder_at != NULL]);
    output->finished = status == WB_OK;
    return status;
}

/* Number of bytes that are synced between two progress reports. */
#define SETTLED_BYTES ((uint64_t)64 << 20)

/* Syncs a file in pieces of SETTLED_BYTES bytes, so that the progress callback can cancel
 * between two pieces. */
static wb_status settle(wb__context *context, const wb_writer *writer, const wb__output *output)
{
    uint64_t bytes = output->layout.bytes;
    wb_status status = WB_OK;
    if (writer->progress.report == NULL || output->sink == NULL || !wb__sink_is_file(output->sink))
        return WB_OK;
    for (uint64_t at = 0; at < bytes && status == WB_OK;) {
        uint64_t n = bytes - at < SETTLED_BYTES ? bytes - at : SETTLED_BYTES;
        int os_error = wb__sink_settle(output->sink, at, n);
        context->file = output->path;
        if (os_error != 0)
            status = wb__fail_os(context, os_error, WB__MSG_WRITE_FILE);
        context->file = "";
        at += n;
        if (status == WB_OK)
            status = wb__writer_hear(context, writer, WB__ALL_BYTES);
    }
    return status;
}

wb_status wb__outputs_finish(wb__context *context, wb_writer *writer)
{
    uint64_t taken;
    wb_status status = WB_OK;
    if (writer->whole != NULL && !writer->outputs[0].filled)
        status = wb__copy_file_fill(context, writer, false, &taken);
    for (size_t i = 0; i < writer->output_count && status == WB_OK; i++) {
        wb__output *output = &writer->outputs[i];
        if (output->finished)
            continue;
        status = settle(context, writer, output);
        if (status == WB_OK)
            status = wb__output_finish(context, writer, output);
    }
    return status;
}

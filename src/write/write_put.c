/*
 * Writes tensor bytes at their offsets, and records which bytes are written. The records ensure
 * that no byte is written twice and that commit fails if a byte is missing.
 */
#include "core/call_options.h"
#include "dtype/dtype_block.h"
#include "write/write.h"
#include "write/write_messages.h"

#define STAGE_BYTES ((size_t)16 << 10)
/* Number of written bytes after which write-back to disk is requested. */
#define DIRTY_MAX ((uint64_t)32 << 20)

/* ---- records of written bytes ---- */

static wb_status fail_twice(wb__context *context, const wb__outgoing *tensor, uint64_t at)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_TWICE, WB_NO_OFFSET,
                    tensor->out.name, WB__MSG_WRITE_BYTE_TWICE, (unsigned long long)at);
}

/* Extends tensor->done by the recorded ranges that follow it without a gap, and removes these
 * ranges. */
static void absorb(wb__outgoing *tensor)
{
    size_t taken = 0;
    while (taken < tensor->piece_count && tensor->pieces[taken].begin == tensor->done)
        tensor->done = tensor->pieces[taken++].end;
    tensor->piece_count -= taken;
    if (taken != 0)
        memmove(tensor->pieces, tensor->pieces + taken,
                tensor->piece_count * sizeof *tensor->pieces);
}

static wb_status insert(wb__context *context, const wb_allocator *allocator, wb__outgoing *tensor,
                        uint64_t begin, uint64_t end)
{
    wb__byte_interval *pieces = tensor->pieces;
    size_t at = tensor->piece_count;
    /* Most ranges arrive in order, so this loop usually ends at once. */
    while (at > 0 && pieces[at - 1].begin >= begin)
        at--;
    if (at > 0 && pieces[at - 1].end > begin)
        return fail_twice(context, tensor, begin);
    if (at < tensor->piece_count && pieces[at].begin < end)
        return fail_twice(context, tensor, pieces[at].begin);
    if (at > 0 && pieces[at - 1].end == begin) {
        pieces[at - 1].end = end;
    } else {
        if (!wb__grow(allocator, (void **)&tensor->pieces, &tensor->piece_capacity, sizeof *pieces,
                      tensor->piece_count + 1, SIZE_MAX / sizeof *pieces))
            return wb__fail_memory(context);
        pieces = tensor->pieces;
        memmove(pieces + at + 1, pieces + at, (tensor->piece_count++ - at) * sizeof *pieces);
        pieces[at++] = (wb__byte_interval){begin, end};
    }
    if (at < tensor->piece_count && pieces[at].begin == end) {
        pieces[at - 1].end = pieces[at].end;
        memmove(pieces + at, pieces + at + 1, (--tensor->piece_count - at) * sizeof *pieces);
    }
    return WB_OK;
}

static wb_status take(wb__context *context, wb_writer *writer, wb__outgoing *tensor, uint64_t begin,
                      uint64_t end)
{
    if (begin < tensor->done)
        return fail_twice(context, tensor, begin);
    if (begin > tensor->done)
        return insert(context, &writer->allocator, tensor, begin, end);
    if (tensor->piece_count != 0 && tensor->pieces[0].begin < end)
        return fail_twice(context, tensor, tensor->pieces[0].begin);
    tensor->done = end;
    absorb(tensor);
    return WB_OK;
}

/* ---- streams ---- */

/* Fails unless `offset` is the next byte that the stream expects. */
static wb_status check_order(wb__context *context, wb_writer *writer,
                             const wb__write_position *place, uint64_t offset)
{
    const wb__outgoing *next = NULL;
    while (writer->stream_next < writer->tensors.count) {
        /* The cast is valid, because `out` is the first member of wb__outgoing. */
        next = (const wb__outgoing *)writer->order[writer->stream_next];
        if (next->done < next->out.bytes)
            break;
        writer->stream_next++;
    }
    if (next == place->tensor && offset == place->tensor->done)
        return WB_OK;
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_WRITE_ORDER, WB_NO_OFFSET,
                    place->tensor->out.name, WB__MSG_WRITE_STREAM_ORDER);
}

/* ---- wb__put_begin, wb__put, wb__put_end ---- */

/* Checks that n bytes of a tensor may be written, and records the bytes as written. The caller
 * holds the lock. */
static wb_status admit(wb__context *context, wb_writer *writer, wb__write_position *place,
                       uint64_t offset, uint64_t n)
{
    wb__output *output = place->output;
    wb_status status = WB_OK;
    if (writer->failure.status != WB_OK) {
        *context->error = writer->failure;
        return writer->failure.status;
    }
    bool is_open = output->sink != NULL;
    if (is_open && !wb__sink_is_file(output->sink))
        status = check_order(context, writer, place, offset);
    if (status == WB_OK)
        status = take(context, writer, place->tensor, offset, offset + n);
    if (status != WB_OK)
        return status;
    if (!is_open)
        status = wb__output_open(context, writer, output);
    else if (!wb__sink_is_file(output->sink))
        status = wb__put_padding(context, writer, output, place->at);
    if (status != WB_OK)
        writer->failure = *context->error;
    return status;
}

wb_status wb__put_begin(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                        uint64_t n, wb__write_position *place)
{
    if (atomic_load(&writer->state) != WB__WRITING)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_WRITE_PUT_STATE);
    if (index >= writer->tensors.count)
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_WRITE_NO_TENSOR, (unsigned long long)index);
    place->tensor = wb__writer_tensor(writer, index);
    place->output = &writer->outputs[place->tensor->file];
    place->at = place->tensor->out.begin + offset;
    if (!wb__in_range(offset, n, place->tensor->out.bytes))
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                        place->tensor->out.name, WB__MSG_WRITE_TENSOR_END,
                        (unsigned long long)place->tensor->out.bytes);
    (void)pthread_mutex_lock(&writer->lock);
    wb_status status = admit(context, writer, place, offset, n);
    if (status != WB_OK || wb__sink_is_file(place->output->sink))
        (void)pthread_mutex_unlock(&writer->lock);
    return status;
}

wb_status wb__put_end(wb__context *context, wb_writer *writer, const wb__write_position *place,
                      uint64_t n, wb_status status)
{
    wb__output *output = place->output;
    bool is_file = wb__sink_is_file(output->sink);
    if (is_file)
        (void)pthread_mutex_lock(&writer->lock);
    if (status != WB_OK && writer->failure.status == WB_OK)
        writer->failure = *context->error;
    output->dirty += n;
    if (is_file && output->dirty >= DIRTY_MAX) {
        output->dirty = 0;
        (void)pthread_mutex_unlock(&writer->lock);
        /* The lock is not needed to keep the file open: the bytes of this thread still count as
         * missing, so no other thread can finish the file. */
        wb__sink_hasten(output->sink);
        (void)pthread_mutex_lock(&writer->lock);
    }
    output->left -= n;
    bool is_last = status == WB_OK && output->left == 0 && writer->output_count > 1;
    (void)pthread_mutex_unlock(&writer->lock);
    if (!is_last)
        return status;
    /* All bytes of the file are written, so no other thread uses it. The file is finished now,
     * while other files are still being written. */
    status = wb__output_finish(context, writer, output);
    if (status != WB_OK) {
        (void)pthread_mutex_lock(&writer->lock);
        if (writer->failure.status == WB_OK)
            writer->failure = *context->error;
        (void)pthread_mutex_unlock(&writer->lock);
    }
    return status;
}

wb_status wb__put_bytes(wb__context *context, wb_writer *writer, const wb__write_position *place,
                        uint64_t at, const void *bytes, size_t n)
{
    wb__output *output = place->output;
    if (!wb__sink_is_file(output->sink)) {
        writer->stream_at += n;
        wb__interleaved_add(writer, output, place->tensor, bytes, n);
        return wb__sink_write(context, output->sink, bytes, n);
    }
    int os_error = wb__sink_place(output->sink, at, bytes, n);
    if (os_error == 0)
        return WB_OK;
    context->file = output->path;
    return wb__fail_os(context, os_error, WB__MSG_WRITE_FILE);
}

static wb_status write_swapped(wb__context *context, wb_writer *writer,
                               const wb__write_position *place, const uint8_t *bytes, size_t n)
{
    uint8_t stage[STAGE_BYTES];
    const wb__dtype *dtype = place->tensor->out.dtype;
    size_t unit = wb__dtype_unit_bytes(dtype);
    size_t most = sizeof stage / unit * unit;
    wb_status status = WB_OK;
    for (size_t done = 0; done < n && status == WB_OK;) {
        size_t piece = n - done < most ? n - done : most;
        memcpy(stage, bytes + done, piece);
        wb__dtype_swap(dtype, stage, piece / unit);
        status = wb__put_bytes(context, writer, place, place->at + done, stage, piece);
        done += piece;
    }
    return status;
}

wb_status wb__writer_left(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                          void *dst, size_t n)
{
    if (atomic_load(&writer->state) != WB__WRITING || index >= writer->tensors.count ||
        !wb__in_range(offset, n, wb__writer_tensor(writer, index)->out.bytes))
        return wb__fail_argument(context, WB__MSG_WRITE_RANGE);
    const wb__outgoing *tensor = wb__writer_tensor(writer, index);
    wb__output *output = &writer->outputs[tensor->file];
    wb_status status = WB_OK;
    (void)pthread_mutex_lock(&writer->lock);
    if (output->sink == NULL)
        status = wb__output_open(context, writer, output);
    (void)pthread_mutex_unlock(&writer->lock);
    if (status == WB_OK && (output->finished || !wb__sink_is_file(output->sink)))
        return wb__fail_argument(context, WB__MSG_WRITE_RANGE_GONE);
    int os_error =
        status == WB_OK ? wb__sink_read(output->sink, tensor->out.begin + offset, dst, n) : 0;
    return os_error == 0 ? status : wb__fail_os(context, os_error, WB__MSG_WRITE_READ);
}

wb_status wb__writer_take(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                          uint64_t n)
{
    wb__write_position place;
    if (n == 0)
        return WB_OK;
    wb_status status = wb__put_begin(context, writer, index, offset, n, &place);
    return status == WB_OK ? wb__put_end(context, writer, &place, n, status) : status;
}

wb_status wb__writer_put(wb__context *context, wb_writer *writer, uint64_t index, uint64_t offset,
                         const void *bytes, size_t n)
{
    wb__write_position place;
    bool swap = (writer->flags & WB_WRITE_BIG_ENDIAN) != 0;
    if (n == 0)
        return WB_OK;
    if (swap && index < writer->tensors.count) {
        const wb__outgoing *tensor = wb__writer_tensor(writer, index);
        size_t unit = wb__dtype_unit_bytes(tensor->out.dtype);
        if (offset % unit != 0 || n % unit != 0)
            return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                            tensor->out.name, WB__MSG_WRITE_SWAP_UNITS, unit);
    }
    wb_status status = wb__put_begin(context, writer, index, offset, n, &place);
    if (status != WB_OK)
        return status;
    status = swap ? write_swapped(context, writer, &place, bytes, n)
                  : wb__put_bytes(context, writer, &place, place.at, bytes, n);
    return wb__put_end(context, writer, &place, n, status);
}

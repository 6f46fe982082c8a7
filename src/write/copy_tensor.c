/*
 * Copies tensors of a model to the output. If source and output store a tensor with the same byte
 * order and layout, its bytes are copied from file to file. Otherwise, and for streams, its bytes
 * are copied in pieces through memory, which converts them.
 */
#include "core/call_options.h"
#include "dtype/dtype_block.h"
#include "read/read.h"
#include "write/write.h"
#include "write/write_messages.h"

#define PIECE_BYTES ((size_t)1 << 20)

static wb_status copy_pieces(wb__context *context, const wb__copy *copy, const wb__kind *kind)
{
    size_t unit = wb__dtype_unit_bytes(kind->dtype);
    size_t capacity = PIECE_BYTES / unit * unit;
    uint8_t *bytes = wb__alloc(&context->allocator, capacity);
    wb_status status = WB_OK;
    if (bytes == NULL)
        return wb__fail_memory(context);
    for (uint64_t done = 0; done < kind->bytes && status == WB_OK;) {
        uint64_t left = kind->bytes - done;
        size_t n = left < capacity ? (size_t)left : capacity;
        wb__selection selection;
        wb_slice slice = {.size = sizeof slice,
                          .first = wb__dtype_elements(kind->dtype, done),
                          .count = wb__dtype_elements(kind->dtype, n)};
        status = wb__selection_make(copy->model, context, copy->tensor, &slice, -1, &selection);
        if (status == WB_OK)
            status = wb__read_selection(copy->model, context, &selection, bytes);
        if (status == WB_OK)
            status =
                wb__writer_put(context, copy->writer, copy->index, copy->offset + done, bytes, n);
        done += n;
    }
    wb__free(&context->allocator, bytes, capacity);
    return status;
}

static wb_status copy_bytes(wb__context *context, const wb__copy *copy, size_t stored,
                            uint64_t bytes)
{
    wb__write_position place;
    const wb__catalog *in = &copy->model->catalog;
    const wb__source *source = copy->model->sources[wb__catalog_file_of(in, stored)];
    if (bytes == 0)
        return WB_OK;
    wb_status status =
        wb__put_begin(context, copy->writer, copy->index, copy->offset, bytes, &place);
    if (status != WB_OK)
        return status;
    status = wb__sink_copy(context, place.output->sink, place.at, source,
                           wb__catalog_offset_of(in, stored), bytes);
    return wb__put_end(context, copy->writer, &place, bytes, status);
}

/* Fails unless the declared tensor has the type and the size of the source tensor. If the source
 * tensor is a part of the declared tensor, it must fit into the declared tensor at the offset. */
static wb_status check(wb__context *context, const wb__copy *copy, const wb__kind *kind)
{
    if (copy->index >= copy->writer->tensors.count)
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_WRITE_NO_TENSOR, (unsigned long long)copy->index);
    const wb__out_tensor *out = &wb__writer_tensor(copy->writer, copy->index)->out;
    bool fits = copy->is_part ? wb__in_range(copy->offset, kind->bytes, out->bytes)
                              : kind->bytes == out->bytes;
    if (kind->dtype == out->dtype && fits)
        return WB_OK;
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, out->name,
                    WB__MSG_WRITE_COPY_MISMATCH, (unsigned long long)out->bytes, out->dtype->name,
                    (unsigned long long)kind->bytes, kind->dtype->name);
}

wb_status wb__writer_copy(wb__context *context, const wb__copy *copy)
{
    const wb__packed *packed;
    size_t stored;
    const wb__catalog *in = &copy->model->catalog;
    wb_status status = wb__resolve(copy->model, context, copy->tensor, &stored, &packed);
    if (status != WB_OK)
        return status;
    if (packed != NULL)
        return wb__fail_argument(context, WB__MSG_WRITE_COPY_PARTS);
    const wb__kind *kind = wb__table_kind_of(&in->table, stored);
    status = check(context, copy, kind);
    if (status != WB_OK)
        return status;
    const wb_writer *writer = copy->writer;
    const wb__storing *storing = wb__catalog_storing_of(in, stored);
    bool moved = storing != NULL && (storing->deflated || storing->columns);
    bool swap = (writer->flags & WB_WRITE_BIG_ENDIAN) != 0;
    /* A stream has one output, whose sink wb_writer_begin or wb_writer_begin_fd has opened. */
    bool is_stream = writer->output_count == 1 && writer->outputs[0].sink != NULL &&
                     !wb__sink_is_file(writer->outputs[0].sink);
    return wb__catalog_is_swapped(in, stored) != swap || moved || is_stream
               ? copy_pieces(context, copy, kind)
               : copy_bytes(context, copy, stored, kind->bytes);
}

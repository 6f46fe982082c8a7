/*
 * Tensors as another model has them: the bytes of its file go over as they are, or, where the two have
 * their numbers in different order, in pieces through memory.
 */
#include "dtype/block.h"
#include "write/write.h"

#define PIECE_BYTES ((size_t)1 << 20)

static wb_status copy_pieces(wb__context *context, wb_writer *writer, uint64_t index,
                             const wb_model *model, uint64_t number)
{
    const wb__outgoing *tensor = wb__writer_tensor(writer, index);
    const wb__dtype *dtype = tensor->out.dtype;
    size_t unit = wb__dtype_unit_bytes(dtype);
    size_t capacity = PIECE_BYTES / unit * unit;
    uint8_t *bytes = wb__alloc(&context->allocator, capacity);
    wb_status status = WB_OK;
    if (bytes == NULL)
        return wb__fail_memory(context);
    for (uint64_t done = 0; done < tensor->out.bytes && status == WB_OK;) {
        uint64_t left = tensor->out.bytes - done;
        size_t n = left < capacity ? (size_t)left : capacity;
        wb__selection selection;
        wb_slice slice = {.size = sizeof slice,
                          .first = wb__dtype_elements(dtype, done),
                          .count = wb__dtype_elements(dtype, n)};
        status = wb__selection_make(model, context, number, &slice, -1, &selection);
        if (status == WB_OK)
            status = wb__read_selection(model, context, &selection, bytes);
        if (status == WB_OK)
            status = wb__writer_put(context, writer, index, done, bytes, n);
        done += n;
    }
    wb__free(&context->allocator, bytes, capacity);
    return status;
}

static wb_status copy_bytes(wb__context *context, wb_writer *writer, uint64_t index,
                            const wb_model *model, size_t stored)
{
    wb__place_in place;
    const wb__source *source = model->sources[wb__model_file_of(&model->logical, stored)];
    uint64_t from = wb__model_offset_of(&model->logical, stored);
    uint64_t n = wb__writer_tensor(writer, index)->out.bytes;
    if (n == 0)
        return WB_OK;
    wb_status status = wb__put_begin(context, writer, index, 0, n, &place);
    if (status != WB_OK)
        return status;
    status = wb__sink_copy(context, place.output->sink, place.at, source, from, n);
    return wb__put_end(context, writer, &place, n, status);
}

wb_status wb__writer_copy(wb__context *context, wb_writer *writer, uint64_t index,
                          const wb_model *model, uint64_t number)
{
    const wb__packed *packed;
    size_t stored;
    wb_status status = wb__resolve(model, context, number, &stored, &packed);
    if (status != WB_OK)
        return status;
    if (packed != NULL)
        return wb__fail_argument(context, "a tensor of several parts is copied part by part");
    if (index >= writer->tensors.count)
        return wb__fail(context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), "there is no tensor number %llu", (unsigned long long)index);
    const wb__kind *kind = wb__table_kind_of(&model->logical.table, stored);
    const wb__outgoing *tensor = wb__writer_tensor(writer, index);
    if (kind->dtype != tensor->out.dtype || kind->bytes != tensor->out.bytes)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                        tensor->out.name,
                        "it was declared as %llu bytes of %s, and the other is %llu bytes of %s",
                        (unsigned long long)tensor->out.bytes, tensor->out.dtype->name,
                        (unsigned long long)kind->bytes, kind->dtype->name);
    const wb__model_file *file = &model->logical.files[wb__model_file_of(&model->logical, stored)];
    bool swap = (writer->flags & WB_WRITE_BIG_ENDIAN) != 0;
    bool is_stream = writer->outputs != NULL && writer->outputs[0].sink != NULL &&
                     !wb__sink_is_file(writer->outputs[0].sink);
    return file->big_endian != swap || is_stream
               ? copy_pieces(context, writer, index, model, number)
               : copy_bytes(context, writer, index, model, stored);
}

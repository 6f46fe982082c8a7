/*
 * Writes headers that are stored between the tensors and contain tensor checksums, as in zip
 * archives. In a file these headers are written after all tensors, because threads write tensors in
 * any order. In a stream the tensors arrive in order, so each write updates the checksum.
 */
#include "write/write.h"
#include "write/write_messages.h"

#define PIECE_BYTES ((size_t)1 << 20)

void wb__interleaved_add(wb_writer *writer, wb__output *output, wb__outgoing *tensor,
                         const void *bytes, size_t n)
{
    if (!output->layout.has_checksums)
        return;
    tensor->out.crc = wb__crc32_add(&writer->crc32, tensor->out.crc, bytes, n);
    wb__out_seal(&output->layout, &tensor->out);
}

static wb_status fail(wb__context *context, const wb__output *output, int os_error,
                      const char *what)
{
    context->file = output->path;
    wb_status status = wb__fail_os(context, os_error, what);
    context->file = "";
    return status;
}

static int read_back(const wb_writer *writer, wb__output *output, wb__out_tensor *tensor,
                     uint8_t *bytes)
{
    int os_error = 0;
    for (uint64_t done = 0; done < tensor->bytes && os_error == 0;) {
        uint64_t left = tensor->bytes - done;
        size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        os_error = wb__sink_read(output->sink, tensor->begin + done, bytes, n);
        if (os_error == 0)
            tensor->crc = wb__crc32_add(&writer->crc32, tensor->crc, bytes, n);
        done += n;
    }
    wb__out_seal(&output->layout, tensor);
    return os_error;
}

wb_status wb__interleaved_finish(wb__context *context, wb_writer *writer, wb__output *output)
{
    wb__out_file *layout = &output->layout;
    uint8_t *bytes = wb__alloc(&context->allocator, PIECE_BYTES);
    int os_error = 0;
    if (bytes == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < layout->tensor_count && os_error == 0; i++)
        os_error = read_back(writer, output, layout->tensors[i], bytes);
    wb__free(&context->allocator, bytes, PIECE_BYTES);
    if (os_error != 0)
        return fail(context, output, os_error, WB__MSG_WRITE_READ_BACK);
    for (size_t i = 0; i < layout->piece_count && os_error == 0; i++) {
        const wb__out_piece *piece = &layout->pieces[i];
        os_error =
            wb__sink_place(output->sink, piece->at, layout->header.bytes + piece->from, piece->n);
    }
    return os_error == 0 ? WB_OK : fail(context, output, os_error, WB__MSG_WRITE_FILE);
}

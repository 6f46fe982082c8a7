/* wb codec: all types except MLX modes. A row is a sequence of blocks; in types such as F16, a
 * block is one element.
 */
#include <stdlib.h>

#include "codec.h"
#include "exit.h"
#include "terminal.h"

typedef struct buffers {
    float *values;
    void *blocks;
    size_t batch;                    /* rows per batch */
    size_t value_bytes, block_bytes; /* size of one row in bytes */
} buffers;

/* Checks that the type supports the operation for this row length, before any input is read. Stores
 * the size of an encoded row in *block_bytes.
 */
static int check(codec_job *job, uint64_t *block_bytes)
{
    float one[256] = {0};
    wb_dtype_info info = WB_DTYPE_INFO_INIT;
    wb_status status =
        wb_quantized_size(job->type.dtype, 1, job->columns, block_bytes, &job->error);
    if (status == WB_OK && wb_dtype_describe(job->type.dtype, &info) == WB_OK) {
        /* A multiple of 8 elements is a whole number of bytes in every type. */
        uint32_t n = info.block_size > 8 ? info.block_size : 8;
        uint8_t blocks[8 * 256];
        /* Encode or decode a single block: an unsupported type fails for one block, too. */
        if (job->is_encoding)
            status = wb_quantize(job->type.dtype, one, 1, n, job->importance == NULL ? NULL : one,
                                 blocks, sizeof blocks, NULL, &job->error);
        else if (info.decodes == 0)
            status = wb_dequantize(job->type.dtype, blocks, 0, 0, n, one, NULL, &job->error);
    }
    return status == WB_OK ? 0 : codec_fail(job, job->label, status);
}

static int convert(codec_job *job, const buffers *b, size_t rows)
{
    int32_t dtype = job->type.dtype;
    wb_status status = job->is_encoding
                           ? wb_quantize(dtype, b->values, rows, job->columns, job->importance,
                                         b->blocks, rows * b->block_bytes, NULL, &job->error)
                           : wb_dequantize(dtype, b->blocks, rows * b->block_bytes, rows,
                                           job->columns, b->values, NULL, &job->error);
    if (status != WB_OK)
        return codec_fail(job, job->label, status);
    return job->is_encoding ? codec_write(job, b->blocks, rows * b->block_bytes)
                            : codec_write(job, b->values, rows * b->value_bytes);
}

static int pump(codec_job *job, const buffers *b)
{
    size_t row_bytes = job->is_encoding ? b->value_bytes : b->block_bytes;
    void *from = job->is_encoding ? (void *)b->values : b->blocks;
    uint64_t done = 0;
    size_t got;
    do {
        int code = codec_read(job, from, b->batch * row_bytes, &got);
        done += got;
        if (code == 0 && got % row_bytes != 0)
            code = codec_fail_rows(job, done, row_bytes);
        if (code == 0)
            code = convert(job, b, got / row_bytes);
        if (code != 0)
            return code;
        job->rows += got / row_bytes;
        if (job->total != 0)
            progress_show(job->label, done, job->total);
    } while (got == b->batch * row_bytes);
    return 0;
}

int codec_blocks(codec_job *job)
{
    uint64_t block_bytes;
    int code = check(job, &block_bytes);
    if (code != 0)
        return code;
    buffers b = {.batch = codec_batch(job),
                 .value_bytes = (size_t)job->columns * sizeof(float),
                 .block_bytes = (size_t)block_bytes};
    code = codec_open_input(job, false);
    if (code == 0) {
        uint64_t rows = job->total / (job->is_encoding ? b.value_bytes : b.block_bytes);
        code = codec_open_output(job, rows * (job->is_encoding ? b.block_bytes : b.value_bytes));
    }
    if (code == 0) {
        b.values = need_memory(NULL, b.batch, b.value_bytes);
        b.blocks = need_memory(NULL, b.batch, b.block_bytes);
        code = codec_close_output(job, pump(job, &b));
        free(b.values);
        free(b.blocks);
    }
    codec_close_input(job);
    return code;
}

#include "core/call_options.h"
#include "cpu/cpu.h"
#include "quant/quant.h"
#include "quant/quant_messages.h"

static wb_status fail_argument(wb__context *context, const char *what)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                    "%s", what);
}

/* Looks up the dtype `number`, and computes the size in bytes of the rows in this dtype. */
static wb_status measure(wb__context *context, int32_t number, uint64_t rows, uint64_t columns,
                         const wb__dtype **dtype, uint64_t *bytes)
{
    *bytes = 0;
    *dtype = wb__dtype_get(number);
    if (*dtype == NULL)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_DTYPE_NUMBER, (long)number);
    if (columns % (*dtype)->block_size != 0)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_QUANT_ROW, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_QUANT_ROW_BLOCKS, (unsigned long long)columns,
                        (*dtype)->name, (unsigned long)(*dtype)->block_size);
    uint64_t bits, all;
    if (!wb__mul(columns / (*dtype)->block_size, (*dtype)->block_bits, &bits) ||
        !wb__mul(bits, rows, &all))
        return fail_argument(context, WB__MSG_QUANT_SIZE_OVERFLOW);
    if (bits % 8 != 0)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_QUANT_ROW, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_QUANT_ROW_BYTE, (unsigned long long)columns,
                        (*dtype)->name);
    *bytes = all / 8;
    return WB_OK;
}

/* Initialises a context for calls that have no model. */
static wb_status begin(wb__context *context, const wb_executor *executor, wb_error *error)
{
    wb_open_options options = {.size = sizeof options, .executor = executor};
    return wb__context_init(context, &options, error);
}

/* Gets the codec of a block dtype. */
static wb_status find_codec(wb__context *context, const wb__dtype *dtype, wb__codec *codec)
{
    if (wb__codec_get(dtype->id, wb__cpu_features(), codec))
        return WB_OK;
    return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_BUILD, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_QUANT_CONTRACTED, dtype->name);
}

wb_status wb_quantized_size(int32_t dtype, uint64_t rows, uint64_t columns, uint64_t *bytes,
                            wb_error *error)
{
    wb_error spare;
    wb__context context;
    const wb__dtype *row;
    *bytes = 0;
    wb_status status = begin(&context, NULL, wb__error_reset(error, &spare));
    return status != WB_OK ? status : measure(&context, dtype, rows, columns, &row, bytes);
}

static wb_status encode(wb__context *context, const wb__dtype *dtype, const float *values,
                        uint64_t rows, uint64_t columns, const float *importance, void *blocks)
{
    const wb__dtype *f32 = wb__dtype_get(WB_DTYPE_F32);
    wb__codec codec;
    (void)wb__codec_get(dtype->id, wb__cpu_features(), &codec);
    if (wb__dtype_converts(f32, dtype) && codec.encode == NULL) {
        wb__dtype_convert(f32, values, 0, dtype, blocks, (size_t)(rows * columns));
        return WB_OK;
    }
    if (wb__dtype_is_plain(dtype) && codec.encode == NULL)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_ENCODER, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_QUANT_NOT_FROM_REAL, dtype->name);
    wb_status status = find_codec(context, dtype, &codec);
    if (status != WB_OK)
        return status;
    if (codec.encode == NULL)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_QUANT_ENCODER, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_QUANT_NO_ENCODER, dtype->name);
    if (codec.importance == WB_IMPORTANCE_REQUIRED && importance == NULL)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_QUANT_IMPORTANCE, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_QUANT_NEEDS_IMPORTANCE, dtype->name);
    wb__encode_rows(context, &codec, values, rows, columns, importance, blocks);
    return WB_OK;
}

wb_status wb_quantize(int32_t dtype, const float *values, uint64_t rows, uint64_t columns,
                      const float *importance, void *blocks, uint64_t size,
                      const wb_executor *executor, wb_error *error)
{
    wb_error spare;
    wb__context context;
    const wb__dtype *row;
    uint64_t bytes = 0;
    wb_status status = begin(&context, executor, wb__error_reset(error, &spare));
    if (status == WB_OK)
        status = measure(&context, dtype, rows, columns, &row, &bytes);
    if (status == WB_OK && bytes > size)
        status = wb__fail(&context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_QUANT_OUTPUT_SMALL, (unsigned long long)bytes,
                          (unsigned long long)size);
    if (status == WB_OK)
        status = encode(&context, row, values, rows, columns, importance, blocks);
    if (status != WB_OK && blocks != NULL && size <= SIZE_MAX)
        memset(blocks, 0, (size_t)size);
    return status;
}

static wb_status decode(wb__context *context, const wb__dtype *dtype, const void *blocks,
                        uint64_t rows, uint64_t columns, float *values)
{
    const wb__dtype *f32 = wb__dtype_get(WB_DTYPE_F32);
    wb__codec codec;
    if (wb__dtype_is_plain(dtype) && !wb__dtype_converts(dtype, f32))
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_QUANT_NOT_TO_F32, dtype->name);
    if (wb__dtype_is_plain(dtype) && !wb__codec_get(dtype->id, wb__cpu_features(), &codec)) {
        wb__dtype_convert(dtype, blocks, 0, f32, values, (size_t)(rows * columns));
        return WB_OK;
    }
    wb_status status = find_codec(context, dtype, &codec);
    if (status == WB_OK)
        wb__decode_rows(context, &codec, blocks, rows, columns, values);
    return status;
}

wb_status wb_dequantize(int32_t dtype, const void *blocks, uint64_t size, uint64_t rows,
                        uint64_t columns, float *values, const wb_executor *executor,
                        wb_error *error)
{
    wb_error spare;
    wb__context context;
    const wb__dtype *row;
    uint64_t bytes = 0;
    wb_status status = begin(&context, executor, wb__error_reset(error, &spare));
    if (status == WB_OK)
        status = measure(&context, dtype, rows, columns, &row, &bytes);
    if (status == WB_OK && bytes > size)
        status = wb__fail(&context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_QUANT_INPUT_SMALL, (unsigned long long)bytes,
                          (unsigned long long)size);
    if (status == WB_OK)
        status = decode(&context, row, blocks, rows, columns, values);
    uint64_t n;
    if (status != WB_OK && values != NULL && wb__mul(rows, columns, &n) &&
        n <= SIZE_MAX / sizeof *values)
        memset(values, 0, (size_t)n * sizeof *values);
    return status;
}

#include "core/call_options.h"
#include "cpu/cpu.h"
#include "dtype/dtype.h"
#include "quant/codec_tasks.h"
#include "quant/hub/hub.h"
#include "quant/quant_messages.h"
#include "weighbridge/codec.h"

#define TASK_ELEMENTS ((uint64_t)1 << 16)

static wb_status fail(wb__context *context, const char *what)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                    "%s", what);
}

static wb_status begin(wb__context *context, const wb_executor *executor, wb_error *error)
{
    wb_open_options options = {.size = sizeof options, .executor = executor};
    return wb__context_init(context, &options, error);
}

static bool is_float(const wb__dtype *dtype)
{
    return dtype != NULL && wb__dtype_is_float(dtype) && dtype->block_bits >= 8;
}

static bool has(uint64_t bytes, uint64_t elements, uint64_t element_bytes)
{
    uint64_t needed;
    return wb__mul(elements, element_bytes, &needed) && needed <= bytes;
}

static uint64_t blocks_of(uint64_t n, uint64_t block)
{
    return n / block + (n % block != 0);
}

static void clear(float *values, uint64_t size)
{
    if (values != NULL && size <= SIZE_MAX)
        memset(values, 0, (size_t)size);
}

static uint64_t rows_of_task(uint64_t columns)
{
    return columns < TASK_ELEMENTS ? TASK_ELEMENTS / (columns + 1) / 8 * 8 + 8 : 8;
}

/* ---- FP8 ---- */

typedef struct fp8_job {
    wb__fp8_block tensor;
    float *values;
} fp8_job;

static void fp8_rows(void *arg, uint64_t first, uint64_t n)
{
    const fp8_job *job = arg;
    wb__fp8_block_decode(wb__cpu_features(), &job->tensor, first, n,
                         job->values + first * job->tensor.in);
}

static wb_status fp8(wb__context *context, const wb_fp8_block *in, fp8_job *job, uint64_t size)
{
    const wb__dtype *weight = wb__dtype_get(in->weight_dtype);
    const wb__dtype *scales = wb__dtype_get(in->scales_dtype);
    if (!is_float(weight) || weight->block_bits != 8 || !is_float(scales))
        return fail(context, WB__MSG_FP8_DTYPES);
    job->tensor = (wb__fp8_block){in->weight,
                                  in->scales,
                                  in->weight_dtype,
                                  in->scales_dtype,
                                  in->rows,
                                  in->columns,
                                  in->block_rows != 0 ? in->block_rows : 128,
                                  in->block_columns != 0 ? in->block_columns : 128};
    uint64_t elements, blocks;
    if (!wb__mul(in->rows, in->columns, &elements) ||
        !wb__mul(blocks_of(in->rows, job->tensor.block_rows),
                 blocks_of(in->columns, job->tensor.block_columns), &blocks) ||
        !has(in->weight_bytes, elements, 1) ||
        !has(in->scales_bytes, blocks, scales->block_bits / 8))
        return fail(context, WB__MSG_FP8_PARTS_SHORT);
    if (!has(size, elements, sizeof(float)))
        return fail(context, WB__MSG_QUANT_VALUES_SMALL);
    wb__tasks_run(context, in->rows, rows_of_task(in->columns), fp8_rows, job);
    return WB_OK;
}

wb_status wb_fp8_dequantize(const wb_fp8_block *tensor, float *values, uint64_t size,
                            const wb_executor *executor, wb_error *error)
{
    wb_error spare;
    wb__context context;
    fp8_job job = {.values = values};
    wb_fp8_block own = {.size = sizeof own};
    wb_status status = begin(&context, executor, wb__error_reset(error, &spare));
    if (status == WB_OK && !WB__TAKE(wb_fp8_block, tensor, &own))
        status = WB__FAIL_SIZE(&context, wb_fp8_block, tensor);
    if (status == WB_OK)
        status = fp8(&context, &own, &job, size);
    if (status != WB_OK)
        clear(values, size);
    return status;
}

/* ---- AWQ and GPTQ ---- */

typedef struct int4_job {
    wb__int4 tensor;
    float *values;
    void (*decode)(uint32_t features, const wb__int4 *tensor, uint64_t first, uint64_t rows,
                   float *values);
} int4_job;

static void int4_rows(void *arg, uint64_t first, uint64_t n)
{
    const int4_job *job = arg;
    job->decode(wb__cpu_features(), &job->tensor, first, n, job->values + first * job->tensor.in);
}

static wb_status check_g_idx(wb__context *context, const wb_int4_tensor *in, uint64_t groups)
{
    for (uint64_t i = 0; in->g_idx != NULL && i < in->in; i++) {
        if (wb__load_le32((const uint8_t *)in->g_idx + 4 * i) >= groups)
            return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_INT4_GROUP, WB_NO_OFFSET,
                            WB__STR(""), WB__MSG_INT4_GIDX, (unsigned long long)i);
    }
    return WB_OK;
}

/*
 * Returns the number of groups that both `scales` and `qzeros` contain. If a tensor has only some
 * of the inputs of the original weight, its g_idx may refer to any of these groups.
 */
static uint64_t groups_there(const wb_int4_tensor *in, const wb__dtype *scales)
{
    if (in->out < 8 || in->out / 8 > UINT64_MAX / 64)
        return 0;
    uint64_t of_scales = in->scales_bytes / (in->out * (scales->block_bits / 8));
    uint64_t of_zeros = in->qzeros_bytes / (in->out / 8 * 4);
    return of_scales < of_zeros ? of_scales : of_zeros;
}

static wb_status int4(wb__context *context, const wb_int4_tensor *in, int4_job *job, uint64_t size)
{
    bool gptq = in->packing == WB_INT4_GPTQ;
    if (!gptq && in->packing != WB_INT4_AWQ)
        return fail(context, WB__MSG_INT4_PACKING);
    if (in->g_idx != NULL && !gptq)
        return fail(context, WB__MSG_INT4_AWQ_GIDX);
    if (in->out % 8 != 0 || (gptq && in->in % 8 != 0))
        return fail(context, WB__MSG_INT4_MULTIPLE_8);
    const wb__dtype *scales = wb__dtype_get(in->scales_dtype);
    if (!is_float(scales))
        return fail(context, WB__MSG_INT4_SCALES);
    uint64_t group = in->group_size != 0 ? in->group_size : in->in != 0 ? in->in : 1;
    uint64_t elements, groups = blocks_of(in->in, group), of_scales;
    if (in->g_idx != NULL && groups < groups_there(in, scales))
        groups = groups_there(in, scales);
    if (!wb__mul(in->in, in->out, &elements) || !wb__mul(groups, in->out, &of_scales) ||
        !has(in->qweight_bytes, elements / 8, 4) || !has(in->qzeros_bytes, of_scales / 8, 4) ||
        !has(in->scales_bytes, of_scales, scales->block_bits / 8) ||
        (in->g_idx != NULL && !has(in->g_idx_bytes, in->in, 4)))
        return fail(context, WB__MSG_INT4_PARTS_SHORT);
    if (!has(size, elements, sizeof(float)))
        return fail(context, WB__MSG_QUANT_VALUES_SMALL);
    wb_status status = check_g_idx(context, in, groups);
    if (status != WB_OK)
        return status;
    job->decode = gptq ? wb__gptq_decode : wb__awq_decode;
    job->tensor =
        (wb__int4){in->qweight, in->qzeros, in->scales, in->g_idx, in->scales_dtype,
                   in->out,     in->in,     group,      groups,    gptq && in->plain_zeros == 0};
    wb__tasks_run(context, in->out, rows_of_task(in->in), int4_rows, job);
    return WB_OK;
}

wb_status wb_int4_dequantize(const wb_int4_tensor *tensor, float *values, uint64_t size,
                             const wb_executor *executor, wb_error *error)
{
    wb_error spare;
    wb__context context;
    int4_job job = {.values = values};
    wb_int4_tensor own = {.size = sizeof own};
    wb_status status = begin(&context, executor, wb__error_reset(error, &spare));
    if (status == WB_OK && !WB__TAKE(wb_int4_tensor, tensor, &own))
        status = WB__FAIL_SIZE(&context, wb_int4_tensor, tensor);
    if (status == WB_OK)
        status = int4(&context, &own, &job, size);
    if (status != WB_OK)
        clear(values, size);
    return status;
}

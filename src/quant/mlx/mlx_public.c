#include "core/call_options.h"
#include "cpu/cpu.h"
#include "dtype/dtype.h"
#include "quant/codec_tasks.h"
#include "quant/mlx/mlx.h"
#include "quant/quant_messages.h"
#include "weighbridge/codec.h"

#define TASK_ELEMENTS ((uint64_t)1 << 16)

_Static_assert((int)WB_MLX_AFFINE == (int)WB__MLX_AFFINE && (int)WB_MLX_NVFP4 == (int)WB__MLX_NVFP4,
               "modes are passed through");
_Static_assert((int)WB_MLX_GLOBAL_AMAX == (int)WB__MLX_GLOBAL_AMAX &&
                   (int)WB_MLX_GLOBAL_DIVISOR == (int)WB__MLX_GLOBAL_DIVISOR,
               "kinds of global scale are passed through");

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

static bool is_input(int32_t dtype)
{
    return dtype == WB_DTYPE_F32 || dtype == WB_DTYPE_F16 || dtype == WB_DTYPE_BF16;
}

static wb_status check_global(wb__context *context, const wb_mlx_type *type)
{
    if (type->global > WB_MLX_GLOBAL_DIVISOR)
        return fail(context, WB__MSG_MLX_GLOBAL);
    if (type->global != WB_MLX_GLOBAL_NONE && type->mode != WB_MLX_NVFP4 &&
        (type->global != WB_MLX_GLOBAL_LAST || type->mode == WB_MLX_AFFINE))
        return fail(context, WB__MSG_MLX_GLOBAL_MODE);
    return WB_OK;
}

/* Validates the type and computes the sizes of the parts. */
static wb_status measure(wb__context *context, const wb_mlx_type *in, int32_t dtype, uint64_t rows,
                         uint64_t columns, wb__mlx_type *type, wb_mlx_sizes *sizes)
{
    if (in->flags & ~WB_MLX_NATIVE)
        return fail(context, WB__MSG_MLX_TYPE_FLAGS);
    *type = (wb__mlx_type){(wb__mlx_mode)in->mode, in->bits, in->group_size};
    wb_status status = wb__mlx_type_check(context, type);
    if (status == WB_OK)
        status = wb__mlx_row_check(context, type, columns);
    if (status == WB_OK)
        status = check_global(context, in);
    if (status != WB_OK)
        return status;
    bool affine = type->mode == WB__MLX_AFFINE;
    if (affine && !is_input(dtype))
        return fail(context, WB__MSG_MLX_SCALES_DTYPE);
    uint64_t groups = columns / type->group, packed, all;
    uint64_t scale_bytes = !affine ? 1 : dtype == WB_DTYPE_F32 ? 4 : 2;
    if (groups > UINT32_MAX || !wb__mul(groups, wb__mlx_group_bytes(type), &packed) ||
        packed / 4 > UINT32_MAX || !wb__mul(rows, columns, &all) || !wb__mul(all, 8, &all))
        return fail(context, WB__MSG_MLX_SIZE_OVERFLOW);
    *sizes = (wb_mlx_sizes){.size = sizeof *sizes,
                            .weight_bytes = packed * rows,
                            .scales_bytes = groups * rows * scale_bytes,
                            .biases_bytes = affine ? groups * rows * scale_bytes : 0,
                            .weight_columns = (uint32_t)(packed / 4),
                            .groups = (uint32_t)groups};
    return WB_OK;
}

wb_status wb_mlx_measure(const wb_mlx_type *type, int32_t dtype, uint64_t rows, uint64_t columns,
                         wb_mlx_sizes *sizes, wb_error *error)
{
    wb_error spare;
    wb__context context;
    wb__mlx_type checked;
    wb_mlx_type own_type = {.size = sizeof own_type};
    wb_mlx_sizes own, *out = WB__OUT(wb_mlx_sizes, sizes, &own);
    wb_status status = begin(&context, NULL, wb__error_reset(error, &spare));
    if (status == WB_OK && out == NULL)
        status = WB__FAIL_SIZE(&context, wb_mlx_sizes, sizes);
    if (status == WB_OK && !WB__TAKE(wb_mlx_type, type, &own_type))
        status = WB__FAIL_SIZE(&context, wb_mlx_type, type);
    if (status == WB_OK)
        status = measure(&context, &own_type, dtype, rows, columns, &checked, out);
    if (status == WB_OK)
        WB__GIVE(wb_mlx_sizes, sizes, out);
    return status;
}

/* ---- encoding ---- */

typedef struct encode_job {
    wb__mlx_type type;
    wb__mlx_encoding encoding;
    int32_t dtype;
    const void *values;
    wb__mlx_encoded out;
} encode_job;

static void encode_groups(void *arg, uint64_t first, uint64_t n)
{
    const encode_job *job = arg;
    wb__mlx_encode(wb__cpu_features(), &job->type, &job->encoding, job->dtype, job->values, first,
                   (size_t)n, &job->out);
}

static wb_status quantize(wb__context *context, const wb_mlx_type *type, encode_job *job,
                          uint64_t rows, uint64_t columns, const wb_mlx_buffers *parts)
{
    wb_mlx_sizes sizes;
    if (!is_input(job->dtype))
        return fail(context, WB__MSG_MLX_VALUES_DTYPE);
    wb_status status = measure(context, type, job->dtype, rows, columns, &job->type, &sizes);
    if (status != WB_OK)
        return status;
    if (type->global > WB_MLX_GLOBAL_AMAX)
        return fail(context, WB__MSG_MLX_ENCODE_GLOBAL);
    if (type->e8m0 > WB_MLX_E8M0_NEAREST)
        return fail(context, "wb_mlx_type.e8m0 is not a WB_MLX_E8M0_* value");
    if (parts->weight_bytes < sizes.weight_bytes || parts->scales_bytes < sizes.scales_bytes ||
        parts->biases_bytes < sizes.biases_bytes)
        return fail(context, WB__MSG_MLX_BUFFERS_SMALL);
    job->encoding.e8m0 = (wb__mlx_e8m0)type->e8m0;
    job->encoding.has_global = type->global == WB_MLX_GLOBAL_AMAX;
    job->encoding.global_scale = type->global_scale;
    job->out = (wb__mlx_encoded){parts->weight, parts->scales, parts->biases};
    wb__tasks_run(context, rows * sizes.groups, TASK_ELEMENTS / job->type.group, encode_groups,
                  job);
    return WB_OK;
}

static void clear(void *bytes, uint64_t size)
{
    if (bytes != NULL && size <= SIZE_MAX)
        memset(bytes, 0, (size_t)size);
}

wb_status wb_mlx_quantize(const wb_mlx_type *type, int32_t dtype, const void *values, uint64_t rows,
                          uint64_t columns, const wb_mlx_buffers *parts,
                          const wb_executor *executor, wb_error *error)
{
    wb_error spare;
    wb__context context;
    encode_job job = {.dtype = dtype, .values = values};
    wb_mlx_type own_type = {.size = sizeof own_type};
    wb_mlx_buffers own = {.size = sizeof own};
    bool taken = WB__TAKE(wb_mlx_buffers, parts, &own);
    wb_status status = begin(&context, executor, wb__error_reset(error, &spare));
    if (status == WB_OK && !WB__TAKE(wb_mlx_type, type, &own_type))
        status = WB__FAIL_SIZE(&context, wb_mlx_type, type);
    if (status == WB_OK && !taken)
        status = WB__FAIL_SIZE(&context, wb_mlx_buffers, parts);
    if (status == WB_OK)
        status = quantize(&context, &own_type, &job, rows, columns, &own);
    if (status != WB_OK && taken) {
        clear(own.weight, own.weight_bytes);
        clear(own.scales, own.scales_bytes);
        clear(own.biases, own.biases_bytes);
    }
    return status;
}

wb_status wb_mlx_amax(int32_t dtype, const void *values, uint64_t n, float *amax, wb_error *error)
{
    wb_error spare;
    wb__context context;
    *amax = 0;
    wb_status status = begin(&context, NULL, wb__error_reset(error, &spare));
    if (status == WB_OK && !is_input(dtype))
        status = fail(&context, WB__MSG_MLX_VALUES_DTYPE);
    if (status == WB_OK)
        *amax = wb__mlx_amax(wb__cpu_features(), dtype, values, n);
    return status;
}

/* ---- decoding ---- */

typedef struct decode_job {
    wb__mlx_type type;
    wb__mlx_parts parts;
    bool native;
    const wb__dtype *dtype;
    uint8_t *values;
} decode_job;

static void decode_groups(void *arg, uint64_t first, uint64_t n)
{
    const decode_job *job = arg;
    uint64_t group_bytes = (uint64_t)job->type.group * job->dtype->block_bits / 8;
    wb__mlx_decode(wb__cpu_features(), &job->type, &job->parts, job->native, first, (size_t)n,
                   job->dtype->id, job->values + first * group_bytes);
}

static wb_status dequantize(wb__context *context, const wb_mlx_type *type, decode_job *job,
                            const wb_mlx_parts *parts, uint64_t rows, uint64_t columns,
                            uint64_t size)
{
    wb_mlx_sizes sizes, biases;
    wb_status status =
        measure(context, type, parts->scales_dtype, rows, columns, &job->type, &sizes);
    biases = sizes;
    if (status == WB_OK && job->type.mode == WB__MLX_AFFINE)
        status = measure(context, type, parts->biases_dtype, rows, columns, &job->type, &biases);
    if (status != WB_OK)
        return status;
    if (job->dtype == NULL || !wb__dtype_is_plain(job->dtype) ||
        !wb__dtype_converts(wb__dtype_get(WB_DTYPE_F32), job->dtype))
        return fail(context, WB__MSG_MLX_RESULT_DTYPE);
    if (parts->weight_bytes < sizes.weight_bytes || parts->scales_bytes < sizes.scales_bytes ||
        parts->biases_bytes < biases.biases_bytes)
        return fail(context, WB__MSG_MLX_PARTS_SHORT);
    uint64_t bits = (uint64_t)job->type.group * job->dtype->block_bits;
    if (!wb__mul(rows * sizes.groups, bits / 8, &bits) || size < bits)
        return fail(context, WB__MSG_QUANT_VALUES_SMALL);
    job->native = job->dtype->id != WB_DTYPE_F32 || (type->flags & WB_MLX_NATIVE) != 0;
    job->parts =
        (wb__mlx_parts){parts->weight,       parts->scales,       parts->biases,
                        parts->scales_dtype, parts->biases_dtype, (wb__mlx_global)type->global,
                        type->global_scale};
    wb__tasks_run(context, rows * sizes.groups, TASK_ELEMENTS / job->type.group, decode_groups,
                  job);
    return WB_OK;
}

wb_status wb_mlx_dequantize(const wb_mlx_type *type, const wb_mlx_parts *parts, uint64_t rows,
                            uint64_t columns, int32_t dtype, void *values, uint64_t size,
                            const wb_executor *executor, wb_error *error)
{
    wb_error spare;
    wb__context context;
    decode_job job = {.dtype = wb__dtype_get(dtype), .values = values};
    wb_mlx_type own_type = {.size = sizeof own_type};
    wb_mlx_parts own = {.size = sizeof own};
    wb_status status = begin(&context, executor, wb__error_reset(error, &spare));
    if (status == WB_OK && !WB__TAKE(wb_mlx_type, type, &own_type))
        status = WB__FAIL_SIZE(&context, wb_mlx_type, type);
    if (status == WB_OK && !WB__TAKE(wb_mlx_parts, parts, &own))
        status = WB__FAIL_SIZE(&context, wb_mlx_parts, parts);
    if (status == WB_OK)
        status = dequantize(&context, &own_type, &job, &own, rows, columns, size);
    if (status != WB_OK)
        clear(values, size);
    return status;
}

/* wb codec: MLX modes. The encoded side is a .safetensors file with the tensors weight, scales and,
 * for affine modes, biases, as mlx.core.quantize returns them. Scales and biases follow the weight
 * in the file, so they are kept in memory while the weight is written. For affine4:64, they have
 * 1/32 of the size of the raw values.
 */
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "exit.h"
#include "messages.h"
#include "paths.h"
#include "report.h"
#include "terminal.h"

/* Computes the sizes of the parts (weight, scales, biases) of one row. */
static int measure(codec_job *job, int32_t dtype, wb_mlx_sizes *row)
{
    *row = (wb_mlx_sizes){.size = sizeof *row};
    wb_status status = wb_mlx_measure(&job->type.mlx, dtype, 1, job->columns, row, &job->error);
    return status == WB_OK ? 0 : codec_fail(job, job->label, status);
}

/* ---- encoding ---- */

static int append(void *ctx, const char *bytes, size_t n)
{
    text_add(ctx, bytes, n);
    return 0;
}

static void add_tensor(wb_json *json, const char *name, const char *dtype, uint64_t rows,
                       uint64_t columns, uint64_t at, uint64_t bytes)
{
    wb_json_key(json, name, SIZE_MAX);
    wb_json_begin(json, '{');
    json_text(json, "dtype", dtype);
    wb_json_key(json, "shape", SIZE_MAX);
    wb_json_begin(json, '[');
    wb_json_uint(json, rows);
    wb_json_uint(json, columns);
    wb_json_end(json, ']');
    wb_json_key(json, "data_offsets", SIZE_MAX);
    wb_json_begin(json, '[');
    wb_json_uint(json, at);
    wb_json_uint(json, at + bytes);
    wb_json_end(json, ']');
    wb_json_end(json, '}');
}

static void json_decimal(wb_json *json, const char *key, uint32_t value)
{
    text t = {0};
    text_addf(&t, "%u", value);
    json_text(json, key, t.ptr);
    text_free(&t);
}

/* Adds the header length and the header of the file. data_offsets are relative to the end of the
 * header.
 */
static void add_header(text *t, const codec_job *job, const wb_mlx_sizes *row)
{
    static const char *const modes[] = {"", "affine", "mxfp4", "mxfp8", "nvfp4"};
    const wb_mlx_type *type = &job->type.mlx;
    const char *scales = type->mode == WB_MLX_AFFINE ? "F32" : "U8";
    uint64_t weight = job->rows * row->weight_bytes, scale = job->rows * row->scales_bytes;
    text body = {0};
    wb_json json = {.size = sizeof json, .write = append, .ctx = &body};
    wb_json_begin(&json, '{');
    wb_json_key(&json, "__metadata__", SIZE_MAX);
    wb_json_begin(&json, '{');
    json_text(&json, "mode", modes[type->mode]);
    json_decimal(&json, "bits", type->bits);
    json_decimal(&json, "group_size", type->group_size);
    wb_json_end(&json, '}');
    add_tensor(&json, "weight", "U32", job->rows, row->weight_columns, 0, weight);
    add_tensor(&json, "scales", scales, job->rows, row->groups, weight, scale);
    if (row->biases_bytes > 0)
        add_tensor(&json, "biases", "F32", job->rows, row->groups, weight + scale,
                   job->rows * row->biases_bytes);
    wb_json_end(&json, '}');
    while (body.len % 8 != 0)
        text_adds(&body, " ");
    for (unsigned i = 0; i < 8; i++) {
        char byte = (char)((uint64_t)body.len >> 8 * i & 0xFF);
        text_add(t, &byte, 1);
    }
    text_add(t, body.ptr, body.len);
    text_free(&body);
}

static int encode_rows(codec_job *job, const wb_mlx_sizes *row)
{
    size_t batch = codec_batch(job), value_bytes = (size_t)job->columns * sizeof(float);
    float *values = need_memory(NULL, batch, value_bytes);
    uint8_t *weight = need_memory(NULL, batch, (size_t)row->weight_bytes);
    uint8_t *scales = need_memory(NULL, (size_t)job->rows, (size_t)row->scales_bytes);
    uint8_t *biases = need_memory(NULL, (size_t)job->rows, (size_t)row->biases_bytes);
    int code = 0;
    for (uint64_t at = 0; at < job->rows && code == 0;) {
        size_t n = job->rows - at < batch ? (size_t)(job->rows - at) : batch, got;
        code = codec_read(job, values, n * value_bytes, &got);
        if (code == 0 && got < n * value_bytes)
            code = codec_fail_rows(job, at * value_bytes + got, value_bytes);
        if (code != 0)
            break;
        const wb_mlx_buffers parts = {.size = sizeof parts,
                                      .weight = weight,
                                      .scales = scales + at * row->scales_bytes,
                                      .biases = biases + at * row->biases_bytes,
                                      .weight_bytes = n * row->weight_bytes,
                                      .scales_bytes = n * row->scales_bytes,
                                      .biases_bytes = n * row->biases_bytes};
        wb_status status = wb_mlx_quantize(&job->type.mlx, WB_DTYPE_F32, values, n, job->columns,
                                           &parts, NULL, &job->error);
        code = status == WB_OK ? codec_write(job, weight, n * (size_t)row->weight_bytes)
                               : codec_fail(job, job->label, status);
        at += n;
        progress_show(job->label, at * (uint64_t)value_bytes, job->rows * (uint64_t)value_bytes);
    }
    if (code == 0)
        code = codec_write(job, scales, (size_t)(job->rows * row->scales_bytes));
    if (code == 0 && row->biases_bytes > 0)
        code = codec_write(job, biases, (size_t)(job->rows * row->biases_bytes));
    free(values);
    free(weight);
    free(scales);
    free(biases);
    return code;
}

int codec_mlx_encode(codec_job *job)
{
    wb_mlx_sizes row;
    uint64_t row_bytes = job->columns * sizeof(float);
    int code = measure(job, WB_DTYPE_F32, &row);
    if (code != 0)
        return code;
    code = codec_open_input(job, true);
    if (code == 0 && job->total % row_bytes != 0)
        code = codec_fail_rows(job, job->total, row_bytes);
    if (code == 0) {
        text header = {0};
        job->rows = job->total / row_bytes;
        add_header(&header, job, &row);
        uint64_t bytes = job->rows * (row.weight_bytes + row.scales_bytes + row.biases_bytes);
        code = codec_open_output(job, header.len + bytes);
        if (code == 0) {
            code = codec_write(job, header.ptr, header.len);
            if (code == 0)
                code = encode_rows(job, &row);
            code = codec_close_output(job, code);
        }
        text_free(&header);
    }
    codec_close_input(job);
    return code;
}

/* ---- decoding ---- */

typedef struct stored {
    uint64_t index;
    wb_tensor tensor; /* tensor.name is NULL if the tensor does not exist */
    uint8_t *bytes;   /* buffer for one batch of rows */
} stored;

/* Finds a stored tensor by name. If the library combines the tensor and its scales into one
 * quantized tensor, returns its first part, the packed values.
 */
static stored find(const wb_model *model, const char *name)
{
    stored s = {.tensor = {.size = sizeof s.tensor}};
    wb_part part = WB_PART_INIT;
    if (wb_tensor_find(model, name, SIZE_MAX, &s.index) != WB_OK)
        return s;
    if (wb_tensor_part(model, s.index, 0, &part, NULL) == WB_OK)
        s.index = part.index;
    if (wb_tensor_at(model, s.index, &s.tensor, NULL) != WB_OK)
        s.tensor.name = NULL;
    return s;
}

static int fail_file(const codec_job *job, const char *what)
{
    return report_path(EXIT_BAD_INPUT, job->label, "%s", what);
}

static int read_rows(codec_job *job, const wb_model *model, stored *s, uint64_t first, size_t n)
{
    if (s->tensor.name == NULL)
        return 0;
    uint64_t elements = s->tensor.elements / job->rows;
    size_t bytes = (size_t)(s->tensor.bytes / job->rows);
    const wb_slice slice = {.size = sizeof slice, .first = first * elements, .count = n * elements};
    wb_status status =
        wb_tensor_read(model, s->index, &slice, -1, s->bytes, (uint64_t)n * bytes, &job->error);
    return status == WB_OK ? 0 : codec_fail(job, job->label, status);
}

static int decode_rows(codec_job *job, const wb_model *model, stored parts[3],
                       const wb_mlx_sizes *row)
{
    size_t batch = codec_batch(job), value_bytes = (size_t)job->columns * sizeof(float);
    const size_t bytes[3] = {(size_t)row->weight_bytes, (size_t)row->scales_bytes,
                             (size_t)row->biases_bytes};
    float *values = need_memory(NULL, batch, value_bytes);
    int code = 0;
    for (int i = 0; i < 3; i++)
        parts[i].bytes = need_memory(NULL, batch, bytes[i]);
    for (uint64_t at = 0; at < job->rows && code == 0;) {
        size_t n = job->rows - at < batch ? (size_t)(job->rows - at) : batch;
        for (int i = 0; i < 3 && code == 0; i++)
            code = read_rows(job, model, &parts[i], at, n);
        if (code == 0 && interrupted())
            code = EXIT_INTERRUPTED;
        if (code != 0)
            break;
        const wb_mlx_parts packed = {.size = sizeof packed,
                                     .weight = parts[0].bytes,
                                     .scales = parts[1].bytes,
                                     .biases = parts[2].bytes,
                                     .weight_bytes = n * bytes[0],
                                     .scales_bytes = n * bytes[1],
                                     .biases_bytes = n * bytes[2],
                                     .scales_dtype = (int32_t)parts[1].tensor.dtype,
                                     .biases_dtype = (int32_t)parts[2].tensor.dtype};
        wb_status status = wb_mlx_dequantize(&job->type.mlx, &packed, n, job->columns, WB_DTYPE_F32,
                                             values, n * value_bytes, NULL, &job->error);
        code = status == WB_OK ? codec_write(job, values, n * value_bytes)
                               : codec_fail(job, job->label, status);
        at += n;
        progress_show(job->label, at * (uint64_t)value_bytes, job->rows * (uint64_t)value_bytes);
    }
    for (int i = 0; i < 3; i++)
        free(parts[i].bytes);
    free(values);
    return code;
}

/* Reads the optional per-tensor scale of MLX's nvfp4 mode (global_scale). */
static int find_global(codec_job *job, const wb_model *model)
{
    stored global = find(model, "global_scale");
    wb_mlx_type *type = &job->type.mlx;
    if (global.tensor.name == NULL || type->mode != WB_MLX_NVFP4)
        return 0;
    if (global.tensor.elements != 1)
        return fail_file(job, MSG_GLOBAL_SCALE_SHAPE);
    wb_status status = wb_tensor_read(model, global.index, NULL, WB_DTYPE_F32, &type->global_scale,
                                      sizeof type->global_scale, &job->error);
    type->global = WB_MLX_GLOBAL_AMAX;
    return status == WB_OK ? 0 : codec_fail(job, job->label, status);
}

static int decode_from(codec_job *job, const wb_model *model)
{
    wb_mlx_sizes row, biases = {.biases_bytes = 0};
    bool is_affine = job->type.mlx.mode == WB_MLX_AFFINE;
    stored parts[3] = {find(model, "weight"), find(model, "scales"), find(model, "biases")};
    if (parts[0].tensor.name == NULL || parts[1].tensor.name == NULL ||
        (is_affine && parts[2].tensor.name == NULL))
        return fail_file(job, is_affine ? MSG_MLX_AFFINE_TENSORS_MISSING : MSG_MLX_TENSORS_MISSING);
    if (!is_affine)
        parts[2].tensor.name = NULL;
    int code = measure(job, (int32_t)parts[1].tensor.dtype, &row);
    if (code == 0 && is_affine)
        code = measure(job, (int32_t)parts[2].tensor.dtype, &biases);
    if (code != 0)
        return code;
    row.biases_bytes = biases.biases_bytes;
    job->rows = parts[0].tensor.bytes / row.weight_bytes;
    if (parts[0].tensor.bytes != job->rows * row.weight_bytes ||
        parts[1].tensor.bytes != job->rows * row.scales_bytes ||
        (is_affine && parts[2].tensor.bytes != job->rows * row.biases_bytes))
        return fail_file(job, MSG_MLX_SIZES_DIFFER);
    code = find_global(job, model);
    if (code == 0)
        code = codec_open_output(job, job->rows * job->columns * sizeof(float));
    if (code == 0)
        code = codec_close_output(job, decode_rows(job, model, parts, &row));
    return code;
}

int codec_mlx_decode(codec_job *job)
{
    wb_model *model;
    wb_mlx_sizes row;
    /* Check whether the type permits this number of columns. */
    int code = measure(job, WB_DTYPE_F32, &row);
    if (code != 0)
        return code;
    wb_status status = open_path(job->input, &job->options, &model, &job->error);
    if (status != WB_OK) {
        report_error(job->label, &job->error);
        return exit_code_of_opening(status);
    }
    code = decode_from(job, model);
    wb_close(model);
    return code;
}

#include "read/decoder.h"

#include "cpu/cpu.h"
#include "dtype/dtype_block.h"
#include "read/read_messages.h"

#define BATCH_ELEMENTS ((uint64_t)64 << 10)

static const wb__kind *stored_kind(const wb_model *model, uint32_t stored)
{
    return wb__table_kind_of(&model->catalog.table, stored);
}

/* Reads `bytes` bytes at offset `at` of a part. Swaps big-endian numbers, except those inside
 * blocks. */
static wb_status read_part(wb__decoder *decoder, wb__part part, uint64_t at, void *dst,
                           size_t bytes)
{
    wb__raw_bytes *stored = &decoder->files[part];
    const wb__catalog *catalog = &decoder->model->catalog;
    const wb__dtype *dtype = stored->kind->dtype;
    decoder->context->file = catalog->files[wb__catalog_file_of(catalog, stored->tensor)].path;
    wb_status status = wb__raw_bytes_read(stored, at, dst, bytes);
    if (status == WB_OK && wb__dtype_is_plain(dtype) && dtype->block_bits % 16 == 0 &&
        wb__catalog_is_swapped(catalog, stored->tensor))
        wb__dtype_swap(dtype, dst, bytes / (dtype->block_bits / 8));
    return status;
}

/* Opens the parts of the tensor. A tensor of ggml blocks has one part, or two if it has a
 * per-tensor scale. */
static void open_parts(wb__decoder *decoder)
{
    for (int part = 0; part < WB__PARTS; part++) {
        uint32_t of = decoder->packed != NULL   ? decoder->packed->parts[part]
                      : part == WB__PART_VALUES ? decoder->stored
                                                : WB__NO_TENSOR;
        if (of != WB__NO_TENSOR)
            wb__raw_bytes_open(&decoder->files[part], decoder->model, decoder->context, of);
    }
}

/* ---- blocks of ggml's types ---- */

/* Decodes blocks that have a per-tensor scale, or one for each matrix of a stack. */
static void decode_with_factors(const wb__decoder *decoder, uint64_t first, size_t units,
                                float *values)
{
    uint8_t *blocks = decoder->memory;
    while (units > 0) {
        uint64_t matrix = first / decoder->units_per_global;
        uint64_t left = (matrix + 1) * decoder->units_per_global - first;
        size_t n = left < units ? (size_t)left : units;
        wb__nvfp4_decode(&decoder->codec, blocks, decoder->globals[matrix], values, n);
        blocks += n * (decoder->codec.dtype->block_bits / 8);
        values += n * decoder->unit;
        first += n;
        units -= n;
    }
}

static wb_status run_blocks(wb__decoder *decoder, uint64_t first, size_t units, uint8_t *dst)
{
    size_t block = decoder->codec.dtype->block_bits / 8;
    wb_status status =
        read_part(decoder, WB__PART_VALUES, first * block, decoder->memory, units * block);
    if (status != WB_OK)
        return status;
    if (wb__catalog_is_swapped(&decoder->model->catalog, decoder->stored))
        wb__dtype_swap(decoder->codec.dtype, decoder->memory, units);
    if (decoder->globals == NULL)
        decoder->codec.decode(decoder->memory, (float *)(void *)dst, units);
    else
        decode_with_factors(decoder, first, units, (float *)(void *)dst);
    return WB_OK;
}

static size_t plan_blocks(wb__decoder *decoder)
{
    const wb__dtype *dtype = stored_kind(decoder->model, decoder->stored)->dtype;
    if (!wb__codec_get(dtype->id, decoder->features, &decoder->codec))
        return 0;
    decoder->unit = dtype->block_size;
    decoder->run = run_blocks;
    return dtype->block_bits / 8;
}

/* ---- groups of MLX's modes ---- */

static uint64_t scale_bytes(const wb__decoder *decoder, wb__part part)
{
    uint32_t of = decoder->packed->parts[part];
    return of == WB__NO_TENSOR ? 0 : stored_kind(decoder->model, of)->dtype->block_bits / 8;
}

static wb_status run_groups(wb__decoder *decoder, uint64_t first, size_t units, uint8_t *dst)
{
    const wb__packed *packed = decoder->packed;
    size_t sizes[WB__PARTS] = {wb__mlx_group_bytes(&decoder->type),
                               (size_t)scale_bytes(decoder, WB__PART_SCALES),
                               (size_t)scale_bytes(decoder, WB__PART_BIASES), 0, 0};
    while (units > 0) {
        uint64_t global = first / decoder->units_per_global;
        uint64_t left = (global + 1) * decoder->units_per_global - first;
        size_t n = left < units ? (size_t)left : units;
        const uint8_t *read[WB__PARTS] = {NULL};
        uint8_t *to = decoder->memory;
        for (int part = WB__PART_VALUES; part <= WB__PART_BIASES; part++) {
            if (packed->parts[part] == WB__NO_TENSOR)
                continue;
            wb_status status =
                read_part(decoder, (wb__part)part, first * sizes[part], to, n * sizes[part]);
            if (status != WB_OK)
                return status;
            read[part] = to;
            to += n * sizes[part];
        }
        wb__mlx_parts parts = {.weight = read[WB__PART_VALUES],
                               .scales = read[WB__PART_SCALES],
                               .biases = read[WB__PART_BIASES]};
        parts.scales_dtype = stored_kind(decoder->model, packed->parts[WB__PART_SCALES])->dtype->id;
        if (read[WB__PART_BIASES] != NULL)
            parts.biases_dtype =
                stored_kind(decoder->model, packed->parts[WB__PART_BIASES])->dtype->id;
        if (decoder->globals != NULL) {
            parts.global = (wb__mlx_global)packed->packing->global;
            parts.global_scale = decoder->globals[global];
        }
        wb__mlx_decode(decoder->features, &decoder->type, &parts, decoder->native, 0, n,
                       decoder->to->id, dst);
        dst += n * decoder->unit * decoder->to->block_bits / 8;
        first += n;
        units -= n;
    }
    return WB_OK;
}

static wb__mlx_mode mode_of(wb__scheme scheme)
{
    switch (scheme) {
    case WB__SCHEME_MXFP4: return WB__MLX_MXFP4;
    case WB__SCHEME_MXFP8: return WB__MLX_MXFP8;
    case WB__SCHEME_NVFP4: return WB__MLX_NVFP4;
    default: return WB__MLX_AFFINE;
    }
}

_Static_assert((int)WB__GLOBAL_MAXIMUM == (int)WB__MLX_GLOBAL_AMAX &&
                   (int)WB__GLOBAL_LAST == (int)WB__MLX_GLOBAL_LAST &&
                   (int)WB__GLOBAL_FACTOR == (int)WB__MLX_GLOBAL_FACTOR &&
                   (int)WB__GLOBAL_DIVISOR == (int)WB__MLX_GLOBAL_DIVISOR,
               "both modules number the kinds of global scale alike");

/* Reads the global scales to the start of `memory`, and advances `memory` past them. */
static wb_status plan_globals(wb__decoder *decoder)
{
    uint32_t global = decoder->packed->parts[WB__PART_GLOBAL_SCALE];
    decoder->units_per_global = UINT64_MAX;
    if (global == WB__NO_TENSOR)
        return WB_OK;
    const wb__kind *kind = stored_kind(decoder->model, global);
    if (kind->elements > 1)
        decoder->units_per_global = decoder->units / kind->elements;
    if (decoder->units_per_global == 0) /* the tensor is empty */
        decoder->units_per_global = UINT64_MAX;
    decoder->globals = (const float *)(const void *)decoder->memory;
    wb_status status =
        read_part(decoder, WB__PART_GLOBAL_SCALE, 0, decoder->memory, (size_t)kind->bytes);
    decoder->memory += kind->bytes;
    return status;
}

static size_t plan_groups(wb__decoder *decoder)
{
    const wb__packed *packed = decoder->packed;
    decoder->type = (wb__mlx_type){mode_of(packed->packing->scheme), packed->packing->bits,
                                   packed->packing->group};
    if (wb__mlx_type_check(decoder->context, &decoder->type) != WB_OK)
        return 0;
    decoder->unit = packed->packing->group;
    decoder->run = run_groups;
    return wb__mlx_group_bytes(&decoder->type) + (size_t)scale_bytes(decoder, WB__PART_SCALES) +
           (size_t)scale_bytes(decoder, WB__PART_BIASES);
}

/* ---- rows of FP8 with a scale for each block ---- */

static uint64_t scale_row_bytes(const wb__decoder *decoder)
{
    const wb__kind *scales = stored_kind(decoder->model, decoder->packed->parts[WB__PART_SCALES]);
    return scales->shape[scales->rank - 1] * (scales->dtype->block_bits / 8);
}

static wb_status run_fp8_rows(wb__decoder *decoder, uint64_t first, size_t units, uint8_t *dst)
{
    const wb__packed *packed = decoder->packed;
    const wb__kind *kind = &packed->packing->kind;
    const wb__kind *scales = stored_kind(decoder->model, packed->parts[WB__PART_SCALES]);
    uint64_t rows = kind->shape[kind->rank - 2], scale_rows = scales->shape[scales->rank - 2];
    uint64_t columns = kind->shape[kind->rank - 1];
    size_t scale_bytes = (size_t)scale_row_bytes(decoder);
    uint8_t *weight = decoder->memory + scale_bytes;
    float *values = (float *)(void *)dst;
    while (units > 0) { /* each pass decodes rows that share a row of block scales */
        uint64_t row = first % rows;
        uint64_t in_block = packed->packing->rows - row % packed->packing->rows;
        uint64_t left = rows - row < in_block ? rows - row : in_block;
        size_t n = left < units ? (size_t)left : units;
        uint64_t scale_row = first / rows * scale_rows + row / packed->packing->rows;
        wb_status status = read_part(decoder, WB__PART_SCALES, scale_row * scale_bytes,
                                     decoder->memory, scale_bytes);
        if (status == WB_OK)
            status =
                read_part(decoder, WB__PART_VALUES, first * columns, weight, n * (size_t)columns);
        if (status != WB_OK)
            return status;
        wb__fp8_block tensor = {.weight = weight,
                                .scales = decoder->memory,
                                .weight_dtype = WB_DTYPE_F8_E4M3,
                                .scales_dtype = scales->dtype->id,
                                .out = n,
                                .in = columns,
                                .block_rows = packed->packing->rows,
                                .block_columns = packed->packing->group};
        wb__fp8_block_decode(decoder->features, &tensor, 0, n, values);
        values += n * columns;
        first += n;
        units -= n;
    }
    return WB_OK;
}

/* ---- tensors that are read whole ---- */

static wb_status run_int4_rows(wb__decoder *decoder, uint64_t first, size_t units, uint8_t *dst)
{
    const wb__packed *packed = decoder->packed;
    const wb__kind *scales = stored_kind(decoder->model, packed->parts[WB__PART_SCALES]);
    wb__int4 tensor = {.qweight = decoder->parts[WB__PART_VALUES],
                       .qzeros = decoder->parts[WB__PART_BIASES],
                       .scales = decoder->parts[WB__PART_SCALES],
                       .g_idx = decoder->parts[WB__PART_ORDER],
                       .scales_dtype = scales->dtype->id,
                       .out = packed->packing->kind.shape[0],
                       .in = packed->packing->kind.shape[1],
                       .group = packed->packing->group,
                       .groups = scales->shape[0],
                       .zero_offset = packed->packing->scheme == WB__SCHEME_GPTQ &&
                                      !packed->packing->plain_zeros};
    float *values = (float *)(void *)dst;
    if (packed->packing->scheme == WB__SCHEME_AWQ)
        wb__awq_decode(decoder->features, &tensor, first * 8, (uint64_t)units * 8, values);
    else
        wb__gptq_decode(decoder->features, &tensor, first * 8, (uint64_t)units * 8, values);
    return WB_OK;
}

static wb_status take_memory(wb__decoder *decoder, size_t bytes)
{
    decoder->memory_bytes = bytes;
    decoder->memory = wb__alloc(&decoder->context->allocator, bytes);
    return decoder->memory == NULL ? wb__fail_memory(decoder->context) : WB_OK;
}

static wb_status read_parts(void *ctx, uint8_t *dst)
{
    wb__decoder *decoder = ctx;
    wb_status status = WB_OK;
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++) {
        uint32_t of = decoder->packed->parts[part];
        if (of == WB__NO_TENSOR)
            continue;
        size_t bytes = (size_t)stored_kind(decoder->model, of)->bytes;
        status = read_part(decoder, (wb__part)part, 0, dst, bytes);
        dst += bytes;
    }
    return status;
}

/* Returns true if reading a part may itself lock the decode cache, for example because the part is
 * compressed. read_whole must then not load the tensor into this cache, because the cache is locked
 * while it loads a tensor. */
static bool has_storing(const wb__decoder *decoder)
{
    bool has = false;
    for (int part = 0; part < WB__PARTS && !has; part++)
        has = decoder->files[part].storing != NULL;
    return has;
}

/* Reads all parts of a tensor, one after the other, into one block. The block is in the decode
 * cache, unless reading a part may itself use this cache (has_storing). */
static wb_status read_whole(wb__decoder *decoder)
{
    size_t bytes;
    wb_status status;
    if (!wb__to_size(decoder->packed->packing->kind.bytes, &bytes))
        return wb__fail_memory(decoder->context);
    if (has_storing(decoder)) {
        status = take_memory(decoder, bytes);
        if (status == WB_OK)
            status = read_parts(decoder, decoder->memory);
    } else {
        status = wb__decode_cache_get_tensor(decoder->model->decode_cache, decoder->context,
                                             decoder->stored, bytes, read_parts, decoder,
                                             &decoder->cached);
    }
    const uint8_t *at = decoder->cached != NULL ? decoder->cached->data : decoder->memory;
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++) {
        uint32_t of = decoder->packed->parts[part];
        decoder->parts[part] = of == WB__NO_TENSOR ? NULL : at;
        at += of == WB__NO_TENSOR ? 0 : (size_t)stored_kind(decoder->model, of)->bytes;
    }
    return status;
}

static bool is_blocks(const wb__packed *packed)
{
    return packed == NULL || packed->packing->scheme == WB__SCHEME_PLAIN;
}

static wb_status fail_unsupported(wb__decoder *decoder)
{
    const wb__packed *packed = decoder->packed;
    return wb__fail(decoder->context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                    wb__table_name(&decoder->model->catalog.table, decoder->stored),
                    WB__MSG_READ_DECODE,
                    is_blocks(packed) ? stored_kind(decoder->model, decoder->stored)->dtype->name
                                      : wb__scheme_name(packed->packing->scheme),
                    (unsigned long)(packed == NULL ? 0 : packed->packing->bits),
                    (unsigned long)(packed == NULL ? 0 : packed->packing->group));
}

static bool is_read_whole(const wb__packed *packed)
{
    return packed != NULL && (packed->packing->scheme == WB__SCHEME_AWQ ||
                              packed->packing->scheme == WB__SCHEME_GPTQ);
}

uint64_t wb__decoder_holds(const wb__packed *packed)
{
    return is_read_whole(packed) ? packed->packing->kind.bytes : 0;
}

const wb__dtype *wb__decoder_gives(const wb__packed *packed, const wb__dtype *to)
{
    bool rounds_by_itself = packed != NULL && (packed->packing->scheme == WB__SCHEME_MXFP4 ||
                                               packed->packing->scheme == WB__SCHEME_MXFP8 ||
                                               packed->packing->scheme == WB__SCHEME_NVFP4);
    if (rounds_by_itself && (to->id == WB_DTYPE_F16 || to->id == WB_DTYPE_BF16))
        return to;
    return wb__dtype_get(WB_DTYPE_F32);
}

wb_status wb__decoder_open(wb__decoder *decoder, const wb_model *model, wb__context *context,
                           size_t stored, const wb__packed *packed, const wb__dtype *to)
{
    memset(decoder, 0, sizeof *decoder);
    decoder->model = model;
    decoder->context = context;
    decoder->stored = (uint32_t)stored;
    decoder->packed = packed;
    decoder->features = wb__cpu_features();
    decoder->native = to->id != WB_DTYPE_F32;
    decoder->to = wb__decoder_gives(packed, to);
    open_parts(decoder);
    const wb__kind *kind =
        packed != NULL ? &packed->packing->kind : stored_kind(model, (uint32_t)stored);
    uint64_t bytes_per_unit = 0, bytes = 0;
    if (is_read_whole(packed)) {
        if (packed->packing->bits != 4 || kind->shape[0] % 8 != 0)
            return fail_unsupported(decoder);
        decoder->unit = kind->shape[kind->rank - 1] * 8;
        decoder->run = run_int4_rows;
    } else if (packed != NULL && packed->packing->scheme == WB__SCHEME_FP8_BLOCK) {
        decoder->unit = bytes_per_unit = kind->shape[kind->rank - 1];
        decoder->run = run_fp8_rows;
        bytes = scale_row_bytes(decoder);
    } else {
        bytes_per_unit = is_blocks(packed) ? plan_blocks(decoder) : plan_groups(decoder);
        if (bytes_per_unit == 0)
            return fail_unsupported(decoder);
    }
    decoder->units = decoder->unit == 0 ? 0 : kind->elements / decoder->unit;
    uint64_t batch = decoder->unit == 0 ? 0 : BATCH_ELEMENTS / decoder->unit;
    decoder->batch = batch == 0 ? 1 : (size_t)batch;
    if (is_read_whole(packed))
        return read_whole(decoder);
    uint32_t global = packed == NULL ? WB__NO_TENSOR : packed->parts[WB__PART_GLOBAL_SCALE];
    bytes += decoder->batch * bytes_per_unit +
             (global == WB__NO_TENSOR ? 0 : stored_kind(model, global)->bytes);
    if (bytes > SIZE_MAX)
        return wb__fail_memory(context);
    wb_status status = take_memory(decoder, (size_t)bytes);
    return status != WB_OK || packed == NULL ? status : plan_globals(decoder);
}

void wb__decoder_close(wb__decoder *decoder)
{
    for (int part = 0; part < WB__PARTS; part++)
        wb__raw_bytes_close(&decoder->files[part]);
    /* The allocation begins at the global scales, if there are any (see plan_globals). */
    uint8_t *memory =
        decoder->globals != NULL ? (uint8_t *)(uintptr_t)decoder->globals : decoder->memory;
    wb__free(&decoder->context->allocator, memory, decoder->memory_bytes);
    decoder->memory = NULL;
    wb__decode_cache_release_tensor(decoder->model->decode_cache, decoder->cached);
    decoder->cached = NULL;
}

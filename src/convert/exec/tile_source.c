/* Reads the source of a tile: stored bytes, or decoded values. Rows that are not contiguous in the
 * source are gathered, permuted or transposed, so that the result has the order of the output. */
#include "arch/row_order.h"
#include "convert/convert.h"
#include "dtype/dtype_block.h"
#include "read/raw_bytes.h"

/* ---- stored bytes ---- */

/* Returns the file range of n bytes that begin at byte `at` of a stored tensor. */
static wb__byte_range place_in(const wb_model *model, size_t stored, uint64_t at, uint64_t n)
{
    const wb__catalog *catalog = &model->catalog;
    return (wb__byte_range){.source = model->sources[wb__catalog_file_of(catalog, stored)],
                            .offset = wb__catalog_offset_of(catalog, stored) + at,
                            .bytes = (size_t)n};
}

static void swap(const wb__catalog *catalog, size_t stored, uint8_t *bytes, uint64_t n)
{
    const wb__dtype *dtype = wb__table_kind_of(&catalog->table, stored)->dtype;
    if (wb__catalog_is_swapped(catalog, stored))
        wb__dtype_swap(dtype, bytes, (size_t)(n * 8 / dtype->block_bits));
}

/* Reads n bytes that begin at byte `at` of a stored tensor. The caller sets *bytes to a buffer
 * of n bytes. The function sets *bytes to the read-ahead buffer instead if the data were read
 * ahead. */
static wb_status read_stored(const wb_conversion *conversion, wb__context *context,
                             wb__readahead *ahead, size_t stored, uint64_t at, uint8_t **bytes,
                             uint64_t n)
{
    const wb__catalog *catalog = &conversion->model->catalog;
    wb__raw_bytes source;
    wb__byte_range place = place_in(conversion->model, stored, at, n);
    wb_status status = WB_OK;
    uint8_t *there = NULL;
    context->file = catalog->files[wb__catalog_file_of(catalog, stored)].path;
    if (ahead != NULL)
        status = wb__readahead_take(ahead, context, &place, &there);
    if (there != NULL) {
        *bytes = there;
    } else if (status == WB_OK) {
        wb__raw_bytes_open(&source, conversion->model, context, stored);
        status = wb__raw_bytes_read(&source, at, *bytes, (size_t)n);
        wb__raw_bytes_close(&source);
    }
    if (status == WB_OK)
        swap(catalog, stored, *bytes, n);
    return status;
}

/* ---- rows of the source ---- */

/* Returns the longest run of source rows with which the rows of a tile begin. */
static wb__row_run run_of(const wb__planned_tensor *planned, const wb__tile_range *range)
{
    wb__row_run run = {
        .source = planned->source, .first = planned->first_row + range->first, .rows = range->rows};
    if (planned->gather != NULL) {
        run = wb__gather_at(planned->gather, range->first);
        run.rows = run.rows < range->rows ? run.rows : range->rows;
    } else if (planned->pieces != NULL) {
        /* All rows of a tile are in the same source tensor. */
        run.source = planned->pieces[run.first / planned->piece_rows];
        run.first %= planned->piece_rows;
    }
    return run;
}

/* Returns the part of a tile's range that the run of rows fills. */
static wb__tile_range source_range(const wb__tile_range *range, const wb__row_run *run)
{
    return (wb__tile_range){run->first, run->rows, range->column, range->columns};
}

/* Returns the stored tensor of a source tensor that contains a part (values, scales, biases). */
static size_t stored_part(const wb_conversion *conversion, uint64_t source, int part)
{
    const wb__packed *packed;
    size_t stored = wb__tensors_stored(&conversion->model->tensors, source, &packed);
    return packed == NULL ? stored : packed->parts[part];
}

bool wb__tile_place(const wb_conversion *conversion, const wb__planned_tensor *planned,
                    const wb__tile_range *range, wb__byte_range *place)
{
    uint64_t bytes[WB__PARTS], before[WB__PARTS];
    if (planned->by_view || planned->source == WB__NO_SOURCE || wb__planned_transposes(planned))
        return false;
    wb__row_run run = run_of(planned, range);
    wb__tile_range in_source = source_range(range, &run);
    if (run.rows < range->rows)
        return false; /* several reads would be necessary */
    size_t stored = stored_part(conversion, run.source, WB__PART_VALUES);
    (void)wb__encoding_spec_measure(&planned->from, range->rows, range->columns, bytes);
    wb__tile_before(planned, &planned->from, &in_source, before);
    *place = place_in(conversion->model, stored, before[WB__PART_VALUES], bytes[WB__PART_VALUES]);
    return place->bytes > 0 && wb__catalog_storing_of(&conversion->model->catalog, stored) == NULL;
}

/* ---- moving rows ---- */

/* Permutes the rows of a tile, which have `bytes` bytes each, from `src` to `dst`. */
static void permute(const wb__tile *tile, uint8_t *dst, const uint8_t *src, size_t bytes)
{
    const wb__planned_tensor *planned = tile->planned;
    uint64_t rows = planned->gather == NULL ? tile->range.rows : planned->head_rows;
    for (uint64_t row = 0; row < tile->range.rows; row += rows) {
        bool is_permuted = planned->gather == NULL ||
                           wb__gather_at(planned->gather, tile->range.first + row).is_permuted;
        wb__rows_reorder(is_permuted ? planned->row_order : WB__ROWS_UNCHANGED, planned->head_rows,
                         dst + row * bytes, src + row * bytes, rows, bytes);
    }
}

/* ---- transposing ---- */

/* A block of a source tensor: `columns` columns of `rows` rows of a matrix. */
typedef struct block {
    uint64_t source;
    uint64_t matrix;        /* index of the matrix in a stack of matrices */
    uint64_t height, width; /* size of the matrix */
    uint64_t row, rows;
    uint64_t column, columns;
    uint64_t to_row, to_column; /* where the transposed block begins in the tile */
} block;

/* Reads the stored elements of a block, which have `size` bytes each. */
static wb_status read_elements(const wb_conversion *conversion, wb__context *context,
                               const block *b, size_t size, uint8_t *dst)
{
    const wb__catalog *catalog = &conversion->model->catalog;
    size_t stored = stored_part(conversion, b->source, WB__PART_VALUES);
    size_t bytes = (size_t)b->columns * size;
    uint64_t first = b->matrix * b->height + b->row;
    wb__raw_bytes source;
    wb_status status = WB_OK;
    context->file = catalog->files[wb__catalog_file_of(catalog, stored)].path;
    wb__raw_bytes_open(&source, conversion->model, context, stored);
    for (uint64_t row = 0; row < b->rows && status == WB_OK; row++)
        status = wb__raw_bytes_read(&source, ((first + row) * b->width + b->column) * size,
                                    dst + row * bytes, bytes);
    wb__raw_bytes_close(&source);
    if (status == WB_OK)
        swap(catalog, stored, dst, b->rows * bytes);
    return status;
}

/* Reads the values of a block, converted to `dtype`. */
static wb_status read_block(const wb_conversion *conversion, wb__context *context,
                            const wb__planned_tensor *planned, const block *b, int32_t dtype,
                            size_t size, uint8_t *dst)
{
    const wb_axis axes[] = {{.start = b->matrix, .count = 1, .step = 1},
                            {.start = b->row, .count = b->rows, .step = 1},
                            {.start = b->column, .count = b->columns, .step = 1}};
    const wb_slice slice = {.size = sizeof slice,
                            .rank = planned->rank,
                            .axes = axes + (3 - planned->rank),
                            .count = UINT64_MAX};
    if (!planned->by_view)
        return read_elements(conversion, context, b, size, dst);
    return wb_tensor_read(conversion->model, b->source, &slice, dtype, dst,
                          b->rows * b->columns * size, context->error);
}

/* Writes the transposed block to a tile whose rows have `columns` elements. */
static void put_transposed(const block *b, uint64_t columns, size_t size, uint8_t *dst,
                           const uint8_t *src)
{
    for (uint64_t column = 0; column < b->columns; column++) {
        uint8_t *to = dst + ((b->to_row + column) * columns + b->to_column) * size;
        const uint8_t *from = src + column * size;
        for (uint64_t row = 0; row < b->rows; row++)
            memcpy(to + row * size, from + row * b->columns * size, size);
    }
}

/* Returns the block of source columns with which row `done` of the tile begins. */
static block block_of_columns(const wb__planned_tensor *planned, const wb__tile_range *range,
                              uint64_t done)
{
    wb__tile_range left = {.first = range->first + done, .rows = range->rows - done};
    wb__row_run run = run_of(planned, &left);
    return (block){.source = run.source,
                   .matrix = run.first / run.step,
                   .height = planned->columns,
                   .width = run.step,
                   .rows = planned->columns,
                   .column = run.first % run.step,
                   .columns = run.rows,
                   .to_row = done};
}

/* Returns the block of source rows with which column `done` of the tile begins. */
static block block_of_rows(const wb__planned_tensor *planned, const wb__tile_range *range,
                           uint64_t done)
{
    uint64_t height = planned->gather->matrix_rows, matrix = range->first / height;
    wb__tile_range left = {.first = matrix * planned->columns + done,
                           .rows = planned->columns - done};
    wb__row_run run = run_of(planned, &left);
    return (block){.source = run.source,
                   .matrix = run.first / run.step,
                   .height = run.step,
                   .width = height,
                   .row = run.first % run.step,
                   .rows = run.rows,
                   .column = range->first % height,
                   .columns = range->rows,
                   .to_column = done};
}

/* Reads the blocks of which a tile consists, and transposes them. */
static wb_status read_transposed(const wb_conversion *conversion, wb__context *context,
                                 const wb__tile *tile, int32_t dtype, size_t size, void *dst,
                                 void *scratch)
{
    const wb__planned_tensor *planned = tile->planned;
    bool by_columns = planned->gather->transposed == WB__TRANSPOSED_SOURCE;
    uint64_t end = by_columns ? tile->range.rows : planned->columns;
    wb_status status = WB_OK;
    for (uint64_t done = 0; done < end && status == WB_OK;) {
        block b = by_columns ? block_of_columns(planned, &tile->range, done)
                             : block_of_rows(planned, &tile->range, done);
        status = read_block(conversion, context, planned, &b, dtype, size, scratch);
        if (status == WB_OK)
            put_transposed(&b, planned->columns, size, dst, scratch);
        done += by_columns ? b.columns : b.rows;
    }
    return status;
}

/* ---- rows ---- */

/* Reads the bytes of one part (values, scales, biases) of the rows of a tile. *to is a buffer for
 * them; as in read_stored, it is replaced if the data were read ahead. */
static wb_status read_rows(const wb_conversion *conversion, wb__context *context,
                           const wb__tile *tile, int part, uint8_t **to)
{
    const wb__planned_tensor *planned = tile->planned;
    wb__tile_range left = tile->range;
    uint8_t *at = *to;
    wb_status status = WB_OK;
    while (left.rows > 0 && status == WB_OK) {
        uint64_t bytes[WB__PARTS], before[WB__PARTS];
        wb__row_run run = run_of(planned, &left);
        wb__tile_range in_source = source_range(&left, &run);
        (void)wb__encoding_spec_measure(&planned->from, run.rows, left.columns, bytes);
        wb__tile_before(planned, &planned->from, &in_source, before);
        uint8_t *read = at;
        status = read_stored(conversion, context, part == WB__PART_VALUES ? tile->ahead : NULL,
                             stored_part(conversion, run.source, part), before[part], &read,
                             bytes[part]);
        if (run.rows == tile->range.rows)
            *to = read;
        else if (status == WB_OK && read != at)
            memcpy(at, read, (size_t)bytes[part]);
        at += bytes[part];
        left.first += run.rows;
        left.rows -= run.rows;
    }
    return status;
}

/* Reads the bytes of a part, and moves the rows to the order of the output. `to` and `scratch` are
 * buffers for the part. Sets *in to the result. */
static wb_status read_part(const wb_conversion *conversion, wb__context *context,
                           const wb__tile *tile, int part, uint64_t bytes, uint8_t *to,
                           uint8_t **in)
{
    const wb__planned_tensor *planned = tile->planned;
    uint8_t *scratch = to + bytes;
    *in = to;
    if (wb__planned_transposes(planned))
        return read_transposed(conversion, context, tile, -1,
                               (size_t)(bytes / (tile->range.rows * tile->range.columns)), to,
                               scratch);
    if (!wb__planned_moves(planned))
        return read_rows(conversion, context, tile, part, in);
    wb_status status = read_rows(conversion, context, tile, part, &scratch);
    if (status == WB_OK)
        permute(tile, to, scratch, (size_t)(bytes / tile->range.rows));
    return status;
}

wb_status wb__tile_read_parts(const wb_conversion *conversion, wb__context *context,
                              const wb__tile *tile, uint8_t *in[WB__PARTS])
{
    const wb__planned_tensor *planned = tile->planned;
    uint64_t bytes[WB__PARTS];
    uint8_t *to = tile->raw;
    wb_status status = WB_OK;
    (void)wb__encoding_spec_measure(&planned->from, tile->range.rows, tile->range.columns, bytes);
    for (int part = 0; part < WB__PARTS && status == WB_OK; part++) {
        in[part] = NULL;
        if (bytes[part] == 0)
            continue;
        status = read_part(conversion, context, tile, part, bytes[part], to, &in[part]);
        to += wb__planned_moves(planned) ? 2 * bytes[part] : bytes[part];
    }
    return status;
}

/* ---- values ---- */

static wb_status read_row_values(const wb_conversion *conversion, wb__context *context,
                                 const wb__tile *tile, int32_t dtype, uint8_t *dst, uint64_t bytes)
{
    const wb__planned_tensor *planned = tile->planned;
    uint64_t row_bytes = bytes / tile->range.rows;
    wb__tile_range left = tile->range;
    wb_status status = WB_OK;
    while (left.rows > 0 && status == WB_OK) {
        wb__row_run run = run_of(planned, &left);
        wb_slice slice = {.size = sizeof slice,
                          .first = run.first * planned->columns + left.column,
                          .count = run.rows * left.columns};
        status = wb_tensor_read(conversion->model, run.source, &slice, dtype, dst,
                                run.rows * row_bytes, context->error);
        dst += run.rows * row_bytes;
        left.first += run.rows;
        left.rows -= run.rows;
    }
    return status;
}

wb_status wb__tile_read_values(const wb_conversion *conversion, wb__context *context,
                               const wb__tile *tile, int32_t dtype, void *dst, void *scratch,
                               uint64_t bytes)
{
    const wb__planned_tensor *planned = tile->planned;
    uint64_t elements = tile->range.rows * tile->range.columns;
    if (wb__planned_transposes(planned))
        return read_transposed(conversion, context, tile, dtype, (size_t)(bytes / elements), dst,
                               scratch);
    if (!wb__planned_moves(planned))
        return read_row_values(conversion, context, tile, dtype, dst, bytes);
    wb_status status = read_row_values(conversion, context, tile, dtype, scratch, bytes);
    if (status == WB_OK)
        permute(tile, dst, scratch, (size_t)(bytes / tile->range.rows));
    return status;
}

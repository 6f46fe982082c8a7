/*
 * Reads the values of a comparable. If the dtype is plain and consists of whole bytes, and the rows
 * are stored in Hugging Face order, values are converted directly into the caller's memory. All
 * other values pass through a window of consecutive decoded values in stored order. If rows are
 * permuted, the window holds whole heads. If a head is larger than WINDOW_MAX, the window holds a
 * part of the head. Each head is then read twice: once for the first half of its rows in Hugging
 * Face order, which are every other stored row, and once for the second half.
 */
#include "cpu/cpu.h"
#include "dtype/dtype_block.h"
#include "read/comparable.h"

/* A piece of this size stays in the processor cache until it is converted. */
#define RAW_BYTES ((size_t)64 << 10)
/* Minimum number of converted floats in the window. It is a multiple of the number of elements in a
 * block of every dtype. */
#define WINDOW_MIN ((uint64_t)64 << 10)
#define WINDOW_MAX ((uint64_t)1 << 20)

static const wb__dtype *plain_dtype(const wb__reader *reader)
{
    /* Complex numbers are read as pairs of floats. */
    return reader->per_element == 1 ? reader->kind->dtype : wb__dtype_get(WB_DTYPE_F32);
}

/* Reads floats of the current part, which is plain. The range consists of whole units. */
static wb_status read_plain(wb__reader *reader, uint64_t first, size_t n, float *dst)
{
    const wb__dtype *dtype = plain_dtype(reader);
    const wb__dtype *to = wb__dtype_get(WB_DTYPE_F32);
    bool swap = wb__catalog_is_swapped(&reader->model->catalog, reader->bytes.tensor);
    uint64_t at = wb__dtype_bytes(dtype, first);
    if (dtype == to && !swap)
        return wb__raw_bytes_read(&reader->bytes, at, dst, n * sizeof *dst);
    size_t unit = wb__dtype_unit_bytes(dtype);
    size_t room = (size_t)wb__dtype_elements(dtype, RAW_BYTES - RAW_BYTES % unit);
    while (n > 0) {
        size_t piece = n < room ? n : room;
        size_t bytes = (size_t)wb__dtype_bytes(dtype, piece);
        wb_status status = wb__raw_bytes_read(&reader->bytes, at, reader->raw, bytes);
        if (status != WB_OK)
            return status;
        if (swap)
            wb__dtype_swap(dtype, reader->raw, bytes / unit);
        if (reader->widen != NULL)
            reader->widen(reader->raw, dst, piece);
        else
            wb__dtype_convert(dtype, reader->raw, 0, to, dst, piece);
        at += bytes;
        dst += piece;
        n -= piece;
    }
    return WB_OK;
}

static bool is_direct(const wb__reader *reader)
{
    return !reader->decodes && reader->subject->order.head_rows == 0 &&
           plain_dtype(reader)->block_bits % 8 == 0;
}

/* ---- the window ---- */

static uint64_t head_floats(const wb__reader *reader)
{
    const wb__row_order *order = &reader->subject->order;
    return order->head_rows * order->columns; /* no overflow: at most the tensor's elements */
}

static uint64_t window_floats(const wb__reader *reader)
{
    uint64_t head = head_floats(reader);
    uint64_t floats = head <= WINDOW_MIN ? WINDOW_MIN : head < WINDOW_MAX ? head : WINDOW_MAX;
    if (head > 0 && head <= WINDOW_MAX)
        floats -= floats % head; /* rounded down to whole heads */
    if (reader->decodes && floats < reader->decoder.unit)
        floats = reader->decoder.unit;
    return floats;
}

static wb_status grow_window(wb__reader *reader)
{
    uint64_t floats = window_floats(reader);
    if (floats > reader->part_floats) /* limit to the part, which consists of whole units */
        floats = reader->part_floats;
    if (floats <= reader->window_capacity)
        return WB_OK;
    const wb_allocator *allocator = &reader->context->allocator;
    wb__free(allocator, reader->window, reader->window_capacity * sizeof *reader->window);
    reader->window_capacity = 0;
    reader->window = NULL;
    if (floats > SIZE_MAX / sizeof *reader->window)
        return wb__fail_memory(reader->context);
    reader->window = wb__alloc(allocator, (size_t)floats * sizeof *reader->window);
    if (reader->window == NULL)
        return wb__fail_memory(reader->context);
    reader->window_capacity = (size_t)floats;
    return WB_OK;
}

static wb_status decode(wb__reader *reader, uint64_t first, size_t floats)
{
    wb__decoder *decoder = &reader->decoder;
    uint64_t unit = first / decoder->unit;
    float *dst = reader->window;
    for (size_t units = (size_t)(floats / decoder->unit); units > 0;) {
        size_t n = units < decoder->batch ? units : decoder->batch;
        wb_status status = decoder->run(decoder, unit, n, (uint8_t *)dst);
        if (status != WB_OK)
            return status;
        dst += n * decoder->unit;
        unit += n;
        units -= n;
    }
    return WB_OK;
}

/* Fills the window with consecutive values of the current part, including float `at`. */
static wb_status fill_window(wb__reader *reader, uint64_t at)
{
    uint64_t floats = window_floats(reader);
    uint64_t head = head_floats(reader);
    uint64_t step = head > 0 && head <= WINDOW_MAX ? head : floats;
    if (reader->decodes) {
        uint64_t unit = reader->decoder.unit;
        floats -= floats % unit;
        step = head > 0 && head <= WINDOW_MAX && head % unit == 0 ? head : unit;
    }
    uint64_t begin = at - at % step;
    if (floats > reader->part_floats - begin)
        floats = reader->part_floats - begin;
    reader->window_count = 0;
    wb_status status = reader->decodes ? decode(reader, begin, (size_t)floats)
                                       : read_plain(reader, begin, (size_t)floats, reader->window);
    if (status != WB_OK)
        return status;
    reader->window_at = begin;
    reader->window_count = (size_t)floats;
    return WB_OK;
}

/* Copies floats of the current part in stored order. */
static wb_status copy_stored(wb__reader *reader, uint64_t first, size_t n, float *dst)
{
    while (n > 0) {
        if (first < reader->window_at || first - reader->window_at >= reader->window_count) {
            wb_status status = fill_window(reader, first);
            if (status != WB_OK)
                return status;
        }
        size_t from = (size_t)(first - reader->window_at);
        size_t piece = reader->window_count - from < n ? reader->window_count - from : n;
        memcpy(dst, reader->window + from, piece * sizeof *dst);
        first += piece;
        dst += piece;
        n -= piece;
    }
    return WB_OK;
}

/* Copies floats of the current part in Hugging Face order. */
static wb_status copy_in_order(wb__reader *reader, uint64_t first, size_t n, float *dst)
{
    const wb__row_order *order = &reader->subject->order;
    if (order->head_rows == 0)
        return copy_stored(reader, first, n, dst);
    while (n > 0) {
        uint64_t within = first % order->columns;
        uint64_t row = wb__row_order_stored(order->head_rows, first / order->columns);
        size_t piece = order->columns - within < n ? (size_t)(order->columns - within) : n;
        wb_status status = copy_stored(reader, row * order->columns + within, piece, dst);
        if (status != WB_OK)
            return status;
        first += piece;
        dst += piece;
        n -= piece;
    }
    return WB_OK;
}

/* ---- parts ---- */

static void drop_part(wb__reader *reader)
{
    if (reader->decodes)
        wb__decoder_close(&reader->decoder);
    else if (reader->part != UINT64_MAX)
        wb__raw_bytes_close(&reader->bytes);
    reader->decodes = false;
    reader->part = UINT64_MAX;
    reader->window_count = 0;
}

static wb_status take_part(wb__reader *reader, uint64_t part)
{
    const wb__comparable *subject = reader->subject;
    const wb__catalog *catalog = &reader->model->catalog;
    uint64_t number = subject->view != NULL ? subject->view->parts[part] : subject->number;
    wb__codec codec;
    drop_part(reader);
    size_t stored = wb__tensors_stored(&reader->model->tensors, number, &reader->packed);
    reader->file = catalog->files[wb__catalog_file_of(catalog, stored)].path;
    reader->context->file = reader->file;
    reader->kind = reader->packed != NULL ? &reader->packed->packing->kind
                                          : wb__table_kind_of(&catalog->table, stored);
    reader->per_element = reader->kind->dtype->kind == WB__CLASS_COMPLEX ? 2 : 1;
    reader->part_floats = reader->kind->elements * reader->per_element;
    reader->widen = NULL;
    if (reader->packed != NULL || !wb__dtype_is_plain(reader->kind->dtype)) {
        reader->decodes = true;
        wb_status status = wb__decoder_open(&reader->decoder, reader->model, reader->context,
                                            stored, reader->packed, wb__dtype_get(WB_DTYPE_F32));
        if (status != WB_OK)
            return status;
    } else {
        if (reader->raw == NULL)
            reader->raw = wb__alloc(&reader->context->allocator, RAW_BYTES);
        if (reader->raw == NULL)
            return wb__fail_memory(reader->context);
        if (wb__codec_get(reader->kind->dtype->id, wb__cpu_features(), &codec))
            reader->widen = codec.decode;
        wb__raw_bytes_open(&reader->bytes, reader->model, reader->context, stored);
    }
    reader->part = part;
    return is_direct(reader) ? WB_OK : grow_window(reader);
}

wb_status wb__reader_open(wb__reader *reader, const wb_model *model, wb__context *context,
                          const wb__comparable *subject)
{
    if (reader->context != NULL)
        drop_part(reader);
    reader->model = model;
    reader->context = context;
    reader->subject = subject;
    reader->part = UINT64_MAX;
    return WB_OK;
}

void wb__reader_close(wb__reader *reader)
{
    if (reader->context == NULL)
        return;
    const wb_allocator *allocator = &reader->context->allocator;
    drop_part(reader);
    wb__free(allocator, reader->raw, RAW_BYTES);
    wb__free(allocator, reader->window, reader->window_capacity * sizeof *reader->window);
    memset(reader, 0, sizeof *reader);
}

wb_status wb__reader_read(wb__reader *reader, uint64_t first, size_t n, float *dst)
{
    const wb__comparable *subject = reader->subject;
    uint64_t per_part =
        subject->view != NULL ? subject->floats / subject->view->count : subject->floats;
    while (n > 0) {
        uint64_t part = first / per_part;
        uint64_t within = first % per_part;
        size_t piece = per_part - within < n ? (size_t)(per_part - within) : n;
        wb_status status = part == reader->part ? WB_OK : take_part(reader, part);
        reader->context->file = reader->file;
        if (status == WB_OK)
            status = is_direct(reader) ? read_plain(reader, within, piece, dst)
                                       : copy_in_order(reader, within, piece, dst);
        if (status != WB_OK)
            return status;
        for (size_t i = 0; i < piece && subject->order.offset != 0; i++)
            dst[i] += subject->order.offset;
        first += piece;
        dst += piece;
        n -= piece;
    }
    reader->context->file = "";
    return WB_OK;
}

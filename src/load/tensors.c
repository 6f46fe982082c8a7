#include "dtype/block.h"
#include "load/load.h"

/* The number callers know a stored tensor by, where it is part of another one that of the part. */
static uint64_t number_of(const wb__tensors *tensors, size_t stored)
{
    const wb__packed *packed;
    if (tensors->stored == NULL)
        return stored;
    uint64_t number = tensors->seen_as[stored];
    (void)wb__tensors_stored(tensors, number, &packed);
    return packed != NULL ? (uint64_t)tensors->count + stored : number;
}

static wb_status consume(wb__lane *lane, wb_piece *piece)
{
    const wb_load_options *options = lane->load->options;
    if (options->consume != NULL) {
        uint64_t start = wb__load_now();
        int stop = options->consume(options->ctx, piece);
        lane->spent.consume_ns += wb__load_now() - start;
        if (stop != 0)
            return wb__fail(&lane->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                            WB__STR(""), "stopped on request");
    }
    return options->device == NULL ? WB_OK : wb__upload_piece(lane, piece);
}

/* Elements first … first + n - 1, which lie at `data`, in pieces that stay in the nearest cache. */
static wb_status convert(wb__lane *lane, wb_piece *piece, const wb__dtype *from, uint64_t first,
                         const uint8_t *data, uint64_t n)
{
    const wb__dtype *to = lane->load->dtype;
    uint64_t step = wb__dtype_elements(to, WB__CONVERT_BYTES);
    for (uint64_t i = 0; i < n; i += step) {
        size_t count = (size_t)(n - i < step ? n - i : step);
        uint64_t start = wb__load_now();
        wb__dtype_convert(from, data + wb__dtype_bytes(from, i), 0, to, lane->convert, count);
        lane->spent.convert_ns += wb__load_now() - start;
        piece->at = wb__dtype_bytes(to, first + i);
        piece->bytes = wb__dtype_bytes(to, count);
        piece->data = lane->convert;
        piece->dtype = to->id;
        piece->lasting = 0;
        wb_status status = consume(lane, piece);
        if (status != WB_OK)
            return status;
    }
    return WB_OK;
}

/*
 * The bytes from `begin` to `end` of a tensor, converted: all elements that begin in them. One that
 * goes on in the next piece, as may happen where tensors are not aligned, is read by itself.
 */
static wb_status convert_part(wb__lane *lane, const wb__load_piece *in, wb_piece *piece,
                              const wb__dtype *from, uint64_t tensor_at, uint64_t begin,
                              uint64_t end, const uint8_t *data)
{
    uint64_t unit = wb__dtype_unit_bytes(from);
    uint64_t first = begin / unit + (begin % unit != 0);
    uint64_t whole = end / unit;
    uint8_t element[64];
    wb_status status = WB_OK;
    if (whole > first)
        status = convert(lane, piece, from, first, data + (first * unit - begin), whole - first);
    if (status != WB_OK || end % unit == 0 || whole < first)
        return status;
    status = wb__source_read(in->file->source, &lane->context, tensor_at + whole * unit, element,
                             (size_t)unit);
    return status != WB_OK ? status : convert(lane, piece, from, whole, element, 1);
}

static bool is_converted(const wb__load *load, const wb__dtype *from)
{
    return load->dtype != NULL && load->dtype != from && wb__dtype_is_float(from) &&
           from->block_bits % 8 == 0;
}

wb_status wb__load_hand_over(wb__lane *lane, const wb__load_piece *in)
{
    const wb_model *model = lane->load->model;
    const wb__table *table = &model->logical.table;
    const wb__model_file *file = &model->logical.files[in->number];
    const wb__load_file *load_file = in->file;
    wb_status status = WB_OK;
    if (lane->load->options->consume == NULL && lane->load->dtype == NULL &&
        lane->load->options->device == NULL)
        return WB_OK;
    for (size_t i = in->first_tensor; i < load_file->order.count && status == WB_OK; i++) {
        size_t tensor = wb__order_at(&load_file->order, i);
        const wb__dtype *from = wb__table_kind_of(table, tensor)->dtype;
        uint64_t at = file->data_begin + wb__tensor_begin(table, tensor);
        uint64_t end = file->data_begin + wb__tensor_end(table, tensor);
        if (at >= in->end)
            break;
        uint64_t begin = at > in->begin ? at : in->begin;
        if (end > in->end)
            end = in->end;
        if (begin >= end)
            continue;
        wb_piece piece = {.size = sizeof piece,
                          .tensor = number_of(&model->tensors, tensor),
                          .at = begin - at,
                          .bytes = end - begin,
                          .data = in->data + (begin - in->begin),
                          .dtype = from->id,
                          .lasting = in->lasting};
        status = is_converted(lane->load, from)
                     ? convert_part(lane, in, &piece, from, at, begin - at, end - at, piece.data)
                     : consume(lane, &piece);
    }
    return status;
}

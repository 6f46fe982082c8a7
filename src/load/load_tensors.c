#include "dtype/dtype_block.h"
#include "load/load_messages.h"
#include "load/load_parts.h"
#include "read/raw_bytes.h"

/* Converts `stored`, the index of a stored tensor in the catalog, to the index that wb_tensor_at
 * uses. For wb_tensor_at, the parts of packed tensors (values, scales, …) follow all other
 * tensors. */
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
        uint64_t start = wb__now();
        int stop = options->consume(options->ctx, piece);
        lane->spent.consume_ns += wb__now() - start;
        if (stop != 0)
            return wb__fail(&lane->context, WB_ERROR_CANCELLED, WB__FINDING_CANCELLED, WB_NO_OFFSET,
                            WB__STR(""), WB__MSG_LOAD_CANCELLED);
    }
    return options->device == NULL ? WB_OK : wb__upload_piece(lane, piece);
}

/* Converts n elements at `data`, of which the first is element `first` of the tensor, and hands
 * them over in steps of WB__CONVERT_BYTES. */
static wb_status convert(wb__lane *lane, wb_piece *piece, const wb__dtype *from, uint64_t first,
                         const uint8_t *data, uint64_t n)
{
    const wb__dtype *to = lane->load->dtype;
    uint64_t step = wb__dtype_elements(to, WB__CONVERT_BYTES);
    for (uint64_t i = 0; i < n; i += step) {
        size_t count = (size_t)(n - i < step ? n - i : step);
        uint64_t start = wb__now();
        wb__dtype_convert(from, data + wb__dtype_bytes(from, i), 0, to, lane->convert, count);
        lane->spent.convert_ns += wb__now() - start;
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
 * Converts all elements that begin between the bytes `begin` and `end` of a tensor. If the last of
 * them ends in the next piece, as in an unaligned tensor, that element is read separately.
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

/* ---- tensors whose stored bytes differ from the result ---- */

/*
 * Reads a complete tensor and hands it over in steps that fit into the buffer of the current slot.
 * The previous contents of the buffer are already processed. The worker whose piece contains the
 * start of the tensor does this.
 */
static wb_status hand_over_apart(wb__lane *lane, wb_piece *piece, size_t tensor)
{
    const wb_model *model = lane->load->model;
    const wb__kind *kind = wb__table_kind_of(&model->catalog.table, tensor);
    uint64_t unit = wb__dtype_unit_bytes(kind->dtype);
    uint64_t step = lane->load->piece_bytes - lane->load->piece_bytes % unit;
    bool swaps = wb__catalog_is_swapped(&model->catalog, tensor);
    wb_status status = WB_OK;
    wb__raw_bytes stored;
    wb__raw_bytes_open(&stored, model, &lane->context, tensor);
    for (uint64_t at = 0; at < kind->bytes && status == WB_OK; at += step) {
        size_t n = (size_t)(kind->bytes - at < step ? kind->bytes - at : step);
        if (lane->upload != NULL) /* a transfer from the buffer may still be in progress */
            status = wb__upload_wait(lane);
        uint64_t start = wb__now();
        if (status == WB_OK)
            status = wb__raw_bytes_read(&stored, at, lane->buffer, n);
        if (status == WB_OK && swaps)
            wb__dtype_swap(kind->dtype, lane->buffer, (size_t)(n / unit));
        lane->spent.read_ns += wb__now() - start;
        if (status != WB_OK)
            break;
        piece->at = at;
        piece->bytes = n;
        piece->data = lane->buffer;
        piece->lasting = 0;
        status = wb__load_is_converted(lane->load, kind->dtype)
                     ? convert(lane, piece, kind->dtype, at / unit, lane->buffer, n / unit)
                     : consume(lane, piece);
    }
    wb__raw_bytes_close(&stored);
    return status;
}

/* ---- pieces ---- */

static wb_status hand_over(wb__lane *lane, const wb__load_piece *in, const wb__load_part *p)
{
    wb_piece piece = {.size = sizeof piece,
                      .tensor = number_of(&lane->load->model->tensors, p->tensor),
                      .dtype = p->dtype->id};
    if (p->apart)
        return hand_over_apart(lane, &piece, p->tensor);
    piece.at = p->begin - p->tensor_at;
    piece.bytes = p->end - p->begin;
    piece.data = in->data + (p->begin - in->begin);
    piece.lasting = in->lasting;
    return wb__load_is_converted(lane->load, p->dtype)
               ? convert_part(lane, in, &piece, p->dtype, p->tensor_at, piece.at,
                              p->end - p->tensor_at, piece.data)
               : consume(lane, &piece);
}

wb_status wb__load_hand_over(wb__lane *lane, const wb__load_piece *in)
{
    wb_status status = WB_OK;
    wb__load_part p;
    if (lane->load->options->consume == NULL && lane->load->dtype == NULL &&
        lane->load->options->device == NULL)
        return WB_OK;
    /* Hand over the tensors whose bytes are in the buffer first, because the separate reads
     * below overwrite the buffer. */
    for (size_t i = in->first_tensor; status == WB_OK && wb__load_part_of(lane->load, in, i, &p);
         i++) {
        if (!p.apart && p.begin < p.end)
            status = hand_over(lane, in, &p);
    }
    for (size_t i = in->first_tensor; status == WB_OK && wb__load_part_of(lane->load, in, i, &p);
         i++) {
        if (p.apart && p.tensor_at >= in->begin)
            status = hand_over(lane, in, &p);
    }
    return status;
}

/*
 * Verifies the position of tensors: all are inside the file and none overlap. ggml requires more:
 * each tensor starts at the next multiple of the alignment, in header order. For files that meet
 * this requirement, only the end of the last tensor is checked; for all others the tensors are
 * sorted. A layout that the specification permits and ggml rejects causes a warning.
 */
#include "formats/formats_messages.h"
#include "formats/gguf/gguf_reader.h"
#include "model/file_order.h"

/*
 * Returns the number of bytes that the file is too short: how far the tensors extend beyond the end
 * of the file.
 */
static uint64_t missing_bytes(const wb__gguf_reader *reader)
{
    const wb__table *table = &reader->model->table;
    const wb__catalog_file *file = reader->file;
    uint64_t data_bytes = reader->file_bytes - file->data_begin, needed = data_bytes;
    for (size_t i = file->first_tensor; i < file->first_tensor + file->tensor_count; i++) {
        uint64_t end;
        if (!wb__add(wb__tensor_begin(table, i), wb__table_kind_of(table, i)->bytes, &end))
            end = UINT64_MAX;
        needed = end > needed ? end : needed;
    }
    return needed - data_bytes;
}

static wb_status fail_extent(wb__gguf_reader *reader, size_t tensor)
{
    const wb__table *table = &reader->model->table;
    uint64_t begin = wb__tensor_begin(table, tensor);
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_EXTENT,
                    wb__gguf_offset_field(reader, tensor), wb__table_name(table, tensor),
                    WB__MSG_GGUF_TENSOR_PAST_END,
                    (unsigned long long)wb__table_kind_of(table, tensor)->bytes,
                    (unsigned long long)begin,
                    (unsigned long long)(reader->file_bytes - reader->file->data_begin),
                    (unsigned long long)missing_bytes(reader));
}

/* Reports the first tensor in header order that is not inside the file. */
static wb_status check_extents(wb__gguf_reader *reader)
{
    const wb__table *table = &reader->model->table;
    const wb__catalog_file *file = reader->file;
    uint64_t data_bytes = reader->file_bytes - file->data_begin;
    for (size_t i = file->first_tensor; i < file->first_tensor + file->tensor_count; i++) {
        if (!wb__in_range(wb__tensor_begin(table, i), wb__table_kind_of(table, i)->bytes,
                          data_bytes))
            return fail_extent(reader, i);
    }
    return WB_OK;
}

static wb_status fail_overlap(wb__gguf_reader *reader, size_t tensor, size_t other)
{
    const wb__table *table = &reader->model->table;
    char shown[80];
    /* Report the tensor that comes later in the header. */
    size_t later = tensor > other ? tensor : other, earlier = tensor > other ? other : tensor;
    wb__printable(shown, sizeof shown, wb__table_name(table, earlier));
    return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_OVERLAP,
                    wb__gguf_offset_field(reader, later), wb__table_name(table, later),
                    WB__MSG_GGUF_TENSOR_OVERLAP, shown);
}

typedef struct oddities {
    uint64_t gaps, swaps;
    size_t first_gap, first_swap; /* tensor indices */
} oddities;

/* Checks the tensors in file order; empty tensors occupy no bytes and are skipped. */
static wb_status check_places(wb__gguf_reader *reader, const wb__order *order, oddities *odd)
{
    const wb__table *table = &reader->model->table;
    uint64_t end = 0, next = 0;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < order->count; i++) {
        size_t tensor = wb__order_at(order, i);
        uint64_t begin = wb__tensor_begin(table, tensor);
        if (wb__table_kind_of(table, tensor)->bytes == 0)
            continue;
        if (last != SIZE_MAX && begin < end)
            return fail_overlap(reader, tensor, last);
        if (begin > next && odd->gaps++ == 0)
            odd->first_gap = tensor;
        end = wb__tensor_end(table, tensor);
        if (!wb__align_up(end, reader->alignment, &next))
            next = UINT64_MAX;
        last = tensor;
    }
    return WB_OK;
}

static void count_swaps(const wb__gguf_reader *reader, oddities *odd)
{
    const wb__table *table = &reader->model->table;
    const wb__catalog_file *file = reader->file;
    for (size_t i = file->first_tensor + 1; i < file->first_tensor + file->tensor_count; i++) {
        if (wb__tensor_begin(table, i) < wb__tensor_begin(table, i - 1) && odd->swaps++ == 0)
            odd->first_swap = i;
    }
}

static wb_status note_oddities(wb__gguf_reader *reader, const oddities *odd)
{
    const wb__table *table = &reader->model->table;
    wb_status status = WB_OK;
    if (odd->swaps > 0)
        status = wb__note(reader->context, WB_WARNING, WB__FINDING_GGUF_ORDER,
                          wb__gguf_offset_field(reader, odd->first_swap),
                          wb__table_name(table, odd->first_swap), WB__MSG_GGUF_TENSOR_ORDER,
                          (unsigned long long)odd->swaps);
    if (status == WB_OK && odd->gaps > 0)
        status = wb__note(reader->context, WB_WARNING, WB__FINDING_GGUF_GAP,
                          wb__gguf_offset_field(reader, odd->first_gap),
                          wb__table_name(table, odd->first_gap), WB__MSG_GGUF_TENSOR_GAP,
                          (unsigned long long)odd->gaps);
    return status;
}

/* Checks the tensors in file order. Sets *end to the end of the tensor that ends last. */
static wb_status sort_and_check(wb__gguf_reader *reader, uint64_t *end)
{
    const wb__table *table = &reader->model->table;
    oddities odd = {0, 0, 0, 0};
    wb__order order;
    wb_status status = wb__order_make(&order, reader->context, table, reader->file);
    if (status == WB_OK)
        status = check_places(reader, &order, &odd);
    for (size_t i = 0; status == WB_OK && i < order.count; i++) {
        uint64_t tensor_end = wb__tensor_end(table, wb__order_at(&order, i));
        *end = tensor_end > *end ? tensor_end : *end;
    }
    wb__order_free(&order);
    if (status != WB_OK)
        return status;
    count_swaps(reader, &odd);
    return note_oddities(reader, &odd);
}

static wb_status note_trailing(wb__gguf_reader *reader, uint64_t end)
{
    uint64_t padded;
    if (!wb__align_up(end, reader->alignment, &padded) || padded >= reader->file_bytes)
        return WB_OK;
    /*
     * Some writers add bytes after the padding. They are reported as an info or, in a file without
     * tensors, as a warning.
     */
    return wb__note(reader->context, reader->tensors > 0 ? WB_INFO : WB_WARNING,
                    WB__FINDING_GGUF_TRAILING, padded, WB__STR(""), WB__MSG_GGUF_TRAILING_BYTES,
                    (unsigned long long)(reader->file_bytes - padded));
}

static wb_status place_data(wb__gguf_reader *reader)
{
    wb__catalog_file *file = reader->file;
    if (!wb__align_up(file->header_end, reader->alignment, &file->data_begin))
        file->data_begin = UINT64_MAX;
    if (file->data_begin <= reader->file_bytes)
        return WB_OK;
    if (reader->tensors > 0)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_GGUF_TRUNCATED,
                        reader->file_bytes, WB__STR(""), WB__MSG_GGUF_NO_DATA,
                        (unsigned long long)reader->file_bytes,
                        (unsigned long long)file->data_begin);
    file->data_begin = reader->file_bytes;
    return WB_OK;
}

wb_status wb__gguf_verify_layout(wb__gguf_reader *reader)
{
    const wb__catalog_file *file = reader->file;
    wb_status status = place_data(reader);
    if (status != WB_OK)
        return status;
    if (file->tensor_count == 0)
        return note_trailing(reader, file->header_end);
    const wb__table *table = &reader->model->table;
    size_t last = file->first_tensor + file->tensor_count - 1;
    uint64_t end = wb__tensor_end(table, last);
    if (reader->irregular || end > reader->file_bytes - file->data_begin) {
        status = check_extents(reader);
        if (status != WB_OK)
            return status;
    }
    if (reader->irregular) {
        end = 0;
        status = sort_and_check(reader, &end);
    }
    return status != WB_OK ? status : note_trailing(reader, file->data_begin + end);
}

/*
 * Verifies that the tensors cover the data exactly: sorted by offset, each starts where the
 * previous one ends, the first starts at 0 and the last ends at the end of the file. These are
 * rules 8 to 12 in docs/format/safetensors.md; the first violation in that order is reported.
 *
 * If the decoder found that the tensors are already sorted and without faults, as in files of the
 * official library, only rule 12 is left to check. Otherwise a fast check (model/tiling.h) detects
 * whether there is any violation. If so, the tensors are sorted (model/file_order.h) to find the
 * first one.
 */
#include "formats/formats_messages.h"
#include "formats/safetensors/safetensors_reader.h"
#include "model/file_order.h"
#include "model/tiling.h"

/*
 * If kind.fault is set, kind.bytes is end - begin modulo 2^64. wb__tensor_end adds kind.bytes to
 * begin and thus returns the stored end, even if the end is before begin.
 */
static wb_status check_tensor(wb__st_reader *reader, size_t tensor, uint64_t expected)
{
    wb__context *context = reader->context;
    const wb__table *table = reader->table;
    const wb__kind *kind = wb__table_kind_of(table, tensor);
    wb__str name = wb__table_name(table, tensor);
    uint64_t at = WB__ST_LENGTH_BYTES + wb__record_at(table, tensor)->where;
    unsigned long long begin = wb__tensor_begin(table, tensor), end = wb__tensor_end(table, tensor);

    if (end < begin)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_OFFSETS, at, name,
                        WB__MSG_ST_OFFSETS_REVERSED, begin, end);
    if (begin != expected)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_OFFSETS, at, name,
                        WB__MSG_ST_OFFSETS, begin, end,
                        begin < expected ? "overlap another tensor" : "leave a gap",
                        (unsigned long long)expected);
    switch (kind->fault) {
    case WB__KIND_SOUND: return WB_OK;
    case WB__KIND_OVERFLOW:
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_OVERFLOW, at, name,
                        WB__MSG_ST_OVERFLOW);
    case WB__KIND_SUB_BYTE:
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_SUB_BYTE, at, name,
                        WB__MSG_ST_SUB_BYTE, (unsigned long long)kind->elements, kind->dtype->name);
    case WB__KIND_SIZE:
    case WB__KIND_BLOCK: break;
    }
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_TENSOR_SIZE, at, name,
                    WB__MSG_ST_TENSOR_SIZE, (unsigned long long)kind->elements, kind->dtype->name,
                    (unsigned long long)(kind->elements * kind->dtype->block_bits / 8), begin, end,
                    end - begin);
}

/* Checks rules 8 to 11 of docs/format/safetensors.md. Sets *data_bytes to the end of the last
 * tensor. */
static wb_status check_places(wb__st_reader *reader, const wb__order *order, uint64_t *data_bytes)
{
    *data_bytes = 0;
    for (size_t i = 0; i < order->count; i++) {
        size_t tensor = wb__order_at(order, i);
        wb_status status = check_tensor(reader, tensor, *data_bytes);
        if (status != WB_OK)
            return status;
        *data_bytes = wb__tensor_end(reader->table, tensor);
    }
    return WB_OK;
}

static wb_status sort_and_check(wb__st_reader *reader, uint64_t *data_bytes)
{
    wb__order order;
    wb_status status = wb__order_make(&order, reader->context, reader->table,
                                      wb__catalog_file_in_hand(reader->model));
    if (status == WB_OK)
        status = check_places(reader, &order, data_bytes);
    wb__order_free(&order);
    return status;
}

wb_status wb__st_verify_layout(wb__st_reader *reader)
{
    const wb__catalog_file *file = wb__catalog_file_in_hand(reader->model);
    uint64_t data_bytes = reader->expected;
    if (reader->irregular &&
        !wb__tiling_check(reader->table, file, &reader->context->allocator, &data_bytes)) {
        wb_status status = sort_and_check(reader, &data_bytes);
        if (status != WB_OK)
            return status;
    }
    uint64_t present = file->bytes - file->data_begin;
    if (data_bytes < present)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_COVERAGE,
                        file->data_begin + data_bytes, WB__STR(""), WB__MSG_ST_TRAILING,
                        (unsigned long long)(present - data_bytes));
    if (data_bytes > present)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_COVERAGE, file->bytes,
                        WB__STR(""), WB__MSG_ST_TRUNCATED, (unsigned long long)file->bytes,
                        (unsigned long long)(data_bytes - present));
    return WB_OK;
}

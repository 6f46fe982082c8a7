/*
 * The rules that join tensors with one another: in the order of their offsets each begins where the
 * one before it ends, the first at 0 and the last ending with the file. Steps 6 and 7 of the rules in
 * docs/format/safetensors.md; the first tensor in that order that breaks one decides.
 *
 * Files as writers write them are in order already, which decoding has seen. For all others the
 * tensors are sorted, by radix, so that no order a stranger picks costs more than another.
 */
#include "formats/safetensors/reader.h"

typedef struct place {
    uint64_t key; /* what is sorted by */
    uint32_t tensor;
} place;

static uint64_t begin_of(const wb__st_reader *reader, uint32_t tensor)
{
    return wb__record_at(reader->table, tensor)->begin;
}

static uint64_t end_of(const wb__st_reader *reader, uint32_t tensor)
{
    /* Where a kind has a fault its bytes may be "negative"; the sum undoes that. */
    return begin_of(reader, tensor) + wb__table_kind_of(reader->table, tensor)->bytes;
}

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* One pass of a stable radix sort, by DIGIT_BITS bits of the key. */
static void sort_pass(const place *from, place *to, size_t n, unsigned shift)
{
    size_t starts[DIGITS] = {0};
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        starts[from[i].key >> shift & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t count = starts[digit];
        starts[digit] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* Sorts *places by begin or end; *spare is room for as many, and the two may change roles. */
static void sort_by(const wb__st_reader *reader,
                    uint64_t (*key_of)(const wb__st_reader *reader, uint32_t tensor),
                    place **places, place **spare, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits |= (*places)[i].key = key_of(reader, (*places)[i].tensor);
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((bits >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_pass(*places, *spare, n, shift);
        place *swapped = *places;
        *places = *spare;
        *spare = swapped;
    }
}

/* True if of two places that begin together the first one never ends later. */
static bool ends_ascend(const wb__st_reader *reader, const place *places, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (places[i].key == places[i - 1].key &&
            end_of(reader, places[i].tensor) < end_of(reader, places[i - 1].tensor))
            return false;
    }
    return true;
}

/* By (begin, end), in the order of the header where both are equal. */
static void sort_places(const wb__st_reader *reader, place **places, place **spare, size_t n)
{
    sort_by(reader, begin_of, places, spare, n);
    if (!ends_ascend(reader, *places, n)) { /* possible with empty tensors, and in bad files */
        sort_by(reader, end_of, places, spare, n);
        sort_by(reader, begin_of, places, spare, n);
    }
}

static wb_status check_tensor(wb__st_reader *reader, uint32_t tensor, uint64_t expected)
{
    wb__context *context = reader->context;
    const wb__table *table = reader->table;
    const wb__kind *kind = wb__table_kind_of(table, tensor);
    wb__str name = wb__table_name(table, tensor);
    uint64_t at = WB__ST_LENGTH_BYTES + wb__record_at(table, tensor)->where;
    unsigned long long begin = begin_of(reader, tensor), end = end_of(reader, tensor);

    if (end < begin)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_OFFSETS, at, name,
                        "data_offsets [%llu, %llu] end before they begin", begin, end);
    if (begin != expected)
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_OFFSETS, at, name,
                        "data_offsets [%llu, %llu] %s: the tensors before it end at %llu", begin,
                        end, begin < expected ? "overlap another tensor" : "leave a gap",
                        (unsigned long long)expected);
    switch (kind->fault) {
    case WB__KIND_SOUND: return WB_OK;
    case WB__KIND_OVERFLOW:
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_OVERFLOW, at, name,
                        "its shape has more elements or bits than 64 bits can count");
    case WB__KIND_SUB_BYTE:
        return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_SUB_BYTE, at, name,
                        "%llu elements of %s do not fill their last byte",
                        (unsigned long long)kind->elements, kind->dtype->name);
    case WB__KIND_SIZE:
    case WB__KIND_BLOCK: break;
    }
    return wb__fail(context, WB_ERROR_FORMAT, WB__FINDING_ST_TENSOR_SIZE, at, name,
                    "%llu elements of %s take %llu bytes, but data_offsets [%llu, %llu] span %llu",
                    (unsigned long long)kind->elements, kind->dtype->name,
                    (unsigned long long)(kind->elements * kind->dtype->block_bits / 8), begin, end,
                    end - begin);
}

/* Step 6. *data_bytes becomes the end of the last tensor. */
static wb_status check_places(wb__st_reader *reader, const place *places, size_t n,
                              uint64_t *data_bytes)
{
    *data_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        wb_status status = check_tensor(reader, places[i].tensor, *data_bytes);
        if (status != WB_OK)
            return status;
        *data_bytes = end_of(reader, places[i].tensor);
    }
    return WB_OK;
}

static wb_status sort_and_check(wb__st_reader *reader, uint64_t *data_bytes)
{
    const wb__model_file *file = wb__model_file_in_hand(reader->model);
    const wb_allocator *a = &reader->context->allocator;
    size_t n = file->tensor_count;
    if (n > SIZE_MAX / 2 / sizeof(place))
        return wb__fail_memory(reader->context);
    place *memory = wb__alloc(a, 2 * n * sizeof *memory);
    if (memory == NULL)
        return wb__fail_memory(reader->context);
    place *places = memory, *spare = memory + n;
    for (size_t i = 0; i < n; i++)
        places[i].tensor = (uint32_t)(file->first_tensor + i);
    sort_places(reader, &places, &spare, n);
    wb_status status = check_places(reader, places, n, data_bytes);
    wb__free(a, memory, 2 * n * sizeof *memory);
    return status;
}

wb_status wb__st_verify_layout(wb__st_reader *reader)
{
    const wb__model_file *file = wb__model_file_in_hand(reader->model);
    uint64_t data_bytes = reader->expected;
    if (reader->irregular) {
        wb_status status = sort_and_check(reader, &data_bytes);
        if (status != WB_OK)
            return status;
    }
    uint64_t present = file->bytes - file->data_begin;
    if (data_bytes < present)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_COVERAGE,
                        file->data_begin + data_bytes, WB__STR(""),
                        "%llu bytes at the end of the file belong to no tensor",
                        (unsigned long long)(present - data_bytes));
    if (data_bytes > present)
        return wb__fail(reader->context, WB_ERROR_FORMAT, WB__FINDING_ST_COVERAGE, file->bytes,
                        WB__STR(""),
                        "the file is cut short: it ends after %llu bytes, and %llu more are "
                        "missing",
                        (unsigned long long)file->bytes,
                        (unsigned long long)(data_bytes - present));
    return WB_OK;
}

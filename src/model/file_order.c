#include "model/file_order.h"

typedef struct wb__sort_entry {
    uint64_t key; /* sort key */
    uint32_t tensor;
} wb__sort_entry;

_Static_assert(WB__RECORDS_MAX <= SIZE_MAX / 2 / sizeof(wb__sort_entry),
               "what a table may hold can be sorted");

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* One pass of a stable radix sort: sorts by the DIGIT_BITS bits of the key from bit `shift` on. */
static void sort_pass(const wb__sort_entry *from, wb__sort_entry *to, size_t n, unsigned shift)
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

/* Sorts *places by the offset that key_of returns. *spare is a buffer of the same size; the two may
 * be swapped. */
static void sort_by(const wb__table *table,
                    uint64_t (*key_of)(const wb__table *table, size_t tensor),
                    wb__sort_entry **places, wb__sort_entry **spare, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++)
        bits |= (*places)[i].key = key_of(table, (*places)[i].tensor);
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((bits >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_pass(*places, *spare, n, shift);
        wb__sort_entry *swapped = *places;
        *places = *spare;
        *spare = swapped;
    }
}

/* Returns true if tensors with equal start offset are already sorted by end offset. */
static bool ends_ascend(const wb__table *table, const wb__sort_entry *places, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (places[i].key == places[i - 1].key &&
            wb__tensor_end(table, places[i].tensor) < wb__tensor_end(table, places[i - 1].tensor))
            return false;
    }
    return true;
}

wb_status wb__order_make(wb__order *order, wb__context *context, const wb__table *table,
                         const wb__catalog_file *file)
{
    size_t n = file->tensor_count;
    *order = (wb__order){.allocator = &context->allocator, .count = n};
    order->memory = wb__alloc(order->allocator, 2 * n * sizeof *order->memory);
    if (order->memory == NULL)
        return wb__fail_memory(context);
    wb__sort_entry *places = order->memory, *spare = places + n;
    for (size_t i = 0; i < n; i++)
        places[i].tensor = (uint32_t)(file->first_tensor + i);
    sort_by(table, wb__tensor_begin, &places, &spare, n);
    if (!ends_ascend(table, places, n)) { /* occurs only with empty tensors and in invalid files */
        sort_by(table, wb__tensor_end, &places, &spare, n);
        sort_by(table, wb__tensor_begin, &places, &spare, n);
    }
    order->places = places;
    return WB_OK;
}

void wb__order_free(wb__order *order)
{
    wb__free(order->allocator, order->memory, 2 * order->count * sizeof *order->memory);
    order->memory = NULL;
}

size_t wb__order_at(const wb__order *order, size_t i)
{
    return order->places[i].tensor;
}

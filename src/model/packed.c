#include "model/packed.h"

/* ---- names of schemes and parts ---- */

const char *wb__part_name(wb__part part)
{
    static const char *const names[WB__PARTS] = {"values", "scales", "biases", "global_scale",
                                                 "order"};
    return names[part];
}

/* ---- table of tensors ---- */

void wb__tensors_init(wb__tensors *tensors, const wb_allocator *allocator)
{
    memset(tensors, 0, sizeof *tensors);
    tensors->allocator = allocator;
    tensors->packings.allocator = allocator;
}

void wb__tensors_free(wb__tensors *tensors)
{
    wb__free(tensors->allocator, tensors->block, tensors->block_bytes);
    wb__arena_free(&tensors->packings);
    tensors->block = NULL;
}

size_t wb__tensors_stored(const wb__tensors *tensors, uint64_t number, const wb__packed **packed)
{
    *packed = NULL;
    if (number >= tensors->count)
        return (size_t)(number - tensors->count);
    if (tensors->stored == NULL)
        return (size_t)number;
    uint32_t stored = tensors->stored[number];
    if (tensors->roles[stored] != WB__ROLE_VALUES)
        return stored;
    size_t low = 0, high = tensors->packed_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tensors->packed[middle].parts[WB__PART_VALUES] < stored)
            low = middle + 1;
        else
            high = middle;
    }
    *packed = &tensors->packed[low];
    return stored;
}

uint64_t wb__tensors_number(const wb__tensors *tensors, size_t stored)
{
    return tensors->seen_as == NULL ? stored : tensors->seen_as[stored];
}

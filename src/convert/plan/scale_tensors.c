/* Folds a GGUF per-tensor scale (NAME.scale) into the weight NAME if the output cannot contain
 * the scale. */
#include "convert/convert.h"

/* Returns true if scales are folded into their weights. This is necessary for targets other than
 * GGUF. It is also necessary if an adapter is merged, because programs that read GGUF would
 * multiply the contribution of the adapter by the scale. */
static bool goes_in(const wb_conversion *conversion)
{
    return conversion->target != WB_TARGET_GGUF || conversion->lora_count > 0;
}

bool wb__scale_tensors_has(const wb_conversion *conversion, uint64_t number)
{
    return goes_in(conversion) &&
           wb__gguf_scaled_weight(conversion->model, conversion->semantics, number) != UINT64_MAX;
}

wb_status wb__scale_tensors_take(wb_conversion *conversion, wb__context *context,
                                 wb__planned_tensor *row)
{
    uint64_t number = goes_in(conversion)
                          ? wb__gguf_scale_of(conversion->model, conversion->semantics, row->source)
                          : UINT64_MAX;
    if (number == UINT64_MAX)
        return WB_OK;
    uint64_t count = wb__names_kind(&conversion->semantics->names, number)->elements;
    if (count == 0 || row->rows < count)
        return WB_OK; /* the scale tensor is empty or has more elements than the weight has rows */
    float *factors = count > SIZE_MAX / sizeof *factors
                         ? NULL
                         : wb__arena_alloc(&conversion->arena, (size_t)count * sizeof *factors);
    if (factors == NULL)
        return wb__fail_memory(context);
    row->factors = factors;
    row->rows_a_factor = row->rows / count;
    return wb_tensor_read(conversion->model, number, NULL, WB_DTYPE_F32, factors,
                          count * sizeof *factors, context->error);
}

void wb__scale_tensors_multiply(const wb__tile *tile)
{
    const wb__planned_tensor *planned = tile->planned;
    float *values = tile->values;
    for (uint64_t row = 0; planned->factors != NULL && row < tile->range.rows; row++) {
        float factor =
            planned
                ->factors[(planned->first_row + tile->range.first + row) / planned->rows_a_factor];
        for (uint64_t i = 0; i < tile->range.columns; i++)
            *values++ *= factor;
    }
}

/* A factor that stands beside a weight in GGUF, multiplied into its values where nothing else could say it. */
#include "convert/convert.h"

/* Programs that read GGUF files multiply by themselves, but not what an adapter adds. */
static bool goes_in(const wb_conversion *plan)
{
    return plan->target != WB_TARGET_GGUF || plan->lora_count > 0;
}

bool wb__factors_has(const wb_conversion *plan, uint64_t number)
{
    return goes_in(plan) && wb__factor_for(plan->model, plan->insight, number) != UINT64_MAX;
}

wb_status wb__factors_take(wb_conversion *plan, wb__context *context, wb__planned *row)
{
    uint64_t number =
        goes_in(plan) ? wb__factor_of(plan->model, plan->insight, row->source) : UINT64_MAX;
    if (number == UINT64_MAX)
        return WB_OK;
    uint64_t count = wb__names_kind(&plan->insight->names, number)->elements;
    if (count == 0 || row->rows < count)
        return WB_OK; /* of no values */
    float *factors = count > SIZE_MAX / sizeof *factors
                         ? NULL
                         : wb__arena_alloc(&plan->arena, (size_t)count * sizeof *factors);
    if (factors == NULL)
        return wb__fail_memory(context);
    row->factors = factors;
    row->rows_a_factor = row->rows / count;
    return wb_tensor_read(plan->model, number, NULL, WB_DTYPE_F32, factors, count * sizeof *factors,
                          context->error);
}

void wb__factors_multiply(const wb__chunk *chunk)
{
    const wb__planned *planned = chunk->planned;
    float *values = chunk->values;
    for (uint64_t row = 0; planned->factors != NULL && row < chunk->rows; row++) {
        float factor =
            planned->factors[(planned->first_row + chunk->first + row) / planned->rows_a_factor];
        for (uint64_t i = 0; i < planned->columns; i++)
            *values++ *= factor;
    }
}

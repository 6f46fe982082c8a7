/*
 * NVFP4 of others than MLX has a factor for all values of a tensor, or of an expert, beside the scales of
 * groups. Every producer says it in its own way (model/packed.h), and so does every target; it becomes a tensor
 * of the result by itself. What the other way of saying it costs, a rounding at most, is told of that tensor.
 */
#include "convert/convert.h"

#include <math.h>

#define MAXIMUM_OF_A_FACTOR 2688.0f /* the largest values of E2M1 and E4M3 multiplied */

static uint64_t companion_of(const wb_conversion *plan, uint64_t number)
{
    const wb__packed *packed;
    (void)wb__tensors_stored(&plan->model->tensors, number, &packed);
    return wb__tensors_number(&plan->model->tensors, packed->parts[WB__PART_GLOBAL_SCALE]);
}

static wb__global global_of(const wb_conversion *plan, uint64_t number)
{
    const wb__packed *packed;
    (void)wb__tensors_stored(&plan->model->tensors, number, &packed);
    return packed == NULL ? WB__GLOBAL_NONE : packed->global;
}

/* MLX takes the last word away before it adds its own. */
static wb__str name_of(wb_conversion *plan, wb__str name)
{
    static const char suffix[] = ".global_scale";
    size_t stem = name.len;
    if (plan->target == WB_TARGET_MLX && wb__str_ends_with(name, WB__STR(".weight")))
        stem -= sizeof ".weight" - 1;
    char *text = wb__arena_alloc(&plan->arena, stem + sizeof suffix);
    if (text != NULL) {
        memcpy(text, name.ptr, stem);
        memcpy(text + stem, suffix, sizeof suffix);
    }
    return (wb__str){text, stem + sizeof suffix - 1};
}

wb_status wb__globals_add(wb_conversion *plan, wb__context *context, wb__planned *row,
                          wb__global to)
{
    uint64_t pieces = row->piece_count;
    uint64_t first = row->pieces == NULL ? row->source : row->pieces[0];
    wb__global from = global_of(plan, first);
    wb__planned made;
    if (from == WB__GLOBAL_NONE)
        return WB_OK;
    wb_status status = wb__plan_row(plan, context, companion_of(plan, first), &made);
    if (status != WB_OK)
        return status;
    const wb__kind *kind = wb__names_kind(&plan->insight->names, made.source);
    uint64_t *shape = wb__arena_alloc(&plan->arena, sizeof *shape);
    uint32_t *numbers = wb__arena_alloc(&plan->arena, ((size_t)pieces + 1) * sizeof *numbers);
    if (shape == NULL || numbers == NULL)
        return wb__fail_memory(context);
    for (uint64_t i = 0; row->pieces != NULL && i < pieces; i++)
        numbers[i] = (uint32_t)companion_of(plan, row->pieces[i]);
    made.name = name_of(plan, row->name);
    made.rows = kind->elements;
    if (pieces > 0) { /* each of which has one */
        made.rows = shape[0] = pieces;
        made.shape = shape;
        made.rank = 1;
    }
    made.columns = 1;
    made.pieces = pieces > 0 ? numbers : NULL;
    made.piece_count = pieces;
    made.piece_rows = 1;
    made.global = from == WB__GLOBAL_FACTOR ? WB__GLOBAL_LAST : from;
    made.global_to = to;
    row->keeps_global = true;
    return wb__plan_append(plan, context, &made);
}

/*
 * mlx-lm reads global scales of experts alone, [E]. Those of a stack, or of experts that become one, stay what they
 * are if all are packed alike.
 */
static bool is_for_mlx(const wb_conversion *plan, const wb__planned *row, const uint32_t *parts,
                       uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        bool by_view;
        wb__global global;
        wb__form form = wb__plan_form_of(plan, parts[i], &by_view, &global);
        const wb__kind *kind =
            global == WB__GLOBAL_NONE
                ? NULL
                : wb__names_kind(&plan->insight->names, companion_of(plan, parts[i]));
        if (kind == NULL || by_view || form.scheme != WB__SCHEME_NVFP4 ||
            global != global_of(plan, parts[0]) ||
            kind->elements != (count > 1 ? 1 : row->shape[0]))
            return false;
    }
    return true;
}

wb_status wb__globals_for_mlx(wb_conversion *plan, wb__context *context, wb__planned *row,
                              const wb__view *view)
{
    uint32_t own = (uint32_t)row->source;
    const uint32_t *parts = view == NULL ? &own : view->parts;
    uint64_t count = view == NULL ? 1 : view->count;
    if (plan->target != WB_TARGET_MLX || plan->quant.kind != WB__QUANT_NONE ||
        plan->lora_count > 0 || row->rank != 3 || wb__plan_ruled(plan, row) != NULL ||
        !is_for_mlx(plan, row, parts, count))
        return WB_OK;
    if (view != NULL) {
        row->pieces = view->parts;
        row->piece_count = count;
        row->piece_rows = row->rows / count;
    }
    return wb__globals_add(plan, context, row, WB__GLOBAL_MAXIMUM);
}

/* Binary32, which the target reads; binary64, which is what it should be. */
static void turn(wb__global from, wb__global to, float said, float *result, double *exact)
{
    float times = to == WB__GLOBAL_MAXIMUM ? MAXIMUM_OF_A_FACTOR : 1.0f;
    if (from == WB__GLOBAL_DIVISOR) {
        *result = times / said;
        *exact = (double)times / (double)said;
    } else if (from == WB__GLOBAL_MAXIMUM) {
        *result = said / MAXIMUM_OF_A_FACTOR;
        *exact = (double)said / (double)MAXIMUM_OF_A_FACTOR;
    } else {
        *result = said * times;
        *exact = (double)said * (double)times;
    }
}

void wb__globals_turn(wb__chunk *chunk)
{
    const wb__planned *planned = chunk->planned;
    wb__fidelity *told = &chunk->fidelity;
    for (uint64_t i = 0; i < chunk->rows; i++) {
        float result;
        double exact;
        turn(planned->global, planned->global_to, chunk->values[i], &result, &exact);
        memcpy(chunk->parts[WB__PART_VALUES] + i * sizeof result, &result, sizeof result);
        if (!isfinite(result)) {
            told->overflowed += isfinite(chunk->values[i]) ? 1 : 0;
            continue;
        }
        wb__fidelity_add_one(told, exact, (double)result);
    }
}

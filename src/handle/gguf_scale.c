/*
 * GGUF per-tensor scales: a tensor NAME.scale next to NAME.weight. It has type F32 and holds one
 * value, or one for each expert. llama.cpp multiplies the output of the weight by the scale. If the
 * weight is NVFP4, its blocks are relative to the scale, and the scale is a part of the packed
 * weight (model/packed.h). llama-quantize can convert NVFP4 weights to other types, and keeps the
 * scales. The library presents a converted weight and its scale as separate tensors, so that
 * programs get the weight as it is stored.
 */
#include "handle/semantics.h"

#define WEIGHT ".weight"
#define FACTOR ".scale"

/* Returns the index of the tensor whose name is the first `stem` bytes of `name` followed by
 * `ending`, or UINT64_MAX. */
static uint64_t find(const wb_model *model, wb__str name, size_t stem, wb__str ending)
{
    char text[2 * WB__STEM_MAX];
    if (stem + ending.len > sizeof text)
        return UINT64_MAX;
    memcpy(text, name.ptr, stem);
    memcpy(text + stem, ending.ptr, ending.len);
    uint32_t stored = wb__table_find(&model->catalog.table, (wb__str){text, stem + ending.len});
    return stored == WB__NO_TENSOR ? UINT64_MAX : wb__tensors_number(&model->tensors, stored);
}

static wb__str name_of(const wb_model *model, uint64_t number, const wb__packed **packed)
{
    return wb__table_name(&model->catalog.table,
                          wb__tensors_stored(&model->tensors, number, packed));
}

/* Returns true if llama.cpp supports a scale for the tensor. It supports scales for the matrices of
 * layers, stacks of experts and the output matrix, but not for experts that are stored one by one.
 */
static bool is_multiplied(const wb__semantics *semantics, uint64_t weight)
{
    const uint32_t parts = WB__NEED_Q | WB__NEED_K | WB__NEED_V | WB__NEED_OUTPUT | WB__NEED_GATE |
                           WB__NEED_UP | WB__NEED_DOWN | WB__NEED_HEAD;
    const wb__name_entry *entry = wb__names_of(&semantics->names, weight);
    uint32_t rank = wb__names_kind(&semantics->names, weight)->rank;
    return entry != NULL && entry->suffix == WB__SUFFIX_WEIGHT && entry->experts == 0 &&
           rank >= 2 && rank <= 3 &&
           ((entry->rule->provides & parts) != 0 ||
            strstr(entry->rule->canonical, ".shared_experts.") != NULL);
}

static bool fits(const wb__kind *weight, const wb__kind *factor)
{
    return factor->dtype->id == WB_DTYPE_F32 &&
           (factor->elements == 1 ||
            (weight->rank == 3 && factor->rank == 1 && factor->elements == weight->shape[0]));
}

uint64_t wb__gguf_scale_of(const wb_model *model, const wb__semantics *semantics, uint64_t weight)
{
    const wb__packed *packed;
    wb__str name = name_of(model, weight, &packed);
    if (!semantics->by_key || !semantics->is_family || weight >= model->tensors.count ||
        packed != NULL || !wb__str_ends_with(name, WB__STR(WEIGHT)) ||
        !is_multiplied(semantics, weight))
        return UINT64_MAX;
    uint64_t factor = find(model, name, name.len - (sizeof WEIGHT - 1), WB__STR(FACTOR));
    return factor < model->tensors.count && fits(wb__names_kind(&semantics->names, weight),
                                                 wb__names_kind(&semantics->names, factor))
               ? factor
               : UINT64_MAX;
}

uint64_t wb__gguf_scaled_weight(const wb_model *model, const wb__semantics *semantics,
                                uint64_t factor)
{
    const wb__packed *packed;
    wb__str name = name_of(model, factor, &packed);
    if (!wb__str_ends_with(name, WB__STR(FACTOR)))
        return UINT64_MAX;
    uint64_t weight = find(model, name, name.len - (sizeof FACTOR - 1), WB__STR(WEIGHT));
    return weight < model->tensors.count && wb__gguf_scale_of(model, semantics, weight) == factor
               ? weight
               : UINT64_MAX;
}

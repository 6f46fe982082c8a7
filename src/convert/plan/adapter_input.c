/* Refuses to convert an adapter alone into a model: programs could not load the result. */
#include "convert/convert.h"
#include "convert/convert_messages.h"

static bool has_part(wb__str name, wb__str part)
{
    for (size_t i = 0; i + part.len <= name.len; i++) {
        if (memcmp(name.ptr + i, part.ptr, part.len) == 0)
            return true;
    }
    return false;
}

/* Returns true if all tensors have names that PEFT, mlx-lm or llama.cpp give the tensors of
 * adapters, such as "base_model.model.model.norm.weight" or "blk.0.attn_q.weight.lora_a". */
static bool is_adapter(const wb_model *model)
{
    uint64_t count = wb_tensor_count(model);
    for (uint64_t i = 0; i < count; i++) {
        wb_tensor tensor = {.size = sizeof tensor};
        if (wb_tensor_at(model, i, &tensor, NULL) != WB_OK)
            return false;
        wb__str name = {tensor.name, tensor.name_len};
        if (!wb__str_starts_with(name, WB__STR("base_model.model.")) &&
            !has_part(name, WB__STR(".lora_")))
            return false;
    }
    return count > 0;
}

wb_status wb__plan_refuse_adapter(const wb_conversion *conversion, wb__context *context)
{
    bool is_of_model = conversion->target == WB_TARGET_GGUF ||
                       conversion->target == WB_TARGET_MLX ||
                       conversion->target == WB_TARGET_OLLAMA;
    return is_of_model && is_adapter(conversion->model)
               ? wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_ADAPTER_ALONE, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_CONVERT_ADAPTER_ALONE)
               : WB_OK;
}

/* Settings that llama.cpp implies for an architecture, because GGUF has no key for them. If
 * config.json is generated from GGUF, these settings must be added to it. If a source
 * config.json has another value, llama.cpp computes other results from the GGUF file or does not
 * load it. */
#include "convert/convert_messages.h"
#include "convert/emit/deliver.h"

typedef struct granted {
    const char *family, *key;
    /* type of the setting; for LIST, `value` and `silent` are numbers of elements */
    enum { FLAG, COUNT, LIST } kind;
    uint64_t value; /* value that llama.cpp implies */
    /* default value in transformers if config.json does not contain the key */
    uint64_t silent;
    const char *json;    /* `value` as JSON text */
    const char *message; /* warning if config.json has another value */
} granted;

static const granted list[] = {
    {"qwen3moe", "norm_topk_prob", FLAG, 1, 0, "true", WB__MSG_CONVERT_NORM_TOPK},
    {"qwen3moe", "decoder_sparse_step", COUNT, 1, 1, "1", WB__MSG_CONVERT_SPARSE_STEP},
    {"qwen3moe", "mlp_only_layers", LIST, 0, 0, "[]", WB__MSG_CONVERT_MLP_ONLY},
};

static bool is_of(const wb_conversion *conversion, const granted *row)
{
    return strcmp(conversion->semantics->family->name, row->family) == 0;
}

static uint64_t said(const wb_model *model, const granted *row)
{
    wb_meta_array array = {.size = sizeof array};
    uint64_t number;
    int flag;
    switch (row->kind) {
    case FLAG:
        return wb_meta_get_bool(model, row->key, SIZE_MAX, &flag, NULL) == WB_OK ? (uint64_t)flag
                                                                                 : row->silent;
    case COUNT:
        return wb_meta_get_uint(model, row->key, SIZE_MAX, &number, NULL) == WB_OK ? number
                                                                                   : row->silent;
    case LIST:
        return wb_meta_get_array(model, row->key, SIZE_MAX, WB_META_ANY, &array, NULL) == WB_OK
                   ? array.count
                   : row->silent;
    }
    return row->silent;
}

wb_status wb__implied_config_note(wb_conversion *conversion, wb__context *context)
{
    wb_status status = WB_OK;
    if (conversion->target != WB_TARGET_GGUF || conversion->semantics->by_key ||
        !conversion->semantics->is_family || conversion->semantics->facts.config == NULL)
        return WB_OK;
    for (size_t i = 0; i < sizeof list / sizeof list[0] && status == WB_OK; i++)
        if (is_of(conversion, &list[i]) && said(conversion->model, &list[i]) != list[i].value)
            status = wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_CONVERT_GRANTED,
                                   wb__str_from(list[i].key, SIZE_MAX), list[i].message);
    return status;
}

void wb__implied_config_add(const wb_conversion *conversion, wb__buffer *to)
{
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        uint64_t index;
        if (!is_of(conversion, &list[i]) ||
            wb_meta_find(conversion->model, list[i].key, SIZE_MAX, &index) == WB_OK)
            continue;
        wb__emit_member(to, wb__str_from(list[i].key, SIZE_MAX));
        wb__buffer_text(to, list[i].json);
    }
}

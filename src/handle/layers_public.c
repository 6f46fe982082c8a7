/* Public functions for single layers and for special tokens. */
#include "arch/layers.h"
#include "handle/handle_messages.h"
#include "handle/semantics.h"
#include "weighbridge/metadata.h"

wb_status wb_layer_get(const wb_model *model, uint64_t index, wb_layer *caller, wb_error *error)
{
    wb_error spare;
    const wb__semantics *semantics;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb_layer own, *out = WB__OUT(wb_layer, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_layer, caller);
    wb_status status = wb__semantics_of(model, &context, &semantics);
    if (status == WB_OK && index >= semantics->config.n_layers)
        status = wb__fail(&context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_HANDLE_NO_LAYER, (unsigned long long)index);
    if (status == WB_OK)
        wb__layer_make(&semantics->layers, &semantics->config, &semantics->names, index, out);
    WB__GIVE(wb_layer, caller, out);
    return status;
}

/* ---- special tokens ---- */

#define T "tokenizer.ggml."

static int64_t token_of(const wb_model *model, const char *key)
{
    uint64_t id;
    return wb_meta_get_uint(model, key, SIZE_MAX, &id, NULL) == WB_OK && id <= INT64_MAX
               ? (int64_t)id
               : WB_NO_TOKEN;
}

static uint32_t flag_of(const wb_model *model, const char *key)
{
    int flag;
    return wb_meta_get_bool(model, key, SIZE_MAX, &flag, NULL) == WB_OK && flag != 0;
}

static void add_stop(wb_special_tokens *tokens, int64_t id)
{
    for (uint64_t i = 0; i < tokens->stop_count; i++) {
        if (tokens->stop[i] == id)
            return;
    }
    if (id >= 0 && tokens->stop_count < WB_STOP_TOKENS)
        tokens->stop[tokens->stop_count++] = id;
}

/* Adds the tokens of the list eos_token_id, which end a generation. config.json or
 * generation_config.json may have such a list. */
static void add_listed(const wb_model *model, wb_special_tokens *tokens)
{
    wb_meta_array array = WB_META_ARRAY_INIT;
    int64_t ids[WB_STOP_TOKENS];
    if (wb_meta_get_array(model, "eos_token_id", SIZE_MAX, WB_META_INT, &array, NULL) != WB_OK)
        return;
    uint64_t n = array.count < WB_STOP_TOKENS ? array.count : WB_STOP_TOKENS;
    if (wb_meta_ints(&array, 0, n, ids) != WB_OK)
        return;
    for (uint64_t i = 0; i < n; i++)
        add_stop(tokens, ids[i]);
}

static void read_tokens(const wb_model *model, wb_special_tokens *tokens)
{
    tokens->bos = token_of(model, T "bos_token_id");
    tokens->eos = token_of(model, T "eos_token_id");
    tokens->eot = token_of(model, T "eot_token_id");
    tokens->eom = token_of(model, T "eom_token_id");
    tokens->unknown = token_of(model, T "unknown_token_id");
    tokens->separator = token_of(model, T "seperator_token_id");
    tokens->padding = token_of(model, T "padding_token_id");
    tokens->cls = token_of(model, T "cls_token_id");
    tokens->mask = token_of(model, T "mask_token_id");
    tokens->add_bos = flag_of(model, T "add_bos_token");
    tokens->add_eos = flag_of(model, T "add_eos_token");
    add_stop(tokens, tokens->eos);
    add_stop(tokens, tokens->eot);
    add_stop(tokens, tokens->eom);
    add_listed(model, tokens);
}

wb_status wb_special_tokens_get(const wb_model *model, wb_special_tokens *caller, wb_error *error)
{
    wb_error spare;
    uint64_t index;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    wb_special_tokens own, *out = WB__OUT(wb_special_tokens, caller, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_special_tokens, caller);
    /* This lookup reads the tokenizer files. Except for a missing key, it fails only if memory
     * runs out. */
    wb_status status = wb_meta_find(model, T "eos_token_id", SIZE_MAX, &index);
    if (status == WB_ERROR_MEMORY)
        return wb__fail_memory(&context);
    read_tokens(model, out);
    WB__GIVE(wb_special_tokens, caller, out);
    return WB_OK;
}

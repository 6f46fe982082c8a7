#include "arch/layers.h"

#include <stdio.h>

/* ---- reading ---- */

static const struct {
    const char *keys;  /* GGUF */
    const char *paths; /* config.json */
} sources[WB__LAYER_LISTS] = {
    [WB__LAYER_KINDS] = {"", "layer_types|layers_block_type"},
    [WB__LAYER_HEADS] = {"attention.head_count", ""},
    [WB__LAYER_KV_HEADS] = {"attention.head_count_kv", ""},
    [WB__LAYER_FFN] = {"feed_forward_length", "intermediate_size"},
    [WB__LAYER_SLIDING] = {"attention.sliding_window_pattern", ""},
    [WB__LAYER_RECURRENT] = {"attention.recurrent_layers", ""},
    [WB__LAYER_ROPE] = {"", "no_rope_layers"}, /* the elements are 0 for layers without RoPE */
    [WB__LAYER_SECTIONS] = {"rope.dimension_sections",
                            "rope_scaling/mrope_section|rope_parameters/mrope_section"},
};

/* The words of "layer_types" in transformers. */
static const struct {
    const char *word;
    uint32_t kind;
} kinds[] = {
    {"full_attention", WB_LAYER_ATTENTION},
    {"sliding_attention", WB_LAYER_ATTENTION | WB__LAYER_SLIDES},
    {"chunked_attention", WB_LAYER_ATTENTION | WB__LAYER_SLIDES},
    {"attention", WB_LAYER_ATTENTION},
    {"linear_attention", WB_LAYER_RECURRENT},
    {"mamba", WB_LAYER_RECURRENT},
    {"mamba2", WB_LAYER_RECURRENT},
    {"conv", WB_LAYER_CONV},
    {"hybrid", WB_LAYER_BOTH},
    {"mlp", WB_LAYER_NONE},
    {"moe", WB_LAYER_NONE},
};

static uint32_t number_of(const wb__fact *fact)
{
    for (size_t i = 0; fact->type == WB__FACT_TEXT && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (wb__str_equal(fact->text, wb__str_from(kinds[i].word, SIZE_MAX)))
            return kinds[i].kind;
    }
    bool is_number = fact->type == WB__FACT_UINT || fact->type == WB__FACT_BOOL;
    return is_number && fact->number <= UINT32_MAX ? (uint32_t)fact->number : 0;
}

bool wb__layers_read(wb__layers *layers, const wb__facts *facts, wb__str prefix, wb__arena *arena)
{
    memset(layers, 0, sizeof *layers);
    for (int i = 0; i < WB__LAYER_LISTS; i++) {
        wb__fact_list list;
        if (!wb__fact_list_find(facts, prefix, sources[i].keys, sources[i].paths, &list))
            continue;
        uint64_t count = wb__fact_list_count(&list);
        if (count == 0 || count > WB__NUMBER_MAX + 1)
            continue;
        uint32_t *numbers = wb__arena_alloc(arena, (size_t)count * sizeof *numbers);
        wb__fact fact;
        if (numbers == NULL)
            return false;
        for (layers->count[i] = 0; wb__fact_list_next(&list, &fact); layers->count[i]++)
            numbers[layers->count[i]] = number_of(&fact);
        layers->list[i] = numbers;
    }
    return true;
}

/* ---- one layer ---- */

/* Sets *value to element `index` of a list. Returns false if the list has no such element. */
static bool element(const wb__layers *layers, wb__layer_list list, uint64_t index, uint64_t *value)
{
    if (index >= layers->count[list])
        return false;
    *value = layers->list[list][index];
    return true;
}

static bool is_every(uint64_t index, uint64_t step)
{
    return step != 0 && (index + 1) % step == 0;
}

static wb_layer_kind kind_of(const wb__layers *layers, const wb_config *config, uint64_t index)
{
    uint64_t number;
    if (element(layers, WB__LAYER_KINDS, index, &number))
        return (wb_layer_kind)(number % WB__LAYER_SLIDES);
    if (element(layers, WB__LAYER_RECURRENT, index, &number))
        return number != 0 ? WB_LAYER_RECURRENT : WB_LAYER_ATTENTION;
    if (config->full_attention_interval != 0)
        return is_every(index, config->full_attention_interval) ? WB_LAYER_ATTENTION
                                                                : WB_LAYER_RECURRENT;
    bool conv = config->shortconv_l_cache != 0;
    if (element(layers, WB__LAYER_KV_HEADS, index, &number) && number == 0)
        return conv                          ? WB_LAYER_CONV
               : config->ssm_inner_size != 0 ? WB_LAYER_RECURRENT
                                             : WB_LAYER_NONE;
    if (config->n_heads == 0 && config->ssm_state_size != 0)
        return WB_LAYER_RECURRENT;
    return config->n_heads != 0 ? WB_LAYER_ATTENTION : WB_LAYER_UNKNOWN;
}

static bool slides(const wb__layers *layers, const wb_config *config, uint64_t index)
{
    uint64_t number;
    if (config->sliding_window == 0)
        return false;
    if (element(layers, WB__LAYER_SLIDING, index, &number))
        return number != 0;
    if (element(layers, WB__LAYER_KINDS, index, &number))
        return number >= WB__LAYER_SLIDES;
    return !is_every(index, config->sliding_window_pattern);
}

static bool has_experts(const wb_config *config, const wb__names *names, uint64_t index)
{
    char text[64];
    if (config->n_experts == 0)
        return false;
    int n = snprintf(text, sizeof text, "layers.%llu.ffn.router.weight", (unsigned long long)index);
    return wb__names_find(names, (wb__str){text, (size_t)n}) != NULL;
}

static void set_attention(const wb__layers *layers, const wb_config *config, uint64_t index,
                          wb_layer *layer)
{
    uint64_t number;
    bool local = slides(layers, config, index);
    layer->n_heads =
        element(layers, WB__LAYER_HEADS, index, &number) && number != 0 ? number : config->n_heads;
    layer->n_kv_heads = element(layers, WB__LAYER_KV_HEADS, index, &number) && number != 0
                            ? number
                            : config->n_kv_heads;
    layer->head_dim =
        local && config->key_length_swa != 0 ? config->key_length_swa : config->head_dim;
    layer->value_length =
        local && config->value_length_swa != 0 ? config->value_length_swa : config->value_length;
    layer->sliding_window = local ? config->sliding_window : 0;
    layer->has_rope = config->rope_dimension_count != 0 &&
                      (!element(layers, WB__LAYER_ROPE, index, &number) || number != 0);
    if (layer->has_rope)
        layer->rope_theta =
            local && config->rope_local_theta > 0 ? config->rope_local_theta : config->rope_theta;
}

void wb__layer_make(const wb__layers *layers, const wb_config *config, const wb__names *names,
                    uint64_t index, wb_layer *layer)
{
    uint64_t number;
    layer->kind = kind_of(layers, config, index);
    if (layer->kind == WB_LAYER_ATTENTION || layer->kind == WB_LAYER_BOTH)
        set_attention(layers, config, index, layer);
    layer->n_experts = has_experts(config, names, index) ? config->n_experts : 0;
    if (layer->n_experts != 0)
        layer->ffn_dim = config->expert_ffn_dim;
    else
        layer->ffn_dim = element(layers, WB__LAYER_FFN, index, &number) ? number : config->ffn_dim;
}

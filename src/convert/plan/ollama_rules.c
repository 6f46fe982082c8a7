/* Quantization rules that Ollama has for single architectures (as of August 2026). Most rules
 * give sensitive weights 8 bits. If 8 bits in all layers would make the model too slow, a rule
 * gives 8 bits only in the first eighth and the last eighth of the layers and in every third
 * layer between them. Other rules are for embeddings that the model also uses as output matrix. */
#include "convert/plan/ollama_rules.h"

/* ---- layer numbers ---- */

static bool number_of(const wb__ollama_ask *ask, const char *key, int64_t *number)
{
    return wb_meta_get_int(ask->conversion->model, key, SIZE_MAX, number, NULL) == WB_OK &&
           *number > 0;
}

/* Returns the value of the first key that has a positive number, or 0 if no key has one. */
static int64_t first_number(const wb__ollama_ask *ask, const char *const *keys)
{
    int64_t number = 0;
    for (; *keys != NULL; keys++) {
        if (number_of(ask, *keys, &number))
            return number;
    }
    return 0;
}

/* Returns n if the tensor name contains ".layers.n.", otherwise -1. */
static int64_t layer_of(const wb__ollama_ask *ask)
{
    static const wb__str mark = {".layers.", 8};
    for (size_t i = 0; i + mark.len < ask->name.len; i++) {
        if (!wb__str_equal((wb__str){ask->name.ptr + i, mark.len}, mark))
            continue;
        size_t at = i + mark.len, first = at;
        int64_t n = 0;
        for (; at < ask->name.len && ask->name.ptr[at] >= '0' && ask->name.ptr[at] <= '9' &&
               n < 1000000;
             at++)
            n = n * 10 + (ask->name.ptr[at] - '0');
        if (at > first && at < ask->name.len && ask->name.ptr[at] == '.')
            return n;
    }
    return -1;
}

/* Returns true if the layer is sensitive. These are the layers in the first and the last eighth,
 * and every third layer between the first eighth and layer `until`. */
static bool matters(int64_t layer, int64_t layers, int64_t until)
{
    int64_t first = layers / 8;
    return layer >= 0 && layers > 0 &&
           (layer < first || layer >= 7 * layers / 8 ||
            (layer < until && (layer - first) % 3 == 2));
}

static bool layer_matters(const wb__ollama_ask *ask, int64_t layers)
{
    return matters(layer_of(ask), layers, 7 * layers / 8);
}

/* ---- shared by several rules ---- */

static bool is_embedding(const wb__ollama_ask *ask)
{
    return wb__ollama_ends(ask, "embed_tokens.weight") && !wb__ollama_has(ask, "per_layer");
}

static wb__ollama_type eight_or_keep(const wb__ollama_ask *ask)
{
    return wb__ollama_if_fits(ask, wb__ollama_eight(ask->type), WB__OLLAMA_KEEP);
}

/* Returns the 8-bit type if `promotes` is true and the row length fits that type. Otherwise
 * returns the requested type if the row length fits, or else WB__OLLAMA_KEEP. */
static wb__ollama_type promote(const wb__ollama_ask *ask, bool promotes)
{
    wb__ollama_type asked = wb__ollama_if_fits(ask, ask->type, WB__OLLAMA_KEEP);
    return promotes ? wb__ollama_if_fits(ask, wb__ollama_eight(ask->type), asked) : asked;
}

static bool has_eight(const wb__ollama_ask *ask)
{
    return wb__ollama_eight(ask->type) == ask->type;
}

static const char *const text_layers[] = {"num_hidden_layers", "text_config.num_hidden_layers",
                                          NULL};
static const char *const values_keys_down[] = {".v_proj", ".k_proj", "down_proj", NULL};

/* ---- Qwen 3.5 and Qwen 3 Next: narrow projections of linear attention ---- */

static wb__ollama_type qwen35(const wb__ollama_ask *ask)
{
    static const char *const kept[] = {".linear_attn.in_proj_a.weight",
                                       ".linear_attn.in_proj_b.weight",
                                       ".linear_attn.in_proj_ba.weight", NULL};
    return wb__ollama_ends_any(ask, kept) ? WB__OLLAMA_KEEP : wb__ollama_default(ask);
}

/* ---- Gemma 4 ---- */

static wb__ollama_type gemma4(const wb__ollama_ask *ask)
{
    static const char *const senses[] = {"vision", "visual", "audio_tower", "embed_audio", NULL};
    static const char *const experts[] = {"num_experts", "text_config.num_experts", NULL};
    if (is_embedding(ask))
        return promote(ask, true);
    if (has_eight(ask) || wb__ollama_has_any(ask, senses) ||
        !wb__ollama_has_any(ask, values_keys_down))
        return wb__ollama_default(ask);
    int64_t layers = first_number(ask, text_layers);
    bool key = wb__ollama_has(ask, ".k_proj");
    bool shared = first_number(ask, experts) == 8 && (key || wb__ollama_has(ask, ".v_proj"));
    return promote(ask, layers > 0 && (shared || (!key && layer_matters(ask, layers))));
}

/* ---- Muse Glimmer ---- */

static wb__ollama_type glimmer(const wb__ollama_ask *ask)
{
    static const char *const seen[] = {"vision", "visual", NULL};
    static const char *const attention[] = {".self_attn.q_proj", ".self_attn.o_proj",
                                            ".self_attn.k_proj", ".self_attn.v_proj", NULL};
    static const char *const others[] = {".self_attn.gate_proj", ".self_attn.output_gate_proj",
                                         ".mlp.down_proj", NULL};
    if (wb__ollama_has_any(ask, seen))
        return WB__OLLAMA_KEEP;
    if (is_embedding(ask))
        return promote(ask, true);
    if (!has_eight(ask) && wb__ollama_has_any(ask, attention))
        return promote(ask, true);
    if (!has_eight(ask) && wb__ollama_has_any(ask, others))
        return promote(ask, layer_matters(ask, first_number(ask, text_layers)));
    return wb__ollama_default(ask);
}

/* ---- Cohere 2 MoE ---- */

static wb__ollama_type cohere2_moe(const wb__ollama_ask *ask)
{
    static const char *const keys[] = {"num_hidden_layers", NULL};
    int64_t layers = first_number(ask, keys);
    if (is_embedding(ask) && ask->row->rank == 2)
        return eight_or_keep(ask);
    if (wb__ollama_ends(ask, ".mlp.gate.weight"))
        return WB__OLLAMA_KEEP;
    if (!has_eight(ask) && layers > 0 && layer_of(ask) >= 0 &&
        wb__ollama_has_any(ask, values_keys_down))
        return promote(ask, layer_matters(ask, layers));
    return wb__ollama_default(ask);
}

/* ---- Laguna ---- */

/* Maximum number of entries that are read from a list of dense layers in the config. Models have
 * fewer layers. The limit prevents a crafted config from slowing down the planning. */
#define DENSE_LISTED_MAX 1024

typedef struct dense_layers {
    uint64_t listed; /* number of layers whose type the config contains */
    bool has;        /* the layer of the tensor is dense */
    bool has_any;    /* at least one layer is dense */
} dense_layers;

static uint64_t array_of(const wb_model *model, const char *key, wb_meta_array *array)
{
    *array = (wb_meta_array){.size = sizeof *array};
    if (wb_meta_get_array(model, key, SIZE_MAX, WB_META_ANY, array, NULL) != WB_OK)
        return 0;
    return array->count < DENSE_LISTED_MAX ? array->count : DENSE_LISTED_MAX;
}

static dense_layers dense_layers_of(const wb_model *model, int64_t layer)
{
    dense_layers dense = {0};
    wb_meta_array array;
    int64_t numbers[DENSE_LISTED_MAX];
    uint64_t count = array_of(model, "mlp_layer_types", &array);
    for (uint64_t i = 0; i < count; i++) {
        const char *type;
        size_t n;
        if (wb_meta_string_at(&array, i, &type, &n) != WB_OK)
            break;
        dense.listed = array.count;
        if (wb__str_equal((wb__str){type, n}, WB__STR("dense"))) {
            dense.has_any = true;
            dense.has |= layer >= 0 && (uint64_t)layer == i;
        }
    }
    count = array_of(model, "mlp_only_layers", &array);
    dense.has_any |= count > 0;
    if (count == 0 || wb_meta_ints(&array, 0, count, numbers) != WB_OK)
        return dense;
    for (uint64_t i = 0; i < count; i++)
        dense.has |= numbers[i] == layer;
    return dense;
}

/* Returns the type that the default rule chooses. If the default rule chooses the 8-bit type,
 * returns the requested type instead. */
static wb__ollama_type not_promoted(const wb__ollama_ask *ask)
{
    wb__ollama_type type = wb__ollama_default(ask);
    return type == wb__ollama_eight(ask->type) ? ask->type : type;
}

static wb__ollama_type laguna_down(const wb__ollama_ask *ask, bool shared, bool promotes)
{
    if (ask->type == WB__OLLAMA_MXFP8)
        return shared || promotes ? WB__OLLAMA_KEEP : not_promoted(ask);
    return shared && promotes ? wb__ollama_default(ask) : not_promoted(ask);
}

static wb__ollama_type laguna(const wb__ollama_ask *ask)
{
    static const char *const attention[] = {".self_attn.q_proj.weight", ".self_attn.k_proj.weight",
                                            ".self_attn.v_proj.weight", ".self_attn.o_proj.weight",
                                            ".self_attn.g_proj.weight", NULL};
    static const char *const dense[] = {".mlp.gate_proj.weight", ".mlp.up_proj.weight",
                                        ".mlp.down_proj.weight", NULL};
    static const char *const experts[] = {".mlp.experts.", ".mlp.shared_expert.", NULL};
    static const char *const ends[] = {".gate_proj.weight", ".up_proj.weight", ".down_proj.weight",
                                       NULL};
    static const char *const keys[] = {"num_hidden_layers", NULL};
    if (ask->type == WB__OLLAMA_INT4 || ask->type == WB__OLLAMA_INT8)
        return wb__ollama_default(ask);
    if (is_embedding(ask) || wb__ollama_ends(ask, "lm_head.weight"))
        return eight_or_keep(ask);
    if (wb__ollama_has_any(ask, attention))
        return ask->type == WB__OLLAMA_MXFP8 ? WB__OLLAMA_KEEP : not_promoted(ask);
    int64_t layer = layer_of(ask), layers = first_number(ask, keys);
    dense_layers dense_ones = dense_layers_of(ask->conversion->model, layer);
    if (layers <= 0)
        layers = dense_ones.listed > 0 ? (int64_t)dense_ones.listed : 40;
    if (wb__ollama_has_any(ask, dense) && (dense_ones.has || (layer == 0 && !dense_ones.has_any)))
        return not_promoted(ask);
    if (!wb__ollama_has_any(ask, experts) || !wb__ollama_ends_any(ask, ends))
        return WB__OLLAMA_KEEP;
    return wb__ollama_ends(ask, ".down_proj.weight")
               ? laguna_down(ask, wb__ollama_has(ask, ".mlp.shared_expert."),
                             matters(layer, layers, layers / 2 - 4))
               : not_promoted(ask);
}

/* ---- Nemotron H ---- */

static bool starts_with_any(const wb__ollama_ask *ask, const char *const *starts)
{
    for (; *starts != NULL; starts++) {
        if (wb__str_starts_with(ask->name, wb__str_from(*starts, SIZE_MAX)))
            return true;
    }
    return false;
}

static wb__ollama_type nemotron_h(const wb__ollama_ask *ask)
{
    static const char *const senses[] = {"vision_model.", "mlp1.", "sound_encoder.",
                                         "sound_projection.", NULL};
    static const char *const kept[] = {".mixer.gate.weight", ".mixer.conv1d.weight", NULL};
    static const char *const ends[] = {"embeddings.weight", "lm_head.weight", NULL};
    static const char *const attention[] = {".mixer.q_proj.weight", ".mixer.k_proj.weight",
                                            ".mixer.v_proj.weight", ".mixer.o_proj.weight", NULL};
    static const char *const others[] = {".mixer.out_proj.weight", ".mixer.down_proj.weight",
                                         ".mixer.shared_experts.down_proj.weight", NULL};
    static const char *const keys[] = {"num_hidden_layers", "llm_config.num_hidden_layers", NULL};
    bool four = ask->type == WB__OLLAMA_NVFP4 || ask->type == WB__OLLAMA_MXFP4;
    if (starts_with_any(ask, senses) || wb__ollama_ends_any(ask, kept))
        return WB__OLLAMA_KEEP;
    if (wb__ollama_ends_any(ask, ends))
        return eight_or_keep(ask);
    if (four && wb__ollama_ends_any(ask, attention))
        return promote(ask, true);
    if (four && (wb__ollama_ends_any(ask, others) || (wb__ollama_has(ask, ".mixer.experts.") &&
                                                      wb__ollama_ends(ask, ".down_proj.weight"))))
        return promote(ask, layer_of(ask) < 0 || layer_matters(ask, first_number(ask, keys)));
    return wb__ollama_default(ask);
}

/* ---- rules by architecture ---- */

static const struct {
    const char *architecture;
    wb__ollama_rule *rule;
} list[] = {{"Qwen3_5ForCausalLM", qwen35},
            {"Qwen3_5ForConditionalGeneration", qwen35},
            {"Qwen3NextForCausalLM", qwen35},
            {"Qwen3NextForConditionalGeneration", qwen35},
            {"Qwen3_5MoeForCausalLM", qwen35},
            {"Qwen3_5MoeForConditionalGeneration", qwen35},
            {"Qwen3NextMoeForCausalLM", qwen35},
            {"Qwen3NextMoeForConditionalGeneration", qwen35},
            {"Gemma4ForCausalLM", gemma4},
            {"Gemma4ForConditionalGeneration", gemma4},
            {"Gemma4UnifiedForCausalLM", gemma4},
            {"Gemma4UnifiedForConditionalGeneration", gemma4},
            {"gemma4_unified", gemma4},
            {"gemma4_unified_text", gemma4},
            {"Gemma4AssistantForCausalLM", gemma4},
            {"Gemma4UnifiedAssistantForCausalLM", gemma4},
            {"gemma4_unified_assistant", gemma4},
            {"LagunaForCausalLM", laguna},
            {"MuseGlimmerForConditionalGeneration", glimmer},
            {"Cohere2MoeForCausalLM", cohere2_moe},
            {"NemotronH_Nano_VL_V2", nemotron_h},
            {"NemotronH_Nano_Omni_Reasoning_V3", nemotron_h},
            {"NemotronHForCausalLM", nemotron_h}};

/* Returns the first entry of "architectures" in the config, or the model type if the config has
 * no such entry. */
static wb__str architecture_of(const wb_model *model)
{
    static const char *const keys[] = {"model_type", "text_config.model_type"};
    wb_meta_array array = {.size = sizeof array};
    const char *text;
    size_t n;
    if (wb_meta_get_array(model, "architectures", SIZE_MAX, WB_META_ANY, &array, NULL) == WB_OK &&
        array.element == WB_META_STRING && array.count > 0 &&
        wb_meta_string_at(&array, 0, &text, &n) == WB_OK && n > 0)
        return (wb__str){text, n};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (wb_meta_get_string(model, keys[i], SIZE_MAX, &text, &n, NULL) == WB_OK && n > 0)
            return (wb__str){text, n};
    }
    return WB__STR("");
}

wb__ollama_rule *wb__ollama_rule_of(const wb_conversion *conversion)
{
    wb__str architecture = architecture_of(conversion->model);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        if (wb__str_equal(architecture, wb__str_from(list[i].architecture, SIZE_MAX)))
            return list[i].rule;
    }
    return wb__ollama_default;
}

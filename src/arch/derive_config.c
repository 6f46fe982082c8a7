/*
 * Derives the config under the keys of the other format: GGUF keys for a model with config.json,
 * config.json keys for a GGUF model. The tables contain one fact per row. The GGUF keys are those
 * that llama.cpp's converter writes (convert_hf_to_gguf.py, gguf-py/gguf/constants.py).
 */
#include <math.h>
#include <stdio.h>

#include "arch/derive_meta.h"
#include "weighbridge/dtypes.h"

#define ALL 0u
#define RMS 1u      /* families with RMSNorm */
#define LAYER 2u    /* families with LayerNorm */
#define ROPE 4u     /* families with rotary position embedding */
#define ENCODER 8u  /* families with an encoder and a decoder */
#define DECODER 16u /* families with only a decoder or only an encoder */
#define EXPERTS 32u

static const struct {
    const char *key;  /* GGUF key without the architecture prefix */
    const char *path; /* path in config.json */
    uint8_t field;
    unsigned where;
} pairs[] = {
    {"block_count", "num_hidden_layers", WB_CONFIG_N_LAYERS, DECODER},
    {"context_length", "max_position_embeddings", WB_CONFIG_MAX_SEQ_LEN, DECODER},
    {"embedding_length", "hidden_size", WB_CONFIG_DIM, DECODER},
    {"feed_forward_length", "intermediate_size", WB_CONFIG_FFN_DIM, DECODER},
    {"attention.head_count", "num_attention_heads", WB_CONFIG_N_HEADS, DECODER},
    {"attention.head_count_kv", "num_key_value_heads", WB_CONFIG_N_KV_HEADS, DECODER},
    {"attention.key_length", "head_dim", WB_CONFIG_HEAD_DIM, ROPE},
    {"attention.value_length", NULL, WB_CONFIG_HEAD_DIM, ROPE},
    {"rope.dimension_count", NULL, WB_CONFIG_ROPE_DIMENSION_COUNT, ROPE},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", WB_CONFIG_NORM_EPS, RMS},
    {"attention.layer_norm_epsilon", "layer_norm_eps", WB_CONFIG_NORM_EPS, LAYER},
    {"rope.freq_base", "rope_theta", WB_CONFIG_ROPE_THETA, ROPE},
    {"rope.freq_base_swa", "rope_local_base_freq", WB_CONFIG_ROPE_LOCAL_THETA, ROPE},
    {"attention.sliding_window", "sliding_window", WB_CONFIG_SLIDING_WINDOW, ROPE},
    {"attention.sliding_window_pattern", "sliding_window_pattern", WB_CONFIG_SLIDING_WINDOW_PATTERN,
     ROPE},
    {"vocab_size", "vocab_size", WB_CONFIG_VOCAB_SIZE, ALL},
    {"expert_count", "num_experts", WB_CONFIG_N_EXPERTS, EXPERTS},
    {NULL, "num_local_experts", WB_CONFIG_N_EXPERTS, EXPERTS},
    {"expert_used_count", "num_experts_per_tok", WB_CONFIG_N_EXPERTS_USED, EXPERTS},
    {"expert_feed_forward_length", "moe_intermediate_size", WB_CONFIG_EXPERT_FFN_DIM, EXPERTS},
    {NULL, "tie_word_embeddings", WB_CONFIG_TIE_EMBEDDINGS, ALL},
    {"decoder.block_count", "decoder_layers", WB_CONFIG_N_LAYERS, ENCODER},
    {"decoder.context_length", "max_target_positions", WB_CONFIG_MAX_SEQ_LEN, ENCODER},
    {"decoder.embedding_length", "d_model", WB_CONFIG_DIM, ENCODER},
    {"decoder.feed_forward_length", "decoder_ffn_dim", WB_CONFIG_FFN_DIM, ENCODER},
    {"decoder.attention.head_count", "decoder_attention_heads", WB_CONFIG_N_HEADS, ENCODER},
    {"encoder.block_count", "encoder_layers", WB_CONFIG_ENC_N_LAYERS, ENCODER},
    {"encoder.context_length", "max_source_positions", WB_CONFIG_ENC_MAX_SEQ_LEN, ENCODER},
    {"encoder.embedding_length", NULL, WB_CONFIG_ENC_DIM, ENCODER},
    {"encoder.feed_forward_length", "encoder_ffn_dim", WB_CONFIG_ENC_FFN_DIM, ENCODER},
    {"encoder.attention.head_count", "encoder_attention_heads", WB_CONFIG_ENC_N_HEADS, ENCODER},
    {"encoder.mels_count", "num_mel_bins", WB_CONFIG_N_MELS, ENCODER},
};

/*
 * Type of a derived GGUF value: as in config.json, floating-point or integer. llama.cpp rejects a
 * file whose value has another type.
 */
typedef enum wanted { AS_SAID, AS_REAL, AS_COUNT } wanted;

/*
 * Facts that are not fields of wb_config. For a GGUF model, `key` is read and `json` is derived.
 * Otherwise, `paths` are searched in config.json and `key` is derived.
 */
static const struct {
    const char *key;
    const char *json;
    const char *paths;
    wanted as;
} facts[] = {
    {"attn_logit_softcapping", "attn_logit_softcapping", "attn_logit_softcapping", AS_REAL},
    {"final_logit_softcapping", "final_logit_softcapping", "final_logit_softcapping", AS_REAL},
    {"rope.scaling.type", "rope_scaling.rope_type",
     "rope_scaling/rope_type|rope_scaling/type|rope_parameters/rope_type|"
     "rope_parameters/full_attention/rope_type",
     AS_SAID},
    {"rope.scaling.factor", "rope_scaling.factor",
     "rope_scaling/factor|rope_parameters/factor|rope_parameters/full_attention/factor", AS_REAL},
    {"rope.scaling.original_context_length", "rope_scaling.original_max_position_embeddings",
     "rope_scaling/original_max_position_embeddings|"
     "rope_parameters/original_max_position_embeddings|"
     "rope_parameters/full_attention/original_max_position_embeddings|"
     "original_max_position_embeddings",
     AS_COUNT},
    {"rope.scaling.yarn_beta_fast", "rope_scaling.beta_fast",
     "rope_scaling/beta_fast|rope_parameters/beta_fast|rope_parameters/full_attention/beta_fast",
     AS_REAL},
    {"rope.scaling.yarn_beta_slow", "rope_scaling.beta_slow",
     "rope_scaling/beta_slow|rope_parameters/beta_slow|rope_parameters/full_attention/beta_slow",
     AS_REAL},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size",
     "shared_expert_intermediate_size", AS_SAID},
    {"expert_shared_count", "n_shared_experts", "n_shared_experts", AS_SAID},
    {"attention.causal", "is_decoder", "is_decoder", AS_SAID},
};

/*
 * Ids of special tokens and other tokenizer settings: the GGUF key, and the name in config.json or
 * tokenizer_config.json.
 */
static const struct {
    const char *key;
    const char *path;
} ids[] = {
    {"tokenizer.ggml.bos_token_id", "bos_token_id"},
    {"tokenizer.ggml.eos_token_id", "eos_token_id"},
    {"tokenizer.ggml.unknown_token_id", "unk_token_id"},
    {"tokenizer.ggml.seperator_token_id", "sep_token_id"},
    {"tokenizer.ggml.padding_token_id", "pad_token_id"},
    {"tokenizer.ggml.cls_token_id", "cls_token_id"},
    {"tokenizer.ggml.mask_token_id", "mask_token_id"},
    {"tokenizer.ggml.token_type_count", "type_vocab_size"},
    {"tokenizer.ggml.add_bos_token", "add_bos_token"},
    {"tokenizer.ggml.add_eos_token", "add_eos_token"},
    {"tokenizer.ggml.add_space_prefix", "add_prefix_space"},
    {"tokenizer.chat_template", "chat_template"},
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static unsigned kind_of(const wb__deriver *teller)
{
    unsigned flags = teller->family == NULL ? 0 : teller->family->flags;
    unsigned kind = flags & WB__FAMILY_NO_ROPE ? LAYER : RMS | ROPE;
    kind |= flags & WB__FAMILY_ENCODER ? ENCODER : DECODER;
    return kind | (teller->config->n_experts != 0 ? EXPERTS : 0);
}

static void tell_field(wb__deriver *teller, const char *key, uint32_t field)
{
    const wb__config_row *row = &wb__config_rows[field];
    const char *member = (const char *)teller->config + row->offset;
    switch (row->kind) {
    case WB__CONFIG_KIND_COUNT: wb__derive_uint(teller, key, *(const uint64_t *)member); break;
    case WB__CONFIG_KIND_REAL: wb__derive_float(teller, key, *(const double *)member); break;
    default:
        wb__derive_bool(teller, key,
                        *(const uint32_t *)member !=
                            0); /* a boolean, because `pairs` has no text or layout fields */
    }
}

static void prefixed(const wb__deriver *teller, const char *key, char *out, size_t capacity)
{
    (void)snprintf(out, capacity, "%s.%s", teller->config->architecture, key);
}

/* Derives partial_rotary_factor if the GGUF metadata specifies the number of rotated dimensions. */
static void tell_part(wb__deriver *teller)
{
    const wb_config *config = teller->config;
    wb__fact fact = wb__fact_by_key(teller->facts, wb__str_from(config->architecture, SIZE_MAX),
                                    "rope.dimension_count");
    if (teller->family != NULL && (teller->family->flags & WB__FAMILY_PARTIAL_ROPE) != 0 &&
        fact.type == WB__FACT_UINT && fact.number > 0 && fact.number < config->head_dim)
        wb__derive_float(teller, "partial_rotary_factor",
                         (double)fact.number / (double)config->head_dim);
}

static void tell_pairs(wb__deriver *teller)
{
    char key[128];
    unsigned kind = kind_of(teller);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        uint8_t origin = teller->config->origin[pairs[i].field];
        bool window = pairs[i].field == WB_CONFIG_SLIDING_WINDOW;
        if (origin == WB_ORIGIN_ABSENT || (pairs[i].where != ALL && !(pairs[i].where & kind)) ||
            (window && teller->config->sliding_window == 0))
            continue;
        if (teller->by_key && pairs[i].path != NULL) {
            tell_field(teller, pairs[i].path, pairs[i].field);
        } else if (!teller->by_key && pairs[i].key != NULL) {
            prefixed(teller, pairs[i].key, key, sizeof key);
            tell_field(teller, key, pairs[i].field);
        }
    }
}

/* Converts the number type, because JSON does not distinguish 8 and 8.0. */
static wb__fact fact_as(wanted as, wb__fact fact)
{
    bool is_whole = fact.type == WB__FACT_UINT || fact.type == WB__FACT_INT;
    if (as == AS_REAL && is_whole) {
        fact.type = WB__FACT_REAL;
    } else if (as == AS_COUNT && fact.type == WB__FACT_REAL && fact.real >= 0 &&
               fact.real <= UINT32_MAX && fact.real == floor(fact.real)) {
        fact.type = WB__FACT_UINT;
        fact.number = (uint64_t)fact.real;
    }
    return fact;
}

static void tell_facts(wb__deriver *teller)
{
    char key[128];
    wb__str prefix = wb__str_from(teller->config->architecture, SIZE_MAX);
    for (size_t i = 0; i < COUNT(facts); i++) {
        if (teller->by_key) {
            wb__fact fact = wb__fact_by_key(teller->facts, prefix, facts[i].key);
            wb__derive_fact(teller, facts[i].json, &fact);
        } else {
            wb__fact fact = fact_as(facts[i].as, wb__fact_by_path(teller->facts, facts[i].paths));
            prefixed(teller, facts[i].key, key, sizeof key);
            wb__derive_fact(teller, key, &fact);
        }
    }
    if (teller->by_key) {
        tell_part(teller);
        for (size_t i = 0; i < COUNT(ids); i++) {
            wb__fact fact = wb__fact_by_key(teller->facts, WB__STR(""), ids[i].key);
            wb__derive_fact(teller, ids[i].path, &fact);
        }
    }
}

/* Derives facts that the family implies. */
static void tell_family(wb__deriver *teller)
{
    const wb__family *family = teller->family;
    char type[32];
    wb__str first = WB__STR("");
    if (family == NULL)
        return;
    const char *rest = family->model_types;
    if (teller->by_key) {
        (void)wb__spelling_next(&rest, &first); /* every family has at least one model_type */
        (void)snprintf(type, sizeof type, "%.*s", (int)first.len, first.ptr);
        wb__derive_text(teller, "model_type", wb__str_from(type, SIZE_MAX));
        wb__derive_text(teller, "hidden_act", wb__str_from(family->activation, SIZE_MAX));
        wb__derive_bool(teller, "attention_bias",
                        wb__names_find(teller->names, WB__STR("layers.0.attention.q.bias")) !=
                            NULL);
        wb__derive_bool(teller, "mlp_bias",
                        wb__names_find(teller->names, WB__STR("layers.0.ffn.up.bias")) != NULL);
    } else if (strcmp(family->name, "gemma2") == 0) {
        wb__derive_float(teller, "gemma2.attn_logit_softcapping", 50);
        wb__derive_float(teller, "gemma2.final_logit_softcapping", 30);
    } else if (strcmp(family->name, "bert") == 0) {
        wb__fact types = wb__fact_by_path(teller->facts, "type_vocab_size");
        wb__derive_bool(teller, "bert.attention.causal", false);
        wb__derive_fact(teller, "tokenizer.ggml.token_type_count", &types);
    }
}

/*
 * Derives the data type of most matrix elements: general.file_type (llama.cpp's number) or
 * torch_dtype (name in config.json). Only F32, F16 and BF16 are derived.
 */
static void tell_dtype(wb__deriver *teller)
{
    static const struct {
        int32_t dtype;
        uint32_t file_type;
        const char *name;
    } types[] = {{WB_DTYPE_F32, 0, "float32"},
                 {WB_DTYPE_F16, 1, "float16"},
                 {WB_DTYPE_BF16, 32, "bfloat16"}};
    uint64_t elements[COUNT(types)] = {0}, all = 0;
    for (size_t i = 0; i < teller->names->tensors->count; i++) {
        const wb__kind *kind = wb__names_kind(teller->names, i);
        if (kind->rank < 2)
            continue;
        uint64_t sum;
        all = wb__add(all, kind->elements, &sum) ? sum : UINT64_MAX;
        for (size_t t = 0; t < COUNT(types); t++) {
            if (kind->dtype->id == types[t].dtype)
                elements[t] = wb__add(elements[t], kind->elements, &sum) ? sum : UINT64_MAX;
        }
    }
    for (size_t t = 0; t < COUNT(types); t++) {
        if (elements[t] == 0 || elements[t] < all / 2)
            continue;
        if (teller->by_key)
            wb__derive_text(teller, "torch_dtype", wb__str_from(types[t].name, SIZE_MAX));
        else
            wb__derive_uint(teller, "general.file_type", types[t].file_type);
        return;
    }
}

void wb__derive_config(wb__deriver *teller)
{
    if (teller->config->origin[WB_CONFIG_ARCHITECTURE] != WB_ORIGIN_FILE)
        return;
    wb__str architecture = wb__str_from(teller->config->architecture, SIZE_MAX);
    if (!teller->by_key) {
        wb__derive_text(teller, "general.architecture", architecture);
        wb__derive_text(teller, "general.type", WB__STR("model"));
        wb__derive_uint(teller, "general.quantization_version", 2);
    }
    tell_pairs(teller);
    tell_facts(teller);
    tell_family(teller);
    tell_dtype(teller);
}

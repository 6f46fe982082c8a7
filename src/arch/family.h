/*
 * arch/family.h: naming rules for the tensors of architecture families.
 *
 * A rule is a table row with a canonical name and the equivalent names in other formats. {n} is the
 * layer, {e} the expert, and '|' separates alternatives. Rows omit ".weight" and ".bias": the
 * suffix after the last dot is copied. Native names (Hugging Face and MLX) omit "model." and other
 * wrapper prefixes (name_pattern.c removes them). A rule has an effect only if the tensor exists,
 * so extra rows are harmless.
 *
 * A family is a table file in families/ and a row in families.c. If two rows contain the same name,
 * the first one applies. A family overrides shared rows by listing its own rows first.
 */
#ifndef WB_ARCH_FAMILY_H
#define WB_ARCH_FAMILY_H

#include "core/core.h"

/* Parts of a layer, as bit flags. A rule provides parts, a family requires them. */
enum {
    WB__NEED_NORM = 1u << 0,
    WB__NEED_Q = 1u << 1,
    WB__NEED_K = 1u << 2,
    WB__NEED_V = 1u << 3,
    WB__NEED_OUTPUT = 1u << 4,
    WB__NEED_FFN_NORM = 1u << 5,
    WB__NEED_GATE = 1u << 6,
    WB__NEED_UP = 1u << 7,
    WB__NEED_DOWN = 1u << 8,
    WB__NEED_CROSS = 1u << 9, /* cross attention; only the q tensor is checked */
    /* The following parts are not in a layer. */
    WB__NEED_EMBEDDING = 1u << 16,
    WB__NEED_HEAD = 1u << 17, /* the output matrix, unless it is tied to the embedding */
    WB__NEED_LAST_NORM = 1u << 18
};

/* Additional properties of a rule (the highest bits of wb__rule.provides). */
#define WB__RULE_ROPE_Q (1u << 28) /* query tensor; GGUF may permute the rows of each head */
#define WB__RULE_ROPE_K (1u << 29) /* key tensor; GGUF may permute the rows of each head */
#define WB__RULE_NORM (1u << 30)   /* norm; some formats store its weight minus 1 */
/* the canonical name has no ".weight" suffix, even if the stored name has one */
#define WB__RULE_BARE (1u << 31)
#define WB__RULE_FLAGS (WB__RULE_ROPE_Q | WB__RULE_ROPE_K | WB__RULE_NORM | WB__RULE_BARE)

#define WB__NEEDS_ATTENTION (WB__NEED_NORM | WB__NEED_Q | WB__NEED_K | WB__NEED_V | WB__NEED_OUTPUT)
#define WB__NEEDS_FFN (WB__NEED_FFN_NORM | WB__NEED_UP | WB__NEED_DOWN)

/*
 * `shape` has one letter per dimension of the ".weight" tensor; a ".bias" has only the first
 * dimension. Each letter stands for a size in wb_config:
 *   d dim   q q_dim   k kv_dim   s q_dim + 2 kv_dim   h head_dim   f ffn_dim   g 2 ffn_dim
 *   v vocab_size   e n_experts   x expert_ffn_dim   l max_seq_len   ? anything
 *   D enc_dim   F enc_ffn_dim   L enc_max_seq_len   m n_mels
 */
typedef struct wb__rule {
    const char *canonical; /* NULL: a recognized tensor that needs no canonical name */
    const char *gguf;
    const char *native; /* name in Hugging Face and MLX models */
    const char *shape;  /* NULL if unknown */
    uint32_t provides;  /* flags WB__NEED_* and WB__RULE_* */
} wb__rule;

/* The models to which a default applies. */
enum {
    WB__IN_FOLDERS,    /* those with config.json: a default of transformers */
    WB__EVERYWHERE,    /* all */
    WB__IN_GGUF_FILES, /* those with GGUF key-values: a constant of llama.cpp */
    WB__ALWAYS         /* all, whatever their files specify: a constant of the architecture */
};

/* Default of a config field, which applies if the files omit the field. */
typedef struct wb__config_default {
    uint8_t field; /* a wb_config_field value */
    uint8_t where; /* the models to which the default applies: WB__IN_FOLDERS … */
    double value;
} wb__config_default;

#define WB__FAMILY_INTERLEAVED 1u /* GGUF permutes the rows of q and k (row_order.h) */
#define WB__FAMILY_NORM_OFFSET 2u /* Hugging Face and MLX store norm weights minus 1 */
#define WB__FAMILY_NO_ROPE 4u     /* no RoPE: learned position embeddings or none */
#define WB__FAMILY_NO_HEAD 8u     /* no output matrix over the vocabulary */
#define WB__FAMILY_ENCODER 16u    /* an encoder in addition to the decoder */
#define WB__FAMILY_FACTORS 32u    /* llama.cpp applies NAME.scale also to feed-forward tensors */

#define WB__FAMILY_SCALED 64u /* embeddings are multiplied by the square root of dim */
#define WB__FAMILY_QUERY 128u /* config.json has query_pre_attn_scalar; GGUF has no key for it */
#define WB__FAMILY_PARTIAL_ROPE 256u /* RoPE may rotate only the first part of each head */

#define WB__RULE_GROUPS 5

typedef struct wb__family {
    const char *name;        /* value of general.architecture */
    const char *model_types; /* values of model_type in config.json, separated by '|' */
    /*
     * name patterns of tensors that only this family has, separated by '|'; they identify the
     * family of a model without architecture information; NULL: none
     */
    const char *signature;
    const wb__rule *rules[WB__RULE_GROUPS]; /* each list ends with an empty row */
    const wb__config_default *defaults;     /* the list ends with field 0 */
    const char *activation; /* "hidden_act" of config.json, which GGUF does not store */
    uint32_t flags;
    /*
     * number of layers of the model whose query_pre_attn_scalar is dim / n_heads in llama.cpp; that
     * of all other models is head_dim; 0: there is no such model
     */
    uint64_t query_layers;
    uint32_t needs; /* required parts of each layer and of the model (WB__NEED_*) */
} wb__family;

/* Rules shared by several families (families/shared.c). */
extern const wb__rule wb__rules_decoder[];
extern const wb__rule wb__rules_experts[];
extern const wb__rule wb__rules_known[];

/* Return the family with this general.architecture or model_type; NULL if there is none. */
const wb__family *wb__family_by_name(wb__str architecture);
const wb__family *wb__family_by_model_type(wb__str model_type);

/*
 * wb__family_unknown has the rules for models whose family is unknown. wb__family_by_signature
 * returns the first family with a signature for which `has` returns true, or &wb__family_unknown.
 */
extern const wb__family wb__family_unknown;
const wb__family *wb__family_by_signature(bool (*has)(void *ctx, wb__str pattern), void *ctx);

/*
 * Takes the next element of a '|' separated list. *rest is initially the list. Returns false at the
 * end.
 */
bool wb__spelling_next(const char **rest, wb__str *spelling);

#endif

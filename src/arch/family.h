/*
 * arch/family.h: naming rules for the tensors of architecture families.
 *
 * A rule is a table row with a canonical name and the equivalent names in other formats. {n} is the
 * layer, {e} the expert, and '|' separates alternatives. Rows omit ".weight" and ".bias": the
 * suffix after the last dot is copied. Native names (Hugging Face and MLX) omit "model." and other
 * wrapper prefixes (name_pattern.c removes them). A rule has an effect only if the tensor exists,
 * so extra rows are harmless.
 *
 * A family is a table file in families/ and a row in families.c. If two rows have the same
 * spelling, the first one applies; a family overrides shared rows by listing its own rows first.
 */
#ifndef WB_ARCH_FAMILY_H
#define WB_ARCH_FAMILY_H

#include "core/core.h"

/* Required parts of a layer, as bit flags. */
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
    /* The following parts are outside of layers. */
    WB__NEED_EMBEDDING = 1u << 16,
    WB__NEED_HEAD = 1u << 17, /* the output matrix, unless it is tied to the embedding */
    WB__NEED_LAST_NORM = 1u << 18
};

/* Additional properties of a rule (the highest bits of wb__rule.provides). */
#define WB__RULE_ROPE_Q (1u << 28) /* rows permuted for RoPE, per query head */
#define WB__RULE_ROPE_K (1u << 29) /* rows permuted for RoPE, per key head */
#define WB__RULE_NORM (1u << 30)   /* the weight of a norm, which some formats store minus 1 */
/* the canonical name has no ".weight" suffix, even if the stored name has one */
#define WB__RULE_BARE (1u << 31)
#define WB__RULE_FLAGS (WB__RULE_ROPE_Q | WB__RULE_ROPE_K | WB__RULE_NORM | WB__RULE_BARE)

#define WB__NEEDS_ATTENTION (WB__NEED_NORM | WB__NEED_Q | WB__NEED_K | WB__NEED_V | WB__NEED_OUTPUT)
#define WB__NEEDS_FFN (WB__NEED_FFN_NORM | WB__NEED_UP | WB__NEED_DOWN)

/*
 * The shape of the ".weight" tensor, one letter per dimension; ".bias" has only the first
 * dimension.
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

/* Value of a config field that the files omit. */
typedef struct wb__config_default {
    uint8_t field;   /* a wb_config_field value */
    bool everywhere; /* the default also applies to GGUF files, which omit other fields than
                        config.json */
    double value;
} wb__config_default;

#define WB__FAMILY_INTERLEAVED 1u /* GGUF stores permuted rows of q and k */
#define WB__FAMILY_NORM_OFFSET 2u /* Hugging Face and MLX store norm weights minus 1 */
#define WB__FAMILY_NO_ROPE 4u     /* learned positions or none */
#define WB__FAMILY_NO_HEAD 8u     /* no output matrix over the vocabulary */
#define WB__FAMILY_ENCODER 16u    /* an encoder in addition to the decoder */
#define WB__FAMILY_FACTORS 32u    /* llama.cpp applies NAME.scale also after attention */

#define WB__RULE_GROUPS 5

typedef struct wb__family {
    const char *name;        /* value of general.architecture */
    const char *model_types; /* values of model_type in config.json, separated by '|' */
    /* native pattern of a tensor that only this family has, to identify models without config */
    const char *signature;
    const wb__rule *rules[WB__RULE_GROUPS]; /* each list ends with an empty row */
    const wb__config_default *defaults;     /* the list ends with field 0 */
    const char *activation; /* "hidden_act" of config.json, which GGUF does not store */
    uint32_t flags;
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
 * Rules for models without architecture information; wb__family_by_signature identifies the family
 * by a tensor name.
 */
extern const wb__family wb__family_unknown;
const wb__family *wb__family_by_signature(bool (*has)(void *ctx, wb__str pattern), void *ctx);

/* Iterates over a '|' separated list: start with *rest = list; returns false at the end. */
bool wb__spelling_next(const char **rest, wb__str *spelling);

#endif

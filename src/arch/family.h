/*
 * arch/family.h: how the families of architectures name their tensors.
 *
 * A rule is a row: one canonical name and what it is called elsewhere. {n} stands for a layer, {e}
 * for an expert, '|' parts spellings. No row says ".weight" or ".bias": what a tensor is called
 * after its last dot goes along with it. Of the names of Hugging Face and MLX the rows leave out
 * "model." and what else wraps a model in a larger one (wb__name_parse). A rule is taken only where
 * the tensor exists, so a row too many does no harm.
 *
 * A family is a table file in families/ and a row in families.c. Of two rows with one spelling the
 * first counts, so that a family overrides what it shares with others by putting its own rows
 * before.
 */
#ifndef WB_ARCH_FAMILY_H
#define WB_ARCH_FAMILY_H

#include "core/core.h"

/* What a layer cannot do without; bits. */
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
    WB__NEED_CROSS = 1u << 9, /* cross attention, of which q stands for all */
    /* outside of layers */
    WB__NEED_EMBEDDING = 1u << 16,
    WB__NEED_HEAD = 1u << 17, /* the output, unless it is tied */
    WB__NEED_LAST_NORM = 1u << 18
};

/* What else a rule says of a tensor (the last bits of wb__rule.provides). */
#define WB__RULE_ROPE_Q (1u << 28) /* rows that RoPE turns, in heads of the queries */
#define WB__RULE_ROPE_K (1u << 29) /* and of the keys */
#define WB__RULE_NORM (1u << 30)   /* the weight of a norm, which some store minus 1 */
#define WB__RULE_BARE (1u << 31)   /* the canonical name has no ".weight", wherever it is stored */
#define WB__RULE_FLAGS (WB__RULE_ROPE_Q | WB__RULE_ROPE_K | WB__RULE_NORM | WB__RULE_BARE)

#define WB__NEEDS_ATTENTION (WB__NEED_NORM | WB__NEED_Q | WB__NEED_K | WB__NEED_V | WB__NEED_OUTPUT)
#define WB__NEEDS_FFN (WB__NEED_FFN_NORM | WB__NEED_UP | WB__NEED_DOWN)

/*
 * The shape, a letter a dimension, of what ".weight" names; ".bias" has the first dimension of it.
 *   d dim   q q_dim   k kv_dim   s q_dim + 2 kv_dim   h head_dim   f ffn_dim   g 2 ffn_dim
 *   v vocab_size   e n_experts   x expert_ffn_dim   l max_seq_len   ? anything
 *   D enc_dim   F enc_ffn_dim   L enc_max_seq_len   m n_mels
 */
typedef struct wb__rule {
    const char *canonical; /* NULL: a tensor that is known, and nobody needs by a canonical name */
    const char *gguf;
    const char *native; /* Hugging Face and MLX */
    const char *shape;  /* NULL: not known */
    uint32_t provides;  /* of the parts above, and WB__RULE_* */
} wb__rule;

/* What a config that is silent means. */
typedef struct wb__config_default {
    uint8_t field;   /* wb_config_field */
    bool everywhere; /* also in GGUF, whose keys are silent about other things than config.json */
    double value;
} wb__config_default;

#define WB__FAMILY_INTERLEAVED 1u /* GGUF has the rows of q and k permuted */
#define WB__FAMILY_NORM_OFFSET 2u /* Hugging Face and MLX store the weights of norms minus 1 */
#define WB__FAMILY_NO_ROPE 4u     /* positions are learned, or there are none */
#define WB__FAMILY_NO_HEAD 8u     /* has no output over the vocabulary */
#define WB__FAMILY_ENCODER 16u    /* has an encoder beside its decoder */
#define WB__FAMILY_FACTORS 32u    /* llama.cpp multiplies with NAME.scale after attention, too */

#define WB__RULE_GROUPS 5

typedef struct wb__family {
    const char *name;        /* general.architecture */
    const char *model_types; /* of config.json, '|' between */
    const char *signature; /* a canonical pattern only this family has, for weights without config;
                              in its native spelling */
    const wb__rule *rules[WB__RULE_GROUPS]; /* each ends with a row without names */
    const wb__config_default *defaults;     /* ends with field 0 */
    const char *activation; /* "hidden_act" of config.json, which GGUF does not say */
    uint32_t flags;
    uint32_t needs; /* the parts of a layer, and of the whole */
} wb__family;

/* Rows that several families share (families/shared.c). */
extern const wb__rule wb__rules_decoder[];
extern const wb__rule wb__rules_experts[];
extern const wb__rule wb__rules_known[];

/* The family of a general.architecture or of a model_type; NULL if there is none. */
const wb__family *wb__family_by_name(wb__str architecture);
const wb__family *wb__family_by_model_type(wb__str model_type);

/* The rules for models that say nothing of what they are, by a name only one family has. */
extern const wb__family wb__family_unknown;
const wb__family *wb__family_by_signature(bool (*has)(void *ctx, wb__str pattern), void *ctx);

/* Walks over the spellings in a '|' list: begin with *rest = list; false at its end. */
bool wb__spelling_next(const char **rest, wb__str *spelling);

#endif

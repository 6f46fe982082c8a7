/*
 * arch/family.h: architecture families as data.
 *
 * A family is a table: src/arch/families/NAME.family. arch/family_text.h parses tables, and
 * scripts/families.sh compiles them to C. docs/dev/adding-a-family.md describes the language,
 * docs/dev/families-design.md the ideas.
 *
 * A table inherits everything from its base. For each name, the table that is nearest to the family
 * decides: the family itself, its base, the base of its base.
 */
#ifndef WB_ARCH_FAMILY_H
#define WB_ARCH_FAMILY_H

#include "arch/expr.h"
#include "core/core.h"

/*
 * Roles of tensors, as bit flags. A `tensor` row lists the roles of its tensor. A `need` row lists
 * the roles that every layer, or the model, must have.
 */
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
    WB__NEED_CROSS = 1u << 9,  /* cross attention; only the q tensor is checked */
    WB__NEED_MIXER = 1u << 10, /* input projection of a recurrent or convolutional layer */
    WB__NEED_MIXER_OUT = 1u << 11,
    WB__NEED_CONV = 1u << 12,
    WB__NEED_DECAY = 1u << 13, /* the parameter A of a state-space model */
    /* The following roles belong to the model, not to its layers. */
    WB__NEED_EMBEDDING = 1u << 16,
    WB__NEED_HEAD = 1u << 17, /* the output matrix, unless it is tied to the embedding */
    WB__NEED_LAST_NORM = 1u << 18
};

/* Properties of tensors, in the highest bits of the role flags. They are not roles, so no layer
 * needs them. */
#define WB__RULE_ROUTER (1u << 27)
#define WB__RULE_ROPE_Q (1u << 28) /* query tensor; GGUF may permute the rows of each head */
#define WB__RULE_ROPE_K (1u << 29) /* key tensor; GGUF may permute the rows of each head */
#define WB__RULE_NORM (1u << 30)   /* norm; in some families GGUF stores its weight plus 1 */
#define WB__RULE_FLAGS (WB__RULE_ROUTER | WB__RULE_ROPE_Q | WB__RULE_ROPE_K | WB__RULE_NORM)

/* ---- tensors ---- */

/* Formats of tensor names, as bit flags. */
enum {
    WB__SIDE_GGUF = 1,
    WB__SIDE_HF = 2,
    WB__SIDE_MLX = 4,
    WB__SIDE_OLLAMA = 8,
    WB__SIDE_NATIVE = WB__SIDE_HF | WB__SIDE_MLX | WB__SIDE_OLLAMA
};

/* The last word of a tensor name. */
typedef enum wb__suffix {
    WB__SUFFIX_NONE,
    WB__SUFFIX_WEIGHT,
    WB__SUFFIX_BIAS,
    WB__SUFFIX_SAME /* in tables: the suffix is that of the canonical name */
} wb__suffix;

/* Operations that compute a stored tensor from the canonical tensor. */
typedef enum wb__transform_kind {
    WB__TRANSFORM_SCALE,     /* scale(x): multiplies all values by x */
    WB__TRANSFORM_TRANSPOSE, /* transpose: exchanges the last two axes */
    /* maybe_transpose: as transpose, but a tensor that is read is not transposed if it has the
     * canonical shape */
    WB__TRANSFORM_MAYBE_TRANSPOSE,
    /* groups(n): the rows of a fused tensor are n groups, and each group has rows of all parts */
    WB__TRANSFORM_GROUPS,
    WB__TRANSFORMS
} wb__transform_kind;

typedef struct wb__transform {
    uint8_t kind;      /* a wb__transform_kind */
    wb__expr argument; /* NULL: the operation has none */
} wb__transform;

/*
 * A name of a tensor, without ".weight" and ".bias". {n} is the layer, {e} the expert. Spellings
 * with {e} are parts of a stack: one tensor per expert.
 */
typedef struct wb__spelling {
    const char *name;
    uint8_t sides;              /* the formats that use this name */
    uint8_t suffix;             /* a wb__suffix: the suffix in this format */
    bool is_read;               /* the name is recognized, but never written */
    uint8_t count;              /* number of transforms */
    const wb__transform *chain; /* transforms that compute the stored tensor */
} wb__spelling;

/* A row of a table: one canonical tensor, in every layer if its name contains {n}. */
typedef struct wb__rule {
    const char *canonical; /* NULL: a recognized tensor that needs no canonical name */
    const wb__spelling *spellings;
    const wb__expr *shape; /* NULL: unknown; an axis that is NULL may have any length */
    uint32_t provides;     /* flags WB__NEED_* and WB__RULE_* */
    uint8_t spelling_count;
    uint8_t rank;    /* number of axes of `shape` */
    uint8_t suffix;  /* WB__SUFFIX_SAME: any; WB__SUFFIX_NONE: the canonical name has no suffix */
    bool is_dropped; /* removes the inherited row of this tensor */
} wb__rule;

#define WB__FUSED_PARTS_MAX 4 /* maximum number of parts of a fused tensor */

/* A row `parts`: the rows of a fused tensor are the rows of its parts. If the tensor is a stack,
 * this applies to each matrix of the stack. */
typedef struct wb__fused {
    const char *whole; /* canonical name of the fused tensor */
    const char *parts[WB__FUSED_PARTS_MAX];
    uint8_t count;
} wb__fused;

/* ---- values ---- */

typedef enum wb__value_where {
    WB__VALUE_SET,     /* set: computed from config.json, even if config.json has a member for
                        * the field */
    WB__VALUE_DEFAULT, /* default: used if config.json has no value; as in transformers */
    WB__VALUE_IMPLIED, /* implied: used if the GGUF file has no value; as in llama.cpp */
    WB__VALUE_BOTH,    /* missing: acts like a `default` row and like an `implied` row */
    WB__VALUE_ALWAYS,  /* always: a constant of the architecture */
    WB__VALUE_LET      /* let: a name for use in expressions */
} wb__value_where;

/* A row that sets a field of the config, or defines a name (`let`). */
typedef struct wb__value_row {
    uint8_t where;
    int16_t field; /* a wb_config_field; -1 for `let` */
    const char *name;
    wb__expr expr;
} wb__value_row;

typedef enum wb__key_type {
    WB__KEY_AS_SAID, /* the key gets the type of its value; no conversion */
    WB__KEY_U32,
    WB__KEY_F32,
    WB__KEY_BOOL,
    WB__KEY_STR,
    WB__KEY_U32_LIST,
    WB__KEY_F32_LIST,
    WB__KEY_BOOL_LIST,
    WB__KEY_LIST /* each element has the type of its value; config.json only */
} wb__key_type;

/* The keyword of a key row, which determines where the key is written. */
typedef enum wb__key_place {
    WB__KEYS_GGUF, /* `key`: to GGUF, computed from config.json */
    WB__KEYS_JSON, /* `json`: to config.json, computed from GGUF */
    WB__KEYS_MLX   /* `mlx`: to the config.json for mlx-lm, if it lacks the member */
} wb__key_place;

/* A row `key`, `json` or `mlx`: defines a GGUF key (without the prefix of the architecture) or a
 * member of config.json by an expression in terms of the other format. */
typedef struct wb__key_row {
    const char *name;
    uint8_t type;  /* a wb__key_type */
    uint8_t place; /* a wb__key_place */
    uint8_t count; /* number of elements of a list; 0: one per layer */
    wb__expr expr;
    wb__expr condition;
} wb__key_row;

/* ---- limits ---- */

/* A limit of target formats. For a config outside the limit, the programs that read the format
 * would compute wrong results. */
typedef struct wb__limit {
    uint8_t sides;      /* the targets of a conversion to which the limit applies */
    bool is_refused;    /* the conversion is refused; otherwise there is a warning */
    const char *member; /* the member of config.json to name in the message */
    wb__expr condition; /* true: the config is outside the limit */
    const char *text;
} wb__limit;

/* ---- the family ---- */

#define WB__FAMILY_NO_HEAD 8u        /* no output matrix over the vocabulary */
#define WB__FAMILY_ENCODER 16u       /* an encoder in addition to the decoder */
#define WB__FAMILY_FACTORS 32u       /* llama.cpp applies X.scale also to feed-forward tensors X */
#define WB__FAMILY_ROUTER_8 128u     /* mlx-lm quantizes routers to 8 bits */
#define WB__FAMILY_NOT_LLAMA_CPP 64u /* llama.cpp does not load GGUF files of this family */

/* The rows of the q and k weights that RoPE rotates as a pair. */
typedef enum wb__family_rope {
    WB__ROPE_INHERITED,
    WB__ROPE_NO,       /* no RoPE */
    WB__ROPE_HALVES,   /* rows that are half a head apart, in every format */
    WB__ROPE_PERMUTED, /* as HALVES in Hugging Face; adjacent rows in GGUF, which permutes them */
    WB__ROPE_ADJACENT  /* adjacent rows, in every format */
} wb__family_rope;

#define WB__FAMILY_CHAIN_MAX 12 /* maximum number of tables in a chain of bases */

#define WB__LAYER_KIND_COUNT 6 /* number of values of wb_layer_kind */

typedef struct wb__family {
    const char *name; /* name of the table */
    const struct wb__family *base;
    /* Each of the following strings is a list whose elements are separated by '|'. Reading accepts
     * every element; writing uses the first element. */
    const char *gguf;      /* general.architecture */
    const char *types;     /* model_type in config.json */
    const char *classes;   /* architectures in config.json */
    const char *signature; /* name patterns of tensors that only this family has */
    const char *wrappers;  /* prefixes of tensor names, each including its final dot */
    wb__expr when;         /* condition that selects among families with the same `gguf` */
    const wb__rule *rules;
    size_t rule_count;
    const wb__fused *fused;
    size_t fused_count;
    const wb__value_row *values;
    size_t value_count;
    const wb__key_row *keys;
    size_t key_count;
    const wb__limit *limits;
    size_t limit_count;
    const char *tokenizer;  /* hints for the tokenizer, separated by '|' */
    uint8_t rope;           /* a wb__family_rope */
    uint8_t norm_sides;     /* formats that store norm weights plus 1, as WB__SIDE_* flags */
    uint8_t has_norm_sides; /* 0: inherited */
    uint32_t flags;
    uint32_t needs;                            /* WB__NEED_* of the model and of every layer */
    uint32_t kind_needs[WB__LAYER_KIND_COUNT]; /* WB__NEED_* of layers of a kind */
} wb__family;

/* ---- all families ---- */

/* The compiled tables. */
extern const wb__family *const wb__families[];
extern const size_t wb__family_count;

/* The rules for models whose family is unknown. */
extern const wb__family wb__family_unknown;

/* A set of families to search: those of the user first, then the compiled ones. A compiled family
 * is hidden if a family of the user has its name. */
typedef struct wb__family_set {
    const wb__family *const *families; /* the user's */
    size_t count;
} wb__family_set;

/* Returns the next family of the search order, or NULL at the end. Before the first call, the caller
 * sets *i to 0. `set` may be NULL. */
const wb__family *wb__family_next(const wb__family_set *set, size_t *i);

/*
 * wb__family_by_model_type returns the family with this model_type. wb__family_by_name returns the
 * first family with this general.architecture whose `when` is true in `scope`, or else the first
 * one without `when`. Both return NULL if there is none. `set` may be NULL.
 */
const wb__family *wb__family_by_model_type(const wb__family_set *set, wb__str model_type);
const wb__family *wb__family_by_name(const wb__family_set *set, wb__str architecture,
                                     const wb__scope *scope);

/* Returns the table with this name, or NULL. */
const wb__family *wb__family_named(const wb__family_set *set, wb__str name);

/* Returns the first family with a pattern in `signature` for which `has` returns true, or
 * &wb__family_unknown. */
const wb__family *wb__family_by_signature(const wb__family_set *set,
                                          bool (*has)(void *ctx, wb__str pattern), void *ctx);

/* ---- inherited properties ---- */

/* Returns the first element of `gguf`, `types` or `classes`, which may be inherited: "" if none. */
wb__str wb__family_gguf(const wb__family *family);
wb__str wb__family_type(const wb__family *family);
wb__str wb__family_class(const wb__family *family);

wb__family_rope wb__family_rope_of(const wb__family *family);

/* Returns the rule of the tensor with this canonical name, or NULL if the family has none. */
const wb__rule *wb__family_rule(const wb__family *family, const char *canonical);

/* Returns the parts of a fused tensor, or NULL if the tensor is not fused. */
const wb__fused *wb__family_fused(const wb__family *family, const char *canonical);

/* Returns the fused tensor that contains the tensor `part` in a format (one WB__SIDE_* flag), or
 * NULL if the format has no such tensor. */
const wb__fused *wb__family_fused_with(const wb__family *family, const char *part, uint8_t side);

/* Returns the formats that store norm weights plus 1, as WB__SIDE_* flags. */
uint8_t wb__family_norms(const wb__family *family);

/* Returns the WB__FAMILY_* flags of the family and of all its bases. */
uint32_t wb__family_flags(const wb__family *family);

/* Returns the roles WB__NEED_* that the model and its layers of a kind (wb_layer_kind) need. */
uint32_t wb__family_needs(const wb__family *family, unsigned kind);

/*
 * Finds the row for a wb_config field, or for the name `name` if `field` is -1, in the family or
 * its nearest base. `places` selects the kinds of rows, as bits 1 << wb__value_where. Returns NULL
 * if there is none.
 */
const wb__value_row *wb__family_value(const wb__family *family, unsigned places, int field,
                                      const char *name);

/* Returns true if the tokenizer hint is set. */
bool wb__family_hint(const wb__family *family, const char *hint);

/* Sets *spelling to the next element of a '|' separated list. Before the first call, the caller
 * sets *rest to the list. Returns false at the end. */
bool wb__spelling_next(const char **rest, wb__str *spelling);

#endif

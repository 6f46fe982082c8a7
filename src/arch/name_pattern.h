/*
 * arch/name_pattern.h: finds the rule for a tensor name with one or two hash lookups.
 *
 * The name is split: wrapper prefixes ("model.", "language_model.") are removed, the last word is
 * separated if it is "weight" or "bias", and words of digits are numbers. The rest, with numbers
 * replaced by {n} and {e}, is looked up in a table of all spellings (names in any format) of the
 * family. If the second number is part of the spelling itself ("mlp.0"), only the first number may
 * be replaced. Names with two numbers can therefore need two lookups.
 *
 *     model.layers.3.mlp.experts.7.up_proj.weight
 *           layers.{n}.mlp.experts.{e}.up_proj      numbers 3 and 7, suffix .weight
 */
#ifndef WB_ARCH_NAME_PATTERN_H
#define WB_ARCH_NAME_PATTERN_H

#include "arch/family.h"

#define WB__STEM_MAX 128     /* maximum length of a pattern in bytes; names in tables are shorter */
#define WB__NUMBER_MAX 65535 /* maximum layer or expert number */
#define WB__SPELLINGS_MAX 512
#define WB__SPELLING_SLOTS 1024

typedef struct wb__matched {
    const wb__rule *rule;
    const wb__spelling *spelling; /* NULL: the name is the canonical name */
    wb__suffix suffix;            /* the suffix of the canonical name */
    uint32_t layer;               /* 0 if the rule has no layer */
    uint32_t expert;
    bool has_expert;
} wb__matched;

typedef struct wb__rule_table {
    const wb__family *family;
    struct {
        wb__str text; /* without wrapper prefixes */
        const wb__rule *rule;
        const wb__spelling *spelling;
    } entries[WB__SPELLINGS_MAX];
    uint16_t slots[WB__SPELLING_SLOTS]; /* hash table by text: entry index + 1; 0: free */
    size_t count;
} wb__rule_table;

/*
 * Builds the table of all spellings of a family. If two rows have the same spelling, the row that
 * is nearest to `family` in the chain of bases applies, and within one table the first row.
 * Spellings beyond the capacity are ignored.
 */
void wb__rule_table_make(wb__rule_table *table, const wb__family *family);

/* Finds the rule for a name; returns false if there is none. */
bool wb__rule_match(const wb__rule_table *table, wb__str name, wb__matched *matched);

/* ---- many names ---- */

#define WB__SIMILAR_MAX 64 /* number of names that a wb__matcher compares with */

/* A name that was matched, for comparison with later names. */
typedef struct wb__similar {
    wb__str name;
    wb__matched matched;
    size_t from[2], to[2]; /* positions of the layer and of the expert in `name` */
    size_t next;           /* index of the name that followed this one */
    uint32_t entry;        /* for the caller: belongs to `matched` */
} wb__similar;

/*
 * Matches the names of a model one after the other, with the same results as wb__rule_match. Most
 * names differ from an earlier one only in the numbers of layer and expert, and the order of such
 * names repeats: q, k, v of each layer, or gate, up, down of each expert. The matcher therefore
 * compares a name with the one that followed the last time, which is several times as fast.
 */
typedef struct wb__matcher {
    const wb__rule_table *table;
    wb__similar names[WB__SIMILAR_MAX];
    size_t count;
    size_t last;      /* index of the name that was matched last */
    bool has_layers;  /* names that differ only in the layer have the same rule */
    bool has_experts; /* names that differ only in layer and expert have the same rule */
} wb__matcher;

void wb__matcher_start(wb__matcher *matcher, const wb__rule_table *table);

/*
 * Finds the rule for the next name, which must stay valid as long as the matcher is used. Returns
 * NULL if there is none. The result is valid until the next call. Its `matched` describes the name;
 * `entry` is the value that the caller set for a name of the same rule, suffix and layer, or
 * UINT32_MAX.
 */
wb__similar *wb__matcher_next(wb__matcher *matcher, wb__str name);

/*
 * Returns true if the name is that of a scale for activations or for a key/value cache, such as
 * NAME.input_scale of a packed weight.
 */
bool wb__name_of_activations(wb__str name);

/* Returns true if the name is that of a tensor outside the text model, such as a tensor of the
 * vision encoder. */
bool wb__name_of_another_part(wb__str name);

/*
 * Writes a pattern to `out` without NUL: {n} is replaced by the layer, {e} by the expert, and the
 * suffix is appended. Returns the length, or 0 if the result does not fit.
 */
size_t wb__pattern_expand(wb__str pattern, uint32_t layer, uint32_t expert, wb__suffix suffix,
                          char *out, size_t capacity);

/* Writes the canonical name of a tensor of a rule, which must have a canonical name. */
size_t wb__canonical_write(const wb__rule *rule, uint32_t layer, wb__suffix suffix, char *out,
                           size_t capacity);

/*
 * Returns the spelling with which a tensor of the rule is written in a format (one WB__SIDE_*
 * flag), or NULL if the format does not have the tensor.
 */
const wb__spelling *wb__rule_spelling(const wb__rule *rule, uint8_t side);

/* Returns an operation of a spelling, or NULL if the spelling does not have it. `spelling` may be
 * NULL. */
const wb__transform *wb__spelling_transform(const wb__spelling *spelling, wb__transform_kind kind);

/* Returns true if a stored tensor with this spelling has the rows and columns of the canonical
 * tensor in another order. `spelling` may be NULL. */
bool wb__spelling_moves(const wb__spelling *spelling);

/* Returns the suffix of a stored tensor whose canonical name has the suffix `suffix`. */
static inline wb__suffix wb__spelling_suffix(const wb__spelling *spelling, wb__suffix suffix)
{
    return spelling->suffix == WB__SUFFIX_SAME ? suffix : (wb__suffix)spelling->suffix;
}

/* Returns true if the rule is about a tensor in each layer. */
static inline bool wb__rule_has_layer(const wb__rule *rule)
{
    return strstr(rule->canonical, "{n}") != NULL;
}

/* Returns true if the rule is about a tensor of the encoder. */
static inline bool wb__rule_is_encoder(const wb__rule *rule)
{
    return strncmp(rule->canonical, "enc.", 4) == 0;
}

/* Returns true if the rule is about stacked experts, that is, has a spelling with {e}. */
bool wb__rule_is_stack(const wb__rule *rule);

#endif

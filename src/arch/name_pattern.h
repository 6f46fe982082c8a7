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

#define WB__STEM_MAX 128     /* maximum length in bytes of a pattern; the longest rule has 52 */
#define WB__NUMBER_MAX 65535 /* maximum layer or expert number */
#define WB__SPELLINGS_MAX 160
#define WB__SPELLING_SLOTS 512

typedef enum wb__suffix { WB__SUFFIX_NONE, WB__SUFFIX_WEIGHT, WB__SUFFIX_BIAS } wb__suffix;

/* The column of the rule table that a spelling comes from. */
typedef enum wb__spelt { WB__SPELT_GGUF, WB__SPELT_NATIVE, WB__SPELT_CANONICAL } wb__spelt;

typedef struct wb__matched {
    const wb__rule *rule;
    wb__spelt spelt;
    wb__suffix suffix;
    uint32_t layer; /* 0 if the rule has no layer */
    uint32_t expert;
    bool has_expert;
} wb__matched;

typedef struct wb__rule_table {
    struct {
        wb__str spelling;
        const wb__rule *rule;
        wb__spelt spelt;
    } entries[WB__SPELLINGS_MAX];
    uint16_t slots[WB__SPELLING_SLOTS]; /* hash table by spelling: entry index + 1; 0: free */
    size_t count;
} wb__rule_table;

/* Builds the table of all spellings of a family. */
void wb__rule_table_make(wb__rule_table *table, const wb__family *family);

/* Finds the rule for a name; returns false if there is none. */
bool wb__rule_match(const wb__rule_table *table, wb__str name, wb__matched *matched);

/*
 * Returns true if the name is that of a scale for activations or for a key/value cache, such as
 * NAME.input_scale of a packed weight.
 */
bool wb__name_of_activations(wb__str name);

/*
 * Writes a pattern to `out` without NUL: {n} is replaced by the layer, {e} by the expert, and the
 * suffix is appended. Returns the length, or 0 if the result does not fit.
 */
size_t wb__pattern_expand(wb__str pattern, uint32_t layer, uint32_t expert, wb__suffix suffix,
                          char *out, size_t capacity);

/* Writes the canonical name of a match. The matched rule must have a canonical name. */
size_t wb__canonical_write(const wb__matched *matched, char *out, size_t capacity);

#endif

/*
 * arch/name_pattern.h: from the name of a tensor to the rule that covers it, in one look.
 *
 * A name is taken apart: what wraps the model in a larger one is dropped ("model.",
 * "language_model."), the last word is kept apart if it is "weight" or "bias", and words of digits
 * alone are numbers. What remains, with {n} and {e} in the place of the numbers, is looked up in a
 * table of all spellings of the family. Where a number is part of the name itself ("mlp.0") the
 * spelling has only the first replaced, so that two looks decide.
 *
 *     model.layers.3.mlp.experts.7.up_proj.weight
 *           layers.{n}.mlp.experts.{e}.up_proj      numbers 3 and 7, suffix .weight
 */
#ifndef WB_ARCH_PATTERN_H
#define WB_ARCH_PATTERN_H

#include "arch/family.h"

#define WB__STEM_MAX 128     /* longer names are nobody's; the longest spelling has 52 bytes */
#define WB__NUMBER_MAX 65535 /* layers and experts beyond are no layers and experts */
#define WB__SPELLINGS_MAX 160
#define WB__SPELLING_SLOTS 512

typedef enum wb__suffix { WB__SUFFIX_NONE, WB__SUFFIX_WEIGHT, WB__SUFFIX_BIAS } wb__suffix;

/* Which column of the rules a spelling stands in. */
typedef enum wb__spelt { WB__SPELT_GGUF, WB__SPELT_NATIVE, WB__SPELT_CANONICAL } wb__spelt;

typedef struct wb__matched {
    const wb__rule *rule;
    wb__spelt spelt;
    wb__suffix suffix;
    uint32_t layer; /* 0 where the rule has none */
    uint32_t expert;
    bool has_expert;
} wb__matched;

typedef struct wb__rule_table {
    struct {
        wb__str spelling;
        const wb__rule *rule;
        wb__spelt spelt;
    } entries[WB__SPELLINGS_MAX];
    uint16_t slots[WB__SPELLING_SLOTS]; /* entry number + 1; 0: free */
    size_t count;
} wb__rule_table;

/* All spellings of a family. */
void wb__rule_table_make(wb__rule_table *table, const wb__family *family);

/* The rule that covers a name; false if none does. */
bool wb__rule_match(const wb__rule_table *table, wb__str name, wb__matched *matched);

/*
 * Whether a name is that of what quantizes activations, or keys and values in a cache, and not of weights:
 * NAME.input_scale and the like beside packed weights.
 */
bool wb__name_of_activations(wb__str name);

/*
 * Writes a pattern of a rule with its numbers and its suffix into out; the length, 0 if it does not
 * fit. No NUL.
 */
size_t wb__pattern_expand(wb__str pattern, uint32_t layer, uint32_t expert, wb__suffix suffix,
                          char *out, size_t capacity);

/* The canonical name of what was matched, which must have one. */
size_t wb__canonical_write(const wb__matched *matched, char *out, size_t capacity);

#endif

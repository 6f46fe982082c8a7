/* suggest.h: finds the name that the user meant by a misspelled one.
 *
 * A candidate is suggested only if few characters differ, in proportion to the length. Letter case
 * and the characters - _ . do not count. Numbers must be equal, so that a layer is not taken for
 * another layer.
 */
#ifndef WB_CLI_SUGGEST_H
#define WB_CLI_SUGGEST_H

#include "options.h"
#include "text.h"
#include "weighbridge.h"

typedef struct suggestion {
    const char *typed;
    size_t len;
    const char *best; /* the nearest candidate so far; NULL: none is near enough */
    size_t best_len;
    size_t distance; /* edit distance of `best` */
} suggestion;

suggestion suggest(const char *typed, size_t len);

/* Compares a candidate. Its string must live as long as the suggestion is used. */
void suggest_consider(suggestion *s, const char *name, size_t len);

/* Returns the word of a list "a|b|c" that the user meant, and stores its length; NULL: none. */
const char *suggest_word(const char *typed, const char *list, size_t *len);

/* Adds "; did you mean "NAME"?" with the tensor of the model that has a similar name, or that has
 * this name in another format. If there is none and the layer number is too large, adds the range
 * of layers.
 */
void text_add_tensor_meant(text *t, const wb_model *model, const char *typed, size_t len);

/* Adds "; did you mean "KEY"?" with the metadata key of the model that is similar to `typed`, if
 * there is one.
 */
void text_add_key_meant(text *t, const wb_model *model, const char *typed, size_t len);

/* Return the quantization or the element type that the user meant (a static string) or NULL. */
const char *suggest_quant(const char *typed);
const char *suggest_dtype(const char *typed);

#endif

/*
 * arch/config_words.h: the words in files for the enumerated fields of wb_config, such as "silu"
 * for WB_ACTIVATION_SILU.
 */
#ifndef WB_ARCH_CONFIG_WORDS_H
#define WB_ARCH_CONFIG_WORDS_H

#include "arch/model_config.h"
#include "arch/model_facts.h"

/* Fields of an enumerated kind are 32-bit numbers that have names. */

/* Returns the name of a value of an enumerated kind, or NULL if the value has none. */
const char *wb__config_word(wb__config_kind kind, uint32_t value);

/*
 * Converts a fact to a value of an enumerated kind. The fact is a word, or GGUF's number for the
 * value. If the word or number is unknown, sets *value to 0 and returns true. Returns false if the
 * fact is neither a word nor a number, or if the kind is not enumerated; in the second case, *value
 * stays unchanged.
 */
bool wb__config_choice(wb__config_kind kind, const wb__fact *fact, uint32_t *value);

#endif

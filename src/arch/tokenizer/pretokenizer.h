/*
 * arch/tokenizer/pretokenizer.h: the rule by which a tokenizer splits text before merging.
 *
 * A GGUF file contains llama.cpp's name of the rule ("llama-bpe"); tokenizer.json contains the
 * steps of the rule. A rule is recognized by an exact match of its steps and regular expressions,
 * because similar expressions can split differently.
 */
#ifndef WB_ARCH_TOKENIZER_PRETOKENIZER_H
#define WB_ARCH_TOKENIZER_PRETOKENIZER_H

#include "json/tree.h"

/* Returns llama.cpp's name for a pre_tokenizer object, as a static string, or NULL if unknown. */
const char *wb__pretokenizer_name(const wb__tree *tree, wb__node pre_tokenizer);

/*
 * Returns the steps of the rule with this name of llama.cpp, or NULL if the name is unknown. Static
 * string. Each step is one line:
 *   Split         the regular expression
 *   Digits        # or, for individual digits, #1
 *   Punctuation   !
 *   ByteLevel     * if it splits text; otherwise it has no line
 */
const char *wb__pretokenizer_steps(wb__str name);

/*
 * Returns true if llama.cpp, for the rule with this name, applies no merges to a piece of text that
 * is itself a token.
 */
bool wb__pretokenizer_ignores_merges(wb__str name);

#endif

/*
 * arch/tokenizer/pretokenizer.h: the rule by which a tokenizer splits text before merging.
 *
 * llama.cpp identifies rules by name ("llama-bpe"); tokenizer.json contains their steps. A rule is
 * recognized by an exact match of its steps and regular expressions, because similar expressions
 * can split differently.
 */
#ifndef WB_ARCH_TOKENIZER_PRETOKENIZER_H
#define WB_ARCH_TOKENIZER_PRETOKENIZER_H

#include "json/tree.h"

/* Returns llama.cpp's name of a pre_tokenizer object; NULL if unknown. Static string. */
const char *wb__pretokenizer_name(const wb__tree *tree, wb__node pre_tokenizer);

/*
 * Returns the steps of a rule, each ended by a newline; NULL if the name is unknown. A Split step
 * is its expression, Digits is "#" or (individual digits) "#1", Punctuation is "!", ByteLevel that
 * splits is "*". Static string.
 */
const char *wb__pretokenizer_steps(wb__str name);

/* Returns true if llama.cpp ignores merges for this name when a whole piece is a token. */
bool wb__pretokenizer_ignores_merges(wb__str name);

#endif

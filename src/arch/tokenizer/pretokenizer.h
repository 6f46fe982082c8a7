/*
 * arch/tokenizer/pretokenizer.h: by which rule a tokenizer splits text before it merges.
 *
 * llama.cpp calls the rules by name ("llama-bpe"), tokenizer.json spells them out. A rule is
 * recognised by its steps and their expressions, letter for letter: two expressions that look alike
 * can split differently.
 */
#ifndef WB_ARCH_PRETOKENIZER_H
#define WB_ARCH_PRETOKENIZER_H

#include "json/tree.h"

/* The name for the pre_tokenizer of a tokenizer.json, NULL for one that is not known. Static. */
const char *wb__pretokenizer_name(const wb__tree *tree, wb__node pre_tokenizer);

/*
 * The way back: the steps of a name, each ended by a newline; NULL for one that is not known. A Split is
 * its expression, Digits "#" or, one by one, "#1", Punctuation "!", ByteLevel "*" where it splits too.
 * Static.
 */
const char *wb__pretokenizer_steps(wb__str name);

/* Whether llama.cpp takes the name for this, too: a piece that is a token is that token, whatever merges say. */
bool wb__pretokenizer_ignores_merges(wb__str name);

#endif

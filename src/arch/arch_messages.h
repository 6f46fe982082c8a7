/*
 * arch/arch_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_ARCH_ARCH_MESSAGES_H
#define WB_ARCH_ARCH_MESSAGES_H

/* ---- tokenizer/from_json.c ---- */

#define WB__MSG_TOKENIZER_UNKNOWN_PRE "llama.cpp has no name for the way this tokenizer splits text"
#define WB__MSG_TOKENIZER_UNKNOWN_MODEL "the type of the tokenizer model is unknown"
#define WB__MSG_TOKENIZER_LARGE_IDS                                                                \
    "some token ids are far larger than the vocabulary; these tokens are left out"
#define WB__MSG_TOKENIZER_BAD_VOCAB                                                                \
    "a vocabulary entry is not a pair of a string and a score; this and all later entries are "    \
    "left out"
#define WB__MSG_TOKENIZER_BAD_MERGES                                                               \
    "some merges are not pairs of strings; these merges are left out"

/* ---- tokenizer/from_lines.c, tokenizer/from_pieces.c ---- */

#define WB__MSG_TOKENIZER_DENSE                                                                    \
    "the file has more tokens than its size permits: fewer than 4 bytes for each"

/* ---- tokenizer/tokenizer_make.c ---- */

#define WB__MSG_TOKENIZER_NOT_SENTENCEPIECE "the file is not a valid SentencePiece model"
#define WB__MSG_TOKENIZER_SURPLUS_TOKENS                                                           \
    "the file adds tokens that have no row in the embedding; these tokens are left out"

#endif

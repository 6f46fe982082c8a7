/*
 * arch/arch_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_ARCH_ARCH_MESSAGES_H
#define WB_ARCH_ARCH_MESSAGES_H

/* ---- family_*.c ---- */

#define WB__MSG_FAMILY_LONG "the table is too long"
#define WB__MSG_FAMILY_EXPECTED "expected '%s'"
#define WB__MSG_FAMILY_WORD "expected a name"
#define WB__MSG_FAMILY_TEXT "expected a text in quotes"
#define WB__MSG_FAMILY_STATEMENT "no statement begins with this word"
#define WB__MSG_FAMILY_REST "the statement does not end here"
#define WB__MSG_FAMILY_CHOICE "this word is not possible here"
#define WB__MSG_FAMILY_BASE "no table has this name"
#define WB__MSG_FAMILY_FIELD "the config has no field of this name"
#define WB__MSG_FAMILY_NAME                                                                        \
    "not a valid tensor name: it must have at most 96 characters, and {n} and {e} as its only "    \
    "braces"
#define WB__MSG_FAMILY_ROLE "a tensor has no such role"
#define WB__MSG_FAMILY_FORMAT "expected a format that no other name of the list has"
#define WB__MSG_FAMILY_TRANSFORM "there is no such operation, or the name has too many"
#define WB__MSG_FAMILY_SPELLINGS "the tensor has too many names"
#define WB__MSG_FAMILY_AXES "the shape has too many axes"
#define WB__MSG_FAMILY_NUMBER "expected a number of elements from 1 to 255"
#define WB__MSG_FAMILY_EXPR "expected a number, a text, a name or '('"
#define WB__MSG_FAMILY_EXPR_LONG "the expression is too long"
#define WB__MSG_FAMILY_EXPR_NESTING "the expression is nested too deeply"
#define WB__MSG_FAMILY_FUNCTION "there is no such function"

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

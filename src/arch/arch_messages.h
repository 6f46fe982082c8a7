/*
 * arch/arch_messages.h: all messages of this module, grouped by file.
 */
#ifndef WB_ARCH_ARCH_MESSAGES_H
#define WB_ARCH_ARCH_MESSAGES_H

/* ---- family_*.c ---- */

#define WB__MSG_FAMILY_PLACE "line %lu, statement '%.*s': %s"
#define WB__MSG_FAMILY_LONG                                                                        \
    "the table is too long: the limits are 1 MiB, 1024 statements, and 4096 bytes for a list "     \
    "of words"
#define WB__MSG_FAMILY_EXPECTED "expected '%s'"
#define WB__MSG_FAMILY_WORD "expected a name"
#define WB__MSG_FAMILY_TEXT "expected a text in quotes"
#define WB__MSG_FAMILY_STATEMENT "no statement begins with this word"
#define WB__MSG_FAMILY_REST "expected the end of the statement"
#define WB__MSG_FAMILY_CHOICE "this word is not possible here"
#define WB__MSG_FAMILY_BASE "there is no table with this name to inherit from"
#define WB__MSG_FAMILY_CHAIN "more than 12 tables inherit from each other"
#define WB__MSG_FAMILY_FIELD "the config has no field of this name"
#define WB__MSG_FAMILY_NAME                                                                        \
    "not a valid tensor name: it must have at most 96 characters, and braces only in {n} and "     \
    "{e}"
#define WB__MSG_FAMILY_ROLE "there is no tensor role with this name"
#define WB__MSG_FAMILY_FORMAT                                                                      \
    "expected one of the formats gguf, hf, mlx and ollama that no other name in this list has"
#define WB__MSG_FAMILY_TRANSFORM                                                                   \
    "no operation has this name, or the tensor name has more than 6 operations"
#define WB__MSG_FAMILY_PARTS "a fused tensor has at most 4 parts"
#define WB__MSG_FAMILY_SPELLINGS "the tensor has too many names"
#define WB__MSG_FAMILY_AXES "the shape has too many axes"
#define WB__MSG_FAMILY_NUMBER "expected a number of elements from 1 to 255"
#define WB__MSG_FAMILY_EXPR "expected a number, a text, a name or '('"
#define WB__MSG_FAMILY_EXPR_LONG "the expression is too long"
#define WB__MSG_FAMILY_EXPR_NESTING "the expression is nested too deeply"
#define WB__MSG_FAMILY_FUNCTION "there is no such function"

#define WB__MSG_FAMILY_ROWS "the table and its bases together have more than 1024 statements"
#define WB__MSG_FAMILY_STEPS                                                                       \
    "the expressions of the table take too many steps, counting the definitions they use: the "    \
    "limits are 512 steps for an expression and 8192 for all"
#define WB__MSG_FAMILY_NAMES "the table and its bases together have 512 tensor names or more"

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
    "the file is too small for its number of tokens: it has fewer than 4 bytes per token"

/* ---- tokenizer/tokenizer_make.c ---- */

#define WB__MSG_TOKENIZER_NOT_SENTENCEPIECE "the file is not a valid SentencePiece model"
#define WB__MSG_TOKENIZER_SURPLUS_TOKENS                                                           \
    "the file adds tokens that have no row in the embedding; these tokens are left out"

#endif

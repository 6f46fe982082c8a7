/*
 * arch/tokenizer/tokenizer_make.h: shared functions for creating a tokenizer.
 *
 * One file per input format creates the tokenizer: from_json.c (tokenizer.json), from_pieces.c
 * (tokenizer.model), from_lines.c (vocab.txt). Each appends the tokens in the order of their ids:
 * it adds the text of a token to tokenizer->tokens, sets its type with wb__token_set_type, and sets
 * its score with wb__token_set_score.
 */
#ifndef WB_ARCH_TOKENIZER_TOKENIZER_MAKE_H
#define WB_ARCH_TOKENIZER_TOKENIZER_MAKE_H

#include "arch/tokenizer/tokenizer.h"

#define WB__ADDED_SCORE (-1000.0f) /* score of added tokens, as in llama.cpp's converter */

#define WB__TOKEN_BYTES 4 /* minimum average number of file bytes per token */

typedef struct wb__token_maker {
    wb__tokenizer *tokenizer;
    wb__context *context;
    const wb__tokenizer_files *files;
    wb__tokenizer_json json;
    bool has_json;
    wb__sentencepiece pieces;
    bool has_pieces;
} wb__token_maker;

wb_status wb__token_note(wb__token_maker *m, uint64_t at, const char *file, const char *what);

wb_status wb__make_from_json(wb__token_maker *m);
wb_status wb__make_from_pieces(wb__token_maker *m);
wb_status wb__make_from_lines(wb__token_maker *m);

/* Sets the special tokens that tokenizer.model specifies and no other file specifies. */
void wb__specials_of_pieces(wb__token_maker *m);

/* ---- tokens.c ---- */

/* Allocates types, and optionally scores, for `count` tokens. Returns false if out of memory. */
bool wb__tokens_reserve(wb__tokenizer *tokenizer, size_t count, bool scores);

void wb__token_set_type(wb__tokenizer *tokenizer, size_t number, uint32_t type);
uint32_t wb__token_get_type(const wb__tokenizer *tokenizer, size_t number);
/* Has no effect if the tokenizer has no scores. */
void wb__token_set_score(wb__tokenizer *tokenizer, size_t number, float score);

/*
 * Returns the number of tokens: `have`, or the number of embedding rows if it is larger by at most
 * WB__TOKENS_SPARE.
 */
size_t wb__tokens_count(const wb__token_maker *m, size_t have);

/*
 * Returns true if a vocabulary of `bytes` bytes has fewer than WB__TOKEN_BYTES bytes for each of
 * its `count` tokens. Such a file is rejected: a token needs 20 bytes of memory, so reading it
 * would need too much memory for the size of the file. A real vocabulary is never so dense, because
 * the texts of different tokens need more bytes. WB__TOKENS_SPARE tokens are always permitted.
 */
bool wb__tokens_too_dense(size_t count, size_t bytes);

/*
 * Appends "[PADn]" for the id n, which has no token. This and the following append functions return
 * false if out of memory.
 */
bool wb__token_add_pad(wb__tokenizer *tokenizer, size_t number);

/* Appends a string with U+2581 replaced by a space. */
bool wb__token_add_spaced(wb__strings *strings, wb__str text);

/*
 * Appends a WordPiece token in llama.cpp's notation: tokens that start a word are marked with
 * U+2581.
 */
bool wb__token_add_word_piece(wb__strings *strings, wb__str text);

/* Returns the token type for an entry of added_tokens. */
uint8_t wb__token_kind_of(const wb__token_maker *m, const wb__tree *tree, wb__node entry,
                          wb__str text);

/* ---- ranks.c ---- */

/* Computes scores from merge ranks. Returns false if out of memory. */
bool wb__token_score_by_merges(wb__token_maker *m);

#endif

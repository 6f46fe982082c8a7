/*
 * arch/tokenizer/tokenizer_make.h: what the ways of making a tokenizer share.
 *
 * tokenizer.json, tokenizer.model and vocab.txt are a way each (from_json.c, from_pieces.c, from_lines.c).
 * Tokens are appended in the order of their numbers: the text to tokenizer->tokens, type and score
 * where wb__token_* puts them.
 */
#ifndef WB_ARCH_TOKENIZER_MAKER_H
#define WB_ARCH_TOKENIZER_MAKER_H

#include "arch/tokenizer/tokenizer.h"

#define WB__ADDED_SCORE (-1000.0f) /* of added tokens, which no merge may make */

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

/* Special tokens that tokenizer.model names, where no other file does. */
void wb__specials_of_pieces(wb__token_maker *m);

/* ---- tokens.c ---- */

/* Room for types, and for scores, of `count` tokens. False: memory. */
bool wb__tokens_reserve(wb__tokenizer *tokenizer, size_t count, bool scores);

void wb__token_set_type(wb__tokenizer *tokenizer, size_t number, uint32_t type);
uint32_t wb__token_get_type(const wb__tokenizer *tokenizer, size_t number);
void wb__token_set_score(wb__tokenizer *tokenizer, size_t number, float score); /* if it has any */

/* How many tokens there are: what files have, or the rows of the embedding, if there are not
 * absurdly many more. */
size_t wb__tokens_count(const wb__token_maker *m, size_t have);

/* "[PAD17]", for a number without a token. False: memory, as of all that append. */
bool wb__token_add_pad(wb__tokenizer *tokenizer, size_t number);

/* A text with U+2581 as the space it stands for. */
bool wb__token_add_spaced(wb__strings *strings, wb__str text);

/* A token of WordPiece as llama.cpp has it: what begins a word is marked, not what continues it. */
bool wb__token_add_word_piece(wb__strings *strings, wb__str text);

/* What an entry of added_tokens makes of its token. */
uint8_t wb__token_kind_of(const wb__token_maker *m, const wb__tree *tree, wb__node entry,
                          wb__str text);

/* ---- ranks.c ---- */

/* Scores for a tokenizer that merges by rank. False: memory. */
bool wb__token_score_by_merges(wb__token_maker *m);

#endif

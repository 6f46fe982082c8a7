/* Turns text into token ids and back, with the tokenizer in the metadata of a model. The library
 * derives this metadata for every format, so nothing here depends on the format.
 */
#ifndef LLAMA_TOKENIZER_H
#define LLAMA_TOKENIZER_H

#include <weighbridge.h>

#define NO_TOKEN UINT32_MAX

typedef enum tokenizer_kind {
    BYTE_LEVEL_BPE, /* "gpt2": ranked merges of bytes */
    SENTENCEPIECE,  /* "llama": merges of characters, by score; unknown characters become bytes */
    WORDPIECE,      /* "bert": the longest pieces of each word */
    UNIGRAM         /* "t5": the pieces with the largest sum of scores */
} tokenizer_kind;

/* Types of tokens (tokenizer.ggml.token_type). */
enum {
    TOKEN_NORMAL = 1,
    TOKEN_UNKNOWN,
    TOKEN_CONTROL,
    TOKEN_USER_DEFINED,
    TOKEN_UNUSED,
    TOKEN_BYTE
};

/* A piece of text, and its token. */
typedef struct piece {
    const char *text;
    size_t len;
    uint32_t id;
} piece;

/* Pieces sorted by text. Binary search has no slow case, as a hash table has for a vocabulary that
 * is made for it.
 */
typedef struct piece_set {
    piece *pieces;
    size_t count;
} piece_set;

/* A merge of byte-level BPE: two adjacent tokens become one. The lowest rank is merged first. */
typedef struct merge {
    uint32_t left, right, rank, result;
} merge;

typedef struct tokenizer {
    tokenizer_kind kind;
    piece *tokens;  /* [count], by id: the text that a token stands for */
    int64_t *types; /* [count] */
    double *scores; /* [count]; NULL: none */
    size_t count;
    piece_set ordinary; /* the pieces that text is made of */
    piece_set special;  /* tokens that are recognised in text as they are, such as "<|im_end|>" */
    merge *merges;      /* sorted by left and right */
    size_t n_merges;
    uint32_t bytes[256];           /* the token of each byte, or NO_TOKEN */
    const char *rule_name;         /* byte-level BPE: how text is split before merging */
    const struct split_rule *rule; /* NULL: unknown, and text cannot be encoded */
    uint32_t bos, eos, unknown;    /* or NO_TOKEN */
    int add_bos, add_eos;
    int add_space; /* SentencePiece, Unigram: text begins with a space */
    int one_space; /* Unigram: after that space, one space instead of several, none at both ends */
    int lowercase; /* WordPiece: case and accents do not matter */
    char *memory;  /* the texts of all tokens */
} tokenizer;

/* A growing list of token ids. Release with free(list.ids). */
typedef struct token_list {
    uint32_t *ids;
    size_t count, capacity;
} token_list;

void add_token(token_list *list, uint32_t id);

/* Reads the tokenizer of a model. Returns NULL if the model has none. */
tokenizer *tokenizer_new(const wb_model *files);
void tokenizer_free(tokenizer *t);

/* Appends the tokens of a text to a list. `len` is in bytes. */
void encode(const tokenizer *t, const char *text, size_t len, token_list *list);

/* Returns the text of a token. It may be a part of a character, or contain any bytes. */
const char *token_text(const tokenizer *t, uint64_t id, size_t *len);

/* Returns 1 if the token stands for no text: a control token, such as the end of the text. */
int is_control(const tokenizer *t, uint64_t id);

/* Copies a text, with a space for each U+2581, the space of SentencePiece. Returns the length. */
size_t copy_spaces(const char *text, size_t len, char *out);

/* ---- pieces.c ---- */

/* Sorts the pieces. Of several pieces with the same text, keeps the one with the highest id. */
void sort_pieces(piece_set *set);

/* Returns the token with this text, or NO_TOKEN. */
uint32_t find_piece(const piece_set *set, const char *text, size_t len);

/* Finds the pieces that the text begins with, and have at most LONGEST_PREFIX bytes. Calls found()
 * for each, the shortest one first.
 */
enum { LONGEST_PREFIX = 512 };
void find_prefixes(const piece_set *set, const char *text, size_t len,
                   void (*found)(void *context, const piece *piece), void *context);

/* ---- split.c ---- */

/* Returns the rule with this name (tokenizer.ggml.pre), or NULL if it is unknown. */
const struct split_rule *find_rule(const char *name);

/* Returns 1 for the rules of Llama 3 and its like: a word that is a token is not merged from its
 * bytes, and text begins with the beginning-of-text token unless the model says otherwise.
 */
int rule_takes_words(const struct split_rule *rule);

/* Splits text, and calls each() for each part. */
void split(const struct split_rule *rule, const char *text, size_t len,
           void (*each)(void *context, const char *text, size_t len), void *context);

/* ---- bpe.c, wordpiece.c, unigram.c: the tokens of a text without special tokens ---- */

void encode_bytes(const tokenizer *t, const char *text, size_t len, token_list *list);
void encode_sentencepiece(const tokenizer *t, const char *text, size_t len, token_list *list);
void encode_words(const tokenizer *t, const char *text, size_t len, token_list *list);
void encode_unigram(const tokenizer *t, const char *text, size_t len, token_list *list);

/* Appends the token for unknown text. Ends the program if there is none. */
void add_unknown(const tokenizer *t, token_list *list);

#endif

/* convert/emit/vocabulary.h: finds the tokens of a GGUF file by index or by text. */
#ifndef WB_CONVERT_EMIT_VOCABULARY_H
#define WB_CONVERT_EMIT_VOCABULARY_H

#include "convert/convert.h"

/* A BPE merge: two tokens whose concatenation is a third token. */
typedef struct wb__merge {
    uint32_t left, right; /* ids of the two tokens */
    float score;          /* score of the merged token */
} wb__merge;

typedef struct wb__merges {
    wb__merge *list; /* freed by wb__merges_free */
    size_t count, capacity;
    /* true: the list is empty, because the text of the merges would be too large compared with
     * the text of the tokens */
    bool too_many;
} wb__merges;

typedef struct wb__vocabulary {
    wb_allocator allocator;
    wb_model const *model;
    size_t count;
    const char **texts; /* text of each token */
    size_t *lens;       /* length of each text, in bytes */
    int64_t *types;     /* type of each token; NULL: the file does not contain token types */
    double *scores;     /* score of each token; NULL: the file does not contain scores */
    wb__hash_key key;
    uint32_t *slots;   /* hash table; each slot contains a token id + 1, or 0 if it is free */
    size_t slot_count; /* number of slots, a power of two or 0 */
} wb__vocabulary;

/* Reads the tokens of the model. Sets `count` to 0 if the model has none. The caller frees the
 * vocabulary with wb__vocabulary_free. */
wb_status wb__vocabulary_read(wb__vocabulary *vocabulary, wb__context *context,
                              const wb_model *model);
void wb__vocabulary_free(wb__vocabulary *vocabulary);

static inline wb__str wb__vocabulary_at(const wb__vocabulary *vocabulary, size_t i)
{
    return (wb__str){vocabulary->texts[i], vocabulary->lens[i]};
}

static inline int64_t wb__vocabulary_type(const wb__vocabulary *vocabulary, size_t i)
{
    return vocabulary->types == NULL ? 1 : vocabulary->types[i];
}

/* Returns the id of the token with this text, or UINT32_MAX if no such token exists. */
uint32_t wb__vocabulary_find(const wb__vocabulary *vocabulary, wb__str text);

/* Computes the merges that a SentencePiece vocabulary implies. Each split of a token into two
 * other tokens is a merge. Merges with the highest score come first. The caller frees *merges
 * with wb__merges_free, also after an error. */
wb_status wb__vocabulary_merges(const wb__vocabulary *vocabulary, wb__context *context,
                                wb__merges *merges);
void wb__merges_free(const wb__vocabulary *vocabulary, wb__merges *merges);

#endif

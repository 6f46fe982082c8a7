/* convert/emit/vocabulary.h: access to the tokens of a GGUF file by index and by text. */
#ifndef WB_CONVERT_EMIT_VOCABULARY_H
#define WB_CONVERT_EMIT_VOCABULARY_H

#include "convert/convert.h"

/* A BPE merge: two tokens that form a third. */
typedef struct wb__merge {
    uint32_t left, right; /* token ids */
    float score;          /* score of the merged token */
} wb__merge;

typedef struct wb__merges {
    wb__merge *list; /* owned, release with wb__merges_free */
    size_t count, capacity;
    bool too_many; /* the merges would far exceed the size of the tokens; the list is empty */
} wb__merges;

typedef struct wb__vocabulary {
    wb_allocator allocator;
    wb_model const *model;
    size_t count;
    const char **texts;
    size_t *lens;
    int64_t *types; /* token types; NULL: not in the file */
    double *scores; /* token scores; NULL: not in the file */
    wb__hash_key key;
    uint32_t *slots; /* hash table entries: token id + 1; 0: free */
    size_t slot_count;
} wb__vocabulary;

/* Reads the tokens. Sets count to 0 if there are none. Free with wb__vocabulary_free. */
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

/* Returns the id of a token, or UINT32_MAX if it does not exist. */
uint32_t wb__vocabulary_find(const wb__vocabulary *vocabulary, wb__str text);

/* Derives the merges that a SentencePiece model implies: every split of a token into two other
 * tokens, highest score first. Free with wb__merges_free, also after a failure. */
wb_status wb__vocabulary_merges(const wb__vocabulary *vocabulary, wb__context *context,
                                wb__merges *merges);
void wb__merges_free(const wb__vocabulary *vocabulary, wb__merges *merges);

#endif

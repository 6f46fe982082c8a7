/*
 * convert/emit/vocabulary.h: the tokens of a GGUF file, to be looked at one by one and found.
 */
#ifndef WB_CONVERT_EMIT_VOCABULARY_H
#define WB_CONVERT_EMIT_VOCABULARY_H

#include "convert/convert.h"

/* Two pieces that become one. */
typedef struct wb__merge {
    uint32_t left, right; /* tokens */
    float score;          /* of the token they become */
} wb__merge;

typedef struct wb__merges {
    wb__merge *list; /* owned, release with wb__merges_free */
    size_t count, capacity;
    bool too_many; /* they would take far more room than the tokens: there is none */
} wb__merges;

typedef struct wb__vocabulary {
    wb_allocator allocator;
    wb_model const *model;
    size_t count;
    const char **texts;
    size_t *lens;
    int64_t *types; /* NULL: nothing says */
    double *scores; /* likewise */
    wb__hash_key key;
    uint32_t *slots; /* token + 1; 0: free */
    size_t slot_count;
} wb__vocabulary;

/* Reads the tokens; count is 0 where there are none. Release with wb__vocabulary_free. */
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

/* The number of a token, UINT32_MAX if there is none. */
uint32_t wb__vocabulary_find(const wb__vocabulary *vocabulary, wb__str text);

/*
 * The merges that a SentencePiece model does without naming them: every way a token is made of two
 * others, those of higher scores first. Release with wb__merges_free, also after a failure.
 */
wb_status wb__vocabulary_merges(const wb__vocabulary *vocabulary, wb__context *context,
                                wb__merges *merges);
void wb__merges_free(const wb__vocabulary *vocabulary, wb__merges *merges);

#endif

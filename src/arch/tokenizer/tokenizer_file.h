/*
 * arch/tokenizer/tokenizer_file.h: reads tokenizer.json, the format of the tokenizers library.
 *
 * Most of the file is the vocabulary and the merges, up to hundreds of thousands of similar
 * entries. They are read in one pass without tree nodes. The rest of the file is parsed to a tree.
 *
 *     {"added_tokens": [{"id": 0, "content": "<s>", "special": true, …}, …],
 *      "normalizer": …, "pre_tokenizer": …, "post_processor": …, "decoder": …,
 *      "model": {"type": "BPE", "vocab": {"!": 0, …}, "merges": ["a b", …] or [["a", "b"], …]}
 *            or {"type": "Unigram", "vocab": [["<unk>", 0.0], …]}
 *            or {"type": "WordPiece", "vocab": {"[PAD]": 0, …}}}
 *
 * https://github.com/huggingface/tokenizers; its source code is the only specification.
 */
#ifndef WB_ARCH_TOKENIZER_TOKENIZER_FILE_H
#define WB_ARCH_TOKENIZER_TOKENIZER_FILE_H

#include "arch/string_arrays.h"
#include "json/tree.h"

/* The string of a token, as a range of the buffer `text` or `rest` of a wb__tokenizer_json. */
typedef struct wb__token_at {
    uint32_t at;  /* offset of the string in the buffer, in bytes */
    uint32_t len; /* length of the string in bytes, or WB__TOKEN_NONE: no token has this id */
} wb__token_at;

#define WB__TOKEN_NONE UINT32_MAX
#define WB__TOKEN_REST (UINT32_C(1) << 31) /* flag in wb__token_at.len: the string is in `rest` */
#define WB__TOKENS_SPARE 16384             /* maximum number of ids without a token */

typedef struct wb__tokenizer_json {
    wb_allocator allocator;
    char *text; /* the file; the caller's buffer, modified in place */
    size_t bytes;
    wb__token_at *tokens; /* indexed by token id */
    size_t token_count;   /* highest id plus one */
    size_t token_capacity;
    size_t entries;   /* number of vocabulary entries */
    size_t scattered; /* number of tokens ignored because their ids are too large */
    float *scores;    /* Unigram: scores by id; otherwise NULL */
    size_t score_capacity;
    wb__strings merges; /* strings of the form "a b" */
    bool bad_vocab;     /* Unigram: an entry is not a pair of a string and a score */
    size_t bad_merges;  /* number of merges ignored because they are not two strings */
    char *rest;         /* the file without vocabulary and merges */
    size_t rest_bytes;
    wb__tree tree; /* tree of `rest` */
    /* Parse error and its offset: */
    wb__json_fault fault;
    uint64_t fault_at;
} wb__tokenizer_json;

/*
 * Reads a file of less than 2 GiB. Returns false with fault and fault_at set for invalid JSON.
 * Release with wb__tokenizer_json_free, also after a failure.
 */
bool wb__tokenizer_json_read(wb__tokenizer_json *file, char *text, size_t bytes,
                             const wb_allocator *allocator);
void wb__tokenizer_json_free(wb__tokenizer_json *file);

/* Frees only `tokens` and `scores`. */
void wb__tokenizer_json_drop_tokens(wb__tokenizer_json *file);

/*
 * Returns the string of the token with id `number`, which must be less than token_count. Sets
 * *is_token to false if no token has this id.
 */
wb__str wb__tokenizer_json_token(const wb__tokenizer_json *file, size_t number, bool *is_token);

/*
 * Adds a token, or replaces the token with the same id. `text` is its string and must point into
 * file->rest. Returns false if out of memory.
 */
bool wb__tokenizer_json_add(wb__tokenizer_json *file, uint64_t number, wb__str text);

#endif

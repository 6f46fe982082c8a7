/*
 * arch/tokenizer/tokenizer_file.h: the file tokenizer.json, as the tokenizers library writes it.
 *
 * Nearly all of such a file is the vocabulary and the merges, up to hundreds of thousands of
 * entries that look alike. They are read in one pass, without a node for each; the rest, where the
 * variety is, is then looked around in as a tree.
 *
 *     {"added_tokens": [{"id": 0, "content": "<s>", "special": true, …}, …],
 *      "normalizer": …, "pre_tokenizer": …, "post_processor": …, "decoder": …,
 *      "model": {"type": "BPE", "vocab": {"!": 0, …}, "merges": ["a b", …] or [["a", "b"], …]}}
 *                "Unigram", "vocab": [["<unk>", 0.0], …]      "WordPiece", "vocab": {"[PAD]": 0, …}
 *
 * https://github.com/huggingface/tokenizers has no specification but its source.
 */
#ifndef WB_ARCH_TOKENIZER_FILE_H
#define WB_ARCH_TOKENIZER_FILE_H

#include "arch/string_arrays.h"
#include "json/tree.h"

/* A token where its text stands. */
typedef struct wb__token_at {
    uint32_t at;
    uint32_t len; /* WB__TOKEN_NONE: no token has the number */
} wb__token_at;

#define WB__TOKEN_NONE UINT32_MAX
#define WB__TOKEN_REST (UINT32_C(1) << 31) /* in len: it stands in `rest` */
#define WB__TOKENS_SPARE 16384             /* numbers that may be free among those of n tokens */

typedef struct wb__tokenizer_json {
    wb_allocator allocator;
    char *text; /* the caller's, changed */
    size_t bytes;
    wb__token_at *tokens; /* by number */
    size_t token_count;   /* one more than the highest number */
    size_t token_capacity;
    size_t entries;   /* of the vocabulary */
    size_t scattered; /* tokens left out, whose numbers lie too far away */
    float *scores;    /* Unigram: by number; NULL otherwise */
    size_t score_capacity;
    wb__strings merges; /* "a b" each */
    bool bad_vocab;     /* of Unigram: an entry is not a text and a score */
    size_t bad_merges;  /* left out: not two texts */
    char *rest;         /* the file without vocabulary and merges */
    size_t rest_bytes;
    wb__tree tree; /* of the rest */
    /* Where parsing failed: */
    wb__json_fault fault;
    uint64_t fault_at;
} wb__tokenizer_json;

/*
 * Reads a file of less than 2 GiB. False with fault and fault_at set for what is not JSON. Release
 * with wb__tokenizer_json_free, also after a failure.
 */
bool wb__tokenizer_json_read(wb__tokenizer_json *file, char *text, size_t bytes,
                             const wb_allocator *allocator);
void wb__tokenizer_json_free(wb__tokenizer_json *file);

/* The text of a token, of a number < token_count; the empty string where there is none. */
wb__str wb__tokenizer_json_token(const wb__tokenizer_json *file, size_t number, bool *is_token);

/* Adds a token of the rest, replacing one of the same number. False: memory. */
bool wb__tokenizer_json_add(wb__tokenizer_json *file, uint64_t number, wb__str text);

#endif

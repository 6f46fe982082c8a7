/*
 * arch/tokenizer/tokenizer.h: what the tokenizer files say, in the terms of GGUF.
 *
 * The rules are those by which llama.cpp's converter makes a GGUF file of the same folder, so that
 * both answer alike, except where it is known to lose something:
 *   tokenizer.model         model "llama": pieces, scores, types. Added tokens replace what they
 * name tokenizer.json, BPE     model "gpt2": tokens, types, merges; with byte fallback model
 * "llama", where the score of a token is minus the number of the merge that makes it (the converter
 * gives all the same score, and so other splits) WordPiece, vocab.txt    model "bert": "##x"
 * becomes "x", what begins a word gets a U+2581 Unigram                 model "t5" Numbers without
 * a token are "[PADn]", so that there is one for every row of the embedding.
 */
#ifndef WB_ARCH_TOKENIZER_H
#define WB_ARCH_TOKENIZER_H

#include "arch/tokenizer/sentencepiece.h"
#include "arch/tokenizer/tokenizer_file.h"

/* Token types, as GGUF has them. */
enum {
    WB__TOKEN_NORMAL = 1,
    WB__TOKEN_UNKNOWN = 2,
    WB__TOKEN_CONTROL = 3,
    WB__TOKEN_USER = 4,
    WB__TOKEN_UNUSED = 5,
    WB__TOKEN_BYTE = 6
};

typedef enum wb__special {
    WB__SPECIAL_BOS,
    WB__SPECIAL_EOS,
    WB__SPECIAL_UNK,
    WB__SPECIAL_SEP,
    WB__SPECIAL_PAD,
    WB__SPECIAL_CLS,
    WB__SPECIAL_MASK,
    WB__SPECIAL_EOT,
    WB__SPECIAL_EOM,
    WB__SPECIALS
} wb__special;

typedef enum wb__flag { WB__FLAG_UNSAID = 0, WB__FLAG_NO, WB__FLAG_YES } wb__flag;

/* What is read; NULL or empty for files that are not there. Everything must outlive the call. */
typedef struct wb__tokenizer_files {
    char *json; /* tokenizer.json; changed */
    size_t json_bytes;
    wb__str model; /* tokenizer.model */
    wb__str vocab; /* vocab.txt */
    const wb__tree *tokenizer_config;
    const wb__tree *config;
    bool is_phi;         /* Phi 3 takes added tokens as they are */
    uint64_t vocab_size; /* rows of the embedding, 0: not known */
} wb__tokenizer_files;

typedef struct wb__tokenizer {
    wb_allocator allocator;
    const char *model; /* "gpt2", "llama", "bert", "t5"; NULL: there is none */
    const char *pre;
    wb__strings tokens;
    int32_t *types;  /* for each token, with the lowest byte first in memory */
    float *scores;   /* likewise; NULL: there are none */
    size_t capacity; /* of types and scores */
    wb__strings merges;
    int64_t special[WB__SPECIALS]; /* -1: there is none */
    wb__flag add_bos, add_eos, add_sep, add_space_prefix, remove_extra_whitespaces, lowercase;
    char *charsmap; /* a copy; NULL: there is none */
    size_t charsmap_bytes;
} wb__tokenizer;

/*
 * Reads the files. What is wrong with them is a finding, and they count as not there; MEMORY is the
 * only failure. Release with wb__tokenizer_free, also after a failure.
 */
wb_status wb__tokenizer_make(wb__tokenizer *tokenizer, wb__context *context,
                             const wb__tokenizer_files *files);
void wb__tokenizer_free(wb__tokenizer *tokenizer);

/* ---- special.c ---- */

/* Special tokens, and which are put around a text. `json` is NULL where there is no such file. */
void wb__tokenizer_specials(wb__tokenizer *tokenizer, const wb__tokenizer_files *files,
                            const wb__tokenizer_json *json);

/* Whether an added token is meant for control, though its file does not say so. */
bool wb__looks_special(wb__str text);

#endif

/*
 * arch/tokenizer/tokenizer.h: converts tokenizer files to GGUF's representation.
 *
 * The rules are those of llama.cpp's converter for the same directory, so that both give equal
 * results, except where the converter is known to lose information.
 *
 *     input file       type                      GGUF model   data
 *     tokenizer.model  BPE                       "llama"      pieces, scores, types
 *     tokenizer.model  Unigram                   "t5"         pieces, scores, types
 *     tokenizer.json   BPE                       "gpt2"       tokens, types, merges
 *     tokenizer.json   BPE with byte fallback    "llama"      tokens, types, scores
 *     tokenizer.json   Unigram                   "t5"         tokens, types, scores
 *     tokenizer.json   WordPiece                 "bert"       tokens, types
 *     vocab.txt        WordPiece                 "bert"       tokens, types
 *
 * Added tokens replace pieces with the same id. For BPE with byte fallback, the score of a token is
 * minus the number of the merge that produces it. (The converter assigns equal scores, which
 * changes how text is split.) In "bert", "##x" becomes "x", and tokens that start a word get the
 * prefix U+2581. Ids without a token become "[PADn]", so that every row of the embedding has a
 * token.
 */
#ifndef WB_ARCH_TOKENIZER_TOKENIZER_H
#define WB_ARCH_TOKENIZER_TOKENIZER_H

#include "arch/tokenizer/sentencepiece.h"
#include "arch/tokenizer/tokenizer_file.h"

/* Token types, numbered as in GGUF. */
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

/* Input files; NULL or empty if a file does not exist. All data must outlive the call. */
typedef struct wb__tokenizer_files {
    char *json; /* tokenizer.json; modified in place */
    size_t json_bytes;
    wb__str model; /* tokenizer.model */
    wb__str vocab; /* vocab.txt */
    const wb__tree *tokenizer_config;
    const wb__tree *config;
    bool is_phi;         /* Phi 3: the text and type of added tokens are not changed */
    uint64_t vocab_size; /* number of rows of the embedding; 0: unknown */
} wb__tokenizer_files;

typedef struct wb__tokenizer {
    wb_allocator allocator;
    const char *model; /* "gpt2", "llama", "bert", "t5"; NULL if there is no tokenizer */
    const char *pre;
    wb__strings tokens;
    int32_t *types;  /* type of each token, stored little-endian */
    float *scores;   /* score of each token, stored little-endian; NULL: none */
    size_t capacity; /* allocated elements of types and scores */
    wb__strings merges;
    int64_t special[WB__SPECIALS]; /* token ids; -1 if there is none */
    wb__flag add_bos, add_eos, add_sep, add_space_prefix, remove_extra_whitespaces, lowercase;
    char *charsmap; /* precompiled character map, owned; NULL if there is none */
    size_t charsmap_bytes;
} wb__tokenizer;

/*
 * Reads the files. An invalid file is reported as a finding and ignored. Fails only with
 * WB_ERROR_MEMORY. Release with wb__tokenizer_free, also after a failure.
 */
wb_status wb__tokenizer_make(wb__tokenizer *tokenizer, wb__context *context,
                             const wb__tokenizer_files *files);
void wb__tokenizer_free(wb__tokenizer *tokenizer);

/* ---- special_tokens.c ---- */

/*
 * Determines the special tokens, and which of them are added before and after a text. `json` is
 * NULL if there is no tokenizer.json.
 */
void wb__tokenizer_specials(wb__tokenizer *tokenizer, const wb__tokenizer_files *files,
                            const wb__tokenizer_json *json);

/*
 * Returns true if an added token is a control token even though its file does not mark it as
 * special.
 */
bool wb__looks_special(wb__str text);

#endif

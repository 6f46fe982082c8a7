/*
 * arch/tokenizer/sentencepiece.h: reads tokenizer.model, a SentencePiece protocol buffer
 * (protobuf.h). The fields that are read, with their field numbers:
 *
 *     ModelProto      1 SentencePiece, repeated   2 TrainerSpec   3 NormalizerSpec
 *     SentencePiece   1 piece, text   2 score, float   3 type: 1 normal, 2 unknown, 3 control,
 *                     4 user-defined, 5 unused, 6 byte
 *     TrainerSpec     3 model type: 1 Unigram, 2 BPE   40 to 43 ids of <unk>, <s>, </s>, <pad>
 *     NormalizerSpec  2 precompiled character map   3 prepend a space   4 remove extra spaces
 *
 * A crafted file can contain one piece per two bytes, so a table of pieces could be much larger
 * than the file. Therefore no table is made, and wb__pieces_next reads the pieces from the file
 * again.
 *
 * https://github.com/google/sentencepiece, src/sentencepiece_model.proto
 */
#ifndef WB_ARCH_TOKENIZER_SENTENCEPIECE_H
#define WB_ARCH_TOKENIZER_SENTENCEPIECE_H

#include "arch/tokenizer/protobuf.h"
#include "core/core.h"

typedef struct wb__piece {
    wb__str text; /* points into the file's bytes */
    float score;
    uint32_t type;
} wb__piece;

typedef struct wb__sentencepiece {
    const uint8_t *bytes; /* the file */
    size_t n;
    size_t count;      /* number of pieces */
    size_t text_bytes; /* total length of their texts */
    uint32_t model_type;
    int32_t unk, bos, eos, pad; /* token ids; -1 if there is none */
    wb__str charsmap;
    bool add_dummy_prefix;
    bool remove_extra_whitespaces;
    size_t fault_at; /* offset at which parsing failed */
} wb__sentencepiece;

/*
 * Parses a file, which must outlive the result. Returns false, with fault_at set, if the file is
 * invalid or has no piece.
 */
bool wb__sentencepiece_read(wb__sentencepiece *model, const void *bytes, size_t n);

/* Iterates over the pieces of a file. wb__pieces_next returns false after the last piece. */
wb__message wb__pieces_begin(const wb__sentencepiece *model);
bool wb__pieces_next(wb__message *rest, wb__piece *piece);

#endif

/*
 * arch/tokenizer/sentencepiece.h: reads tokenizer.model, a SentencePiece protocol buffer.
 *
 * A message is a sequence of fields: a varint (field number times 8 plus wire type), then the
 * value. Wire types are 0 (varint), 1 (8 bytes), 2 (length and bytes) and 5 (4 bytes); groups (3,
 * 4) do not occur. The fields that are read, with their field numbers:
 *
 *     ModelProto      1 SentencePiece, repeated   2 TrainerSpec   3 NormalizerSpec
 *     SentencePiece   1 piece, text   2 score, float   3 type: 1 normal, 2 unknown, 3 control,
 *                     4 user-defined, 5 unused, 6 byte
 *     TrainerSpec     3 model type: 1 Unigram, 2 BPE   40 to 43 ids of <unk>, <s>, </s>, <pad>
 *     NormalizerSpec  2 precompiled character map   3 prepend a space   4 remove extra spaces
 *
 * https://github.com/google/sentencepiece, src/sentencepiece_model.proto;
 * https://protobuf.dev/programming-guides/encoding
 */
#ifndef WB_ARCH_TOKENIZER_SENTENCEPIECE_H
#define WB_ARCH_TOKENIZER_SENTENCEPIECE_H

#include "core/core.h"

typedef struct wb__piece {
    wb__str text; /* points into the file's bytes */
    float score;
    uint32_t type;
} wb__piece;

typedef struct wb__sentencepiece {
    wb__piece *pieces;
    size_t count;
    size_t capacity;
    wb_allocator allocator;
    uint32_t model_type;
    int32_t unk, bos, eos, pad; /* token ids; -1 if there is none */
    wb__str charsmap;
    bool add_dummy_prefix;
    bool remove_extra_whitespaces;
    bool out_of_memory;
    size_t fault_at; /* offset at which parsing failed */
} wb__sentencepiece;

/*
 * Parses a file, which must outlive the result. Returns false if out of memory, or with fault_at
 * set if the file is invalid. Release with wb__sentencepiece_free, also after a failure.
 */
bool wb__sentencepiece_read(wb__sentencepiece *model, const void *bytes, size_t n,
                            const wb_allocator *allocator);
void wb__sentencepiece_free(wb__sentencepiece *model);

#endif

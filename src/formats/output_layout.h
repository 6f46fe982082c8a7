/*
 * formats/output_layout.h: one file that is to be written.
 *
 * Metadata comes as values in one piece of memory each: a tag, and behind it what GGUF has behind a
 * type, little-endian. That is the richest form any format knows; others take what they can hold.
 *
 *   number, BOOL   1, 2, 4 or 8 bytes
 *   STRING         u64 n, n bytes
 *   ARRAY          u32 tag of the elements, u64 n, n values
 */
#ifndef WB_FORMATS_OUT_H
#define WB_FORMATS_OUT_H

#include "core/buffer.h"
#include "core/core.h"
#include "core/endian.h"
#include "dtype/dtype.h"

/* GGUF's numbers. */
typedef enum wb__tag {
    WB__TAG_U8 = 0,
    WB__TAG_I8 = 1,
    WB__TAG_U16 = 2,
    WB__TAG_I16 = 3,
    WB__TAG_U32 = 4,
    WB__TAG_I32 = 5,
    WB__TAG_F32 = 6,
    WB__TAG_BOOL = 7,
    WB__TAG_STRING = 8,
    WB__TAG_ARRAY = 9,
    WB__TAG_U64 = 10,
    WB__TAG_I64 = 11,
    WB__TAG_F64 = 12
} wb__tag;

#define WB__TAG_COUNT 13

/* Bytes of a number, 0 for strings and arrays. */
static inline unsigned wb__tag_width(uint32_t tag)
{
    static const uint8_t widths[WB__TAG_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return tag < WB__TAG_COUNT ? widths[tag] : 0;
}

#define WB__VALUE_DEPTH 64 /* of arrays in arrays, that can be written */

typedef struct wb__out_meta {
    wb__str key;
    uint32_t tag;
    const uint8_t *value;
    size_t bytes;
} wb__out_meta;

typedef struct wb__out_tensor {
    wb__str name;
    const wb__dtype *dtype;
    uint32_t rank;
    const uint64_t *shape;
    uint64_t bytes;
    uint64_t begin; /* set by `write`: of the first byte, from the start of the file */
    /* With wb__out_file.has_checksums: CRC-32 of what belongs to the tensor in front of its bytes, over
     * which it goes on, and where in the header it goes. */
    uint32_t crc;
    size_t crc_at[2];
} wb__out_tensor;

/* Bytes of the header that do not stand at the beginning of the file. */
typedef struct wb__out_piece {
    uint64_t at; /* in the file */
    size_t from; /* in the header */
    size_t n;
} wb__out_piece;

typedef struct wb__out_file {
    const wb__out_meta **metas;
    size_t meta_count;
    wb__out_tensor **tensors; /* `write` may change the order to the one they lie in */
    size_t tensor_count;
    uint64_t alignment; /* a power of two */
    bool align_tensors; /* each of them, where the format leaves that open */
    bool big_endian;
    bool keeps_order;  /* safetensors: tensors lie in the order given */
    bool go_layout;    /* safetensors: data in the order given, as Ollama's writer has it */
    bool is_stream;    /* nothing can be written a second time */
    wb__arena *arena;  /* for tensors that the format adds */
    uint64_t filler;   /* number of the next tensor that the format adds; `write` counts on */
    wb__buffer header; /* set by `write`, from here on; the caller frees it */
    uint64_t bytes;    /* of the whole file */
    /* The same of formats whose headers lie between the tensors, in order; NULL: all of it is in front. */
    const wb__out_piece *pieces;
    size_t piece_count;
    bool has_checksums;
} wb__out_file;

/* Puts the checksum of a tensor where the header has it. */
static inline void wb__out_seal(wb__out_file *file, const wb__out_tensor *tensor)
{
    wb__store_le32(file->header.bytes + tensor->crc_at[0], tensor->crc);
    wb__store_le32(file->header.bytes + tensor->crc_at[1], tensor->crc);
}

/* WB_OK, or what became of the header. */
wb_status wb__out_check(wb__context *context, const wb__out_file *file);

#endif

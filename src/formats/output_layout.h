/*
 * formats/output_layout.h: description of one output file.
 *
 * Each metadata value has a tag (its type), and its bytes are contiguous in memory, encoded as in
 * little-endian GGUF. GGUF supports more types than the other formats. The writers of other formats
 * convert the values that their format supports.
 *
 *   number, BOOL   1, 2, 4 or 8 bytes
 *   STRING         u64 n, n bytes
 *   ARRAY          u32 tag of the elements, u64 n, n values
 */
#ifndef WB_FORMATS_OUTPUT_LAYOUT_H
#define WB_FORMATS_OUTPUT_LAYOUT_H

#include "core/buffer.h"
#include "core/core.h"
#include "core/endian.h"
#include "dtype/dtype.h"

/* Types of metadata values, numbered as in GGUF. */
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

/* Returns the size of a number in bytes; 0 for strings and arrays. */
static inline unsigned wb__tag_width(uint32_t tag)
{
    static const uint8_t widths[WB__TAG_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return tag < WB__TAG_COUNT ? widths[tag] : 0;
}

#define WB__VALUE_DEPTH 64 /* maximum nesting depth of arrays that can be written */

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
    uint64_t begin; /* set by the format's `write` (wb__format): file offset of the first byte */
    /*
     * Used only if wb__out_file.has_checksums is set. `write` sets `crc` to the CRC-32 of the bytes
     * before the tensor's data in its archive member, and the caller adds the data to the checksum.
     * crc_at has the two offsets in the header at which the result is stored.
     */
    uint32_t crc;
    size_t crc_at[2];
} wb__out_tensor;

/* A part of the header that is not at the start of the file. */
typedef struct wb__out_piece {
    uint64_t at; /* offset in the file */
    size_t from; /* offset in the header */
    size_t n;
} wb__out_piece;

typedef struct wb__out_file {
    const wb__out_meta **metas;
    size_t meta_count;
    wb__out_tensor **tensors; /* the format's `write` (wb__format) may sort them by file position */
    size_t tensor_count;
    uint64_t alignment; /* alignment in bytes, a power of two */
    bool align_tensors; /* align every tensor, in formats that do not require alignment */
    bool big_endian;
    bool keeps_order; /* safetensors: store tensors in the given order */
    /* safetensors: store data in the given order with the header layout of Ollama's writer */
    bool go_layout;
    bool is_stream;   /* the output cannot seek */
    wb__arena *arena; /* allocates padding tensors */
    uint64_t filler;  /* number of the next padding tensor; `write` increments it */
    /* `write` sets `header` and all fields after it; the caller frees `header` */
    wb__buffer header;
    uint64_t bytes; /* length of the whole file, in bytes */
    /*
     * Positions of header parts, in file order, for formats that place them between the tensors.
     * NULL if the whole header is at the start of the file.
     */
    const wb__out_piece *pieces;
    size_t piece_count;
    bool has_checksums;
} wb__out_file;

/* Writes the checksum of a tensor to its positions in the header. */
static inline void wb__out_seal(wb__out_file *file, const wb__out_tensor *tensor)
{
    wb__store_le32(file->header.bytes + tensor->crc_at[0], tensor->crc);
    wb__store_le32(file->header.bytes + tensor->crc_at[1], tensor->crc);
}

/* Returns WB_OK, or the error that occurred while the header was built. */
wb_status wb__out_check(wb__context *context, const wb__out_file *file);

#endif

/*
 * formats/gguf: the reader.
 *
 *   offset  bytes  content
 *   0       4      "GGUF", in this order for both byte orders
 *   4       4      u32 version: 2 or 3. Version 3 files may be big-endian, which is detected by the
 *                  lower 16 bits of the version being 0
 *   8       8      u64 number of tensors
 *   16      8      u64 number of entries
 *   24             the entries, then the tensors, without padding
 *   …              zeros up to a multiple of general.alignment (32 if there is no such entry)
 *   …              the tensors' data. Offsets of tensors are relative to this position and are
 *                  multiples of general.alignment
 *
 *   string  u64 n, n bytes
 *   entry   string key, u32 type, value
 *   value   by type: 0 u8, 1 i8, 2 u16, 3 i16, 4 u32, 5 i32, 6 f32, 7 bool (one byte, 0 or 1),
 *           8 string, 9 array, 10 u64, 11 i64, 12 f64
 *   array   u32 type of elements, u64 n, n values
 *   tensor  string name, u32 n, n times u64 dimension (innermost first), u32 ggml type, u64 offset
 *
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; docs/format/gguf.md lists the rules
 * and the order in which they are checked.
 *
 * The header is retained in memory in the layout described in model/metadata.h. Strings in the file
 * do not end with a NUL. After the reader has read the number that follows a string, it sets the
 * first byte of the number to 0, which ends the string. The reader parses the header in one pass
 * without recursion: each array points to its parent.
 *
 * gguf_read.c reads the fixed part and controls the steps; gguf_entries.c, gguf_arrays.c and
 * gguf_strings.c read the metadata, gguf_tensors.c the tensors; gguf_layout.c verifies the tensor
 * positions.
 */
#ifndef WB_FORMATS_GGUF_GGUF_READER_H
#define WB_FORMATS_GGUF_GGUF_READER_H

#include "formats/format.h"
#include "weighbridge/metadata.h"

#define WB__GGUF_MAGIC_BYTES 4
#define WB__GGUF_FIXED_BYTES (4 + 4 + 8 + 8) /* magic, version, tensor count, entry count */
#define WB__GGUF_KEY_MAX 65535
#define WB__GGUF_NAME_MAX 64
#define WB__GGUF_RANK_MAX 4
#define WB__GGUF_DEFAULT_ALIGNMENT 32
#define WB__GGUF_ALIGNMENT_MIN 8
#define WB__GGUF_ALIGNMENT_MAX ((uint64_t)1 << 30) /* maximum alignment that the writer accepts */
#define WB__GGUF_TYPES 43 /* number of ggml types; the wb_dtype of each has ggml's number */

/* Minimum sizes in bytes of an encoded entry, tensor, string and array. */
#define WB__GGUF_ENTRY_MIN (8 + 1 + 4 + 1)
#define WB__GGUF_TENSOR_MIN (8 + 4 + 4 + 8)
#define WB__GGUF_STRING_MIN 8
#define WB__GGUF_ARRAY_MIN (4 + 8)

typedef struct wb__gguf_reader {
    wb__context *context;
    wb__cursor *cursor;
    wb__catalog *model;
    wb__catalog_file *file;
    uint64_t file_bytes;
    uint64_t tensors, entries; /* number of tensors and of entries according to the header */
    uint64_t alignment;
    size_t text_at; /* offset in the header of the current key or tensor name */
    size_t text_len;
    uint64_t owed;         /* minimum number of bytes for the unread elements of enclosing arrays */
    uint64_t expected;     /* value that ggml requires in the offset field of the next tensor */
    bool irregular;        /* a tensor is not at the offset that ggml requires */
    bool has_quantization; /* general.quantization_version is present */
    bool has_blocks;       /* a tensor has a block-quantized type */
} wb__gguf_reader;

/* Metadata type and size in bytes of a GGUF value type. The size is 0 for strings and arrays. */
typedef struct wb__gguf_type {
    wb_meta_type type;
    uint8_t bytes;
} wb__gguf_type;

/* Returns the description of a value type number, or NULL for an undefined number. */
const wb__gguf_type *wb__gguf_type_of(uint32_t number);

/* ---- single fields: gguf_fields.c ---- */

/*
 * Read a number and set its first byte to 0, which terminates a preceding string. `what` completes
 * the message "the file ends inside …".
 */
wb_status wb__gguf_take_u32(wb__gguf_reader *reader, const char *what, uint32_t *value);
wb_status wb__gguf_take_u64(wb__gguf_reader *reader, const char *what, uint64_t *value);

/* Makes n bytes available at the cursor. Fails with wb__gguf_fail_end if there are fewer. */
wb_status wb__gguf_want(wb__gguf_reader *reader, uint64_t n, const char *what);

/* Reads the length of a string and makes the string available without consuming it. */
wb_status wb__gguf_take_length(wb__gguf_reader *reader, const char *what, size_t *len);

/*
 * Reports that an item extends beyond the end of the file or beyond the header limit. `at` is the
 * offset of the item; `what` is as for wb__gguf_take_u32.
 */
wb_status wb__gguf_fail_end(wb__gguf_reader *reader, uint64_t at, const char *what);

/*
 * Consumes n available bytes. Returns their offset, which is the same in the file and in the
 * header.
 */
static inline size_t wb__gguf_skip(wb__gguf_reader *reader, size_t n)
{
    size_t at = (size_t)wb__cursor_at(reader->cursor);
    reader->cursor->p += n;
    return at;
}

/* Returns the current key or tensor name, for messages. */
static inline wb__str wb__gguf_text(const wb__gguf_reader *reader)
{
    return (wb__str){(const char *)reader->cursor->kept + reader->text_at, reader->text_len};
}

/* ---- reading steps ---- */

wb_status wb__gguf_read_entries(wb__gguf_reader *reader);

/* Reads an array, starting at its element type. The catalog owns *array. */
wb_status wb__gguf_read_array(wb__gguf_reader *reader, wb__array **array);

/* gguf_strings.c: reads the strings of an array whose count was already checked. */
wb_status wb__gguf_read_strings(wb__gguf_reader *reader, wb__array *array);

/* Checks that n boolean bytes are all 0 or 1. */
wb_status wb__gguf_check_bools(wb__gguf_reader *reader, size_t at, size_t n);

/* Converts `count` big-endian numbers of `bytes` bytes each to little-endian. `at` is the offset of
 * the first number in the header. */
void wb__gguf_swap(wb__gguf_reader *reader, size_t at, uint64_t count, unsigned bytes);

/* Reads the tensors and completes the current file of the catalog. */
wb_status wb__gguf_read_tensors(wb__gguf_reader *reader);

wb_status wb__gguf_verify_layout(wb__gguf_reader *reader);

/* Returns the file offset of a tensor's offset field. */
uint64_t wb__gguf_offset_field(const wb__gguf_reader *reader, size_t tensor);

/* gguf_write.c */
wb_status wb__gguf_write(wb__context *context, wb__out_file *file);

#endif

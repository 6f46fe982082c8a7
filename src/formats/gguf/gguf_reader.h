/*
 * formats/gguf: the reader.
 *
 *   offset  bytes  what
 *   0       4      "GGUF", in this order whatever the byte order of the rest
 *   4       4      u32 version: 2 or 3. Version 3 may have all numbers most significant byte first,
 * which shows in the lower half of this one being 0 8       8      u64 number of tensors 16      8
 * u64 number of entries 24             the entries, then the tensors, one after another without
 * padding …              zeros up to a multiple of general.alignment, 32 where there is no such
 * entry …              the tensors' bytes; each tensor begins at a multiple of the alignment from
 * here
 *
 *   string  u64 n, n bytes
 *   entry   string key, u32 type, value
 *   value   by type: 0 u8, 1 i8, 2 u16, 3 i16, 4 u32, 5 i32, 6 f32, 7 bool (a byte, 0 or 1), 8
 * string, 9 array, 10 u64, 11 i64, 12 f64 array   u32 type of elements, u64 n, n values tensor
 * string name, u32 n, n times u64 dimension (innermost first), u32 ggml type, u64 offset
 *
 * https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; the rules and the order in which they
 * are checked stand in docs/format/gguf.md.
 *
 * The header stays where it was read to, in the form that model/metadata.h describes: whatever was
 * consumed as a number may be overwritten, so the first byte of the number behind a text becomes
 * the NUL that ends it. The reader goes through the header once, and never recurses: an array knows
 * the one it is in.
 *
 * read.c peeks and leads through the steps; entries.c, arrays.c and strings.c take the metadata,
 * tensors.c the tensors; layout.c verifies where tensors lie.
 */
#ifndef WB_FORMATS_GGUF_READER_H
#define WB_FORMATS_GGUF_READER_H

#include "formats/format.h"
#include "weighbridge/metadata.h"

#define WB__GGUF_MAGIC_BYTES 4
#define WB__GGUF_FIXED_BYTES (4 + 4 + 8 + 8) /* magic, version, tensors, entries */
#define WB__GGUF_KEY_MAX 65535
#define WB__GGUF_NAME_MAX 64
#define WB__GGUF_RANK_MAX 4
#define WB__GGUF_DEFAULT_ALIGNMENT 32
#define WB__GGUF_ALIGNMENT_MIN 8
#define WB__GGUF_ALIGNMENT_MAX ((uint64_t)1 << 30) /* that we write */
#define WB__GGUF_TYPES 43 /* numbers below it are ggml's, and a wb_dtype's too */

/* The fewest bytes that one takes. */
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
    uint64_t tensors, entries; /* as announced */
    uint64_t alignment;
    size_t text_at; /* of the key or the tensor's name in hand, in the header */
    size_t text_len;
    uint64_t owed;         /* bytes that elements still to come of open arrays take at least */
    uint64_t expected;     /* where the next tensor begins if the file is in order */
    bool irregular;        /* some tensor began elsewhere */
    bool has_quantization; /* general.quantization_version */
    bool has_blocks;       /* a tensor of a type made of blocks */
} wb__gguf_reader;

/* A type of value: what it is in the model, and how many bytes it takes (0 for strings and arrays).
 */
typedef struct wb__gguf_type {
    wb_meta_type type;
    uint8_t bytes;
} wb__gguf_type;

/* NULL for a number that is none. */
const wb__gguf_type *wb__gguf_type_of(uint32_t number);

/* ---- numbers, read.c ---- */

/*
 * Each takes a number and makes its first byte 0, for the sake of a text before it. `what`
 * completes "the file ends inside …".
 */
wb_status wb__gguf_take_u32(wb__gguf_reader *reader, const char *what, uint32_t *value);
wb_status wb__gguf_take_u64(wb__gguf_reader *reader, const char *what, uint64_t *value);

/* Fetches n bytes; fails as truncated at the cursor. */
wb_status wb__gguf_want(wb__gguf_reader *reader, uint64_t n, const char *what);

/* Takes the length of a text and sees to it that the text is at hand, without consuming it. */
wb_status wb__gguf_take_length(wb__gguf_reader *reader, const char *what, size_t *len);

/* Fails where the file, or the limit for headers, does not allow for what begins at `at`. */
wb_status wb__gguf_fail_end(wb__gguf_reader *reader, uint64_t at, const char *what);

/* Consumes what is at hand. Returns its offset, which is also where it lies in the header. */
static inline size_t wb__gguf_skip(wb__gguf_reader *reader, size_t n)
{
    size_t at = (size_t)wb__cursor_at(reader->cursor);
    reader->cursor->p += n;
    return at;
}

/* The key or the tensor's name in hand, for messages. */
static inline wb__str wb__gguf_text(const wb__gguf_reader *reader)
{
    return (wb__str){(const char *)reader->cursor->kept + reader->text_at, reader->text_len};
}

/* ---- the steps ---- */

wb_status wb__gguf_read_entries(wb__gguf_reader *reader);

/* An array, from the type of its elements on. Owned by the model. */
wb_status wb__gguf_read_array(wb__gguf_reader *reader, wb__array **array);

/* The strings of an array, whose number is known to fit into the file: strings.c. */
wb_status wb__gguf_read_strings(wb__gguf_reader *reader, wb__array *array);

/* Checks that n bytes of a boolean each are 0 or 1. */
wb_status wb__gguf_check_bools(wb__gguf_reader *reader, size_t at, size_t n);

/* Brings `count` numbers of `bytes` each, at an offset in the header, into little-endian order. */
void wb__gguf_swap(wb__gguf_reader *reader, size_t at, uint64_t count, unsigned bytes);

/* Reads the tensors and closes the file in hand. */
wb_status wb__gguf_read_tensors(wb__gguf_reader *reader);

wb_status wb__gguf_verify_layout(wb__gguf_reader *reader);

/* Where the offset of a tensor stands in the file. */
uint64_t wb__gguf_offset_field(const wb__gguf_reader *reader, size_t tensor);

/* write.c */
wb_status wb__gguf_write(wb__context *context, wb__out_file *file);

#endif

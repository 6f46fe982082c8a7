/*
 * formats/safetensors: the reader.
 *
 *   offset  bytes  what
 *   0       8      n, the length of the header, little-endian
 *   8       n      the header: JSON in UTF-8, padded with spaces
 *   8 + n   rest   the tensors' bytes, without gap or overlap
 *
 *   {"__metadata__": {string: string, …},
 *    name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …}
 *
 * The rules, and the order in which they are checked, are those of the official library (safetensors
 * 0.8.0, https://github.com/huggingface/safetensors); docs/format/safetensors.md has them all. Where
 * that library accepts what the specification forbids, we do so in compatible mode only.
 *
 * read.c peeks and leads through the steps. decode.c takes any header the rules allow, through the
 * JSON parser. fast.h takes the members that look as every writer writes them, and nothing else; what
 * it does not take is left to decode.c, so that there is one place that refuses. layout.c verifies
 * that the tensors tile the data.
 */
#ifndef WB_FORMATS_SAFETENSORS_READER_H
#define WB_FORMATS_SAFETENSORS_READER_H

#include "cpu/cpu.h"
#include "formats/format.h"
#include "json/json.h"

#define WB__ST_LENGTH_BYTES 8
#define WB__ST_HEADER_MAX UINT32_MAX /* whatever the limits say: offsets into it have 32 bits */

/* The shortest text a tensor can have, comma included, in strict and in compatible mode. */
#define WB__ST_ENTRY_MIN (sizeof "\"\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,0]}")
#define WB__ST_ENTRY_MIN_COMPATIBLE (sizeof "\"\":[\"U8\",[],[0,0]]")

/* What follows a name, up to the first data offset: the same for all tensors of one kind. */
#define WB__ST_MIDDLE_MAX 128

typedef struct wb__st_middle {
    uint8_t text[WB__ST_MIDDLE_MAX]; /* ":{"dtype":"F32","shape":[2,3],"data_offsets":[ */
    uint32_t len;
    uint32_t kind;
    uint64_t bytes; /* of a tensor of the kind */
} wb__st_middle;

#define WB__ST_MIDDLES 8

typedef struct wb__st_reader wb__st_reader;

/* Below this many bytes at hand the fast readers leave the rest to decode.c. */
#define WB__ST_FAST_MARGIN 512

/*
 * Takes members from p on, which stands at the quote of a key, appends their tensors, and returns the
 * end of the last one taken (p if none). `where` is p's offset in the header.
 */
typedef const uint8_t *wb__st_fast(wb__st_reader *reader, const uint8_t *p, const uint8_t *end,
                                   uint32_t where);

struct wb__st_reader {
    wb__context *context;
    wb__cursor *cursor;
    wb__catalog *model;
    wb__table *table; /* of the model */
    wb__json json;
    wb__key_set fields; /* unknown fields of the entry in hand */
    uint64_t entry;     /* serial number, for `fields` */
    uint64_t *shape;    /* of the entry in hand */
    size_t shape_capacity;
    bool has_metadata;

    uint64_t expected; /* where the next tensor begins if the file is in order */
    bool irregular;    /* some tensor began elsewhere, or its kind has a fault */

    wb__st_fast *fast; /* NULL: none */
    wb__st_middle middles[WB__ST_MIDDLES];
    unsigned last_middle; /* the one that matched last */
    unsigned next_middle; /* the one to replace next */
};

/*
 * Reads a file as wb__format_safetensors.read does, with the fast reader given. NULL takes none, which
 * is the definition of right. The vector ones hash as wb__name_hash_aes does: the model must have been
 * set up with that processor feature.
 */
wb_status wb__st_read(wb__context *context, wb__cursor *cursor, wb__catalog *model,
                      wb__st_fast *fast);

/*
 * Reads the header, which the cursor stands at and is limited to. Layout is left to verify: a tensor
 * whose size contradicts its shape becomes a kind of its own, with the fault in it.
 */
wb_status wb__st_decode(wb__st_reader *reader);

/* Applies the rules that join tensors with one another and with the file. */
wb_status wb__st_verify_layout(wb__st_reader *reader);

/* The dtype the format has under that name, or NULL. */
const wb__dtype *wb__st_dtype(wb__str name);

/* Its place in the official library's enum, -1 for a dtype the format does not have. */
int wb__st_dtype_rank(int32_t dtype);

/* write.c */
wb_status wb__st_write(wb__context *context, wb__out_file *file);

/* The fastest one this processor has. */
wb__st_fast *wb__st_fast_for(uint32_t cpu_features);

extern wb__st_fast wb__st_fast_portable;
#if WB__X86
extern wb__st_fast wb__st_fast_avx2;
extern wb__st_fast wb__st_fast_avx512;
#endif

#endif

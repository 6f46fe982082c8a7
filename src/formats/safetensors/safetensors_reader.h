/*
 * formats/safetensors: the reader.
 *
 *   offset  bytes  content
 *   0       8      n, the length of the header, little-endian
 *   8       n      the header: JSON in UTF-8, padded with spaces
 *   8 + n   rest   the tensors' data, without gap or overlap
 *
 *   {"__metadata__": {string: string, …},
 *    name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …}
 *
 * The rules and their order are those of the official library (safetensors 0.8.0,
 * https://github.com/huggingface/safetensors); docs/format/safetensors.md lists all. If the
 * official library accepts a violation of its specification, this reader accepts it only in
 * compatible mode.
 *
 * safetensors_read.c reads the header length and controls the steps. safetensors_decode.c parses
 * any valid header with the JSON parser. fast.h parses only members in the notation of common
 * writers, which safetensors_frame.c learns, and leaves all others to safetensors_decode.c, so that
 * errors are reported in one place.
 * safetensors_layout.c verifies that the tensors cover the data without gap or overlap.
 */
#ifndef WB_FORMATS_SAFETENSORS_SAFETENSORS_READER_H
#define WB_FORMATS_SAFETENSORS_SAFETENSORS_READER_H

#include "cpu/cpu.h"
#include "formats/format.h"
#include "json/json.h"

#define WB__ST_LENGTH_BYTES 8
/* maximum header length even if a caller sets a higher limit: header offsets have 32 bits */
#define WB__ST_HEADER_MAX UINT32_MAX

/* Minimum length of a tensor's entry, including the comma, in strict and in compatible mode. */
#define WB__ST_ENTRY_MIN (sizeof "\"\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,0]}")
#define WB__ST_ENTRY_MIN_COMPATIBLE (sizeof "\"\":[\"U8\",[],[0,0]]")

#define WB__ST_TEXT_MAX 192
#define WB__ST_BETWEEN_MAX 64

/* One of the texts of a frame (wb__st_frame, below). Zeros follow the text up to a multiple of
 * 64 bytes, for the vector code. */
typedef struct wb__st_text {
    uint8_t text[WB__ST_TEXT_MAX];
    uint64_t first;      /* the first 8 bytes as a little-endian number */
    uint64_t first_mask; /* mask of the bits of `first` that belong to the text */
    uint32_t len;
} wb__st_text;

/*
 * A frame is the text of a member around its name and its two offsets. It is identical for all
 * tensors that have the same dtype and shape and were written by the same program:
 *
 *     "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}
 *          `------------------- open -------------------'  |   `- close
 *                                                       between
 *     "name":{"data_offsets":[0,24],"dtype":"F32","shape":[2,3]}
 *          `------ open ------'  |   `--------- close ---------'
 *                             between
 */
typedef struct wb__st_frame {
    wb__st_text open;
    wb__st_text between;
    wb__st_text close;
    uint32_t number; /* index in wb__st_reader.frames */
    uint32_t kind;
    uint64_t bytes; /* size of a tensor of this kind, in bytes */
} wb__st_frame;

#define WB__ST_FRAMES 16
#define WB__ST_HISTORIES 256

typedef struct wb__st_reader wb__st_reader;

/* When and how a header is divided into pieces for several threads (pieces.h). */
typedef struct wb__st_division {
    uint64_t header_min; /* minimum number of unparsed bytes */
    size_t bytes;        /* size of a piece; at least WB__ST_PIECE_MIN */
} wb__st_division;

#define WB__ST_PIECE_MIN 128

extern const wb__st_division wb__st_usual_division;

/* If fewer bytes are available, the fast parsers stop and safetensors_decode.c parses the rest. */
#define WB__ST_FAST_MARGIN 1024

/*
 * Parses members and appends their tensors. p is the opening quote of the first member's key.
 * Returns the end of the last parsed member, or p if there is none. `where` is the offset of p in
 * the header.
 */
typedef const uint8_t *wb__st_fast(wb__st_reader *reader, const uint8_t *p, const uint8_t *end,
                                   uint32_t where);

struct wb__st_reader {
    wb__context *context;
    wb__cursor *cursor;
    wb__catalog *model;
    wb__table *table; /* table of `model` */
    wb__json json;
    wb__key_set fields; /* unknown fields of the current entry */
    uint64_t entry;     /* serial number of the current entry, by which `fields` distinguishes
                         * entries */
    uint64_t *shape;    /* shape of the current entry */
    size_t shape_capacity;
    bool has_metadata;

    uint64_t expected; /* end of the previous tensor */
    bool irregular;    /* a tensor does not start at `expected`, or its kind has a fault */

    wb__st_fast *fast; /* NULL: none */
    wb__st_division division;
    uint64_t parallel_from; /* members after this offset may be parsed by several threads */
    unsigned next_frame;    /* index of the frame to replace next */
    size_t kinds_max;       /* if the table has this many kinds, no frame of a new kind is stored */
    /* `history` is a hash of the frames of the last four members. follower[hash] is the frame that
     * followed the last time that `history` had this value, and is tried first, because most
     * headers repeat the same sequence of frames. */
    unsigned history;
    uint8_t follower[WB__ST_HISTORIES];
    wb__st_frame frames[WB__ST_FRAMES];
};

/*
 * Reads a file like wb__format_safetensors.read, using the given fast parser. If `fast` is NULL,
 * only the JSON parser is used, which is the reference. A header of at least division->header_min
 * bytes is parsed in pieces if the caller provides an executor. The fast parsers with vector
 * instructions compute the hash of wb__name_hash_aes, so `model` must have been initialized with
 * the processor features that select this hash.
 */
wb_status wb__st_read(wb__context *context, wb__cursor *cursor, wb__catalog *model,
                      wb__st_fast *fast, const wb__st_division *division);

/*
 * Parses the header at the cursor, whose limit is the end of the header. A tensor whose size
 * contradicts its shape is stored with a fault in its kind, and reported by wb__st_verify_layout.
 */
wb_status wb__st_decode(wb__st_reader *reader);

/*
 * Finds the frame of a member in the cache, or adds it; p is the closing quote of the member's
 * name. Records the frame in `follower`. Returns false if the fast parsers do not handle the
 * notation, or the shape has no valid size.
 */
bool wb__st_find_frame(wb__st_reader *reader, const uint8_t *p, const uint8_t *end);

static inline bool wb__st_is_space(int c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* maximum number of bytes from the comma after a member to the next key */
#define WB__ST_SPACES 64

/* Returns the opening quote of the next key after the end of a member, or NULL. */
static inline const uint8_t *wb__st_next_key(const uint8_t *p)
{
    if (*p != ',')
        return NULL;
    const uint8_t *last = p + WB__ST_SPACES;
    p++;
    while (wb__st_is_space(*p) && p != last)
        p++;
    return *p == '"' ? p : NULL;
}

/* Marks all frames of the cache as unused. */
void wb__st_forget_frames(wb__st_reader *reader);

/* Runs the fast parser until it reaches a member that it does not handle. */
void wb__st_take_fast(wb__st_reader *reader);

/* Returns true if the next members shall be parsed in pieces. */
bool wb__st_pieces_pay(const wb__st_reader *reader);

/*
 * Parses members on the threads of the caller's executor. Precondition: the cursor is at the
 * opening quote of a key. Appends the tensors to the table and moves the cursor to the end of the
 * last parsed member, as the fast parser does, but may stop earlier than that parser. Returns
 * false, with nothing changed, if no member was parsed. Reports no errors.
 */
bool wb__st_take_pieces(wb__st_reader *reader);

/* Checks the positions of the tensors relative to each other and to the file. */
wb_status wb__st_verify_layout(wb__st_reader *reader);

/* Returns the dtype with this safetensors name, or NULL. */
const wb__dtype *wb__st_dtype(wb__str name);

/* Returns the position of a dtype in the official library's enum; -1 for an unsupported dtype. */
int wb__st_dtype_rank(int32_t dtype);

/* safetensors_write.c */
wb_status wb__st_write(wb__context *context, wb__out_file *file);

/* Returns the fastest parser that the processor supports. */
wb__st_fast *wb__st_fast_for(uint32_t cpu_features);

extern wb__st_fast wb__st_fast_portable;
#if WB__X86
extern wb__st_fast wb__st_fast_avx2;
extern wb__st_fast wb__st_fast_avx512;
#endif

#endif

/*
 * read/comparable.h: tensor values as float32 in Hugging Face row order, independent of how they
 * are stored.
 *
 * A comparable is a tensor in the form in which it is hashed and compared: it has its canonical
 * name, if there is one, and experts that are stored one by one form one stacked tensor. A reader
 * returns the values of a comparable from any position, in bounded memory: decoded, converted, and
 * with rows in Hugging Face order (arch/row_order.h). A complex number is two floats, real part
 * first.
 *
 * Hashing and comparing use this reader, so that they agree on the values.
 */
#ifndef WB_READ_COMPARABLE_H
#define WB_READ_COMPARABLE_H

#include "arch/row_order.h"
#include "handle/semantics.h"
#include "quant/quant.h"
#include "read/decoder.h"
#include "read/raw_bytes.h"

typedef struct wb__comparable {
    wb__str name;    /* canonical name, or else the native name */
    uint64_t number; /* tensor index, as for wb_tensor_at */
    uint64_t floats; /* number of float32 values */
    const wb__kind *kind;
    const wb__expert_view *view; /* the expert view, if the comparable is one; else NULL */
    wb__row_order order;
    bool is_canonical; /* `name` is a canonical name */
    bool is_spare;     /* a recognized tensor that a conversion may omit */
} wb__comparable;

typedef struct wb__comparables {
    wb_allocator allocator;
    wb__comparable *list; /* sorted by name, bytewise */
    size_t count;
    size_t capacity;
} wb__comparables;

/* Lists the comparables of a model, which must stay open. The caller must call
 * wb__comparables_free, also after a failure. */
wb_status wb__comparables_make(wb__comparables *subjects, const wb_model *model,
                               wb__context *context);
void wb__comparables_free(wb__comparables *subjects);

/* Returns the comparable with that name, or NULL. */
const wb__comparable *wb__comparables_find(const wb__comparables *subjects, wb__str name);

/*
 * Returns true if the values must be read in one pass, because it is slow to read them in pieces:
 * fp8_block, AWQ and GPTQ weights, compressed tensors and column-major tensors. Such a comparable
 * is not divided among threads.
 */
bool wb__comparable_is_whole(const wb_model *model, const wb__comparable *subject);

/* ---- value_reader.c ---- */

/* Reads a comparable part by part. A part is one expert of an expert view, or a whole tensor. */
typedef struct wb__reader {
    const wb_model *model;
    wb__context *context;
    const wb__comparable *subject;
    const wb__packed *packed; /* packing of the current part; NULL: not packed */
    const wb__kind *kind;     /* shape and dtype of the current part */
    const char *file;         /* path of the file of the current part, for messages */
    uint64_t part_floats;
    uint64_t part;        /* index of the current part; UINT64_MAX: none */
    uint32_t per_element; /* floats per element: 2 if complex, else 1 */
    bool decodes;
    wb__decode *widen; /* fast conversion to float32; NULL: use wb__dtype_convert */
    wb__decoder decoder;
    wb__raw_bytes bytes; /* stored bytes of the current part, if there is no decoder */
    uint8_t *raw;        /* stored bytes before conversion */
    float *window;       /* values of the current part in stored order */
    size_t window_capacity;
    uint64_t window_at;
    size_t window_count;
} wb__reader;

/*
 * Begins to read a comparable. The context must outlive the reader. The reader must be zeroed
 * before the first call, and may then be opened repeatedly. Release it with wb__reader_close, also
 * after a failure.
 */
wb_status wb__reader_open(wb__reader *reader, const wb_model *model, wb__context *context,
                          const wb__comparable *subject);
void wb__reader_close(wb__reader *reader);

/* Reads floats `first` to first + n - 1 of the comparable. Calls are fastest if each begins where
 * the previous one ended. */
wb_status wb__reader_read(wb__reader *reader, uint64_t first, size_t n, float *dst);

#endif

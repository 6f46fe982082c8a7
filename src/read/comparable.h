/*
 * values: what the tensors of a model hold, whatever stores them: float32 in Hugging Face row order.
 *
 * A subject is a tensor as it is compared with others: under its canonical name, where it has one,
 * and experts that are stored one by one as the one tensor they make. A reader gives the values of
 * a subject, from any place on, in bounded memory: decoded, converted, rows back in Hugging Face
 * order (arch/row_order.h). A complex number is two floats, real part first.
 *
 * Hashing, comparing and converting read through here, so that they agree on what a value is.
 */
#ifndef WB_READ_COMPARABLE_H
#define WB_READ_COMPARABLE_H

#include "arch/row_order.h"
#include "handle/semantics.h"
#include "quant/quant.h"
#include "read/decoder.h"
#include "read/raw_bytes.h"

typedef struct wb__comparable {
    wb__str name;    /* canonical, or as the files have it */
    uint64_t number; /* for wb_tensor_at and its like */
    uint64_t floats; /* values it has as floats */
    const wb__kind *kind;
    const wb__expert_view *view; /* NULL: it is no experts that are stored one by one */
    wb__row_order order;
    bool is_canonical; /* `name` is */
    bool is_spare;     /* known, and needed by nobody: conversion may leave it out */
} wb__comparable;

typedef struct wb__comparables {
    wb_allocator allocator;
    wb__comparable *list; /* in byte order of their names */
    size_t count;
    size_t capacity;
} wb__comparables;

/* Borrows from the model. Release with wb__comparables_free, also after a failure. */
wb_status wb__comparables_make(wb__comparables *subjects, const wb_model *model,
                               wb__context *context);
void wb__comparables_free(wb__comparables *subjects);

/* The subject of that name, or NULL. */
const wb__comparable *wb__comparables_find(const wb__comparables *subjects, wb__str name);

/*
 * Whether a subject's values are had in one go, since its bytes are read whole or unpacked from front to
 * back: then it is not to be cut among threads.
 */
bool wb__comparable_is_whole(const wb_model *model, const wb__comparable *subject);

/* ---- reader.c ---- */

typedef struct wb__reader {
    const wb_model *model;
    wb__context *context;
    const wb__comparable *subject;
    const wb__packed *packed; /* of the part in hand */
    const wb__kind *kind;     /* of the part in hand, as it is stored */
    const char *file;         /* of the part in hand, for messages */
    uint64_t part_floats;
    uint64_t part;        /* of experts that are stored one by one; UINT64_MAX: none is in hand */
    uint32_t per_element; /* floats */
    bool decodes;
    wb__decode *widen; /* to floats, faster than wb__dtype_convert; NULL: there is no such thing */
    wb__decoder decoder;
    wb__raw_bytes bytes; /* where there is no decoder */
    uint8_t *raw;        /* stored bytes, before they are converted */
    float *window;       /* values of the part, in the order they are stored */
    size_t window_capacity;
    uint64_t window_at;
    size_t window_count;
} wb__reader;

/*
 * Begins to read a subject; the context is the reader's for as long as it lives. A zeroed reader
 * may be opened again and again. Release with wb__reader_close, also after a failure.
 */
wb_status wb__reader_open(wb__reader *reader, const wb_model *model, wb__context *context,
                          const wb__comparable *subject);
void wb__reader_close(wb__reader *reader);

/* Reads floats `first` to first + n - 1 of the subject. Fastest from front to back. */
wb_status wb__reader_read(wb__reader *reader, uint64_t first, size_t n, float *dst);

#endif

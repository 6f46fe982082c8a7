/*
 * inspect.h: what the two forms of `wb inspect` share.
 */
#ifndef WB_CLI_INSPECT_H
#define WB_CLI_INSPECT_H

#include "out.h"
#include "weighbridge/experimental.h"

/* What is stored alike: dtype and encoding. */
typedef struct kind_total {
    int32_t dtype; /* as stored: that of the packed values of a quantized tensor */
    wb_encoding encoding;
    uint64_t tensors;
    uint64_t parameters;
    uint64_t bytes;
} kind_total;

typedef struct totals {
    kind_total all;
    kind_total *kinds; /* in the order in which they are first met */
    size_t count;
} totals;

typedef struct inspection {
    const char *path;  /* as it was named */
    const char *label; /* to show */
    const wb_model *model;
    const char *filter; /* NULL: all tensors */
    bool has_tensors;   /* what to show */
    bool has_metadata;
    bool is_whole; /* metadata values however long */
    totals totals; /* of the tensors that the filter lets through */
} inspection;

/* Stores tensor `index` and how it is encoded; false if the filter leaves it out. */
bool inspection_tensor(const inspection *in, uint64_t index, wb_tensor *tensor,
                       wb_encoding *encoding);

/* The dtype, or how it is quantized: "BF16", "affine4:64", "mxfp4". */
void text_add_kind(text *t, int32_t dtype, const wb_encoding *encoding);

void inspect_as_text(const inspection *in);
void inspect_as_json(const inspection *in);

#endif

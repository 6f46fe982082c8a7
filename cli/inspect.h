/*
 * inspect.h: what the two forms of `wb inspect` share.
 */
#ifndef WB_CLI_INSPECT_H
#define WB_CLI_INSPECT_H

#include "out.h"
#include "weighbridge/experimental.h"

typedef struct dtype_total {
    int32_t dtype;
    uint64_t tensors;
    uint64_t parameters;
    uint64_t bytes;
} dtype_total;

typedef struct totals {
    dtype_total all;
    dtype_total *by_dtype; /* in the order in which the dtypes are first met */
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

/* Stores tensor `index`; false if the filter leaves it out. */
bool inspection_tensor(const inspection *in, uint64_t index, wb_tensor *tensor);

void inspect_as_text(const inspection *in);
void inspect_as_json(const inspection *in);

#endif

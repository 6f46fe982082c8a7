/* inspect.h: declarations shared by the source files of `wb inspect`. */
#ifndef WB_CLI_INSPECT_H
#define WB_CLI_INSPECT_H

#include "out.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

/* Totals of the tensors with the same dtype and encoding. */
typedef struct kind_total {
    int32_t dtype; /* stored dtype; for a quantized tensor, the dtype of its packed values */
    wb_encoding encoding;
    uint64_t tensors;
    uint64_t parameters;
    uint64_t bytes;
} kind_total;

typedef struct totals {
    kind_total all;
    uint64_t weight_bytes; /* bytes without the second copy of tied embeddings */
    kind_total *kinds;     /* in order of first occurrence */
    size_t count;
} totals;

typedef enum section {
    SECTION_FILES = 1,
    SECTION_CONFIG = 2,
    SECTION_METADATA = 4,
    SECTION_TENSORS = 8,
    SECTION_LAYERS = 16,
    SECTION_TOKENS = 32,
    SECTION_TOTALS = 64,
    SECTION_TEMPLATE = 128,
    SECTION_MODELFILE = 256,
    SECTION_TREE = 512
} section;

typedef enum names_shown { NAMES_NATIVE, NAMES_CANONICAL, NAMES_BOTH } names_shown;

typedef struct inspection {
    const char *path;  /* path as given on the command line */
    const char *label; /* printable path */
    const wb_model *model;
    const char *filter; /* NULL: all tensors */
    unsigned sections;  /* sections to print (bits of enum section) */
    bool is_chosen;     /* options select the sections explicitly */
    bool is_whole;      /* metadata: do not truncate values, and include derived metadata */
    const char *key;    /* metadata key, NULL: all keys */
    names_shown names;
    const char *canonical; /* canonical names in the format of wb_tensor_names; NULL if not shown */
    const uint64_t *canonical_at;
    totals totals;    /* totals of the tensors that match the filter */
    uint64_t *listed; /* indices of the tensors to list, in this order */
    uint64_t listed_count;
    bool is_folded; /* layers are shown because the table of tensors would be long */
} inspection;

/* Stores the tensor at `index` and its encoding. Returns false if the filter excludes the tensor.
 */
bool inspection_tensor(const inspection *in, uint64_t index, wb_tensor *tensor,
                       wb_encoding *encoding);

static inline int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Sorts in->listed by "size", "name" or "offset", or keeps its order if `sort` is NULL. Then keeps
 * no more than the first `top` tensors.
 */
void inspection_order(inspection *in, const char *sort, uint64_t top);

/* Returns the canonical name of a tensor. The name is empty if the tensor has none or canonical
 * names are not shown.
 */
const char *inspection_canonical(const inspection *in, uint64_t index, size_t *len);

/* Returns the index in totals.kinds of the tensors with this dtype and encoding, or totals.count if
 * there are none. */
size_t inspection_kind(const totals *sum, int32_t dtype, const wb_encoding *encoding);

/* Adds the dtype or the quantization type, such as "BF16", "affine4:64" or "mxfp4". */
void text_add_kind(text *t, int32_t dtype, const wb_encoding *encoding);

/*
 * Adds the name of the quantization, such as "Q4_K_M": the file type that a GGUF file states, or
 * the type with the largest share of the bytes. Adds nothing if there are no tensors.
 */
void text_add_quantization(text *t, const inspection *in);

/* Returns the number of bits per weight; NaN if there are no weights. */
double inspection_bits(const inspection *in);

void inspect_as_text(const inspection *in);
void inspect_as_json(const inspection *in);
int inspect_key_as_json(const inspection *in); /* --metadata KEY; returns the exit code */

void print_title(out *o, const char *title);

/* Sections that are printed by other source files. */
void print_config(out *o, const inspection *in);
void json_config(wb_json *json, const inspection *in);
void print_layers(out *o, const inspection *in);
void json_layers(wb_json *json, const inspection *in);
void print_tree(out *o, const inspection *in);
void print_tokens(out *o, const inspection *in);
void json_tokens(wb_json *json, const inspection *in);

/* A row of the table of layers. */
typedef struct layer_sums {
    const char *name; /* the layer number is replaced by a range such as "0-3" */
    size_t name_len;
    const char *kinds;       /* the types, such as "Q4_K|Q6_K" */
    const wb_tensor *tensor; /* one of the tensors */
    uint64_t tensors, parameters, bytes;
} layer_sums;

/* Calls `visit` for each row of the table of layers, in the order of the names. */
void layers_each(const inspection *in, void (*visit)(void *ctx, const layer_sums *row), void *ctx);

/* Finds the metadata entry in->key. Returns false if there is none; tell_key_missing then reports
 * that, and returns the exit code.
 */
bool inspection_key(const inspection *in, wb_meta *meta);
int tell_key_missing(const inspection *in);

/* Prints the requested strings unmodified: a metadata value, the chat template or the Modelfile.
 * Returns the exit code.
 */
int print_texts(const inspection *in);

/* Finds the chat template. Returns false if there is none. */
bool find_template(const wb_model *model, const char **string, size_t *len);

#endif

/*
 * inspect.h: what the forms of `wb inspect` share.
 */
#ifndef WB_CLI_INSPECT_H
#define WB_CLI_INSPECT_H

#include "out.h"
#include "weighbridge.h"
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

typedef enum section {
    SECTION_FILES = 1,
    SECTION_CONFIG = 2,
    SECTION_METADATA = 4,
    SECTION_TENSORS = 8,
    SECTION_LAYERS = 16,
    SECTION_TOKENS = 32,
    SECTION_TOTALS = 64,
    SECTION_TEMPLATE = 128,
    SECTION_MODELFILE = 256
} section;

typedef enum names_shown { NAMES_NATIVE, NAMES_CANONICAL, NAMES_BOTH } names_shown;

typedef struct inspection {
    const char *path;  /* as it was named */
    const char *label; /* to show */
    const wb_model *model;
    const char *filter; /* NULL: all tensors */
    unsigned sections;  /* of section: what to show */
    bool is_chosen;     /* the sections were asked for by name */
    bool is_whole;      /* metadata: values however long, and what follows from other files */
    const char *key;    /* of metadata, NULL: all */
    names_shown names;
    const char *canonical; /* names, NULL where they are not shown; as wb_tensor_names has them */
    const uint64_t *canonical_at;
    totals totals; /* of the tensors that the filter lets through */
} inspection;

/* Stores tensor `index` and how it is encoded; false if the filter leaves it out. */
bool inspection_tensor(const inspection *in, uint64_t index, wb_tensor *tensor,
                       wb_encoding *encoding);

/* The canonical name of a tensor; empty where it has none or they are not shown. */
const char *inspection_canonical(const inspection *in, uint64_t index, size_t *len);

/* The dtype, or how it is quantized: "BF16", "affine4:64", "mxfp4". */
void text_add_kind(text *t, int32_t dtype, const wb_encoding *encoding);

void inspect_as_text(const inspection *in);
void inspect_as_json(const inspection *in);

void print_title(out *o, const char *title);

/* The sections that have files of their own. */
void print_config(out *o, const inspection *in);
void json_config(wb_json *json, const inspection *in);
void print_layers(out *o, const inspection *in);
void json_layers(wb_json *json, const inspection *in);
void print_tokens(out *o, const inspection *in);
void json_tokens(wb_json *json, const inspection *in);

/* Texts that are shown by themselves, as they are: a value of metadata, template, Modelfile. Return
 * the exit code. */
int print_texts(const inspection *in);

/* The chat template; false if there is none. */
bool find_template(const wb_model *model, const char **string, size_t *len);

#endif

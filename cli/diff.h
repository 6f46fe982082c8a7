/* diff.h: text and JSON output of `wb diff`. */
#ifndef WB_CLI_DIFF_H
#define WB_CLI_DIFF_H

#include "out.h"

typedef struct comparison {
    const char *path[2];
    const char *label[2];
    wb_model *model[2];
    wb_diff *diff;
} comparison;

/* A kind of difference: its name and its WB_DIFF_* bit. */
typedef struct diff_kind {
    const char *word;
    uint32_t bit;
} diff_kind;

extern const diff_kind diff_kinds[];
extern const size_t diff_kind_count;

/* Adds the encoding of a tensor, such as "F16", "Q4_K" or "affine 4 bits, groups of 64". */
void text_add_encoding(text *t, const wb_model *model, uint64_t tensor);

void diff_show(const comparison *c);   /* prints text (diff_text.c) */
void diff_answer(const comparison *c); /* prints JSON (diff_json.c) */

#endif

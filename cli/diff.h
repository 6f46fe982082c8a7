/*
 * diff.h: the answers of `wb diff`, as text and as JSON.
 */
#ifndef WB_CLI_DIFF_H
#define WB_CLI_DIFF_H

#include "out.h"

typedef struct comparison {
    const char *path[2];
    const char *label[2];
    wb_model *model[2];
    wb_diff *diff;
} comparison;

/* A kind of difference: its word, and its bit. */
typedef struct diff_kind {
    const char *word;
    uint32_t bit;
} diff_kind;

extern const diff_kind diff_kinds[];
extern const size_t diff_kind_count;

/* "F16", "Q4_K", "affine 4 bits, groups of 64" */
void text_add_encoding(text *t, const wb_model *model, uint64_t tensor);

void diff_show(const comparison *c);   /* diff_text.c */
void diff_answer(const comparison *c); /* diff_json.c */

#endif

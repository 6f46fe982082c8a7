/*
 * check.h: what `wb verify` and `wb doctor` both do: open each model, check it, and present what
 * was seen in their own way.
 */
#ifndef WB_CLI_CHECK_H
#define WB_CLI_CHECK_H

#include "options.h"
#include "out.h"

typedef struct check {
    const char *path;
    const char *label;
    const wb_model *model;          /* NULL: it was refused */
    const wb_findings *findings;    /* NULL: `refusal` is the only one */
    wb_finding refusal;             /* why there is no model; severity WB_FATAL */
    int code;                       /* the exit code */
    uint64_t files, tensors, bytes; /* 0 where there is no model */
} check;

/* Checks all paths; where no verdict is possible, that is said on standard error and `present` is
 * not called. Returns the exit code. */
int check_paths(const arguments *args, void (*present)(const arguments *args, const check *c));

/* Finding number `index`; false past the end. */
bool check_finding(const check *c, uint64_t index, wb_finding *finding);

/* "sound", "flawed" or "refused" */
const char *check_verdict(const check *c);

/* The object that --json gives. */
void check_json(const check *c);

/* 291 tensors in 3 files, 5.2 MiB */
void text_add_content(text *t, const check *c);

#endif

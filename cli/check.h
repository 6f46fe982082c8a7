/* check.h: code shared by `wb verify` and `wb doctor`. Both open each model, check it, and present
 * the findings in their own format.
 */
#ifndef WB_CLI_CHECK_H
#define WB_CLI_CHECK_H

#include "options.h"
#include "out.h"

typedef struct check {
    const char *path;
    const char *label;
    const wb_model *model;          /* NULL: the model could not be opened */
    const wb_findings *findings;    /* NULL: `refusal` is the only finding */
    wb_finding refusal;             /* why opening failed (severity WB_FATAL) */
    int code;                       /* exit code for this path */
    uint64_t files, tensors, bytes; /* totals of the model; 0 if `model` is NULL */
} check;

/* Checks all paths and calls `present` for each result. If a check gives no verdict (an I/O error,
 * for example), reports the error on standard error and does not call `present`. Returns the exit
 * code.
 */
int check_paths(const arguments *args, void (*present)(const arguments *args, const check *c));

/* Stores the finding at `index` in *finding. Returns false past the last finding. */
bool check_finding(const check *c, uint64_t index, wb_finding *finding);

/* Returns the verdict as a word: "sound", "flawed" or "refused". */
const char *check_verdict(const check *c);

/* Prints the result of a check as a JSON object (--json). */
void check_json(const check *c);

/* Adds the format and the totals of the model: "gguf, 291 tensors in 3 files, 5.2 MiB". */
void text_add_content(text *t, const check *c);

#endif

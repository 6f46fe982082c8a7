/*
 * Reports a problem in a tokenizer file as a warning in the list of findings.
 */
#include "arch/tokenizer/tokenizer_make.h"

wb_status wb__token_note(wb__token_maker *m, uint64_t at, const char *file, const char *what)
{
    const char *before = m->context->file;
    m->context->file = file;
    wb_status status =
        wb__note(m->context, WB_WARNING, WB__FINDING_TOKENIZER, at, WB__STR(""), "%s", what);
    m->context->file = before;
    return status;
}

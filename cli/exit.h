/*
 * exit.h: the exit codes. Of several paths the highest wins. docs/man/wb.1 tells users.
 */
#ifndef WB_CLI_EXIT_H
#define WB_CLI_EXIT_H

#include "weighbridge.h"

enum exit_code {
    EXIT_CLEAN = 0,
    EXIT_FINDINGS = 1,
    EXIT_BAD_INPUT = 2,
    EXIT_UNSUPPORTED = 3,
    EXIT_USAGE = 4,
    EXIT_IO = 5,
    EXIT_INTERRUPTED = 130
};

/* For a status of a call that worked on a model that is open. */
int exit_code_of(wb_status status);

/* For a status of a call that opens: what this version cannot read is bad input like the rest. */
int exit_code_of_opening(wb_status status);

static inline int worse(int a, int b)
{
    return a > b ? a : b;
}

#endif

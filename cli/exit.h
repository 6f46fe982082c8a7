/* exit.h: exit codes. For several paths, the command returns the highest code. docs/man/wb.1
 * documents the codes.
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

/* Returns the exit code for an error status of an operation on an open model. */
int exit_code_of(wb_status status);

/* Returns the exit code for an error status of opening a model. Unlike exit_code_of, it counts an
 * unsupported file as bad input.
 */
int exit_code_of_opening(wb_status status);

static inline int worse(int a, int b)
{
    return a > b ? a : b;
}

#endif

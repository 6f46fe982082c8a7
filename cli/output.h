/*
 * output.h: where a command writes what it makes: a file, which appears whole or not at all, or a stream, which takes
 * bytes in their order and of which nothing can be taken back.
 */
#ifndef WB_CLI_OUTPUT_H
#define WB_CLI_OUTPUT_H

#include <stdbool.h>

/* Whether it is standard output: "-", or the path that the system has for it. */
bool output_is_stdout(const char *path);

/*
 * Whether it is that, a pipe, a device or a file without a name. Ctrl-C then leaves nothing to clear up, and a reader
 * who is gone ends the command quietly.
 */
bool output_is_stream(const char *path);

#endif

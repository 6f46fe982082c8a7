/* output.h: destinations of a command's output. A file appears only when it is complete. A stream
 * receives bytes in order, and written bytes cannot be withdrawn.
 */
#ifndef WB_CLI_OUTPUT_H
#define WB_CLI_OUTPUT_H

#include <stdbool.h>

/* Returns true if the path means standard output: "-" or a system path such as /dev/stdout. */
bool output_is_stdout(const char *path);

/* Returns true for standard output, a pipe, a device or a deleted file. An interrupt (Ctrl-C) then
 * has no file to remove, and a closed pipe ends the command silently.
 */
bool output_is_stream(const char *path);

#endif

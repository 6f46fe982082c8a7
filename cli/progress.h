/* progress.h: shows the progress of long operations on standard error.
 *
 * On a terminal, a line shows the bytes done, their rate and the time left. With --progress json,
 * programs get a JSON object per line instead: {"event":"progress", path, done, total,
 * bytes_per_second, seconds, seconds_left}.
 */
#ifndef WB_CLI_PROGRESS_H
#define WB_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "weighbridge.h"

/* Detects the terminal. Without a terminal, or if it is `dumb`, nothing is shown. */
void progress_start(bool is_dumb);

/* Selects what is shown: "auto", "never" or "json". */
void progress_mode(const char *how);

/* progress_of returns a progress callback for the library, and progress_show reports the progress
 * of the command's own loops, in bytes. `what` names the path and must outlive the operation.
 */
wb_progress progress_of(const char *what);
void progress_show(const char *what, uint64_t done, uint64_t total);

/* Removes the line from the terminal, at the end of an operation and before other output. */
void progress_clear(void);

/* Same as progress_clear, in a signal handler. */
void progress_erase(void);

#endif

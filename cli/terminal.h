/* terminal.h: colours, the width of the terminal, and signals such as Ctrl-C.
 *
 * Colours are used only if standard output is a terminal, TERM is not "dumb" and NO_COLOR is not
 * set (https://no-color.org), or if --color asks for them.
 */
#ifndef WB_CLI_TERMINAL_H
#define WB_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "progress.h"
#include "weighbridge.h"

#define STYLE_NONE ""
#define STYLE_END "\033[0m"
#define STYLE_BOLD "\033[1m"
#define STYLE_DIM "\033[2m"
#define STYLE_RED "\033[1;31m"
#define STYLE_GREEN "\033[1;32m"
#define STYLE_YELLOW "\033[1;33m"

/* Detects the terminal, ignores SIGPIPE, and makes SIGINT end the command with exit code 130. */
void terminal_start(void);

/* Returns the exit code. If SIGTERM or SIGHUP interrupted the command, ends the process by that
 * signal and does not return.
 */
int terminal_end(int code);

/* Enables or disables colours: "always", "never" or "auto". */
void terminal_color(const char *when);

/* Returns the width in columns of the terminal on the descriptor; 0 if it is not a terminal. */
unsigned terminal_width(int fd);

/* Returns the number of columns that a table on standard output may have; 0: no limit, because
 * standard output is not a terminal, or because of --wide.
 */
unsigned terminal_table_width(void);
void terminal_set_wide(void);

/* Returns the escape sequence of the style if colours are enabled, else "". */
const char *style(const char *style);

/* While deferred, SIGINT, SIGTERM and SIGHUP are only recorded, so that the command can remove a
 * temporary file or finish an in-place edit. A second signal ends the process immediately.
 */
void interrupt_defer(bool defer);
bool interrupted(void);

#endif

/*
 * terminal.h: colours, the progress bar and Ctrl-C.
 *
 * Colours only where standard output is a terminal, TERM is not "dumb" and NO_COLOR is not set
 * (https://no-color.org). The bar only where standard error is a terminal, and only for what takes
 * long enough to wonder about.
 */
#ifndef WB_CLI_TERMINAL_H
#define WB_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "weighbridge.h"

#define STYLE_NONE ""
#define STYLE_END "\033[0m"
#define STYLE_BOLD "\033[1m"
#define STYLE_DIM "\033[2m"
#define STYLE_RED "\033[1;31m"
#define STYLE_GREEN "\033[1;32m"
#define STYLE_YELLOW "\033[1;33m"

/* Finds out about the terminal, ignores SIGPIPE, and lets SIGINT end the command with code 130. */
void terminal_start(void);

/* The exit code; does not return where SIGTERM or SIGHUP was what interrupted the command. */
int terminal_end(int code);

/* The style where colours are wanted, "" elsewhere. */
const char *style(const char *style);

/* For wb_verify and our own loops; `what` names the path and must live as long. */
wb_progress progress_of(const char *what);
void progress_show(const char *what, uint64_t done, uint64_t total);
void progress_clear(void);

/* While a temporary file may have to be removed, or a file is changed where it lies, SIGINT, SIGTERM and
 * SIGHUP are only noted; a second one ends at once. */
void interrupt_defer(bool defer);
bool interrupted(void);

#endif

/*
 * edit.h: the edits of config.json in a folder (edit_config.c).
 */
#ifndef WB_CLI_EDIT_H
#define WB_CLI_EDIT_H

#include "options.h"

/* Appends the text of a file. 0, or the exit code after saying why not. */
int edit_read_text(const char *path, text *to);

/* Carries the edits of the command line out on the config.json of a folder. The exit code. */
int edit_config(const arguments *args, const char *folder);

#endif

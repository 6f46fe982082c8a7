/*
 * generate.h: man pages and completion, written from the table of commands and options.
 */
#ifndef WB_CLI_GENERATE_H
#define WB_CLI_GENERATE_H

#include "options.h"
#include "out.h"

/* COMMAND_COUNT: the page about wb itself. */
void generate_man(out *o, command_id command);

void generate_bash(out *o);
void generate_zsh(out *o);
void generate_fish(out *o);

#endif

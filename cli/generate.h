/* generate.h: generates man pages and shell completion from the table of commands and options. */
#ifndef WB_CLI_GENERATE_H
#define WB_CLI_GENERATE_H

#include "options.h"
#include "out.h"

/* COMMAND_COUNT selects the page of wb itself. */
void generate_man(out *o, command_id command);

void generate_bash(out *o);
void generate_zsh(out *o);
void generate_fish(out *o);

#endif

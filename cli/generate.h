/* generate.h: generates man pages and shell completion from the table of commands and options. */
#ifndef WB_CLI_GENERATE_H
#define WB_CLI_GENERATE_H

#include "options.h"
#include "out.h"

/* Writes the man page of a command. COMMAND_COUNT selects the man page of wb itself. */
void generate_man(out *o, command_id command);

void generate_bash(out *o);
void generate_zsh(out *o);
void generate_fish(out *o);

#endif

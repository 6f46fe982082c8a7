/* generate.h: generates man pages and shell completion from the table of commands and options. */
#ifndef WB_CLI_GENERATE_H
#define WB_CLI_GENERATE_H

#include "options.h"
#include "out.h"

/* Writes the man page of a command. COMMAND_COUNT selects the man page of wb itself. */
void generate_man(out *o, command_id command);

/* Lists names for shell completion: the tensors or keys of the model at `path`, the keys that wb
 * edit can change in it, or all quantizations. Returns the exit code.
 */
int generate_names(const char *kind, const char *path);

/* Returns the kind of names that complete the argument of an option; NULL: none. If *is_pair is
 * true, the argument is NAME=VALUE.
 */
const char *generate_kind_of(option_id option, bool *is_pair);

void generate_bash(out *o);
void generate_zsh(out *o);
void generate_fish(out *o);

#endif

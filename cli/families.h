/* families.h: tables of model families that the user adds (--family, and the folder for them).
 */
#ifndef WB_CLI_FAMILIES_H
#define WB_CLI_FAMILIES_H

#include "options.h"

/* Reads the texts of the tables: the files of --family, then the files NAME.family in the folder of
 * the user, $XDG_CONFIG_HOME/weighbridge/families, which is ~/.config/weighbridge/families by
 * default. Does nothing if the command opens no model. Returns 0, or an exit code after reporting
 * the error. Called before the sandbox is entered, which prevents reading these files.
 */
int families_collect(const arguments *args);

/* Parses the texts. Called in the sandbox, because the texts may come from an untrusted source.
 * Returns 0, or an exit code after reporting the error.
 */
int families_parse(void);

/* Returns the value for wb_open_options.families; NULL if there are no tables. */
wb_families *families_opened(void);

/* Frees the tables. */
void families_end(void);

#endif

/* remote.h: models at addresses (hf://, https://, s3:// …). Every command that opens a model
 * accepts such an address in place of a path.
 */
#ifndef WB_CLI_REMOTE_H
#define WB_CLI_REMOTE_H

#include "options.h"
#include "weighbridge/net.h"

/* If an operand is an address, prepares the network, or reports an error if the command supports
 * only local files. Returns 0, or an exit code after reporting the error.
 */
int remote_start(const arguments *args);

/* Returns the value for wb_open_options.files that lets the library open addresses; NULL if no
 * operand is an address. */
const wb_files *remote_files(void);

/* Runs a command that uses the network and opens no model. `work` does the work. Reports its failure
 * and returns the exit code.
 */
int remote_run(const arguments *args,
               wb_status (*work)(const arguments *args, wb_net *net, wb_error *error));

/* Returns true if the path is the address of a directory. */
bool remote_is_folder(const char *path);

/* Closes the network, after all models. */
void remote_end(void);

#endif

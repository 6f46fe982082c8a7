/* sandbox.h: --sandbox, for files from untrusted sources.
 *
 * After sandbox_enter the process can only read the model, use memory and threads, and write to
 * standard output, standard error and the folder of its output, if the command has one. It cannot
 * start programs, read, create, modify or remove other files, make memory executable, open sockets,
 * or access other processes. An attacker who exploits a bug in the process has the same
 * restrictions.
 */
#ifndef WB_CLI_SANDBOX_H
#define WB_CLI_SANDBOX_H

#include "options.h"

/* Enters the sandbox, permanently. Returns 0, or an exit code after reporting why the sandbox is
 * unavailable. Warns if the system cannot restrict which files are read and written.
 */
int sandbox_enter(const arguments *args);

/* ---- sandbox_files.c ---- */

/* Returns the path that the command creates or changes; NULL if it creates no file, because it only
 * reads, or writes to standard output.
 */
const char *sandbox_output(const arguments *args);

/* From now on, the process can read only the files of the models that the command line names, and
 * the files that can belong to these models. It can write only to the folder of its output. Returns
 * 0 or errno.
 */
int sandbox_restrict_files(const arguments *args);

/* Closes all descriptors but 0, 1, 2 and those that the command line names as /dev/fd/N, and makes
 * standard input and the named descriptors read-only if they are regular files.
 */
void sandbox_close_descriptors(const arguments *args);

#endif

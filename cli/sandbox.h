/* sandbox.h: --sandbox, for files from untrusted sources.
 *
 * After sandbox_enter the process can only read files, use memory and threads, and write to
 * descriptors that are already open. It cannot start programs, create, modify or remove files, open
 * sockets, or access other processes. An attacker who exploits a bug in the process has the same
 * restrictions.
 */
#ifndef WB_CLI_SANDBOX_H
#define WB_CLI_SANDBOX_H

/* Enters the sandbox, permanently. Returns 0, or an exit code after reporting why the sandbox is
 * unavailable.
 */
int sandbox_enter(void);

#endif

/*
 * sandbox.h: --sandbox, for files from strangers.
 *
 * From then on the process can read files, use memory and threads and write to what is open already,
 * and nothing else: no other program is started, no file created, changed or removed, no socket
 * opened, no other process touched. Whoever takes over the process by a fault in it has that much and
 * no more.
 */
#ifndef WB_CLI_SANDBOX_H
#define WB_CLI_SANDBOX_H

/* 0, or the exit code after saying why there can be no sandbox. There is no way out of it. */
int sandbox_enter(void);

#endif

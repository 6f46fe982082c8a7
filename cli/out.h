/* out.h: buffered output that records its first error.
 *
 * After an error, further output is ignored. out_closed tells loops to stop. If the reader of a
 * pipe has closed it, that is not an error: the command ends silently with its current exit code.
 */
#ifndef WB_CLI_OUT_H
#define WB_CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

typedef struct out out;

/* Returns the buffer of standard output. */
out *out_stdout(void);

/* Opens a file that appears only when it is complete. Returns NULL after reporting an error. */
out *out_file(const char *path);

void out_write(out *o, const char *bytes, size_t n);
void out_puts(out *o, const char *string);
void out_printf(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_text(out *o, const text *t);

/* Writes text that comes from a file. If standard output is a terminal, the text is escaped as in
 * text_add_shown, except for line breaks; otherwise it is unmodified.
 */
void out_content(out *o, const char *bytes, size_t n);
void out_pad(out *o, size_t spaces);

/* Returns a JSON writer for compact output to o. Call out_json_end after each value. */
wb_json out_json(out *o);
void out_json_end(wb_json *json);

void out_flush(out *o);
bool out_closed(const out *o);

/* Returns true if anything was written to the output. */
bool out_was_used(const out *o);

/* Flushes the output. Returns `code`, or exit code 5 after reporting a write error. */
int out_finish(out *o, int code);

/* Same as out_finish for a file. The file is committed if `code` is 0. */
int out_commit(out *o, int code);

#endif

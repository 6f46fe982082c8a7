/*
 * out.h: buffered output that remembers its first failure.
 *
 * After a failure all further writing is ignored; output_closed tells loops to stop. When the
 * reader of a pipe has gone, that is no failure: the command ends quietly with the exit code it has
 * reached.
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

/* Standard output. */
out *out_stdout(void);

/* A file written whole or not at all. NULL after saying why not. */
out *out_file(const char *path);

void out_write(out *o, const char *bytes, size_t n);
void out_puts(out *o, const char *string);
void out_printf(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_text(out *o, const text *t);

/* Text out of a file as it is; for a terminal with its lines, and else as text_add_shown has it. */
void out_content(out *o, const char *bytes, size_t n);
void out_pad(out *o, size_t spaces);

/* Writes compact JSON to o; end each value with out_json_end. */
wb_json out_json(out *o);
void out_json_end(wb_json *json);

void out_flush(out *o);
bool out_closed(const out *o);

/* Whether anything was written to it. */
bool out_was_used(const out *o);

/* The exit code for what became of the output: `code`, or 5 after saying what went wrong. */
int out_finish(out *o, int code);

/* As out_finish, for a file, which is put in place if `code` is 0. */
int out_commit(out *o, int code);

#endif

/* report.h: messages on standard error, and findings as text and as JSON.
 *
 * Each message first flushes the buffer of standard output, so that the order of messages and
 * output is kept if both go to the same file.
 */
#ifndef WB_CLI_REPORT_H
#define WB_CLI_REPORT_H

#include "out.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

/* Prints "wb: " and one line. The arguments must be printable. */
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Same as report_line, and adds where to find help. Returns the exit code for usage errors. */
int report_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "wb: PATH: " and one line. The path may contain any bytes. Returns `code`. */
int report_path(int code, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Same as report_line, for a note that follows an error: --json prints the error, not the note. */
void report_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "wb: PATH: " and a question, without a line break. */
void report_question(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "wb: FILE: at byte N: "tensor": message", and the advice on a separate line. Uses `path`
 * if the error names no file.
 */
void report_error(const char *path, const wb_error *error);

/* Prints the last reported message as a JSON object, in the format of json_failure. */
void report_last_as_json(void);

/* Called at the end of the command: if JSON was requested and nothing was printed, prints the last
 * reported message as in json_failure.
 */
void report_end(bool in_json, int code);

_Noreturn void die_of_memory(void);

/* Returns the advice that the command prints for a finding. `code` and `advice` are those of the
 * library. Where the library's advice names C functions, the result names options of the command.
 */
const char *advice_of(const char *code, const char *advice);

/* Converts an error to a finding. The finding is valid as long as the error. */
wb_finding finding_of(const wb_error *error);

/* Adds FILE: at byte N: "tensor": message */
void text_add_finding(text *t, const char *path, const wb_finding *finding);

/* Adds a finding as one line with severity and code, followed by the advice on a separate line. */
void text_add_finding_line(text *t, const char *path, const wb_finding *finding);
void print_finding(out *o, const char *path, const wb_finding *finding);

void json_finding(wb_json *json, const wb_finding *finding);
void json_findings(wb_json *json, const wb_findings *findings);

const char *severity_name(wb_severity severity);

/* Version of the JSON answers: increases if a member is removed or changes its meaning. */
#define JSON_VERSION 1

/* Begins the JSON object of an answer, with the members that every answer has: schema, which is
 * "weighbridge.NAME", and version. cli/wb.schema.json describes the answers.
 */
void json_answer(wb_json *json, const char *name);

/* Prints the JSON object of --json for a path that could not be processed. */
void json_failure(const char *path, const wb_error *error);

/* Write a key and its value. json_optional writes null for an empty string. */
void json_text(wb_json *json, const char *key, const char *value);
void json_optional(wb_json *json, const char *key, const char *value);
void json_number(wb_json *json, const char *key, uint64_t value);

#endif

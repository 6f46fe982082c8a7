/*
 * report.h: what is said on standard error, and findings in their two forms.
 *
 * What stands in standard output's buffer is written first, so that the two keep their order where
 * both go to the same place.
 */
#ifndef WB_CLI_REPORT_H
#define WB_CLI_REPORT_H

#include "out.h"
#include "weighbridge.h"
#include "weighbridge/experimental.h"

/* "wb: " and a line. The arguments must be printable. */
void report_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As report_line, and where to find help; returns the exit code for it. */
int report_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "wb: PATH: " and a line, whatever bytes the path has; returns the code. */
int report_path(int code, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "wb: FILE: at byte N: "tensor": message", and the advice on a line of its own. `path` is named
 * where the error names no file. */
void report_error(const char *path, const wb_error *error);

/* What was said last, as json_failure has it. */
void report_last_as_json(void);

/* At the end: who asked for JSON and got nothing yet gets what went wrong, as json_failure has it. */
void report_end(bool in_json, int code);

_Noreturn void die_of_memory(void);

/* What an error says, as a finding. Lives as long as the error. */
wb_finding finding_of(const wb_error *error);

/* FILE: at byte N: "tensor": message */
void text_add_finding(text *t, const char *path, const wb_finding *finding);

/* A finding as a line with its severity and code, and the advice below. */
void text_add_finding_line(text *t, const char *path, const wb_finding *finding);
void print_finding(out *o, const char *path, const wb_finding *finding);

void json_finding(wb_json *json, const wb_finding *finding);
void json_findings(wb_json *json, const wb_findings *findings);

const char *severity_name(wb_severity severity);

/* The object that --json gives for a path of which nothing else can be said. */
void json_failure(const char *path, const wb_error *error);

/* A key and its value. An optional text that is empty is null. */
void json_text(wb_json *json, const char *key, const char *value);
void json_optional(wb_json *json, const char *key, const char *value);
void json_number(wb_json *json, const char *key, uint64_t value);

#endif

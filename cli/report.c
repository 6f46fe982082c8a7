#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit.h"
#include "terminal.h"

int exit_code_of(wb_status status)
{
    switch (status) {
    case WB_OK: return EXIT_CLEAN;
    case WB_ERROR_FORMAT:
    case WB_ERROR_LIMIT: return EXIT_BAD_INPUT;
    case WB_ERROR_UNSUPPORTED: return EXIT_UNSUPPORTED;
    case WB_ERROR_ARGUMENT:
    case WB_ERROR_TYPE: return EXIT_USAGE;
    case WB_ERROR_CANCELLED: return EXIT_INTERRUPTED;
    case WB_ERROR_MEMORY:
    case WB_ERROR_IO:
    case WB_ERROR_NOT_FOUND:
    case WB_ERROR_CHANGED: break;
    }
    return EXIT_IO;
}

int exit_code_of_opening(wb_status status)
{
    return status == WB_ERROR_UNSUPPORTED ? EXIT_BAD_INPUT : exit_code_of(status);
}

/* ---- the last message, for JSON output ---- */

static struct {
    text path;
    wb_error error;
} last;

static void remember(const char *path, const wb_error *error)
{
    text_free(&last.path);
    last.path = (text){0};
    if (path != NULL)
        text_adds(&last.path, path);
    last.error = *error;
}

/* Remembers a message: its first line, and an optional second line with advice. */
static void remember_line(const char *path, const char *line)
{
    static const char between[] = "\n    ";
    wb_error error = {.code = "command", .offset = WB_NO_OFFSET};
    const char *advice = strstr(line, between);
    size_t n = advice == NULL ? strlen(line) : (size_t)(advice - line);
    (void)snprintf(error.message, sizeof error.message, "%.*s", (int)n, line);
    if (advice != NULL)
        (void)snprintf(error.advice, sizeof error.advice, "%s", advice + strlen(between));
    remember(path, &error);
}

void report_last_as_json(void)
{
    json_failure(last.path.ptr == NULL ? "" : last.path.ptr, &last.error);
}

void report_end(bool in_json, int code)
{
    if (in_json && code >= EXIT_BAD_INPUT && code <= EXIT_IO && !out_was_used(out_stdout()))
        report_last_as_json();
    text_free(&last.path);
}

/* ---- standard error ---- */

static void write_error(const text *t)
{
    progress_clear();
    out_flush(out_stdout());
    const char *bytes = t->ptr;
    size_t n = t->len;
    while (n > 0) {
        ssize_t done = write(STDERR_FILENO, bytes, n);
        if (done < 0 && errno != EINTR)
            return; /* standard error is closed */
        bytes += done < 0 ? 0 : done;
        n -= done < 0 ? 0 : (size_t)done;
    }
}

static void add_list(text *t, const char *format, va_list list)
{
    char small[2048];
    (void)vsnprintf(small, sizeof small, format, list);
    text_add_message(t, small);
}

/* Adds a printable path; an empty path is shown as ''. */
static void add_path(text *t, const char *path)
{
    if (path[0] == '\0')
        text_adds(t, "''");
    else
        text_add_shown(t, path, strlen(path));
}

/* Prints "wb: PATH: message" followed by `end`. `path` may be NULL. */
static void report_list(const char *path, const char *format, va_list list, const char *end)
{
    text line = {0};
    text_adds(&line, "wb: ");
    if (path != NULL) {
        add_path(&line, path);
        text_adds(&line, ": ");
    }
    size_t front = line.len;
    add_list(&line, format, list);
    remember_line(path, line.ptr + front);
    text_adds(&line, end);
    write_error(&line);
    text_free(&line);
}

void report_line(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list(NULL, format, list, "\n");
    va_end(list);
}

int report_usage(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list(NULL, format, list,
                "\n    Type 'wb help' for the commands, 'wb help COMMAND' for one of them.\n");
    va_end(list);
    return EXIT_USAGE;
}

int report_path(int code, const char *path, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list(path, format, list, "\n");
    va_end(list);
    return code;
}

void report_note(const char *format, ...)
{
    va_list list;
    text line = {0};
    va_start(list, format);
    text_adds(&line, "wb: ");
    add_list(&line, format, list);
    text_adds(&line, "\n");
    va_end(list);
    write_error(&line);
    text_free(&line);
}

void report_question(const char *path, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list(path, format, list, " ");
    va_end(list);
}

void report_error(const char *path, const wb_error *error)
{
    wb_finding finding = finding_of(error);
    text line = {0};
    remember(path, error);
    text_adds(&line, "wb: ");
    text_add_finding(&line, path, &finding);
    const char *advice = advice_of(finding.code, finding.advice);
    if (advice[0] != '\0')
        text_addf(&line, "\n    %s", advice);
    text_adds(&line, "\n");
    write_error(&line);
    text_free(&line);
}

void die_of_memory(void)
{
    static const char message[] = "wb: out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(EXIT_IO);
}

/* ---- findings ---- */

wb_finding finding_of(const wb_error *error)
{
    return (wb_finding){.size = sizeof(wb_finding),
                        .severity = WB_FATAL,
                        .code = error->code == NULL ? "" : error->code,
                        .file = error->file,
                        .name = error->name,
                        .message = error->message,
                        .advice = error->advice,
                        .offset = error->offset};
}

const char *severity_name(wb_severity severity)
{
    switch (severity) {
    case WB_INFO: return "info";
    case WB_WARNING: return "warning";
    case WB_SEVERE: return "error";
    case WB_FATAL: return "fatal";
    }
    return "unknown";
}

void text_add_finding(text *t, const char *path, const wb_finding *finding)
{
    if (finding->file[0] != '\0')
        text_adds(t, finding->file); /* already printable, like name and message */
    else
        add_path(t, path);
    text_adds(t, ": ");
    if (finding->offset != WB_NO_OFFSET)
        text_addf(t, "at byte %llu: ", (unsigned long long)finding->offset);
    if (finding->name[0] != '\0')
        text_addf(t, "\"%s\": ", finding->name);
    text_adds(t, finding->message);
}

void text_add_finding_line(text *t, const char *path, const wb_finding *finding)
{
    static const char *const colors[] = {STYLE_NONE, STYLE_YELLOW, STYLE_RED, STYLE_RED};
    text_addf(t, "%s%s%s: ", style(colors[finding->severity & 3]), severity_name(finding->severity),
              style(STYLE_END));
    text_add_finding(t, path, finding);
    text_addf(t, " [%s]\n", finding->code);
    const char *advice = advice_of(finding->code, finding->advice);
    if (advice[0] != '\0')
        text_addf(t, "    %s\n", advice);
}

void print_finding(out *o, const char *path, const wb_finding *finding)
{
    text line = {0};
    text_add_finding_line(&line, path, finding);
    out_text(o, &line);
    text_free(&line);
}

/* ---- JSON ---- */

void json_answer(wb_json *json, const char *name)
{
    text schema = {0};
    text_addf(&schema, "weighbridge.%s", name);
    wb_json_begin(json, '{');
    json_text(json, "schema", schema.ptr);
    json_number(json, "version", JSON_VERSION);
    text_free(&schema);
}

void json_text(wb_json *json, const char *key, const char *value)
{
    wb_json_key(json, key, SIZE_MAX);
    wb_json_string(json, value, SIZE_MAX);
}

void json_number(wb_json *json, const char *key, uint64_t value)
{
    wb_json_key(json, key, SIZE_MAX);
    wb_json_uint(json, value);
}

void json_optional(wb_json *json, const char *key, const char *value)
{
    wb_json_key(json, key, SIZE_MAX);
    if (value[0] == '\0')
        wb_json_null(json);
    else
        wb_json_string(json, value, SIZE_MAX);
}

void json_finding(wb_json *json, const wb_finding *finding)
{
    wb_json_begin(json, '{');
    json_text(json, "severity", severity_name(finding->severity));
    json_text(json, "code", finding->code);
    json_optional(json, "file", finding->file);
    wb_json_key(json, "offset", SIZE_MAX);
    if (finding->offset == WB_NO_OFFSET)
        wb_json_null(json);
    else
        wb_json_uint(json, finding->offset);
    json_optional(json, "name", finding->name);
    json_text(json, "message", finding->message);
    json_optional(json, "advice", advice_of(finding->code, finding->advice));
    wb_json_end(json, '}');
}

void json_findings(wb_json *json, const wb_findings *findings)
{
    wb_json_key(json, "findings", SIZE_MAX);
    wb_json_begin(json, '[');
    for (uint64_t i = 0; i < wb_findings_count(findings); i++) {
        wb_finding finding = WB_FINDING_INIT;
        if (wb_findings_at(findings, i, &finding) == WB_OK)
            json_finding(json, &finding);
    }
    wb_json_end(json, ']');
}

void json_failure(const char *path, const wb_error *error)
{
    wb_json json = out_json(out_stdout());
    wb_finding finding = finding_of(error);
    json_answer(&json, "failure");
    json_optional(&json, "path", path);
    wb_json_key(&json, "error", SIZE_MAX);
    json_finding(&json, &finding);
    wb_json_end(&json, '}');
    out_json_end(&json);
}

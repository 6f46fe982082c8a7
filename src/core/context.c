#define _POSIX_C_SOURCE 200809L /* for the strerror_r that returns an int */
#include "core/context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* context.h replaces these functions by macros for the static analyser. */
#undef wb__fail
#undef wb__fail_os
#undef wb__fail_memory

typedef struct finding_text {
    const char *code;
    const char *advice;
} finding_text;

#define WB__FINDING(name, code, advice) {code, advice},
static const finding_text texts[] = {
#include "core/core_messages.h"
#include "core/findings.def"
};
#undef WB__FINDING

const char *wb__finding_code(wb__finding_id id)
{
    return texts[id].code;
}

const char *wb__finding_advice(wb__finding_id id)
{
    return texts[id].advice;
}

/* ---- findings ---- */

void wb__findings_init(wb_findings *findings, const wb_allocator *allocator)
{
    memset(findings, 0, sizeof *findings);
    findings->allocator = *allocator;
    findings->arena.allocator = &findings->allocator;
}

void wb__findings_clear(wb_findings *findings)
{
    wb__free(&findings->allocator, findings->list, findings->capacity * sizeof *findings->list);
    wb__arena_free(&findings->arena);
    findings->list = NULL;
    findings->count = findings->capacity = 0;
}

/*
 * Limit on the number of findings. A hostile file can cause a finding with every few bytes, and
 * findings after the first thousand give the user no further information.
 */
#define FINDINGS_CEILING ((size_t)1000)

static bool is_left_out(const wb_findings *findings, wb_severity severity)
{
    return findings->count >= FINDINGS_CEILING && severity < WB_FATAL;
}

bool wb__findings_add(wb_findings *findings, const wb_finding *finding)
{
    if (is_left_out(findings, finding->severity))
        return true;
    if (!wb__grow(&findings->allocator, (void **)&findings->list, &findings->capacity,
                  sizeof *findings->list, findings->count + 1, FINDINGS_CEILING + 1))
        return false;
    wb_finding copy = *finding;
    copy.size = sizeof copy;
    copy.file = wb__arena_copy(&findings->arena, finding->file, strlen(finding->file));
    copy.name = wb__arena_copy(&findings->arena, finding->name, strlen(finding->name));
    copy.message = wb__arena_copy(&findings->arena, finding->message, strlen(finding->message));
    copy.advice = wb__arena_copy(&findings->arena, finding->advice, strlen(finding->advice));
    if (copy.file == NULL || copy.name == NULL || copy.message == NULL || copy.advice == NULL)
        return false;
    findings->list[findings->count++] = copy;
    return true;
}

bool wb__findings_add_error(wb_findings *findings, const wb_error *error, wb_severity severity)
{
    wb_finding finding = {.size = sizeof finding,
                          .severity = severity,
                          .code = error->code,
                          .file = error->file,
                          .name = error->name,
                          .message = error->message,
                          .advice = error->advice,
                          .offset = error->offset};
    return wb__findings_add(findings, &finding);
}

/* ---- errors ---- */

static void clear(wb_error *error)
{
    error->status = WB_OK;
    error->os_error = 0;
    error->offset = WB_NO_OFFSET;
    error->code = "";
    error->file[0] = error->name[0] = error->message[0] = error->advice[0] = '\0';
}

wb_error *wb__error_reset(wb_error *error, wb_error *spare)
{
    if (error == NULL)
        error = spare;
    clear(error);
    return error;
}

WB__PRINTF(7, 0)
static void fill(wb_error *error, const char *file, wb_status status, wb__finding_id id,
                 uint64_t offset, wb__str name, const char *format, va_list arguments)
{
    clear(error);
    error->status = status;
    error->offset = offset;
    error->code = wb__finding_code(id);
    wb__printable(error->file, sizeof error->file, wb__str_from(file, SIZE_MAX));
    wb__printable(error->name, sizeof error->name, name);
    char message[sizeof error->message];
    (void)vsnprintf(message, sizeof message, format, arguments);
    wb__printable_message(error->message, sizeof error->message, wb__str_from(message, SIZE_MAX));
    (void)snprintf(error->advice, sizeof error->advice, "%s", wb__finding_advice(id));
}

wb_status wb__fail(wb__context *context, wb_status status, wb__finding_id id, uint64_t offset,
                   wb__str name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(context->error, context->file, status, id, offset, name, format, arguments);
    va_end(arguments);
    return status;
}

wb_status wb__fail_os(wb__context *context, int os_error, const char *what)
{
    wb_status status = os_error == ENOMEM                          ? WB_ERROR_MEMORY
                       : os_error == ENOENT || os_error == ENOTDIR ? WB_ERROR_NOT_FOUND
                                                                   : WB_ERROR_IO;
    char reason[128];
    if (strerror_r(os_error, reason, sizeof reason) != 0)
        (void)snprintf(reason, sizeof reason, "error %d", os_error);
    (void)wb__fail(context, status,
                   status == WB_ERROR_NOT_FOUND ? WB__FINDING_NOT_FOUND : WB__FINDING_IO,
                   WB_NO_OFFSET, WB__STR(""), "%s: %s", what, reason);
    context->error->os_error = (uint32_t)os_error;
    return status;
}

wb_status wb__fail_memory(wb__context *context)
{
    return wb__fail(context, WB_ERROR_MEMORY, WB__FINDING_OUT_OF_MEMORY, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_OUT_OF_MEMORY);
}

WB__PRINTF(6, 0)
static wb_status note(wb__context *context, wb_severity severity, wb__finding_id id,
                      uint64_t offset, wb__str name, const char *format, va_list arguments)
{
    /* Do not format a finding that will be discarded: formatting costs more than parsing. */
    if (context->findings == NULL || is_left_out(context->findings, severity))
        return WB_OK;
    wb_error as_error;
    fill(&as_error, context->file, WB_OK, id, offset, name, format, arguments);
    if (!wb__findings_add_error(context->findings, &as_error, severity))
        return wb__fail_memory(context);
    return WB_OK;
}

wb_status wb__note(wb__context *context, wb_severity severity, wb__finding_id id, uint64_t offset,
                   wb__str name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    wb_status status = note(context, severity, id, offset, name, format, arguments);
    va_end(arguments);
    return status;
}

wb_status wb__deviation(wb__context *context, wb__finding_id id, uint64_t offset, wb__str name,
                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    wb_status status = WB_ERROR_FORMAT;
    if (context->compatible)
        status = note(context, WB_INFO, id, offset, name, format, arguments);
    else
        fill(context->error, context->file, status, id, offset, name, format, arguments);
    va_end(arguments);
    return status;
}

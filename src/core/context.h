/*
 * core/context.h: what one operation carries through all rooms.
 *
 * The caller's allocator, executor and limits; how lenient to be; the file in hand; the error to
 * fill; the findings made on the way. A function that fails calls wb__fail and returns its result,
 * so that the place that knows what is wrong is the place that says it.
 *
 * Findings that do not end the operation are noted with wb__note. What the specification forbids and
 * the reference implementation accepts goes through wb__deviation: an error as a rule, a note for a
 * caller who asked for compatibility.
 */
#ifndef WB_CORE_CONTEXT_H
#define WB_CORE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"
#include "core/text.h"
#include "weighbridge/base.h"
#include "weighbridge/verify.h"

#define WB__FINDING(name, code, advice) WB__FINDING_##name,
typedef enum wb__finding_id {
#include "core/findings.def"
    WB__FINDING_COUNT
} wb__finding_id;
#undef WB__FINDING

const char *wb__finding_code(wb__finding_id id);
const char *wb__finding_advice(wb__finding_id id);

/* wb_findings: a list that grows; all its strings lie in its arena. */
struct wb_findings {
    wb_allocator allocator;
    wb__arena arena;
    struct wb_finding *list;
    size_t count;
    size_t capacity;
};

void wb__findings_init(wb_findings *findings, const wb_allocator *allocator);
void wb__findings_clear(wb_findings *findings); /* frees what it holds, not itself */

/* Appends a copy of a finding; false when memory is out. */
bool wb__findings_add(wb_findings *findings, const wb_finding *finding);

/* Appends what an error says, as a finding of the given severity; false when memory is out. */
bool wb__findings_add_error(wb_findings *findings, const wb_error *error, wb_severity severity);

typedef struct wb__context {
    wb_allocator allocator;
    wb_executor executor; /* parallel_for is NULL for serial */
    wb_limits limits;
    bool compatible;       /* WB_OPEN_COMPATIBLE */
    const char *store;     /* wb_open_options.store */
    const char *file;      /* the file in hand, for messages; "" for none */
    wb_error *error;       /* never NULL */
    wb_findings *findings; /* NULL: findings are not kept */
} wb__context;

#if defined(__GNUC__)
#define WB__PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define WB__PRINTF(text, first)
#endif

/*
 * Fills context->error and returns `status`. `offset` is WB_NO_OFFSET and `name` empty where they do
 * not apply. The message is a sentence without the file's name, offset and advice, which travel
 * beside it.
 */
wb_status wb__fail(wb__context *context, wb_status status, wb__finding_id id, uint64_t offset,
                   wb__str name, const char *format, ...) WB__PRINTF(6, 7);

/* As wb__fail with WB_ERROR_IO, for a system call that just failed with `os_error`. */
wb_status wb__fail_os(wb__context *context, int os_error, const char *what);

wb_status wb__fail_memory(wb__context *context);

/* Notes something that does not end the operation. WB_OK, or MEMORY. */
wb_status wb__note(wb__context *context, wb_severity severity, wb__finding_id id, uint64_t offset,
                   wb__str name, const char *format, ...) WB__PRINTF(6, 7);

/* FORMAT as a rule; in compatible mode an info, and WB_OK. */
wb_status wb__deviation(wb__context *context, wb__finding_id id, uint64_t offset, wb__str name,
                        const char *format, ...) WB__PRINTF(5, 6);

#ifdef __clang_analyzer__
/* What the analyser cannot see from one file: a failure is never WB_OK. */
#define wb__fail(context, status, ...) (wb__fail(context, status, __VA_ARGS__), (status))
#define wb__fail_os(context, os_error, what) (wb__fail_os(context, os_error, what), WB_ERROR_IO)
#define wb__fail_memory(context) (wb__fail_memory(context), WB_ERROR_MEMORY)
#endif

/* A cleared error for callers that pass none, and the error itself otherwise. */
wb_error *wb__error_reset(wb_error *error, wb_error *spare);

#endif

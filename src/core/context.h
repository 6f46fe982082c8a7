/*
 * core/context.h: the state of one operation, passed to all modules.
 *
 * It holds the caller's allocator, executor and limits, the compatibility mode, the name of the
 * current file, the error to fill and the list of findings. A function that fails calls wb__fail
 * and returns its result, so that the message is written where the error is detected.
 *
 * Findings that do not end the operation are reported with wb__note. Input that violates the
 * specification but is accepted by the reference implementation is reported with wb__deviation: an
 * error by default, a finding if the caller asked for compatibility.
 */
#ifndef WB_CORE_CONTEXT_H
#define WB_CORE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"
#include "core/text.h"
#include "weighbridge/base.h"
#include "weighbridge/model.h"
#include "weighbridge/verify.h"

#define WB__FINDING(name, code, advice) WB__FINDING_##name,
typedef enum wb__finding_id {
#include "core/findings.def"
    WB__FINDING_COUNT
} wb__finding_id;
#undef WB__FINDING

const char *wb__finding_code(wb__finding_id id);
const char *wb__finding_advice(wb__finding_id id);

/* A growable list of findings. All strings of the findings are allocated in `arena`. */
struct wb_findings {
    wb_allocator allocator;
    wb__arena arena;
    struct wb_finding *list;
    size_t count;
    size_t capacity;
};

void wb__findings_init(wb_findings *findings, const wb_allocator *allocator);
void wb__findings_clear(wb_findings *findings); /* frees the contents, not the struct itself */

/* Appends a copy of a finding. Returns false if memory runs out. */
bool wb__findings_add(wb_findings *findings, const wb_finding *finding);

/* Appends an error as a finding with the given severity. Returns false if memory runs out. */
bool wb__findings_add_error(wb_findings *findings, const wb_error *error, wb_severity severity);

typedef struct wb__context {
    wb_allocator allocator;
    wb_executor executor; /* parallel_for is NULL for serial execution */
    wb_limits limits;
    bool compatible;       /* the flag WB_OPEN_COMPATIBLE was given */
    bool follow_links;     /* the flag WB_OPEN_FOLLOW_LINKS was given */
    bool copy_on_write;    /* the flag WB_OPEN_COPY_ON_WRITE was given */
    bool stored;           /* the flag WB_OPEN_STORED was given */
    const char *store;     /* wb_open_options.store */
    wb_families *families; /* wb_open_options.families */
    wb_files files;        /* wb_open_options.files; `owns` is NULL if there are none */
    const char *file;      /* name of the current file, for messages; "" if there is none */
    wb_error *error;       /* never NULL */
    wb_findings *findings; /* NULL: findings are discarded */
} wb__context;

#if defined(__GNUC__)
#define WB__PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define WB__PRINTF(text, first)
#endif

/*
 * Fills context->error and returns `status`. Pass WB_NO_OFFSET and an empty `name` if there is no
 * offset or name to report. The message must not contain the file name, the offset or the advice:
 * wb_error has separate members for them.
 */
wb_status wb__fail(wb__context *context, wb_status status, wb__finding_id id, uint64_t offset,
                   wb__str name, const char *format, ...) WB__PRINTF(6, 7);

/*
 * As wb__fail, for a system call that failed with `os_error` (an errno value). The status is
 * WB_ERROR_MEMORY for ENOMEM, WB_ERROR_NOT_FOUND for ENOENT and ENOTDIR, and WB_ERROR_IO for all
 * other values. `what` describes the failed operation.
 */
wb_status wb__fail_os(wb__context *context, int os_error, const char *what);

wb_status wb__fail_memory(wb__context *context);

/* Reports a finding that does not end the operation. Returns WB_OK, or WB_ERROR_MEMORY. */
wb_status wb__note(wb__context *context, wb_severity severity, wb__finding_id id, uint64_t offset,
                   wb__str name, const char *format, ...) WB__PRINTF(6, 7);

/* Fails with WB_ERROR_FORMAT by default. In compatible mode, adds a finding of severity info and
 * returns WB_OK. */
wb_status wb__deviation(wb__context *context, wb__finding_id id, uint64_t offset, wb__str name,
                        const char *format, ...) WB__PRINTF(5, 6);

#ifdef __clang_analyzer__
/* The static analyser sees only one file at a time. These macros show it that wb__fail never
 * returns WB_OK. */
#define wb__fail(context, status, ...) (wb__fail(context, status, __VA_ARGS__), (status))
#define wb__fail_os(context, os_error, what) (wb__fail_os(context, os_error, what), WB_ERROR_IO)
#define wb__fail_memory(context) (wb__fail_memory(context), WB_ERROR_MEMORY)
#endif

/* Clears *error and returns `error`. If `error` is NULL, clears *spare and returns `spare`. */
wb_error *wb__error_reset(wb_error *error, wb_error *spare);

#endif

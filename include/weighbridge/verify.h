/*
 * weighbridge/verify.h: findings, and verifying a model.
 */
#ifndef WEIGHBRIDGE_VERIFY_H
#define WEIGHBRIDGE_VERIFY_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wb_severity {
    WB_INFO = 0,    /* informational; does not affect the verdict */
    WB_WARNING = 1, /* usable, but deviates from what is expected */
    WB_SEVERE = 2,  /* values are damaged or doubtful */
    WB_FATAL = 3    /* refused: the model cannot be opened */
} wb_severity;

typedef struct wb_finding {
    size_t size; /* sizeof(wb_finding) */
    wb_severity severity;
    uint32_t reserved;   /* 0 */
    const char *code;    /* stable identifier, see docs/findings.md; static */
    const char *file;    /* path, or empty; strings live as long as the findings */
    const char *name;    /* tensor or key, escaped as in wb_error; or empty */
    const char *message; /* description of the problem */
    const char *advice;  /* what to do; may be empty */
    uint64_t offset;     /* in bytes from the start of the file, or WB_NO_OFFSET */
} wb_finding;
#define WB_FINDING_INIT WB_INIT(wb_finding)

/* Returns the findings from opening the model. Borrowed until wb_close. */
WB_API const wb_findings *wb_model_findings(const wb_model *model);

WB_API uint64_t wb_findings_count(const wb_findings *findings);
WB_API wb_status wb_findings_at(const wb_findings *findings, uint64_t index,
                                wb_finding *finding) WB_MUST_CHECK;

/*
 * Returns 0 if the model is valid (at most WB_INFO), 1 for warnings or damaged values, 2 if it was
 * refused.
 */
WB_API int wb_findings_verdict(const wb_findings *findings);

/*
 * Releases findings returned by wb_verify or wb_verify_model, not those of a model. NULL is
 * ignored.
 */
WB_API void wb_findings_free(wb_findings *findings);

/* Read all bytes of the tensors instead of the first `data_budget`. */
#define WB_VERIFY_DEEP 1u

typedef struct wb_verify_options {
    size_t size;                 /* sizeof(wb_verify_options) */
    const wb_open_options *open; /* NULL: defaults; the access mode is always READ */
    uint32_t flags;              /* WB_VERIFY_* */
    uint64_t data_budget;        /* bytes of tensor data to read, 0: 64 MiB */
    const wb_progress *progress; /* NULL: none */
    /*
     * path of a manifest (wb_hash_manifest); all bytes of the files are compared with it; NULL:
     * none
     */
    const char *manifest;
} wb_verify_options;
#define WB_VERIFY_OPTIONS_INIT WB_INIT(wb_verify_options)

/*
 * Verifies the model at `path`: structure, bounds of all tensors, index against files, then the
 * values (NaN and infinity) within the budget. Returns findings even if the model cannot be opened;
 * the reason is then the finding with severity WB_FATAL.
 *
 * findings  owned, release with wb_findings_free
 *
 * Fails only if no verdict is possible: MEMORY, IO, NOT_FOUND, CANCELLED, ARGUMENT.
 */
WB_API wb_status wb_verify(const char *path, const wb_verify_options *options,
                           wb_findings **findings, wb_error *error) WB_MUST_CHECK;

/* As wb_verify, for a model that is already open. */
WB_API wb_status wb_verify_model(const wb_model *model, const wb_verify_options *options,
                                 wb_findings **findings, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif

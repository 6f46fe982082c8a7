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
    WB_INFO = 0,    /* worth knowing; never changes a verdict */
    WB_WARNING = 1, /* usable, but something is not as it should be */
    WB_SEVERE = 2,  /* the values themselves are damaged or doubtful */
    WB_FATAL = 3    /* refused: there is no model */
} wb_severity;

typedef struct wb_finding {
    size_t size; /* sizeof(wb_finding) */
    wb_severity severity;
    const char *code;    /* stable identifier, see docs/findings.md; static */
    const char *file;    /* empty where none is concerned; strings live as long as the findings */
    const char *name;    /* tensor or key, printable as in wb_error; empty where none */
    const char *message; /* what was seen */
    const char *advice;  /* what to do, empty where there is nothing to say */
    uint64_t offset;     /* in bytes from the start of the file, or WB_NO_OFFSET */
} wb_finding;
#define WB_FINDING_INIT WB_INIT(wb_finding)

/* What opening the model saw. Borrowed until wb_close. */
WB_API const wb_findings *wb_model_findings(const wb_model *model);

WB_API uint64_t wb_findings_count(const wb_findings *findings);
WB_API wb_status wb_findings_at(const wb_findings *findings, uint64_t index,
                                wb_finding *finding) WB_MUST_CHECK;

/* 0: sound, at most infos. 1: warnings or errors in values. 2: refused. */
WB_API int wb_findings_verdict(const wb_findings *findings);

/* Releases findings that wb_verify gave; not those of a model. NULL is ignored. */
WB_API void wb_findings_free(wb_findings *findings);

/* Read every byte of the tensors, not just the first `data_budget`. */
#define WB_VERIFY_DEEP 1u

typedef struct wb_verify_options {
    size_t size;                 /* sizeof(wb_verify_options) */
    const wb_open_options *open; /* NULL: defaults; the access mode is always READ */
    uint32_t flags;              /* WB_VERIFY_* */
    uint64_t data_budget;        /* bytes of tensor data to read, 0: 64 MiB */
    const wb_progress *progress; /* NULL: none */
    const char *manifest; /* path of a manifest (wb_hash_manifest) to check the files against,
                                    all of their bytes; NULL: none */
} wb_verify_options;
#define WB_VERIFY_OPTIONS_INIT WB_INIT(wb_verify_options)

/*
 * Checks the model at `path`: structure, the extent of every tensor, index against files, then the
 * values (NaN and infinity) as far as the budget goes. Gives findings whether or not the model could
 * be opened; what made opening fail is the finding of severity WB_FATAL.
 *
 * findings  owned, release with wb_findings_free
 *
 * Fails only where no verdict is possible: MEMORY, IO, NOT_FOUND, CANCELLED, ARGUMENT.
 */
WB_API wb_status wb_verify(const char *path, const wb_verify_options *options,
                           wb_findings **findings, wb_error *error) WB_MUST_CHECK;

/* As wb_verify, for a model that is open already. */
WB_API wb_status wb_verify_model(const wb_model *model, const wb_verify_options *options,
                                 wb_findings **findings, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif

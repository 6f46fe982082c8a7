/*
 * weighbridge/verify.h: verifying a model, and findings, which describe the problems of a model.
 */
#ifndef WEIGHBRIDGE_VERIFY_H
#define WEIGHBRIDGE_VERIFY_H

#include "weighbridge/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wb_severity {
    WB_INFO = 0,    /* information that does not affect the verdict */
    WB_WARNING = 1, /* the model is usable, but something is not as expected */
    WB_SEVERE = 2,  /* values of the model are damaged or doubtful */
    WB_FATAL =
        3 /* the model is refused: it cannot be opened, or is not the file that it should be */
} wb_severity;

/* A problem of a model, or other information about it. Strings live as long as the findings. */
typedef struct wb_finding {
    size_t size; /* sizeof(wb_finding) */
    wb_severity severity;
    uint32_t reserved;   /* 0 */
    const char *code;    /* stable identifier of the problem, see docs/findings.md; static */
    const char *file;    /* path of the file, or empty */
    const char *name;    /* name of the tensor or key, escaped as in wb_error; or empty */
    const char *message; /* description of the problem */
    const char *advice;  /* what to do; may be empty */
    uint64_t offset;     /* file offset of the problem, in bytes, or WB_NO_OFFSET */
} wb_finding;
#define WB_FINDING_INIT WB_INIT(wb_finding)

/* Returns the findings from opening the model. Borrowed until wb_close. */
WB_API const wb_findings *wb_model_findings(const wb_model *model);

/* Return the number of findings, and describe the finding at `index`. */
WB_API uint64_t wb_findings_count(const wb_findings *findings);
WB_API wb_status wb_findings_at(const wb_findings *findings, uint64_t index,
                                wb_finding *finding) WB_MUST_CHECK;

/*
 * Returns 0 if the model is valid (no finding above WB_INFO), 1 if a finding is a WB_WARNING or
 * WB_SEVERE, 2 if the model was refused (WB_FATAL).
 */
WB_API int wb_findings_verdict(const wb_findings *findings);

/*
 * Frees findings of wb_verify or wb_verify_model, but not those of wb_model_findings. NULL is
 * ignored.
 */
WB_API void wb_findings_free(wb_findings *findings);

/* Read all bytes of the tensors instead of the first wb_verify_options.data_budget bytes. */
#define WB_VERIFY_DEEP 1u

typedef struct wb_verify_options {
    size_t size;                 /* sizeof(wb_verify_options) */
    const wb_open_options *open; /* NULL: defaults; the access mode is always READ */
    uint32_t flags;              /* WB_VERIFY_* */
    uint64_t data_budget;        /* number of bytes of tensor data to read; 0: 64 MiB */
    const wb_progress *progress; /* NULL: none */
    /*
     * path of a manifest (wb_hash_manifest): all bytes of the files are compared with its digests;
     * NULL: none
     */
    const char *manifest;
    /*
     * the text of a manifest, which need not end with NUL; `manifest` is then only a name for
     * messages, or NULL; NULL: none
     */
    const char *manifest_text;
    size_t manifest_bytes; /* length of manifest_text */
} wb_verify_options;
#define WB_VERIFY_OPTIONS_INIT WB_INIT(wb_verify_options)

/*
 * Verifies the model at `path`: the structure of the files, the bounds of all tensors, the shard
 * index against the files, and then up to data_budget bytes of values, which should not be NaN or
 * infinite. Returns findings even if the model cannot be opened; a finding with severity WB_FATAL
 * then describes the reason.
 *
 * findings  owned, release with wb_findings_free
 *
 * Fails only if no verdict is possible: MEMORY, IO, NOT_FOUND, CANCELLED, ARGUMENT.
 */
WB_API wb_status wb_verify(const char *path, const wb_verify_options *options,
                           wb_findings **findings, wb_error *error) WB_MUST_CHECK;

/* Verifies an open model like wb_verify. */
WB_API wb_status wb_verify_model(const wb_model *model, const wb_verify_options *options,
                                 wb_findings **findings, wb_error *error) WB_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif

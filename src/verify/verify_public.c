#include "core/call_options.h"
#include "hash/hash.h"
#include "open/open.h"
#include "verify/verify.h"
#include "verify/verify_messages.h"

const wb_findings *wb_model_findings(const wb_model *model)
{
    return &model->findings;
}

uint64_t wb_findings_count(const wb_findings *findings)
{
    return findings->count;
}

wb_status wb_findings_at(const wb_findings *findings, uint64_t index, wb_finding *caller)
{
    wb_finding own, *finding = WB__OUT(wb_finding, caller, &own);
    if (finding == NULL)
        return WB_ERROR_ARGUMENT;
    if (index >= findings->count)
        return WB_ERROR_NOT_FOUND;
    *finding = findings->list[index];
    finding->size = sizeof *finding;
    WB__GIVE(wb_finding, caller, finding);
    return WB_OK;
}

int wb_findings_verdict(const wb_findings *findings)
{
    int verdict = 0;
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->list[i].severity == WB_FATAL)
            return 2;
        if (findings->list[i].severity > WB_INFO)
            verdict = 1;
    }
    return verdict;
}

void wb_findings_free(wb_findings *findings)
{
    if (findings == NULL)
        return;
    wb_allocator allocator = findings->allocator;
    wb__findings_clear(findings);
    wb__free(&allocator, findings, sizeof *findings);
}

/* ---- verifying ---- */

/* Copies the caller's options, which may be NULL, to *options, which holds the defaults. */
static wb_status take_options(wb__context *context, const wb_verify_options *caller,
                              wb_verify_options *options)
{
    if (!WB__TAKE(wb_verify_options, caller, options))
        return WB__FAIL_SIZE(context, wb_verify_options, caller);
    if (options->flags & ~WB_VERIFY_DEEP)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_VERIFY_OPTIONS_FLAGS);
    return WB_OK;
}

static wb_findings *new_findings(const wb_allocator *allocator)
{
    wb_findings *findings = wb__alloc(allocator, sizeof *findings);
    if (findings != NULL)
        wb__findings_init(findings, allocator);
    return findings;
}

static bool has_manifest(const wb_verify_options *options)
{
    return options->manifest != NULL || options->manifest_text != NULL;
}

static wb__manifest_source manifest_of(const wb_verify_options *options)
{
    return (wb__manifest_source){options->manifest == NULL ? "" : options->manifest,
                                 options->manifest_text, options->manifest_bytes};
}

/* Returns true if the error is about the model, not about this machine or this call. */
static bool is_verdict(wb_status status)
{
    return status == WB_ERROR_FORMAT || status == WB_ERROR_LIMIT || status == WB_ERROR_UNSUPPORTED;
}

wb_status wb_verify_model(const wb_model *model, const wb_verify_options *caller, wb_findings **out,
                          wb_error *error)
{
    wb_verify_options own = {.size = sizeof own};
    const wb_verify_options *options = &own;
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    *out = NULL;
    wb_status status = take_options(&context, caller, &own);
    if (status != WB_OK)
        return status;
    wb_findings *findings = new_findings(&model->allocator);
    if (findings == NULL)
        return wb__fail_memory(&context);
    context.findings = findings;
    for (size_t i = 0; i < model->findings.count && status == WB_OK; i++) {
        if (!wb__findings_add(findings, &model->findings.list[i]))
            status = wb__fail_memory(&context);
    }
    if (status == WB_OK)
        status = wb__verify(model, &context, options);
    if (status == WB_OK && has_manifest(options)) {
        wb__manifest_source manifest = manifest_of(options);
        status = wb__manifest_check(model, &context, &manifest, NULL, options->progress);
    }
    if (status != WB_OK) {
        wb_findings_free(findings);
        return status;
    }
    *out = findings;
    return WB_OK;
}

/* Compares the files at `path` with the manifest. In a repository of a Hugging Face cache, these
 * are the files of the snapshot. */
static wb_status check_manifest(wb__context *context, const char *path,
                                const wb_verify_options *options)
{
    char *snapshot;
    wb__manifest_source manifest = manifest_of(options);
    wb_status status = wb__snapshot_of(context, path, &snapshot);
    if (status == WB_ERROR_MEMORY)
        return status;
    (void)wb__error_reset(context->error, context->error);
    status = wb__manifest_check(NULL, context, &manifest, snapshot != NULL ? snapshot : path,
                                options->progress);
    if (snapshot != NULL)
        wb__free(&context->allocator, snapshot, strlen(snapshot) + 1);
    return status;
}

/* Creates the findings of a model that could not be opened: those found before the error, and the
 * error. */
static wb_status refused(const wb_model *model, wb__context *context, const char *path,
                         const wb_verify_options *options, wb_findings **out)
{
    const wb_findings *seen = &model->findings;
    wb_findings *findings = new_findings(&context->allocator);
    bool added = findings != NULL;
    context->file = ""; /* the previous path may have been freed; the error has a copy */
    for (size_t i = 0; i < seen->count && added; i++)
        added = wb__findings_add(findings, &seen->list[i]);
    context->findings = findings;
    wb__verify_explain(model, context);
    wb_status status = added ? wb__verify_refused(model, context, options) : WB_OK;
    if (!added || status == WB_ERROR_MEMORY ||
        !wb__findings_add_error(findings, context->error, WB_FATAL)) {
        wb_findings_free(findings);
        return wb__fail_memory(context);
    }
    (void)wb__error_reset(context->error, context->error);
    status = WB_OK;
    if (has_manifest(options))
        status = check_manifest(context, path, options);
    if (status == WB_OK)
        *out = findings;
    else
        wb_findings_free(findings);
    return status;
}

wb_status wb_verify(const char *path, const wb_verify_options *caller, wb_findings **out,
                    wb_error *error)
{
    wb_verify_options own = {.size = sizeof own};
    const wb_verify_options *options = &own;
    wb_error spare;
    wb__context context;
    error = wb__error_reset(error, &spare);
    *out = NULL;
    wb_status status = wb__context_init(&context, NULL, error);
    if (status == WB_OK)
        status = take_options(&context, caller, &own);
    if (status == WB_OK)
        status = wb__context_init(&context, options->open, error);
    if (status != WB_OK)
        return status;
    wb_model *model = wb__model_new(&context, WB_ACCESS_READ);
    if (model == NULL)
        return wb__fail_memory(&context);
    status = wb__open_path(model, &context, path);
    if (status == WB_OK)
        status = wb_verify_model(model, options, out, error);
    else if (is_verdict(status))
        status = refused(model, &context, path, options, out);
    wb__model_delete(model);
    return status;
}

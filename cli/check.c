#include "check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "exit.h"
#include "families.h"
#include "messages.h"
#include "paths.h"
#include "remote.h"
#include "report.h"
#include "terminal.h"
#include "threads.h"

typedef struct request {
    const arguments *args;
    wb_open_options options;
    wb_limits limits;
    text manifest; /* read from standard input */
    void (*present)(const arguments *args, const check *c);
} request;

static bool is_verdict(wb_status status)
{
    return status == WB_ERROR_FORMAT || status == WB_ERROR_LIMIT || status == WB_ERROR_UNSUPPORTED;
}

static void find_refusal(check *c)
{
    for (uint64_t i = 0; i < wb_findings_count(c->findings); i++) {
        wb_finding finding = WB_FINDING_INIT;
        if (wb_findings_at(c->findings, i, &finding) == WB_OK && finding.severity == WB_FATAL)
            c->refusal = finding;
    }
}

static void count_content(check *c)
{
    c->files = wb_file_count(c->model);
    c->tensors = wb_tensor_count(c->model);
    for (uint64_t i = 0; i < c->tensors; i++) {
        wb_tensor tensor = WB_TENSOR_INIT;
        if (wb_tensor_at(c->model, i, &tensor, NULL) == WB_OK)
            c->bytes += tensor.bytes;
    }
}

static int no_verdict(const request *r, const char *path, const char *label, wb_status status,
                      const wb_error *error)
{
    report_error(label, error);
    if (r->args->given[OPTION_JSON])
        json_failure(path, error);
    return exit_code_of_opening(status);
}

static int check_path(void *ctx, paths *seen, const char *path)
{
    const request *r = ctx;
    wb_model *model = NULL;
    wb_findings *findings = NULL;
    wb_error error;
    check c = {.path = path, .label = path_label(path)};
    wb_progress progress = progress_of(c.label);
    wb_verify_options options = {.size = sizeof options,
                                 .open = &r->options,
                                 .flags = r->args->given[OPTION_DEEP] ? WB_VERIFY_DEEP : 0,
                                 .progress = &progress,
                                 .manifest = r->args->value[OPTION_MANIFEST],
                                 .manifest_text = r->manifest.ptr,
                                 .manifest_bytes = r->manifest.len};
    if (r->manifest.ptr != NULL)
        options.manifest = STDIN_LABEL;
    wb_status status = open_path(path, &r->options, &model, &error);
    if (status == WB_OK) {
        paths_cover(seen, model);
        status = wb_verify_model(model, &options, &findings, &error);
        if (status == WB_OK)
            status = wb_model_check(model, &error);
    } else if (is_verdict(status) && strcmp(path, STDIN_PATH) != 0) {
        /* Opening a model reports only the fatal error. wb_verify also reports the findings before
         * that error.
         */
        status = wb_verify(path, &options, &findings, &error);
    } else if (is_verdict(status)) {
        c.refusal = finding_of(&error);
        c.code = exit_code_of_opening(status);
        status = WB_OK;
    }
    progress_clear();
    if (status == WB_OK) {
        c.model = model;
        c.findings = findings;
        if (findings != NULL) {
            c.code = wb_findings_verdict(findings);
            find_refusal(&c);
        }
        if (model != NULL)
            count_content(&c);
        if (r->args->given[OPTION_JSON])
            check_json(&c);
        else
            r->present(r->args, &c);
    } else {
        c.code = no_verdict(r, path, c.label, status, &error);
    }
    wb_findings_free(findings);
    wb_close(model);
    return c.code;
}

/* Reads standard input up to the limit of the library for such files, which then refuses a longer
 * one. */
static int read_manifest(request *r)
{
    char buffer[65536];
    ssize_t n = 0;
    text_adds(&r->manifest, "");
    while (r->manifest.len <= r->limits.json_bytes) {
        n = read(STDIN_FILENO, buffer, sizeof buffer);
        if (n > 0)
            text_add(&r->manifest, buffer, (size_t)n);
        else if (n == 0 || errno != EINTR)
            break;
    }
    return n < 0 ? report_path(EXIT_IO, STDIN_LABEL, MSG_CANNOT_READ, strerror(errno)) : 0;
}

int check_paths(const arguments *args, void (*present)(const arguments *args, const check *c))
{
    request r = {.args = args, .present = present};
    bool reads_manifest = args->given[OPTION_MANIFEST] && args->value[OPTION_MANIFEST] != NULL &&
                          strcmp(args->value[OPTION_MANIFEST], STDIN_PATH) == 0;
    if (args->given[OPTION_MANIFEST] && args->count > 1)
        return report_usage(MSG_MANIFEST_ONE_PATH);
    if (reads_manifest && strcmp(args->operands[0], STDIN_PATH) == 0)
        return report_usage(MSG_MANIFEST_TWO_STDIN);
    int code = open_options_of(args, &r.options, &r.limits);
    if (code == 0 && reads_manifest)
        code = read_manifest(&r);
    r.options.executor = threads_executor();
    r.options.files = remote_files();
    r.options.families = families_opened();
    if (code == 0)
        code = paths_each(args, check_path, &r);
    text_free(&r.manifest);
    return code;
}

bool check_finding(const check *c, uint64_t index, wb_finding *finding)
{
    *finding = (wb_finding){.size = sizeof *finding};
    if (c->findings != NULL)
        return wb_findings_at(c->findings, index, finding) == WB_OK;
    *finding = c->refusal;
    return index == 0;
}

const char *check_verdict(const check *c)
{
    return c->code == EXIT_CLEAN ? "sound" : c->code == EXIT_FINDINGS ? "flawed" : "refused";
}

void check_json(const check *c)
{
    wb_json json = out_json(out_stdout());
    json_answer(&json, "verify");
    json_text(&json, "path", c->path);
    json_text(&json, "verdict", check_verdict(c));
    json_number(&json, "exit_code", (uint64_t)c->code);
    json_optional(&json, "format", c->model == NULL ? "" : wb_format(c->model));
    json_number(&json, "files", c->files);
    json_number(&json, "tensors", c->tensors);
    json_number(&json, "bytes", c->bytes);
    wb_json_key(&json, "findings", SIZE_MAX);
    wb_json_begin(&json, '[');
    wb_finding finding;
    for (uint64_t i = 0; check_finding(c, i, &finding); i++)
        json_finding(&json, &finding);
    wb_json_end(&json, ']');
    wb_json_end(&json, '}');
    out_json_end(&json);
}

void text_add_content(text *t, const check *c)
{
    text_adds(t, wb_format(c->model));
    text_adds(t, ", ");
    text_add_count(t, c->tensors);
    text_addf(t, " tensor%s in ", c->tensors == 1 ? "" : "s");
    text_add_count(t, c->files);
    text_addf(t, " file%s, ", c->files == 1 ? "" : "s");
    text_add_size(t, c->bytes);
}

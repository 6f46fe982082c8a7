#include "core/call_options.h"
#include "handle/semantics.h"
#include "open/open.h"
#include "open/open_messages.h"
#include "weighbridge/experimental.h"

#include <limits.h>

/* ---- opening ---- */

/* State that all ways of opening share: the model to fill, which the caller gets on success. */
typedef struct open_call {
    wb__context context;
    wb_error spare;
    wb_model *model;
} open_call;

static wb_status begin(open_call *call, const wb_open_options *options, wb_model **out,
                       wb_error *error)
{
    error = wb__error_reset(error, &call->spare);
    call->model = NULL;
    if (out != NULL)
        *out = NULL;
    wb_status status = wb__context_init(&call->context, options, error);
    if (status == WB_OK && out == NULL)
        status = wb__fail(&call->context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_OPEN_OUT_NULL);
    if (status == WB_OK) {
        call->model = wb__model_new(&call->context, wb__access_of(options));
        if (call->model == NULL)
            status = wb__fail_memory(&call->context);
    }
    return status;
}

static wb_status finish(open_call *call, wb_status status, wb_model **out)
{
    if (status == WB_OK)
        *out = call->model;
    else
        wb__model_delete(call->model);
    return status;
}

/* Opens a source without sidecar files. Takes ownership of the source. */
static wb_status open_alone(open_call *call, wb__source *source)
{
    wb_status status = wb__open_source(call->model, &call->context, source);
    return status == WB_OK ? wb__open_finish(call->model, &call->context, NULL) : status;
}

static wb_status fail_null(open_call *call, const char *what)
{
    return wb__fail(&call->context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_OPEN_NULL, what);
}

wb_status wb_open(const char *path, const wb_open_options *options, wb_model **model,
                  wb_error *error)
{
    open_call call;
    wb_status status = begin(&call, options, model, error);
    if (status == WB_OK && path == NULL)
        status = fail_null(&call, "the path");
    if (status == WB_OK)
        status = wb__open_path(call.model, &call.context, path);
    return finish(&call, status, model);
}

wb_status wb_open_fd(int fd, const char *label, const wb_open_options *options, wb_model **model,
                     wb_error *error)
{
    open_call call;
    wb__source *source;
    wb_status status = begin(&call, options, model, error);
    if (status == WB_OK && label == NULL)
        status = fail_null(&call, "the label");
    if (status == WB_OK) {
        call.context.file = label;
        status = wb__source_open_fd(&call.context, fd, label, wb__access_of(options), &source);
    }
    if (status == WB_OK)
        status = open_alone(&call, source);
    return finish(&call, status, model);
}

wb_status wb_open_memory(const void *bytes, size_t n, const char *label,
                         const wb_open_options *options, wb_model **model, wb_error *error)
{
    open_call call;
    wb__source *source;
    wb_status status = begin(&call, options, model, error);
    if (status == WB_OK && (label == NULL || (bytes == NULL && n > 0)))
        status = fail_null(&call, label == NULL ? "the label" : "the memory");
    if (status == WB_OK)
        status = wb__source_open_memory(&call.context, bytes, n, label, &source);
    if (status == WB_OK)
        status = open_alone(&call, source);
    return finish(&call, status, model);
}

wb_status wb_open_source(const wb_source *caller, const char *label, const wb_open_options *options,
                         wb_model **model, wb_error *error)
{
    open_call call;
    wb__source *source;
    wb_source own = {.size = sizeof own};
    wb_status status = begin(&call, options, model, error);
    bool taken = WB__TAKE(wb_source, caller, &own);
    if (status == WB_OK && (label == NULL || caller == NULL))
        status = fail_null(&call, label == NULL ? "the label" : "the source");
    if (status == WB_OK && !taken)
        status = WB__FAIL_SIZE(&call.context, wb_source, caller);
    if (status == WB_OK && own.read == NULL)
        status = wb__fail(&call.context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                          WB__STR(""), WB__MSG_OPEN_SOURCE_READ);
    if (status == WB_OK) {
        status = wb__source_open_caller(&call.context, &own, label, &source);
        if (status == WB_OK)
            status = open_alone(&call, source);
    } else if (taken && own.close != NULL) {
        own.close(own.ctx);
    }
    return finish(&call, status, model);
}

void wb_close(wb_model *model)
{
    wb__model_delete(model);
}

#include "load/load.h"
#include "load/load_messages.h"
#include "weighbridge/experimental.h"

wb_status wb_load(const wb_model *model, const wb_load_options *options, wb_load_report *report,
                  wb_error *error)
{
    wb_error spare;
    wb_load_report unseen = {.size = sizeof unseen}, own;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    if (report == NULL)
        report = &unseen;
    wb_load_report *out = WB__OUT(wb_load_report, report, &own);
    if (out == NULL)
        return WB__FAIL_SIZE(&context, wb_load_report, report);
    wb_status status = wb__load_model(model, &context, options, out);
    WB__GIVE(wb_load_report, report, out);
    return status;
}

wb_status wb_file_cached(const wb_model *model, uint64_t file, uint64_t *bytes, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    *bytes = 0;
    if (file >= model->source_count)
        return wb__fail(&context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_LOAD_NO_FILE, (unsigned long long)file);
    const wb__source *source = model->sources[file];
    context.file = model->catalog.files[file].path;
    if (wb__source_cached(source, 0, wb__source_bytes(source), bytes))
        return WB_OK;
    return wb__fail(&context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_LOAD_PAGE_CACHE);
}

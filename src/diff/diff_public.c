#include "core/call_options.h"
#include "diff/diff.h"
#include "diff/diff_messages.h"
#include "weighbridge/metadata.h"

void wb_diff_free(wb_diff *diff)
{
    if (diff == NULL)
        return;
    wb_allocator allocator = diff->allocator;
    wb__comparables_free(&diff->a_subjects);
    wb__comparables_free(&diff->b_subjects);
    wb__free(&allocator, diff->pairs, diff->pair_capacity * sizeof *diff->pairs);
    wb__free(&allocator, diff->metas, diff->meta_capacity * sizeof *diff->metas);
    wb__free(&allocator, diff, sizeof *diff);
}

wb_status wb_diff_models(const wb_model *a, const wb_model *b, const wb_diff_options *caller,
                         wb_diff **out, wb_error *error)
{
    wb_diff_options own = {.size = sizeof own};
    const wb_diff_options *options = &own;
    wb_error spare;
    wb__context context = wb__context_of(a, wb__error_reset(error, &spare));
    *out = NULL;
    if (!WB__TAKE(wb_diff_options, caller, &own))
        return WB__FAIL_SIZE(&context, wb_diff_options, caller);
    if (options->kinds & ~WB__DIFF_ALL)
        return wb__fail_argument(&context, WB__MSG_DIFF_OPTIONS_KINDS);
    if (options->executor != NULL)
        context.executor = *options->executor;
    const wb_progress *progress = options->progress;
    if (progress != NULL && progress->report == NULL)
        progress = NULL;
    wb_diff *diff = wb__alloc_zeroed(&a->allocator, sizeof *diff);
    if (diff == NULL)
        return wb__fail_memory(&context);
    diff->allocator = a->allocator;
    diff->a_subjects.allocator = diff->b_subjects.allocator = a->allocator;
    diff->a = a;
    diff->b = b;
    diff->kinds = options->kinds == 0 ? WB__DIFF_ALL : options->kinds;
    wb_status status = wb__diff_all(diff, &context, progress);
    if (status != WB_OK) {
        wb_diff_free(diff);
        return status;
    }
    *out = diff;
    return WB_OK;
}

uint32_t wb_diff_kinds(const wb_diff *diff)
{
    return diff->differs;
}

uint64_t wb_diff_tensor_count(const wb_diff *diff)
{
    return diff->pair_count;
}

wb_status wb_diff_tensor_at(const wb_diff *diff, uint64_t index, wb_tensor_diff *caller)
{
    wb_tensor_diff own, *out = WB__OUT(wb_tensor_diff, caller, &own);
    if (out == NULL)
        return WB_ERROR_ARGUMENT;
    if (index >= diff->pair_count)
        return WB_ERROR_NOT_FOUND;
    const wb__pair *pair = &diff->pairs[index];
    out->name = pair->name.ptr;
    out->name_len = pair->name.len;
    out->a = pair->a == NULL ? UINT64_MAX : pair->a->number;
    out->b = pair->b == NULL ? UINT64_MAX : pair->b->number;
    out->differs = pair->differs;
    out->compared = pair->compared;
    out->distance = wb__sums_distance(&pair->sums);
    WB__GIVE(wb_tensor_diff, caller, out);
    return WB_OK;
}

void wb_diff_distance(const wb_diff *diff, wb_distance *distance)
{
    *distance = wb__sums_distance(&diff->total);
}

int wb_diff_config(const wb_diff *diff, uint32_t field)
{
    return field < WB_CONFIG_FIELDS && diff->fields[field];
}

uint64_t wb_diff_meta_count(const wb_diff *diff)
{
    return diff->meta_count;
}

wb_status wb_diff_meta_at(const wb_diff *diff, uint64_t index, wb_meta_diff *caller)
{
    wb_meta_diff own, *out = WB__OUT(wb_meta_diff, caller, &own);
    if (out == NULL)
        return WB_ERROR_ARGUMENT;
    if (index >= diff->meta_count)
        return WB_ERROR_NOT_FOUND;
    const wb__meta_pair *pair = &diff->metas[index];
    bool in_a = pair->a != UINT64_MAX;
    wb_meta meta = {.size = sizeof meta};
    wb_status status = wb_meta_at(in_a ? diff->a : diff->b, in_a ? pair->a : pair->b, &meta, NULL);
    if (status != WB_OK)
        return status;
    out->key = meta.key;
    out->key_len = meta.key_len;
    out->a = pair->a;
    out->b = pair->b;
    WB__GIVE(wb_meta_diff, caller, out);
    return WB_OK;
}

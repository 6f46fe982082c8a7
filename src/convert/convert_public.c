/* Public conversion functions. They check their arguments and call the implementation. */
#include <math.h>
#include <stdio.h>

#include "convert/convert.h"
#include "convert/convert_messages.h"
#include "convert/plan/input_files.h"
#include "convert/recipe/imatrix.h"
#include "convert/recipe/overrides.h"
#include "core/call_options.h"

#define DEFAULT_MEMORY ((uint64_t)256 << 20)

static wb_status fail(wb__context *context, const char *what)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                    "%s", what);
}

static wb_status take_policy(wb_conversion *conversion, wb__context *context,
                             const wb_convert_policy *caller)
{
    wb_convert_policy own = {.size = sizeof own};
    const wb_convert_policy *policy = &own;
    if (!WB__TAKE(wb_convert_policy, caller, &own))
        return WB__FAIL_SIZE(context, wb_convert_policy, caller);
    if (policy->flags & ~(WB_CONVERT_STRICT | WB_CONVERT_FORCE | WB_CONVERT_FEB2026 |
                          WB_CONVERT_RESUME | WB_CONVERT_FORCE_LOSSY | WB_CONVERT_RAW))
        return fail(context, WB__MSG_CONVERT_POLICY_FLAGS);
    conversion->strict = (policy->flags & WB_CONVERT_STRICT) != 0;
    conversion->replace = (policy->flags & WB_CONVERT_FORCE) != 0;
    conversion->feb2026 = (policy->flags & WB_CONVERT_FEB2026) != 0;
    conversion->raw = (policy->flags & WB_CONVERT_RAW) != 0;
    conversion->lossy = (policy->flags & WB_CONVERT_FORCE_LOSSY) != 0;
    conversion->resume = (policy->flags & WB_CONVERT_RESUME) != 0;
    conversion->max_shard = policy->max_file_bytes;
    if (policy->store != NULL) {
        conversion->store =
            wb__arena_copy(&conversion->arena, policy->store, strlen(policy->store));
        if (conversion->store == NULL)
            return wb__fail_memory(context);
    }
    if (policy->max_memory != 0)
        conversion->max_memory = policy->max_memory;
    if (policy->executor != NULL)
        conversion->executor = *policy->executor;
    if (policy->quant != NULL &&
        !wb__quant_parse(wb__str_from(policy->quant, SIZE_MAX), &conversion->quant))
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_CONVERT_TYPE, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_CONVERT_QUANTIZATION_UNKNOWN, policy->quant);
    conversion->loras = policy->loras;
    conversion->lora_count = policy->lora_count;
    for (uint64_t i = 0; i < policy->lora_count; i++) {
        if (policy->loras == NULL || policy->loras[i].path == NULL)
            return fail(context, WB__MSG_CONVERT_ADAPTER_PATH);
        if (!isfinite((float)policy->loras[i].scale))
            return fail(context, WB__MSG_CONVERT_ADAPTER_SCALE);
    }
    wb_status status = WB_OK;
    if (policy->rule_count > 0)
        status = wb__overrides_make(context, policy->rules, policy->rule_count, &conversion->rules);
    if (status == WB_OK && policy->importance != NULL)
        status = wb__imatrix_read(context, policy->importance, &conversion->matrix);
    if (status == WB_OK && policy->importance != NULL)
        status = wb__inputs_add(conversion, context, policy->importance);
    return status;
}

wb_status wb_convert_plan(const wb_model *model, wb_target target, const wb_convert_policy *policy,
                          wb_conversion **out, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(model, wb__error_reset(error, &spare));
    *out = NULL;
    if (target < WB_TARGET_GGUF || target > WB_TARGET_NPZ)
        return fail(&context, WB__MSG_CONVERT_TARGET);
    wb_conversion *conversion = wb__alloc(&model->allocator, sizeof *conversion);
    if (conversion == NULL)
        return wb__fail_memory(&context);
    *conversion = (wb_conversion){.allocator = model->allocator,
                                  .executor = model->executor,
                                  .model = model,
                                  .target = target,
                                  .max_memory = DEFAULT_MEMORY};
    conversion->arena.allocator = &conversion->allocator;
    conversion->tensors =
        (wb__list){.arena = &conversion->arena, .item_size = sizeof(wb__planned_tensor)};
    conversion->inputs = (wb__list){.arena = &conversion->arena, .item_size = sizeof(const char *)};
    conversion->replaced =
        (wb__list){.arena = &conversion->arena, .item_size = sizeof(const char *)};
    wb__findings_init(&conversion->notes, &conversion->allocator);
    wb_status status = policy == NULL ? WB_OK : take_policy(conversion, &context, policy);
    if (status == WB_OK)
        status = wb__plan_make(conversion, &context);
    conversion->loras = NULL;
    conversion->planned_notes = conversion->notes.count;
    if (status == WB_OK)
        *out = conversion;
    else
        wb_conversion_free(conversion);
    return status;
}

wb_status wb_convert_check(wb_conversion *conversion, const char *path, wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(conversion->model, wb__error_reset(error, &spare));
    return wb__plan_check(conversion, &context, path);
}

wb_status wb_convert(wb_conversion *conversion, const char *path, const wb_progress *progress,
                     wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(conversion->model, wb__error_reset(error, &spare));
    context.executor = conversion->executor;
    return wb__plan_run(conversion, &context, path, progress);
}

wb_status wb_convert_partial(wb_target target, const char *path, const char *store, int discard,
                             wb_partial *caller, wb_error *error)
{
    wb_error spare;
    wb__context context;
    wb_partial own, *partial = WB__OUT(wb_partial, caller, &own);
    wb_status status = wb__context_init(&context, NULL, wb__error_reset(error, &spare));
    if (status != WB_OK)
        return status;
    if (partial == NULL)
        return WB__FAIL_SIZE(&context, wb_partial, caller);
    if (target < WB_TARGET_GGUF || target > WB_TARGET_NPZ || path == NULL)
        return fail(&context, WB__MSG_CONVERT_TARGET);
    status = wb__partial_result(&context, target, path, store, discard != 0, partial);
    WB__GIVE(wb_partial, caller, partial);
    return status;
}

uint64_t wb_conversion_count(const wb_conversion *conversion)
{
    return conversion->tensors.count;
}

/* ---- error statistics of a tensor ---- */

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : part > 0 ? INFINITY : 0;
}

/* Returns the cosine similarity of two vectors: x, the values before the conversion, and y, the
 * values after it. Their dot product follows from the stored sums: 2 x y = x² + y² - (y - x)². */
static double cosine_of(const wb__error_stats *f)
{
    double twice = f->before + f->after - f->error;
    double cosine = f->before > 0 && f->after > 0 ? twice / (2 * sqrt(f->before * f->after)) : 0;
    return cosine > 1 ? 1 : cosine;
}

static void tell_fidelity(const wb__planned_tensor *row, wb_converted *out)
{
    const wb__error_stats *f = &row->error_stats;
    out->cosine = 1;
    if (row->known_exact) {
        out->fidelity = WB_FIDELITY_EXACT;
        return;
    }
    out->fidelity = row->route == WB__ROUTE_REPACK ? WB_FIDELITY_REPACKED : WB_FIDELITY_UNKNOWN;
    if (!row->done)
        return;
    bool lost = f->max_error > 0 || f->overflowed > 0;
    if (lost)
        out->fidelity = WB_FIDELITY_LOSSY;
    else if (row->route != WB__ROUTE_REPACK)
        out->fidelity = WB_FIDELITY_EXACT;
    out->nmse = ratio(f->error, f->before);
    out->max_error = f->max_error;
    out->overflowed = f->overflowed;
    if (lost)
        out->cosine = cosine_of(f);
}

wb_status wb_conversion_at(const wb_conversion *conversion, uint64_t index, wb_converted *caller,
                           wb_error *error)
{
    wb_error spare;
    wb__context context = wb__context_of(conversion->model, wb__error_reset(error, &spare));
    wb_converted own, *converted = WB__OUT(wb_converted, caller, &own);
    if (converted == NULL)
        return WB__FAIL_SIZE(&context, wb_converted, caller);
    if (index >= conversion->tensors.count)
        return wb__fail(&context, WB_ERROR_NOT_FOUND, WB__FINDING_NOT_FOUND, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_CONVERT_NO_TENSOR, (unsigned long long)index);
    const wb__planned_tensor *row = wb__planned_at(conversion, (size_t)index);
    converted->name = row->name.ptr;
    converted->source = row->source_name.ptr;
    converted->rank = row->rank;
    converted->shape = row->shape;
    converted->bytes = row->bytes;
    wb__encoding_spec_name(&row->from, converted->from, sizeof converted->from);
    wb__encoding_spec_name(&row->to, converted->to, sizeof converted->to);
    if (row->wanted >= 0)
        (void)snprintf(converted->wanted, sizeof converted->wanted, "%s",
                       wb__dtype_get(row->wanted)->name);
    tell_fidelity(row, converted);
    WB__GIVE(wb_converted, caller, converted);
    return WB_OK;
}

const wb_findings *wb_conversion_findings(const wb_conversion *conversion)
{
    return &conversion->notes;
}

const char *wb_conversion_replaces(const wb_conversion *conversion, uint64_t index)
{
    const char *const *path = index < conversion->replaced.count
                                  ? wb__list_at(&conversion->replaced, (size_t)index)
                                  : NULL;
    return path == NULL ? NULL : *path;
}

void wb_conversion_free(wb_conversion *conversion)
{
    if (conversion == NULL)
        return;
    wb_allocator allocator = conversion->allocator;
    wb__overrides_free(&allocator, conversion->rules);
    wb__imatrix_free(conversion->matrix);
    wb__findings_clear(&conversion->notes);
    wb__list_free(&conversion->tensors);
    wb__list_free(&conversion->inputs);
    wb__list_free(&conversion->replaced);
    wb__arena_free(&conversion->arena);
    wb__free(&allocator, conversion, sizeof *conversion);
}

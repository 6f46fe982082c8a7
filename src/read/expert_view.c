/*
 * Reads experts that are stored as separate tensors, as if they were one stacked tensor. The first
 * axis of the stack is the index of the expert, so a request is divided into one request per
 * expert.
 */
#include "handle/semantics.h"
#include "read/read.h"
#include "read/read_messages.h"

/* A slice of the stack, divided into slices of the parts. Each part is an expert. */
typedef struct cut {
    const wb__expert_view *view;
    wb_axis experts; /* the first axis */
    wb_slice part;
    uint64_t per_part; /* number of elements selected in each part */
    uint64_t first, count;
} cut;

static wb_status fail_slice(wb__context *context, const char *what)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                    WB__MSG_READ_SLICE, what);
}

/* Returns true if all indices that an axis selects are inside the dimension. */
static bool axis_fits(const wb_axis *axis, uint64_t dimension)
{
    uint64_t step = axis->step < 0 ? 0 - (uint64_t)axis->step : (uint64_t)axis->step;
    uint64_t reach;
    if (axis->count == 0)
        return true;
    return axis->start < dimension && (axis->count == 1 || step != 0) &&
           wb__mul(axis->count - 1, step, &reach) &&
           (axis->step < 0 ? reach <= axis->start : reach <= dimension - 1 - axis->start);
}

static wb_status cut_slice(wb__context *context, const wb__expert_view *view,
                           const wb_slice *caller, cut *out)
{
    uint64_t total;
    *out = (cut){.view = view,
                 .experts = {0, view->count, 1, 0, 0},
                 .part = {.size = sizeof(wb_slice), .count = UINT64_MAX},
                 .per_part = view->kind.elements / view->count,
                 .count = view->kind.elements};
    wb_slice own;
    const wb_slice *slice = &own;
    if (caller == NULL)
        return WB_OK;
    if (!WB__TAKE(wb_slice, caller, &own))
        return WB__FAIL_SIZE(context, wb_slice, caller);
    if (slice->rank != 0) {
        if (slice->rank != view->kind.rank || slice->axes == NULL)
            return fail_slice(context, WB__MSG_READ_SLICE_RANK);
        out->experts = slice->axes[0];
        if (!axis_fits(&out->experts, view->count))
            return fail_slice(context, WB__MSG_READ_SLICE_OUTSIDE);
        out->part.rank = slice->rank - 1;
        out->part.axes = slice->axes + 1;
        out->per_part = 1;
        for (uint32_t i = 1; i < slice->rank; i++) {
            if (!axis_fits(&slice->axes[i], view->kind.shape[i]))
                return fail_slice(context, WB__MSG_READ_SLICE_OUTSIDE);
            out->per_part *= slice->axes[i].count;
        }
    }
    total = out->experts.count * out->per_part; /* total is at most view->kind.elements */
    if (slice->first > total)
        return fail_slice(context, WB__MSG_READ_SLICE_FIRST);
    out->first = slice->first;
    out->count = total - slice->first < slice->count ? total - slice->first : slice->count;
    return WB_OK;
}

/* Calls `each` for the selection of each part, in order. */
static wb_status for_parts(cut *c,
                           wb_status (*each)(void *ctx, uint32_t part, const wb_slice *slice),
                           void *ctx)
{
    uint64_t left = c->count;
    uint64_t at = c->first;
    while (left > 0) {
        uint64_t index = at / c->per_part;
        uint64_t expert = c->experts.start + index * (uint64_t)c->experts.step;
        c->part.first = at % c->per_part;
        c->part.count = c->per_part - c->part.first < left ? c->per_part - c->part.first : left;
        wb_status status = each(ctx, c->view->parts[expert], &c->part);
        if (status != WB_OK)
            return status;
        at += c->part.count;
        left -= c->part.count;
    }
    return WB_OK;
}

typedef struct sum {
    const wb_model *model;
    wb__context *context;
    int32_t dtype;
    uint64_t elements, bytes;
    uint8_t *dst;
} sum;

static wb_status add_size(void *ctx, uint32_t part, const wb_slice *slice)
{
    sum *s = ctx;
    wb__selection selection;
    wb_status status = wb__selection_make(s->model, s->context, part, slice, s->dtype, &selection);
    if (status == WB_OK) {
        s->elements += selection.count;
        s->bytes += selection.bytes;
    }
    return status;
}

static wb_status read_part(void *ctx, uint32_t part, const wb_slice *slice)
{
    sum *s = ctx;
    wb__selection selection;
    wb_status status = wb__selection_make(s->model, s->context, part, slice, s->dtype, &selection);
    if (status != WB_OK)
        return status;
    s->context->file =
        s->model->catalog.files[wb__catalog_file_of(&s->model->catalog, selection.stored)].path;
    status = wb__read_selection(s->model, s->context, &selection, s->dst);
    s->dst += selection.bytes;
    return status;
}

wb_status wb__expert_view_size(const wb_model *model, wb__context *context,
                               const wb__expert_view *view, const wb_slice *slice, int32_t dtype,
                               uint64_t *elements, uint64_t *bytes)
{
    cut c;
    sum s = {.model = model, .context = context, .dtype = dtype};
    wb_status status = cut_slice(context, view, slice, &c);
    if (status == WB_OK)
        status = for_parts(&c, add_size, &s);
    if (status == WB_OK) {
        *elements = s.elements;
        *bytes = s.bytes;
    }
    return status;
}

wb_status wb__expert_view_read(const wb_model *model, wb__context *context,
                               const wb__expert_view *view, const wb_slice *slice, int32_t dtype,
                               void *dst)
{
    cut c;
    sum s = {.model = model, .context = context, .dtype = dtype, .dst = dst};
    wb_status status = cut_slice(context, view, slice, &c);
    return status == WB_OK ? for_parts(&c, read_part, &s) : status;
}

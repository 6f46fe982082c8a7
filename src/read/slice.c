/*
 * Slices: basic indexing as in NumPy. A parsed slice has a start, a count and a step for each
 * dimension. https://numpy.org/doc/stable/user/basics.indexing.html
 */
#include "core/call_options.h"
#include "dtype/dtype_block.h"
#include "read/decoder.h"
#include "read/read.h"
#include "read/read_messages.h"

static wb_status fail_slice(wb__context *context, const char *what)
{
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                    "slice: %s", what);
}

/* ---- text ---- */

typedef struct slice_text {
    const char *p, *end;
} slice_text;

static void skip_spaces(slice_text *text)
{
    while (text->p < text->end && (*text->p == ' ' || *text->p == '\t'))
        text->p++;
}

static bool take(slice_text *text, char c)
{
    skip_spaces(text);
    if (text->p == text->end || *text->p != c)
        return false;
    text->p++;
    return true;
}

/* Parses an optional integer. Returns false if the integer is malformed. Clamps values beyond
 * int64_t, as NumPy does. */
static bool take_integer(slice_text *text, bool *present, int64_t *value)
{
    bool negative = take(text, '-');
    if (!negative)
        (void)take(text, '+');
    skip_spaces(text);
    const char *start = text->p;
    uint64_t magnitude = 0;
    for (; text->p < text->end && *text->p >= '0' && *text->p <= '9'; text->p++) {
        if (magnitude < INT64_MAX / 10)
            magnitude = magnitude * 10 + (uint64_t)(*text->p - '0');
        else
            magnitude = INT64_MAX;
    }
    *present = text->p != start;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return *present || !negative;
}

/* Clamps a bound of a slice to low..high. A negative bound counts from the end. */
static int64_t clamp_bound(int64_t bound, int64_t size, int64_t low, int64_t high)
{
    if (bound < 0)
        bound += size;
    return bound < low ? low : bound > high ? high : bound;
}

/* Converts start:stop:step over `size` indices to an axis, as slice.indices of Python does. */
static wb_axis axis_of(bool has_start, int64_t start, bool has_stop, int64_t stop, int64_t step,
                       int64_t size)
{
    int64_t low = step > 0 ? 0 : -1;
    int64_t high = step > 0 ? size : size - 1;
    start = has_start ? clamp_bound(start, size, low, high) : step > 0 ? low : high;
    stop = has_stop ? clamp_bound(stop, size, low, high) : step > 0 ? high : low;
    wb_axis axis = {.start = 0, .count = 0, .step = step};
    if (step > 0 && start < stop)
        axis.count = ((uint64_t)(stop - start) - 1) / (uint64_t)step + 1;
    else if (step < 0 && start > stop)
        axis.count = ((uint64_t)(start - stop) - 1) / (0 - (uint64_t)step) + 1;
    if (axis.count > 0)
        axis.start = (uint64_t)start;
    return axis;
}

static const char expected_index[] = WB__MSG_READ_SLICE_INDEX;

static wb_status parse_axis(wb__context *context, slice_text *text, uint64_t dimension,
                            wb_axis *axis)
{
    bool has_start, has_stop = false, has_step = false;
    int64_t start, stop = 0, step = 1;
    if (dimension > INT64_MAX)
        return fail_slice(context, WB__MSG_READ_SLICE_LONG);
    int64_t size = (int64_t)dimension;
    if (!take_integer(text, &has_start, &start))
        return fail_slice(context, WB__MSG_READ_SLICE_MINUS);
    if (!take(text, ':')) {
        if (!has_start)
            return fail_slice(context, expected_index);
        int64_t index = start < 0 ? start + size : start;
        if (index < 0 || index >= size)
            return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                            WB__STR(""), WB__MSG_READ_SLICE_BOUNDS, (long long)start,
                            (long long)size);
        *axis = (wb_axis){.start = (uint64_t)index, .count = 1, .step = 1, .drop = 1};
        return WB_OK;
    }
    if (!take_integer(text, &has_stop, &stop))
        return fail_slice(context, WB__MSG_READ_SLICE_MINUS);
    if (take(text, ':') && !take_integer(text, &has_step, &step))
        return fail_slice(context, WB__MSG_READ_SLICE_MINUS);
    if (!has_step)
        step = 1;
    if (step == 0)
        return fail_slice(context, WB__MSG_READ_SLICE_STEP);
    *axis = axis_of(has_start, start, has_stop, stop, step, size);
    return WB_OK;
}

static bool take_ellipsis(slice_text *text)
{
    skip_spaces(text);
    if (text->end - text->p < 3 || memcmp(text->p, "...", 3) != 0)
        return false;
    text->p += 3;
    return true;
}

static wb_axis whole_axis(uint64_t dimension)
{
    return (wb_axis){.count = dimension, .step = 1};
}

/* Returns the number of indexed dimensions: non-blank items between commas, without '...'. */
static uint32_t count_indices(slice_text text)
{
    uint32_t count = 0;
    while (text.p < text.end) {
        bool ellipsis = take_ellipsis(&text);
        skip_spaces(&text);
        bool blank = text.p == text.end || *text.p == ',';
        count += !ellipsis && !blank;
        while (text.p < text.end && *text.p != ',')
            text.p++;
        if (text.p < text.end)
            text.p++;
    }
    return count;
}

/* Parses the text into one axis per dimension. The text has at most `rank` indices. */
static wb_status parse_axes(wb__context *context, slice_text text, const uint64_t *shape,
                            uint32_t rank, wb_axis *axes)
{
    uint32_t axis = 0;
    uint32_t unnamed = rank - count_indices(text); /* number of dimensions that '...' replaces */
    bool ellipsis = false;
    skip_spaces(&text);
    while (text.p < text.end) {
        if (take_ellipsis(&text)) {
            if (ellipsis)
                return fail_slice(context, "'...' twice");
            ellipsis = true;
            for (; unnamed > 0; unnamed--, axis++)
                axes[axis] = whole_axis(shape[axis]);
        } else if (axis == rank) {
            return fail_slice(context, expected_index); /* a blank item is not an index */
        } else {
            wb_status status = parse_axis(context, &text, shape[axis], &axes[axis]);
            if (status != WB_OK)
                return status;
            axis++;
        }
        skip_spaces(&text);
        if (text.p < text.end && !take(&text, ','))
            return fail_slice(context, WB__MSG_READ_SLICE_COMMA);
        skip_spaces(&text);
    }
    for (; axis < rank; axis++)
        axes[axis] = whole_axis(shape[axis]);
    return WB_OK;
}

wb_status wb_slice_parse(const char *chars, size_t len, const uint64_t *shape, uint32_t rank,
                         wb_axis *axes, wb_error *error)
{
    wb_error spare;
    wb__context context;
    wb_status status = wb__context_init(&context, NULL, wb__error_reset(error, &spare));
    if (status != WB_OK)
        return status;
    if (rank > 0 && (shape == NULL || axes == NULL))
        return fail_slice(&context, WB__MSG_READ_SLICE_NULL);
    wb__str all = wb__str_from(chars, len);
    slice_text text = {all.ptr, all.ptr + all.len};
    uint32_t indices = count_indices(text);
    if (indices > rank)
        return wb__fail(&context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_READ_SLICE_INDICES, (unsigned long)indices,
                        (unsigned long)rank);
    status = parse_axes(&context, text, shape, rank, axes);
    if (status != WB_OK && rank > 0)
        memset(axes, 0, rank * sizeof *axes);
    return status;
}

/* ---- selections ---- */

static wb_status check_axes(wb__context *context, const wb_slice *slice, const wb__kind *kind,
                            uint64_t *elements)
{
    *elements = 1;
    if (slice->rank != kind->rank || slice->axes == NULL)
        return fail_slice(context, WB__MSG_READ_SLICE_RANK);
    for (uint32_t i = 0; i < kind->rank; i++) {
        const wb_axis *axis = &slice->axes[i];
        uint64_t dimension = kind->shape[i];
        if (axis->count > 0) {
            /* The first and the last index must be inside the dimension. */
            uint64_t step = axis->step < 0 ? 0 - (uint64_t)axis->step : (uint64_t)axis->step;
            uint64_t reach;
            if (axis->start >= dimension || (axis->count > 1 && step == 0) ||
                !wb__mul(axis->count - 1, step, &reach) ||
                (axis->step < 0 ? reach > axis->start : reach > dimension - 1 - axis->start))
                return fail_slice(context, WB__MSG_READ_SLICE_OUTSIDE);
        }
        *elements *=
            axis->count; /* each count is at most its dimension, so the product cannot overflow */
    }
    return WB_OK;
}

/*
 * Returns true if a run of elements begins or ends inside a unit (dtype/dtype_block.h): a byte that
 * several elements share, or a block. read_slice.c defines the runs. The number of elements in a
 * unit is a power of two, so the remainders are correct even if offsets and lengths wrap around.
 */
static bool cuts_units(const wb__selection *selection, uint64_t unit)
{
    uint64_t begin = 0, run = 1, stride = 1;
    bool is_one_run = true; /* the selected elements of the inner dimensions are contiguous */
    if (selection->count == 0)
        return false;
    if (selection->first % unit != 0 || selection->count % unit != 0)
        return true;
    for (uint32_t i = selection->axes == NULL ? 0 : selection->kind->rank; i-- > 0;) {
        const wb_axis *axis = &selection->axes[i];
        uint64_t dimension = selection->kind->shape[i];
        begin += axis->start * stride;
        if (is_one_run && (axis->step == 1 || axis->count <= 1)) {
            run *= axis->count;
            is_one_run = axis->count == dimension;
        } else if (axis->count > 1) {
            if (run % unit != 0 || (uint64_t)axis->step * stride % unit != 0)
                return true;
            is_one_run = false;
        }
        stride *= dimension;
    }
    return begin % unit != 0;
}

static wb_status check_units(wb__context *context, const wb__selection *selection)
{
    const wb__dtype *dtype = selection->from;
    uint32_t unit = wb__dtype_unit(dtype);
    if (unit <= 1 || !cuts_units(selection, unit))
        return WB_OK;
    if (!wb__dtype_is_plain(dtype))
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_READ_SLICE_BLOCK, dtype->name, (unsigned long)unit);
    return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                    WB__STR(""), WB__MSG_READ_SLICE_BYTE, dtype->name,
                    (unsigned long)dtype->block_bits);
}

static wb_status measure(wb__context *context, wb__selection *selection)
{
    uint64_t bits;
    uint32_t block = selection->to->block_size; /* not 1: whole blocks are returned as stored */
    if (!wb__mul(selection->count / block, selection->to->block_bits, &bits))
        return wb__fail(context, WB_ERROR_LIMIT, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_READ_RESULT_BITS);
    if (bits % 8 != 0)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_READ_RESULT_BYTES,
                        (unsigned long long)selection->count, selection->to->name);
    selection->bytes = bits / 8;
    return WB_OK;
}

wb_status wb__selection_make(const wb_model *model, wb__context *context, uint64_t tensor,
                             const wb_slice *caller, int32_t dtype, wb__selection *selection)
{
    const wb__packed *packed;
    size_t stored;
    wb_slice own;
    const wb_slice *slice = &own;
    wb_status found = wb__resolve(model, context, tensor, &stored, &packed);
    if (found != WB_OK)
        return found;
    const wb__kind *kind =
        packed != NULL ? &packed->packing->kind : wb__table_kind_of(&model->catalog.table, stored);
    const wb__dtype *to = dtype >= 0 ? wb__dtype_get(dtype) : kind->dtype;
    if (to == NULL)
        return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET, WB__STR(""),
                        WB__MSG_READ_DTYPE, (long)dtype);
    if (packed != NULL && dtype < 0)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        wb__table_name(&model->catalog.table, stored), WB__MSG_READ_DTYPE_PARTS);
    *selection = (wb__selection){.stored = stored,
                                 .packed = packed,
                                 .kind = kind,
                                 .from = kind->dtype,
                                 .to = to,
                                 .count = kind->elements};
    selection->decode = packed != NULL || (kind->dtype->block_size > 1 && to != kind->dtype);
    if (selection->decode)
        selection->from = wb__decoder_gives(packed, to);
    if (!wb__dtype_converts(selection->from, to))
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_UNSUPPORTED, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_READ_CONVERT, kind->dtype->name, to->name,
                        kind->dtype->kind == WB__CLASS_COMPLEX || to->kind == WB__CLASS_COMPLEX
                            ? WB__MSG_READ_CONVERT_COMPLEX
                            : "");
    if (caller != NULL) {
        if (!WB__TAKE(wb_slice, caller, &own))
            return WB__FAIL_SIZE(context, wb_slice, caller);
        if (slice->rank != 0) {
            wb_status status = check_axes(context, slice, kind, &selection->count);
            if (status != WB_OK)
                return status;
            selection->axes = slice->axes;
        }
        if (slice->first > selection->count)
            return fail_slice(context, WB__MSG_READ_SLICE_FIRST);
        selection->first = slice->first;
        selection->count -= slice->first;
        if (slice->count < selection->count)
            selection->count = slice->count;
    }
    wb_status status = check_units(context, selection);
    return status != WB_OK ? status : measure(context, selection);
}

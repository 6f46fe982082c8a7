/*
 * The layout of a buffer. Its sections for one tensor are:
 *
 *     values         packed codes, as stored
 *     scales         as stored; affine scales become F16 unless the policy keeps them
 *     biases         as stored; affine biases become F16 unless the policy keeps them
 *     global_scale   F32: one for the tensor, or one per expert
 *     order          g_idx of GPTQ
 *
 * If tensors a, b, … are fused, each section contains the data of a, then that of b, …
 *
 * Tensors with more than two dimensions are joined matrix by matrix: expert e of gate_up consists
 * of the rows of expert e of gate, then those of expert e of up.
 *
 * AWQ and GPTQ tensors are stored transposed: each stored row contains some inputs of all outputs.
 * In a fused buffer each row contains the outputs of a, then those of b, …, so the runs of the
 * tensors are interleaved row by row.
 */
#include "provider/buffer_request.h"

#include "dtype/dtype_block.h"
#include "provider/provider_messages.h"
#include "weighbridge/codec.h"

/* Maximum number of matrices that are joined one by one. Each matrix takes memory, and a file can
 * declare any number of them. */
#define STACK_MAX 65536

typedef struct maker {
    wb__layout *layout;
    wb__context *context;
    const wb_model *model;
    const wb__operands *operands;
    const wb__rank *rank;
    const wb__target_type *becomes;
    wb__cut lead;    /* range of dimension 0, if the tensor has more than two dimensions */
    uint64_t pieces; /* total number of ranges of all operands, which are joined */
    bool pads;       /* some ranges are padded with zero rows */
    uint32_t joint;  /* dimension along which the ranges are joined */
} maker;

static const char *const roles[WB__PARTS] = {"values", "scales", "biases", "global_scale", "order"};

static wb__str name_of(const wb__operand *operand)
{
    return (wb__str){operand->tensor.name, operand->tensor.name_len};
}

#define REFUSE(m, operand, ...)                                                                    \
    wb__fail((m)->context, WB_ERROR_UNSUPPORTED, WB__FINDING_FUSE, WB_NO_OFFSET, name_of(operand), \
             __VA_ARGS__)

/* ---- dtypes ---- */

static bool is_plain(const wb__operand *operand)
{
    return strcmp(operand->encoding.type, "plain") == 0;
}

static bool is_affine(const wb__operand *operand)
{
    return strcmp(operand->encoding.type, "affine") == 0 ||
           strcmp(operand->encoding.type, "int4") == 0 ||
           strcmp(operand->encoding.type, "int8") == 0;
}

static bool is_common_float(int32_t dtype)
{
    return dtype == WB_DTYPE_F32 || dtype == WB_DTYPE_F16 || dtype == WB_DTYPE_BF16;
}

int32_t wb__target_dtype(const wb__target_type *becomes, const wb__operand *operand)
{
    if (is_plain(operand) && becomes->plain >= 0 && is_common_float(operand->encoding.dtype))
        return becomes->plain;
    return operand->encoding.dtype;
}

static int32_t dtype_of_section(const maker *m, const wb__operand *operand, wb__part part,
                                int32_t stored)
{
    if (is_plain(operand))
        return wb__target_dtype(m->becomes, operand);
    if (is_affine(operand) && m->becomes->converts_scales && part != WB__PART_VALUES &&
        is_common_float(stored))
        return WB_DTYPE_F16;
    return stored;
}

/* ---- runs ---- */

/* Converts an index along a logical axis of length `catalog` to an index along the axis of a part,
 * whose length `own` is smaller because values are packed. Rounds up if `up` is set. Returns false
 * on overflow. */
static bool scale_index(uint64_t index, uint64_t catalog, uint64_t own, bool up, uint64_t *scaled)
{
    uint64_t product;
    if (index == catalog) {
        *scaled = own;
        return true;
    }
    if (!wb__mul(index, own, &product))
        return false;
    *scaled = product / catalog + (up && product % catalog != 0);
    return true;
}

/* Computes the dimension of a part that corresponds to a logical axis, and the range along it that
 * corresponds to `cut`. Returns false if there is no such dimension, or on overflow. */
static bool cut_of_part(const wb__operand *operand, const wb_tensor *part, wb__part role,
                        uint32_t axis, wb__cut cut, uint32_t *own_axis, wb__cut *own)
{
    uint64_t catalog = operand->tensor.shape[axis];
    uint32_t within = operand->members != 0 ? axis - 1 : axis;
    uint64_t end = cut.start + cut.count;
    if (wb__is_transposed(operand))
        within = 1 - within;
    if (within >= part->rank)
        return false;
    *own_axis = within;
    uint64_t length = part->shape[within];
    if (role == WB__PART_SCALES && strcmp(operand->encoding.type, "fp8_block") == 0) {
        uint64_t block = operand->encoding.group_size;
        own->start = cut.start / block;
        own->count = end / block + (end % block != 0) - own->start;
        return true;
    }
    if (!scale_index(cut.start, catalog, length, false, &own->start) ||
        !scale_index(end, catalog, length, true, &own->count))
        return false;
    own->count -= own->start;
    return true;
}

static uint64_t product_of(const uint64_t *shape, uint32_t from, uint32_t to)
{
    uint64_t product = 1;
    for (uint32_t i = from; i < to; i++)
        product *= shape[i]; /* cannot overflow, because the size of the tensor in bytes is known */
    return product;
}

/* Computes the byte range of the indices `own` along `axis` of a part. If `axis` is not dimension
 * 0, the range is limited to the indices `lead` of dimension 0. */
static void place_range(const wb_tensor *part, const char *role, uint32_t axis, wb__cut own,
                        wb__cut lead, wb_plan_range *range)
{
    const wb__dtype *dtype = wb__dtype_get((int32_t)part->dtype);
    uint64_t inner = part->rank == 0 ? 1 : product_of(part->shape, axis + 1, part->rank);
    uint64_t length = part->rank == 0 ? 1 : part->shape[axis];
    uint64_t between = axis == 0 ? 1 : product_of(part->shape, 1, axis);
    uint64_t outer = axis == 0 ? 1 : lead.count * between;
    uint64_t first = axis == 0 ? 0 : lead.start * between;
    *range = (wb_plan_range){.size = sizeof *range,
                             .role = role,
                             .file = part->file,
                             .bytes = wb__dtype_bytes(dtype, own.count * inner),
                             .count = outer,
                             .stride = wb__dtype_bytes(dtype, length * inner)};
    range->offset = part->offset + wb__dtype_bytes(dtype, (first * length + own.start) * inner);
    if (own.count == length || outer == 1) { /* contiguous */
        range->bytes *= outer;
        range->count = 1;
        range->stride = range->bytes;
    }
}

static wb_status add_run(maker *m, const wb_tensor *part, uint64_t number, bool is_decoded,
                         int32_t to, uint32_t axis, wb__cut own, wb__cut lead)
{
    wb__layout *layout = m->layout;
    wb__run *run = wb__list_append(&layout->runs);
    wb_axis *axes = wb__arena_alloc(&layout->arena, (part->rank + (size_t)1) * sizeof *axes);
    uint64_t stored_bytes;
    if (run == NULL || axes == NULL)
        return wb__fail_memory(m->context);
    for (uint32_t i = 0; i < part->rank; i++) {
        wb__cut whole = {0, part->shape[i]};
        wb__cut cut = i == axis ? own : i == 0 ? lead : whole;
        axes[i] = (wb_axis){.start = cut.start, .count = cut.count, .step = 1};
    }
    *run = (wb__run){
        .part = number,
        .slice = {.size = sizeof run->slice, .rank = part->rank, .axes = axes, .count = UINT64_MAX},
        .from = (int32_t)part->dtype,
        .to = to,
        .is_decoded = is_decoded,
        .interleaved_runs = 1,
        .section = layout->section_count,
        .dst = layout->bytes};
    place_range(part, roles[0], axis, own, lead, &run->range);
    run->range.tensor = number;
    wb_status status =
        wb_tensor_read_size(m->model, number, &run->slice, is_decoded ? run->from : -1,
                            &run->elements, &stored_bytes, m->context->error);
    if (status != WB_OK)
        return status;
    if (run->elements == 0)
        run->range.bytes = run->range.count = run->range.stride = 0;
    run->bytes = to == run->from ? stored_bytes : wb__dtype_bytes(wb__dtype_get(to), run->elements);
    return wb__add(layout->bytes, run->bytes, &layout->bytes) ? WB_OK : wb__fail_memory(m->context);
}

/* Computes the dimension of a part that corresponds to a logical axis, and the range along it that
 * is needed for the range `cut` of the logical axis. */
static wb_status cut_part(const maker *m, const wb__operand *operand, const wb_tensor *part,
                          wb__part role, uint32_t axis, wb__cut cut, uint32_t *own_axis,
                          wb__cut *own)
{
    bool by_inputs = axis + 1 == operand->tensor.rank;
    *own_axis = 0;
    *own = (wb__cut){0, part->rank == 0 ? 1 : part->shape[0]}; /* the whole part */
    if (role == WB__PART_GLOBAL_SCALE || operand->tensor.rank == 0)
        return WB_OK;
    if (role == WB__PART_ORDER) {
        *own = by_inputs ? cut : *own;
        return WB_OK;
    }
    if (wb__has_order(operand) && by_inputs && role != WB__PART_VALUES)
        return WB_OK; /* with g_idx, an input can belong to any group, so all groups are needed */
    return cut_of_part(operand, part, role, axis, cut, own_axis, own)
               ? WB_OK
               : wb__fail_memory(m->context); /* an index overflows */
}

/* Adds a run for one part of an operand or, if its experts are stored one by one, for this part of
 * each expert. A run is the range `cut` of `axis`, within the indices `lead` of dimension 0. */
static wb_status add_part(maker *m, const wb__operand *operand, wb__part role, uint32_t axis,
                          wb__cut cut, wb__cut lead)
{
    uint64_t members = operand->members != 0 ? lead.count : 1;
    for (uint64_t i = 0; i < members; i++) {
        uint64_t parts[WB__PARTS];
        wb_tensor part = {.size = sizeof part};
        wb__cut own, own_lead = lead;
        uint32_t own_axis = 0;
        wb_status status = wb__operand_parts(m->context, m->model, operand, lead.start + i, parts);
        if (status == WB_OK)
            status = wb_tensor_at(m->model, parts[role], &part, m->context->error);
        if (status != WB_OK)
            return status;
        if (operand->is_decoded)
            part.dtype = operand->tensor.dtype;
        int32_t to = dtype_of_section(m, operand, role, (int32_t)part.dtype);
        wb_section *section = &m->layout->sections[m->layout->section_count];
        if (section->bytes == 0 && section->dtype < 0)
            section->dtype = to;
        if (section->dtype != to)
            return REFUSE(m, operand, WB__MSG_PROVIDER_FUSE_DTYPE, roles[role], wb_dtype_name(to),
                          wb_dtype_name(section->dtype));
        if (!wb__is_stack(operand) || operand->members != 0)
            own_lead = (wb__cut){0, part.rank == 0 ? 1 : part.shape[0]};
        status = cut_part(m, operand, &part, role, axis, cut, &own_axis, &own);
        if (role == WB__PART_GLOBAL_SCALE && operand->members == 0 && part.elements > 1)
            own = lead; /* a stack has one global scale for each matrix */
        if (status == WB_OK)
            status =
                add_run(m, &part, parts[role], operand->is_decoded, to, own_axis, own, own_lead);
        if (status != WB_OK)
            return status;
        wb__run *run = wb__list_at(&m->layout->runs, m->layout->runs.count - 1);
        run->range.role = roles[role];
        section->bytes += run->bytes;
    }
    return WB_OK;
}

/* Adds a run of zeros after the last run of a part, if its rows are padded. */
static wb_status add_padding(maker *m, const wb__operand *operand, wb__part role,
                             const wb__axis_split *share)
{
    wb__layout *layout = m->layout;
    bool by_rows = m->rank->of == 0 || m->rank->axis == m->joint;
    wb__cut have = by_rows ? share->cuts[0] : (wb__cut){0, operand->tensor.shape[0]};
    wb__cut want = {have.start, have.count + share->padding};
    wb_tensor part = {.size = sizeof part};
    uint32_t axis;
    uint64_t elements, most;
    if (share->padding == 0 || role > WB__PART_BIASES)
        return WB_OK;
    const wb__run *last = wb__list_at(&layout->runs, layout->runs.count - 1);
    wb_status status = wb_tensor_at(m->model, last->part, &part, m->context->error);
    if (status != WB_OK)
        return status;
    bool fits = cut_of_part(operand, &part, role, 0, have, &axis, &have) &&
                cut_of_part(operand, &part, role, 0, want, &axis, &want);
    elements = fits ? want.count - have.count : 0;
    for (uint32_t i = 0; i < part.rank && fits; i++) {
        if (i != axis)
            fits = wb__mul(elements, last->slice.axes[i].count, &elements);
    }
    const wb__dtype *dtype = wb__dtype_get(last->to);
    wb__run *zeros = wb__list_append(&layout->runs);
    if (!fits || !wb__mul(elements, dtype->block_bits, &most) || zeros == NULL)
        return wb__fail_memory(m->context);
    if (elements % wb__dtype_unit(dtype) != 0)
        return REFUSE(m, operand, WB__MSG_PROVIDER_PAD_BITS, wb_dtype_name(last->to));
    *zeros = (wb__run){.part = WB__NO_PART,
                       .from = last->to,
                       .to = last->to,
                       .interleaved_runs = 1,
                       .section = layout->section_count,
                       .elements = elements,
                       .dst = layout->bytes,
                       .bytes = wb__dtype_bytes(dtype, elements)};
    layout->sections[layout->section_count].bytes += zeros->bytes;
    return wb__add(layout->bytes, zeros->bytes, &layout->bytes) ? WB_OK
                                                                : wb__fail_memory(m->context);
}

/* Interleaves run `first` and all runs after it row by row. They have the same number of rows. */
static wb_status interleave(maker *m, size_t first)
{
    wb__list *runs = &m->layout->runs;
    size_t n = runs->count - first;
    const wb__run *head = wb__list_at(runs, first);
    uint64_t rows = head->slice.axes[0].count, dst = head->dst;
    uint64_t pitch = rows == 0 ? 0 : (m->layout->bytes - dst) / rows;
    if (pitch == 0)
        return WB_OK; /* the runs are empty */
    for (size_t i = first; i < runs->count; i++) {
        wb__run *run = wb__list_at(runs, i);
        uint64_t its = run->bytes / rows;
        run->interleaved_runs = (uint32_t)n;
        run->rows = rows;
        run->pitch = pitch;
        run->dst = dst;
        dst += its;
        run->range.stride = run->range.count == 1 ? its : run->range.stride;
        run->range.bytes = its;
        run->range.count = its == 0 ? 0 : rows;
    }
    if (pitch <= WB__PITCH_MAX)
        return WB_OK;
    return REFUSE(m, &m->operands->list[0], WB__MSG_PROVIDER_FUSE_PITCH, (unsigned long long)pitch,
                  (unsigned long long)WB__PITCH_MAX);
}

/* Adds the ranges of all operands to the current section, within the indices `lead` of dimension
 * 0. */
static wb_status add_joined(maker *m, wb__part role, wb__cut lead)
{
    size_t first = m->layout->runs.count;
    bool is_interleaved = (m->pieces > 1 || m->pads) && wb__is_transposed(&m->operands->list[0]) &&
                          role <= WB__PART_BIASES;
    for (size_t i = 0; i < m->operands->count; i++) {
        const wb__operand *operand = &m->operands->list[i];
        const wb__axis_split *share = &m->layout->shares[i];
        uint32_t axis = m->rank->of == 0 ? m->joint : m->rank->axis;
        bool by_lead = wb__is_stack(operand) && axis == 0;
        for (uint32_t c = 0; c < share->count; c++) {
            wb__cut cut = share->cuts[c];
            if (by_lead) { /* `lead` already selects the range */
                axis = m->joint;
                cut = (wb__cut){0, operand->tensor.shape[axis]};
            }
            wb_status status = add_part(m, operand, role, axis, cut, lead);
            if (status != WB_OK)
                return status;
        }
        wb_status status = add_padding(m, operand, role, share);
        if (status != WB_OK)
            return status;
    }
    return is_interleaved ? interleave(m, first) : WB_OK;
}

/* Returns true if the part is a scale that is stored once for the whole tensor, not once per
 * matrix. */
static bool is_one_for_all(const maker *m, wb__part role)
{
    const wb__operand *operand = &m->operands->list[0];
    uint64_t parts[WB__PARTS];
    wb_tensor part = {.size = sizeof part};
    return role == WB__PART_GLOBAL_SCALE && operand->members == 0 &&
           wb__operand_parts(m->context, m->model, operand, 0, parts) == WB_OK &&
           wb_tensor_at(m->model, parts[role], &part, NULL) == WB_OK && part.elements == 1;
}

static wb_status add_section(maker *m, wb__part role)
{
    wb__layout *layout = m->layout;
    wb_section *section = &layout->sections[layout->section_count];
    size_t first = layout->runs.count;
    *section = (wb_section){.role = roles[role], .dtype = -1, .offset = layout->bytes};
    wb_status status = WB_OK;
    if (m->pieces == 1 || !wb__is_stack(&m->operands->list[0]) || is_one_for_all(m, role)) {
        status = add_joined(m, role, m->lead);
    } else {
        for (uint64_t i = 0; i < m->lead.count && status == WB_OK; i++)
            status = add_joined(m, role, (wb__cut){m->lead.start + i, 1});
    }
    if (status != WB_OK)
        return status;
    /* Only now is the dtype known: align the section to the size of its elements. */
    const wb__dtype *dtype = wb__dtype_get(section->dtype < 0 ? WB_DTYPE_U8 : section->dtype);
    uint64_t size = wb__dtype_is_plain(dtype) && dtype->block_bits > 8 ? dtype->block_bits / 8 : 1;
    uint64_t shift = (size - section->offset % size) % size;
    section->offset += shift;
    for (size_t i = first; i < layout->runs.count; i++)
        ((wb__run *)wb__list_at(&layout->runs, i))->dst += shift;
    layout->section_count++;
    return wb__add(layout->bytes, shift, &layout->bytes) ? WB_OK : wb__fail_memory(m->context);
}

/* ---- what fits together ---- */

static wb_status check_types(const maker *m, const wb__operand *first, const wb__operand *other)
{
    const wb_encoding *a = &first->encoding, *b = &other->encoding;
    int32_t x = wb__target_dtype(m->becomes, first), y = wb__target_dtype(m->becomes, other);
    if (strcmp(a->type, b->type) != 0 || x != y)
        return REFUSE(m, other, WB__MSG_PROVIDER_FUSE_ENCODING, b->type, (long)y, a->type, (long)x);
    if (!is_plain(first) && a->bits != b->bits)
        return REFUSE(m, other, WB__MSG_PROVIDER_FUSE_BITS, (unsigned long)b->bits,
                      (unsigned long)a->bits);
    if (a->group_size != b->group_size)
        return REFUSE(m, other, WB__MSG_PROVIDER_FUSE_GROUPS, (unsigned long)b->group_size,
                      (unsigned long)a->group_size);
    if (a->parts != b->parts || a->global != b->global || first->members != other->members)
        return REFUSE(m, other, WB__MSG_PROVIDER_FUSE_PARTS);
    return WB_OK;
}

static wb_status check_shapes(const maker *m, const wb__operand *first, const wb__operand *other)
{
    const wb_tensor *a = &first->tensor, *b = &other->tensor;
    if (a->rank != b->rank || a->rank == 0)
        return REFUSE(m, other, WB__MSG_PROVIDER_FUSE_RANK, (unsigned long)b->rank,
                      (unsigned long)a->rank);
    for (uint32_t i = 0; i < a->rank; i++) {
        if (i != m->joint && a->shape[i] != b->shape[i])
            return REFUSE(m, other, WB__MSG_PROVIDER_FUSE_SHAPE, (unsigned long long)b->shape[i],
                          i == a->rank - 1 ? "columns" : "matrices",
                          (unsigned long long)a->shape[i]);
    }
    return WB_OK;
}

/* Checks that the rows of an operand can be joined with those of other operands. */
static wb_status check_joint(const maker *m, const wb__operand *operand,
                             const wb__axis_split *share, bool is_last)
{
    if (m->pieces == 1)
        return WB_OK;
    if (operand->tensor.rank > 3)
        return REFUSE(m, operand, WB__MSG_PROVIDER_FUSE_DIMENSIONS);
    if (wb__is_stack(operand) && operand->tensor.shape[0] > STACK_MAX)
        return REFUSE(m, operand, WB__MSG_PROVIDER_FUSE_MATRICES, STACK_MAX);
    if (strcmp(operand->encoding.type, "fp8_block") != 0 || operand->tensor.rank < 2)
        return WB_OK;
    for (uint32_t c = 0; c < share->count; c++) {
        bool at_end = is_last && c + 1 == share->count;
        bool by_rows = m->rank->of == 0 || m->rank->axis == m->joint;
        uint64_t rows = by_rows ? share->cuts[c].count : operand->tensor.shape[m->joint];
        if (!at_end && rows % operand->encoding.group_size != 0)
            return REFUSE(m, operand, WB__MSG_PROVIDER_FUSE_BLOCK, (unsigned long long)rows,
                          (unsigned long)operand->encoding.group_size);
    }
    return WB_OK;
}

static wb_status check(const maker *m)
{
    const wb__operand *first = &m->operands->list[0];
    size_t n = m->operands->count;
    for (size_t i = 0; i < n; i++) {
        const wb__operand *other = &m->operands->list[i];
        wb_status status = i == 0 ? WB_OK : check_types(m, first, other);
        if (status == WB_OK && i > 0)
            status = check_shapes(m, first, other);
        if (status == WB_OK)
            status = check_joint(m, other, &m->layout->shares[i], i + 1 == n);
        if (status != WB_OK)
            return status;
        const wb__cut *a = &m->layout->shares[0].cuts[0], *b = &m->layout->shares[i].cuts[0];
        if (m->rank->of != 0 && m->rank->axis != m->joint &&
            (a->start != b->start || a->count != b->count))
            return REFUSE(m, other, WB__MSG_PROVIDER_FUSE_SHARD);
    }
    return WB_OK;
}

/* ---- all of it ---- */

static wb_status make_shares(maker *m)
{
    wb__layout *layout = m->layout;
    size_t n = m->operands->count;
    layout->shares = wb__arena_alloc(&layout->arena, n * sizeof *layout->shares);
    if (layout->shares == NULL)
        return wb__fail_memory(m->context);
    for (size_t i = 0; i < n; i++) {
        const wb__operand *operand = &m->operands->list[i];
        wb__axis_split *share = &layout->shares[i];
        wb_status status = wb__axis_split_make(m->context, m->model, operand, m->rank,
                                               m->becomes->vocab_multiple, share);
        if (status != WB_OK)
            return status;
        m->pieces += share->count;
        m->pads |= share->padding != 0;
    }
    return WB_OK;
}

static uint64_t sum_of(const wb__axis_split *share)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < share->count; c++)
        sum += share->cuts[c].count;
    return sum;
}

/* Computes the shape of the buffer, and the number of rows of each joined range. */
static wb_status make_shape(maker *m)
{
    wb__layout *layout = m->layout;
    const wb_tensor *tensor = &m->operands->list[0].tensor;
    bool by_joint = m->rank->of == 0 || m->rank->axis == m->joint;
    layout->rank = tensor->rank;
    layout->parts = (uint32_t)(by_joint ? m->pieces : m->operands->count);
    layout->shape = wb__arena_alloc(&layout->arena, (tensor->rank + (size_t)1) * sizeof(uint64_t));
    layout->part_rows = wb__arena_alloc(&layout->arena, layout->parts * sizeof(uint64_t));
    if (layout->shape == NULL || layout->part_rows == NULL)
        return wb__fail_memory(m->context);
    if (tensor->rank > 0)
        memcpy(layout->shape, tensor->shape, tensor->rank * sizeof(uint64_t));
    if (!by_joint)
        layout->shape[m->rank->axis] = sum_of(&layout->shares[0]);
    uint64_t rows = 0;
    uint32_t part = 0;
    for (size_t i = 0; i < m->operands->count; i++) {
        const wb__axis_split *share = &layout->shares[i];
        const wb_tensor *of = &m->operands->list[i].tensor;
        for (uint32_t c = 0; c < (by_joint ? share->count : 1); c++) {
            uint64_t its = by_joint ? share->cuts[c].count : of->rank > 0 ? of->shape[m->joint] : 1;
            layout->part_rows[part++] = its;
            if (!wb__add(rows, its, &rows))
                return wb__fail_memory(m->context);
        }
        if (!wb__add(rows, share->padding, &rows))
            return wb__fail_memory(m->context);
    }
    if (tensor->rank > 0 && (by_joint || m->rank->axis != m->joint))
        layout->shape[m->joint] = rows;
    return WB_OK;
}

static void count_ranges(wb__layout *layout)
{
    for (size_t i = 0; i < layout->runs.count;) {
        wb__run *run = wb__list_at(&layout->runs, i);
        uint32_t n = run->interleaved_runs;
        for (uint32_t k = 0; k < n; k++)
            ((wb__run *)wb__list_at(&layout->runs, i + k))->first_range = layout->ranges;
        layout->ranges += n == 1 ? 1 : run->rows * n;
        i += n;
    }
}

static wb_status make(maker *m)
{
    const wb__operand *first = &m->operands->list[0];
    uint64_t parts[WB__PARTS];
    wb_status status = make_shares(m);
    if (status == WB_OK)
        status = check(m);
    if (status == WB_OK)
        status = make_shape(m);
    if (status != WB_OK)
        return status;
    m->lead = (wb__cut){0, first->tensor.rank == 0 ? 1 : first->tensor.shape[0]};
    if (wb__is_stack(first) && m->rank->of != 0 && m->rank->axis == 0)
        m->lead = m->layout->shares[0].cuts[0];
    m->layout->dtype = wb__target_dtype(m->becomes, first);
    status = wb__operand_parts(m->context, m->model, first, 0, parts);
    for (int role = 0; role < WB__PARTS && status == WB_OK; role++) {
        if (parts[role] != WB__NO_PART)
            status = add_section(m, (wb__part)role);
    }
    if (status == WB_OK)
        count_ranges(m->layout);
    return status;
}

wb_status wb__layout_make(wb__layout *layout, wb__context *context, const wb_model *model,
                          const wb__operands *operands, const wb__rank *rank,
                          const wb__target_type *becomes)
{
    memset(layout, 0, sizeof *layout);
    layout->arena.allocator = &context->allocator;
    layout->runs = (wb__list){.arena = &layout->arena, .item_size = sizeof(wb__run)};
    maker m = {.layout = layout,
               .context = context,
               .model = model,
               .operands = operands,
               .rank = rank,
               .becomes = becomes,
               .joint = wb__joint_of(&operands->list[0])};
    return make(&m);
}

void wb__layout_free(wb__layout *layout)
{
    if (layout->arena.allocator == NULL)
        return;
    wb__list_free(&layout->runs);
    wb__arena_free(&layout->arena);
}

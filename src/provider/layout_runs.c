/* The runs of a section: ranges of stored tensors, and where their bytes are in the buffer. */
#include "provider/layout.h"

#include "dtype/dtype_block.h"
#include "provider/provider_messages.h"
#include "weighbridge/codec.h"

const char *const wb__section_roles[WB__PARTS] = {"values", "scales", "biases", "global_scale",
                                                  "order"};

/* ---- dtypes ---- */

static bool is_affine(const wb__operand *operand)
{
    return strcmp(operand->encoding.type, "affine") == 0 ||
           strcmp(operand->encoding.type, "int4") == 0 ||
           strcmp(operand->encoding.type, "int8") == 0;
}

static int32_t dtype_of_section(const wb__layout_maker *m, const wb__operand *operand,
                                wb__part part, int32_t stored)
{
    if (wb__is_plain_operand(operand))
        return wb__target_dtype(m->becomes, operand);
    if (is_affine(operand) && m->becomes->converts_scales && part != WB__PART_VALUES &&
        wb__is_common_float(stored))
        return WB_DTYPE_F16;
    return stored;
}

/* ---- runs ---- */

/* Converts an index along an axis of the operand, which has the length `catalog`, to an index along
 * the corresponding axis of a stored part. That axis has the length `own`, which is smaller if an
 * element of the part holds several values or applies to several values. Rounds up if `up` is set.
 * Returns false on overflow. */
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

/* Computes the dimension of a part that corresponds to dimension `axis` of the operand, and the
 * range along it that corresponds to the range `cut` of the operand. Returns false if there is no
 * such dimension, or on overflow. */
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
        product *= shape[i]; /* cannot overflow unless the tensor is empty: opening has checked the
                              * product of all dimensions */
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

/* Computes which range of a part is needed for the range `cut` of the operand. Usually cut_of_part
 * computes it. But global scales, and scales of a GPTQ tensor with g_idx, are needed completely for
 * every range of the operand. */
static wb_status cut_part(const wb__layout_maker *m, const wb__operand *operand,
                          const wb_tensor *part, wb__part role, uint32_t axis, wb__cut cut,
                          uint32_t *own_axis, wb__cut *own)
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

/* A range of an operand. It becomes one run for each stored part of the operand (values, scales,
 * …). */
typedef struct piece {
    const wb__operand *operand;
    uint32_t axis;
    wb__cut cut;  /* range of indices along `axis`; index 0 is the start of the tensor, even if the
                   * operand is only a part of this tensor */
    wb__cut lead; /* range of dimension 0, if `axis` is not 0 */
    wb__row_change change;
} piece;

/*
 * Applies the row permutation of a piece to a run. Because rows are permuted within a head, the run
 * reads complete heads: if the piece is a range of rows, sets *own to the rows of these heads. Only
 * the rows that belong to the piece are copied to the buffer.
 */
static wb_status permute_run(const wb__layout_maker *m, const piece *of, const wb_tensor *part,
                             wb__part role, wb__cut *own, wb__run *run)
{
    const wb__row_change *change = &of->change;
    bool by_rows = of->axis == wb__joint_of(of->operand);
    bool is_scaled =
        role == WB__PART_SCALES && strcmp(of->operand->encoding.type, "fp8_block") == 0;
    wb__cut rows = by_rows ? of->cut : (wb__cut){0, of->operand->tensor.shape[0]};
    uint64_t end = rows.start + rows.count, head = change->head_rows;
    bool is_whole = rows.start % head == 0 && rows.count % head == 0;
    if (role > WB__PART_BIASES)
        return WB_OK;
    if (is_scaled) /* a scale applies to a block of rows, which must contain whole heads */
        return of->operand->encoding.group_size % head == 0 || part->rank < 2
                   ? WB_OK
                   : WB__REFUSE_FUSE(m, of->operand, WB__MSG_PROVIDER_ROPE_BLOCK,
                                     (unsigned long)of->operand->encoding.group_size);
    run->change = *change;
    run->to_rows = rows;
    if (wb__is_transposed(of->operand)) {
        run->is_inner = true;
        run->inner_bits = part->dtype != WB_DTYPE_I32 ? 0 : of->operand->encoding.bits;
        if (strcmp(of->operand->encoding.type, "gptq") == 0 && role == WB__PART_VALUES)
            run->inner_bits = 0; /* a GPTQ word contains eight inputs of one output: permute
                                  * words */
        run->is_awq = strcmp(of->operand->encoding.type, "awq") == 0;
        return is_whole && of->operand->encoding.bits == 4
                   ? WB_OK
                   : WB__REFUSE_FUSE(m, of->operand, WB__MSG_PROVIDER_ROPE_HEADS);
    }
    rows.start -= rows.start % head;
    rows.count = end + (head - end % head) % head - rows.start; /* within the tensor */
    run->first_row = rows.start;
    if (by_rows)
        *own = rows;
    return WB_OK;
}

/* Sets run->bytes, and run->elements to the number of elements to read. */
static wb_status measure_run(const wb__layout_maker *m, wb__run *run)
{
    uint64_t stored;
    wb_status status =
        wb_tensor_read_size(m->model, run->part, &run->slice, run->is_decoded ? run->from : -1,
                            &run->elements, &stored, m->context->error);
    if (status != WB_OK)
        return status;
    if (run->elements == 0)
        run->range.bytes = run->range.count = run->range.stride = 0;
    run->bytes =
        run->to == run->from ? stored : wb__dtype_bytes(wb__dtype_get(run->to), run->elements);
    if (run->change.head_rows == 0 || run->is_inner || run->elements == 0)
        return WB_OK;
    run->rows = run->slice.axes[0].count;
    if (run->bytes % run->rows != 0)
        return wb__fail(m->context, WB_ERROR_UNSUPPORTED, WB__FINDING_ROWS, WB_NO_OFFSET,
                        WB__STR(""), WB__MSG_PROVIDER_ROPE_BITS, wb_dtype_name((int32_t)run->from));
    run->bytes = run->bytes / run->rows * run->to_rows.count;
    return WB_OK;
}

static wb_status add_run(wb__layout_maker *m, const piece *of, const wb_tensor *part,
                         uint64_t number, wb__part role, int32_t to)
{
    wb__layout *layout = m->layout;
    wb__run *run = wb__list_append(&layout->runs);
    wb_axis *axes = wb__arena_alloc(&layout->arena, (part->rank + (size_t)1) * sizeof *axes);
    wb__cut own, lead = of->lead;
    uint32_t axis = 0;
    if (run == NULL || axes == NULL)
        return wb__fail_memory(m->context);
    *run = (wb__run){.part = number,
                     .from = (int32_t)part->dtype,
                     .to = to,
                     .is_decoded = of->operand->is_decoded,
                     .adds = of->change.adds,
                     .interleaved_runs = 1,
                     .section = layout->section_count,
                     .dst = layout->bytes};
    if (!wb__is_stack(of->operand) || of->operand->members != 0)
        lead = (wb__cut){0, part->rank == 0 ? 1 : part->shape[0]};
    wb_status status = cut_part(m, of->operand, part, role, of->axis, of->cut, &axis, &own);
    if (role == WB__PART_GLOBAL_SCALE && of->operand->members == 0 && part->elements > 1)
        own = of->lead; /* a stack has one global scale for each matrix */
    if (status == WB_OK && of->change.head_rows != 0)
        status = permute_run(m, of, part, role, &own, run);
    if (status != WB_OK)
        return status;
    for (uint32_t i = 0; i < part->rank; i++) {
        wb__cut whole = {0, part->shape[i]};
        wb__cut cut = i == axis ? own : i == 0 ? lead : whole;
        axes[i] = (wb_axis){.start = cut.start, .count = cut.count, .step = 1};
    }
    run->slice = (wb_slice){
        .size = sizeof run->slice, .rank = part->rank, .axes = axes, .count = UINT64_MAX};
    place_range(part, wb__section_roles[role], axis, own, lead, &run->range);
    run->range.tensor = number;
    status = measure_run(m, run);
    if (status != WB_OK)
        return status;
    run->converts = run->from != run->to || run->adds != 0;
    layout->sections[layout->section_count].bytes += run->bytes;
    return wb__add(layout->bytes, run->bytes, &layout->bytes) ? WB_OK : wb__fail_memory(m->context);
}

/*
 * Adds a run (a range of a stored tensor, wb__run) for one part of an operand, for example its
 * scales. If the experts of the operand are stored one by one, adds a run for this part of each
 * expert.
 */
static wb_status add_part(wb__layout_maker *m, const piece *of, wb__part role)
{
    const wb__operand *operand = of->operand;
    uint64_t members = operand->members != 0 ? of->lead.count : 1;
    for (uint64_t i = 0; i < members; i++) {
        uint64_t parts[WB__PARTS];
        wb_tensor part = {.size = sizeof part};
        wb_status status =
            wb__operand_parts(m->context, m->model, operand, of->lead.start + i, parts);
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
            return WB__REFUSE_FUSE(m, operand, WB__MSG_PROVIDER_FUSE_DTYPE, wb__section_roles[role],
                                   wb_dtype_name(to), wb_dtype_name(section->dtype));
        status = add_run(m, of, &part, parts[role], role, to);
        if (status != WB_OK)
            return status;
    }
    return WB_OK;
}

/* Adds a run of zeros after the last run of a part, if its rows are padded. */
static wb_status add_padding(wb__layout_maker *m, const wb__operand *operand, wb__part role,
                             const wb__axis_split *share)
{
    wb__layout *layout = m->layout;
    bool by_rows = wb__is_by_rows(m);
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
        return WB__REFUSE_FUSE(m, operand, WB__MSG_PROVIDER_PAD_BITS, wb_dtype_name(last->to));
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
static wb_status interleave(wb__layout_maker *m, size_t first)
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
    return WB__REFUSE_FUSE(m, &m->operands->list[0], WB__MSG_PROVIDER_FUSE_PITCH,
                           (unsigned long long)pitch, (unsigned long long)WB__PITCH_MAX);
}

/* Returns range `c` of an operand as a piece of the current section. */
static piece make_piece(const wb__layout_maker *m, const wb__operand *operand, wb__cut cut,
                        uint32_t c, wb__cut lead)
{
    piece of = {.operand = operand,
                .axis = m->rank->of == 0 ? m->joint : m->rank->axis,
                .cut = cut,
                .lead = lead,
                .change = operand->change};
    if (wb__is_stack(operand) && of.axis == 0) { /* `lead` already selects the matrices */
        of.axis = m->joint;
        of.cut = (wb__cut){0, wb__operand_length(operand, m->joint)};
    }
    if (of.axis == m->joint)
        of.cut.start += operand->first_row; /* cannot overflow: at most the number of rows */
    if (operand->role.leaf == WB__LEAF_QKV && c == 2)
        of.change.head_rows = 0; /* RoPE does not apply to v */
    return of;
}

wb_status wb__layout_add_joined(wb__layout_maker *m, wb__part role, wb__cut lead)
{
    const wb__operand *leader = &m->operands->list[0];
    size_t first = m->layout->runs.count;
    bool is_interleaved = (m->pieces > 1 || m->pads || leader->change.head_rows != 0) &&
                          wb__is_transposed(leader) && role <= WB__PART_BIASES;
    for (size_t i = 0; i < m->operands->count; i++) {
        const wb__operand *operand = &m->operands->list[i];
        const wb__axis_split *share = &m->layout->shares[i];
        for (uint32_t c = 0; c < share->count; c++) {
            const piece of = make_piece(m, operand, share->cuts[c], c, lead);
            wb_status status = add_part(m, &of, role);
            if (status != WB_OK)
                return status;
        }
        wb_status status = add_padding(m, operand, role, share);
        if (status != WB_OK)
            return status;
    }
    return is_interleaved ? interleave(m, first) : WB_OK;
}

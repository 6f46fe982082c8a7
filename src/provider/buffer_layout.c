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
#include "provider/layout.h"

#include "dtype/dtype_block.h"

/* ---- sections ---- */

/* Returns true if the part is a scale that is stored once for the whole tensor, not once per
 * matrix. */
static bool is_one_for_all(const wb__layout_maker *m, wb__part role)
{
    const wb__operand *operand = &m->operands->list[0];
    uint64_t parts[WB__PARTS];
    wb_tensor part = {.size = sizeof part};
    return role == WB__PART_GLOBAL_SCALE && operand->members == 0 &&
           wb__operand_parts(m->context, m->model, operand, 0, parts) == WB_OK &&
           wb_tensor_at(m->model, parts[role], &part, NULL) == WB_OK && part.elements == 1;
}

static wb_status add_section(wb__layout_maker *m, wb__part role)
{
    wb__layout *layout = m->layout;
    wb_section *section = &layout->sections[layout->section_count];
    size_t first = layout->runs.count;
    *section = (wb_section){.role = wb__section_roles[role], .dtype = -1, .offset = layout->bytes};
    wb_status status = WB_OK;
    if (m->pieces == 1 || !wb__is_stack(&m->operands->list[0]) || is_one_for_all(m, role)) {
        status = wb__layout_add_joined(m, role, m->lead);
    } else {
        for (uint64_t i = 0; i < m->lead.count && status == WB_OK; i++)
            status = wb__layout_add_joined(m, role, (wb__cut){m->lead.start + i, 1});
    }
    if (status != WB_OK)
        return status;
    /* Align the section to the size of its elements. This is done last because their dtype is known
     * only now. */
    const wb__dtype *dtype = wb__dtype_get(section->dtype < 0 ? WB_DTYPE_U8 : section->dtype);
    uint64_t size = wb__dtype_is_plain(dtype) && dtype->block_bits > 8 ? dtype->block_bits / 8 : 1;
    uint64_t shift = (size - section->offset % size) % size;
    section->offset += shift;
    for (size_t i = first; i < layout->runs.count; i++)
        ((wb__run *)wb__list_at(&layout->runs, i))->dst += shift;
    layout->section_count++;
    return wb__add(layout->bytes, shift, &layout->bytes) ? WB_OK : wb__fail_memory(m->context);
}

/* ---- all of it ---- */

static wb_status make_shares(wb__layout_maker *m)
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

static uint32_t count_parts(const wb__layout_maker *m)
{
    uint32_t parts = 0;
    for (size_t i = 0; i < m->operands->count; i++)
        parts += wb__is_by_rows(m) ? m->layout->shares[i].parts : 1;
    return parts;
}

/* Computes the shape of the buffer, and the number of rows of each part (layout->part_rows). */
static wb_status make_shape(wb__layout_maker *m)
{
    wb__layout *layout = m->layout;
    const wb_tensor *tensor = &m->operands->list[0].tensor;
    bool by_joint = wb__is_by_rows(m);
    layout->rank = tensor->rank;
    layout->parts = count_parts(m);
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
        const wb__operand *of = &m->operands->list[i];
        for (uint32_t c = 0; c < (by_joint ? share->parts : 1); c++) {
            uint64_t its = by_joint              ? share->part_rows[c]
                           : of->tensor.rank > 0 ? wb__operand_length(of, m->joint)
                                                 : 1;
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

static wb_status make(wb__layout_maker *m)
{
    const wb__operand *first = &m->operands->list[0];
    uint64_t parts[WB__PARTS];
    wb_status status = make_shares(m);
    if (status == WB_OK)
        status = wb__layout_check(m);
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
    wb__layout_maker m = {.layout = layout,
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

/* Checks that tensors can be fused. */
#include "provider/layout.h"
#include "provider/provider_messages.h"
#include "weighbridge/codec.h"

/* Maximum number of matrices in a stack that is fused. Each matrix takes memory, and a file can
 * declare any number of them. */
#define STACK_MAX 65536

/* Returns the name of a dtype, or a word for the values of a packed encoding, which has no dtype. */
static const char *name_of(int32_t dtype)
{
    const char *name = wb_dtype_name(dtype);
    return name == NULL ? "packed" : name;
}

static wb_status check_types(const wb__layout_maker *m, const wb__operand *first,
                             const wb__operand *other)
{
    const wb_encoding *a = &first->encoding, *b = &other->encoding;
    int32_t x = wb__target_dtype(m->becomes, first), y = wb__target_dtype(m->becomes, other);
    bool same_type = strcmp(a->type, b->type) == 0;
    if (same_type && !wb__is_plain_operand(first) && a->bits != b->bits)
        return WB__REFUSE_FUSE(m, other, WB__MSG_PROVIDER_FUSE_BITS, (unsigned long)b->bits,
                               (unsigned long)a->bits);
    if (!same_type || x != y)
        return WB__REFUSE_FUSE(m, other, WB__MSG_PROVIDER_FUSE_ENCODING, b->type, name_of(y),
                               a->type, name_of(x));
    if (a->group_size != b->group_size)
        return WB__REFUSE_FUSE(m, other, WB__MSG_PROVIDER_FUSE_GROUPS, (unsigned long)b->group_size,
                               (unsigned long)a->group_size);
    if (a->parts != b->parts || a->global != b->global || first->members != other->members)
        return WB__REFUSE_FUSE(m, other, WB__MSG_PROVIDER_FUSE_PARTS);
    return WB_OK;
}

static wb_status check_shapes(const wb__layout_maker *m, const wb__operand *first,
                              const wb__operand *other)
{
    const wb_tensor *a = &first->tensor, *b = &other->tensor;
    if (a->rank != b->rank || a->rank == 0)
        return WB__REFUSE_FUSE(m, other, WB__MSG_PROVIDER_FUSE_RANK, (unsigned long)b->rank,
                               (unsigned long)a->rank);
    for (uint32_t i = 0; i < a->rank; i++) {
        if (i != m->joint && a->shape[i] != b->shape[i])
            return WB__REFUSE_FUSE(
                m, other, WB__MSG_PROVIDER_FUSE_SHAPE, (unsigned long long)b->shape[i],
                i == a->rank - 1 ? "columns" : "matrices", (unsigned long long)a->shape[i]);
    }
    return WB_OK;
}

/* Checks that 1 can be added to norm weights of this dtype. */
static wb_status check_norm(const wb__layout_maker *m, const wb__operand *operand)
{
    bool is_float = wb__is_plain_operand(operand) && wb__is_common_float(operand->encoding.dtype);
    if (operand->change.adds == 0 || is_float)
        return WB_OK;
    return wb__fail(m->context, WB_ERROR_UNSUPPORTED, WB__FINDING_ROWS, WB_NO_OFFSET,
                    (wb__str){operand->tensor.name, operand->tensor.name_len},
                    WB__MSG_PROVIDER_NORM_DTYPE, operand->encoding.type);
}

/* Checks that the rows of an operand can be joined with those of other operands. */
static wb_status check_joint(const wb__layout_maker *m, const wb__operand *operand,
                             const wb__axis_split *share, bool is_last)
{
    if (m->pieces == 1)
        return WB_OK;
    if (operand->tensor.rank > 3)
        return WB__REFUSE_FUSE(m, operand, WB__MSG_PROVIDER_FUSE_DIMENSIONS);
    if (wb__is_stack(operand) && operand->tensor.shape[0] > STACK_MAX)
        return WB__REFUSE_FUSE(m, operand, WB__MSG_PROVIDER_FUSE_MATRICES, STACK_MAX);
    if (strcmp(operand->encoding.type, "fp8_block") != 0 || operand->tensor.rank < 2)
        return WB_OK;
    for (uint32_t c = 0; c < share->count; c++) {
        bool at_end = is_last && c + 1 == share->count;
        uint64_t rows =
            wb__is_by_rows(m) ? share->cuts[c].count : wb__operand_length(operand, m->joint);
        if (!at_end && rows % operand->encoding.group_size != 0)
            return WB__REFUSE_FUSE(m, operand, WB__MSG_PROVIDER_FUSE_BLOCK,
                                   (unsigned long long)rows,
                                   (unsigned long)operand->encoding.group_size);
    }
    return WB_OK;
}

wb_status wb__layout_check(const wb__layout_maker *m)
{
    const wb__operand *first = &m->operands->list[0];
    size_t n = m->operands->count;
    for (size_t i = 0; i < n; i++) {
        const wb__operand *other = &m->operands->list[i];
        wb_status status = i == 0 ? WB_OK : check_types(m, first, other);
        if (status == WB_OK && i > 0)
            status = check_shapes(m, first, other);
        if (status == WB_OK)
            status = check_norm(m, other);
        if (status == WB_OK)
            status = check_joint(m, other, &m->layout->shares[i], i + 1 == n);
        if (status != WB_OK)
            return status;
        const wb__cut *a = &m->layout->shares[0].cuts[0], *b = &m->layout->shares[i].cuts[0];
        if (m->rank->of != 0 && m->rank->axis != m->joint &&
            (a->start != b->start || a->count != b->count))
            return WB__REFUSE_FUSE(m, other, WB__MSG_PROVIDER_FUSE_SHARD);
    }
    return WB_OK;
}

/*
 * Partitions a dimension among ranks.
 *
 * The tensors of a group share a dimension: the outputs of gate and up are the inputs of down, and
 * the outputs of q are the inputs of the attention output. So all tensors of a group use the same
 * boundaries between ranks: the multiples of a unit that the encodings of all of them permit.
 * Therefore a rank gets corresponding ranges of all tensors of the group.
 *
 * If there are too few boundaries for the number of ranks, the tensor that has the dimension as its
 * inputs (down, or the attention output) is refused, so the layer cannot be partitioned. The rows
 * of the other tensors of the group are then partitioned independently (`alone`), for callers that
 * distribute only the bytes among the ranks, not the computation.
 */
#include "provider/buffer_request.h"

#include <stdio.h>

#include "dtype/dtype_block.h"
#include "provider/provider_messages.h"
#include "weighbridge/config.h"

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a == 0 ? 1 : a;
}

/* Returns the least common multiple, or UINT64_MAX, which exceeds every dimension, on overflow. */
static uint64_t lcm(uint64_t a, uint64_t b)
{
    uint64_t product;
    return wb__mul(a / gcd(a, b), b, &product) && product != 0 ? product : UINT64_MAX;
}

static wb__str name_of(const wb__operand *operand)
{
    return (wb__str){operand->tensor.name, operand->tensor.name_len};
}

#define REFUSE(context, operand, ...)                                                              \
    wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_SLICE, WB_NO_OFFSET, name_of(operand),     \
             __VA_ARGS__)

static unsigned long long big(uint64_t n)
{
    return n;
}

/* ---- boundaries that the encoding permits ---- */

/* Returns the unit of the last dimension, in elements: the encoding permits boundaries only at
 * multiples of the unit. */
static uint64_t unit_of_inputs(const wb__operand *operand)
{
    const wb_encoding *encoding = &operand->encoding;
    if (strcmp(encoding->type, "gptq") == 0) {
        uint64_t word = 32 / encoding->bits;
        return wb__has_order(operand) ? word : lcm(encoding->group_size, word);
    }
    if (encoding->group_size != 0)
        return encoding->group_size;
    const wb__dtype *dtype = wb__dtype_get((int32_t)operand->tensor.dtype);
    return dtype == NULL ? 1 : wb__dtype_unit(dtype);
}

/* Returns the unit of the rows: the number n, if the encoding permits boundaries only at multiples
 * of n rows. */
static uint64_t unit_of_rows(const wb__operand *operand)
{
    const wb_encoding *encoding = &operand->encoding;
    if (operand->tensor.rank < 2) /* a vector has one dimension, so its elements count as rows */
        return unit_of_inputs(operand);
    if (strcmp(encoding->type, "fp8_block") == 0)
        return encoding->group_size;
    return wb__is_transposed(operand) ? 32 / encoding->bits : 1;
}

static uint64_t unit_of(const wb__operand *operand, uint32_t axis)
{
    uint32_t rank = operand->tensor.rank;
    if (rank >= 2 && axis == rank - 1)
        return unit_of_inputs(operand);
    return axis == wb__joint_of(operand) ? unit_of_rows(operand) : 1;
}

/* ---- groups of tensors ---- */

/* Returns the role of a tensor in its group. The role is WB__LEAF_NONE if the tensor belongs to no
 * group, or its group does not share this axis. */
static wb__layer_role role_at(const wb__operand *operand, uint32_t axis)
{
    wb__layer_role role = operand->role;
    uint32_t rank = operand->tensor.rank;
    bool fits = wb__leaf_is_inputs(role.leaf) ? rank >= 2 && axis == rank - 1
                                              : axis == wb__joint_of(operand);
    if (!fits)
        role.leaf = WB__LEAF_NONE;
    return role;
}

/* Looks up the tensor with role `leaf` in the group of `member`. If the model has this tensor, sets
 * *unit to the least common multiple of *unit and the tensor's unit. */
static wb_status join_unit(wb__context *context, const wb_model *model, const wb__operand *member,
                           wb__leaf leaf, uint64_t *unit)
{
    char name[WB__LAYER_ROLE_BYTES];
    wb__operands found = {.allocator = context->allocator, .decodes = member->is_decoded};
    uint64_t number;
    const wb__layer_role role = {.group = member->role.group, .suffix = WB__STR("weight")};
    if (wb__layer_role_name(&role, leaf, name) == 0)
        return WB_OK;
    wb_status status = wb_tensor_find(model, name, SIZE_MAX, &number);
    if (status == WB_ERROR_NOT_FOUND)
        return WB_OK;
    if (status == WB_OK)
        status = wb__operands_add_key(&found, context, model, number);
    if (status == WB_OK) {
        const wb__operand *of = &found.list[0];
        *unit = lcm(*unit, wb__leaf_is_inputs(leaf) ? unit_of_inputs(of) : unit_of_rows(of));
    }
    wb__operands_free(&found);
    return status == WB_ERROR_MEMORY ? wb__fail_memory(context) : status;
}

static wb_status join_units(wb__context *context, const wb_model *model, const wb__operand *member,
                            const wb__leaf *leaves, size_t n, uint64_t *unit)
{
    wb_status status = WB_OK;
    for (size_t i = 0; i < n && status == WB_OK; i++)
        status = join_unit(context, model, member, leaves[i], unit);
    return status;
}

/* ---- ranges of a rank ---- */

static uint64_t units_of(uint64_t n, uint64_t unit)
{
    return n / unit + (n % unit != 0);
}

/*
 * Divides n indices among `of` ranks at multiples of `unit`, as evenly as possible; the last unit
 * may be incomplete. Returns the range of one rank.
 */
static wb__cut even_cut(uint64_t n, uint64_t unit, uint64_t rank, uint64_t of)
{
    uint64_t units = units_of(n, unit);
    uint64_t each = units / of, more = units % of;
    uint64_t first = rank * each + (rank < more ? rank : more);
    uint64_t last = first + each + (rank < more);
    wb__cut cut = {.start = first * unit};
    cut.count = (last >= units ? n : last * unit) - cut.start;
    return cut;
}

static wb_status cut_units(wb__context *context, const wb__operand *operand, const wb__rank *rank,
                           uint64_t n, wb__axis_split *share, wb__cut *cut)
{
    uint64_t unit = share->unit;
    uint64_t units = units_of(n, unit);
    if (units < rank->of)
        return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_AXIS, big(n),
                      (unsigned long)rank->axis, big(unit), (unsigned long)rank->of);
    *cut = even_cut(n, unit, rank->rank, rank->of);
    share->uneven |= units % rank->of != 0 || n % unit != 0;
    return WB_OK;
}

static wb_status share_feed_forward(wb__context *context, const wb_model *model,
                                    const wb__operand *operand, const wb__rank *rank, wb__leaf leaf,
                                    wb__axis_split *share)
{
    static const wb__leaf leaves[] = {WB__LEAF_GATE, WB__LEAF_UP, WB__LEAF_GATE_UP, WB__LEAF_DOWN};
    uint64_t n = wb__operand_length(operand, rank->axis);
    uint64_t own = share->unit;
    wb_status status =
        join_units(context, model, operand, leaves, sizeof leaves / sizeof leaves[0], &share->unit);
    if (status != WB_OK)
        return status;
    share->count = leaf == WB__LEAF_GATE_UP ? 2 : 1;
    if (n % share->count != 0 || n / share->count % own != 0)
        return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_GATE_UP, big(n));
    n /= share->count;
    if (leaf != WB__LEAF_DOWN && units_of(n, share->unit) < rank->of) {
        share->unit = own;
        share->alone = true;
    }
    for (uint32_t i = 0; i < share->count && status == WB_OK; i++) {
        status = cut_units(context, operand, rank, n, share, &share->cuts[i]);
        share->cuts[i].start += i * n;
    }
    return status;
}

typedef struct heads {
    wb__head_counts counts;
    /* boundaries between ranks are multiples of q_unit rows of q, and of kv_unit rows of k or v */
    uint64_t q_unit, kv_unit;
    /* as q_unit, but only for boundaries that the attention output also permits */
    uint64_t output_unit;
} heads;

/* Reads the numbers of heads from the config, and computes the units of `heads` (q_unit, kv_unit,
 * output_unit). Sets *known to whether the numbers of heads match the shape of this tensor. */
static wb_status find_heads(wb__context *context, const wb_model *model, const wb__operand *operand,
                            const wb__rank *rank, wb__leaf leaf, heads *h, bool *known)
{
    static const wb__leaf whole = WB__LEAF_QKV, q = WB__LEAF_Q, output = WB__LEAF_OUTPUT;
    static const wb__leaf kv[] = {WB__LEAF_K, WB__LEAF_V};
    wb_status status = wb__head_counts_of(context, model, &operand->role, &h->counts);
    *known = status == WB_OK && h->counts.q != 0 &&
             wb__operand_length(operand, rank->axis) == wb__head_rows(&h->counts, leaf);
    uint64_t q_unit = 1, kv_unit = 1;
    if (status == WB_OK)
        status = join_units(context, model, operand, &whole, 1, &q_unit);
    kv_unit = q_unit;
    if (status == WB_OK)
        status = join_units(context, model, operand, &q, 1, &q_unit);
    uint64_t output_unit = q_unit;
    if (status == WB_OK)
        status = join_units(context, model, operand, &output, 1, &output_unit);
    if (status == WB_OK)
        status = join_units(context, model, operand, kv, 2, &kv_unit);
    h->q_unit = q_unit;
    h->kv_unit = kv_unit;
    h->output_unit = output_unit;
    return status;
}

/* The rows of q, and of k and v, that a rank gets. If q.count or kv.count is 0, these rows cannot
 * be divided among the given number of ranks. */
typedef struct head_cuts {
    wb__cut q, kv;
    uint64_t copies; /* number of ranks that get the same key-value head */
    bool uneven;
    char why[160]; /* if q.count is 0: message that says why the rows cannot be divided */
} head_cuts;

/* Assigns complete key-value heads, with their query heads, to each rank. */
static void cut_kv_heads(const wb__rank *rank, const heads *h, uint64_t q_unit, head_cuts *cuts)
{
    const wb__head_counts *c = &h->counts;
    uint64_t each = c->q / c->kv * c->dim; /* number of rows of q for each key-value head */
    uint64_t together = lcm(q_unit / gcd(each, q_unit), h->kv_unit / gcd(c->dim, h->kv_unit));
    uint64_t units = units_of(c->kv, together);
    if (units < rank->of) {
        (void)snprintf(cuts->why, sizeof cuts->why, WB__MSG_PROVIDER_SHARD_KV_HEADS, big(together),
                       big(c->kv), (unsigned long)rank->of);
        return;
    }
    wb__cut cut = even_cut(c->kv, together, rank->rank, rank->of);
    cuts->kv = (wb__cut){cut.start * c->dim, cut.count * c->dim};
    cuts->q = (wb__cut){cut.start * each, cut.count * each};
    cuts->uneven = units % rank->of != 0 || c->kv % together != 0;
}

/* Used if there are more ranks than key-value heads: several ranks get the same key-value head and
 * divide its query heads. */
static void cut_q_heads(const wb__rank *rank, const heads *h, uint64_t q_unit, head_cuts *cuts)
{
    const wb__head_counts *c = &h->counts;
    uint64_t of = rank->of, each = c->q / c->kv;
    uint64_t head =
        rank->rank * c->kv / of; /* cannot overflow: both factors have at most 32 bits */
    uint64_t first = (head * of + c->kv - 1) / c->kv, end = ((head + 1) * of + c->kv - 1) / c->kv;
    uint64_t together = lcm(c->dim, q_unit) / c->dim;
    /* Maximum number of ranks per key-value head. Unlike cuts->copies, this number is the same for
     * all ranks, so that either all ranks fail or none. */
    uint64_t most = of / c->kv + (of % c->kv != 0);
    cuts->copies = end - first;
    if (c->dim % h->kv_unit == 0)
        cuts->kv = (wb__cut){head * c->dim, c->dim};
    if (each % together != 0 || each / together < most) {
        (void)snprintf(cuts->why, sizeof cuts->why, WB__MSG_PROVIDER_SHARD_QUERY_HEADS, big(each),
                       big(together), big(most));
        return;
    }
    wb__cut cut = even_cut(each, together, rank->rank - first, cuts->copies);
    cuts->q = (wb__cut){(head * each + cut.start) * c->dim, cut.count * c->dim};
    cuts->uneven = of % c->kv != 0 || each / together % cuts->copies != 0;
}

static head_cuts cut_heads(const wb__rank *rank, const heads *h, uint64_t q_unit)
{
    head_cuts cuts = {.copies = 1};
    if (rank->of <= h->counts.kv)
        cut_kv_heads(rank, h, q_unit, &cuts);
    else
        cut_q_heads(rank, h, q_unit, &cuts);
    return cuts;
}

static wb_status share_heads(wb__context *context, const wb__operand *operand, const wb__rank *rank,
                             wb__leaf leaf, const heads *h, wb__axis_split *share)
{
    const wb__head_counts *c = &h->counts;
    uint64_t q_rows = c->q_rows, kv_rows = c->kv_rows, own = share->unit;
    bool is_kv = leaf == WB__LEAF_K || leaf == WB__LEAF_V;
    bool wants_q = !is_kv, wants_kv = is_kv || leaf == WB__LEAF_QKV;
    head_cuts cuts = cut_heads(rank, h, h->output_unit);
    if (cuts.q.count == 0 && leaf == WB__LEAF_OUTPUT)
        return REFUSE(context, operand, "%s", cuts.why);
    if ((wants_q && cuts.q.count == 0) || (wants_kv && cuts.kv.count == 0)) {
        share->alone = true;
        cuts = cut_heads(rank, h, h->q_unit);
    }
    if (wants_kv && cuts.kv.count == 0)
        return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_HEAD_ROWS, big(h->kv_unit),
                      big(c->dim));
    share->uneven = cuts.uneven && wants_q;
    share->unit = c->dim;
    if (wants_q && cuts.q.count == 0) { /* boundaries between rows */
        share->unit = own;
        wb_status status = cut_units(context, operand, rank, q_rows, share, &cuts.q);
        if (status != WB_OK)
            return status;
    }
    share->count = leaf == WB__LEAF_QKV ? 3 : 1;
    share->cuts[0] = wants_q ? cuts.q : cuts.kv;
    share->replicated = wants_q ? 1 : (uint32_t)cuts.copies;
    if (leaf != WB__LEAF_QKV)
        return WB_OK;
    share->cuts[1] = (wb__cut){q_rows + cuts.kv.start, cuts.kv.count};
    share->cuts[2] = (wb__cut){q_rows + kv_rows + cuts.kv.start, cuts.kv.count};
    if (q_rows % h->kv_unit != 0 || kv_rows % h->kv_unit != 0)
        return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_QKV_BLOCK);
    return WB_OK;
}

static wb_status check_rank(wb__context *context, const wb__operand *operand, const wb__rank *rank)
{
    const char *what = rank->axis >= operand->tensor.rank ? WB__MSG_PROVIDER_SHARD_NO_AXIS
                                                          : WB__MSG_PROVIDER_SHARD_RANK;
    if (rank->axis < operand->tensor.rank && rank->rank < rank->of)
        return WB_OK;
    return wb__fail(context, WB_ERROR_ARGUMENT, WB__FINDING_ARGUMENT, WB_NO_OFFSET,
                    name_of(operand), "part %lu:%lu/%lu: %s", (unsigned long)rank->axis,
                    (unsigned long)rank->rank, (unsigned long)rank->of, what);
}

/* ---- vocabularies ---- */

static const wb__str vocabularies[] = {
    {"token_embedding.weight", 22}, {"output.weight", 13}, {"output.bias", 11}};
#define VOCABULARIES (sizeof vocabularies / sizeof vocabularies[0])

/* Returns true for the token embedding and the output, whose rows correspond to tokens. */
static bool is_vocabulary(const wb__operand *operand)
{
    wb__str name = {operand->canonical, operand->canonical_len};
    bool found = false;
    for (size_t i = 0; i < VOCABULARIES; i++)
        found |= wb__str_equal(name, vocabularies[i]);
    return found && operand->members == 0 && operand->tensor.rank >= 1 &&
           operand->tensor.rank <= 2 && operand->tensor.elements > 0;
}

/* Sets *unit so that the token embedding and the output both permit boundaries between ranks at
 * multiples of *unit. A rank then gets the same rows of both. */
static wb_status unit_of_vocabulary(wb__context *context, const wb_model *model,
                                    const wb__operand *member, uint64_t *unit)
{
    wb__operands found = {.allocator = context->allocator, .decodes = member->is_decoded};
    wb_status status = WB_OK;
    uint64_t number;
    *unit = unit_of_rows(member);
    for (size_t i = 0; i < VOCABULARIES && status == WB_OK; i++) {
        if (wb_tensor_find(model, vocabularies[i].ptr, vocabularies[i].len, &number) == WB_OK)
            status = wb__operands_add_key(&found, context, model, number);
    }
    for (size_t i = 0; i < found.count; i++)
        *unit = lcm(*unit, unit_of_rows(&found.list[i]));
    wb__operands_free(&found);
    return status;
}

/* Divides the rows of a vocabulary so that all ranks get the same number. The last rows may be
 * padding. */
static wb_status share_vocabulary(wb__context *context, const wb_model *model,
                                  const wb__operand *operand, const wb__rank *rank,
                                  uint32_t multiple, wb__axis_split *share)
{
    uint64_t n = operand->tensor.shape[0], all, unit;
    uint32_t of = rank->of == 0 ? 1 : rank->of;
    wb_status status = unit_of_vocabulary(context, model, operand, &unit);
    if (status != WB_OK)
        return status;
    share->unit = wb__mul(unit, of, &unit) ? lcm(multiple, unit) : UINT64_MAX;
    if (!wb__mul(units_of(n, share->unit), share->unit, &all))
        return REFUSE(context, operand, WB__MSG_PROVIDER_PAD_ROWS, big(n), big(share->unit));
    uint64_t each = all / of, start = rank->rank * each;
    uint64_t left = start < n ? n - start : 0, rows = left < each ? left : each;
    share->cuts[0] = (wb__cut){rows == 0 ? 0 : start, rows};
    share->padding = each - rows;
    return WB_OK;
}

/* ---- all of it ---- */

static wb_status share_out(wb__context *context, const wb_model *model, const wb__operand *operand,
                           const wb__rank *rank, wb__axis_split *share)
{
    heads h;
    bool known = false;
    wb_status status;
    uint64_t n = wb__operand_length(operand, rank->axis);
    share->unit = unit_of(operand, rank->axis);
    if (rank->of == 1) {
        share->cuts[0] = (wb__cut){0, n};
        return WB_OK;
    }
    wb__leaf leaf = role_at(operand, rank->axis).leaf;
    switch (leaf) {
    case WB__LEAF_GATE:
    case WB__LEAF_UP:
    case WB__LEAF_GATE_UP:
    case WB__LEAF_DOWN: return share_feed_forward(context, model, operand, rank, leaf, share);
    case WB__LEAF_Q:
    case WB__LEAF_K:
    case WB__LEAF_V:
    case WB__LEAF_QKV:
    case WB__LEAF_OUTPUT:
        status = find_heads(context, model, operand, rank, leaf, &h, &known);
        if (status != WB_OK || known)
            return status != WB_OK ? status : share_heads(context, operand, rank, leaf, &h, share);
        if (leaf == WB__LEAF_QKV)
            return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_QKV, big(n));
        break;
    default: break;
    }
    return cut_units(context, operand, rank, n, share, &share->cuts[0]);
}

static wb_status make_cuts(wb__context *context, const wb_model *model, const wb__operand *operand,
                           const wb__rank *rank, uint32_t vocab_multiple, wb__axis_split *share)
{
    uint32_t joint = wb__joint_of(operand);
    bool pads = vocab_multiple != 0 && is_vocabulary(operand);
    wb_status status = rank->of == 0 ? WB_OK : check_rank(context, operand, rank);
    if (status != WB_OK)
        return status;
    if (pads && (rank->of == 0 || rank->axis == joint))
        return share_vocabulary(context, model, operand, rank, vocab_multiple, share);
    if (pads) { /* the inputs are partitioned: each rank gets all rows and all padding */
        static const wb__rank whole = {0, 0, 0};
        wb__axis_split rows = *share;
        status = share_vocabulary(context, model, operand, &whole, vocab_multiple, &rows);
        share->padding = rows.padding;
    }
    if (status != WB_OK || rank->of != 0)
        return status != WB_OK ? status : share_out(context, model, operand, rank, share);
    share->cuts[0].count = operand->tensor.rank == 0 ? 1 : wb__operand_length(operand, joint);
    return WB_OK;
}

/* Checks an operand that is only a part of a stored tensor, such as q in a stored qkv: the part
 * must begin and end at a boundary of blocks. Checks that such a part, or a complete qkv with
 * permuted rows, is divided among ranks only along its rows. */
static wb_status check_part(wb__context *context, const wb__operand *operand, const wb__rank *rank)
{
    uint32_t joint = wb__joint_of(operand);
    bool is_permuted_qkv = operand->role.leaf == WB__LEAF_QKV && operand->change.head_rows != 0;
    if (rank->of != 0 && rank->axis != joint && (operand->part != 0 || is_permuted_qkv))
        return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_PART_INPUTS);
    uint64_t unit = unit_of_rows(operand), end = operand->first_row + operand->part_rows;
    if (operand->part == 0 || (operand->first_row % unit == 0 &&
                               (end % unit == 0 || end == operand->tensor.shape[joint])))
        return WB_OK;
    return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_PART);
}

/* Sets share->parts and share->part_rows. A complete tensor of q, k and v, or of gate and up, is
 * one range with several parts. If its rows are permuted, each part becomes a separate range in
 * share->cuts. */
static void describe_parts(wb__context *context, const wb_model *model, const wb__operand *operand,
                           const wb__rank *rank, wb__axis_split *share)
{
    wb_error ignored;
    wb__context own = *context;
    uint64_t start = 0;
    own.error = wb__error_reset(NULL, &ignored);
    bool by_rows = rank->of == 0 || rank->axis == wb__joint_of(operand);
    if (by_rows && rank->of <= 1 && operand->part == 0 && operand->tensor.rank != 0)
        share->parts = (uint32_t)wb__rows_of_parts(&own, model, operand, share->part_rows);
    bool is_divided = share->parts == 0 || operand->change.head_rows == 0;
    for (uint32_t i = 0; share->parts == 0 && i < share->count; i++)
        share->part_rows[i] = share->cuts[i].count;
    share->parts = share->parts == 0 ? share->count : share->parts;
    for (uint32_t i = 0; !is_divided && i < share->parts; i++) {
        share->cuts[i] = (wb__cut){start, share->part_rows[i]};
        share->count = i + 1;
        start += share->part_rows[i];
    }
}

wb_status wb__axis_split_make(wb__context *context, const wb_model *model,
                              const wb__operand *operand, const wb__rank *rank,
                              uint32_t vocab_multiple, wb__axis_split *share)
{
    *share = (wb__axis_split){.count = 1, .replicated = 1, .unit = 1};
    wb_status status = check_part(context, operand, rank);
    if (status == WB_OK)
        status = make_cuts(context, model, operand, rank, vocab_multiple, share);
    if (status == WB_OK)
        describe_parts(context, model, operand, rank, share);
    return status;
}

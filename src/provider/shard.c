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
 * distribute bytes, not work.
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

/* Returns the number of elements of which boundaries along the last dimension must be multiples. */
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

/* Returns the number of rows of which boundaries between rows must be multiples. */
static uint64_t unit_of_rows(const wb__operand *operand)
{
    const wb_encoding *encoding = &operand->encoding;
    if (operand->tensor.rank < 2) /* the rows of a vector are its elements */
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

typedef enum group_kind { GROUP_NONE, GROUP_ATTENTION, GROUP_FEED_FORWARD } group_kind;

typedef enum leaf_kind {
    LEAF_NONE,
    LEAF_Q,
    LEAF_KV,
    LEAF_QKV,
    LEAF_OUTPUT, /* attention output: its inputs are the rows of q */
    LEAF_FF,
    LEAF_GATE_UP,
    LEAF_DOWN /* down: its inputs are the rows of gate and up */
} leaf_kind;

static const struct group_row {
    wb__str ending;
    group_kind kind;
} group_rows[] = {
    {{".attention", 10}, GROUP_ATTENTION},  {{".attn", 5}, GROUP_ATTENTION},
    {{".cross_attn", 11}, GROUP_ATTENTION}, {{".ffn", 4}, GROUP_FEED_FORWARD},
    {{".experts", 8}, GROUP_FEED_FORWARD},  {{".shared_experts", 15}, GROUP_FEED_FORWARD},
};

static const struct leaf_row {
    wb__str name;
    group_kind group;
    leaf_kind kind;
} leaf_rows[] = {
    {{"q", 1}, GROUP_ATTENTION, LEAF_Q},
    {{"k", 1}, GROUP_ATTENTION, LEAF_KV},
    {{"v", 1}, GROUP_ATTENTION, LEAF_KV},
    {{"qkv", 3}, GROUP_ATTENTION, LEAF_QKV},
    {{"output", 6}, GROUP_ATTENTION, LEAF_OUTPUT},
    {{"gate", 4}, GROUP_FEED_FORWARD, LEAF_FF},
    {{"up", 2}, GROUP_FEED_FORWARD, LEAF_FF},
    {{"gate_up", 7}, GROUP_FEED_FORWARD, LEAF_GATE_UP},
    {{"down", 4}, GROUP_FEED_FORWARD, LEAF_DOWN},
};
#define LEAF_ROWS (sizeof leaf_rows / sizeof leaf_rows[0])

typedef struct place {
    wb__str group; /* "layers.0.attention" */
    leaf_kind kind;
} place;

static bool is_inputs_kind(leaf_kind kind)
{
    return kind == LEAF_OUTPUT || kind == LEAF_DOWN;
}

/* Splits a text at its last dot. Returns the first part and sets *last to the second. */
static wb__str cut_last(wb__str text, wb__str *last)
{
    size_t n = text.len;
    while (n > 0 && text.ptr[n - 1] != '.')
        n--;
    *last = (wb__str){text.ptr + n, text.len - n};
    return (wb__str){text.ptr, n == 0 ? 0 : n - 1};
}

/* Returns the group of a tensor and its role there. The role is LEAF_NONE if the tensor belongs to
 * no group, or its group does not share this axis. */
static place place_of(const wb__operand *operand, uint32_t axis)
{
    wb__str suffix, leaf;
    place at = {.kind = LEAF_NONE};
    wb__str stem = cut_last((wb__str){operand->canonical, operand->canonical_len}, &suffix);
    if (operand->canonical_len == 0 ||
        (!wb__str_equal(suffix, WB__STR("weight")) && !wb__str_equal(suffix, WB__STR("bias"))))
        return at;
    at.group = cut_last(stem, &leaf);
    group_kind group = GROUP_NONE;
    for (size_t i = 0; i < sizeof group_rows / sizeof group_rows[0]; i++) {
        if (wb__str_ends_with(at.group, group_rows[i].ending))
            group = group_rows[i].kind;
    }
    for (size_t i = 0; i < LEAF_ROWS; i++) {
        if (leaf_rows[i].group == group && wb__str_equal(leaf, leaf_rows[i].name))
            at.kind = leaf_rows[i].kind;
    }
    uint32_t rank = operand->tensor.rank;
    bool fits =
        is_inputs_kind(at.kind) ? rank >= 2 && axis == rank - 1 : axis == wb__joint_of(operand);
    if (!fits)
        at.kind = LEAF_NONE;
    return at;
}

/* Sets *unit to a common multiple of *unit and the units of all tensors of one kind in `group`. */
static wb_status join_units(wb__context *context, const wb_model *model, const wb__operand *member,
                            wb__str group, leaf_kind kind, uint64_t *unit)
{
    char name[512];
    for (size_t i = 0; i < LEAF_ROWS; i++) {
        wb__operands found = {.allocator = context->allocator, .decodes = member->is_decoded};
        wb__str leaf = leaf_rows[i].name;
        uint64_t number;
        if (leaf_rows[i].kind != kind || group.len + leaf.len + 9 > sizeof name)
            continue;
        memcpy(name, group.ptr, group.len);
        name[group.len] = '.';
        memcpy(name + group.len + 1, leaf.ptr, leaf.len);
        memcpy(name + group.len + 1 + leaf.len, ".weight", 8);
        wb_status status = wb_tensor_find(model, name, SIZE_MAX, &number);
        if (status == WB_ERROR_NOT_FOUND)
            continue;
        if (status == WB_OK)
            status = wb__operands_add_number(&found, context, model, number);
        if (status == WB_OK) {
            const wb__operand *of = &found.list[0];
            uint64_t its = is_inputs_kind(kind) ? unit_of_inputs(of) : unit_of_rows(of);
            *unit = lcm(*unit, its);
        }
        wb__operands_free(&found);
        if (status != WB_OK)
            return status == WB_ERROR_MEMORY ? wb__fail_memory(context) : status;
    }
    return WB_OK;
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
                                    const wb__operand *operand, const wb__rank *rank,
                                    const place *at, wb__axis_split *share)
{
    uint64_t n = operand->tensor.shape[rank->axis];
    uint64_t own = share->unit;
    static const leaf_kind kinds[] = {LEAF_FF, LEAF_GATE_UP, LEAF_DOWN};
    wb_status status = WB_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == WB_OK; i++)
        status = join_units(context, model, operand, at->group, kinds[i], &share->unit);
    if (status != WB_OK)
        return status;
    share->count = at->kind == LEAF_GATE_UP ? 2 : 1;
    if (n % share->count != 0 || n / share->count % own != 0)
        return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_GATE_UP, big(n));
    n /= share->count;
    if (at->kind != LEAF_DOWN && units_of(n, share->unit) < rank->of) {
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
    uint64_t q, kv, dim;
    uint64_t q_unit, kv_unit; /* units of the rows of q, and of the rows of k and v */
    uint64_t output_unit;     /* unit that both q and the attention output permit */
} heads;

/* Reads the numbers of heads from the config, and computes the units. Sets *known to whether the
 * numbers match the shape of this tensor. */
static wb_status find_heads(wb__context *context, const wb_model *model, const wb__operand *operand,
                            const wb__rank *rank, const place *at, heads *h, bool *known)
{
    wb_config config = {.size = sizeof config};
    uint64_t n = operand->tensor.shape[rank->axis], q, kv, all;
    wb_status status = wb_config_get(model, &config, context->error);
    *known = false;
    if (status != WB_OK)
        return status;
    bool encoder = at->group.len > 4 && memcmp(at->group.ptr, "enc.", 4) == 0;
    *h = encoder ? (heads){.q = config.enc_n_heads, .kv = config.enc_n_heads}
                 : (heads){.q = config.n_heads, .kv = config.n_kv_heads, .dim = config.head_dim};
    if (encoder && h->q != 0)
        h->dim = config.enc_dim / h->q;
    if (h->q == 0 || h->kv == 0 || h->dim == 0 || h->q % h->kv != 0 || h->q > UINT32_MAX ||
        !wb__mul(h->q, h->dim, &q) || !wb__mul(h->kv, h->dim, &kv) || kv > q ||
        !wb__mul(q, 3, &all))
        return WB_OK;
    *known = n == (at->kind == LEAF_QKV ? q + 2 * kv : at->kind == LEAF_KV ? kv : q);
    uint64_t q_unit = 1, kv_unit = 1;
    status = join_units(context, model, operand, at->group, LEAF_QKV, &q_unit);
    kv_unit = q_unit;
    if (status == WB_OK)
        status = join_units(context, model, operand, at->group, LEAF_Q, &q_unit);
    uint64_t output_unit = q_unit;
    if (status == WB_OK)
        status = join_units(context, model, operand, at->group, LEAF_OUTPUT, &output_unit);
    if (status == WB_OK)
        status = join_units(context, model, operand, at->group, LEAF_KV, &kv_unit);
    h->q_unit = q_unit;
    h->kv_unit = kv_unit;
    h->output_unit = output_unit;
    return status;
}

/* The rows of q, and of k and v, that a rank gets. If q.count or kv.count is 0, these rows cannot
 * be divided among so many ranks. */
typedef struct head_cuts {
    wb__cut q, kv;
    uint64_t copies; /* number of ranks that get the same key-value head */
    bool uneven;
    char why[160]; /* if q.count is 0: the reason */
} head_cuts;

/* Gives each rank whole key-value heads with their query heads. */
static void cut_kv_heads(const wb__rank *rank, const heads *h, uint64_t q_unit, head_cuts *cuts)
{
    uint64_t each = h->q / h->kv * h->dim; /* number of rows of q for each key-value head */
    uint64_t together = lcm(q_unit / gcd(each, q_unit), h->kv_unit / gcd(h->dim, h->kv_unit));
    uint64_t units = units_of(h->kv, together);
    if (units < rank->of) {
        (void)snprintf(cuts->why, sizeof cuts->why, WB__MSG_PROVIDER_SHARD_KV_HEADS, big(together),
                       big(h->kv), (unsigned long)rank->of);
        return;
    }
    wb__cut cut = even_cut(h->kv, together, rank->rank, rank->of);
    cuts->kv = (wb__cut){cut.start * h->dim, cut.count * h->dim};
    cuts->q = (wb__cut){cut.start * each, cut.count * each};
    cuts->uneven = units % rank->of != 0 || h->kv % together != 0;
}

/* Used if there are more ranks than key-value heads: several ranks get the same key-value head and
 * divide its query heads. */
static void cut_q_heads(const wb__rank *rank, const heads *h, uint64_t q_unit, head_cuts *cuts)
{
    uint64_t of = rank->of, each = h->q / h->kv;
    uint64_t head =
        rank->rank * h->kv / of; /* cannot overflow: both factors have at most 32 bits */
    uint64_t first = (head * of + h->kv - 1) / h->kv, end = ((head + 1) * of + h->kv - 1) / h->kv;
    uint64_t together = lcm(h->dim, q_unit) / h->dim;
    /* Maximum number of ranks per key-value head. Unlike cuts->copies it is the same for all ranks,
     * so that all of them fail or none. */
    uint64_t most = of / h->kv + (of % h->kv != 0);
    cuts->copies = end - first;
    if (h->dim % h->kv_unit == 0)
        cuts->kv = (wb__cut){head * h->dim, h->dim};
    if (each % together != 0 || each / together < most) {
        (void)snprintf(cuts->why, sizeof cuts->why, WB__MSG_PROVIDER_SHARD_QUERY_HEADS, big(each),
                       big(together), big(most));
        return;
    }
    wb__cut cut = even_cut(each, together, rank->rank - first, cuts->copies);
    cuts->q = (wb__cut){(head * each + cut.start) * h->dim, cut.count * h->dim};
    cuts->uneven = of % h->kv != 0 || each / together % cuts->copies != 0;
}

static head_cuts cut_heads(const wb__rank *rank, const heads *h, uint64_t q_unit)
{
    head_cuts cuts = {.copies = 1};
    if (rank->of <= h->kv)
        cut_kv_heads(rank, h, q_unit, &cuts);
    else
        cut_q_heads(rank, h, q_unit, &cuts);
    return cuts;
}

static wb_status share_heads(wb__context *context, const wb__operand *operand, const wb__rank *rank,
                             const place *at, const heads *h, wb__axis_split *share)
{
    uint64_t q_rows = h->q * h->dim, kv_rows = h->kv * h->dim, own = share->unit;
    bool wants_q = at->kind != LEAF_KV, wants_kv = at->kind == LEAF_KV || at->kind == LEAF_QKV;
    head_cuts cuts = cut_heads(rank, h, h->output_unit);
    if (cuts.q.count == 0 && at->kind == LEAF_OUTPUT)
        return REFUSE(context, operand, "%s", cuts.why);
    if ((wants_q && cuts.q.count == 0) || (wants_kv && cuts.kv.count == 0)) {
        share->alone = true;
        cuts = cut_heads(rank, h, h->q_unit);
    }
    if (wants_kv && cuts.kv.count == 0)
        return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_HEAD_ROWS, big(h->kv_unit),
                      big(h->dim));
    share->uneven = cuts.uneven && wants_q;
    share->unit = h->dim;
    if (wants_q && cuts.q.count == 0) { /* boundaries between rows */
        share->unit = own;
        wb_status status = cut_units(context, operand, rank, q_rows, share, &cuts.q);
        if (status != WB_OK)
            return status;
    }
    share->count = at->kind == LEAF_QKV ? 3 : 1;
    share->cuts[0] = wants_q ? cuts.q : cuts.kv;
    share->replicated = wants_q ? 1 : (uint32_t)cuts.copies;
    if (at->kind != LEAF_QKV)
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

/* Computes a unit that the token embedding and the output permit, so that a rank gets the same rows
 * of both. */
static wb_status unit_of_vocabulary(wb__context *context, const wb_model *model,
                                    const wb__operand *member, uint64_t *unit)
{
    wb__operands found = {.allocator = context->allocator, .decodes = member->is_decoded};
    wb_status status = WB_OK;
    uint64_t number;
    *unit = unit_of_rows(member);
    for (size_t i = 0; i < VOCABULARIES && status == WB_OK; i++) {
        if (wb_tensor_find(model, vocabularies[i].ptr, vocabularies[i].len, &number) == WB_OK)
            status = wb__operands_add_number(&found, context, model, number);
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
    uint64_t n = operand->tensor.shape[rank->axis];
    share->unit = unit_of(operand, rank->axis);
    if (rank->of == 1) {
        share->cuts[0] = (wb__cut){0, n};
        return WB_OK;
    }
    place at = place_of(operand, rank->axis);
    switch (at.kind) {
    case LEAF_FF:
    case LEAF_GATE_UP:
    case LEAF_DOWN: return share_feed_forward(context, model, operand, rank, &at, share);
    case LEAF_Q:
    case LEAF_KV:
    case LEAF_QKV:
    case LEAF_OUTPUT:
        status = find_heads(context, model, operand, rank, &at, &h, &known);
        if (status != WB_OK || known)
            return status != WB_OK ? status : share_heads(context, operand, rank, &at, &h, share);
        if (at.kind == LEAF_QKV)
            return REFUSE(context, operand, WB__MSG_PROVIDER_SHARD_QKV, big(n));
        break;
    default: break;
    }
    return cut_units(context, operand, rank, n, share, &share->cuts[0]);
}

wb_status wb__axis_split_make(wb__context *context, const wb_model *model,
                              const wb__operand *operand, const wb__rank *rank,
                              uint32_t vocab_multiple, wb__axis_split *share)
{
    uint32_t joint = wb__joint_of(operand);
    bool pads = vocab_multiple != 0 && is_vocabulary(operand);
    *share = (wb__axis_split){.count = 1, .replicated = 1, .unit = 1};
    wb_status status = rank->of == 0 ? WB_OK : check_rank(context, operand, rank);
    if (status != WB_OK)
        return status;
    if (pads && (rank->of == 0 || rank->axis == joint))
        return share_vocabulary(context, model, operand, rank, vocab_multiple, share);
    if (pads) { /* partitioned along the other axis: each rank gets all rows and all padding */
        static const wb__rank whole = {0, 0, 0};
        wb__axis_split rows = *share;
        status = share_vocabulary(context, model, operand, &whole, vocab_multiple, &rows);
        share->padding = rows.padding;
    }
    if (status != WB_OK || rank->of != 0)
        return status != WB_OK ? status : share_out(context, model, operand, rank, share);
    share->cuts[0].count = operand->tensor.rank == 0 ? 1 : operand->tensor.shape[joint];
    return WB_OK;
}

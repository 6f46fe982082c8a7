/*
 * Plans tensors that the target stores in another way than the source. The source may have one
 * fused tensor where the target has its parts, or the reverse; the rows of a fused tensor may be in
 * another order (`groups` in the family's table); and a matrix may be transposed.
 *
 * All sizes in this file are those of the canonical tensor, which has the shape [rows, columns] or,
 * if it is a stack of matrices, [matrices, rows, columns].
 */
#include "arch/row_order.h"
#include "convert/convert.h"
#include "convert/convert_messages.h"

typedef struct layout {
    uint64_t matrices, rows, columns;
    uint64_t groups; /* number of groups of rows in each matrix */
    bool is_transposed;
} layout;

static wb_status fail(wb__context *context, wb__str name, const char *message, uint64_t number)
{
    return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_SHAPE, WB_NO_OFFSET, name,
                    message, (unsigned long long)number);
}

/* ---- sizes ---- */

static uint64_t count_of(const wb_conversion *conversion, wb__expr expr, uint32_t layer)
{
    wb__family_scope scope = wb__semantics_scope(conversion->semantics);
    wb__scope names = wb__family_names(&scope);
    names.index = layer;
    return expr == NULL ? 0 : wb__expr_count(expr, &names);
}

/* Returns true if a format stores matrices with this spelling transposed. */
static bool is_transposed(const wb__spelling *spelling, uint32_t rank)
{
    return rank > 1 && (wb__spelling_transform(spelling, WB__TRANSFORM_TRANSPOSE) != NULL ||
                        wb__spelling_transform(spelling, WB__TRANSFORM_MAYBE_TRANSPOSE) != NULL);
}

/* Returns true if a stored tensor is not transposed, although its spelling has maybe_transpose. */
static bool is_canonical(const wb_conversion *conversion, const wb__kind *kind,
                         const wb__spelling *spelling, const wb__rule *rule, uint32_t layer)
{
    uint32_t rank = kind->rank;
    return rank > 1 && rule->rank == rank &&
           wb__spelling_transform(spelling, WB__TRANSFORM_MAYBE_TRANSPOSE) != NULL &&
           count_of(conversion, rule->shape[rank - 2], layer) == kind->shape[rank - 2] &&
           count_of(conversion, rule->shape[rank - 1], layer) == kind->shape[rank - 1];
}

/* Returns the number of groups of rows. If the config does not determine it, returns 0. */
static uint64_t groups_of(const wb_conversion *conversion, const wb__spelling *spelling,
                          uint32_t layer)
{
    const wb__transform *transform = wb__spelling_transform(spelling, WB__TRANSFORM_GROUPS);
    return transform == NULL ? 1 : count_of(conversion, transform->argument, layer);
}

static layout layout_of(const wb_conversion *conversion, const wb__kind *kind,
                        const wb__spelling *spelling, const wb__rule *rule, uint32_t layer)
{
    uint32_t rank = kind->rank;
    layout of = {.matrices = rank == 3 ? kind->shape[0] : 1,
                 .rows = rank == 1 ? kind->shape[0] : kind->shape[rank - 2],
                 .columns = rank == 1 ? 1 : kind->shape[rank - 1],
                 .groups = groups_of(conversion, spelling, layer),
                 .is_transposed = is_transposed(spelling, rank) &&
                                  !is_canonical(conversion, kind, spelling, rule, layer)};
    if (of.is_transposed) {
        uint64_t rows = of.rows;
        of.rows = of.columns;
        of.columns = rows;
    }
    return of;
}

/* Computes the number of rows of each part of a fused tensor. Parts of unknown size have equal
 * shares of the remaining rows. */
static wb_status measure_parts(const wb_conversion *conversion, wb__context *context,
                               const wb__planned_tensor *row, const wb__fused *fused,
                               const layout *of, uint64_t rows[WB__FUSED_PARTS_MAX])
{
    uint64_t known = 0, unknown = 0;
    for (uint8_t i = 0; i < fused->count; i++) {
        const wb__rule *rule = wb__family_rule(conversion->semantics->family, fused->parts[i]);
        bool has_shape = rule != NULL && rule->rank >= 2;
        rows[i] = has_shape ? count_of(conversion, rule->shape[rule->rank - 2], row->layer) : 0;
        unknown += rows[i] == 0;
        known = rows[i] > of->rows - known ? of->rows + 1 : known + rows[i];
        if (known > of->rows)
            break;
    }
    bool fits =
        known <= of->rows && (unknown == 0 ? known == of->rows : (of->rows - known) % unknown == 0);
    if (!fits)
        return fail(context, row->source_name, WB__MSG_CONVERT_PARTS_SIZE, of->rows);
    for (uint8_t i = 0; i < fused->count; i++) {
        rows[i] = rows[i] == 0 ? (of->rows - known) / unknown : rows[i];
        if (of->groups == 0 || rows[i] == 0 || rows[i] % of->groups != 0)
            return fail(context, row->source_name, WB__MSG_CONVERT_PARTS_GROUPS, of->groups);
    }
    return WB_OK;
}

/* Sets the shape of an output tensor. */
static wb_status set_shape(wb_conversion *conversion, wb__context *context, wb__planned_tensor *row,
                           const layout *to, wb__row_gather *gather)
{
    uint64_t *shape = wb__arena_alloc(&conversion->arena, 3 * sizeof *shape);
    uint64_t rows = to->is_transposed ? to->columns : to->rows;
    uint64_t columns = to->is_transposed ? to->rows : to->columns;
    if (shape == NULL)
        return wb__fail_memory(context);
    const uint64_t all[] = {to->matrices, rows, columns};
    const uint64_t *from = row->rank == 1 ? all + 1 : all + (3 - row->rank);
    memcpy(shape, from, row->rank * sizeof *shape);
    row->shape = shape;
    row->rows = to->matrices * rows; /* no overflow: at most the elements of the sources */
    row->columns = columns;
    row->gather = gather;
    gather->matrix_rows = rows;
    for (uint32_t i = 0; i < gather->count; i++)
        gather->group_rows += gather->parts[i].rows;
    return WB_OK;
}

static wb__row_gather *new_gather(wb_conversion *conversion)
{
    wb__row_gather *gather = wb__arena_alloc(&conversion->arena, sizeof *gather);
    if (gather != NULL)
        *gather = (wb__row_gather){.transposed = WB__TRANSPOSED_NO};
    return gather;
}

wb__row_run wb__gather_at(const wb__row_gather *gather, uint64_t row)
{
    uint64_t group = row / gather->group_rows, within = row % gather->group_rows;
    const wb__row_part *part = gather->parts;
    while (within >= part->rows)
        within -= part++->rows;
    uint64_t index = group * part->rows + within; /* among all rows of the part */
    uint64_t in_group = index % part->source_rows;
    uint64_t left = part->rows - within, left_in_source = part->source_rows - in_group;
    return (wb__row_run){.source = part->source,
                         .first = index / part->source_rows * part->step + part->first + in_group,
                         .rows = left < left_in_source ? left : left_in_source,
                         .step = part->step,
                         .is_permuted = part->is_permuted};
}

/* Fails if a transposed tensor does not have the shape that the config implies. A program may have
 * stored it without transposing it. */
static wb_status check_shape(const wb_conversion *conversion, wb__context *context,
                             const wb__planned_tensor *row, const layout *of)
{
    const wb__rule *rule = row->rule;
    if (!of->is_transposed || rule->rank < 2)
        return WB_OK;
    uint64_t rows = count_of(conversion, rule->shape[rule->rank - 2], row->layer);
    uint64_t columns = count_of(conversion, rule->shape[rule->rank - 1], row->layer);
    bool differs = (rows != 0 && rows != of->rows) || (columns != 0 && columns != of->columns);
    return differs ? fail(context, row->source_name, WB__MSG_CONVERT_PARTS_TRANSPOSED, columns)
                   : WB_OK;
}

/* ---- separate scales ---- */

/* Fails if the weight has a scale in a separate tensor, which would have to be multiplied into the
 * weight. */
static wb_status check_scale(const wb_conversion *conversion, wb__context *context, uint64_t number,
                             wb__str name)
{
    bool has = number < conversion->model->tensors.count &&
               wb__gguf_scale_of(conversion->model, conversion->semantics, number) != UINT64_MAX;
    return has ? fail(context, name, WB__MSG_CONVERT_PARTS_SCALE, 0) : WB_OK;
}

/* ---- from a fused tensor to its parts ---- */

static wb_status add_part(wb_conversion *conversion, wb__context *context,
                          const wb__planned_tensor *whole, const wb__rule *rule, const layout *from,
                          uint64_t rows, uint64_t before)
{
    const wb__spelling *spelling = wb__rule_spelling(rule, wb__plan_side(conversion));
    wb__planned_tensor row = *whole;
    wb__row_gather *gather = new_gather(conversion);
    layout to = {.matrices = from->matrices, .rows = rows, .columns = from->columns};
    if (gather == NULL)
        return wb__fail_memory(context);
    if (spelling == NULL || wb__spelling_moves(spelling) ||
        (from->is_transposed && from->groups != 1))
        return fail(context, whole->source_name, WB__MSG_CONVERT_PARTS_CHAIN, 0);
    gather->transposed = from->is_transposed ? WB__TRANSPOSED_SOURCE : WB__TRANSPOSED_NO;
    gather->count = 1;
    gather->parts[0] = (wb__row_part){.source = whole->source,
                                      .rows = rows,
                                      .source_rows = rows / from->groups,
                                      .first = before / from->groups,
                                      .step = from->rows / from->groups};
    row.rule = rule;
    row.name = wb__plan_name(conversion, rule, row.layer, 0, row.suffix);
    wb_status status = set_shape(conversion, context, &row, &to, gather);
    if (status == WB_OK)
        status = wb__plan_permutation(conversion, context, &row);
    gather->parts[0].is_permuted = row.row_order != WB__ROWS_UNCHANGED;
    return status == WB_OK ? wb__plan_append(conversion, context, &row) : status;
}

static wb_status split(wb_conversion *conversion, wb__context *context,
                       const wb__planned_tensor *row, const wb__fused *fused, const layout *from)
{
    uint64_t rows[WB__FUSED_PARTS_MAX], before = 0;
    wb_status status = measure_parts(conversion, context, row, fused, from, rows);
    for (uint8_t i = 0; i < fused->count && status == WB_OK; i++) {
        const wb__rule *rule = wb__family_rule(conversion->semantics->family, fused->parts[i]);
        status = rule == NULL ? fail(context, row->source_name, WB__MSG_CONVERT_PARTS_CHAIN, 0)
                              : add_part(conversion, context, row, rule, from, rows[i], before);
        before += rows[i];
    }
    return status;
}

/* ---- from the parts to a fused tensor ---- */

/* A part of a fused tensor that the source stores as a tensor of its own. */
typedef struct stored_part {
    const wb__rule *rule;
    const wb__kind *kind;
    uint64_t number;
    layout of;
} stored_part;

/* Finds the tensor with this canonical name, in the layer and with the suffix of *row. */
static bool find_part(const wb_conversion *conversion, const wb__planned_tensor *row,
                      const char *canonical, stored_part *part)
{
    char text[WB__STEM_MAX * 2];
    const wb__semantics *semantics = conversion->semantics;
    part->rule = wb__family_rule(semantics->family, canonical);
    if (part->rule == NULL)
        return false;
    size_t n = wb__canonical_write(part->rule, row->layer, row->suffix, text, sizeof text);
    const wb__name_entry *entry = wb__names_find(&semantics->names, (wb__str){text, n});
    if (entry == NULL || (entry->experts != 0 && entry->view == WB__NO_ENTRY))
        return false;
    part->number = wb__semantics_find(conversion->model, semantics, (wb__str){text, n});
    part->kind = entry->view == WB__NO_ENTRY ? wb__names_kind(&semantics->names, entry->first)
                                             : &semantics->names.views[entry->view].kind;
    part->of = layout_of(conversion, part->kind, entry->spelling, part->rule, row->layer);
    return part->kind->rank == row->rank && !wb__spelling_moves(entry->spelling);
}

/* Sets the permutation of the parts that RoPE rotates. */
static wb_status permute_parts(const wb_conversion *conversion, wb__context *context,
                               wb__planned_tensor *row, const stored_part *parts,
                               wb__row_gather *gather)
{
    wb_status status = WB_OK;
    for (uint32_t i = 0; i < gather->count && status == WB_OK; i++) {
        wb__planned_tensor own = {.name = row->name,
                                  .rule = parts[i].rule,
                                  .rows = parts[i].of.rows,
                                  .columns = parts[i].of.columns,
                                  .gather = gather};
        status = wb__plan_permutation(conversion, context, &own);
        gather->parts[i].is_permuted = own.row_order != WB__ROWS_UNCHANGED;
        if (!gather->parts[i].is_permuted)
            continue;
        row->row_order = own.row_order;
        row->head_rows = own.head_rows;
    }
    for (uint32_t i = 0; i < gather->count && status == WB_OK && row->head_rows != 0; i++) {
        if (gather->parts[i].rows % row->head_rows != 0)
            status = fail(context, row->name, WB__MSG_CONVERT_PARTS_HEADS, row->head_rows);
    }
    return status;
}

static wb_status compose(wb_conversion *conversion, wb__context *context, wb__planned_tensor *row,
                         const stored_part *parts, uint32_t count, const wb__spelling *spelling)
{
    wb__row_gather *gather = new_gather(conversion);
    layout to = parts[0].of;
    if (gather == NULL)
        return wb__fail_memory(context);
    to.groups = groups_of(conversion, spelling, row->layer);
    to.is_transposed = is_transposed(spelling, row->rank);
    to.rows = 0;
    gather->count = count;
    gather->transposed = to.is_transposed ? WB__TRANSPOSED_OUTPUT : WB__TRANSPOSED_NO;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t rows = parts[i].of.rows;
        if (to.groups == 0 || rows == 0 || rows % to.groups != 0 ||
            (to.is_transposed && to.groups != 1))
            return fail(context, row->name, WB__MSG_CONVERT_PARTS_GROUPS, to.groups);
        gather->parts[i] = (wb__row_part){
            .source = parts[i].number, .rows = rows / to.groups, .source_rows = rows, .step = rows};
        to.rows += rows;
    }
    wb_status status = set_shape(conversion, context, row, &to, gather);
    if (status == WB_OK)
        status = permute_parts(conversion, context, row, parts, gather);
    return status == WB_OK ? wb__plan_append(conversion, context, row) : status;
}

/* Adds the fused tensor when it is called for the first part. Adds nothing for the other parts. */
static wb_status fuse(wb_conversion *conversion, wb__context *context,
                      const wb__planned_tensor *first, const wb__fused *fused)
{
    stored_part parts[WB__FUSED_PARTS_MAX] = {{0}};
    wb__planned_tensor row = *first;
    const wb__rule *rule = wb__family_rule(conversion->semantics->family, fused->whole);
    for (uint8_t i = 0; i < fused->count; i++) {
        if (!find_part(conversion, &row, fused->parts[i], &parts[i]) ||
            parts[i].of.columns != parts[0].of.columns ||
            parts[i].of.matrices != parts[0].of.matrices)
            return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_SHAPE, WB_NO_OFFSET,
                            row.source_name, WB__MSG_CONVERT_PARTS_MISSING, fused->parts[i]);
        wb_status status = check_scale(conversion, context, parts[i].number, row.source_name);
        if (status != WB_OK)
            return status;
    }
    if (parts[0].number != row.source)
        return WB_OK;
    row.rule = rule;
    row.name = wb__plan_name(conversion, rule, row.layer, 0, row.suffix);
    return compose(conversion, context, &row, parts, fused->count,
                   wb__rule_spelling(rule, wb__plan_side(conversion)));
}

/* ---- the same tensor in another order ---- */

/* Sets the parts of a tensor whose rows have other groups in the target. */
static wb_status regroup(const wb_conversion *conversion, wb__context *context,
                         const wb__planned_tensor *row, const layout *from, const layout *to,
                         wb__row_gather *gather)
{
    uint64_t rows[WB__FUSED_PARTS_MAX], before = 0;
    const wb__fused *fused = wb__family_fused(conversion->semantics->family, row->rule->canonical);
    if (fused == NULL || to->groups == 0)
        return fail(context, row->source_name, WB__MSG_CONVERT_PARTS_CHAIN, 0);
    wb_status status = measure_parts(conversion, context, row, fused, from, rows);
    for (uint8_t i = 0; i < fused->count && status == WB_OK; i++) {
        if (rows[i] % to->groups != 0)
            return fail(context, row->source_name, WB__MSG_CONVERT_PARTS_GROUPS, to->groups);
        gather->parts[i] = (wb__row_part){.source = row->source,
                                          .rows = rows[i] / to->groups,
                                          .source_rows = rows[i] / from->groups,
                                          .first = before / from->groups,
                                          .step = from->rows / from->groups};
        before += rows[i];
    }
    gather->count = fused->count;
    return status;
}

static wb_status move(wb_conversion *conversion, wb__context *context,
                      const wb__planned_tensor *whole, const layout *from, const layout *to)
{
    wb__planned_tensor row = *whole;
    wb__row_gather *gather = new_gather(conversion);
    wb_status status = WB_OK;
    if (gather == NULL)
        return wb__fail_memory(context);
    row.name = wb__plan_name(conversion, row.rule, row.layer, 0, row.suffix);
    if (from->is_transposed == to->is_transposed) {
        status = from->is_transposed
                     ? fail(context, row.source_name, WB__MSG_CONVERT_PARTS_CHAIN, 0)
                     : regroup(conversion, context, &row, from, to, gather);
    } else {
        gather->transposed = from->is_transposed ? WB__TRANSPOSED_SOURCE : WB__TRANSPOSED_OUTPUT;
        gather->count = 1;
        gather->parts[0] = (wb__row_part){
            .source = row.source, .rows = to->rows, .source_rows = to->rows, .step = to->rows};
        if (from->groups != 1 || to->groups != 1)
            status = fail(context, row.source_name, WB__MSG_CONVERT_PARTS_CHAIN, 0);
    }
    if (status == WB_OK)
        status = set_shape(conversion, context, &row, to, gather);
    return status == WB_OK ? wb__plan_append(conversion, context, &row) : status;
}

/* ---- all of it ---- */

wb_status wb__plan_gather(wb_conversion *conversion, wb__context *context,
                          const wb__planned_tensor *row, const wb__matched *matched, bool *done)
{
    const wb__family *family = conversion->semantics->family;
    const wb__spelling *source = matched->spelling;
    uint8_t side = wb__plan_side(conversion);
    const wb__spelling *target = wb__rule_spelling(matched->rule, side);
    bool crosses = conversion->semantics->by_key != (conversion->target == WB_TARGET_GGUF);
    *done = false;
    if (source == NULL || matched->has_expert || row->rank == 0 || row->rank > 3 ||
        row->rows == 0 || row->columns == 0 || (!crosses && (source->sides & side) != 0))
        return WB_OK;
    const wb__kind *kind = wb__names_kind(&conversion->semantics->names, row->source);
    layout from = layout_of(conversion, kind, source, matched->rule, row->layer), to = from;
    const wb__fused *fused =
        target != NULL ? NULL : wb__family_fused(family, matched->rule->canonical);
    const wb__fused *with =
        target != NULL ? NULL : wb__family_fused_with(family, matched->rule->canonical, side);
    if (target != NULL) {
        to.groups = groups_of(conversion, target, row->layer);
        to.is_transposed = is_transposed(target, row->rank);
        *done = to.groups != from.groups || to.is_transposed != from.is_transposed;
    } else {
        *done = fused != NULL || with != NULL;
    }
    wb_status status =
        *done ? check_scale(conversion, context, row->source, row->source_name) : WB_OK;
    if (*done && status == WB_OK)
        status = check_shape(conversion, context, row, &from);
    if (!*done || status != WB_OK)
        return status;
    return target != NULL  ? move(conversion, context, row, &from, &to)
           : fused != NULL ? split(conversion, context, row, fused, &from)
                           : fuse(conversion, context, row, with);
}

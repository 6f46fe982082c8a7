/* Builds the plan: determines the output tensors, their names, and the source rows of each
 * output tensor. encodings.c chooses the encodings afterwards, because the choice depends on the
 * order of the output tensors. */
#include "arch/row_order.h"
#include "convert/convert_messages.h"
#include "convert/lora/lora.h"
#include "handle/derived_meta.h"
#include "model/padding_tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- rows ---- */

/* Sets the offset of norm weights of Gemma. The norm weights in GGUF files are the weights in other
 * formats plus 1. */
static void set_offset(const wb_conversion *conversion, wb__planned_tensor *row)
{
    bool into = conversion->target == WB_TARGET_GGUF;
    if (!wb__row_order_moves(row->rule, row->suffix, conversion->semantics->family) ||
        (conversion->semantics->config.norm_offset == 0) == into)
        return;
    row->offset = into ? 1.0f : -1.0f;
}

/*
 * Sets the factor by which a tensor is multiplied in GGUF (transform `scale` in the family's
 * table). For example, the q weights of Gemma 2 are multiplied to compensate for a config value
 * that GGUF cannot express.
 */
static void set_factor(const wb_conversion *conversion, wb__planned_tensor *row)
{
    wb__family_scope scope = wb__semantics_scope(conversion->semantics);
    const wb__scope names = wb__family_names(&scope);
    const wb__spelling *spelling =
        row->rule == NULL ? NULL : wb__rule_spelling(row->rule, WB__SIDE_GGUF);
    if (conversion->target != WB_TARGET_GGUF || conversion->semantics->by_key || spelling == NULL)
        return;
    for (size_t i = 0; i < spelling->count; i++) {
        if (spelling->chain[i].kind != WB__TRANSFORM_SCALE)
            continue;
        wb__fact factor = wb__expr_eval(spelling->chain[i].argument, &names);
        if (factor.type == WB__FACT_REAL || factor.type == WB__FACT_UINT)
            row->factor = (float)factor.real;
    }
}

/* Adds a row to the plan. `view`: the row reads this expert view (separately stored experts as one
 * tensor) completely; NULL: the row reads no expert view. */
static wb_status add_row(wb_conversion *conversion, wb__context *context, wb__planned_tensor *row,
                         const wb__expert_view *view)
{
    set_offset(conversion, row);
    set_factor(conversion, row);
    wb_status status = wb__plan_permutation(conversion, context, row);
    if (status == WB_OK)
        status = wb__global_scales_keep(conversion, context, row, view);
    return status != WB_OK ? status : wb__plan_append(conversion, context, row);
}

/* ---- experts ---- */

/* Adds one row per expert for a tensor that contains the experts as a stack. */
static wb_status unstack(wb_conversion *conversion, wb__context *context,
                         const wb__planned_tensor *whole)
{
    uint64_t experts = whole->shape[0];
    if (experts > WB__NUMBER_MAX)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_SHAPE, WB_NO_OFFSET,
                        whole->source_name, WB__MSG_CONVERT_EXPERTS_MANY,
                        (unsigned long long)experts);
    for (uint64_t i = 0; i < experts; i++) {
        wb__planned_tensor row = *whole;
        row.shape = whole->shape + 1;
        row.rank = whole->rank - 1;
        row.rows = whole->rows / experts;
        row.first_row = i * row.rows;
        row.name = wb__plan_name(conversion, whole->rule, whole->layer, (uint32_t)i, whole->suffix);
        wb_status status = add_row(conversion, context, &row, NULL);
        if (status != WB_OK)
            return status;
    }
    return WB_OK;
}

/* Adds one row that stacks all experts of a layer, which the source stores separately. The row is
 * added when the function is called for the first expert. Calls for other experts add nothing. */
static wb_status stack(wb_conversion *conversion, wb__context *context, wb__planned_tensor *row,
                       const wb__name_entry *entry, uint64_t i)
{
    if (entry->view == WB__NO_ENTRY)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_EXPERTS_INCOMPLETE, WB_NO_OFFSET,
                        row->source_name, WB__MSG_CONVERT_EXPERTS_STACK);
    if (i != entry->first)
        return WB_OK;
    const wb__tensors *tensors = &conversion->model->tensors;
    const wb__expert_view *view = &conversion->semantics->names.views[entry->view];
    row->source = (uint64_t)tensors->count + tensors->stored_count + entry->view;
    row->source_name = wb__plan_text(conversion, (wb__str){view->name, view->name_len});
    wb__plan_shape(row, &view->kind);
    row->name = wb__plan_name(conversion, row->rule, row->layer, 0, row->suffix);
    if (row->name.ptr == NULL)
        return wb__fail_memory(context);
    return add_row(conversion, context, row, view);
}

/* ---- tensors ---- */

/* Returns true if the output omits the tensor because programs can compute it. */
static bool is_left_out(const wb_conversion *conversion, const wb__matched *matched)
{
    bool from_gguf = conversion->semantics->by_key;
    bool to_gguf = conversion->target == WB_TARGET_GGUF;
    return matched->rule->canonical == NULL &&
           (from_gguf != to_gguf || conversion->target == WB_TARGET_MLX);
}

/* Returns true if the tensor is the output matrix of a tied model, and the target format stores
 * only the embedding. */
static bool is_tied_output(const wb_conversion *conversion, const wb__matched *matched)
{
    return matched->rule->canonical != NULL && (matched->rule->provides & WB__NEED_HEAD) != 0 &&
           conversion->semantics->config.tie_embeddings != 0 &&
           (conversion->target == WB_TARGET_GGUF || conversion->target == WB_TARGET_MLX);
}

static wb_status add_unknown(wb_conversion *conversion, wb__context *context,
                             wb__planned_tensor *row)
{
    bool crosses = conversion->semantics->by_key != (conversion->target == WB_TARGET_GGUF);
    if (crosses && conversion->semantics->is_family)
        return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_CONVERT_UNMAPPED, WB_NO_OFFSET,
                        row->source_name, WB__MSG_CONVERT_TENSOR_UNKNOWN,
                        conversion->semantics->config.architecture);
    row->name = wb__plan_own_name(conversion, row->source_name);
    if (row->name.ptr == NULL)
        return wb__fail_memory(context);
    wb_status status = wb__global_scales_keep(conversion, context, row, NULL);
    return status == WB_OK ? wb__plan_append(conversion, context, row) : status;
}

/* Returns true if the target has a name for the tensor that differs from the name in the source,
 * which is a name of other formats. */
static bool has_other_name(const wb_conversion *conversion, const wb__matched *matched)
{
    uint8_t side = wb__plan_side(conversion);
    return matched->spelling != NULL && (matched->spelling->sides & side) == 0 &&
           wb__rule_spelling(matched->rule, side) != NULL;
}

static wb_status add_known(wb_conversion *conversion, wb__context *context, wb__planned_tensor *row,
                           const wb__matched *matched, uint64_t i)
{
    const wb__name_entry *entry = wb__names_of(&conversion->semantics->names, i);
    bool stacks = wb__plan_stacks(conversion, matched->rule);
    bool renames = conversion->semantics->by_key != (conversion->target == WB_TARGET_GGUF) ||
                   has_other_name(conversion, matched);
    row->rule = matched->rule;
    row->layer = matched->layer;
    row->suffix = matched->suffix;
    bool done;
    wb_status status = wb__plan_gather(conversion, context, row, matched, &done);
    if (done || status != WB_OK)
        return status;
    if (entry != NULL && matched->has_expert && stacks)
        return stack(conversion, context, row, entry, i);
    uint32_t rank = row->rule->rank != 0 ? row->rule->rank : 3; /* experts have 3 axes */
    if (wb__rule_is_stack(row->rule) && !matched->has_expert && !stacks && row->rank == rank)
        return unstack(conversion, context, row);
    row->name = renames && !matched->has_expert
                    ? wb__plan_name(conversion, row->rule, row->layer, 0, row->suffix)
                : renames
                    ? wb__plan_name(conversion, row->rule, row->layer, matched->expert, row->suffix)
                    : wb__plan_own_name(conversion, row->source_name);
    if (row->name.ptr == NULL)
        return wb__fail_memory(context);
    return add_row(conversion, context, row, NULL);
}

/* Returns true for output.input_scale if the conversion may change the encoding of the output
 * matrix from NVFP4. llama.cpp loads output.input_scale only if the output matrix is NVFP4, and
 * otherwise rejects a file that contains it. */
static bool is_of_another_output(const wb_conversion *conversion, wb__str name)
{
    return conversion->semantics->by_key && wb__str_equal(name, WB__STR("output.input_scale")) &&
           (conversion->quant.kind != WB__QUANT_NONE || conversion->rules != NULL ||
            conversion->lora_count > 0);
}

/* Returns true if the tensor is a scale of activations that programs do not load from a file in
 * the target format. Activation scales that llama.cpp loads are not handled here, but together with
 * their weights (global_scales.c). */
static bool is_of_activations(const wb_conversion *conversion, uint64_t i)
{
    const wb__packed *packed;
    size_t stored = wb__tensors_stored(&conversion->model->tensors, i, &packed);
    wb__str name = wb__table_name(&conversion->model->catalog.table, stored);
    bool crosses = conversion->semantics->by_key != (conversion->target == WB_TARGET_GGUF);
    return conversion->semantics->is_family && wb__name_of_activations(name) &&
           (crosses || conversion->target == WB_TARGET_MLX ||
            is_of_another_output(conversion, name));
}

static wb_status add_tensor(wb_conversion *conversion, wb__context *context, uint64_t i)
{
    wb__matched matched;
    wb__planned_tensor row;
    wb_status status = wb__plan_row(conversion, context, i, &row);
    if (status != WB_OK)
        return status;
    wb__str name = row.source_name;
    if (wb__is_padding_tensor(name) &&
        wb__names_kind(&conversion->semantics->names, i)->dtype->id == WB_DTYPE_U8)
        /* padding tensors of the source are omitted, because the writer creates padding tensors
         * itself */
        return WB_OK;
    if (wb__scale_tensors_has(conversion, i))
        return WB_OK;
    bool known = !wb__plan_is_raw(conversion) &&
                 wb__rule_match(&conversion->semantics->names.rules, name, &matched);
    if (known && is_left_out(conversion, &matched))
        return wb__plan_note(conversion, context, WB_INFO, WB__FINDING_CONVERT_LEFT_OUT, name,
                             WB__MSG_CONVERT_TENSOR_DROPPED);
    if (known && is_tied_output(conversion, &matched))
        return wb__plan_omit_output(conversion, context, i, name);
    status = wb__scale_tensors_take(conversion, context, &row);
    if (status != WB_OK)
        return status;
    return known && matched.rule->canonical != NULL
               ? add_known(conversion, context, &row, &matched, i)
               : add_unknown(conversion, context, &row);
}

static wb_status note_activations(wb_conversion *conversion, wb__context *context, uint64_t count)
{
    char text[128];
    (void)snprintf(text, sizeof text, WB__MSG_CONVERT_ACTIVATION_SCALES, (unsigned long long)count);
    return wb__plan_note(conversion, context, WB_INFO, WB__FINDING_CONVERT_LEFT_OUT, WB__STR(""),
                         text);
}

/* ---- generated tensors ---- */

/* ---- the complete plan ---- */

static int by_ggml(const void *a, const void *b)
{
    const wb__planned_tensor *const *x = a, *const *y = b;
    return wb__recipe_before((*x)->name, (*y)->name);
}

static int by_name(const void *a, const void *b)
{
    const wb__planned_tensor *const *x = a, *const *y = b;
    return wb__str_compare((*x)->name, (*y)->name);
}

static wb_status sort(wb_conversion *conversion, wb__context *context)
{
    size_t n = conversion->tensors.count;
    conversion->order = wb__arena_alloc(&conversion->arena, (n + 1) * sizeof(wb__planned_tensor *));
    if (conversion->order == NULL)
        return wb__fail_memory(context);
    for (size_t i = 0; i < n; i++)
        conversion->order[i] = wb__list_at(&conversion->tensors, i);
    qsort(conversion->order, n, sizeof(wb__planned_tensor *),
          conversion->target == WB_TARGET_GGUF ? by_ggml : by_name);
    for (size_t i = 1; i < n; i++) {
        if (wb__str_equal(conversion->order[i]->name, conversion->order[i - 1]->name))
            return wb__fail(context, WB_ERROR_UNSUPPORTED, WB__FINDING_TENSOR_AGAIN, WB_NO_OFFSET,
                            conversion->order[i]->name, WB__MSG_CONVERT_NAME_TWICE);
    }
    return WB_OK;
}

static wb_status check_list(wb__context *context, const wb_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const wb_finding *finding = &findings->list[i];
        if (strcmp(finding->code, "io") != 0)
            continue;
        context->file = finding->file;
        return wb__fail(context, WB_ERROR_IO, WB__FINDING_IO, WB_NO_OFFSET, WB__STR(""), "%s",
                        finding->message);
    }
    return WB_OK;
}

/* Copies findings about the model to the notes of the plan. An unknown pre-tokenizer becomes a
 * warning, because GGUF describes a pre-tokenizer only by its name. */
static wb_status tell_findings(wb_conversion *conversion, wb__context *context,
                               const wb_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        wb_finding finding = findings->list[i];
        if (strcmp(finding.code, wb__finding_code(WB__FINDING_PRE_TOKENIZER)) == 0)
            finding.severity = WB_WARNING;
        if (!wb__findings_add(&conversion->notes, &finding))
            return wb__fail_memory(context);
    }
    return WB_OK;
}

/* Checks the number of tokens. llama.cpp does not load a file that has no tokens, or whose
 * number of tokens differs from the number of rows of the embedding. */
static wb_status check_tokens(wb_conversion *conversion, wb__context *context,
                              const wb__derived_meta *derived)
{
    char text[200];
    const wb__kind *kind = wb__names_embedding(&conversion->semantics->names);
    uint64_t count = derived->tokenizer.tokens.count;
    if (kind == NULL || (count == kind->shape[0] && derived->tokenizer.model))
        return WB_OK;
    if (derived->tokenizer.model == NULL)
        (void)snprintf(text, sizeof text, WB__MSG_CONVERT_NO_TOKENIZER);
    else
        (void)snprintf(text, sizeof text, WB__MSG_CONVERT_TOKENIZER_SIZE, (unsigned long long)count,
                       (unsigned long long)kind->shape[0]);
    return wb__plan_note(conversion, context, WB_WARNING, WB__FINDING_CONVERT_META, WB__STR(""),
                         text);
}

/* Checks the metadata that were derived from sidecar files for a GGUF output. */
static wb_status check_told(wb_conversion *conversion, wb__context *context)
{
    const wb__derived_meta *derived;
    wb_status status = wb__derived_meta_of(conversion->model, context, &derived);
    if (status == WB_OK)
        status = check_list(context, &derived->findings);
    if (status == WB_OK)
        status = tell_findings(conversion, context, &conversion->semantics->findings);
    if (status == WB_OK)
        status = tell_findings(conversion, context, &derived->findings);
    return status == WB_OK && conversion->semantics->is_family
               ? check_tokens(conversion, context, derived)
               : status;
}

/* Fails if a sidecar file cannot be read. Opening a model ignores such a file, but an output
 * without the data of the file would be a different model. */
static wb_status check_reads(wb_conversion *conversion, wb__context *context)
{
    wb_status status = check_list(context, &conversion->model->findings);
    if (status == WB_OK)
        status = check_list(context, &conversion->semantics->findings);
    bool wants_all =
        conversion->target == WB_TARGET_GGUF && status == WB_OK && !conversion->semantics->by_key;
    return wants_all ? check_told(conversion, context) : status;
}

wb_status wb__plan_make(wb_conversion *conversion, wb__context *context)
{
    wb_status status = wb__plan_refuse_adapter(conversion, context);
    if (status != WB_OK)
        return status;
    if (wb__passthrough_applies(conversion))
        return wb__passthrough_plan(conversion, context);
    status = wb__semantics_of(conversion->model, context, &conversion->semantics);
    if (status == WB_OK)
        status = check_reads(conversion, context);
    if (status == WB_OK)
        status = wb__plan_architecture(conversion, context);
    if (status == WB_OK && conversion->target == WB_TARGET_NPZ &&
        wb_meta_count(conversion->model) > 0)
        status = wb__plan_note(conversion, context, WB_INFO, WB__FINDING_CONVERT_META, WB__STR(""),
                               WB__MSG_CONVERT_NPZ_METADATA);
    if (status == WB_OK)
        status = wb__plan_limits(conversion, context);
    bool by_name =
        conversion->target == WB_TARGET_OLLAMA && status == WB_OK && !conversion->semantics->by_key;
    if (by_name)
        status = wb__plan_store(conversion, context);
    uint64_t left_out = 0;
    for (uint64_t i = 0; i < conversion->model->tensors.count && !by_name && status == WB_OK; i++) {
        if (wb__plan_other_part(conversion, i))
            continue;
        bool leaves = is_of_activations(conversion, i);
        left_out += leaves;
        status = leaves ? WB_OK : add_tensor(conversion, context, i);
    }
    if (status == WB_OK && left_out > conversion->input_scales)
        status = note_activations(conversion, context, left_out - conversion->input_scales);
    if (status == WB_OK)
        status = wb__plan_note_parts(conversion, context);
    if (status == WB_OK)
        status = wb__plan_rope(conversion, context);
    for (uint64_t i = 0; i < conversion->lora_count && status == WB_OK; i++)
        status = wb__lora_read(conversion, context, conversion->loras[i].path,
                               conversion->loras[i].scale);
    if (status == WB_OK)
        status = sort(conversion, context);
    return status == WB_OK ? wb__plan_forms(conversion, context) : status;
}
